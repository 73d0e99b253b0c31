/**
 * Reduces the processor's events to what billing needs: the customer, the subscription and its
 * state. Only this is stored; names, addresses and cards never reach the database.
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
  /** The type of the event's object. */
  about: 'checkout' | 'subscription' | 'invoice' | 'customer'
  customerId: string | null
  subscriptionId: string | null
  /** The checkout session, for its line items. */
  sessionId: string | null
  invoiceId: string | null
  /** Our user id, from the checkout's reference or the object's metadata. */
  userId: string | null
  /** The processor's status of the subscription. */
  status: string | null
  priceIds: string[]
  paid: boolean
}

/** Event types that billing subscribes to and reads. Others are received and ignored. */
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

/** Every customer belongs to an account, so without accounts no event can be about a user. */
export const BILLING_EVENTS: EventListener = {
  source: INBOX_SOURCE,
  types: BILLING_EVENT_TYPES,
  isAwaiting: ({ db }) => hasAnyAccount(db),
  read: readBillingEvent,
}

/**
 * Returns null for events that billing ignores: other types, one-time payments, and invoices
 * without a subscription.
 */
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
    // Before 2025, API versions had the subscription on the invoice itself.
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
