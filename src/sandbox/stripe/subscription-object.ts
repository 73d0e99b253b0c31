/** Builds a new subscription and its items, with every field of the API version. */
import type { Stripe } from 'stripe'
import { blank } from './blank-fields.ts'
import { decimal } from './catalogue.ts'
import type { ProcessorDeps } from './deps.ts'
import type { Offer } from './discounts.ts'
import { newId, put } from './objects.ts'
import { addPeriod } from './periods.ts'

export type NewSubscription = {
  customer: string
  lines: readonly { price: Stripe.Price; quantity: number }[]
  metadata: Record<string, string>
  method: Stripe.PaymentMethod
  offers: readonly Offer[]
  /** Null: billed immediately. */
  trialEnd: number | null
  /** The checkout that created the subscription. */
  session: string
  hasTax: boolean
  isManaged: boolean
}

export function newItem(
  deps: ProcessorDeps,
  subscription: string,
  price: Stripe.Price,
  quantity: number,
  at: number,
  trialEnd: number | null,
): Stripe.SubscriptionItem {
  const item: Stripe.SubscriptionItem = {
    id: newId('si'),
    object: 'subscription_item',
    billing_thresholds: null,
    created: at,
    current_period_end: trialEnd ?? addPeriod(at, price),
    current_period_start: at,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: toPlan(price),
    price,
    quantity,
    subscription,
    tax_rates: [],
  }
  return put(deps, item, { owner: subscription })
}

export function toPlan(price: Stripe.Price): Stripe.Plan {
  return {
    id: price.id,
    ...blank('plan'),
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: decimal(price.unit_amount ?? 0),
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'month',
    interval_count: price.recurring?.interval_count ?? 1,
    metadata: price.metadata,
    product: price.product,
    usage_type: 'licensed',
  }
}

export function newSubscription(
  id: string,
  at: number,
  wanted: NewSubscription,
  items: Stripe.SubscriptionItem[],
): Stripe.Subscription {
  const { trialEnd } = wanted
  return {
    id,
    ...blank('subscription'),
    automatic_tax: {
      disabled_reason: null,
      enabled: wanted.hasTax,
      liability: wanted.hasTax ? { type: 'self' } : null,
    },
    billing_cycle_anchor: at,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    billing_schedules: [],
    cancel_at_period_end: false,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: 'charge_automatically',
    created: at,
    currency: items[0]?.price.currency ?? 'usd',
    customer: wanted.customer,
    default_payment_method: wanted.method.id,
    default_tax_rates: [],
    discounts: [],
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: {
      object: 'list',
      data: items,
      has_more: false,
      url: `/v1/subscription_items?subscription=${id}`,
    },
    managed_payments: wanted.isManaged ? { enabled: true } : null,
    metadata: wanted.metadata,
    start_date: at,
    status: trialEnd === null ? 'incomplete' : 'trialing',
    trial_end: trialEnd,
    trial_start: trialEnd === null ? null : at,
  }
}
