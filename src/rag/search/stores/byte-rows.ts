/** SQL of the byte store's vectors. */
import type { Db } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { VectorSet, VectorStore } from './vector-store.ts'

/** Five parameters a row, of 32,766 that SQLite takes a statement. */
const ROWS_A_STATEMENT = 500

export const byteRows: Pick<
  VectorStore,
  'insert' | 'remove' | 'removeOthers' | 'lastOf' | 'count' | 'read' | 'eraseSlice'
> = {
  async insert(tx, userId, { version, embedder }, rows) {
    for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
      await tx
        .insertInto('rag_vectors')
        .values(
          rows
            .slice(from, from + ROWS_A_STATEMENT)
            .map(({ index, vector: { buffer, byteOffset, byteLength } }) => ({
              user_id: userId,
              version,
              embedder,
              chunk_index: index,
              vector: new Uint8Array(buffer, byteOffset, byteLength),
            })),
        )
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    }
  },

  async remove(tx, userId, version, indexes) {
    let query = tx
      .deleteFrom('rag_vectors')
      .where('user_id', '=', userId)
      .where('version', '=', version)
    if (indexes !== null) query = query.where('chunk_index', 'in', indexes)
    await query.execute()
  },

  async removeOthers(db, userId, version, keep) {
    let some = db
      .selectFrom('rag_vectors')
      .select(['embedder', 'chunk_index'])
      .where('user_id', '=', userId)
      .where('version', '=', version)
    if (keep.length > 0) some = some.where('embedder', 'not in', keep)
    const { numDeletedRows } = await db
      .deleteFrom('rag_vectors')
      .where('user_id', '=', userId)
      .where('version', '=', version)
      .where((e) =>
        e(
          e.refTuple('embedder', 'chunk_index'),
          'in',
          some.limit(SLICE_ROWS).$asTuple('embedder', 'chunk_index'),
        ),
      )
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  },

  async lastOf(db, userId, set) {
    const { last } = await rowsOf(db, userId, set)
      .select(({ fn }) => fn.max<number | null>('chunk_index').as('last'))
      .executeTakeFirstOrThrow()
    return last === null ? -1 : Number(last)
  },

  async count(db, userId, set) {
    const { rows } = await rowsOf(db, userId, set)
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow()
    return Number(rows)
  },

  async read(db, userId, set, from, limit) {
    const rows = await rowsOf(db, userId, set)
      .select(['chunk_index as index', 'vector'])
      .where('chunk_index', '>=', from)
      .orderBy('chunk_index')
      .limit(limit)
      .execute()
    return rows.map(({ index, vector }) => ({ index, vector: floatsOf(vector) }))
  },

  async eraseSlice(db, userId) {
    const { numDeletedRows } = await db
      .deleteFrom('rag_vectors')
      .where('user_id', '=', userId)
      .where((e) =>
        e(
          e.refTuple('version', 'embedder', 'chunk_index'),
          'in',
          e
            .selectFrom('rag_vectors')
            .select(['version', 'embedder', 'chunk_index'])
            .where('user_id', '=', userId)
            .limit(SLICE_ROWS)
            .$asTuple('version', 'embedder', 'chunk_index'),
        ),
      )
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  },
}

function rowsOf(db: Db, userId: string, { version, embedder }: VectorSet) {
  return db
    .selectFrom('rag_vectors')
    .where('user_id', '=', userId)
    .where('version', '=', version)
    .where('embedder', '=', embedder)
}

/** Rows come at any place of a buffer, floats lie at every fourth. */
function floatsOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
}
