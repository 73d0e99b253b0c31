/**
 * All stores of vectors that this database has, as one: new vectors go to the one in use, pgvector where the server has it; those that lie in another
 * are searched there until a job has carried them over. The trap: what is removed is removed from every store.
 */
import type { Db } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { DocumentRow } from '#rag/documents/document-store.ts'
import type { Condition } from '#rag/search/filter.ts'
import { type ByteVectorsOptions, openByteVectors } from './bytes.ts'
import { openPgvector, type PgvectorOptions } from './pgvector.ts'
import type { Neighbour, VectorRow, VectorSet, VectorStore } from './vector-store.ts'

export type Vectors = Awaited<ReturnType<typeof openVectors>>

export type SearchedDocument = Pick<DocumentRow, 'version' | 'edition' | 'total_chunks' | 'kept_in'>

export async function openVectors(
  { db }: { db: Db },
  options: PgvectorOptions & ByteVectorsOptions = {},
) {
  const bytes = openByteVectors({ db }, options)
  const pgvector = await openPgvector({ db }, options)
  return vectorsIn(pgvector ?? bytes, pgvector === undefined ? [] : [bytes])
}

/** `others` are looked into, and written no more. */
export function vectorsIn(inUse: VectorStore, others: readonly VectorStore[]) {
  const stores = [inUse, ...others]
  return {
    /** Of the store that new ones go to. */
    name: inUse.name,
    /** Whether what lies there can be searched. */
    has: (name: string): boolean => stores.some((store) => store.name === name),
    insert: (tx: Db, userId: string, set: VectorSet, rows: VectorRow[]) =>
      inUse.insert(tx, userId, set, rows),
    lastOf: (db: Db, userId: string, set: VectorSet) => inUse.lastOf(db, userId, set),
    count: (db: Db, userId: string, set: VectorSet) => inUse.count(db, userId, set),
    /** A slice of what is to be made anew: of all embedders but the one that is kept. @returns how many rows went */
    dropSlice: (db: Db, userId: string, version: string, keep: string) =>
      inUse.removeOthers(db, userId, version, keep === '' ? [] : [keep]),

    async remove(tx: Db, userId: string, version: string, indexes: number[] | null): Promise<void> {
      for (const store of stores) await store.remove(tx, userId, version, indexes)
    },

    /** What is neither searched nor to be: of other embedders, and in other stores. @returns how many rows went: fewer than SLICE_ROWS at the end. */
    async tidySlice(
      db: Db,
      userId: string,
      {
        version,
        embedder,
        next_embedder,
        kept_in,
      }: Pick<DocumentRow, 'version' | 'embedder' | 'next_embedder' | 'kept_in'>,
      making: readonly string[],
    ): Promise<number> {
      const keep = [embedder, next_embedder, ...making].filter((name) => name !== '')
      for (const store of stores) {
        const isKept = store.name === kept_in || store === inUse
        const rows = await store.removeOthers(db, userId, version, isKept ? keep : [])
        if (rows >= SLICE_ROWS) return rows
      }
      return 0
    },

    async forgetOthers(db: Db, userId: string, keep: string): Promise<void> {
      for (const store of stores) await store.forgetOthers?.(db, userId, keep)
    },

    /** A slice of what lies elsewhere, copied into the store in use. @returns how many rows were copied: none at the end. */
    async carrySlice(
      tx: Db,
      userId: string,
      set: VectorSet,
      keptIn: string,
      limit: number,
    ): Promise<number> {
      const from = others.find(({ name }) => name === keptIn)
      if (from === undefined) return 0
      const rows = await from.read(
        tx,
        userId,
        set,
        (await inUse.lastOf(tx, userId, set)) + 1,
        limit,
      )
      if (rows.length > 0) await inUse.insert(tx, userId, set, rows)
      return rows.length
    },

    async eraseSlice(db: Db, userId: string): Promise<number> {
      let rows = 0
      for (const store of stores) if (rows < SLICE_ROWS) rows += await store.eraseSlice(db, userId)
      return rows
    },

    /** The nearest chunks of these documents by cosine, nearest first. */
    async nearest(
      userId: string,
      embedder: string,
      query: Float32Array,
      { documents, conditions }: { documents: SearchedDocument[]; conditions: Condition[] },
      count: number,
    ): Promise<Neighbour[]> {
      const found: Neighbour[] = []
      for (const store of stores) {
        const here = documents
          .filter(({ kept_in }) => kept_in === store.name)
          .map(({ version, edition, total_chunks }) => ({
            version,
            edition,
            totalChunks: total_chunks,
          }))
        if (here.length === 0) continue
        found.push(
          ...(await store.nearest(userId, embedder, query, { documents: here, conditions }, count)),
        )
      }
      return found.sort((a, b) => b.cosine - a.cosine).slice(0, count)
    },

    forget(userId: string): void {
      for (const store of stores) store.forget(userId)
    },
    /** Whose are in memory. */
    users: () => stores.flatMap((store) => store.users()),
  }
}
