/**
 * Parses the payment processor's events. Only the data of a purchase is stored; names and addresses
 * stay at the processor. Only a completed payment counts, because a completed checkout may still
 * wait for its bank. The billing room handles subscriptions.
 */
import type { Stripe } from 'stripe'
import type { EventListener } from '#billing/missed-events.ts'
import { readId } from '#billing/object-reader.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Db } from '#platform/db/db.ts'
import type { Payment } from '../purchases/new-purchase.ts'

export const INBOX_SOURCE = 'processor.storefront'

export type PaymentEvent =
  | { kind: 'paid'; payment: Payment }
  /** Paid, but only the checkout shows whether this shop sold it. */
  | { kind: 'paid-somewhere'; paymentIntentId: string }

/** The types that the storefront subscribes to and parses. Others are ignored. */
export const PAYMENT_EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'payment_intent.succeeded',
] as const

/** Missed deliveries are recovered from the processor's list of events. */
export const PAYMENT_EVENTS: EventListener = {
  source: INBOX_SOURCE,
  types: PAYMENT_EVENT_TYPES,
  isAwaiting: ({ db }) => hasSold(db),
  read: (event) => parsePaymentEvent(event as Stripe.Event),
}

/** Returns true once a checkout was opened or a purchase was made. */
async function hasSold(db: Db): Promise<boolean> {
  const [purchase, checkout] = await Promise.all([
    db.selectFrom('purchases').select('id').limit(1).executeTakeFirst(),
    db.selectFrom('store_checkouts').select('attempt').limit(1).executeTakeFirst(),
  ])
  return purchase !== undefined || checkout !== undefined
}

/** Returns the meaning of an event for this shop; null for events that concern others. */
export function parsePaymentEvent(event: Stripe.Event): PaymentEvent | null {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paid(paymentOfCheckout(event.data.object))
    case 'payment_intent.succeeded':
      return (
        paid(paymentOfIntent(event.data.object)) ?? {
          kind: 'paid-somewhere',
          paymentIntentId: event.data.object.id,
        }
      )
    default:
      return null
  }
}

/**
 * Returns the payment of a checkout session; null while it is unpaid, for subscriptions, and for
 * other sellers on the account.
 */
export function paymentOfCheckout(session: Stripe.Checkout.Session): Payment | null {
  const buyer = parseBuyer(session.metadata)
  const isPaid =
    session.payment_status === 'paid' || session.payment_status === 'no_payment_required'
  if (session.mode !== 'payment' || !buyer || !isPaid) return null
  return {
    ...buyer,
    ref: readId(session.payment_intent) ?? session.id,
    checkoutSessionId: session.id,
    amountCents: session.amount_total ?? 0,
    taxCents: session.total_details?.amount_tax ?? 0,
    currency: session.currency ?? 'usd',
  }
}

function paymentOfIntent(intent: Stripe.PaymentIntent): Payment | null {
  const buyer = parseBuyer(intent.metadata)
  // Only the checkout has the address of a guest.
  if (!buyer || buyer.userId === null) return null
  return {
    ...buyer,
    ref: intent.id,
    checkoutSessionId: null,
    amountCents: intent.amount_received || intent.amount,
    taxCents: null,
    currency: intent.currency,
  }
}

function paid(payment: Payment | null): PaymentEvent | null {
  return payment && { kind: 'paid', payment }
}

function parseBuyer(
  metadata: Stripe.Metadata | null,
): Pick<Payment, 'userId' | 'guest' | 'tier' | 'fromId' | 'members' | 'waiver'> | null {
  const { tier, guest = null, from_id: fromId = null, waiver = null } = metadata ?? {}
  const userId = metadata?.user_id || null
  const members = readMembers(metadata ?? {})
  return tier && (userId || guest) ? { userId, guest, tier, fromId, members, waiver } : null
}

/** Writes the products of a bundle into metadata, whose values are too short for a list. */
export const buildMembersMetadata = (members: readonly Tier[]): Record<string, string> =>
  Object.fromEntries(members.map((tier, index) => [`${MEMBER}${index}`, tier]))

const readMembers = (metadata: Stripe.Metadata): Tier[] =>
  Object.entries(metadata).flatMap(([name, tier]) => (name.startsWith(MEMBER) ? [tier] : []))

const MEMBER = 'bundle_'
