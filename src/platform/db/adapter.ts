/** What both engines' adapters can do beyond Kysely's own: commit without the disk, read one row at once, lift their time limits. */
import type { CompiledQuery } from 'kysely'

/** An adapter that can commit without waiting for the disk. */
export type AsyncCommit = { commitAsync(queries: CompiledQuery[]): Promise<void> }

/** An adapter that can run a read outside of transactions at once, for its first row. */
export type FastRead = {
  firstRow<R>(sql: string, parameters: readonly unknown[]): R | undefined | Promise<R | undefined>
}

/** In a transaction on PostgreSQL: takes the limits off, here and on the server, until it ends. */
export const WITHOUT_TIME_LIMIT = 'set local statement_timeout = 0'
