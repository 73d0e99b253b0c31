/** Health: alive (/healthz), ready (/readyz), and in numbers (/metrics). */
import { timingSafeEqual } from 'node:crypto'
import { Type } from '@fastify/type-provider-typebox'
import { LANES } from '../jobs/lanes.ts'
import type { Platform } from '../platform.ts'
import { unauthenticated } from '../problems.ts'
import { within } from '../readiness.ts'
import type { Authenticators } from './access-control.ts'
import type { App, ServiceState } from './app.ts'
import { declareRoutes } from './declare-routes.ts'
import type { Described, Tag } from './openapi.ts'

export const HEALTH_TAG: Tag = {
  name: 'health',
  description: 'For balancers, orchestrators and Prometheus',
  problems: {},
}

const Alive = Type.Object({ status: Type.Literal('ok') }, { title: 'Health' })
const Readiness = Type.Object(
  {
    status: Type.Enum(['ready', 'draining', 'not ready']),
    checks: Type.Object(
      {
        database: Type.Boolean({ description: 'It answers.' }),
        writable: Type.Boolean({ description: 'It takes writes, and its disk is not full.' }),
        redis: Type.Union([Type.Boolean(), Type.Null()], {
          description: 'Null where none is set.',
        }),
        clock_skew_ms: Type.Union([Type.Number(), Type.Null()], {
          description: 'How far this machine’s clock is ahead of the database’s.',
        }),
      },
      { title: 'ReadinessChecks' },
    ),
    configured: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What is set up, by name; no secrets.',
    }),
  },
  { title: 'Readiness' },
)
/** The handler itself sends the 503. */
const READINESS: Described = {
  replies: {
    200: { description: 'It can serve.', content: { 'application/json': Readiness } },
    503: {
      description: 'It drains, or its database does not answer or takes no writes.',
      content: { 'application/json': Readiness },
    },
  },
}
const METRICS: Described = {
  security: [{ bearer: [] }],
  replies: {
    200: {
      description: 'For a superuser’s access token, or `METRICS_TOKEN` as the bearer.',
      content: { 'text/plain': { type: 'string' } },
    },
  },
}

/** The longest time that a scrape waits for figures from the database. */
const COUNT_MS = 1_000

type Needs = {
  platform: Pick<Platform, 'config' | 'jobs' | 'redis' | 'metrics' | 'readiness'>
  authenticators: Pick<Authenticators, 'bearer'>
  state: ServiceState
  /** The configured services, for readiness checks. */
  configured: object
}

const route = declareRoutes('health', { access: 'anyone', limit: 'none' })

export function healthRoutes(app: App, { platform, authenticators, state, configured }: Needs) {
  const { config, metrics } = platform
  app.get(
    '/healthz',
    route('getHealth', 'Whether the process lives', { response: { 200: Alive } }),
    () => ({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    route(
      'getReadiness',
      'Whether it can serve, answered within a second',
      {},
      { described: READINESS },
    ),
    async (_request, reply) => {
      const { isReachable, isWritable, clockSkewMs } = await platform.readiness.state()
      const redis = platform.redis === null ? null : platform.redis.isWell()
      const ready = isReachable && isWritable && !state.draining
      return reply.status(ready ? 200 : 503).send({
        status: ready ? 'ready' : state.draining ? 'draining' : 'not ready',
        checks: {
          database: isReachable,
          writable: isWritable,
          redis,
          clock_skew_ms: clockSkewMs,
        },
        configured,
      })
    },
  )

  app.get(
    '/metrics',
    route('getMetrics', 'Prometheus’ metrics', {}, { described: METRICS }),
    async (request, reply) => {
      const token = request.headers.authorization?.replace(/^Bearer /i, '') ?? ''
      if (config.metricsToken === null || !sameText(token, config.metricsToken)) {
        const caller = await authenticators.bearer(token, { keys: false, fresh: true })
        if (!caller?.isActive || !caller.isSuperuser || caller.lacksTwoFactor)
          throw unauthenticated()
      }
      metrics.collectDefaults()
      const inTime = <T>(read: Promise<T>) =>
        within(
          COUNT_MS,
          read.catch(() => null),
          null,
        )
      const [jobs, lanes, freeBytes, database] = await Promise.all([
        inTime(platform.jobs.counts()),
        inTime(platform.jobs.lanes()),
        platform.readiness.freeBytes(),
        platform.readiness.state(),
      ])
      metrics.neighbours.set({ neighbour: 'database' }, Number(database.isReachable))
      metrics.neighbours.set({ neighbour: 'database-writes' }, Number(database.isWritable))
      if (platform.redis)
        metrics.neighbours.set({ neighbour: 'redis' }, Number(platform.redis.isWell()))
      if (database.clockSkewMs === null) metrics.clockSkew.remove()
      else metrics.clockSkew.set(database.clockSkewMs / 1_000)
      // Unreadable values are omitted: an old figure would look like a new one.
      if (jobs === null) metrics.jobs.reset()
      else
        for (const status of ['queued', 'dead'] as const) metrics.jobs.set({ status }, jobs[status])
      if (lanes === null) {
        metrics.jobsDue.reset()
        metrics.jobAge.reset()
      } else {
        for (const lane of LANES) {
          metrics.jobsDue.set({ lane }, lanes[lane].waiting)
          metrics.jobAge.set({ lane }, lanes[lane].ageSeconds)
        }
      }
      if (Number.isFinite(freeBytes)) metrics.diskFree.set(freeBytes)
      else metrics.diskFree.remove()
      return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
    },
  )
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
