/** What a hint leads to: a look at the processor; where it knows nothing of the matter, the event itself, if it is the newest. */
import { findByProcessorCustomer } from '#identity/subscription.ts'
import { findUser, type User } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import { instantOf, lockAccount, snapshotOf, updateAccount } from './accounts.ts'
import { adoptCustomer, loseCustomer } from './customers.ts'
import type { BillingDeps } from './deps.ts'
import type { Hint } from './hints.ts'
import { isMissing, requireProcessor } from './processor.ts'
import { isLive, type Standing, type SubscriptionFacts, statusOf, tierOf } from './standing.ts'
import { readSubscriptions, type Seen, settleStanding, syncCustomer } from './sync.ts'

export const CANCEL_JOB = 'billing.cancel-subscription'

/** Idempotent. Rejects when the processor cannot be asked; the inbox tries again. */
export async function handleHint(deps: BillingDeps, hint: Hint): Promise<void> {
  const user = await userOf(deps, hint)
  if (!user) {
    deps.log.info({ event: hint.id, type: hint.type }, 'an event concerns nobody here')
    return
  }
  const customerId = await customerThatCounts(deps, user, hint)
  const seen = customerId ? await syncCustomer(deps, user.id, customerId) : null
  if (hint.about === 'customer') {
    if (hint.customerId) await loseCustomer(deps, user.id, hint.customerId)
    return
  }

  if (await isKnown(deps, hint, seen)) {
    if (hint.type === 'checkout.session.completed') await replaceOlder(deps, hint, seen ?? [])
    return
  }
  const isForeign = hint.customerId !== null && hint.customerId !== customerId
  if (!isForeign) await believe(deps, user, hint)
}

async function userOf({ db }: BillingDeps, { customerId, userId }: Hint): Promise<User | null> {
  const byCustomer = customerId ? await findByProcessorCustomer(db, customerId) : null
  return byCustomer ?? (userId ? await findUser(db, userId) : null)
}

const FRESH_MS = 60 * 60_000

/**
 * An event may name another customer than the one on record: an earlier one that was deleted, or one that a payment link made.
 * Whoever pays now is the customer now; an old event takes the place only when that customer still has something running.
 */
async function customerThatCounts(deps: BillingDeps, user: User, hint: Hint): Promise<string | null> {
  const known = user.processor_customer_id
  if (hint.customerId === null || hint.customerId === known) return known
  if (hint.about !== 'checkout') return known ?? hint.customerId
  const isFresh = deps.clock.ms() - hint.created * 1000 < FRESH_MS
  if (known === null || isFresh || (await readSubscriptions(deps, hint.customerId))?.some(isLive)) {
    return adoptCustomer(deps, user.id, hint.customerId, { replace: true })
  }
  return known
}

/** True when the processor knows the subscription that the event is about, so that what was just read decides. */
async function isKnown(deps: BillingDeps, { subscriptionId }: Hint, seen: Seen): Promise<boolean> {
  if (subscriptionId === null) return seen !== null && seen.length > 0
  if (seen?.some((one) => one.id === subscriptionId)) return true
  try {
    await requireProcessor(deps.processor).subscriptions.retrieve(subscriptionId)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** The processor knows nothing of it: the event is all there is. It counts unless a newer one has been believed. */
async function believe(deps: BillingDeps, user: User, hint: Hint): Promise<void> {
  const standing = claimOf(deps, await withPrices(deps, hint))
  if (!standing) return
  const at = instantOf(hint.created)

  await transaction(deps.db, async (tx) => {
    const account = await lockAccount(tx, user.id)
    if (account.event_at !== null && at < account.event_at) return
    // Events carry whole seconds. Within one, an end wins: a subscription that has ended never comes back.
    if (hint.subscriptionId !== null && hint.subscriptionId === account.ended_subscription_id) return
    await updateAccount(tx, user.id, {
      event_at: at,
      ...(standing.status === 'cancelled' ? { ended_subscription_id: hint.subscriptionId } : {}),
      ...(hint.about === 'invoice' ? {} : snapshotOf(standing.subscription)),
    })
    await settleStanding(deps, tx, user.id, standing)
  })
}

/** An event names a checkout's prices only when it was asked to; the processor may still know the checkout. */
async function withPrices(deps: BillingDeps, hint: Hint): Promise<Hint> {
  if (hint.sessionId === null || hint.priceIds.length > 0) return hint
  try {
    const { data } = await requireProcessor(deps.processor).checkout.sessions.listLineItems(hint.sessionId)
    return { ...hint, priceIds: data.flatMap((item) => item.price?.id ?? []) }
  } catch (error) {
    if (isMissing(error)) return hint
    throw error
  }
}

/** What the event itself says, SPEC "Inbound webhooks from the processor"; null when it changes nothing. */
function claimOf({ config }: BillingDeps, hint: Hint): Standing | null {
  const subscription: SubscriptionFacts = {
    id: hint.subscriptionId ?? '',
    status: hint.status ?? '',
    created: hint.created,
    priceIds: hint.priceIds,
    periodEnd: null,
    cancelAtPeriodEnd: false,
  }
  const tier = tierOf(hint.priceIds, config.processor.prices)
  switch (hint.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return hint.paid ? { status: 'active', tier, subscription } : null
    case 'customer.subscription.deleted':
      return { status: 'cancelled', tier: 'free', subscription }
    case 'invoice.payment_failed':
      return { status: 'past_due', tier: null, subscription }
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.paused':
    case 'customer.subscription.resumed': {
      const status = statusOf(hint.status ?? '')
      return status && { status, tier: status === 'cancelled' ? 'free' : tier, subscription }
    }
    default:
      return null
  }
}

/** A checkout of a subscriber is a change of plan: the older subscription ends, and what is left of it is credited. */
async function replaceOlder(deps: BillingDeps, hint: Hint, seen: SubscriptionFacts[]): Promise<void> {
  const { prices } = deps.config.processor
  const fresh = seen.find((one) => one.id === hint.subscriptionId)
  if (!fresh || !isLive(fresh)) return
  const older = seen.filter(
    (one) =>
      one.id !== fresh.id && one.created <= fresh.created && isLive(one) && tierOf(one.priceIds, prices) !== null,
  )
  if (older.length === 0) return
  await transaction(deps.db, async (tx) => {
    for (const { id } of older)
      await deps.jobs.enqueue(tx, CANCEL_JOB, { subscriptionId: id }, { key: `${CANCEL_JOB}:${id}` })
  })
}

export async function cancelSubscription(deps: BillingDeps, subscriptionId: string): Promise<void> {
  try {
    await requireProcessor(deps.processor).subscriptions.cancel(subscriptionId, { invoice_now: true, prorate: true })
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
