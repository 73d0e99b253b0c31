/**
 * Turns the processor's events into purchases and revocations. Subscriptions on the same account belong to billing and are passed over.
 * Only a payment that was made counts: a completed checkout may still wait for its bank.
 */
import type { Stripe } from 'stripe'
import { type ProductTier, TIERS } from './products/releases.ts'
import type { Payment } from './purchases.ts'

export type PaymentFact =
  | { kind: 'paid'; payment: Payment }
  | { kind: 'refunded'; paymentRef: string; refundedCents: number; isFull: boolean }
  | { kind: 'dispute-lost'; paymentRef: string }

/** Finds the checkout that a payment came from; null when there is none. */
export type FindCheckout = (paymentIntentId: string) => Promise<Stripe.Checkout.Session | null>

/** What an event means here; null for what concerns others. Rejects when the processor cannot be asked. */
export async function factOf(event: Stripe.Event, findCheckout: FindCheckout): Promise<PaymentFact | null> {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paid(paymentOfCheckout(event.data.object))
    case 'payment_intent.succeeded':
      return paid(paymentOfIntent(event.data.object) ?? (await ofItsCheckout(event.data.object, findCheckout)))
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
    email: session.customer_details?.email ?? session.customer_email ?? null,
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
    email: intent.receipt_email ?? null,
  }
}

async function ofItsCheckout(intent: Stripe.PaymentIntent, findCheckout: FindCheckout): Promise<Payment | null> {
  const session = await findCheckout(intent.id)
  if (session?.mode !== 'payment') return null
  // The event says that it is paid; the session may have been read a moment before it knew.
  return paymentOfCheckout({ ...session, payment_status: 'paid', payment_intent: intent.id })
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
