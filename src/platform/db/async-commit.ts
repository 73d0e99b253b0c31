/**
 * Asynchronous commit: a short transaction that does not wait for the disk. Once it resolves, the
 * rows survive the end of the process (kill -9); a power failure may lose the last moment.
 */
import type { AsyncCommit, Run } from './adapter.ts'
import type { Db } from './db.ts'

export type { Run } from './adapter.ts'

/**
 * Runs the work's queries in one transaction and resolves when the operating system (SQLite) or the
 * server (PostgreSQL) has received the commit. The data reaches the disk within about a tenth of a
 * second, or with the next ordinary commit. A power cut (PostgreSQL: a crash of the server) before
 * that loses the newest of these transactions, each as a whole, and nothing else. Use `transaction`
 * when anything depends on the data being durable. On SQLite `committed` is called at once, before
 * any other query sees the rows.
 */
export function commitAsync<T>(
  db: Db,
  work: (run: Run) => Promise<T>,
  committed?: (result: T) => void,
): Promise<T> {
  if (db.isTransaction) throw new Error('a transaction of its own cannot begin inside another')
  return (db.getExecutor().adapter as unknown as AsyncCommit).commitAsync(work, committed)
}
