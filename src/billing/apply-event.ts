/** What a hint leads to: a look at the processor; where it knows nothing of the matter, the event itself, if it is the newest. */
import { FREE } from '#catalogue/catalogue.ts'
import { findUser, type User } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import { instantOf, lockAccount, updateAccount } from './accounts.ts'
import type { Hint } from './billing-events.ts'
import { learnCustomer, ownerOf } from './customers.ts'
import type { BillingDeps } from './deps.ts'
import { isMissing, requireProcessor } from './processor.ts'
import { applyStanding } from './settlement.ts'
import { type Standing, type SubscriptionFacts, standingOfOne, tierOf } from './subscription-state.ts'
import { type Seen, syncUser } from './sync.ts'

/** Idempotent. Rejects when the processor cannot be asked; the inbox tries again. */
export async function handleHint(deps: BillingDeps, hint: Hint): Promise<void> {
  const user = await userOf(deps, hint)
  if (!user) {
    deps.log.info({ event: hint.id, type: hint.type }, 'an event concerns nobody here')
    return
  }
  await learnCustomer(deps, user, hint)
  const seen = await syncUser(deps, user.id, { checkedOut: hint.about === 'checkout' ? hint.subscriptionId : null })
  if (hint.about === 'customer' || (await isKnown(deps, hint, seen))) return

  // A claim about another customer than the one on record is an old one.
  const onRecord = (await findUser(deps.db, user.id))?.processor_customer_id ?? null
  if (hint.customerId === null || hint.customerId === onRecord) await believe(deps, user, hint)
}

async function userOf({ db }: BillingDeps, { customerId, userId }: Hint): Promise<User | null> {
  const owner = customerId ? await ownerOf(db, customerId) : null
  const known = owner ?? userId
  return known ? findUser(db, known) : null
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
    })
    await applyStanding(deps, tx, account, standing, { at, isInvoice: hint.about === 'invoice' })
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
    customerId: hint.customerId,
    userId: hint.userId,
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
      return { status: 'cancelled', tier: FREE, subscription }
    case 'invoice.payment_failed':
      return { status: 'past_due', tier: null, subscription: { ...subscription, status: 'past_due' } }
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.paused':
    case 'customer.subscription.resumed':
      return standingOfOne(subscription, config.processor.prices)
    default:
      return null
  }
}
