/**
 * Extensions of both engines' adapters to Kysely's: commit without waiting for the disk, read one
 * row synchronously, lift the time limits.
 */
import type { CompiledQuery, QueryResult } from 'kysely'

/** Runs one query of a transaction; at once where the database is in this process. */
export type Run = <R>(query: CompiledQuery<R>) => QueryResult<R> | Promise<QueryResult<R>>

/** An adapter that can commit without waiting for the disk. */
export type AsyncCommit = {
  commitAsync<T>(work: (run: Run) => Promise<T>, committed?: (result: T) => void): Promise<T>
}

/** An adapter that can run a read outside of transactions at once, for its first row. */
export type FastRead = {
  firstRow<R>(sql: string, parameters: readonly unknown[]): R | undefined | Promise<R | undefined>
}

/**
 * On PostgreSQL: removes the time limits, in this process and on the server, until the transaction
 * ends.
 */
export const WITHOUT_TIME_LIMIT = 'set local statement_timeout = 0'
