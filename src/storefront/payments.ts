/**
 * Keeps purchases in step with the processor: by its events, by asking when the buyer returns, and by asking again later.
 * All three end in the same rule, so it does not matter which of them is first, or whether one comes twice.
 */
import type { Stripe } from 'stripe'
import { isMissing, type Processor } from '#billing/processor.ts'
import { stripeSdk } from '#billing/stripe-sdk.ts'
import { findUser } from '#identity/users.ts'
import type { Platform } from '#platform/platform.ts'
import { Problem } from '#platform/problem.ts'
import { factOf, type PaymentFact, paymentOfCheckout } from './payment-events.ts'
import type { PurchaseRow } from './purchase-store.ts'
import * as store from './purchase-store.ts'
import { type Payment, recordPurchase, recordRefund } from './purchases.ts'

/** The processor's own recommendation; older ones may be replayed. */
const SIGNATURE_AGE_MAX_S = 300
export const INBOX_SOURCE = 'processor.storefront'

export type PaymentDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'inbox' | 'log'> & {
  processor: Stripe | null
}

/** Checks the signature over the exact bytes, stores the event, and handles it. Throws 400, or 503 when no secret is set. */
export async function receivePaymentEvent(
  deps: PaymentDeps,
  body: Buffer,
  signature: string | undefined,
): Promise<void> {
  const { config, clock, inbox } = deps
  const secret = config.processor.storefrontWebhookSecret
  if (!secret) throw new Problem('billing_not_configured', 503, 'Billing is not configured')

  const event = await stripeSdk()
    .webhooks.constructEventAsync(body, signature ?? '', secret, SIGNATURE_AGE_MAX_S, undefined, clock.ms())
    .catch((cause) => {
      throw new Problem('webhook_invalid', 400, 'Invalid payload or signature', { cause })
    })
  // The signature proves who sent it, not what it is.
  const object: unknown = event?.data?.object
  if (typeof event?.id !== 'string' || event.id === '' || typeof object !== 'object' || object === null) {
    throw new Problem('webhook_invalid', 400, 'Invalid payload or signature')
  }
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
