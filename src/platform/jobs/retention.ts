/**
 * What jobs and events leave behind goes after RETENTION_EVENTS_DAYS: an event's id, kept against a second delivery, and jobs that
 * gave up or that nobody has run since.
 */
import '../tables.ts'
import type { Config } from '../../config.ts'
import { type Clock, DAY_MS, HOUR_MS, plus } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { inSlices, SLICE_ROWS } from '../db/slices.ts'
import type { Log } from '../telemetry/log.ts'

type Deps = { db: Db; clock: Clock; log: Log; config: Pick<Config, 'retention'> }

/** Removes in small steps what is older. */
export async function forgetOldEvents({ db, clock, config }: Omit<Deps, 'log'>, signal?: AbortSignal): Promise<void> {
  const now = clock.now()
  const before = plus(now, -config.retention.eventsDays * DAY_MS)
  await inSlices(
    () =>
      db
        .deleteFrom('inbox')
        .where((e) =>
          e(
            e.refTuple('source', 'event_id'),
            'in',
            e
              .selectFrom('inbox')
              .select(['source', 'event_id'])
              .where('received_at', '<', before)
              .limit(SLICE_ROWS)
              .$asTuple('source', 'event_id'),
          ),
        )
        .executeTakeFirst(),
    signal,
  )
  for (const status of ['dead', 'queued'] as const) {
    await inSlices(
      () =>
        db
          .deleteFrom('jobs')
          .where('id', 'in', (e) =>
            e
              .selectFrom('jobs')
              .select('id')
              .where('status', '=', status)
              .where('run_at', '<', before)
              .where((e) => e.or([e('leased_until', 'is', null), e('leased_until', '<', now)]))
              .limit(SLICE_ROWS),
          )
          .executeTakeFirst(),
      signal,
    )
  }
}

const EVERY_MS = 6 * HOUR_MS

/** Now and every six hours; returns a function that stops it. */
export function startRetention(deps: Deps): () => void {
  const stopping = new AbortController()
  const run = () =>
    void forgetOldEvents(deps, stopping.signal).catch((error) => {
      if (!stopping.signal.aborted) deps.log.warn({ err: error }, 'old events and jobs were not removed')
    })
  const timer = setInterval(run, EVERY_MS).unref()
  run()
  return () => {
    stopping.abort()
    clearInterval(timer)
  }
}
