/** SQL of the byte store. */
import { sql } from 'kysely'
import { deleteSlice } from '#platform/db/slices.ts'
import type { VectorStore } from './vector-store.ts'

/** Each row has five parameters; SQLite allows 32,766 per statement. */
const ROWS_PER_STATEMENT = 500

export const byteRows: Pick<VectorStore, 'insert' | 'remove' | 'listIndexes' | 'eraseSlice'> = {
  async insert(tx, userId, { version, embedder }, rows) {
    for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
      await tx
        .insertInto('rag_vectors')
        .values(
          rows
            .slice(from, from + ROWS_PER_STATEMENT)
            .map(({ index, vector: { buffer, byteOffset, byteLength } }) => ({
              user_id: userId,
              version,
              embedder,
              chunk_index: index,
              vector: new Uint8Array(buffer, byteOffset, byteLength),
            })),
        )
        .onConflict((conflict) =>
          conflict.columns(['user_id', 'version', 'chunk_index']).doUpdateSet((e) => ({
            embedder: e.ref('excluded.embedder'),
            vector: e.ref('excluded.vector'),
          })),
        )
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

  async listIndexes(db, userId, { version, embedder }, from, to) {
    const rows = await db
      .selectFrom('rag_vectors')
      .select('chunk_index')
      .where('user_id', '=', userId)
      .where('version', '=', version)
      .where('chunk_index', '>=', from)
      .where('chunk_index', '<', to)
      .where('embedder', '=', embedder)
      .execute()
    return rows.map(({ chunk_index }) => Number(chunk_index))
  },

  eraseSlice(db, userId) {
    const key = ['version', 'chunk_index']
    return deleteSlice(db, 'rag_vectors', key, sql`user_id = ${userId}`)
  },
}
