/** A plan that a superuser gave without payment. With an end, a job removes it then. */
import { recordAudit } from '#audit/audit.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import '../tables.ts'
import { announceUserChange } from '../user-changes.ts'
import { type User, updateUser } from '../users.ts'

type Deps = Pick<Platform, 'db' | 'clock' | 'jobs'>

/** `tier`: null removes the override, undefined leaves it. `until`: null for no end. */
type Override = { tier: Tier | null | undefined; until: Instant | null }
type Changes = Partial<Pick<User, 'tier_override' | 'tier_override_until' | 'subscription_tier'>>

const END_JOB = 'identity.end-tier-override'
const UNTIL = ['body', 'subscription_tier_until']

/**
 * Returns the columns of the override, and plans its end.
 * @throws Problem 422 when the end is not ahead, or when there is nothing to end
 */
export async function setOverride(
  { clock, jobs }: Omit<Deps, 'db'>,
  tx: Db,
  { id, processor_tier }: Pick<User, 'id' | 'processor_tier'>,
  { tier, until: given }: Override,
): Promise<Changes> {
  const until = given && new Date(given).toISOString()
  if (until !== null && !tier) throw invalid(UNTIL, 'Should be given with subscription_tier')
  if (until !== null && until <= clock.now()) throw invalid(UNTIL, 'Should be in the future')
  if (tier === undefined) return {}
  const key = `${END_JOB}:${id}`
  await jobs.withdraw(tx, key)
  if (until !== null) await jobs.enqueue(tx, END_JOB, { userId: id, until }, { runAt: until, key })
  return {
    tier_override: tier,
    tier_override_until: until,
    subscription_tier: tier ?? processor_tier,
  }
}

/** Removes overrides whose end has come. */
export function handleOverrideEnds({ db, clock, jobs }: Deps): void {
  jobs.handle<{ userId: string; until: Instant }>(END_JOB, ({ userId, until }) =>
    transaction(db, async (tx) => {
      const user = await forUpdate(
        tx,
        tx
          .selectFrom('users')
          .select(['tier_override_until', 'processor_tier'])
          .where('id', '=', userId),
      ).executeTakeFirst()
      // A changed override enqueues another job. The times are compared for identity: the database's
      // clock decides when jobs are due, and this node's clock may lag behind it.
      if (user?.tier_override_until !== until) return
      const now = clock.now()
      await updateUser(
        tx,
        userId,
        {
          tier_override: null,
          tier_override_until: null,
          subscription_tier: user.processor_tier,
        },
        now,
      )
      announceUserChange(tx, userId)
      await recordAudit(tx, {
        actorId: null,
        action: 'user.changed',
        subject: `user:${userId}`,
        data: { subscription_tier: null, by: 'end' },
        at: now,
      })
    }),
  )
}
