/**
 * Keeps purchases in step with the processor: by its events, by asking when the buyer returns, and by asking again later.
 * All three end in the same rule, so it does not matter which of them is first, or whether one comes twice.
 */
import type { Stripe } from 'stripe'
import { isMissing, type Processor } from '#billing/processor.ts'
import { findUser } from '#identity/users.ts'
import type { Platform } from '#platform/platform.ts'
import { factOf, type PaymentFact, paymentOfCheckout } from './payment-events.ts'
import type { PurchaseRow } from './purchase-store.ts'
import * as store from './purchase-store.ts'
import { type Payment, recordPurchase, recordRefund } from './purchases.ts'

export const INBOX_SOURCE = 'processor.storefront'

export type PaymentDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'inbox' | 'log'> & {
  processor: Stripe | null
}

/** Stores what an event means here, and handles it. */
export async function receivePaymentEvent({ inbox }: Pick<PaymentDeps, 'inbox'>, event: Stripe.Event): Promise<void> {
  const fact = factOf(event)
  if (fact) await inbox.receive(INBOX_SOURCE, event.id, fact)
}

/** Idempotent: a fact may be handled twice. Rejects when the processor cannot be asked; it is tried again later. */
export async function handlePaymentFact(deps: PaymentDeps, fact: PaymentFact): Promise<void> {
  switch (fact.kind) {
    case 'paid':
      return record(deps, fact.payment)
    case 'paid-somewhere': {
      const session = await findCheckout(deps, fact.paymentIntentId)
      // That it is paid is known; the session may have been read a moment before it knew.
      const payment =
        session && paymentOfCheckout({ ...session, payment_status: 'paid', payment_intent: fact.paymentIntentId })
      return payment ? record(deps, payment) : undefined
    }
    case 'refunded':
      return recordRefund(deps, fact.paymentRef, fact.refundedCents, fact.isFull ? 'refund' : null)
    case 'dispute-lost':
      return recordRefund(deps, fact.paymentRef, 0, 'dispute')
  }
}

/**
 * Asks the processor about a checkout and records what was paid. True when its purchase exists now. A session of somebody else is not
 * looked into.
 */
export async function confirmCheckout(deps: PaymentDeps, sessionId: string, userId: string | null): Promise<boolean> {
  const known = await store.findByCheckoutSession(deps.db, sessionId)
  if (known) return userId === null || known.user_id === userId
  if (!deps.processor || !/^cs_\w{1,250}$/.test(sessionId)) return false

  const session = await retrieveCheckout(deps.processor, sessionId)
  const payment = session && paymentOfCheckout(session)
  if (!payment || (userId !== null && payment.userId !== userId)) return false
  await record(deps, payment)
  return true
}

/** The address typed at the checkout of a purchase, asked of the processor: we keep none. Null when it knows none. */
export async function payerOf(deps: PaymentDeps, purchase: PurchaseRow): Promise<string | null> {
  const session = purchase.checkout_session_id
    ? deps.processor && (await retrieveCheckout(deps.processor, purchase.checkout_session_id))
    : await findCheckout(deps, purchase.payment_ref)
  return session?.customer_details?.email ?? session?.customer_email ?? null
}

async function record(deps: PaymentDeps, payment: Payment): Promise<void> {
  const user = await findUser(deps.db, payment.userId)
  await recordPurchase(deps, payment, user !== null)
}

/** Null when the processor knows no such checkout: somebody made the id up, or a sandbox was wiped. */
function retrieveCheckout(processor: Processor, id: string) {
  return processor.checkout.sessions.retrieve(id).catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
}

async function findCheckout({ processor }: PaymentDeps, paymentIntentId: string) {
  if (!processor) return null
  const { data } = await processor.checkout.sessions.list({ payment_intent: paymentIntentId, limit: 1 })
  return data[0] ?? null
}
