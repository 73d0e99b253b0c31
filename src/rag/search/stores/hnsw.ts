/**
 * An HNSW index for each user whose vectors take longer than some 20 ms to compare one by one. His own, and not one of all users: of an index that
 * holds everybody's a tenth is his, and a search that has to pass over the others finds .85 to .96 of his nearest, or takes as long as without.
 * See decisions/2026-11-22-an-index-for-each-large-user.md. The trap: the planner takes a partial index only where the statement repeats its
 * predicate word for word, so these values are written into the statement and not bound to it.
 */
import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { type Db, transaction } from '#platform/db/db.ts'
import { withMaintenance } from '#platform/db/maintenance.ts'
import { isEmbeddedWith } from '#rag/documents/document-store.ts'

/** Chunks times dimensions; 20 ms on the machine that it was measured on: 6,500 chunks of 1,536 dimensions. */
export const EXACT_MAX = 10_000_000
/** As far as pgvector's HNSW goes with halves of floats. */
const DIMS_MAX = 4_000
/** Each of them is looked at by the planner, whoever asks. */
const INDEXES_MAX = 200
/** How many of the graph's nearest are looked at. */
const EF_SEARCH = 200

export type Indexed = { userId: string; embedder: string; dims: number }

export const isIndexable = (dims: number): boolean => dims <= DIMS_MAX

/** Runs `search` where the user's index is there to be used; else undefined. */
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
        exists (select from pg_index where indexrelid = to_regclass(${nameOf(of)}::text) and indisvalid) as ready`.execute(
      tx,
    )
    return rows[0]?.ready ? search(tx) : undefined
  })
}

/** What a row must be to be in the user's index. */
export function predicateOf({ userId, embedder, dims }: Indexed): RawBuilder<unknown> {
  return sql`user_id = ${sql.lit(userId)} and embedder = ${sql.lit(embedder)} and vector_dims(vector) = ${sql.lit(dims)}`
}

export const ordered = (dims: number): RawBuilder<unknown> =>
  sql`(vector::halfvec(${sql.lit(dims)}))`

/**
 * Made beside the writers, on a connection of its own. One that a lost process left half-made is made anew.
 * @returns false where there are too many already
 * @throws where another node is at it
 */
export async function makeIndex(db: Db, databaseUrl: string, of: Indexed): Promise<boolean> {
  const name = sql.id(nameOf(of))
  const drop = sql`drop index concurrently if exists ${name}`.compile(db).sql
  const create = sql`create index concurrently ${name} on rag_halfvecs
    using hnsw (${ordered(of.dims)} halfvec_cosine_ops) where ${predicateOf(of)}`.compile(db).sql
  // They may have gone since it was asked for, and then nobody would drop it any more; their vectors go later, in slices.
  const isWanted = () => isEmbeddedWith(db, of.userId, of.embedder)
  return withMaintenance(databaseUrl, nameOf(of), async (run) => {
    const known = await listIndexes(db, '')
    const mine = known.find(({ name }) => name === nameOf(of))
    if (mine?.valid || !(await isWanted())) return true
    if (mine === undefined && known.length >= INDEXES_MAX) return false
    if (mine !== undefined) await run(drop)
    await run(create)
    if (!(await isWanted())) await run(drop)
    return true
  })
}

/** All but those of the embedder that is kept. */
export async function dropIndexes(db: Db, userId: string, keep: string | null): Promise<void> {
  for (const { name } of await listIndexes(db, prefixOf(userId))) {
    if (keep !== null && name.startsWith(prefixOf(userId, keep))) continue
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

function prefixOf(userId: string, embedder?: string): string {
  const ofUser = `${NAMES}${digest(userId)}_`
  return embedder === undefined ? ofUser : `${ofUser}${digest(embedder)}_`
}

const nameOf = ({ userId, embedder, dims }: Indexed): string =>
  `${prefixOf(userId, embedder)}${dims}`
