// Guards the operator's and the balancer's view: alive, ready, and in numbers.
import { timingSafeEqual } from 'node:crypto'
import type { Platform } from '../platform.ts'
import { unauthenticated } from '../problems.ts'
import { within } from '../readiness.ts'
import type { Authenticators } from './access-control.ts'
import type { App } from './app.ts'

/** `draining`: the process is going and wants no new work. */
export type ServiceState = { draining: boolean }

/** A scrape waits no longer than this for what stands in the database. */
const COUNT_MS = 1_000

type Needs = { platform: Platform; authenticators: Pick<Authenticators, 'bearer'>; state: ServiceState }

export function healthRoutes(app: App, { platform, authenticators, state }: Needs) {
  const { config, metrics } = platform

  app.get('/healthz', { config: { access: 'anyone', limit: 'none' } }, () => ({ status: 'ok' }))

  app.get('/readyz', { config: { access: 'anyone', limit: 'none' } }, async (_request, reply) => {
    const { isReachable, isWritable, clockSkewMs } = await platform.readiness.state()
    const redis = platform.redis === null ? null : platform.redis.isWell()
    const ready = isReachable && isWritable && !state.draining
    return reply.status(ready ? 200 : 503).send({
      status: ready ? 'ready' : state.draining ? 'draining' : 'not ready',
      checks: { database: isReachable, writable: isWritable, redis, clock_skew_ms: clockSkewMs },
      configured: configured(config),
    })
  })

  app.get('/metrics', { config: { access: 'anyone', limit: 'none' } }, async (request, reply) => {
    const token = request.headers.authorization?.replace(/^Bearer /i, '') ?? ''
    if (config.metricsToken === null || !sameText(token, config.metricsToken)) {
      const caller = await authenticators.bearer(token, { keys: false, fresh: true })
      if (!caller?.isActive || !caller.isSuperuser) throw unauthenticated()
    }
    metrics.collectDefaults()
    const [jobs, freeBytes] = await Promise.all([
      within(
        COUNT_MS,
        platform.jobs.counts().catch(() => null),
        null,
      ),
      platform.readiness.freeBytes(),
    ])
    // What cannot be read is left out: an old figure would look like a new one.
    if (jobs === null) metrics.jobs.reset()
    else for (const status of ['queued', 'dead'] as const) metrics.jobs.set({ status }, jobs[status])
    if (Number.isFinite(freeBytes)) metrics.diskFree.set(freeBytes)
    else metrics.diskFree.remove()
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}

/** What has a key, what the sandbox plays, and what is off; no secrets. */
function configured(config: Platform['config']) {
  const played = (on: boolean, sandboxed: boolean) => (sandboxed ? 'sandbox' : on ? 'configured' : 'not configured')
  const { vendors } = config.ai
  return {
    database: config.databaseUrl === null ? 'sqlite' : 'postgres',
    redis: config.redisUrl === null ? 'not configured' : 'configured',
    billing: played(config.processor.secretKey !== null, config.processor.sandboxed),
    mail: played(config.mail.smtpUrl !== null, config.mail.sandboxed),
    vendors: Object.fromEntries(
      Object.entries(vendors).map(([name, vendor]) => [name, played(vendor.apiKey !== null, vendor.sandboxed)]),
    ),
    oauth: {
      google: played(config.oauth.google !== null, config.oauth.google?.sandboxed ?? false),
      github: played(config.oauth.github !== null, config.oauth.github?.sandboxed ?? false),
    },
    embedder: config.embedder,
    products: config.products.location === null ? 'sandbox' : 'configured',
    sandbox: config.sandbox.on,
  }
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
