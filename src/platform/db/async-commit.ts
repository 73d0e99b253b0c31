/**
 * Asynchronous commit: one short transaction that waits for no disk. When it resolves, the rows outlive this process (kill -9);
 * a power cut may take the last moment of them.
 */
import type { CompiledQuery } from 'kysely'
import type { AsyncCommit } from './adapter.ts'
import type { Db } from './db.ts'

/**
 * Runs the queries in their order in one transaction and resolves when the operating system (SQLite) or the server
 * (PostgreSQL) has it. The disk has it within about a tenth of a second, or with the next ordinary commit if that is
 * sooner; a power cut (PostgreSQL: a crash of the server) before that takes the newest of these transactions, whole ones,
 * and nothing else. For what must be sure before something depends on it, use `transaction`.
 */
export function commitAsync(db: Db, queries: CompiledQuery[]): Promise<void> {
  if (db.isTransaction) throw new Error('a transaction of its own cannot begin inside another')
  return (db.getExecutor().adapter as unknown as AsyncCommit).commitAsync(queries)
}
