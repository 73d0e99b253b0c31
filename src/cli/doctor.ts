// Lists the configured parts, the sandboxed parts and the faults. Tries every part, because a valid
// setting does not prove that the part works.
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { agedRows } from '#app/retention.ts'
import {
  type Config,
  exposures,
  findOriginalsFault,
  SECRET_KEY_LENGTH_MIN,
} from '#config/config.ts'
import { hasSuperuser } from '#identity/admin/superuser.ts'
import { Unmigrated } from '#platform/db/migrate.ts'
import { Missing } from '#platform/db/open.ts'
import { LANES } from '#platform/jobs/lanes.ts'
import { hearsNotifications } from '#platform/notify.ts'
import { findMark, requireMark } from '#rag/originals/folder-mark.ts'
import { readRebuildProgress } from '#rag/rebuild/progress.ts'
import { findStoreName } from '#rag/search/stores/pgvector.ts'
import { findEmbedderId } from '#rag/vendor-embedder.ts'
import { ProductList } from '#storefront/products/product-list.ts'
import { checkBilling } from './checks/billing.ts'
import type { Line } from './checks/line.ts'
import { checkMail } from './checks/mail.ts'
import { checkProducts } from './checks/products.ts'
import { checkVendors } from './checks/vendors.ts'
import type { Context } from './context.ts'

const SIGNS: Record<Line['mark'], string> = { ok: '✔', sandbox: '◌', off: '–', wrong: '✖' }

export async function run(_args: string[], { config, platform, print }: Context): Promise<number> {
  const lines: Line[] = [
    await database(config, platform),
    dataFolder(config),
    await originals(config, platform),
    await redis(config, platform),
    await jobs(platform),
    await port(config, 'API', config.http.port),
    await port(config, 'Storefront', config.http.storefrontPort),
    ...(await checkBilling(config, platform)),
    await checkMail(config),
    ...(await checkVendors(config)),
    ...oauth(config),
    await embedder(config, platform),
    secretKey(config),
    ...(await checkProducts(config, await readList(config, platform), new Date().toISOString())),
    await superuser(config, platform),
    ...retention(config),
    ...warnings(config),
  ]

  const width = Math.max(...lines.map((line) => line.name.length))
  for (const { mark, name, says } of lines) print(`${SIGNS[mark]} ${name.padEnd(width)}  ${says}`)
  const wrong = lines.filter((line) => line.mark === 'wrong').length
  print()
  print(
    `${SIGNS.ok} works   ${SIGNS.sandbox} simulated by the sandbox   ${SIGNS.off} off   ${SIGNS.wrong} wrong${wrong > 0 ? ` (${wrong})` : ''}`,
  )
  return wrong > 0 ? 1 : 0
}

async function database(_config: Config, platform: Context['platform']): Promise<Line> {
  const name = 'Database'
  try {
    const { databaseAddress } = await platform()
    return { mark: 'ok', name, says: databaseAddress }
  } catch (error) {
    const says = (error as Error).message
    return { mark: isToCome(error) ? 'off' : 'wrong', name, says }
  }
}

/** The next start of the service creates or migrates the database. */
const isToCome = (error: unknown) => error instanceof Missing || error instanceof Unmigrated

