// Vectors as bytes in a table, compared in this process over a cache of matrices: one per document
// edition and embedder. One user's store is small, so exact search is fast.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Db } from '#platform/db/db.ts'
import { holds } from '#rag/search/filter.ts'
import { byteRows } from './byte-rows.ts'
import { type Matrix, nearestRows, TopK } from './nearest.ts'
import type { Neighbour, Scope, VectorStore } from './vector-store.ts'

const CACHE_BYTES_MAX = 256 * 1024 * 1024
/** Rows per statement, and rows compared before yielding to the event loop. */
const ROWS_PER_SLICE = 1_000
const DOCUMENTS_PER_READ = 500

export type ByteVectorsOptions = { cacheBytesMax?: number | undefined }

export class ByteVectors implements VectorStore {
  readonly name = 'bytes'
  readonly insert = byteRows.insert
  readonly remove = byteRows.remove
  readonly listIndexes = byteRows.listIndexes

  readonly #db: Db
  readonly #cache: MatrixCache

  constructor({ db }: { db: Db }, { cacheBytesMax = CACHE_BYTES_MAX }: ByteVectorsOptions = {}) {
    this.#db = db
    this.#cache = new MatrixCache(cacheBytesMax)
  }

  eraseSlice(db: Db, userId: string): Promise<number> {
    this.#cache.forget(userId)
    return byteRows.eraseSlice(db, userId)
  }

  forget(userId: string): void {
    this.#cache.forget(userId)
  }

  users(): string[] {
    return this.#cache.users()
  }

  async nearest(
    userId: string,
    embedder: string,
    query: Float32Array,
    scope: Scope,
    count: number,
  ): Promise<Neighbour[]> {
    const best = new TopK<Neighbour>(count)
    let sinceYield = 0
    for await (const { version, matrix } of this.#readMatrices(
      userId,
      embedder,
      query.length,
      scope.documents,
    )) {
      const selected = selectRows(matrix, scope, query.length)
      nearestRows(selected, query, count, (index, cosine) =>
        best.add(cosine, { version, index, cosine }),
      )
      sinceYield += selected.indexes.length
      if (sinceYield < ROWS_PER_SLICE) continue
      await yieldToEventLoop()
      sinceYield = 0
    }
    return best.items()
  }

  async *#readMatrices(
    userId: string,
    embedder: string,
    dims: number,
    documents: Scope['documents'],
  ): AsyncGenerator<{ version: string; matrix: Matrix }> {
    const missing: Scope['documents'] = []
    for (const document of documents) {
      const cached = this.#cache.get(userId, buildKey(document, embedder), dims)
      if (cached === undefined) missing.push(document)
      else for (const matrix of cached) yield { version: document.version, matrix }
    }
    for (const group of groupDocuments(missing)) {
      const [document] = group
      if (document === undefined) continue
      if (group.length > 1) yield* this.#loadSmall(userId, embedder, dims, group)
      else yield* this.#loadLarge(userId, embedder, dims, document)
    }
  }

  /** Reads several small documents in one statement. */
  async *#loadSmall(userId: string, embedder: string, dims: number, group: Scope['documents']) {
    const versions = group.map(({ version }) => version)
    const rows = await this.#read(userId, embedder, versions, 0, Number.MAX_SAFE_INTEGER)
    const byVersion = Map.groupBy(rows, ({ version }) => version)
    for (const document of group) {
      const matrix = buildMatrix(byVersion.get(document.version) ?? [], dims)
      this.#cache.set(userId, buildKey(document, embedder), [matrix])
      yield { version: document.version, matrix }
    }
  }

  async *#loadLarge(
    userId: string,
    embedder: string,
    dims: number,
    document: Scope['documents'][number],
  ) {
    const slices: Matrix[] = []
    const { version, totalChunks } = document
    for (let from = 0; from < totalChunks; from += ROWS_PER_SLICE) {
      const rows = await this.#read(userId, embedder, [version], from, from + ROWS_PER_SLICE)
      const matrix = buildMatrix(rows, dims)
      slices.push(matrix)
      yield { version, matrix }
    }
    this.#cache.set(userId, buildKey(document, embedder), slices)
  }

  #read(userId: string, embedder: string, versions: string[], from: number, to: number) {
    return this.#db
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

