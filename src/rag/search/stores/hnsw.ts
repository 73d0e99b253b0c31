// An HNSW index for each user whose exact search takes over 20 ms; one for all would find only .85
// to .96 of a user's nearest rows: decisions/2026-11-22-vector-indexes.md. The trap: the planner
// needs the partial index's predicate literally, so these values are not bound.
import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { type Db, transaction } from '#platform/db/db.ts'
import { withMaintenance } from '#platform/db/maintenance.ts'
import { hasEmbeddedDocument } from '#rag/documents/document-store.ts'

/** Chunks times dimensions: 6,500 chunks of 1,536 dimensions took 20 ms. */
export const EXACT_MAX = 10_000_000
/** pgvector's limit for HNSW over halves of floats. */
const DIMS_MAX = 4_000
/** The planner considers every index in every search. */
const INDEXES_MAX = 200
/** Candidates that a search of the graph compares. */
const EF_SEARCH = 200

export type Indexed = { userId: string; embedder: string; dims: number }

export const isIndexable = (dims: number): boolean => dims <= DIMS_MAX

/** Runs `search` when the user's index exists; else returns undefined. */
export function throughIndex<T>(
  db: Db,
  of: Indexed,
  count: number,
  search: (tx: Db) => Promise<T>,
): Promise<T | undefined> {
  return transaction(db, async (tx) => {
    const ef = Math.min(1_000, Math.max(EF_SEARCH, count))
    const { rows } = await sql<{ ready: boolean }>`
      select set_config('hnsw.ef_search', ${String(ef)}, true), set_config('hnsw.iterative_scan', 'strict_order', true),
        set_config('enable_sort', 'off', true),
        exists (select from pg_index where indexrelid = to_regclass(${buildName(of)}::text) and indisvalid) as ready`.execute(
      tx,
    )
    return rows[0]?.ready ? search(tx) : undefined
  })
}

/** Returns the condition of the rows in the user's index. */
export function buildPredicate({ userId, embedder, dims }: Indexed): RawBuilder<unknown> {
  return sql`user_id = ${sql.lit(userId)} and embedder = ${sql.lit(embedder)} and vector_dims(vector) = ${sql.lit(dims)}`
}

export const ordered = (dims: number): RawBuilder<unknown> =>
  sql`(vector::halfvec(${sql.lit(dims)}))`

/**
 * Creates the index concurrently, over a separate connection. An invalid index, left by a killed
 * process, is replaced.
 * @returns false when INDEXES_MAX is reached
 * @throws Error when another node is creating it
 */
export async function makeIndex(db: Db, databaseUrl: string, of: Indexed): Promise<boolean> {
  const name = sql.id(buildName(of))
  const drop = sql`drop index concurrently if exists ${name}`.compile(db).sql
  const create = sql`create index concurrently ${name} on rag_halfvecs
    using hnsw (${ordered(of.dims)} halfvec_cosine_ops) where ${buildPredicate(of)}`.compile(db).sql
  // No later step would drop an index that is created after the user's last document was deleted.
  const isWanted = () => hasEmbeddedDocument(db, of.userId, of.embedder)
  return withMaintenance(databaseUrl, buildName(of), async (run) => {
    const known = await listIndexes(db, '')
    const current = known.find(({ name }) => name === buildName(of))
    if (current?.valid || !(await isWanted())) return true
    if (current === undefined && known.length >= INDEXES_MAX) return false
    if (current !== undefined) await run(drop)
    await run(create)
    if (!(await isWanted())) await run(drop)
    return true
  })
}

/** Drops the user's indexes, except those of the embedder `keep`. */
export async function dropIndexes(db: Db, userId: string, keep: string | null): Promise<void> {
  for (const { name } of await listIndexes(db, buildPrefix(userId))) {
    if (keep !== null && name.startsWith(buildPrefix(userId, keep))) continue
    await sql`drop index concurrently if exists ${sql.id(name)}`.execute(db)
  }
}

async function listIndexes(db: Db, prefix: string): Promise<{ name: string; valid: boolean }[]> {
  const { rows } = await sql<{ name: string; valid: boolean }>`
    select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = 'rag_halfvecs'::regclass and starts_with(c.relname, ${prefix === '' ? NAMES : prefix})`.execute(
    db,
  )
  return rows
}

const NAMES = 'rag_hnsw_'
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

function buildPrefix(userId: string, embedder?: string): string {
  const ofUser = `${NAMES}${digest(userId)}_`
  return embedder === undefined ? ofUser : `${ofUser}${digest(embedder)}_`
}

const buildName = ({ userId, embedder, dims }: Indexed): string =>
  `${buildPrefix(userId, embedder)}${dims}`
