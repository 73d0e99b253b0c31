/**
 * Changes of a subscription through the API: plan, end, trial, discounts, collection. Prorations
 * are billed on the next invoice unless the call requests them immediately.
 */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { grantDiscount, readOffers } from './discounts.ts'
import { emit } from './events.ts'
import { badParameter, Fault } from './fault.ts'
import { collect, findIntentId } from './invoices.ts'
import { get, getExisting, put } from './objects.ts'
import {
  allowSupported,
  flag,
  group,
  groups,
  integer,
  mergeMetadata,
  optionalText,
  text,
} from './parameters.ts'
import { findMethod } from './payment-methods.ts'
import { changeItems, creditLine, readProration, selectDueLines } from './proration.ts'
import { cancelNow, createBill, hasEnded, openInvoices, renew, setStatus } from './subscriptions.ts'

export function updateSubscription(
  deps: ProcessorDeps,
  id: string,
  form: Form,
): Stripe.Subscription {
  allowSupported(form, [
    'cancel_at',
    'cancel_at_period_end',
    'cancellation_details',
    'discounts',
    'items',
    'metadata',
    'pause_collection',
    'payment_behavior',
    'proration_behavior',
    'proration_date',
    'trial_end',
  ])
  const before = getExisting(deps, 'subscription', id)
  const isOnlyWords = Object.keys(form).every((name) =>
    ['cancellation_details', 'metadata', 'expand'].includes(name),
  )
  if (hasEnded(before) && !isOnlyWords) {
    throw badParameter(
      'id',
      'A canceled subscription can only update its cancellation_details and metadata.',
      'resource_missing',
    )
  }
  const after = withFields(deps, before, form)
  put(deps, after)
  const changes = groups(form, 'items')
  if (changes.length > 0) billChange(deps, after, changes, form)
  const now = getExisting(deps, 'subscription', id)
  emit(deps, 'customer.subscription.updated', now, differences(before, now))
  if (form.trial_end !== 'now' || before.status !== 'trialing') return now
  const begun = renew(deps, id, true)
  if (form.payment_behavior === 'error_if_incomplete' && begun.status === 'past_due')
    throw explainUnpaid(deps, begun)
  return begun
}

function withFields(
  deps: ProcessorDeps,
  before: Stripe.Subscription,
  form: Form,
): Stripe.Subscription {
  return {
    ...before,
    ...readEnding(deps, before, form),
    ...endTrial(deps, before, form),
    discounts: readDiscounts(deps, before, form),
    metadata: mergeMetadata(before.metadata, form.metadata),
    pause_collection: readPause(before, form),
  }
}

/** Reads when the subscription ends, and why. An empty `cancel_at` removes an end. */
function readEnding(
  deps: ProcessorDeps,
  before: Stripe.Subscription,
  form: Form,
): Partial<Stripe.Subscription> {
  if (form.cancel_at !== undefined && form.cancel_at !== '')
    throw badParameter('cancel_at', 'The sandbox supports only an empty cancel_at.')
  const isKept = form.cancel_at === undefined && form.cancel_at_period_end === undefined
  const atEnd = flag(form, 'cancel_at_period_end', isKept && before.cancel_at_period_end)
  const periodEnd = before.items.data[0]?.current_period_end ?? null
  const end = isKept ? before.cancel_at : atEnd ? periodEnd : null
  const isEnding = hasEnded(before) || end !== null
  return {
    cancel_at_period_end: atEnd,
    cancel_at: end,
    canceled_at: isEnding ? (before.canceled_at ?? seconds(deps)) : null,
    cancellation_details: readCancellationDetails(before, form, isEnding),
  }
}

function readCancellationDetails(
  before: Stripe.Subscription,
  form: Form,
  isEnding: boolean,
): Stripe.Subscription.CancellationDetails {
  const details = group(form, 'cancellation_details')
  allowSupported(details, ['comment', 'feedback'], 'cancellation_details')
  const { comment = null, feedback = null, reason = null } = before.cancellation_details ?? {}
  const reasonCode = optionalText(details, 'feedback', feedback)
  return {
    ...before.cancellation_details,
    comment: optionalText(details, 'comment', comment),
    feedback: reasonCode as Stripe.Subscription.CancellationDetails.Feedback | null,
    reason: isEnding ? (reason ?? 'cancellation_requested') : null,
  } as Stripe.Subscription.CancellationDetails
}

/** `trial_end=now` ends a running trial. */
function endTrial(
  deps: ProcessorDeps,
  before: Stripe.Subscription,
  form: Form,
): Partial<Stripe.Subscription> {
  const end = optionalText(form, 'trial_end')
  if (end === null) return {}
  if (end !== 'now') throw badParameter('trial_end', 'The sandbox supports only `now`.')
  if (before.status !== 'trialing') return {}
  const at = seconds(deps)
  const data = before.items.data.map((item) => ({ ...item, current_period_end: at }))
  return { trial_end: at, items: { ...before.items, data } }
}

