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
  const isBilling = BILLING_EVENT_TYPES.some((known) => known === type)
  if (!id || !isBilling || typeof object !== 'object' || object === null) return null

  const about = classifyEvent(type)
  const billingEvent: BillingEvent = {
    id,
    type,
    created: readNumber(event, 'created') ?? 0,
    about,
    customerId: readId(readField(object, 'customer')),
    subscriptionId: null,
    sessionId: null,
    invoiceId: null,
    userId: readText(object, 'client_reference_id') ?? readText(object, 'metadata', 'user_id'),
    status: null,
    priceIds: [],
    paid: true,
  }
  switch (about) {
    case 'checkout':
      return readCheckoutEvent(billingEvent, object)
    case 'subscription':
      return {
        ...billingEvent,
        subscriptionId: readText(object, 'id'),
        status: readText(object, 'status'),
        priceIds: readItemPrices(readField(object, 'items', 'data')),
      }
    case 'invoice':
      return readInvoiceEvent(billingEvent, object)
    case 'customer':
      return { ...billingEvent, customerId: readText(object, 'id') }
  }
}

function classifyEvent(type: string): BillingEvent['about'] {
  if (type.startsWith('checkout.')) return 'checkout'
  if (type.startsWith('invoice.')) return 'invoice'
  return type === 'customer.deleted' ? 'customer' : 'subscription'
}

/** Returns null for one-time payments and setups. */
function readCheckoutEvent(event: BillingEvent, session: object): BillingEvent | null {
  const mode = readText(session, 'mode')
  if (mode === 'payment' || mode === 'setup') return null
  const priceIds = readItemPrices(readField(session, 'line_items', 'data'))
  const metadataPriceId = readText(session, 'metadata', 'price_id')
  return {
    ...event,
    subscriptionId: readId(readField(session, 'subscription')),
    sessionId: readText(session, 'id'),
    priceIds: priceIds.length === 0 && metadataPriceId ? [metadataPriceId] : priceIds,
    paid: readText(session, 'payment_status') !== 'unpaid',
  }
}

/** Returns null for invoices without a subscription. */
function readInvoiceEvent(event: BillingEvent, invoice: object): BillingEvent | null {
  // Before 2025, API versions had the subscription on the invoice itself.
  const subscriptionId =
    readId(readField(invoice, 'parent', 'subscription_details', 'subscription')) ??
    readId(readField(invoice, 'subscription'))
  const isForSubscription =
    subscriptionId !== null ||
    (readText(invoice, 'billing_reason') ?? '').startsWith('subscription')
  return isForSubscription ? { ...event, subscriptionId, invoiceId: readText(invoice, 'id') } : null
}

function readItemPrices(items: unknown): string[] {
  return readList(items).flatMap(
    (item) => readId(readField(item, 'price')) ?? readId(readField(item, 'plan')) ?? [],
  )
}
