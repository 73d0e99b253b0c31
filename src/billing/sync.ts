// Keeps a user's standing what the processor says now, over all customers that the user ever had there.
// One thing to know: events only tell when to look. State is read first, outside of any transaction, then written under the
// account's row lock, and only by the newest read.

import type { Stripe } from 'stripe'
import { FREE } from '#catalogue/catalogue.ts'
import { findUser, type User } from '#identity/users.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { type Account, lockAccount, snapshotOf, takeTicket, updateAccount } from './accounts.ts'
import { CANCEL_JOB } from './cancellations.ts'
import { type Customer, customersOf, lookAtCustomer, noteLoss, putOnRecord } from './customers.ts'
import type { BillingDeps } from './deps.ts'
import { isMissing, requireProcessor } from './processor.ts'
import { applyStanding, settle } from './settlement.ts'
import { doubleOf, isLive, type Prices, type SubscriptionFacts, standingOf, tierOf } from './subscription-state.ts'

const SUBSCRIPTIONS_MAX = 100

/** What the processor holds; null when it knows none of the user's customers. */
export type Seen = SubscriptionFacts[] | null

/**
 * Reads the subscriptions of all the user's customers and writes what they amount to. `checkedOut` names a subscription that a
 * checkout is known to have begun. Rejects when the processor cannot be asked.
 */
export async function syncUser(
  deps: BillingDeps,
  userId: string,
  { checkedOut = null }: { checkedOut?: string | null } = {},
): Promise<Seen> {
  const ticket = await takeTicket(deps, userId)
  const reads = await readCustomers(deps, await customersOf(deps.db, userId))
  const seen = reads.flatMap(({ subscriptions }) => subscriptions ?? [])
  const isUnknown = ({ subscriptions, state }: CustomerRead) => subscriptions === null && state !== 'deleted'

  await transaction(deps.db, async (tx) => {
    const account = await lockAccount(tx, userId)
    if (account.applied_ticket >= ticket) return
    for (const { customerId, state } of reads) if (state === 'deleted') await noteLoss(tx, userId, customerId, state)
    const user = await findUser(tx, userId)
    if (!user) return
    const { prices } = deps.config.processor
    const standing = standingOf(
      seen.filter((one) => isOurs(one, account, user, prices)),
      prices,
    )
    await updateAccount(tx, userId, { applied_ticket: ticket, synced_at: deps.clock.now() })
    const paying = standing && isLive(standing.subscription) ? standing.subscription.customerId : null
    await putOnRecord(tx, account, { paying })
    if (!standing) {
      await noteForeign(deps, tx, userId, seen)
      const isOver = reads.some(({ state }) => state === 'deleted') && !reads.some(isUnknown)
      if (isOver) await endWithCustomer(deps, tx, userId)
      return
    }
    await applyStanding(deps, tx, account, standing, { at: deps.clock.now() })
    await endDoubles(deps, tx, userId, seen, checkedOut)
  })
  return reads.every(isUnknown) ? null : seen
}

type CustomerRead = { customerId: string; state: Customer['state']; subscriptions: SubscriptionFacts[] | null }

/** A deleted customer has nothing running and never will; what it once had makes its user's status `cancelled`, where it is listed. */
function readCustomers(deps: BillingDeps, customers: readonly Customer[]): Promise<CustomerRead[]> {
  return Promise.all(
    customers.map(async ({ customer_id: customerId, state }) => {
      const subscriptions = await readSubscriptions(deps, customerId)
      if (subscriptions !== null || state !== 'present') return { customerId, state, subscriptions }
      return { customerId, state: await lookAtCustomer(deps, customerId), subscriptions }
    }),
  )
}

/** To one of our plans; or to an old price of ours, by the subscription that the tier of today came from. */
function isOurs(one: SubscriptionFacts, account: Account, user: User, prices: Prices): boolean {
  if (tierOf(one.priceIds, prices) !== null) return true
  if (account.subscription_id === null) return user.processor_tier !== FREE
  return account.subscription_id === one.id && (account.granted_tier !== null || user.processor_tier !== FREE)
}

/** Somebody else's product, or a price of ours that was forgotten in the settings: kept for the doctor to tell. */
async function noteForeign(deps: BillingDeps, tx: Db, userId: string, seen: readonly SubscriptionFacts[]) {
  const foreign = standingOf(seen, deps.config.processor.prices)?.subscription
  if (!foreign) return
  const { id: subscription, priceIds: prices } = foreign
  deps.log.warn({ userId, subscription, prices }, 'a subscription has a price that no PRICE_ setting names')
  await updateAccount(tx, userId, snapshotOf(foreign))
}

/** What a deleted customer paid for has ended with it, listed or not. */
async function endWithCustomer(deps: BillingDeps, tx: Db, userId: string): Promise<void> {
  const status = (await findUser(tx, userId))?.subscription_status
  if (status !== 'active' && status !== 'past_due') return
  await updateAccount(tx, userId, { past_due_at: null })
  await settle(deps, tx, userId, { status: 'cancelled', tier: FREE })
}

/**
 * A checkout of a subscriber is a change of plan: the older subscription ends, and what is left of it is credited. One that nobody checked
 * out was made by hand, and whoever made it is told instead.
 */
async function endDoubles(
  deps: BillingDeps,
  tx: Db,
  userId: string,
  seen: readonly SubscriptionFacts[],
  checkedOut: string | null,
): Promise<void> {
  const double = doubleOf(seen, deps.config.processor.prices)
  if (!double) return
  const { kept, older } = double
  if (kept.userId !== userId && kept.id !== checkedOut) {
    const subscriptions = [kept, ...older].map(({ id }) => id)
    deps.log.warn({ userId, subscriptions }, 'a user pays several subscriptions, and no checkout made the newest')
    return
  }
  for (const { id } of older) {
    const payload = { subscriptionId: id, insteadOf: kept.id }
    await deps.jobs.enqueue(tx, CANCEL_JOB, payload, { key: `${CANCEL_JOB}:${id}` })
  }
}

/** Null when the processor does not know the customer. */
async function readSubscriptions(deps: BillingDeps, customerId: string): Promise<Seen> {
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
  const { customer } = subscription
  return {
    id: subscription.id,
    customerId: typeof customer === 'string' ? customer : customer.id,
    userId: subscription.metadata.user_id ?? null,
    status: subscription.status,
    created: subscription.created,
    priceIds: items.map((item) => item.price.id),
    periodEnd: items[0]?.current_period_end ?? null,
    cancelAtPeriodEnd: subscription.cancel_at_period_end || subscription.cancel_at !== null,
  }
}
