/**
 * `seed` fills an empty database with a year of users, payments, usage and documents. It starts the
 * service with a clock one year back and uses its HTTP API as customers do. Payments go through the
 * sandbox's processor. All users have one printed password, so `seed` refuses production, real
 * email, a real processor, and a database with users. It creates a missing database.
 */
import { randomUUID } from 'node:crypto'
import { computeCost } from '#ai/cost.ts'
import { migrations } from '#app/migrations.ts'
import { createService, type Service } from '#app/service.ts'
import { type Config, configFromProcess } from '#config/config.ts'
import { listUsers } from '#identity/admin/administration.ts'
import { createHasher } from '#identity/passwords/hasher.ts'
import { insertUser } from '#identity/users.ts'
import { type Instant, movableClock } from '#platform/clock.ts'
import { Unmigrated } from '#platform/db/migrate.ts'
import { Missing } from '#platform/db/open.ts'
import { createLog } from '#platform/telemetry/log.ts'
import type { Context } from './context.ts'
import { findFreePorts } from './free-ports.ts'
import { createCustomers } from './seed/customers.ts'
import { type Call, type Deed, listDeeds } from './seed/script.ts'

const PASSWORD = 'correct horse battery'
const SUPERUSER = 'root@example.com'

export async function run(args: string[], { config, platform, print }: Context): Promise<number> {
  if (args.length > 0) {
    print('Usage: seed')
    return 2
  }
  const refusal = describeRefusal(config) ?? ((await hasUsers(platform)) ? NOT_EMPTY : null)
  if (refusal !== null) {
    print(`Refused: ${refusal}`)
    return 1
  }

  const counts = await seed(config)
  print(
    Object.entries(counts)
      .map(([what, count]) => `${count} ${what}`)
      .join(', '),
  )
  print(`Sign in as ada@example.com, or as the superuser ${SUPERUSER}: ${PASSWORD}`)
  return 0
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
async function seed({ urls, catalogue }: Config): Promise<Counts> {
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
      RATE_LIMIT_RAG: 'off',
      RATE_LIMIT_AUTH: 'off',
    },
  })
  const clock = movableClock()
  const deeds = listDeeds(clock.ms(), catalogue)
  clock.advance(Date.parse(deeds[0]?.at ?? clock.now()) - clock.ms())
  // The password is public, so a strong hash would only cost time. Each user's first sign-in
  // replaces the hash with a strong one.
  const hasher = createHasher({ parameters: { memory: 8, passes: 1, parallelism: 1 } })
  const service = await createService(config, {
    clock,
    hasher,
    log: createLog('warn'),
    userApp: false,
  })
  try {
    await service.listen()
    return await play(service, deeds)
  } catch (error) {
    const { message } = error as Error
    throw new Error(
      `${message}\nOnly a part of the year was written: empty the database and DATA_DIR, then try again.`,
    )
  } finally {
    await service.close(0)
  }
}

type Counts = Record<string, number>

async function play(
  { platform, identity, usage }: Service,
  deeds: readonly Deed[],
): Promise<Counts> {
  const { config, clock, db } = platform
  const password_hash = await identity.hasher.hash(PASSWORD)
  const customers = createCustomers(config, PASSWORD)
  const userIds = new Map<string, string>()
  const counts = {
    users: 0,
    'API keys': 0,
    subscriptions: 0,
    purchases: 0,
    documents: 0,
    messages: 0,
    calls: 0,
  }
  let calls: Call[] = []

  await join(SUPERUSER, 'Root', true)
  for (const deed of deeds) {
    if (deed.kind === 'call') {
      calls.push(deed)
      continue
    }
    await moveClock(deed.at)
    switch (deed.kind) {
      case 'join':
        await join(deed.email, deed.name)
        break
      case 'sign-in':
        await customers.signIn(deed.email)
        break
      case 'subscribe':
        await customers.subscribe(deed.email, deed.tier, deed.card)
        counts.subscriptions++
        break
      case 'cancel':
        await customers.cancel(deed.email)
        break
      case 'issue-key':
        await customers.issueKey(deed.email)
        counts['API keys']++
        break
      case 'buy':
        await customers.buy(deed.email, deed.tier, deed.card)
        counts.purchases++
        break
      case 'refund':
        await customers.refund(deed.email)
        break
      case 'upload':
        await customers.upload(deed.email, deed.file)
        counts.documents++
        break
      case 'write':
        await customers.write(deed.message)
        counts.messages++
    }
  }
  await moveClock(new Date().toISOString())
  return counts

  async function join(email: string, full_name: string, is_superuser = false): Promise<void> {
    const user = { email, full_name, password_hash, is_verified: true, is_superuser }
    userIds.set(email, (await insertUser(db, user, clock.now())).id)
    counts.users++
  }

  /**
   * Moves the clock and records the calls since its last move. The clock also runs, so a slow
   * machine may be past `at`.
   */
  async function moveClock(at: Instant): Promise<void> {
    if (Date.parse(at) > clock.ms()) await customers.moveClock(at)
    await Promise.all(calls.map((call) => usage.ledger.settle(null, readRecord(call))))
    counts.calls += calls.length
    calls = []
  }

  function readRecord(call: Call) {
    const { slots } = config.ai
    const { vendor, model } = slots[call.vendor] ??
      slots[0] ?? { vendor: 'openai', model: 'unknown' }
    const { promptTokens, completionTokens, cachedTokens, latencyMs, outcome, route } = call
    const tokens = {
      prompt: promptTokens,
      completion: completionTokens,
      cached: cachedTokens,
      cacheWrites: 0,
    }
    const first = slots[0]?.vendor
    const stepped = call.vendor === 1 && first !== undefined && first !== vendor
    const userId = userIds.get(call.email)
    if (userId === undefined) throw new Error(`${call.email} calls a model before joining`)
    return {
      userId,
      keyId: call.withKey ? customers.keyOf(call.email) : null,
      route,
      vendor,
      model,
      promptTokens,
      completionTokens,
      cachedTokens,
      latencyMs,
      outcome,
      costUsd: outcome === 'failed' ? 0 : computeCost(config.ai, vendor, [model], tokens).usd,
      tier: customers.tierOf(call.email),
      reasoningTokens: 0,
      firstTokenMs: outcome === 'ok' && route === '/api/ai/chat' ? latencyMs / 3 : null,
      ...ENDED[outcome],
      requestId: randomUUID(),
      vendorRequestId: null,
      endUser: call.endUser,
      labels: '',
      attempts: stepped ? 2 : 1,
      tried: `${stepped ? `${first}:limited,` : ''}${vendor}:${outcome}`,
      isEstimated: false,
      startedAt: call.at,
    }
  }
}

/** The reply for each outcome of a call. */
const ENDED = {
  ok: { status: 200, errorCode: null },
  failed: { status: 502, errorCode: 'vendor_failed' },
  cancelled: { status: 499, errorCode: null },
}
