import type { Db } from '#platform/db/db.ts'
import type { Condition } from '#rag/search/filter.ts'

/** Of one version of a document, by one embedder. */
export type VectorSet = { version: string; embedder: string }

/** A place where vectors lie and are compared. Two of them: bytes in a table, compared here; and pgvector, compared in the database. */
export interface VectorStore {
  /** Written with each document. */
  readonly name: 'bytes' | 'pgvector'
  /** What is there already stays. */
  insert(tx: Db, userId: string, set: VectorSet, rows: VectorRow[]): Promise<void>
  /** Of all embedders. */
  remove(tx: Db, userId: string, version: string, indexes: number[] | null): Promise<void>
  /** Of a version, all but those of the embedders named, SLICE_ROWS at most. @returns how many rows went. */
  removeOthers(db: Db, userId: string, version: string, keep: readonly string[]): Promise<number>
  /** The last chunk that has one; -1 where none has. */
  lastOf(db: Db, userId: string, set: VectorSet): Promise<number>
  /** How many chunks have one. */
  count(db: Db, userId: string, set: VectorSet): Promise<number>
  /** In the chunks' order, from the index on. */
  read(db: Db, userId: string, set: VectorSet, from: number, limit: number): Promise<VectorRow[]>
  /** What is kept of other embedders beside their vectors. */
  forgetOthers?(db: Db, userId: string, keep: string): Promise<void>
  /** When the account goes: called until it finds no more. @returns how many rows went. */
  eraseSlice(db: Db, userId: string): Promise<number>
  /** The nearest chunks within the scope by cosine, nearest first. */
  nearest(
    userId: string,
    embedder: string,
    query: Float32Array,
    scope: Scope,
    count: number,
  ): Promise<Neighbour[]>
  forget(userId: string): void
  /** Whose are in memory. */
  users(): string[]
}

export type VectorRow = { index: number; vector: Float32Array }

export type Scope = {
  documents: { version: string; edition: number; totalChunks: number }[]
  /** On the chunk's index; all must hold. */
  conditions: Condition[]
}

export type Neighbour = { version: string; index: number; cosine: number }
