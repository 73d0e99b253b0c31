/**
 * Users with a short history: an account, a last sign-in, and calls of every tenth. They are written
 * in batches, so memory stays bounded.
 */
import type { Service } from '#app/service.ts'
import { FREE } from '#catalogue/catalogue.ts'
import { insertUser } from '#identity/users.ts'
import { DAY_MS, HOUR_MS } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { inventName } from './cast.ts'
import { type Chance, createChance } from './chance.ts'
import { buildRecord } from './usage.ts'

const BATCH = 500
const YEAR_MS = 365 * DAY_MS

type CrowdMember = { id: string; joinedMs: number; isCaller: boolean }

/** Returns the number of their calls. `number` is that of the year. */
export async function insertCrowd(
  service: Pick<Service, 'platform' | 'usage'>,
  { count, number, passwordHash }: { count: number; number: number; passwordHash: string },
): Promise<number> {
  const chance = createChance(-number)
  const nowMs = service.platform.clock.ms()
  let calls = 0
  for (let from = 0; from < count; from += BATCH) {
    const members = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => {
      // The root makes each month bring more users than the one before.
      const share = Math.sqrt((from + index + 0.5) / count)
      return { index: from + index, joinedMs: nowMs - YEAR_MS + share * (YEAR_MS - DAY_MS) }
    })
    calls += await insertBatch(service, { members, chance, passwordHash })
  }
  return calls
}

async function insertBatch(
  { platform: { config, db, clock }, usage }: Pick<Service, 'platform' | 'usage'>,
  batch: {
    members: readonly { index: number; joinedMs: number }[]
    chance: Chance
    passwordHash: string
  },
): Promise<number> {
  const { chance, passwordHash: password_hash } = batch
  const nowMs = clock.ms()
  const inserted = await transaction(db, async (tx) => {
    const rows: CrowdMember[] = []
    for (const { index, joinedMs } of batch.members) {
      const { name: full_name, email } = inventName(chance, 10_000 + index)
      const seenMs = joinedMs + chance() ** 2 * (nowMs - joinedMs)
      const user = {
        email,
        full_name,
        password_hash,
        is_verified: chance() < 0.9,
        last_login_at: new Date(seenMs).toISOString(),
      }
      const { id } = await insertUser(tx, user, new Date(joinedMs).toISOString())
      rows.push({ id, joinedMs, isCaller: user.is_verified && chance() < 0.1 })
    }
    return rows
  })
  const calls = inserted
    .filter(({ isCaller }) => isCaller)
    .flatMap(({ id, joinedMs }) =>
      Array.from({ length: 1 + Math.floor(chance() * 3) }, () =>
        buildRecord(
          config,
          {
            kind: 'call',
            at: new Date(joinedMs + chance() * HOUR_MS).toISOString(),
            email: '',
            withKey: false,
            endUser: '',
            route: '/api/ai/chat',
            vendor: 0,
            promptTokens: 100 + Math.floor(chance() * 900),
            completionTokens: 20 + Math.floor(chance() * 400),
            cachedTokens: 0,
            latencyMs: 600 + Math.floor(chance() * 2_000),
            outcome: 'ok',
          },
          { userId: id, keyId: null, tier: FREE },
        ),
      ),
    )
  await Promise.all(calls.map((record) => usage.ledger.settle(null, record)))
  return calls.length
}
