/**
 * Keeps purchases in step with the processor: by its events, by asking when the buyer returns, and by asking again later.
 * All three end in the same rule, so it does not matter which of them is first, or whether one comes twice.
 */
import type { Stripe } from 'stripe'
import { stripeSdk } from '#billing/stripe-sdk.ts'
import { findUser } from '#identity/users.ts'
import type { Platform } from '#platform/platform.ts'
import { Problem } from '#platform/problem.ts'
import { factOf, type PaymentFact, paymentOfCheckout } from './payment-events.ts'
import * as store from './purchase-store.ts'
import { recordPurchase, recordRefund } from './purchases.ts'

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
  const { config, inbox } = deps
  const secret = config.processor.storefrontWebhookSecret
  if (!secret) throw new Problem('billing_not_configured', 503, 'Billing is not configured')

  const event = await stripeSdk()
    .webhooks.constructEventAsync(body, signature ?? '', secret)
    .catch((cause) => {
      throw new Problem('webhook_invalid', 400, 'Invalid payload or signature', { cause })
    })
  // The signature proves who sent it, not what it is.
  if (typeof event?.id !== 'string' || event.id === '' || typeof event.data?.object !== 'object') {
    throw new Problem('webhook_invalid', 400, 'Invalid payload or signature')
  }
  await inbox.receive(INBOX_SOURCE, event.id, event)
}

/** Idempotent: an event may be handled twice. Rejects when the processor cannot be asked; it is tried again later. */
export async function handlePaymentEvent(deps: PaymentDeps, event: Stripe.Event): Promise<void> {
  const fact = await factOf(event, (paymentIntentId) => findCheckout(deps, paymentIntentId))
  if (fact) await record(deps, fact)
}

/**
 * Asks the processor about a checkout and records what was paid. True when its purchase exists now. A session of somebody else is not
 * looked into.
 */
export async function confirmCheckout(deps: PaymentDeps, sessionId: string, userId: string | null): Promise<boolean> {
  const known = await store.findByCheckoutSession(deps.db, sessionId)
  if (known) return userId === null || known.user_id === userId
  if (!deps.processor || !/^cs_\w{1,250}$/.test(sessionId)) return false

  const payment = paymentOfCheckout(await deps.processor.checkout.sessions.retrieve(sessionId))
  if (!payment || (userId !== null && payment.userId !== userId)) return false
  await record(deps, { kind: 'paid', payment })
  return true
}

async function record(deps: PaymentDeps, fact: PaymentFact): Promise<void> {
  if (fact.kind === 'paid') {
    const user = await findUser(deps.db, fact.payment.userId)
    return recordPurchase(deps, fact.payment, user !== null)
  }

  if (fact.kind === 'dispute-lost') return recordRefund(deps, fact.paymentRef, 0, 'dispute')
  return recordRefund(deps, fact.paymentRef, fact.refundedCents, fact.isFull ? 'refund' : null)
}

async function findCheckout({ processor }: PaymentDeps, paymentIntentId: string) {
  if (!processor) return null
  const { data } = await processor.checkout.sessions.list({ payment_intent: paymentIntentId, limit: 1 })
  return data[0] ?? null
}
