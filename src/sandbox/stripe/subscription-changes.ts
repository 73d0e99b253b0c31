/**
 * Changes of a subscription by the API: plan, end, trial, discounts, collection. Prorations wait
 * for the next invoice, unless asked at once.
 */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { giveDiscount, offersIn } from './discounts.ts'
import { emit } from './events.ts'
import { badParameter, Fault } from './fault.ts'
import { collect, intentOf } from './invoices.ts'
import { get, must, mustParam, put, sideOf } from './objects.ts'
import {
  flag,
  group,
  groups,
  integer,
  mergeMetadata,
  optionalText,
  played,
  text,
} from './parameters.ts'
import { methodOf } from './payment-methods.ts'
import { changedItems, prorationIn, unusedOf } from './proration.ts'
import { missingMethod } from './subscription-object.ts'
import {
  bill,
  cancelNow,
  isOver,
  openInvoices,
  renew,
  type SubscriptionSide,
  setStatus,
} from './subscriptions.ts'

export const FEEDBACK = [
  'customer_service',
  'low_quality',
  'missing_features',
  'other',
  'switched_service',
  'too_complex',
  'too_expensive',
  'unused',
]
const PAUSES = ['keep_as_draft', 'mark_uncollectible', 'void']

export function updateSubscription(
  deps: ProcessorDeps,
  id: string,
  form: Form,
): Stripe.Subscription {
  played(form, [
    'automatic_tax',
    'cancel_at',
    'cancel_at_period_end',
    'cancellation_details',
    'default_payment_method',
    'description',
    'discounts',
    'items',
    'metadata',
    'pause_collection',
    'payment_behavior',
    'proration_behavior',
    'proration_date',
    'trial_end',
    'trial_settings',
  ])
  const before = must<Stripe.Subscription>(deps.db, 'subscription', id)
  const isOnlyWords = Object.keys(form).every((name) =>
    ['cancellation_details', 'metadata', 'expand'].includes(name),
  )
  if (isOver(before) && !isOnlyWords) {
    throw badParameter(
      'id',
      'A canceled subscription can only update its cancellation_details and metadata.',
      'resource_missing',
    )
  }
  const after = withFields(deps, before, form)
  put(deps.db, after)
  const changes = groups(form, 'items')
  if (changes.length > 0) changeItems(deps, after, changes, form)
  const now = must<Stripe.Subscription>(deps.db, 'subscription', id)
  emit(deps, 'customer.subscription.updated', now, differences(before, now))
  if (form.trial_end !== 'now' || before.status !== 'trialing') return now
  const begun = renew(deps, id, true)
  if (form.payment_behavior === 'error_if_incomplete' && begun.status === 'past_due')
    throw notPaid(deps, begun)
  return begun
}

function withFields(
  deps: ProcessorDeps,
  before: Stripe.Subscription,
  form: Form,
): Stripe.Subscription {
  const method = optionalText(
    form,
    'default_payment_method',
    before.default_payment_method as string | null,
  )
  if (method)
    mustParam<Stripe.PaymentMethod>(deps.db, 'payment_method', method, 'default_payment_method')
  return {
    ...before,
    ...ending(deps, before, form),
    ...trial(deps, before, form),
    automatic_tax: {
      ...before.automatic_tax,
      enabled: flag(group(form, 'automatic_tax'), 'enabled', before.automatic_tax.enabled),
    },
    default_payment_method: method,
    description: optionalText(form, 'description', before.description),
    discounts: discountsIn(deps, before, form),
    metadata: mergeMetadata(before.metadata, form.metadata),
    pause_collection: pauseIn(before, form),
  }
}

