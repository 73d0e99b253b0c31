/**
 * `seed` fills an empty database with a year of users, payments, usage and documents. It starts the
 * service with a clock one year back and uses its HTTP API as customers do. Payments go through the
 * sandbox's processor. All users have one printed password, so `seed` refuses production, real
 * email, a real processor, and a database with users. It creates a missing database.
 */
import { migrations } from '#app/migrations.ts'
import { createService } from '#app/service.ts'
import { type Config, configFromProcess } from '#config/config.ts'
import { listUsers } from '#identity/admin/administration.ts'
import { createHasher } from '#identity/passwords/hasher.ts'
import { movableClock } from '#platform/clock.ts'
import { Unmigrated } from '#platform/db/migrate.ts'
import { Missing } from '#platform/db/open.ts'
import { createLog } from '#platform/telemetry/log.ts'
import type { Context } from './context.ts'
import { findFreePorts } from './free-ports.ts'
import { CAST } from './seed/cast.ts'
import { insertCrowd } from './seed/crowd.ts'
import { type Counts, playYear, postponeTrials } from './seed/play.ts'
import { listDeeds } from './seed/script.ts'

const PASSWORD = 'correct horse battery'
const SUPERUSER = 'root@example.com'
/** Each customer's year takes about a second, so their number is bounded. */
const CUSTOMERS_MAX = 100
const USERS_PER_CUSTOMER = 50

export const USAGE = `Usage: seed [--number N] [--users N]
  --number N  another year with the same people: other calls and other extra customers
  --users N   N users in total: up to ${CUSTOMERS_MAX} more that pay, and free ones with a short history`

export async function run(args: string[], { config, platform, print }: Context): Promise<number> {
  const options = readOptions(args)
  if (options === null) {
    print(USAGE)
    return 2
  }
  const refusal = describeRefusal(config) ?? ((await hasUsers(platform)) ? NOT_EMPTY : null)
  if (refusal !== null) {
    print(`Refused: ${refusal}`)
    return 1
  }
  const asksModels = Object.values(config.ai.vendors).every(({ sandboxed }) => sandboxed)
  if (!asksModels) print('No conversations, because calls to your models would cost.')

  const counts = await seed(config, { ...options, asksModels })
  print(
    Object.entries(counts)
      .map(([what, count]) => `${count} ${what}`)
      .join(', '),
  )
  print(`Sign in as ada@example.com, or as the superuser ${SUPERUSER}: ${PASSWORD}`)
  return 0
}

type Options = { number: number; users: number }

/** Returns null when an argument is wrong. */
function readOptions(args: readonly string[]): Options | null {
  const options = { number: 1, users: 0 }
  for (let index = 0; index < args.length; index += 2) {
    const value = Number(args[index + 1])
    if (!Number.isSafeInteger(value) || value < 1) return null
    if (args[index] === '--number') options.number = value
    else if (args[index] === '--users') options.users = value
    else return null
  }
  return options
}

const NOT_EMPTY = 'this database has users; point DATA_DIR (or DATABASE_URL) at an empty one'

function describeRefusal({ production, mail, processor }: Config): string | null {
  if (production) return 'NODE_ENV is production'
  if (!mail.sandboxed)
    return 'email would leave this machine (SMTP_URL is set, or the sandbox is off)'
  if (!processor.sandboxed)
    return 'payments would go to a real processor (STRIPE_SECRET_KEY is set)'
  return null
}

/** Opens the database read-only, so that this check does not migrate an older one. */
async function hasUsers(platform: Context['platform']): Promise<boolean> {
  try {
    const { db } = await platform()
    return (await listUsers(db, { page: 1, limit: 1 })).total > 0
  } catch (error) {
    const isEmpty = error instanceof Unmigrated && error.missing === migrations.length
    if (error instanceof Missing || isEmpty) return false
    throw error
  }
}

/** Uses free ports; links in emails and on invoices have the configured addresses. */
async function seed(
  { urls, catalogue }: Config,
  { number, users, asksModels }: Options & { asksModels: boolean },
): Promise<Counts> {
  const [port, storefrontPort] = await findFreePorts()
  const config = configFromProcess({
    for: 'service',
    changes: {
      PORT: String(port),
      STOREFRONT_PORT: String(storefrontPort),
      BASE_URL: urls.base,
      FRONTEND_URL: urls.frontend,
      STOREFRONT_URL: urls.storefront,
      SERVE: 'api,storefront',
      RATE_LIMIT_GENERAL: 'off',
      RATE_LIMIT_AI: 'off',
      RATE_LIMIT_RAG: 'off',
      RATE_LIMIT_AUTH: 'off',
    },
  })
  const clock = movableClock()
  const trials = postponeTrials(config.catalogue.plans)
  const addedUsers = Math.max(0, users - CAST.length - 1)
  const customers = Math.min(CUSTOMERS_MAX, Math.floor(addedUsers / USERS_PER_CUSTOMER))
  const deeds = listDeeds(clock.ms(), catalogue, { number, customers })
  clock.advance(Date.parse(deeds[0]?.at ?? clock.now()) - clock.ms())
  // The password is public, so a strong hash would only cost time. Each user's first sign-in
  // replaces the hash with a strong one.
  const hasher = createHasher({ parameters: { memory: 8, passes: 1, parallelism: 1 } })
  const changing = { ...config, catalogue: { ...config.catalogue, plans: trials.plans } }
  const service = await createService(changing, {
    clock,
    hasher,
    // Wrong passwords and refused emails, which belong to the year, are warnings.
    log: createLog('error'),
    userApp: false,
  })
  try {
    await service.listen()
    const accounts = { superuser: SUPERUSER, password: PASSWORD }
    const counts = await playYear(service, deeds, { accounts, trials, asksModels })
    const passwordHash = await hasher.hash(PASSWORD)
    const crowd = { count: addedUsers - customers, number, passwordHash }
    const calls = await insertCrowd(service, crowd)
    return {
      ...counts,
      users: (counts.users ?? 0) + crowd.count,
      calls: (counts.calls ?? 0) + calls,
    }
  } catch (error) {
    const { message } = error as Error
    throw new Error(
      `${message}\nOnly a part of the year was written: empty the database and DATA_DIR, then try again.`,
    )
  } finally {
    await service.close(0)
  }
}
