/** The processor's subscription, as our rules read it. One trap: with a smaller plan to come, the price that is paid stands in metadata. */
import type { Stripe } from 'stripe'
import type { SubscriptionDetails, SubscriptionFacts } from './subscription-state.ts'

/** To be given with each list or retrieval, so that the card comes along. */
export const WITH_CARD = 'default_payment_method'

/** Which price is paid until when (Unix seconds), where a smaller plan follows; only change.ts writes them. */
export const PAID_PRICE = 'paid_price'
export const PAID_UNTIL = 'paid_until'
/** Says that a checkout of ours gave the trial, as the person's first. */
export const FIRST_TRIAL = 'first_trial'

/** Periods are on the items, not on the subscription, since API version 2025-03-31. */
export function factsOf(subscription: Stripe.Subscription): SubscriptionFacts {
  const items = subscription.items.data
  const { customer } = subscription
  const listed = items.map((item) => item.price.id)
  const paid = paidPrice(subscription)
  return {
    id: subscription.id,
    customerId: typeof customer === 'string' ? customer : customer.id,
    userId: subscription.metadata.user_id ?? null,
    status: statusWord(subscription),
    created: subscription.created,
    priceIds: paid === null ? listed : [paid, ...listed],
    periodEnd: items[0]?.current_period_end ?? null,
    cancelAtPeriodEnd: subscription.cancel_at_period_end || subscription.cancel_at !== null,
    details: detailsOf(subscription, paid === null ? null : (listed[0] ?? null)),
  }
}

/** Whose invoices are voided gets nothing for them: that pause closes the plan as the other does, though the processor goes on saying `active`. */
function statusWord({ status, pause_collection: pause }: Stripe.Subscription): string {
  const runs = status === 'active' || status === 'trialing' || status === 'past_due'
  return runs && pause?.behavior === 'void' ? 'paused' : status
}

/** In the period that it was paid for, and in no other: one that begins anew, as after a pause, ends later. */
function paidPrice({ metadata, items }: Stripe.Subscription): string | null {
  const price = metadata[PAID_PRICE]
  const end = items.data[0]?.current_period_end
  return price && end !== undefined && end <= Number(metadata[PAID_UNTIL] ?? 0) ? price : null
}

function detailsOf(subscription: Stripe.Subscription, nextPriceId: string | null): SubscriptionDetails {
  const [item] = subscription.items.data
  const { cancellation_details: said } = subscription
  return {
    trialEnd: subscription.status === 'trialing' ? subscription.trial_end : null,
    isFirstTrial: subscription.metadata[FIRST_TRIAL] === 'true',
    priceCents: item?.price.unit_amount == null ? null : item.price.unit_amount * (item.quantity ?? 1),
    currency: subscription.currency,
    interval: item?.price.recurring?.interval ?? null,
    nextPriceId,
    canceledAt: subscription.canceled_at,
    endsAt: subscription.cancel_at,
    endedAt: subscription.ended_at,
    feedback: said?.feedback ?? null,
    comment: said?.comment ?? null,
    card: methodOf(subscription.default_payment_method),
  }
}

/** Bank accounts have fingerprints as cards do. Null while the method is not read with it. */
export function methodOf(method: Stripe.PaymentMethod | string | null): SubscriptionDetails['card'] {
  if (method === null || typeof method === 'string') return null
  const { card } = method
  const kept = card ?? method.us_bank_account ?? method.sepa_debit
  if (!kept) return null
  return {
    fingerprint: kept.fingerprint ?? null,
    last4: kept.last4 ?? null,
    // Cards hold until the end of their month.
    expiresAt: card ? Date.UTC(card.exp_year, card.exp_month, 1) / 1000 : null,
  }
}
