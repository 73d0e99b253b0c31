/**
 * The processor's events, reduced to what billing needs: which customer and subscription one concerns, and what it says of them. Only this
 * is stored; names, addresses and cards that events carry never reach our database.
 */
import { hasAnyAccount } from './accounts.ts'
import type { EventListener } from './missed-events.ts'
import { readField, readId, readList, readNumber, readText } from './object-reader.ts'

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
  isAwaiting: ({ db }) => hasAnyAccount(db),
  read: readBillingEvent,
}

/** Null when the event is none of billing's business: another type, a one-time payment, an invoice without a subscription. */
export function readBillingEvent(event: unknown): BillingEvent | null {
  const type = readText(event, 'type') ?? ''
  const id = readText(event, 'id')
  const object = readField(event, 'data', 'object')
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
  const metadata = readField(object, 'metadata')
  const billingEvent: BillingEvent = {
    id,
    type,
    created: readNumber(event, 'created') ?? 0,
    about,
    customerId:
      about === 'customer' ? readText(object, 'id') : readId(readField(object, 'customer')),
    subscriptionId: null,
    sessionId: null,
    invoiceId: null,
    userId: readText(object, 'client_reference_id') ?? readText(metadata, 'user_id'),
    status: null,
    priceIds: [],
    paid: true,
  }

  if (about === 'checkout') {
    const mode = readText(object, 'mode')
    if (mode === 'payment' || mode === 'setup') return null
    const priceIds = readItemPrices(readField(object, 'line_items', 'data'))
    const said = readText(metadata, 'price_id')
    return {
      ...billingEvent,
      subscriptionId: readId(readField(object, 'subscription')),
      sessionId: readText(object, 'id'),
      priceIds: priceIds.length === 0 && said ? [said] : priceIds,
      paid: readText(object, 'payment_status') !== 'unpaid',
    }
  }
  if (about === 'subscription') {
    return {
      ...billingEvent,
      subscriptionId: readText(object, 'id'),
      status: readText(object, 'status'),
      priceIds: readItemPrices(readField(object, 'items', 'data')),
    }
  }
  if (about === 'invoice') {
    // Versions before 2025 had the subscription on the invoice itself.
    const subscriptionId =
      readId(readField(object, 'parent', 'subscription_details', 'subscription')) ??
      readId(readField(object, 'subscription'))
    const isSubscription =
      subscriptionId !== null ||
      (readText(object, 'billing_reason') ?? '').startsWith('subscription')
    return isSubscription
      ? { ...billingEvent, subscriptionId, invoiceId: readText(object, 'id') }
      : null
  }
  return billingEvent
}

function readItemPrices(items: unknown): string[] {
  return readList(items).flatMap(
    (item) => readId(readField(item, 'price')) ?? readId(readField(item, 'plan')) ?? [],
  )
}