/** A list replaces the existing one; an empty list removes all. */
function readDiscounts(
  deps: ProcessorDeps,
  before: Stripe.Subscription,
  form: Form,
): Stripe.Subscription['discounts'] {
  if (form.discounts === undefined) return before.discounts
  const customer = String(before.customer)
  const offers = readOffers(deps, form, { currency: before.currency })
  return offers.map(
    (offer) => grantDiscount(deps, offer, { customer, subscription: before.id, session: null }).id,
  )
}

function readPause(
  before: Stripe.Subscription,
  form: Form,
): Stripe.Subscription.PauseCollection | null {
  if (form.pause_collection === undefined) return before.pause_collection
  if (form.pause_collection === '') return null
  const pause = group(form, 'pause_collection')
  allowSupported(pause, ['behavior'], 'pause_collection')
  const behavior = text(pause, 'behavior')
  if (behavior !== 'void' && behavior !== 'keep_as_draft')
    throw badParameter('pause_collection[behavior]', 'Must be void or keep_as_draft.')
  return { behavior, resumes_at: null }
}

function billChange(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  changes: Form[],
  form: Form,
): void {
  const behavior = readProration(form)
  const at = integer(form, 'proration_date') ?? seconds(deps)
  const { items, lines } = changeItems(deps, subscription, changes, at)
  const changed: Stripe.Subscription = {
    ...subscription,
    items: { ...subscription.items, data: items },
    // An end at the period's end follows the period, which another interval moves.
    ...(subscription.cancel_at_period_end
      ? { cancel_at: items[0]?.current_period_end ?? null }
      : {}),
  }
  put(deps, changed)
  const due = selectDueLines(subscription, behavior, lines)
  if (due.length > 0) collectChange(deps, changed, due, form)
}

/** `payment_behavior=error_if_incomplete`: a refused card leaves everything as it was. */
function collectChange(
  deps: ProcessorDeps,
  changed: Stripe.Subscription,
  lines: Parameters<typeof createBill>[3],
  form: Form,
): void {
  const behavior = optionalText(form, 'payment_behavior') ?? 'allow_incomplete'
  if (behavior !== 'allow_incomplete' && behavior !== 'error_if_incomplete')
    throw badParameter('payment_behavior', `The sandbox does not play ${behavior}.`)
  const invoice = createBill(deps, changed, 'subscription_update', lines)
  put(deps, { ...getExisting(deps, 'subscription', changed.id), latest_invoice: invoice.id })
  const attempt = collect(deps, invoice.id, findMethod(deps, changed), false)
  if (attempt.status !== 'failed' && attempt.status !== 'requires_action') return
  if (behavior === 'allow_incomplete') {
    setStatus(deps, changed.id, 'past_due')
    return
  }
  // The work up to here is rolled back with the transaction.
  throw attempt.status === 'failed' ? new Fault(402, attempt.error) : confirmationRequired()
}

function explainUnpaid(deps: ProcessorDeps, { id }: Stripe.Subscription): Fault {
  const waits = openInvoices(deps, id).some(
    (one) =>
      get<Stripe.PaymentIntent>(deps, findIntentId(deps, one.id))?.status === 'requires_action',
  )
  if (waits) return confirmationRequired()
  return new Fault(402, {
    type: 'card_error',
    code: 'card_declined',
    message: 'Your card was declined.',
  })
}

const confirmationRequired = () =>
  new Fault(402, {
    type: 'card_error',
    code: 'subscription_payment_intent_requires_action',
    message:
      'Payment for this subscription requires additional user action before it can be completed successfully.',
  })

/** Cancels at once. With `prorate`, the rest of the paid period is credited on the next invoice. */
export function cancelSubscription(
  deps: ProcessorDeps,
  id: string,
  form: Form,
): Stripe.Subscription {
  allowSupported(form, ['prorate', 'invoice_now', 'cancellation_details'])
  const before = getExisting(deps, 'subscription', id)
  if (!hasEnded(before))
    put(deps, { ...before, cancellation_details: readCancellationDetails(before, form, true) })
  const at = seconds(deps)
  const unused =
    flag(form, 'prorate') && before.status === 'active'
      ? before.items.data
          .map((item) => creditLine(deps, item, at))
          .filter(({ amount }) => amount !== 0)
      : []
  return cancelNow(deps, id, { lines: unused })
}

/** The values before the change, as in `previous_attributes` of an event. */
function differences(before: Stripe.Subscription, after: Stripe.Subscription): object {
  const changed = Object.entries(before).filter(
    ([name, value]) =>
      JSON.stringify(value) !== JSON.stringify(after[name as keyof Stripe.Subscription]),
  )
  return Object.fromEntries(changed)
}
