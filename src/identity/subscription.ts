// A user's subscription status and tier. Billing writes them through here; a superuser's override
// takes precedence over the tier.
import type { AllowanceSlice, Tier } from '#catalogue/catalogue.ts'
import type { Db } from '#platform/db/db.ts'
import type { SubscriptionStatus } from './tables.ts'
import { announceUserChange } from './user-changes.ts'
import { countedUser, recount } from './user-counts.ts'
import type { User } from './users.ts'

export type { SubscriptionStatus }

/**
 * Stores the processor's state. While a superuser's override is set, the tier is stored and applies
 * once the override is removed. Returns the current user; null when there is none.
 */
export async function setSubscription(
  tx: Db,
  userId: string,
  {
    status,
    tier,
    slices,
  }: { status?: SubscriptionStatus; tier?: Tier; slices?: readonly AllowanceSlice[] | null },
  now: string = new Date().toISOString(),
): Promise<User | null> {
  const before = status === undefined ? null : await countedUser(tx, userId)
  const row = await tx
    .updateTable('users')
    .set((e) => ({
      updated_at: now,
      ...(status === undefined ? {} : { subscription_status: status }),
      ...(slices === undefined ? {} : { slices_json: slices }),
      ...(tier === undefined
        ? {}
        : { processor_tier: tier, subscription_tier: e.fn.coalesce('tier_override', e.val(tier)) }),
    }))
    .where('id', '=', userId)
    .returningAll()
    .executeTakeFirst()
  if (before && row) await recount(tx, before, row)
  announceUserChange(tx, userId)
  return row ?? null
}

/** Null removes the customer, as when the processor has deleted it. */
export async function setProcessorCustomer(
  tx: Db,
  userId: string,
  customerId: string | null,
): Promise<void> {
  await tx
    .updateTable('users')
    .set({ processor_customer_id: customerId })
    .where('id', '=', userId)
    .execute()
}

export type SubscriptionCount = { plan: Tier; status: SubscriptionStatus; count: number }

/** Counts users with an active or overdue subscription, by plan and status. */
export async function subscriptionCounts(db: Db): Promise<SubscriptionCount[]> {
  return db
    .selectFrom('users')
    .select((e) => [
      'subscription_tier as plan',
      'subscription_status as status',
      e.fn.countAll<number>().as('count'),
    ])
    .where('subscription_status', 'in', ['active', 'past_due'])
    .groupBy(['subscription_tier', 'subscription_status'])
    .execute()
}
