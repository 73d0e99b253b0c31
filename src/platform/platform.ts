/** The platform: one object with the services that every room uses, opened and closed once. */
import type { Config } from '#config/config.ts'
import { type Bus, createBus, redisCarrier } from './bus.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Database, Db, Dialect } from './db/db.ts'
import { type Migration, migrate, requireMigrated, Unmigrated } from './db/migrate.ts'
import { openDatabase } from './db/open.ts'
import { Inbox } from './jobs/inbox.ts'
import { Jobs } from './jobs/jobs.ts'
import { notifyCarrier } from './notify.ts'
import { memoryLimiter, type RateLimiter, redisLimiter } from './rate-limiter.ts'
import { createReadiness, type Readiness } from './readiness.ts'
import { openRedis, type Redis } from './redis.ts'
import { openSecrets, type Secrets } from './secrets.ts'
import { type Business, createBusiness } from './telemetry/business.ts'
import { createLog, type Log } from './telemetry/log.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { openExporter } from './telemetry/otlp.ts'
import { createTracer, type Tracer } from './telemetry/tracer.ts'

export type Platform = {
  config: Config
  db: Db
  dialect: Dialect
  databaseAddress: string
  clock: Clock
  jobs: Jobs
  inbox: Inbox
  secrets: Secrets
  limiter: RateLimiter
  bus: Bus
  redis: Redis | null
  log: Log
  metrics: Metrics
  business: Business
  /** Null without a trace exporter. */
  tracer: Tracer | null
  readiness: Readiness
  /** Starts running jobs. */
  start(): void
  /** Starts no new job, and waits a limited time for running ones. */
  stop(withinMs?: number): Promise<void>
  close(): Promise<void>
}

export type PlatformOptions = {
  clock?: Clock
  log?: Log
  database?: Database
  /**
   * True for commands: they use the database of a service, and neither migrate nor create anything.
   */
  isGuest?: boolean
}

/**
 * Opens the database, applies the migrations (a guest only checks them) and connects the configured
 * neighbours.
 * @throws Error for the operator
 */
export async function openPlatform(
  config: Config,
  migrations: Migration[],
  options: PlatformOptions = {},
): Promise<Platform> {
  const { isGuest = false } = options
  const clock = options.clock ?? systemClock
  // Commands are not traced, because their work belongs to no request.
  const traces = isGuest ? null : config.telemetry.traces
  const log = options.log ?? createLog(config.logLevel, undefined, { traced: traces !== null })
  const metrics = createMetrics()
  const exporter = traces && openExporter(traces, { log, metrics })
  const tracer = traces && exporter && createTracer(traces, exporter.take)
  const database =
    options.database ??
    openDatabase({
      databaseUrl: config.databaseUrl,
      dataDir: config.dataDir,
      isGuest,
      parts: isGuest ? [] : [...config.serve],
      onNotice: (message) => log.debug({ message }, 'notice of the database'),
      tracer,
    })
  const { db } = database
  const explain = async (error: Error): Promise<never> => {
    await database.close()
    const message = `the database ${database.address} cannot be used: ${error.message}`
    throw error instanceof Unmigrated
      ? new Unmigrated(error.missing, message)
      : new Error(message, { cause: error })
  }
  if (isGuest) await requireMigrated(db, migrations).catch(explain)
  else await migrate(db, migrations, clock.now()).catch(explain)

  const redis = config.redisUrl === null ? null : await openRedis(config.redisUrl, log)
  const bus = createBus(
    chooseCarrier({ db, dialect: database.dialect, redis, log }, config, { isGuest }),
  )
  await bus.opened
  const jobs = new Jobs({ db, clock, log, tracer })
  const secrets = await openSecrets({ db, clock }, config, { isGuest }).catch(explain)

  return {
    config,
    db,
    dialect: database.dialect,
    databaseAddress: database.address,
    clock,
    jobs,
    inbox: new Inbox({ db, clock, log, jobs }),
    secrets,
    limiter: redis ? redisLimiter({ redis, clock }) : memoryLimiter(clock),
    bus,
    redis,
    log,
    metrics,
    business: createBusiness(metrics),
    tracer,
    readiness: createReadiness({
      db,
      dialect: database.dialect,
      dataDir: config.dataDir,
      clock,
      log,
    }),
    start: () => jobs.start(),
    stop: (drainMs) => jobs.stop(drainMs),
    async close() {
      await jobs.stop()
      await bus.close()
      redis?.close()
      await database.close()
      await exporter?.close()
    },
  }
}

/**
 * Returns the transport of messages between nodes. With `max=1` in its address, the server has no
 * second connection for listening.
 */
function chooseCarrier(
  { db, dialect, redis, log }: Pick<Platform, 'db' | 'dialect' | 'redis' | 'log'>,
  { databaseUrl }: Config,
  as: { isGuest: boolean },
) {
  if (redis !== null) return redisCarrier({ redis, log })
  if (dialect !== 'postgres' || databaseUrl === null || hasOneConnection(databaseUrl)) return null
  return notifyCarrier({ db, url: databaseUrl, log }, as)
}

const hasOneConnection = (url: string) => new URL(url).searchParams.get('max') === '1'
