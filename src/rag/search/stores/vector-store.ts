import type { Db } from '#platform/db/db.ts'
import type { Condition } from '#rag/search/filter.ts'

/** Where vectors lie and are compared. Two of them: bytes beside the chunk, compared here; and pgvector, compared in the database. */
export interface VectorStore {
  /** Written with each document: vectors that lie elsewhere are not found, and embedded again. */
  readonly name: 'bytes' | 'pgvector'
  /** The chunk's `vector` column. */
  bytesOf(vector: Float32Array): Uint8Array
  /** Whatever is kept outside of rag_chunks; within the transaction that inserts the chunks. */
  insert(tx: Db, userId: string, version: string, rows: VectorRow[]): Promise<void>
  remove(tx: Db, userId: string, version: string, indexes: number[] | null): Promise<void>
  /** When the account goes: called until it finds no more. @returns how many rows went. */
  eraseSlice(db: Db, userId: string): Promise<number>
  /** The nearest chunks within the scope by cosine, nearest first; exact. */
  nearest(userId: string, query: Float32Array, scope: Scope, count: number): Promise<Neighbour[]>
  forget(userId: string): void
}

export type VectorRow = {
  index: number
  vector: Float32Array
}

export type Scope = {
  documents: { version: string; edition: number; totalChunks: number }[]
  /** On the chunk's index; all must hold. */
  conditions: Condition[]
}

export type Neighbour = {
  version: string
  index: number
  cosine: number
}
