import type { Db } from '#platform/db/db.ts'
import type { Condition } from '#rag/search/filter.ts'

/** The vectors that one embedder made of one version of a document. */
export type VectorSet = { version: string; embedder: string }

export type VectorStoreName = 'bytes' | 'pgvector'

/** Two implementations: bytes compared in this process, and pgvector. A chunk has one vector. */
export interface VectorStore {
  readonly name: VectorStoreName
  /** Replaces the vector of a chunk that has one already. */
  insert(tx: Db, userId: string, set: VectorSet, rows: VectorRow[]): Promise<void>
  /** Removes vectors of all embedders; null: of all chunks. */
  remove(tx: Db, userId: string, version: string, indexes: number[] | null): Promise<void>
  /** Returns which chunks from `from` up to, not including, `to` have a vector of this embedder. */
  listIndexes(db: Db, userId: string, set: VectorSet, from: number, to: number): Promise<number[]>
  /** Drops the user's search indexes, except those of the embedder `keep`. */
  dropIndexes?(db: Db, userId: string, keep: string | null): Promise<void>
  /** Erases vectors of a deleted account until it returns 0. @returns the deleted rows */
  eraseSlice(db: Db, userId: string): Promise<number>
  /** Returns the nearest chunks within the scope by cosine, nearest first. */
  nearest(
    userId: string,
    embedder: string,
    query: Float32Array,
    scope: Scope,
    count: number,
  ): Promise<Neighbour[]>
  /** Frees the memory of a user's vectors. */
  forget(userId: string): void
  /** Returns the users whose vectors are in memory. */
  users(): string[]
}

export type VectorRow = { index: number; vector: Float32Array }

export type Scope = {
  documents: { version: string; edition: number; totalChunks: number }[]
  /** On the chunk's index; all must hold. */
  conditions: Condition[]
}

export type Neighbour = { version: string; index: number; cosine: number }