/** Creates nothing, so that checking a mistyped DATA_DIR leaves no folder. */
function dataFolder({ dataDir }: Config): Line {
  const name = 'Data folder'
  let folder = dataDir
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  try {
    accessSync(folder, constants.W_OK)
    if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`)
  } catch (error) {
    return {
      mark: 'wrong',
      name,
      says: `${dataDir} cannot be written: ${(error as Error).message}`,
    }
  }
  return folder === dataDir
    ? { mark: 'ok', name, says: dataDir }
    : { mark: 'off', name, says: `${dataDir} does not exist yet: the first start creates it` }
}

/** Checks that this node finds the same uploaded files as every other node. */
async function originals(config: Config, platform: Context['platform']): Promise<Line> {
  const name = 'Originals'
  const fault = findOriginalsFault(config)
  if (fault !== null) return { mark: 'wrong', name, says: fault }
  if (config.originals === null)
    return { mark: 'off', name, says: 'ORIGINALS_DIR=off: uploaded files are not stored' }
  if (config.originals.startsWith('s3://')) return { mark: 'ok', name, says: config.originals }
  try {
    const mark = await findMark((await platform()).db)
    if (mark !== null) await requireMark(config.originals, mark)
    return { mark: 'ok', name, says: config.originals }
  } catch (error) {
    return { mark: isToCome(error) ? 'off' : 'wrong', name, says: (error as Error).message }
  }
}

/** Before the first start, the products are those of the catalogue. */
async function readList({ catalogue }: Config, platform: Context['platform']) {
  const opened = await platform().catch(() => null)
  return opened === null
    ? { sold: catalogue.products, listUploaded: () => [] }
    : ProductList.read(opened)
}

async function redis(config: Config, platform: Context['platform']): Promise<Line> {
  if (config.redisUrl === null)
    return { mark: 'off', name: 'Redis', says: await withoutRedis(config, platform) }
  try {
    const { redis } = await platform()
    await redis?.ask((client) => client.ping())
    return { mark: 'ok', name: 'Redis', says: 'reachable' }
  } catch (error) {
    if (isToCome(error))
      return { mark: 'off', name: 'Redis', says: 'not tried: the database is not ready' }
    return { mark: 'wrong', name: 'Redis', says: (error as Error).message }
  }
}

async function withoutRedis(
  { databaseUrl }: Config,
  platform: Context['platform'],
): Promise<string> {
  if (databaseUrl === null) return 'limits and revocations stay in one process'
  const limits = 'each process counts its own limits'
  const opened = await platform().catch(() => null)
  if (opened === null) return limits
  const isHeard = await hearsNotifications({ ...opened, url: databaseUrl })
  return isHeard
    ? `${limits}; revocations reach other nodes over PostgreSQL`
    : `${limits}; LISTEN receives nothing (PgBouncer in transaction mode?), so revocations take half a second`
}

/** Reports the progress of a change of embedder. */
async function embedder({ embedder }: Config, platform: Context['platform']): Promise<Line> {
  const name = 'Embedder'
  const progress = await platform()
    .then(async ({ db, config }) => {
      const id = findEmbedderId(config, embedder, await findStoreName(db))
      return id === null ? null : readRebuildProgress(db, id)
    })
    .catch(() => null)
  if (progress === null || progress.users === 0) return { mark: 'ok', name, says: embedder }
  const { users, done, total } = progress
  const says = `${embedder}; rebuilding vectors: ${done} of ${total} chunks of ${users} user(s) done. Until then their searches compare words only`
  return { mark: 'off', name, says }
}

/** A lane whose jobs are due for longer has no worker, or too few. */
const LATE_SECONDS = { urgent: 60, events: 300, bulk: 3_600, long: 6 * 3_600 } as const

async function jobs(platform: Context['platform']): Promise<Line> {
  const name = 'Jobs'
  try {
    const { jobs } = await platform()
    const [lanes, { dead }] = await Promise.all([jobs.lanes(), jobs.counts()])
    const says = LANES.map(
      (lane) =>
        `${lane} ${lanes[lane].waiting === 0 ? 'none' : `${lanes[lane].waiting}, the oldest for ${Math.round(lanes[lane].ageSeconds)} s`}`,
    )
    const isLate = LANES.some((lane) => lanes[lane].ageSeconds > LATE_SECONDS[lane])
    return {
      mark: isLate ? 'wrong' : 'ok',
      name,
      says: `due: ${says.join('; ')}. ${dead} failed${dead > 0 ? ' (npm run cli -- jobs)' : ''}`,
    }
  } catch (error) {
    return {
      mark: isToCome(error) ? 'off' : 'wrong',
      name,
      says: `not counted: ${(error as Error).message}`,
    }
  }
}

async function superuser(config: Config, platform: Context['platform']): Promise<Line> {
  const name = 'Superuser'
  if (config.superuser) return { mark: 'ok', name, says: config.superuser.email }
  const known = await platform()
    .then(({ db }) => hasSuperuser(db))
    .catch(() => false)
  if (known) return { mark: 'ok', name, says: 'exists' }
  return { mark: 'off', name, says: 'none yet: npm run cli -- superuser add EMAIL' }
}

async function port({ http }: Config, name: string, number: number): Promise<Line> {
  const probe = createServer()
  return new Promise<Line>((resolve) => {
    probe.once('error', (error: NodeJS.ErrnoException) =>
      resolve(
        error.code === 'EADDRINUSE'
          ? { mark: 'ok', name, says: `port ${number} is in use (by this service, if it runs)` }
          : { mark: 'wrong', name, says: `port ${number}: ${error.message}` },
      ),
    )
    probe.listen(number, http.host, () =>
      probe.close(() => resolve({ mark: 'ok', name, says: `port ${number} is free` })),
    )
  })
}

function oauth({ oauth: { google, github } }: Config): Line[] {
  return Object.entries({ google, github }).map(([provider, client]) => {
    const name = `Sign-in ${provider}`
    if (client === null)
      return { mark: 'off', name, says: `${provider.toUpperCase()}_CLIENT_ID is not set` }
    if (client.sandboxed) return { mark: 'sandbox', name, says: 'the sandbox’s account chooser' }
    return { mark: 'ok', name, says: `client ${client.clientId}` }
  })
}

function secretKey({ production, secretKey, secretKeyOld }: Config): Line {
  const name = 'SECRET_KEY'
  if (secretKey === null) {
    return production
      ? {
          mark: 'wrong',
          name,
          says: 'not set: the service does not start without it (npm run -s cli -- secret)',
        }
      : {
          mark: 'off',
          name,
          says: 'not set: a copy of the database reveals all secrets; production requires it',
        }
  }
  if (secretKey.length < SECRET_KEY_LENGTH_MIN) {
    return {
      mark: 'wrong',
      name,
      says: `shorter than ${SECRET_KEY_LENGTH_MIN} characters: it can be guessed`,
    }
  }
  if (secretKeyOld !== null)
    return { mark: 'ok', name, says: 'set; remove SECRET_KEY_OLD after the next start' }
  return { mark: 'ok', name, says: 'set' }
}

/** Lists the age at which rows are deleted: a line for each setting, and one for fixed ages. */
function retention(config: Config): Line[] {
  const bySetting = Map.groupBy(agedRows(config), ({ setting }) => setting)
  return [...bySetting].map(([setting, rules]) => {
    const tables = [
      ...new Set(rules.map(({ what, days }) => (setting === null ? `${what} ${days}` : what))),
    ].join(', ')
    return {
      mark: 'ok',
      name: 'Retention',
      says: `${setting ?? 'days'}${setting === null ? '' : ` ${rules[0]?.days} days`}: ${tables}`,
    }
  })
}

/** Lists settings that are valid alone but wrong in combination. */
function warnings(config: Config): Line[] {
  const lines: Line[] = exposures(config).map(({ setting, says }) => ({
    mark: 'wrong',
    name: setting,
    says,
  }))
  if (config.production && config.urls.base.startsWith('http:')) {
    lines.push({
      mark: 'wrong',
      name: 'BASE_URL',
      says: `${config.urls.base} is not https: tokens would be sent unencrypted`,
    })
  }
  if (config.serve.size < 3 && config.databaseUrl === null) {
    lines.push({
      mark: 'off',
      name: 'SERVE',
      says: 'without DATABASE_URL the processes share one SQLite file and wait for each other’s writes',
    })
  }
  if (config.serve.size < 3 && config.redisUrl === null) {
    lines.push({
      mark: 'off',
      name: 'SERVE',
      says: 'without REDIS_URL each process counts its own limits',
    })
  }
  return lines
}
