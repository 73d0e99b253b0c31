/** The processor's subscription, as our rules read it. One trap: with a smaller plan to come, the price that is paid stands in metadata. */
import type { Stripe } from 'stripe'
import { at, idOf, listOf, missingFields, number, text } from './object-reader.ts'
import type { SubscriptionDetails, SubscriptionFacts } from './subscription-state.ts'

/** To be given with each list or retrieval, so that the card comes along. */
export const WITH_CARD = 'default_payment_method'

/** Which price is paid until when (Unix seconds), where a smaller plan follows; only change.ts writes them. */
export const PAID_PRICE = 'paid_price'
export const PAID_UNTIL = 'paid_until'
/** From when (Unix seconds) a pause counts that its customer asked for; only running.ts writes it. */
export const PAUSED_FROM = 'paused_from'
/** Says that a checkout of ours gave the trial, as the person's first. */
export const FIRST_TRIAL = 'first_trial'

/** Says that we suspended it, while its payment is disputed. */
export const SUSPENDED = 'suspended_for_dispute'

/** Every field that `readSubscription` can do without. */
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
 * The subscription as our rules read it. Only id and status are needed; each other field is read on its own, and `missing` names those that
 * are not there. Null when the object is no subscription that can be read.
 */
export function readSubscription(
  subscription: unknown,
): (SubscriptionFacts & { missing: string[] }) | null {
  const [id, status] = [text(subscription, 'id'), text(subscription, 'status')]
  if (id === null || status === null) return null
  // Periods are on the items, not on the subscription, since API version 2025-03-31.
  const items = listOf(at(subscription, 'items'))
  const listed = items.flatMap((item) => idOf(at(item, 'price')) ?? [])
  const periodEnd = number(items[0], 'current_period_end')
  const paid = paidPrice(subscription, periodEnd)
  return {
    id,
    customerId: idOf(at(subscription, 'customer')),
    userId: text(subscription, 'metadata', 'user_id'),
    status: statusWord(status, subscription),
    created: number(subscription, 'created') ?? 0,
    priceIds: paid === null ? listed : [paid, ...listed],
    periodEnd,
    cancelAtPeriodEnd:
      at(subscription, 'cancel_at_period_end') === true ||
      number(subscription, 'cancel_at') !== null,
    hadTrial: number(subscription, 'trial_end') !== null,
    isSuspendedForDispute:
      text(subscription, 'metadata', SUSPENDED) === 'true' && areInvoicesVoid(subscription),
    details: readDetails(subscription, status, paid === null ? null : (listed[0] ?? null)),
    missing: missingFields(subscription, DETAILS),
  }
}

/** @throws Error when the object is no subscription. */
export function factsOf(subscription: Stripe.Subscription): SubscriptionFacts {
  const facts = readSubscription(subscription)
  if (!facts) throw new Error('the processor sent a subscription without id or status')
  return facts
}

/** Voided invoices buy nothing, so such a pause closes the plan, though the processor still says `active`; in a paid period it waits. */
function statusWord(status: string, subscription: unknown): string {
  const runs = status === 'active' || status === 'trialing' || status === 'past_due'
  return runs && areInvoicesVoid(subscription) && readPauseAhead(status, subscription) === null
    ? 'paused'
    : status
}

const areInvoicesVoid = (subscription: unknown) =>
  text(subscription, 'pause_collection', 'behavior') === 'void'

/** When the pause begins that its customer asked for (Unix seconds); null once that period is over, or without one. */
function readPauseAhead(status: string, subscription: unknown): number | null {
  const from = Number(text(subscription, 'metadata', PAUSED_FROM) || 0)
  const end = number(listOf(at(subscription, 'items'))[0], 'current_period_end')
  return status === 'active' && areInvoicesVoid(subscription) && end !== null && end <= from
    ? from
    : null
}

/** In the period that it was paid for, and in no other: one that begins anew, as after a pause, ends later. */
function paidPrice(subscription: unknown, end: number | null): string | null {
  const price = text(subscription, 'metadata', PAID_PRICE)
  return price && end !== null && end <= Number(text(subscription, 'metadata', PAID_UNTIL) ?? 0)
    ? price
    : null
}

function readDetails(
  subscription: unknown,
  status: string,
  nextPriceId: string | null,
): SubscriptionDetails {
  const [item] = listOf(at(subscription, 'items'))
  const unitAmount = number(item, 'price', 'unit_amount')
  return {
    trialEnd: status === 'trialing' ? number(subscription, 'trial_end') : null,
    isFirstTrial: text(subscription, 'metadata', FIRST_TRIAL) === 'true',
    priceCents: unitAmount === null ? null : unitAmount * (number(item, 'quantity') ?? 1),
    currency: text(subscription, 'currency') ?? text(item, 'price', 'currency'),
    interval: text(item, 'price', 'recurring', 'interval'),
    nextPriceId,
    pausesAt: readPauseAhead(status, subscription),
    canceledAt: number(subscription, 'canceled_at'),
    endsAt: number(subscription, 'cancel_at'),
    endedAt: number(subscription, 'ended_at'),
    feedback: text(subscription, 'cancellation_details', 'feedback'),
    comment: text(subscription, 'cancellation_details', 'comment'),
    card: readCard(at(subscription, 'default_payment_method')),
  }
}

/** Bank accounts have fingerprints as cards do. Null unless the method was expanded. */
function readCard(method: unknown): SubscriptionDetails['card'] {
  const card = at(method, 'card')
  const kept = [card, at(method, 'us_bank_account'), at(method, 'sepa_debit')].find(
    (one) => one instanceof Object,
  )
  if (!kept) return null
  const [year, month] = [number(card, 'exp_year'), number(card, 'exp_month')]
  return {
    fingerprint: text(kept, 'fingerprint'),
    last4: text(kept, 'last4'),
    // Cards hold until the end of their month.
    expiresAt: year !== null && month !== null ? Date.UTC(year, month, 1) / 1000 : null,
  }
}
