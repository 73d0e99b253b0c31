/** The durations of a user's answered calls. Reads only the newest, because an account may have millions. */
import './tables.ts'
import { Type } from 'typebox'
import { DAY_MS, plus } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Nullable } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { computeLowestId } from './ids.ts'
import { computeDurations, type Durations } from './percentiles.ts'
import { type CallScope, Day, readCallScope, readSpan, type Span } from './span.ts'
import { usageRoute } from './usage-route.ts'

/** Reading them takes about 20 ms. */
const CALLS_MAX = 5_000

export const Percentiles = Nullable(
  Type.Object({ p50: Type.Integer(), p95: Type.Integer() }, { title: 'Percentiles' }),
)

/** Returns the durations of the newest `callsMax` calls of the days, without the calls that failed. */
export async function readDurations(
  db: Db,
  { userId, keyId }: CallScope,
  { from, to }: Span,
  callsMax = CALLS_MAX,
): Promise<Durations> {
  let newest = db
    .selectFrom('usage_records')
    .select(['outcome', 'latency_ms', 'first_token_ms'])
    .where('user_id', '=', userId)
    .where('id', '>=', computeLowestId(`${from}T00:00:00.000Z`))
    .where('id', '<', computeLowestId(plus(`${to}T00:00:00.000Z`, DAY_MS)))
  if (keyId !== null) newest = newest.where('key_id', '=', keyId)
  const calls = await newest.orderBy('id', 'desc').limit(callsMax).execute()
  return computeDurations(calls.filter(({ outcome }) => outcome === 'ok'))
}

export function durationRoutes(app: App, { db, clock }: Pick<Platform, 'db' | 'clock'>) {
  app.get(
    '/api/usage/durations',
    usageRoute('getDurations', 'How long calls take', {
      description:
        `Median and 95th percentile of the newest ${CALLS_MAX} calls in milliseconds, without failed calls. ` +
        'Null if there is none. ' +
        'A key with limited scopes sees only its own calls, unless `usage` is its only scope.',
      querystring: Type.Object({ from: Type.Optional(Day), to: Type.Optional(Day) }),
      response: {
        200: Type.Object(
          { latency_ms: Percentiles, first_token_ms: Percentiles },
          { title: 'Durations' },
        ),
      },
    }),
    async (request) =>
      readDurations(db, readCallScope(requireCaller(request)), readSpan(clock, request.query)),
  )
}
