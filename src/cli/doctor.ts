// Lists the configured parts, the sandboxed parts and the faults. Tries every part, because a valid
// setting does not prove that the part works.
import { createServer } from 'node:net'
import { agedRows } from '#app/retention.ts'
import { checkBackups } from '#checks/backups.ts'
import { checkBilling } from '#checks/billing.ts'
import { checkEmbedder } from '#checks/embedder.ts'
import { checkJobs } from '#checks/jobs.ts'
import { isToCome, type Line } from '#checks/line.ts'
import { checkMail } from '#checks/mail.ts'
import { checkProducts } from '#checks/products.ts'
import { checkRedis } from '#checks/redis.ts'
import { checkCombinations, checkSecretKey, checkSignIn } from '#checks/settings.ts'
import { checkDataFolder, checkOriginals } from '#checks/storage.ts'
import { checkVendors } from '#checks/vendors.ts'
import type { Config } from '#config/config.ts'
import { hasSuperuser } from '#identity/admin/superuser.ts'
import type { Platform } from '#platform/platform.ts'
import { ProductList } from '#storefront/products/product-list.ts'
import type { Context } from './context.ts'
import { withBilling } from './money.ts'

const SIGNS: Record<Line['mark'], string> = { ok: '✔', sandbox: '◌', off: '–', wrong: '✖' }

export async function run(_args: string[], { config, platform, print }: Context): Promise<number> {
  const lines: Line[] = [
    await database(config, platform),
    checkDataFolder(config),
    await checkOriginals(config, platform),
    await checkRedis(config, platform),
    await checkJobs(platform),
    await checkBackups(platform),
    await port(config, 'API', config.http.port),
    await port(config, 'Storefront', config.http.storefrontPort),
    ...(await checkBilling(config, platform, reportDisagreements)),
    await checkMail(config),
    ...(await checkVendors(config)),
    ...checkSignIn(config),
    await checkEmbedder(config, platform),
    checkSecretKey(config),
    ...(await checkProducts(config, await readList(config, platform), new Date().toISOString())),
    await superuser(config, platform),
    ...retention(config),
    ...checkCombinations(config),
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

const reportDisagreements = (opened: Platform) =>
  withBilling(opened, (billing) => billing.reportDisagreements())

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

/** Before the first start, the products are those of the catalogue. */
async function readList({ catalogue }: Config, platform: Context['platform']) {
  const opened = await platform().catch(() => null)
  return opened === null
    ? { sold: catalogue.products, listUploaded: () => [] }
    : ProductList.read(opened)
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
