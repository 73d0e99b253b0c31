/**
 * Vectors in PostgreSQL's vector extension, compared there. Exact: the user's own rows are few, and an approximate index over everyone's would
 * leave small users without results. The user id is in every statement.
 */
import { sql } from 'kysely'
import { type Db, dialectOf } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { Condition } from '#rag/search/filter.ts'
import type { Neighbour, VectorStore } from './vector-store.ts'

/** Undefined where the server has no such extension. The table is made here and not by a migration, because a server may lack the extension. */
export async function openPgvector({ db }: { db: Db }): Promise<VectorStore | undefined> {
  if (dialectOf(db) !== 'postgres' || !(await hasExtension(db))) return undefined
  await sql`create table if not exists rag_vectors (
    user_id text not null, version text not null, chunk_index bigint not null, embedding vector not null,
    primary key (user_id, version, chunk_index))`.execute(db)

  return {
    name: 'pgvector',
    bytesOf: () => new Uint8Array(0),
    forget() {},

    async insert(tx, userId, version, rows) {
      const values = rows.map(({ index, vector }) => sql`(${userId}, ${version}, ${index}, ${literal(vector)}::vector)`)
      await sql`insert into rag_vectors (user_id, version, chunk_index, embedding) values ${sql.join(values)}`.execute(
        tx,
      )
    },

    async remove(tx, userId, version, indexes) {
      const some = indexes === null ? sql`` : sql`and chunk_index in (${sql.join(indexes)})`
      await sql`delete from rag_vectors where user_id = ${userId} and version = ${version} ${some}`.execute(tx)
    },

    async eraseSlice(db, userId) {
      const { numAffectedRows } = await sql`
        delete from rag_vectors where user_id = ${userId} and (version, chunk_index) in (
          select version, chunk_index from rag_vectors where user_id = ${userId} limit ${sql.lit(SLICE_ROWS)})`.execute(
        db,
      )
      return Number(numAffectedRows ?? 0n)
    },

    async nearest(userId, query, { documents, conditions }, count) {
      const versions = JSON.stringify(documents.map(({ version }) => version))
      const tests = conditions.map((condition) => sql`and ${test(condition)}`)
      const { rows } = await sql<Neighbour>`
        select version, chunk_index as index, 1 - (embedding <=> ${literal(query)}::vector) as cosine
        from rag_vectors
        where user_id = ${userId} and version in (select jsonb_array_elements_text(${versions}::text::jsonb))
          and vector_dims(embedding) = ${query.length} ${sql.join(tests, sql` `)}
        order by embedding <=> ${literal(query)}::vector, version, chunk_index
        limit ${count}`.execute(db)
      // The distance of a zero vector is NaN.
      return rows.map((row) => ({ ...row, cosine: Number.isFinite(row.cosine) ? row.cosine : 0 }))
    },
  }
}

async function hasExtension(db: Db): Promise<boolean> {
  const installed = sql<{ n: number }>`select count(*) as n from pg_extension where extname = 'vector'`
  if (Number((await installed.execute(db)).rows[0]?.n) > 0) return true
  // Installing needs a privilege that a careful operator does not give; then his own "create extension vector" decides.
  await sql`create extension if not exists vector`.execute(db).catch(() => undefined)
  return Number((await installed.execute(db)).rows[0]?.n) > 0
}

function literal(vector: Float32Array): string {
  return `[${vector.join(',')}]`
}

const symbols = { $eq: '=', $ne: '<>', $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const

/** Numbers alone can be a chunk's index; anything else equals none. */
function test({ operator, value }: Condition) {
  if (operator === '$in') {
    const numbers = (value as unknown[]).filter(Number.isInteger)
    return numbers.length === 0 ? sql`false` : sql`chunk_index in (${sql.join(numbers)})`
  }
  if (typeof value !== 'number') return operator === '$ne' ? sql`true` : sql`false`
  return sql`chunk_index::double precision ${sql.raw(symbols[operator])} ${value}::double precision`
}
