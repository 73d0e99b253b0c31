/**
 * The processor's events, reduced to what billing needs: which customer and subscription one concerns, and what it says of them. Only this
 * is stored; names, addresses and cards that events carry never reach our database.
 */
import { anyAccount } from './accounts.ts'
import type { EventListener } from './missed-events.ts'
import { at, idOf, listOf, number, text } from './object-reader.ts'

export const INBOX_SOURCE = 'processor.billing'

export type BillingEvent = {
  id: string
  type: string
  /** Unix seconds. */
  created: number
  /** `checkout`, `subscription`, `invoice`, `customer`: what the event's object is. */
  about: 'checkout' | 'subscription' | 'invoice' | 'customer'
  customerId: string | null
  subscriptionId: string | null
  /** The checkout session, for its line items. */
  sessionId: string | null
  invoiceId: string | null
  /** Who the checkout said it was for: our own user id. */
  userId: string | null
  /** The subscription's status in the processor's words. */
  status: string | null
  priceIds: string[]
  paid: boolean
}

/** The types that billing asks the processor for and reads. Others are received and ignored. */
export const BILLING_EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'invoice.voided',
  'invoice.marked_uncollectible',
  'customer.deleted',
] as const

/** Every customer begins with an account of ours: without one there is nobody an event could be about. */
export const BILLING_EVENTS: EventListener = {
  source: INBOX_SOURCE,
  types: BILLING_EVENT_TYPES,
  isAwaiting: ({ db }) => anyAccount(db),
  read: billingEventOf,
}

/** Null when the event is none of billing's business: another type, a one-time payment, an invoice without a subscription. */
export function billingEventOf(event: unknown): BillingEvent | null {
  const type = text(event, 'type') ?? ''
  const id = text(event, 'id')
  const object = at(event, 'data', 'object')
  if (
    !id ||
    typeof object !== 'object' ||
    object === null ||
    !BILLING_EVENT_TYPES.some((known) => known === type)
  )
    return null

  const about = type.startsWith('checkout.')
    ? 'checkout'
    : type.startsWith('invoice.')
      ? 'invoice'
      : type === 'customer.deleted'
        ? 'customer'
        : 'subscription'
  const metadata = at(object, 'metadata')
  const billingEvent: BillingEvent = {
    id,
    type,
    created: number(event, 'created') ?? 0,
    about,
    customerId: about === 'customer' ? text(object, 'id') : idOf(at(object, 'customer')),
    subscriptionId: null,
    sessionId: null,
    invoiceId: null,
    userId: text(object, 'client_reference_id') ?? text(metadata, 'user_id'),
    status: null,
    priceIds: [],
    paid: true,
  }

  if (about === 'checkout') {
    const mode = text(object, 'mode')
    if (mode === 'payment' || mode === 'setup') return null
    const priceIds = pricesIn(at(object, 'line_items', 'data'))
    const said = text(metadata, 'price_id')
    return {
      ...billingEvent,
      subscriptionId: idOf(at(object, 'subscription')),
      sessionId: text(object, 'id'),
      priceIds: priceIds.length === 0 && said ? [said] : priceIds,
      paid: text(object, 'payment_status') !== 'unpaid',
    }
  }
  if (about === 'subscription') {
    return {
      ...billingEvent,
      subscriptionId: text(object, 'id'),
      status: text(object, 'status'),
      priceIds: pricesIn(at(object, 'items', 'data')),
    }
  }
  if (about === 'invoice') {
    // Versions before 2025 had the subscription on the invoice itself.
    const subscriptionId =
      idOf(at(object, 'parent', 'subscription_details', 'subscription')) ??
      idOf(at(object, 'subscription'))
    const isSubscription =
      subscriptionId !== null || (text(object, 'billing_reason') ?? '').startsWith('subscription')
    return isSubscription
      ? { ...billingEvent, subscriptionId, invoiceId: text(object, 'id') }
      : null
  }
  return billingEvent
}

function pricesIn(items: unknown): string[] {
  return listOf(items).flatMap((item) => idOf(at(item, 'price')) ?? idOf(at(item, 'plan')) ?? [])
}
