/**
 * Turns the processor's events into facts about payments, and nothing else of them is kept: names and addresses stay at the processor.
 * Only a payment that was made counts: a completed checkout may still wait for its bank. Subscriptions on the account are billing's.
 */
import type { Stripe } from 'stripe'
import { type ProductTier, TIERS } from './products/releases.ts'
import type { Payment } from './purchases.ts'

export type PaymentFact =
  | { kind: 'paid'; payment: Payment }
  | { kind: 'refunded'; paymentRef: string; refundedCents: number; isFull: boolean }
  | { kind: 'dispute-lost'; paymentRef: string }
  /** Paid, but only its checkout knows whether it is one of ours. */
  | { kind: 'paid-somewhere'; paymentIntentId: string }

/** What an event means here; null for what concerns others. */
export function factOf(event: Stripe.Event): PaymentFact | null {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paid(paymentOfCheckout(event.data.object))
    case 'payment_intent.succeeded':
      return (
        paid(paymentOfIntent(event.data.object)) ?? { kind: 'paid-somewhere', paymentIntentId: event.data.object.id }
      )
    case 'charge.refunded':
      return refundOf(event.data.object)
    case 'charge.dispute.closed':
      return lostDispute(event.data.object)
    default:
      return null
  }
}

/** The payment of a checkout session; null while it is not paid, and for subscriptions and what others sell on the account. */
export function paymentOfCheckout(session: Stripe.Checkout.Session): Payment | null {
  const buyer = buyerOf(session.metadata)
  const isPaid = session.payment_status === 'paid' || session.payment_status === 'no_payment_required'
  if (session.mode !== 'payment' || !buyer || !isPaid) return null
  return {
    ...buyer,
    ref: idOf(session.payment_intent) ?? session.id,
    checkoutSessionId: session.id,
    amountCents: session.amount_total ?? 0,
    currency: session.currency ?? 'usd',
  }
}

function paymentOfIntent(intent: Stripe.PaymentIntent): Payment | null {
  const buyer = buyerOf(intent.metadata)
  if (!buyer) return null
  return {
    ...buyer,
    ref: intent.id,
    checkoutSessionId: null,
    amountCents: intent.amount_received || intent.amount,
    currency: intent.currency,
  }
}

function refundOf(charge: Stripe.Charge): PaymentFact | null {
  const paymentRef = idOf(charge.payment_intent)
  if (!paymentRef) return null
  const isFull = charge.refunded === true || (charge.amount > 0 && charge.amount_refunded >= charge.amount)
  return { kind: 'refunded', paymentRef, refundedCents: charge.amount_refunded ?? 0, isFull }
}

function lostDispute(dispute: Stripe.Dispute): PaymentFact | null {
  const paymentRef = idOf(dispute.payment_intent)
  return paymentRef && dispute.status === 'lost' ? { kind: 'dispute-lost', paymentRef } : null
}

function paid(payment: Payment | null): PaymentFact | null {
  return payment && { kind: 'paid', payment }
}

function buyerOf(metadata: Stripe.Metadata | null): { userId: string; tier: ProductTier } | null {
  const tier = TIERS.find((one) => one === metadata?.tier)
  const userId = metadata?.user_id
  return tier && userId ? { userId, tier } : null
}

function idOf(value: string | { id: string } | null | undefined): string | null {
  return typeof value === 'string' ? value : (value?.id ?? null)
}
