// Vectors in PostgreSQL's vector extension: halves of floats, stored in the row, so that a scan
// reads no other table. A user with more than about 20 ms of exact search gets an HNSW index
// (`hnsw.ts`).
import { sql } from 'kysely'
import { type Db, findDialect } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { Condition } from '#rag/search/filter.ts'
import {
  buildPredicate,
  dropIndexes,
  EXACT_MAX,
  type Indexed,
  isIndexable,
  ordered,
  throughIndex,
} from './hnsw.ts'
import type {
  Neighbour,
  Scope,
  VectorRow,
  VectorSet,
  VectorStore,
  VectorStoreName,
} from './vector-store.ts'

export type PgvectorOptions = {
  /** Chunks times dimensions up to which vectors are compared one by one. */
  exactMax?: number
  /** Called when an index would be faster and does not exist. */
  onLarge?: (index: Indexed) => Promise<void>
}

/** Undefined without the extension, which is also why no migration creates the table. */
export async function openPgvector(
  { db }: { db: Db },
  { exactMax = EXACT_MAX, onLarge = async () => {} }: PgvectorOptions = {},
): Promise<VectorStore | undefined> {
  if (findDialect(db) !== 'postgres' || !(await hasExtension(db))) return undefined
  await createTable(db)
  // pgvector before 0.8 rejects the setting of iterative scans, without which a filtered index
  // search ends too early.
  return new Pgvector(db, { exactMax: (await isIterative(db)) ? exactMax : Infinity, onLarge })
}

class Pgvector implements VectorStore {
  readonly name = 'pgvector'
  readonly dropIndexes = dropIndexes
  readonly #db: Db
  readonly #options: Required<PgvectorOptions>

  constructor(db: Db, options: Required<PgvectorOptions>) {
    this.#db = db
    this.#options = options
  }

  /** This process caches no vectors. */
  forget(): void {}

  users(): string[] {
    return []
  }

  async insert(
    tx: Db,
    userId: string,
    { version, embedder }: VectorSet,
    rows: VectorRow[],
  ): Promise<void> {
    const values = rows.map(
      ({ index, vector }) =>
        sql`(${userId}, ${version}, ${embedder}, ${index}, ${toLiteral(vector)}::halfvec)`,
    )
    await sql`insert into rag_halfvecs (user_id, version, embedder, chunk_index, vector) values ${sql.join(values)}
      on conflict (user_id, version, chunk_index)
      do update set embedder = excluded.embedder, vector = excluded.vector`.execute(tx)
  }

  async remove(tx: Db, userId: string, version: string, indexes: number[] | null): Promise<void> {
    const some = indexes === null ? sql`` : sql`and chunk_index in (${sql.join(indexes)})`
    await sql`delete from rag_halfvecs
      where user_id = ${userId} and version = ${version} ${some}`.execute(tx)
  }

  async listIndexes(
    db: Db,
    userId: string,
    { version, embedder }: VectorSet,
    from: number,
    to: number,
  ): Promise<number[]> {
    const { rows } = await sql<{ index: number }>`select chunk_index as index from rag_halfvecs
      where user_id = ${userId} and version = ${version} and embedder = ${embedder}
        and chunk_index >= ${from} and chunk_index < ${to}`.execute(db)
    return rows.map(({ index }) => Number(index))
  }

  async eraseSlice(db: Db, userId: string): Promise<number> {
    const { numAffectedRows } = await sql`delete from rag_halfvecs where ctid in
      (select ctid from rag_halfvecs where user_id = ${userId} limit ${sql.lit(SLICE_ROWS)})`.execute(
      db,
    )
    const rows = Number(numAffectedRows ?? 0n)
    if (rows < SLICE_ROWS) await dropIndexes(db, userId, null)
    return rows
  }

