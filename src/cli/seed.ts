/**
 * `seed`: fills an empty database with a year of plausible users, usage, purchases and documents, through the rooms' own rules on
 * a clock that is moved to each moment. Unlike other commands it makes the database where there is none. Everybody has one
 * password that is told, so it refuses production, mail that leaves the machine, and a database that anybody uses.
 */
import { randomUUID } from 'node:crypto'
import { costOf } from '#ai/cost.ts'
import { issueKey, NO_LIMITS } from '#api-keys/keys.ts'
import { listUsers } from '#identity/admin/administration.ts'
import { openSession } from '#identity/sessions/sessions.ts'
import { setSubscription } from '#identity/subscription.ts'
import { insertUser, type User } from '#identity/users.ts'
import { type Clock, systemClock } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { Unmigrated } from '#platform/db/migrate.ts'
import { Missing } from '#platform/db/open.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { storeDocument } from '#rag/ingest/ingest.ts'
import { recordPurchase } from '#storefront/purchases/purchases.ts'
import { migrations } from '../migrations.ts'
import { createService, type Service } from '../service.ts'
import type { Context } from './context.ts'
import { type Call, deedsUntil } from './seed/script.ts'

const PASSWORD = 'correct horse battery'
const SUPERUSER = 'root@example.com'

export async function run(args: string[], { config, platform, print }: Context): Promise<number> {
  if (args.length > 0) {
    print('Usage: seed')
    return 2
  }
  if (config.production || !config.mail.sandboxed) {
    print(
      `Refused: ${config.production ? 'NODE_ENV is production' : 'mail would leave this machine (SMTP_URL is set)'}`,
    )
    return 1
  }
  if (await hasPeople(platform)) {
    print('Refused: there are people in this database; point DATA_DIR (or DATABASE_URL) at an empty one')
    return 1
  }

  const moved = movedClock()
  const service = await createService(config, { clock: moved.clock, log: createLog('warn'), userApp: false })
  try {
    const counts = await play(service, moved.to)
    print(
      Object.entries(counts)
        .map(([what, count]) => `${count} ${what}`)
        .join(', '),
    )
    print(`Sign in as ada@example.com, or as the superuser ${SUPERUSER}: ${PASSWORD}`)
    return 0
  } finally {
    await service.close(0)
  }
}

/** Opens it read-only, so that a database of an older version is not migrated by being asked. */
async function hasPeople(platform: Context['platform']): Promise<boolean> {
  try {
    const { db } = await platform()
    return (await listUsers(db, { page: 1, limit: 1 })).total > 0
  } catch (error) {
    const isEmpty = error instanceof Unmigrated && error.missing === migrations.length
    if (error instanceof Missing || isEmpty) return false
    throw error
  }
}

/** Stands at the moment it was last moved to. */
function movedClock(): { clock: Clock; to(instant: string): void } {
  let ms = systemClock.ms()
  return {
    clock: { now: () => new Date(ms).toISOString(), ms: () => ms },
    to: (instant) => {
      ms = Date.parse(instant)
    },
  }
}

async function play({ platform, identity, usage, rag }: Service, moveTo: (instant: string) => void) {
  const { config, clock, db } = platform
  const password_hash = await identity.hasher.hash(PASSWORD)
  const users = new Map<string, User>()
  const keys = new Map<string, string>()
  const tiers = new Map<string, string>()
  const counts = { users: 0, 'API keys': 0, purchases: 0, documents: 0, calls: 0 }

  const deeds = deedsUntil(clock.ms(), config.catalogue)
  moveTo(deeds[0]?.at ?? clock.now())
  await join(SUPERUSER, 'Root', true)
  for (const deed of deeds) {
    moveTo(deed.at)
    if (deed.kind === 'join') {
      await join(deed.email, deed.name)
      continue
    }
    const userId = idOf(deed.email)
    switch (deed.kind) {
      case 'subscribe':
        tiers.set(deed.email, deed.tier)
        await transaction(db, (tx) => setSubscription(tx, userId, { status: 'active', tier: deed.tier }, deed.at))
        break
      case 'issue-key': {
        // A key is made in a session that is alive.
        const origin = { userAgent: null, address: null }
        const { sessionId } = await transaction(db, (tx) => openSession(platform, tx, userId, origin))
        const { key } = await issueKey(platform, { userId, sessionId }, { ...NO_LIMITS, name: 'laptop' })
        keys.set(deed.email, key.id)
        counts['API keys']++
        break
      }
      case 'buy': {
        // Not named as the processor's payments are, which would be looked up there.
        const ref = `seed_${deed.email}`
        await recordPurchase(platform, { ...deed, ref, userId, checkoutSessionId: null, taxCents: null })
        counts.purchases++
        break
      }
      case 'ingest':
        // A vendor's embedder would cost money, and the sandbox's is not up.
        if (config.embedder !== 'local') break
        await storeDocument(rag.deps, userId, documentOf(deed), AbortSignal.timeout(60_000))
        counts.documents++
        break
      case 'call':
        await usage.ledger.settle(null, recordOf(deed, userId))
        counts.calls++
    }
  }
  return counts

  async function join(email: string, full_name: string, is_superuser = false): Promise<void> {
    users.set(
      email,
      await insertUser(db, { email, full_name, password_hash, is_verified: true, is_superuser }, clock.now()),
    )
    counts.users++
  }

  function idOf(email: string): string {
    const user = users.get(email)
    if (!user) throw new Error(`${email} does something before joining`)
    return user.id
  }

  function recordOf(call: Call, userId: string) {
    const { slots } = config.ai
    const { vendor, model } = slots[call.vendor] ?? slots[0] ?? { vendor: 'openai', model: 'unknown' }
    const { promptTokens, completionTokens, cachedTokens, latencyMs, outcome, route } = call
    const tokens = { prompt: promptTokens, completion: completionTokens, cached: cachedTokens, cacheWrites: 0 }
    const first = slots[0]?.vendor
    const stepped = call.vendor === 1 && first !== undefined && first !== vendor
    return {
      ...{ userId, keyId: call.withKey ? (keys.get(call.email) ?? null) : null, route, vendor, model },
      ...{ promptTokens, completionTokens, cachedTokens, latencyMs, outcome },
      costUsd: outcome === 'failed' ? 0 : costOf(config.ai, vendor, [model], tokens).usd,
      tier: tiers.get(call.email) ?? 'free',
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

/** As the caller was told. */
const ENDED = {
  ok: { status: 200, errorCode: null },
  failed: { status: 502, errorCode: 'vendor_failed' },
  cancelled: { status: 499, errorCode: null },
}

function documentOf({ source, text }: { source: string; text: string }) {
  return { text, source, metadata: {}, externalId: null, replacesSource: false, chunkSize: 1_000, chunkOverlap: 200 }
}