/** When it ends, and why. */
function ending(
  deps: ProcessorDeps,
  before: Stripe.Subscription,
  form: Form,
): Partial<Stripe.Subscription> {
  const atEnd = flag(
    form,
    'cancel_at_period_end',
    form.cancel_at === undefined && before.cancel_at_period_end,
  )
  const at =
    form.cancel_at === undefined || form.cancel_at === ''
      ? null
      : (integer(form, 'cancel_at') ?? null)
  if (at !== null && atEnd)
    throw badParameter(
      'cancel_at',
      'You may only specify one of these parameters: cancel_at, cancel_at_period_end.',
    )
  if (at !== null && at <= seconds(deps))
    throw badParameter('cancel_at', 'cancel_at must be in the future.')
  const isKept = form.cancel_at === undefined && form.cancel_at_period_end === undefined
  const end = isKept
    ? before.cancel_at
    : atEnd
      ? (before.items.data[0]?.current_period_end ?? null)
      : at
  return {
    cancel_at_period_end: atEnd,
    cancel_at: end,
    canceled_at: isOver(before) || end !== null ? (before.canceled_at ?? seconds(deps)) : null,
    cancellation_details: detailsIn(before, form, isOver(before) || end !== null),
  }
}

export function detailsIn(
  before: Stripe.Subscription,
  form: Form,
  isEnding: boolean,
): Stripe.Subscription.CancellationDetails {
  const given = group(form, 'cancellation_details')
  played(given, ['comment', 'feedback'], 'cancellation_details')
  const { comment = null, feedback = null, reason = null } = before.cancellation_details ?? {}
  const said = optionalText(given, 'feedback', feedback)
  if (said !== null && !FEEDBACK.includes(said))
    throw badParameter(
      'cancellation_details[feedback]',
      `Invalid feedback: must be one of ${FEEDBACK.join(', ')}`,
    )
  return {
    ...before.cancellation_details,
    comment: optionalText(given, 'comment', comment),
    feedback: said as Stripe.Subscription.CancellationDetails.Feedback | null,
    reason: isEnding ? (reason ?? 'cancellation_requested') : null,
  } as Stripe.Subscription.CancellationDetails
}

/** `trial_end`: `now`, or a moment ahead, also for one that runs already. */
function trial(
  deps: ProcessorDeps,
  before: Stripe.Subscription,
  form: Form,
): Partial<Stripe.Subscription> {
  const settings = group(form, 'trial_settings')
  const missing = optionalText(group(settings, 'end_behavior'), 'missing_payment_method')
  const trial_settings =
    missing === null
      ? before.trial_settings
      : {
          end_behavior: {
            billing_cycle_anchor: null,
            missing_payment_method: missingMethod(missing),
          },
        }
  const isNothing = form.trial_end === 'now' && before.status !== 'trialing'
  if (form.trial_end === undefined || isNothing) return { trial_settings }
  const at = seconds(deps)
  const end = form.trial_end === 'now' ? at : integer(form, 'trial_end')
  if (end === undefined || end < at)
    throw badParameter('trial_end', 'Invalid timestamp: must be in the future')
  const data = before.items.data.map((item) => ({ ...item, current_period_end: end }))
  return {
    trial_settings,
    trial_end: end,
    trial_start: before.trial_start ?? at,
    status: end > at ? 'trialing' : before.status,
    items: { ...before.items, data },
  }
}

/** A list takes the place of what there was; an empty one takes all away. */
function discountsIn(
  deps: ProcessorDeps,
  before: Stripe.Subscription,
  form: Form,
): Stripe.Subscription['discounts'] {
  if (form.discounts === undefined) return before.discounts
  const customer = String(before.customer)
  const offers = offersIn(deps, form, { currency: before.currency, customer })
  return offers.map(
    (offer) => giveDiscount(deps, offer, { customer, subscription: before.id, session: null }).id,
  )
}

function pauseIn(
  before: Stripe.Subscription,
  form: Form,
): Stripe.Subscription.PauseCollection | null {
  if (form.pause_collection === undefined) return before.pause_collection
  if (form.pause_collection === '') return null
  const wanted = group(form, 'pause_collection')
  played(wanted, ['behavior', 'resumes_at'], 'pause_collection')
  const behavior = text(wanted, 'behavior')
  if (!PAUSES.includes(behavior))
    throw badParameter('pause_collection[behavior]', `Must be one of ${PAUSES}`)
  return {
    behavior: behavior as Stripe.Subscription.PauseCollection['behavior'],
    resumes_at: integer(wanted, 'resumes_at') ?? null,
  }
}

