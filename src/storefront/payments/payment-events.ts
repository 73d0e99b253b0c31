/**
 * The processor's events, reduced to what they say of a payment; nothing else of them is kept: names and addresses stay at the processor.
 * Only a payment that was made counts: a completed checkout may still wait for its bank. Subscriptions on the account are billing's.
 */
import type { Stripe } from 'stripe'
import type { EventListener } from '#billing/missed-events.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Db } from '#platform/db/db.ts'
import type { Payment } from '../purchases/purchases.ts'
import type { DisputeState } from '../tables.ts'

export const INBOX_SOURCE = 'processor.storefront'

export type PaymentEvent =
  | { kind: 'paid'; payment: Payment }
  | { kind: 'refunded'; paymentRef: string; refundedCents: number; isFull: boolean }
  | { kind: 'refund-failed'; paymentRef: string }
  | { kind: 'disputed'; paymentRef: string; dispute: DisputeState }
  /** Paid, but only its checkout knows whether it is one of ours. */
  | { kind: 'paid-somewhere'; paymentIntentId: string }

/** The types that the storefront asks the processor for and reads. Others are received and ignored. */
export const PAYMENT_EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'payment_intent.succeeded',
  'charge.refunded',
  'refund.failed',
  'refund.updated',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_reinstated',
] as const

/** What a delivery would have told, the processor's list of events tells, too. */
export const PAYMENT_EVENTS: EventListener = {
  source: INBOX_SOURCE,
  types: PAYMENT_EVENT_TYPES,
  isAwaiting: ({ db }) => hasSold(db),
  read: (event) => paymentEventOf(event as Stripe.Event),
}

/** True once a checkout was opened, or something was bought. */
async function hasSold(db: Db): Promise<boolean> {
  const [purchase, checkout] = await Promise.all([
    db.selectFrom('purchases').select('id').limit(1).executeTakeFirst(),
    db.selectFrom('store_checkouts').select('attempt').limit(1).executeTakeFirst(),
  ])
  return purchase !== undefined || checkout !== undefined
}

/** What an event means here; null for what concerns others. */
export function paymentEventOf(event: Stripe.Event): PaymentEvent | null {
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
    case 'refund.failed':
    case 'refund.updated':
      return failedRefundOf(event.data.object)
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
      return disputed(event.data.object, disputeStateOf(event.data.object))
    case 'charge.dispute.funds_reinstated':
      return disputed(event.data.object, 'won')
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

function refundOf(charge: Stripe.Charge): PaymentEvent | null {
  const paymentRef = idOf(charge.payment_intent)
  if (!paymentRef) return null
  const isFull = charge.refunded === true || (charge.amount > 0 && charge.amount_refunded >= charge.amount)
  return { kind: 'refunded', paymentRef, refundedCents: charge.amount_refunded ?? 0, isFull }
}

/** A refund that came back: the bank could not give the money to the payer. */
function failedRefundOf(refund: Stripe.Refund): PaymentEvent | null {
  const paymentRef = idOf(refund.payment_intent)
  if (!paymentRef || isRefunding(refund)) return null
  return { kind: 'refund-failed', paymentRef }
}

/** True while the money of a refund is with the payer, or on its way there. */
export function isRefunding({ status }: Pick<Stripe.Refund, 'status'>): boolean {
  return status !== 'failed' && status !== 'canceled'
}

function disputed(dispute: Stripe.Dispute, state: DisputeState | null): PaymentEvent | null {
  const paymentRef = idOf(dispute.payment_intent)
  return paymentRef && state ? { kind: 'disputed', paymentRef, dispute: state } : null
}

/** Null for an inquiry, which takes no money, and for one that was prevented. */
export function disputeStateOf({ status, balance_transactions }: Stripe.Dispute): DisputeState | null {
  switch (status) {
    case 'needs_response':
    case 'under_review':
      return 'open'
    case 'won':
      return 'won'
    case 'lost': {
      // Also a lost one may be reinstated later: then what was taken has been given back.
      const moved = balance_transactions ?? []
      const netCents = moved.reduce((sum, { amount }) => sum + amount, 0)
      return moved.length > 1 && netCents >= 0 ? 'won' : 'lost'
    }
    default:
      return null
  }
}

function paid(payment: Payment | null): PaymentEvent | null {
  return payment && { kind: 'paid', payment }
}

function buyerOf(metadata: Stripe.Metadata | null): { userId: string; tier: Tier } | null {
  const { tier, user_id: userId } = metadata ?? {}
  return tier && userId ? { userId, tier } : null
}

function idOf(value: string | { id: string } | null | undefined): string | null {
  return typeof value === 'string' ? value : (value?.id ?? null)
}
