/** Runs the checks that superusers read under Run, Health. */
import { type Static, Type } from 'typebox'
import { checkBackups } from '#checks/backups.ts'
import { checkBilling } from '#checks/billing.ts'
import { checkEmbedder } from '#checks/embedder.ts'
import { checkJobs } from '#checks/jobs.ts'
import type { Line } from '#checks/line.ts'
import { checkMail } from '#checks/mail.ts'
import { checkProducts } from '#checks/products.ts'
import { checkRedis } from '#checks/redis.ts'
import { checkCombinations, checkSecretKey, checkSignIn } from '#checks/settings.ts'
import { checkDataFolder, checkOriginals } from '#checks/storage.ts'
import { checkVendors } from '#checks/vendors.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import { findLastEvent } from '#platform/jobs/event-list.ts'
import type { Platform } from '#platform/platform.ts'
import { type DatabaseState, SKEW_MAX_MS } from '#platform/readiness.ts'
import { listPartOutages } from '#platform/uptime/part-outages.ts'
import { version } from '#platform/version.ts'
import type { ProductDeps } from '#storefront/products/releases.ts'

export const HealthReport = Type.Object(
  {
    checked_at: Instant,
    version: Type.String(),
    node_version: Type.String(),
    engine: OneOf('sqlite', 'postgres'),
    free_bytes: Nullable(
      Type.Integer({ description: 'Of the disk with the data folder; null where unknown' }),
    ),
    last_event_at: Nullable(
      Type.String({
        format: 'date-time',
        description: 'When the payment processor last sent an event',
      }),
    ),
    components: Type.Array(
      Type.Object(
        {
          area: OneOf(
            'database',
            'storage',
            'jobs',
            'billing',
            'mail',
            'models',
            'products',
            'settings',
          ),
          name: Type.String(),
          state: OneOf('ok', 'sandbox', 'off', 'wrong'),
          detail: Type.String(),
        },
        { title: 'HealthCheck' },
      ),
      { description: 'Faults first' },
    ),
    outages: Type.Array(
      Type.Object(
        {
          parts: Type.Array(Named('ServicePart', OneOf('api', 'storefront', 'worker'))),
          from: Instant,
          until: Nullable(
            Type.String({ format: 'date-time', description: 'Null while the outage lasts' }),
          ),
        },
        { title: 'ServiceOutage' },
      ),
      {
        description:
          'Times of the last 30 days, longer than two minutes, in which no process served a part, newest first',
      },
    ),
  },
  { title: 'HealthReport' },
)
export type HealthReport = Static<typeof HealthReport>

type Check = HealthReport['components'][number]
export type HealthDeps = Platform & Pick<ProductDeps, 'productList'>

/**
 * Runs all checks at once. Those that call another service end after some seconds, so that one
 * that hangs delays the others no longer than that.
 */
export async function readHealth(deps: HealthDeps): Promise<HealthReport> {
  const { config, db, dialect, clock, readiness } = deps
  const open = async () => deps
  const [state, freeBytes, lastEventAt, outages, ...parts] = await Promise.all([
    readiness.state(),
    readiness.freeBytes(),
    findLastEvent(db),
    listPartOutages(deps, { days: OUTAGE_DAYS }),
    name('storage', checkOriginals(config, open)),
    name('storage', checkBackups(open)),
    name('database', checkRedis(config, open)),
    name('jobs', checkJobs(open)),
    name('billing', checkBilling(config, open)),
    name('mail', checkMail(config)),
    name('models', checkVendors(config)),
    name('models', checkEmbedder(config, open)),
    name('products', checkProducts(config, deps.productList, clock.now())),
  ])
  const checks: Check[] = [
    describeDatabase(deps, state),
    ...list('storage', [checkDataFolder(config)]),
    ...parts.flat(),
    ...list('settings', [
      ...checkSignIn(config),
      checkSecretKey(config),
      ...checkCombinations(config),
    ]),
  ]
  return {
    checked_at: clock.now(),
    version,
    node_version: process.versions.node,
    engine: dialect,
    free_bytes: Number.isFinite(freeBytes) ? freeBytes : null,
    last_event_at: lastEventAt,
    components: checks.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state)),
    outages,
  }
}

const OUTAGE_DAYS = 30
const ORDER: readonly Check['state'][] = ['wrong', 'ok', 'sandbox', 'off']

const list = (area: Check['area'], lines: readonly Line[]): Check[] =>
  lines.map(({ mark, name, says }) => ({ area, name, state: mark, detail: says }))

async function name(area: Check['area'], lines: Promise<Line | Line[]>): Promise<Check[]> {
  return list(area, [await lines].flat())
}

function describeDatabase(
  { databaseAddress }: Pick<Platform, 'databaseAddress'>,
  { isReachable, isWritable, clockSkewMs }: DatabaseState,
): Check {
  const faults = [
    isReachable ? null : 'does not answer',
    isReachable && !isWritable ? 'takes no writes, or its disk is full' : null,
    clockSkewMs !== null && Math.abs(clockSkewMs) > SKEW_MAX_MS
      ? `its clock differs from this machine’s by ${Math.abs(clockSkewMs)} ms`
      : null,
  ].filter((fault) => fault !== null)
  return {
    area: 'database',
    name: 'Database',
    state: faults.length === 0 ? 'ok' : 'wrong',
    detail: [databaseAddress, ...faults].join(': '),
  }
}
