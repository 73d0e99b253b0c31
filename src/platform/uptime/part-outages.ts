/** Lists the times in which a part of the service did not run. */
import './tables.ts'
import type { Part } from '#config/config.ts'
import { DAY_MS, type Instant } from '../clock.ts'
import { databaseNow } from '../db/time.ts'
import type { Platform } from '../platform.ts'
import { OUTAGE_MS } from './heartbeat.ts'

/** Parts that were away at the same time; `until` is null while they are. */
export type PartOutage = { parts: Part[]; from: Instant; until: Instant | null }

/** A part that is away for longer was removed from the service. */
const AWAY_DAYS = 7

/** Lists the outages that ended in the last days or last, newest first. */
export async function listPartOutages(
  { db, clock, config }: Pick<Platform, 'db' | 'clock' | 'config'>,
  { days }: { days: number },
): Promise<PartOutage[]> {
  const [ended, lasting] = await Promise.all([
    db
      .selectFrom('service_outages')
      .selectAll()
      .where('ended_at', '>=', databaseNow(db, clock, -days * DAY_MS))
      .orderBy('began_at', 'desc')
      .limit(ROWS_MAX)
      .execute(),
    db
      .selectFrom('service_parts')
      .select(['part', 'seen_at'])
      .where('is_ended', '=', false)
      .where('seen_at', '<', databaseNow(db, clock, -OUTAGE_MS))
      .where('seen_at', '>=', databaseNow(db, clock, -AWAY_DAYS * DAY_MS))
      .execute(),
  ])
  // The parts of this process run, even if its clock was moved since its last beat.
  const away = lasting.filter(({ part }) => !config.serve.has(part as Part))
  const all = [
    ...away.map(({ part, seen_at }) => ({ part, from: seen_at, until: null })),
    ...ended.map(({ part, began_at, ended_at }) => ({ part, from: began_at, until: ended_at })),
  ]
  return [...Map.groupBy(all, ({ from, until }) => `${from} ${until}`).values()]
    .flatMap((outages) => {
      const [first] = outages
      if (first === undefined) return []
      const parts = outages.map(({ part }) => part as Part).sort()
      return [{ parts, from: first.from, until: first.until }]
    })
    .sort((a, b) => (a.from < b.from ? 1 : -1))
}

const ROWS_MAX = 100