function changeItems(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  changes: Form[],
  form: Form,
): void {
  const behavior = prorationIn(form)
  const at = integer(form, 'proration_date') ?? seconds(deps)
  const { items, lines, isNewPeriod } = changedItems(deps, subscription, changes, at)
  const changed: Stripe.Subscription = {
    ...subscription,
    items: { ...subscription.items, data: items },
  }
  const side = sideOf<SubscriptionSide>(deps.db, subscription.id)
  const isPaid = subscription.status === 'active'
  const asked = behavior === 'none' ? lines.filter((line) => !line.proration) : isPaid ? lines : []
  const isNow = behavior === 'always_invoice' || isNewPeriod
  put(deps.db, changed, {
    side: isNow ? side : { ...side, pending: [...(side.pending ?? []), ...asked] },
  })
  if (isNow && asked.length > 0) collectChange(deps, changed, asked, form)
}

/** `payment_behavior=error_if_incomplete`: a refused card leaves everything as it was. */
function collectChange(
  deps: ProcessorDeps,
  changed: Stripe.Subscription,
  lines: Parameters<typeof bill>[3],
  form: Form,
): void {
  const behavior = optionalText(form, 'payment_behavior') ?? 'allow_incomplete'
  if (behavior !== 'allow_incomplete' && behavior !== 'error_if_incomplete')
    throw badParameter('payment_behavior', `The sandbox does not play ${behavior}.`)
  const invoice = bill(deps, changed, 'subscription_update', lines)
  put(deps.db, {
    ...must<Stripe.Subscription>(deps.db, 'subscription', changed.id),
    latest_invoice: invoice.id,
  })
  const attempt = collect(deps, invoice.id, methodOf(deps, changed), false)
  if (attempt.status !== 'failed' && attempt.status !== 'requires_action') return
  if (behavior === 'allow_incomplete') {
    setStatus(deps, changed.id, 'past_due')
    return
  }
  // The work up to here is rolled back with the transaction.
  throw attempt.status === 'failed' ? new Fault(402, attempt.error) : toBeConfirmed()
}

function notPaid(deps: ProcessorDeps, { id }: Stripe.Subscription): Fault {
  const waits = openInvoices(deps, id).some(
    (one) =>
      get<Stripe.PaymentIntent>(deps.db, intentOf(deps, one.id))?.status === 'requires_action',
  )
  if (waits) return toBeConfirmed()
  return new Fault(402, {
    type: 'card_error',
    code: 'card_declined',
    message: 'Your card was declined.',
  })
}

const toBeConfirmed = () =>
  new Fault(402, {
    type: 'card_error',
    code: 'subscription_payment_intent_requires_action',
    message:
      'Payment for this subscription requires additional user action before it can be completed successfully.',
  })

/** At once; with `prorate`, what is left of the paid period is the customer's, for the next invoice. */
export function cancelSubscription(
  deps: ProcessorDeps,
  id: string,
  form: Form,
): Stripe.Subscription {
  played(form, ['prorate', 'invoice_now', 'cancellation_details'])
  const before = must<Stripe.Subscription>(deps.db, 'subscription', id)
  if (!isOver(before))
    put(deps.db, { ...before, cancellation_details: detailsIn(before, form, true) })
  const at = seconds(deps)
  const { pending = [] } = sideOf<SubscriptionSide>(deps.db, id)
  const unused =
    flag(form, 'prorate') && before.status === 'active'
      ? before.items.data
          .map((item) => unusedOf(deps, item, at))
          .filter(({ amount }) => amount !== 0)
      : []
  return cancelNow(deps, id, { lines: [...(flag(form, 'invoice_now') ? pending : []), ...unused] })
}

/** The values before the change, as in `previous_attributes` of an event. */
function differences(before: Stripe.Subscription, after: Stripe.Subscription): object {
  const changed = Object.entries(before).filter(
    ([name, value]) =>
      JSON.stringify(value) !== JSON.stringify(after[name as keyof Stripe.Subscription]),
  )
  return Object.fromEntries(changed)
}
