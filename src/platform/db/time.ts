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
