// Guards agreement with the processor: whatever happened, a user's standing is what the processor says now.
// One thing to know: events only tell when to look. State is read first, outside of any transaction, then written under the
// account's row lock, and only by the newest read.
import type { Stripe } from 'stripe'
import { recordAudit } from '#identity/audit.ts'
import { setSubscription } from '#identity/subscription.ts'
import { findUser } from '#identity/users.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { lockAccount, snapshotOf, takeTicket, updateAccount } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import { isMissing, requireProcessor } from './processor.ts'
import { type Standing, type SubscriptionFacts, standingOf } from './standing.ts'

const SUBSCRIPTIONS_MAX = 100

/** What the processor holds; null when it does not know the customer. */
export type Seen = SubscriptionFacts[] | null

/** Reads the customer's subscriptions and writes what they amount to. Rejects when the processor cannot be asked. */
export async function syncCustomer(deps: BillingDeps, userId: string, customerId: string): Promise<Seen> {
  const ticket = await takeTicket(deps, userId)
  const seen = await readSubscriptions(deps, customerId)

  await transaction(deps.db, async (tx) => {
    const account = await lockAccount(tx, userId)
    if (account.applied_ticket >= ticket) return
    const standing = seen && standingOf(seen, deps.config.processor.prices)
    await updateAccount(tx, userId, {
      applied_ticket: ticket,
      synced_at: deps.clock.now(),
      ...(standing ? snapshotOf(standing.subscription) : {}),
    })
    if (standing && (await isOurs(deps, tx, userId, standing))) await settleStanding(deps, tx, userId, standing)
  })
  return seen
}

/** A price that no setting names: somebody else's product for a free user; an old price of ours for one who pays, and keeps the tier. */
async function isOurs(deps: BillingDeps, tx: Db, userId: string, { tier, subscription }: Standing): Promise<boolean> {
  if (tier !== null) return true
  const { id, priceIds } = subscription
  deps.log.warn(
    { userId, subscription: id, prices: priceIds },
    'a subscription has a price that no PRICE_ setting names',
  )
  return (await findUser(tx, userId))?.processor_tier !== 'free'
}

/** Writes the standing to the user, where it differs from what is there. A tier of null leaves the tier as it is. */
export async function settleStanding(
  deps: BillingDeps,
  tx: Db,
  userId: string,
  { status, tier }: Pick<Standing, 'status' | 'tier'>,
): Promise<void> {
  const user = await findUser(tx, userId)
  if (!user) return
  const wanted = tier ?? user.processor_tier
  if (user.subscription_status === status && user.processor_tier === wanted) return

  await setSubscription(tx, userId, { status, tier: wanted }, deps.clock.now())
  await recordAudit(tx, {
    actorId: null,
    action: 'subscription.changed',
    subject: `user:${userId}`,
    data: { status, tier: wanted, from: { status: user.subscription_status, tier: user.processor_tier } },
    at: deps.clock.now(),
  })
}

/** Null when the processor does not know the customer. */
export async function readSubscriptions(deps: BillingDeps, customerId: string): Promise<Seen> {
  const processor = requireProcessor(deps.processor)
  try {
    const { data } = await processor.subscriptions.list({
      customer: customerId,
      status: 'all',
      limit: SUBSCRIPTIONS_MAX,
    })
    return data.map(factsOf)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Periods are on the items, not on the subscription, since API version 2025-03-31. */
export function factsOf(subscription: Stripe.Subscription): SubscriptionFacts {
  const items = subscription.items.data
  return {
    id: subscription.id,
    status: subscription.status,
    created: subscription.created,
    priceIds: items.map((item) => item.price.id),
    periodEnd: items[0]?.current_period_end ?? null,
    cancelAtPeriodEnd: subscription.cancel_at_period_end || subscription.cancel_at !== null,
  }
}
