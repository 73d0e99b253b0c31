/**
 * Removes old jobs and events: ids of events, stored to detect a second delivery, and jobs that
 * failed or did not run for long.
 */
import { sql } from 'kysely'
import '../tables.ts'
import type { Config } from '#config/config.ts'
import { type Aged, byAge } from '../retention.ts'

export function agedEvents({ retention }: Pick<Config, 'retention'>): Aged[] {
  const period = { days: retention.eventsDays, setting: 'RETENTION_DAYS' }
  const jobs = (status: 'dead' | 'queued', what: string) =>
    byAge({
      ...period,
      what,
      table: 'jobs',
      key: ['id'],
      at: 'run_at',
      only: (now) => sql`status = ${status} and (leased_until is null or leased_until < ${now})`,
    })
  return [
    byAge({
      ...period,
      what: 'events',
      table: 'inbox',
      key: ['source', 'event_id'],
      at: 'received_at',
    }),
    jobs('dead', 'jobs that gave up'),
    jobs('queued', 'jobs that nobody runs'),
  ]
}
