/**
 * Vectors in PostgreSQL's vector extension, compared there: as halves of floats, in the row itself, so that a scan reads no other table.
 * Exact up to so many that it takes some 20 ms; a user with more has an HNSW index of his own (`hnsw.ts`). The user id is in every statement.
 */
import { type RawBuilder, sql } from 'kysely'
import { type Db, dialectOf } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { Condition } from '#rag/search/filter.ts'
import {
  dropIndexes,
  EXACT_MAX,
  type Indexed,
  isIndexable,
  ordered,
  predicateOf,
  throughIndex,
} from './hnsw.ts'
import type { Neighbour, Scope, VectorStore, VectorStoreName } from './vector-store.ts'

export type PgvectorOptions = {
  /** Chunks times dimensions that are compared one by one. */
  exactMax?: number
  /** An index would be quicker, and is not there. */
  onLarge?: (of: Indexed) => Promise<void>
}

/** Undefined where the server has no such extension. The table is made here and not by a migration, because a server may lack the extension. */
export async function openPgvector(
  { db }: { db: Db },
  { exactMax = EXACT_MAX, onLarge = async () => {} }: PgvectorOptions = {},
): Promise<VectorStore | undefined> {
  if (dialectOf(db) !== 'postgres' || !(await hasExtension(db))) return undefined
  // An index is searched as far as is needed from 0.8 on; before it, that setting is refused.
  const indexedFrom = (await isIterative(db)) ? exactMax : Infinity
  // MAIN is PLAIN for what fits into a page, some 4,000 halves, and lies beside the row only beyond that, where PLAIN would refuse it.
  await sql`create table if not exists rag_halfvecs (
    user_id text not null, version text not null, embedder text not null, chunk_index bigint not null, vector halfvec not null,
    primary key (user_id, version, chunk_index))`.execute(db)
  const { rows } = await sql<{ storage: string }>`select attstorage as storage from pg_attribute
    where attrelid = 'rag_halfvecs'::regclass and attname = 'vector'`.execute(db)
  if (rows[0]?.storage !== 'm')
    await sql`alter table rag_halfvecs alter vector set storage main`.execute(db)

  return {
    name: 'pgvector',
    forget() {},
    users: () => [],

    async insert(tx, userId, { version, embedder }, rows) {
      const values = rows.map(
        ({ index, vector }) =>
          sql`(${userId}, ${version}, ${embedder}, ${index}, ${literal(vector)}::halfvec)`,
      )
      await sql`insert into rag_halfvecs (user_id, version, embedder, chunk_index, vector) values ${sql.join(values)}
        on conflict (user_id, version, chunk_index) do update set embedder = excluded.embedder, vector = excluded.vector`.execute(
        tx,
      )
    },

    async remove(tx, userId, version, indexes) {
      const some = indexes === null ? sql`` : sql`and chunk_index in (${sql.join(indexes)})`
      await sql`delete from rag_halfvecs where user_id = ${userId} and version = ${version} ${some}`.execute(
        tx,
      )
    },

    async listIndexes(db, userId, { version, embedder }, from, to) {
      const { rows } = await sql<{ index: number }>`select chunk_index as index from rag_halfvecs
        where user_id = ${userId} and version = ${version} and embedder = ${embedder}
          and chunk_index >= ${from} and chunk_index < ${to}`.execute(db)
      return rows.map(({ index }) => Number(index))
    },

    async eraseSlice(db, userId) {
      const rows = await deleteSlice(db, sql`user_id = ${userId}`)
      if (rows < SLICE_ROWS) await dropIndexes(db, userId, null)
      return rows
    },

    dropIndexes,

    async nearest(userId, embedder, query, scope, count) {
      const chunks = scope.documents.reduce((sum, { totalChunks }) => sum + totalChunks, 0)
      const of = { userId, embedder, dims: query.length }
      if (chunks * query.length > indexedFrom && isIndexable(query.length)) {
        const found = await throughIndex(db, of, count, (tx) =>
          nearestByIndex(tx, of, query, scope, count),
        )
        if (found === undefined) await onLarge(of)
        // Where a filter leaves little, the graph may end before enough is found.
        else if (found.length >= Math.min(count, chunks)) return found
      }
      return nearestOfAll(db, of, query, scope, count)
    },
  }
}

async function nearestOfAll(
  db: Db,
  { userId, embedder, dims }: Indexed,
  query: Float32Array,
  { documents, conditions }: Scope,
  count: number,
): Promise<Neighbour[]> {
  const versions = JSON.stringify(documents.map(({ version }) => version))
  const { rows } = await sql<Neighbour>`
    select version, chunk_index as index, 1 - (vector <=> ${literal(query)}::halfvec) as cosine
    from rag_halfvecs
    where user_id = ${userId} and version in (select jsonb_array_elements_text(${versions}::text::jsonb))
      and embedder = ${embedder} and vector_dims(vector) = ${dims} ${testsOf(conditions)}
    order by vector <=> ${literal(query)}::halfvec, version, chunk_index
    limit ${count}`.execute(db)
  return rows.map(told)
}

async function nearestByIndex(
  tx: Db,
  of: Indexed,
  query: Float32Array,
  { documents, conditions }: Scope,
  count: number,
): Promise<Neighbour[]> {
  const distance = sql`${ordered(of.dims)} <=> ${literal(query)}::halfvec(${sql.lit(of.dims)})`
  const versions = `{${documents.map(({ version }) => `"${version}"`).join(',')}}`
  const { rows } = await sql<Neighbour>`
    select version, chunk_index as index, 1 - (${distance}) as cosine from rag_halfvecs
    where ${predicateOf(of)} and version = any(${versions}::text[]) ${testsOf(conditions)}
    order by ${distance} limit ${count}`.execute(tx)
  return rows.map(told)
}

/** The distance of a zero vector is NaN. */
const told = (row: Neighbour): Neighbour => ({
  ...row,
  index: Number(row.index),
  cosine: Number.isFinite(row.cosine) ? row.cosine : 0,
})

const testsOf = (conditions: Condition[]) =>
  sql.join(
    conditions.map((condition) => sql`and ${test(condition)}`),
    sql` `,
  )

async function deleteSlice(db: Db, where: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from rag_halfvecs where ctid in (select ctid from rag_halfvecs where ${where} limit ${sql.lit(SLICE_ROWS)})`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0n)
}

/** Returns which store the service uses, without creating anything. */
export async function findStoreName(db: Db): Promise<VectorStoreName> {
  if (dialectOf(db) !== 'postgres') return 'bytes'
  const { rows } = await sql<{ has: boolean }>`
    select to_regclass('rag_halfvecs') is not null as has`.execute(db)
  return rows[0]?.has ? 'pgvector' : 'bytes'
}

/** Halves of floats came with its 0.7. */
async function hasExtension(db: Db): Promise<boolean> {
  const installed = sql<{ n: number }>`
    select count(*) as n from pg_extension where extname = 'vector' and to_regtype('halfvec') is not null`
  if (Number((await installed.execute(db)).rows[0]?.n) > 0) return true
  // Installing needs a privilege that a careful operator does not give; then his own "create extension vector" decides.
  await sql`create extension if not exists vector`.execute(db).catch(() => undefined)
  return Number((await installed.execute(db)).rows[0]?.n) > 0
}

async function isIterative(db: Db): Promise<boolean> {
  const { rows } = await sql<{ version: string }>`
    select extversion as version from pg_extension where extname = 'vector'`.execute(db)
  const [major = 0, minor = 0] = (rows[0]?.version ?? '').split('.').map(Number)
  return major > 0 || minor >= 8
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
