import { type RawBuilder, sql } from 'kysely'
import { type Clock, type Instant, plus } from '../clock.ts'
import { type Db, findDialect } from './db.ts'

/**
 * Now, or `plusMs` from now, by the one clock that all nodes of a database share: the server's. For
 * leases, signs of life and due times, which one node writes and another judges. An embedded
 * database has one node, and that one's clock.
 */
export function databaseNow(db: Db, clock: Clock, plusMs = 0): RawBuilder<Instant> {
  if (findDialect(db) === 'sqlite') return sql<Instant>`${plus(clock.now(), plusMs)}`
  return sql<Instant>`(now() + ${plusMs + (clock.movedMs?.() ?? 0)} * interval '1 millisecond')`
}
