/**
 * Vectors as bytes in a table; compared in this process over a cache of matrices, one a document's edition and embedder.
 * A user's store is small, so exact search is quick and a filter costs nothing: what it excludes is not looked at.
 */
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Db } from '#platform/db/db.ts'
import { holds } from '#rag/search/filter.ts'
import { byteRows } from './byte-rows.ts'
import { type Matrix, nearestRows, TopK } from './nearest.ts'
import type { Neighbour, Scope, VectorStore } from './vector-store.ts'

const CACHE_BYTES_MAX = 256 * 1024 * 1024
/** Rows read in one statement, and compared without letting others run. */
const ROWS_AT_ONCE = 1_000

export type ByteVectorsOptions = { cacheBytesMax?: number | undefined }

export function openByteVectors(
  { db }: { db: Db },
  { cacheBytesMax = CACHE_BYTES_MAX }: ByteVectorsOptions = {},
): VectorStore {
  const cache = createCache(cacheBytesMax)

  return {
    name: 'bytes',

    ...byteRows,

    eraseSlice(db, userId) {
      cache.forget(userId)
      return byteRows.eraseSlice(db, userId)
    },
    forget: (userId) => cache.forget(userId),
    users: () => cache.users(),

    async nearest(userId, embedder, query, scope, count) {
      const best = new TopK<Neighbour>(count)
      let sinceYield = 0
      for await (const { version, matrix } of matrices(userId, embedder, query.length, scope)) {
        nearestRows(matrix, query, count, (index, cosine) =>
          best.add(cosine, { version, index, cosine }),
        )
        sinceYield += matrix.indexes.length
        if (sinceYield < ROWS_AT_ONCE) continue
        await yieldToOthers()
        sinceYield = 0
      }
      return best.items()
    },
  }

  async function* matrices(
    userId: string,
    embedder: string,
    dims: number,
    scope: Scope,
  ): AsyncGenerator<{ version: string; matrix: Matrix }> {
    const missing: Scope['documents'] = []
    for (const document of scope.documents) {
      const known = cache.get(userId, keyOf(document, embedder), dims)
      if (known === undefined) missing.push(document)
      else
        for (const matrix of known)
          yield { version: document.version, matrix: within(matrix, scope, dims) }
    }
    for (const group of grouped(missing)) {
      for await (const { document, matrix } of load(userId, embedder, group, dims)) {
        yield { version: document.version, matrix: within(matrix, scope, dims) }
      }
    }
  }

  /** Small documents are read together, large ones in slices. */
  async function* load(userId: string, embedder: string, group: Scope['documents'], dims: number) {
    const [first] = group
    if (first === undefined) return
    const slices: Matrix[] = []
    if (group.length > 1) {
      const rows = await read(
        userId,
        embedder,
        group.map(({ version }) => version),
        0,
        Number.MAX_SAFE_INTEGER,
      )
      const byVersion = Map.groupBy(rows, ({ version }) => version)
      for (const document of group) {
        const matrix = matrixOf(byVersion.get(document.version) ?? [], dims)
        cache.set(userId, keyOf(document, embedder), [matrix])
        yield { document, matrix }
      }
      return
    }
    for (let from = 0; from < first.totalChunks; from += ROWS_AT_ONCE) {
      const matrix = matrixOf(
        await read(userId, embedder, [first.version], from, from + ROWS_AT_ONCE),
        dims,
      )
      slices.push(matrix)
      yield { document: first, matrix }
    }
    cache.set(userId, keyOf(first, embedder), slices)
  }

  function read(userId: string, embedder: string, versions: string[], from: number, to: number) {
    return db
      .selectFrom('rag_vectors')
      .select(['version', 'chunk_index', 'vector'])
      .where('user_id', '=', userId)
      .where('version', 'in', versions)
      .where('embedder', '=', embedder)
      .where('chunk_index', '>=', from)
      .where('chunk_index', '<', to)
      .orderBy('version')
      .orderBy('chunk_index')
      .execute()
  }
}

function keyOf(
  { version, edition }: { version: string; edition: number },
  embedder: string,
): string {
  return `${version}:${edition}:${embedder}`
}

function grouped(documents: Scope['documents']): Scope['documents'][] {
  const groups: Scope['documents'][] = []
  let rows = Number.POSITIVE_INFINITY
  for (const document of documents) {
    rows += document.totalChunks
    if (rows > ROWS_AT_ONCE || (groups.at(-1)?.length ?? 0) >= 500) {
      groups.push([])
      rows = document.totalChunks
    }
    groups.at(-1)?.push(document)
  }
  return groups
}

function matrixOf(chunks: { chunk_index: number; vector: Uint8Array }[], dims: number): Matrix {
  // A row of another width would be of another embedder; the document's name for it keeps them out, this makes sure.
  const width = dims * 4
  const fitting = chunks.filter(({ vector }) => vector.byteLength === width)
  const rows = new Float32Array(fitting.length * dims)
  const bytes = new Uint8Array(rows.buffer)
  for (const [row, { vector }] of fitting.entries()) bytes.set(vector, row * width)
  return { indexes: Int32Array.from(fitting, ({ chunk_index }) => chunk_index), rows }
}

/** The rows whose chunk's index meets the scope's conditions. */
function within(matrix: Matrix, { conditions }: Scope, dims: number): Matrix {
  if (conditions.length === 0) return matrix
  const kept = [...matrix.indexes.keys()].filter((row) =>
    conditions.every((condition) => holds(matrix.indexes[row], condition)),
  )
  const rows = new Float32Array(kept.length * dims)
  for (const [i, row] of kept.entries())
    rows.set(matrix.rows.subarray(row * dims, (row + 1) * dims), i * dims)
  return { indexes: Int32Array.from(kept, (row) => matrix.indexes[row] as number), rows }
}

/** Least recently used users leave first; one whose vectors alone would fill half of it is read from the database each time. */
function createCache(bytesMax: number) {
  const users = new Map<string, { documents: Map<string, Matrix[]>; bytes: number }>()
  let total = 0

  const forget = (userId: string) => {
    total -= users.get(userId)?.bytes ?? 0
    users.delete(userId)
  }

  return {
    forget,
    users: () => [...users.keys()],
    get(userId: string, key: string, dims: number): Matrix[] | undefined {
      const user = users.get(userId)
      if (user === undefined) return undefined
      users.delete(userId)
      users.set(userId, user)
      const known = user.documents.get(key)
      return known?.every(({ rows, indexes }) => rows.length === indexes.length * dims)
        ? known
        : undefined
    },
    set(userId: string, key: string, matrices: Matrix[]): void {
      const bytes = matrices.reduce((sum, { rows }) => sum + rows.byteLength + 200, 0)
      const user = users.get(userId) ?? { documents: new Map<string, Matrix[]>(), bytes: 0 }
      if (user.bytes + bytes > bytesMax / 2) {
        // Older editions may fill it; the next search loads what is alive.
        if (user.bytes > 0) forget(userId)
        return
      }
      user.documents.set(key, matrices)
      user.bytes += bytes
      total += bytes
      users.delete(userId)
      users.set(userId, user)
      for (const other of users.keys()) {
        if (total <= bytesMax) break
        if (other !== userId) forget(other)
      }
    },
  }
}
