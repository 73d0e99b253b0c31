// Classifies failed statements of both engines: the database is unreachable, too slow, full or
// read-only.

/**
 * `unreachable`: no connection, or a broken one. `busy`: the statement or its lock took too long.
 * `full`: the disk is full. `read_only`: a standby, or a disk remounted after an error.
 */
export type DatabaseFailure = 'unreachable' | 'busy' | 'full' | 'read_only'

/** The server did not answer, or closed the connection. The statement may have run. */
export class DatabaseUnreachable extends Error {
  /** True when this process stopped waiting; the server may still run the statement. */
  readonly isTimeout: boolean

  constructor(message: string, options: { isTimeout?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'DatabaseUnreachable'
    this.isTimeout = options.isTimeout ?? false
  }
}

/** SQLite's write lock was not free in time. */
export class DatabaseBusy extends Error {
  override readonly name = 'DatabaseBusy'
}

/** Returns null when the statement itself caused the failure. */
export function databaseFailure(error: unknown): DatabaseFailure | null {
  if (error instanceof DatabaseUnreachable) return 'unreachable'
  if (error instanceof DatabaseBusy) return 'busy'
  if (!(error instanceof Error)) return null
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return ofSqlite(errcode)
  return typeof code === 'string' ? ofSqlState(code) : null
}

/** Result codes of sqlite.org/rescode.html; the low byte is the primary one. */
function ofSqlite(code: number): DatabaseFailure | null {
  switch (code & 0xff) {
    case 5: // BUSY
    case 6: // LOCKED
      return 'busy'
    case 13: // FULL
      return 'full'
    case 8: // READONLY
    case 10: // IOERR
    case 14: // CANTOPEN
      return 'read_only'
  }
  return null
}

/** PostgreSQL's Appendix A. */
function ofSqlState(code: string): DatabaseFailure | null {
  switch (code) {
    case '53100': // disk_full
      return 'full'
    case '25006': // read_only_sql_transaction
      return 'read_only'
    case '57014': // query_canceled, by statement_timeout
    case '55P03': // lock_not_available
      return 'busy'
    case '53300': // too_many_connections
    case '57P01': // admin_shutdown
    case '57P02': // crash_shutdown
    case '57P03': // cannot_connect_now
    case '57P05': // idle_session_timeout
    case '25P03': // idle_in_transaction_session_timeout
      return 'unreachable'
  }
  return /^08[0-9A-Z]{3}$/.test(code) ? 'unreachable' : null
}
