/** Health: alive (/healthz), ready (/readyz), and in numbers (/metrics). */
import { timingSafeEqual } from 'node:crypto'
import { LANES } from '../jobs/lanes.ts'
import type { Platform } from '../platform.ts'
import { unauthenticated } from '../problems.ts'
import { within } from '../readiness.ts'
import type { Authenticators } from './access-control.ts'
import type { App, ServiceState } from './app.ts'

/** A scrape waits no longer than this for what stands in the database. */
const COUNT_MS = 1_000

type Needs = {
  platform: Platform
  authenticators: Pick<Authenticators, 'bearer'>
  state: ServiceState
  /** What is set up, for whoever asks whether it is ready. */
  configured: object
}

export function healthRoutes(app: App, { platform, authenticators, state, configured }: Needs) {
  const { config, metrics } = platform

  app.get('/healthz', { config: { access: 'anyone', limit: 'none' } }, () => ({ status: 'ok' }))

  app.get('/readyz', { config: { access: 'anyone', limit: 'none' } }, async (_request, reply) => {
    const { isReachable, isWritable, clockSkewMs } = await platform.readiness.state()
    const redis = platform.redis === null ? null : platform.redis.isWell()
    const ready = isReachable && isWritable && !state.draining
    return reply.status(ready ? 200 : 503).send({
      status: ready ? 'ready' : state.draining ? 'draining' : 'not ready',
      checks: { database: isReachable, writable: isWritable, redis, clock_skew_ms: clockSkewMs },
      configured,
    })
  })

  app.get('/metrics', { config: { access: 'anyone', limit: 'none' } }, async (request, reply) => {
    const token = request.headers.authorization?.replace(/^Bearer /i, '') ?? ''
    if (config.metricsToken === null || !sameText(token, config.metricsToken)) {
      const caller = await authenticators.bearer(token, { keys: false, fresh: true })
      if (!caller?.isActive || !caller.isSuperuser || caller.lacksTwoFactor) throw unauthenticated()
    }
    metrics.collectDefaults()
    const inTime = <T>(read: Promise<T>) =>
      within(
        COUNT_MS,
        read.catch(() => null),
        null,
      )
    const [jobs, lanes, freeBytes] = await Promise.all([
      inTime(platform.jobs.counts()),
      inTime(platform.jobs.lanes()),
      platform.readiness.freeBytes(),
    ])
    // What cannot be read is left out: an old figure would look like a new one.
    if (jobs === null) metrics.jobs.reset()
    else for (const status of ['queued', 'dead'] as const) metrics.jobs.set({ status }, jobs[status])
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
  })
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