  async nearest(
    userId: string,
    embedder: string,
    query: Float32Array,
    scope: Scope,
    count: number,
  ): Promise<Neighbour[]> {
    const { exactMax, onLarge } = this.#options
    const chunks = scope.documents.reduce((sum, { totalChunks }) => sum + totalChunks, 0)
    const index = { userId, embedder, dims: query.length }
    if (chunks * query.length > exactMax && isIndexable(query.length)) {
      const found = await throughIndex(this.#db, index, count, (tx) =>
        searchIndex(tx, index, query, scope, count),
      )
      if (found === undefined) await onLarge(index)
      // With a narrow filter the graph may end before enough rows are found.
      else if (found.length >= Math.min(count, chunks)) return found
    }
    return searchExactly(this.#db, index, query, scope, count)
  }
}

async function createTable(db: Db): Promise<void> {
  await sql`create table if not exists rag_halfvecs (
    user_id text not null, version text not null, embedder text not null, chunk_index bigint not null, vector halfvec not null,
    primary key (user_id, version, chunk_index))`.execute(db)
  const { rows } = await sql<{ storage: string }>`select attstorage as storage from pg_attribute
    where attrelid = 'rag_halfvecs'::regclass and attname = 'vector'`.execute(db)
  // MAIN equals PLAIN up to one page (about 4,000 halves), and stores longer vectors beside the
  // row, which PLAIN rejects.
  if (rows[0]?.storage !== 'm')
    await sql`alter table rag_halfvecs alter vector set storage main`.execute(db)
}

async function searchExactly(
  db: Db,
  { userId, embedder, dims }: Indexed,
  query: Float32Array,
  { documents, conditions }: Scope,
  count: number,
): Promise<Neighbour[]> {
  const versions = JSON.stringify(documents.map(({ version }) => version))
  const { rows } = await sql<Neighbour>`
    select version, chunk_index as index, 1 - (vector <=> ${toLiteral(query)}::halfvec) as cosine
    from rag_halfvecs
    where user_id = ${userId} and version in (select jsonb_array_elements_text(${versions}::text::jsonb))
      and embedder = ${embedder} and vector_dims(vector) = ${dims} ${buildConditions(conditions)}
    order by vector <=> ${toLiteral(query)}::halfvec, version, chunk_index
    limit ${count}`.execute(db)
  return rows.map(parseNeighbour)
}

async function searchIndex(
  tx: Db,
  of: Indexed,
  query: Float32Array,
  { documents, conditions }: Scope,
  count: number,
): Promise<Neighbour[]> {
  const distance = sql`${ordered(of.dims)} <=> ${toLiteral(query)}::halfvec(${sql.lit(of.dims)})`
  const versions = `{${documents.map(({ version }) => `"${version}"`).join(',')}}`
  const { rows } = await sql<Neighbour>`
    select version, chunk_index as index, 1 - (${distance}) as cosine from rag_halfvecs
    where ${buildPredicate(of)} and version = any(${versions}::text[]) ${buildConditions(conditions)}
    order by ${distance} limit ${count}`.execute(tx)
  return rows.map(parseNeighbour)
}

/** The distance of a zero vector is NaN. */
const parseNeighbour = (row: Neighbour): Neighbour => ({
  ...row,
  index: Number(row.index),
  cosine: Number.isFinite(row.cosine) ? row.cosine : 0,
})

const buildConditions = (conditions: Condition[]) =>
  sql.join(
    conditions.map((condition) => sql`and ${buildCondition(condition)}`),
    sql` `,
  )

/** Returns which store the service uses, without creating anything. */
export async function findStoreName(db: Db): Promise<VectorStoreName> {
  if (findDialect(db) !== 'postgres') return 'bytes'
  const { rows } = await sql<{ has: boolean }>`
    select to_regclass('rag_halfvecs') is not null as has`.execute(db)
  return rows[0]?.has ? 'pgvector' : 'bytes'
}

/** `halfvec` exists since pgvector 0.7. */
async function hasExtension(db: Db): Promise<boolean> {
  const installed = sql<{ n: number }>`
    select count(*) as n from pg_extension where extname = 'vector' and to_regtype('halfvec') is not null`
  if (Number((await installed.execute(db)).rows[0]?.n) > 0) return true
  // Without the privilege to install it, the operator runs "create extension vector".
  await sql`create extension if not exists vector`.execute(db).catch(() => undefined)
  return Number((await installed.execute(db)).rows[0]?.n) > 0
}

async function isIterative(db: Db): Promise<boolean> {
  const { rows } = await sql<{ version: string }>`
    select extversion as version from pg_extension where extname = 'vector'`.execute(db)
  const [major = 0, minor = 0] = (rows[0]?.version ?? '').split('.').map(Number)
  return major > 0 || minor >= 8
}

function toLiteral(vector: Float32Array): string {
  return `[${vector.join(',')}]`
}

const symbols = { $eq: '=', $ne: '<>', $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const

/** Compares with the chunk's index; values that are no numbers equal none. */
function buildCondition({ operator, value }: Condition) {
  if (operator === '$in') {
    const numbers = (value as unknown[]).filter(Number.isInteger)
    return numbers.length === 0 ? sql`false` : sql`chunk_index in (${sql.join(numbers)})`
  }
  if (typeof value !== 'number') return operator === '$ne' ? sql`true` : sql`false`
  return sql`chunk_index::double precision ${sql.raw(symbols[operator])} ${value}::double precision`
}
