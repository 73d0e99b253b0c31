/**
 * The database: a Kysely instance that behaves the same on SQLite and on PostgreSQL. A nested
 * `transaction` joins the outer one; `afterCommit` registers work that follows the commit.
 */
import { type Kysely, PostgresAdapter, sql, type Transaction } from 'kysely'
import { WITHOUT_TIME_LIMIT } from './adapter.ts'
import type { Tables } from './tables.ts'

/** The database, or a transaction on it. */
export type Db = Kysely<Tables>

export type Dialect = 'sqlite' | 'postgres'

export type Database = {
  db: Db
  dialect: Dialect
  /** The database's address without a password, for the operator. */
  address: string
  close(): Promise<void>
}

const afterCommits = new WeakMap<object, (() => void)[]>()

/**
 * Runs `work` in one transaction and returns its result; a throw rolls everything back. Inside a
 * transaction it joins the outer one. SQLite acquires the only write lock at the start, so the rows
 * that `work` reads cannot change. PostgreSQL does not: lock the rows that a decision depends on
 * with `forUpdate`. Never await an external service inside, because all other writers would wait
 * for it too.
 */
export async function transaction<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  if (db.isTransaction) return work(db)

  const callbacks: (() => void)[] = []
  const result = await db.transaction().execute(async (tx: Transaction<Tables>) => {
    afterCommits.set(tx, callbacks)
    return work(tx)
  })
  for (const callback of callbacks) callback()
  return result
}

/**
 * Calls `callback` after the transaction has committed, or at once outside of a transaction. The
 * callback must not throw.
 */
export function afterCommit(tx: Db, callback: () => void): void {
  const callbacks = afterCommits.get(tx)
  if (callbacks === undefined) callback()
  else callbacks.push(callback)
}

/**
 * Locks the selected rows until the transaction ends. SQLite's transaction already holds the write
 * lock.
 */
export function forUpdate<Q>(tx: Db, query: Q & { forUpdate(): Q }): Q {
  return findDialect(tx) === 'postgres' ? query.forUpdate() : query
}

/** Locks the selected rows and skips those that another transaction has locked. */
export function forUpdateSkipLocked<Q extends { forUpdate(): { skipLocked(): unknown } }>(
  tx: Db,
  query: Q,
): Q {
  return findDialect(tx) === 'postgres' ? (query.forUpdate().skipLocked() as Q) : query
}

/**
 * Removes the time limits for the rest of a transaction, for work that grows with the database,
 * such as migrations.
 */
export async function withoutTimeLimit(tx: Db): Promise<void> {
  if (findDialect(tx) === 'postgres') await sql.raw(WITHOUT_TIME_LIMIT).execute(tx)
}

export function findDialect(db: Db): Dialect {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'
}

/**
 * Matches rows whose text begins with the prefix, byte for byte and in byte order in every database
 * locale, as an index with `{prefixes}` does.
 */
export function matchPrefix(db: Db, column: string, prefix: string) {
  const [from, to, before] =
    findDialect(db) === 'postgres' ? ['~>=~', '~<~', ' using ~<~'] : ['>=', '<', '']
  const text = sql.ref(column)
  const end = `${prefix}\u{10FFFF}`
  return {
    where: sql<boolean>`(${text} ${sql.raw(from)} ${prefix} and ${text} ${sql.raw(to)} ${end})`,
    orderBy: sql`${text}${sql.raw(before)}`,
  }
}

/** Returns true when a unique index rejected the row. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode, message } = error as { code?: string; errcode?: number; message?: string }
  // PostgreSQL: SQLSTATE 23505. SQLite: extended result codes 2067 (unique) and 1555 (primary key).
  return (
    code === '23505' ||
    errcode === 2067 ||
    errcode === 1555 ||
    (message?.includes('UNIQUE constraint failed') ?? false)
  )
}
