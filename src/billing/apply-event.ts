/**
 * Applies a billing event. The event only triggers a read: the processor's present state is read
 * and written. If the processor no longer has the object, the event itself is applied, provided
 * that it is the newest.
 */
import { FREE } from '#catalogue/catalogue.ts'
import { findUser, type User } from '#identity/users.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { InboxEvent } from '#platform/jobs/inbox.ts'
import { lockAccount, toInstant, updateAccount } from './accounts.ts'
import { applyState } from './apply-state.ts'
import type { BillingEvent } from './billing-events.ts'
import { findOwnerId, recordCustomer } from './customers.ts'
import { readPrices } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { lockAndSaveInvoice, readInvoice, saveInvoice } from './money/invoices.ts'
import { sendReceipt } from './notices.ts'
import { nullIfMissing, requireProcessor } from './processor.ts'
import {
  computeState,
  findTier,
  type Prices,
  type SubscriptionFacts,
  type SubscriptionState,
} from './subscription-state.ts'
import { syncUser } from './sync.ts'

/**
 * Idempotent. `settle` marks the event as handled, in the transaction that writes its changes.
 * @throws when the processor cannot be reached; the inbox retries.
 */
export async function applyEvent(
  deps: BillingDeps,
  event: BillingEvent,
  settle: InboxEvent['settle'],
): Promise<void> {
  const user = await findEventUser(deps.db, event)
  if (!user) {
    deps.log.info({ event: event.id, type: event.type }, 'an event matches no user')
    return
  }
  await recordCustomer(deps, user, event)
  const checkedOut = event.about === 'checkout' ? event.subscriptionId : null
  const isEnough = (present: SubscriptionFacts[] | null) =>
    event.about === 'customer' || isEventCovered(event, present)
  const invoice = event.invoiceId === null ? null : await readInvoice(deps, event.invoiceId)
  const write = async (tx: Db) => {
    if (invoice) {
      await saveInvoice(deps, tx, invoice)
      await sendReceipt(deps, tx, user.id)
    }
    await settle(tx)
  }
  const present = await syncUser(deps, user.id, {
    checkoutSubscriptionId: checkedOut,
    settle: { isEnough, write },
  })
  if (isEnough(present)) return
  if (invoice) await lockAndSaveInvoice(deps, invoice)
  if (await isKnown(deps, event)) return
  await applyUnconfirmed(deps, user.id, event)
}

async function findEventUser(db: Db, { customerId, userId }: BillingEvent): Promise<User | null> {
  const owner = customerId ? await findOwnerId(db, customerId) : null
  const known = owner ?? userId
  return known ? findUser(db, known) : null
}

/**
 * Returns true when the state just read includes the event's subscription and so overrides the
 * event.
 */
function isEventCovered(
  { subscriptionId }: BillingEvent,
  present: SubscriptionFacts[] | null,
): boolean {
  if (subscriptionId === null) return present !== null && present.length > 0
  return present?.some((subscription) => subscription.id === subscriptionId) ?? false
}

/** Returns true when the processor has the subscription, under any customer. */
async function isKnown(
  { processor }: Pick<BillingDeps, 'processor'>,
  { subscriptionId }: BillingEvent,
): Promise<boolean> {
  if (subscriptionId === null) return false
  return (
    (await nullIfMissing(requireProcessor(processor).subscriptions.retrieve(subscriptionId))) !==
    null
  )
}

async function applyUnconfirmed(
  deps: BillingDeps,
  userId: string,
  event: BillingEvent,
): Promise<void> {
  // An event about a customer other than the one on record is outdated.
  const onRecord = (await findUser(deps.db, userId))?.processor_customer_id ?? null
  if (event.customerId !== null && event.customerId !== onRecord) return
  const state = readEventState(
    { ...event, priceIds: await readPriceIds(deps, event) },
    await readPrices(deps, deps.db, userId),
  )
  if (!state) return
  const at = toInstant(event.created)

  await transaction(deps.db, async (tx) => {
    const account = await lockAccount(tx, userId)
    if (account.event_at !== null && at < account.event_at) return
    // Events carry whole seconds. Within one second an end wins: an ended subscription never
    // resumes.
    if (event.subscriptionId !== null && event.subscriptionId === account.ended_subscription_id)
      return
    await updateAccount(tx, userId, {
      event_at: at,
      ...(state.status === 'cancelled' ? { ended_subscription_id: event.subscriptionId } : {}),
    })
    await applyState(deps, tx, account, state, { at, isInvoice: event.about === 'invoice' })
  })
}

/** Events omit a checkout's prices unless they were expanded; the processor may still have them. */
async function readPriceIds(
  { processor }: Pick<BillingDeps, 'processor'>,
  { sessionId, priceIds }: BillingEvent,
): Promise<string[]> {
  if (sessionId === null || priceIds.length > 0) return priceIds
  const items = await nullIfMissing(
    requireProcessor(processor).checkout.sessions.listLineItems(sessionId),
  )
  return items ? items.data.flatMap((item) => item.price?.id ?? []) : priceIds
}

/** Returns the state that the event itself describes; null when it changes nothing. */
function readEventState(event: BillingEvent, prices: Prices): SubscriptionState | null {
  const subscription: SubscriptionFacts = {
    id: event.subscriptionId ?? '',
    customerId: event.customerId,
    userId: event.userId,
    status: event.status ?? '',
    created: event.created,
    priceIds: event.priceIds,
    periodEnd: null,
    cancelAtPeriodEnd: false,
  }
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return event.paid
        ? { status: 'active', tier: findTier(event.priceIds, prices), subscription }
        : null
    case 'customer.subscription.deleted':
      return { status: 'cancelled', tier: FREE, subscription }
    case 'invoice.payment_failed':
      return {
        status: 'past_due',
        tier: null,
        subscription: { ...subscription, status: 'past_due' },
      }
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.paused':
    case 'customer.subscription.resumed':
      return computeState(subscription, prices)
    default:
      return null
  }
}
