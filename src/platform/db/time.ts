import { type RawBuilder, sql } from 'kysely'
import { type Clock, type Instant, plus } from '../clock.ts'
import { type Db, findDialect } from './db.ts'

/**
 * Returns the SQL for the current time plus `plusMs`, by the database server's clock, which all
 * nodes share. Use it for times that one node writes and another compares, such as leases and due
 * times. On SQLite there is only one node, so its clock is used.
 */
export function databaseNow(db: Db, clock: Clock, plusMs = 0): RawBuilder<Instant> {
  if (findDialect(db) === 'sqlite') return sql<Instant>`${plus(clock.now(), plusMs)}`
  return sql<Instant>`(now() + ${plusMs + (clock.movedMs?.() ?? 0)} * interval '1 millisecond')`
}

/** Returns the SQL for the UTC day of a timestamp column, as `2026-11-27`. */
export function formatUtcDay(db: Db, column: string): RawBuilder<string> {
  const at = sql.ref(column)
  return findDialect(db) === 'sqlite'
    ? sql<string>`substr(${at}, 1, 10)`
    : sql<string>`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD')`
}
