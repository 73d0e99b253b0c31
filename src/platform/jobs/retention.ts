/**
 * Removes the remains of jobs and events: an event's id, kept against a second delivery, and jobs
 * that failed or were not run for long.
 */
import { sql } from 'kysely'
import '../tables.ts'
import type { Config } from '#config/config.ts'
import { type Aged, byAge } from '../retention.ts'

export function agedEvents({ retention }: Pick<Config, 'retention'>): Aged[] {
  const kept = { days: retention.eventsDays, setting: 'RETENTION_DAYS' }
  const jobs = (status: 'dead' | 'queued', what: string) =>
    byAge({
      ...kept,
      what,
      table: 'jobs',
      key: ['id'],
      at: 'run_at',
      only: (now) => sql`status = ${status} and (leased_until is null or leased_until < ${now})`,
    })
  return [
    byAge({
      ...kept,
      what: 'events',
      table: 'inbox',
      key: ['source', 'event_id'],
      at: 'received_at',
    }),
    jobs('dead', 'jobs that gave up'),
    jobs('queued', 'jobs that nobody runs'),
  ]
}