function buildKey(
  { version, edition }: { version: string; edition: number },
  embedder: string,
): string {
  return `${version}:${edition}:${embedder}`
}

function groupDocuments(documents: Scope['documents']): Scope['documents'][] {
  const groups: Scope['documents'][] = []
  let rows = Number.POSITIVE_INFINITY
  for (const document of documents) {
    rows += document.totalChunks
    if (rows > ROWS_PER_SLICE || (groups.at(-1)?.length ?? 0) >= DOCUMENTS_PER_READ) {
      groups.push([])
      rows = document.totalChunks
    }
    groups.at(-1)?.push(document)
  }
  return groups
}

function buildMatrix(chunks: { chunk_index: number; vector: Uint8Array }[], dims: number): Matrix {
  // A vector of another width, which no embedder returns, must not shift the rows behind it.
  const width = dims * 4
  const fitting = chunks.filter(({ vector }) => vector.byteLength === width)
  const rows = new Float32Array(fitting.length * dims)
  const bytes = new Uint8Array(rows.buffer)
  for (const [row, { vector }] of fitting.entries()) bytes.set(vector, row * width)
  return { indexes: Int32Array.from(fitting, ({ chunk_index }) => chunk_index), rows }
}

/** Returns the rows whose chunk index meets the scope's conditions. */
function selectRows(matrix: Matrix, { conditions }: Scope, dims: number): Matrix {
  if (conditions.length === 0) return matrix
  const selected = [...matrix.indexes.keys()].filter((row) =>
    conditions.every((condition) => holds(matrix.indexes[row], condition)),
  )
  const rows = new Float32Array(selected.length * dims)
  for (const [i, row] of selected.entries())
    rows.set(matrix.rows.subarray(row * dims, (row + 1) * dims), i * dims)
  return { indexes: Int32Array.from(selected, (row) => matrix.indexes[row] as number), rows }
}

/** Evicts the least recently used user. A user above half of the limit is not cached. */
class MatrixCache {
  readonly #bytesMax: number
  readonly #users = new Map<string, { documents: Map<string, Matrix[]>; bytes: number }>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  forget(userId: string): void {
    this.#bytes -= this.#users.get(userId)?.bytes ?? 0
    this.#users.delete(userId)
  }

  users(): string[] {
    return [...this.#users.keys()]
  }

  get(userId: string, key: string, dims: number): Matrix[] | undefined {
    const user = this.#users.get(userId)
    if (user === undefined) return undefined
    this.#users.delete(userId)
    this.#users.set(userId, user)
    const matrices = user.documents.get(key)
    return matrices?.every(({ rows, indexes }) => rows.length === indexes.length * dims)
      ? matrices
      : undefined
  }

  set(userId: string, key: string, matrices: Matrix[]): void {
    const bytes = matrices.reduce((sum, { rows }) => sum + rows.byteLength + 200, 0)
    const user = this.#users.get(userId) ?? { documents: new Map<string, Matrix[]>(), bytes: 0 }
    if (user.bytes + bytes > this.#bytesMax / 2) {
      // Old editions may fill it; the next search loads the current ones.
      if (user.bytes > 0) this.forget(userId)
      return
    }
    user.documents.set(key, matrices)
    user.bytes += bytes
    this.#bytes += bytes
    this.#users.delete(userId)
    this.#users.set(userId, user)
    for (const evicted of this.#users.keys()) {
      if (this.#bytes <= this.#bytesMax) break
      if (evicted !== userId) this.forget(evicted)
    }
  }
}
