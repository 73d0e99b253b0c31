/**
 * Reads the processor's subscription into the fields that our rules use. Trap: while a downgrade is
 * pending, the paid price is in the metadata.
 */
import type { Stripe } from 'stripe'
import {
  listMissingFields,
  readField,
  readId,
  readList,
  readNumber,
  readText,
} from './object-reader.ts'
import type { SubscriptionDetails, SubscriptionFacts } from './subscription-state.ts'

/** Expand this in each list or retrieval to include the card. */
export const WITH_CARD = 'default_payment_method'

/**
 * The paid price and the end of its period (Unix seconds) while a downgrade is pending; only
 * change.ts writes them.
 */
export const PAID_PRICE = 'paid_price'
export const PAID_UNTIL = 'paid_until'
/** Start of a pause that the customer requested (Unix seconds); only running.ts writes it. */
export const PAUSED_FROM = 'paused_from'
/** Marks a trial that our checkout gave as the person's first. */
export const FIRST_TRIAL = 'first_trial'

/** Marks a suspension by the service while the payment is disputed. */
export const SUSPENDED = 'suspended_for_dispute'

/** Fields that `readSubscription` can do without. */
const DETAILS = [
  'customer',
  'created',
  'metadata',
  'cancel_at_period_end',
  'cancel_at',
  'canceled_at',
  'ended_at',
  'currency',
  'default_payment_method',
  'items.data',
  'latest_invoice',
  'pause_collection',
  'trial_end',
  'cancellation_details.feedback',
  'cancellation_details.comment',
]

/**
 * Reads a subscription. Only id and status are required; each other field is read separately, and
 * `missing` names the absent ones. Returns null when the object is no readable subscription.
 */
export function readSubscription(
  subscription: unknown,
): (SubscriptionFacts & { missing: string[] }) | null {
  const [id, status] = [readText(subscription, 'id'), readText(subscription, 'status')]
  if (id === null || status === null) return null
  // Periods are on the items, not on the subscription, since API version 2025-03-31.
  const items = readList(readField(subscription, 'items'))
  const listed = items.flatMap((item) => readId(readField(item, 'price')) ?? [])
  const periodEnd = readNumber(items[0], 'current_period_end')
  const paid = readPaidPrice(subscription, periodEnd)
  return {
    id,
    customerId: readId(readField(subscription, 'customer')),
    userId: readText(subscription, 'metadata', 'user_id'),
    status: readStatus(status, subscription),
    created: readNumber(subscription, 'created') ?? 0,
    priceIds: paid === null ? listed : [paid, ...listed],
    periodEnd,
    cancelAtPeriodEnd:
      readField(subscription, 'cancel_at_period_end') === true ||
      readNumber(subscription, 'cancel_at') !== null,
    hadTrial: readNumber(subscription, 'trial_end') !== null,
    isSuspendedForDispute:
      readText(subscription, 'metadata', SUSPENDED) === 'true' && areInvoicesVoid(subscription),
    details: readDetails(subscription, status, paid === null ? null : (listed[0] ?? null)),
    missing: listMissingFields(subscription, DETAILS),
  }
}

/** @throws Error when the object is no subscription. */
export function readFacts(subscription: Stripe.Subscription): SubscriptionFacts {
  const facts = readSubscription(subscription)
  if (!facts) throw new Error('the processor sent a subscription without id or status')
  return facts
}

/**
 * Voided invoices buy nothing, so such a pause closes the plan although the processor still reports
 * `active`; within a paid period it waits.
 */
function readStatus(status: string, subscription: unknown): string {
  const runs = status === 'active' || status === 'trialing' || status === 'past_due'
  return runs && areInvoicesVoid(subscription) && readPauseAhead(status, subscription) === null
    ? 'paused'
    : status
}

const areInvoicesVoid = (subscription: unknown) =>
  readText(subscription, 'pause_collection', 'behavior') === 'void'

/**
 * Returns the start of a requested pause (Unix seconds); null without one, or once its period is
 * over.
 */
function readPauseAhead(status: string, subscription: unknown): number | null {
  const from = Number(readText(subscription, 'metadata', PAUSED_FROM) || 0)
  const end = readNumber(readList(readField(subscription, 'items'))[0], 'current_period_end')
  return status === 'active' && areInvoicesVoid(subscription) && end !== null && end <= from
    ? from
    : null
}

/**
 * Returns the paid price during its own period only: a new period, as after a pause, ends later.
 */
function readPaidPrice(subscription: unknown, end: number | null): string | null {
  const price = readText(subscription, 'metadata', PAID_PRICE)
  return price && end !== null && end <= Number(readText(subscription, 'metadata', PAID_UNTIL) ?? 0)
    ? price
    : null
}

function readDetails(
  subscription: unknown,
  status: string,
  nextPriceId: string | null,
): SubscriptionDetails {
  const [item] = readList(readField(subscription, 'items'))
  const unitAmount = readNumber(item, 'price', 'unit_amount')
  return {
    trialEnd: status === 'trialing' ? readNumber(subscription, 'trial_end') : null,
    isFirstTrial: readText(subscription, 'metadata', FIRST_TRIAL) === 'true',
    priceCents: unitAmount === null ? null : unitAmount * (readNumber(item, 'quantity') ?? 1),
    currency: readText(subscription, 'currency') ?? readText(item, 'price', 'currency'),
    interval: readText(item, 'price', 'recurring', 'interval'),
    nextPriceId,
    pausesAt: readPauseAhead(status, subscription),
    canceledAt: readNumber(subscription, 'canceled_at'),
    endsAt: readNumber(subscription, 'cancel_at'),
    endedAt: readNumber(subscription, 'ended_at'),
    feedback: readText(subscription, 'cancellation_details', 'feedback'),
    comment: readText(subscription, 'cancellation_details', 'comment'),
    card: readCard(readField(subscription, 'default_payment_method')),
  }
}

/** Bank accounts have fingerprints as cards do. Null unless the payment method was expanded. */
function readCard(method: unknown): SubscriptionDetails['card'] {
  const card = readField(method, 'card')
  const paymentMethod = [
    card,
    readField(method, 'us_bank_account'),
    readField(method, 'sepa_debit'),
  ].find((item) => item instanceof Object)
  if (!paymentMethod) return null
  const [year, month] = [readNumber(card, 'exp_year'), readNumber(card, 'exp_month')]
  return {
    fingerprint: readText(paymentMethod, 'fingerprint'),
    last4: readText(paymentMethod, 'last4'),
    // Cards are valid until the end of their month.
    expiresAt: year !== null && month !== null ? Date.UTC(year, month, 1) / 1000 : null,
  }
}
