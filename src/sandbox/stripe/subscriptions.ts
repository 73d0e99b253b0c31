/**
 * Subscriptions: started by a checkout or over the API, renewed as time passes, paused, and ended.
 */
import type { Stripe } from 'stripe'
import { type Db, type ProcessorDeps, seconds } from './deps.ts'
import { findDiscounts, grantDiscount } from './discounts.ts'
import { emit, save } from './events.ts'
import { badParameter, missingObject } from './fault.ts'
import { type Line, periodLine, trialLine } from './invoice-lines.ts'
import {
  collect,
  createDraft,
  createInvoice,
  markPaid,
  readSubscriptionId,
  voidInvoice,
} from './invoices.ts'
import { findOpenInvoices, get, getExisting, getSide, newId, put } from './objects.ts'
import { findMethod } from './payment-methods.ts'
import type { Attempt } from './payments.ts'
import { addPeriod } from './periods.ts'
import { type NewSubscription, newItem, newSubscription } from './subscription-object.ts'
import { taxTerms } from './tax.ts'

/** Internal fields of a subscription. */
export type SubscriptionSide = {
  /** Paused, and resumed with these items once that invoice is paid. */
  resumes?: { invoice: string; items: Stripe.SubscriptionItem[]; at: number }
  /** The ends of the trial and of the period that were already announced. */
  trialEndTold?: number
  periodEndTold?: number
}

export type Started = {
  subscription: Stripe.Subscription
  invoice: Stripe.Invoice
  attempt: Attempt
}

/**
 * Bills the first period, or starts a trial. With a bank debit the subscription is `incomplete`
 * until the debit settles.
 */
export function startSubscription(deps: ProcessorDeps, wanted: NewSubscription): Started {
  const id = newId('sub')
  const at = seconds(deps)
  const { trialEnd } = wanted
  const items = wanted.lines.map(({ price, quantity }) =>
    newItem(deps, id, price, quantity, at, trialEnd),
  )
  const bare = newSubscription(id, at, wanted, items)
  const to = { customer: wanted.customer, subscription: id, session: wanted.session }
  const discounts = wanted.offers.map((offer) => grantDiscount(deps, offer, to))
  const fresh: Stripe.Subscription = { ...bare, discounts: discounts.map((one) => one.id) }
  put(deps, fresh, { owner: wanted.customer, side: {} })

  const lines = items.map((item) =>
    trialEnd === null ? periodLine(deps, item) : trialLine(deps, item),
  )
  const invoice = createBill(deps, fresh, 'subscription_create', lines)
  const started = { ...getExisting(deps, 'subscription', id), latest_invoice: invoice.id }
  save(deps, 'customer.subscription.created', started)
  const attempt = collect(deps, invoice.id, wanted.method, true)

  if (attempt.status === 'succeeded' && trialEnd === null) setStatus(deps, id, 'active')
  return {
    subscription: getExisting(deps, 'subscription', id),
    invoice: getExisting(deps, 'invoice', invoice.id),
    attempt,
  }
}

/** Creates an open invoice of a subscription, with its discounts. */
export function createBill(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update',
  lines: readonly Line[],
): Stripe.Invoice {
  return createInvoice(deps, buildBill(deps, subscription, reason, lines))
}

export function buildBill(
  deps: Pick<ProcessorDeps, 'db' | 'clock'>,
  subscription: Stripe.Subscription,
  reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update',
  lines: readonly Line[],
) {
  const customer = String(subscription.customer)
  return {
    customer,
    currency: subscription.currency,
    reason,
    lines,
    discounts: findDiscounts(deps, subscription, seconds(deps)),
    subscription,
    tax: taxTerms(deps, subscription.automatic_tax.enabled, customer),
  }
}

/** Changes the status, emits the event, and sets the end time of a final status. */
export function setStatus(
  deps: ProcessorDeps,
  id: string,
  status: 'active' | 'past_due' | 'unpaid' | 'incomplete_expired' | 'paused',
): Stripe.Subscription {
  const before = getExisting(deps, 'subscription', id)
  if (before.status === status) return before
  const ended = status === 'incomplete_expired' ? seconds(deps) : before.ended_at
  const { status_details: _, ...kept } = before
  const after: Stripe.Subscription = {
    ...kept,
    status,
    ended_at: ended,
    ...describePause(deps, before, status),
  }
  save(deps, 'customer.subscription.updated', after, { previous: { status: before.status } })
  return after
}

/** The reason and the start of the pause. */
function describePause(
  deps: ProcessorDeps,
  before: Stripe.Subscription,
  status: Stripe.Subscription.Status,
) {
  if (status !== 'paused') return {}
  const type = before.status === 'trialing' ? 'trial_end_without_payment_method' : 'pause_requested'
  const paused = {
    subscription: { type },
    transitioned_at: seconds(deps),
    type: 'subscription',
  } as const
  return { status_details: { paused } satisfies Stripe.Subscription.StatusDetails }
}

type Ending = { reason?: Stripe.Subscription.CancellationDetails.Reason; lines?: readonly Line[] }

/** Voids its open invoices. `lines`: credits for the rest of its period on a last invoice. */
export function cancelNow(
  deps: ProcessorDeps,
  id: string,
  { reason, lines = [] }: Ending = {},
): Stripe.Subscription {
  const before = getExisting(deps, 'subscription', id)
  if (hasEnded(before)) throw missingObject('subscription', id)
  const at = seconds(deps)
  for (const invoice of openInvoices(deps, id)) voidInvoice(deps, invoice.id)
  if (lines.length > 0) markPaid(deps, createBill(deps, before, 'subscription_update', lines).id)
  const after: Stripe.Subscription = {
    ...getExisting(deps, 'subscription', id),
    status: 'canceled',
    canceled_at: before.canceled_at ?? at,
    ended_at: at,
    cancellation_details: {
      ...before.cancellation_details,
      comment: before.cancellation_details?.comment ?? null,
      feedback: before.cancellation_details?.feedback ?? null,
      reason: reason ?? before.cancellation_details?.reason ?? 'cancellation_requested',
    } as Stripe.Subscription.CancellationDetails,
  }
  save(deps, 'customer.subscription.deleted', after)
  return after
}

/** Ends the period or the trial: bills the next period, or ends the subscription if requested. */
export function renew(deps: ProcessorDeps, id: string, succeeds: boolean): Stripe.Subscription {
  const before = getExisting(deps, 'subscription', id)
  if (hasEnded(before) || before.status === 'incomplete' || before.status === 'paused')
    throw badParameter('id', 'Only a live subscription renews.')
  if (before.cancel_at_period_end) return cancelNow(deps, id)
  const method = findMethod(deps, before)
  if (before.status === 'trialing' && !method)
    return cancelNow(deps, id, { reason: 'payment_failed' })

  const items = before.items.data.map((item) => ({
    ...item,
    current_period_start: item.current_period_end,
    current_period_end: addPeriod(item.current_period_end, item.price),
  }))
  const moved: Stripe.Subscription = { ...before, items: { ...before.items, data: items } }
  put(deps, moved)
  const lines = items.map((item) => periodLine(deps, item))
  if (before.status === 'unpaid' || before.pause_collection)
    return billWithoutCharge(deps, moved, before, lines)

  const invoice = createBill(deps, moved, 'subscription_cycle', lines)
  announcePeriod(deps, id, before, invoice.id)
  const attempt = collect(deps, invoice.id, succeeds ? method : undefined, false)
  const isPaid = attempt.status === 'succeeded' && openInvoices(deps, id).length === 0
  return setStatus(deps, id, isPaid ? 'active' : 'past_due')
}

/** While collection is given up or paused, the period's invoice is a draft or void. */
function billWithoutCharge(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  before: Stripe.Subscription,
  lines: readonly Line[],
): Stripe.Subscription {
  const { id } = subscription
  const made = buildBill(deps, subscription, 'subscription_cycle', lines)
  const isVoid = subscription.pause_collection?.behavior === 'void'
  const invoice = isVoid ? createInvoice(deps, made) : createDraft(deps, made)
  if (isVoid) voidInvoice(deps, invoice.id)
  announcePeriod(deps, id, before, invoice.id)
  return before.status === 'unpaid'
    ? getExisting(deps, 'subscription', id)
    : setStatus(deps, id, 'active')
}

function announcePeriod(
  deps: ProcessorDeps,
  id: string,
  before: Stripe.Subscription,
  invoice: string,
): void {
  const now = { ...getExisting(deps, 'subscription', id), latest_invoice: invoice }
  save(deps, 'customer.subscription.updated', now, {
    previous: { items: before.items, latest_invoice: before.latest_invoice },
  })
}

/** Nothing is billed while it is paused; resuming bills nothing for the time between. */
export function pause(deps: ProcessorDeps, id: string): Stripe.Subscription {
  requireRunning(deps, id, 'pause')
  const paused = setStatus(deps, id, 'paused')
  emit(deps, 'customer.subscription.paused', paused)
  return paused
}

/** Does not bill a period that has passed meanwhile; the next one starts now. */
export function resumePaused(deps: ProcessorDeps, id: string): Stripe.Subscription {
  const { status } = getExisting(deps, 'subscription', id)
  if (status !== 'paused')
    throw badParameter('id', `You can only resume subscriptions which are paused, not ${status}.`)
  const at = seconds(deps)
  const resumed = setStatus(deps, id, 'active')
  const isOpen = resumed.items.data.every((item) => item.current_period_end > at)
  if (!isOpen) {
    const items = resumed.items.data.map((item) => ({ ...item, current_period_end: at }))
    put(deps, { ...resumed, items: { ...resumed.items, data: items } })
  }
  emit(deps, 'customer.subscription.resumed', resumed)
  return isOpen ? resumed : renew(deps, id, true)
}

/** Ends the retries. The account setting then marks the subscription `unpaid`. */
export function markUnpaid(deps: ProcessorDeps, id: string): Stripe.Subscription {
  const { status } = requireRunning(deps, id, 'mark unpaid')
  if (status !== 'past_due') renew(deps, id, false)
  return setStatus(deps, id, 'unpaid')
}

function requireRunning(deps: ProcessorDeps, id: string, what: string): Stripe.Subscription {
  const subscription = getExisting(deps, 'subscription', id)
  if (
    hasEnded(subscription) ||
    subscription.status === 'incomplete' ||
    subscription.status === 'paused'
  ) {
    throw badParameter('id', `You cannot ${what} a subscription that is ${subscription.status}.`)
  }
  return subscription
}

/** Expires a subscription whose first payment was never made. */
export function expireIncomplete(deps: ProcessorDeps, invoice: Stripe.Invoice): void {
  voidInvoice(deps, invoice.id)
  setStatus(deps, readSubscriptionId(invoice), 'incomplete_expired')
}

/** Pays open invoices with the current card. */
export function retryPayment(deps: ProcessorDeps, id: string): Attempt {
  let last: Attempt = { status: 'succeeded' }
  for (const invoice of openInvoices(deps, id)) {
    last = retryInvoice(
      deps,
      invoice,
      findMethod(deps, getExisting(deps, 'subscription', id)),
      false,
    )
    if (last.status !== 'succeeded') return last
  }
  setStatus(deps, id, 'active')
  return last
}

/** Retries an open invoice. Once none is open, its subscription is active again. */
export function retryInvoice(
  deps: ProcessorDeps,
  invoice: Stripe.Invoice,
  method: Stripe.PaymentMethod | undefined,
  present: boolean,
): Attempt {
  const attempt = collect(deps, invoice.id, method, present)
  if (attempt.status === 'succeeded') applyPaidInvoice(deps, invoice)
  return attempt
}

/**
 * Handles a paid invoice: once none is open, the subscription is active, and a pending resumption
 * completes.
 */
export function applyPaidInvoice(deps: ProcessorDeps, invoice: Stripe.Invoice): void {
  const subscription = get<Stripe.Subscription>(deps, readSubscriptionId(invoice))
  if (!subscription) return
  const { id, status } = subscription
  const isOwing = ['past_due', 'unpaid', 'incomplete'].includes(status)
  if (isOwing && openInvoices(deps, id).length === 0) setStatus(deps, id, 'active')
  const { resumes, ...side } = getSide<SubscriptionSide>(deps, id)
  if (status !== 'paused' || resumes?.invoice !== invoice.id) return
  const items = { ...subscription.items, data: resumes.items }
  put(deps, { ...subscription, items, billing_cycle_anchor: resumes.at }, { side })
  emit(deps, 'customer.subscription.resumed', setStatus(deps, id, 'active'))
}

export const hasEnded = (subscription: Stripe.Subscription) =>
  subscription.status === 'canceled' || subscription.status === 'incomplete_expired'

export function openInvoices(deps: Db, subscriptionId: string): Stripe.Invoice[] {
  const subscription = getExisting(deps, 'subscription', subscriptionId)
  return findOpenInvoices(deps.db, String(subscription.customer)).filter(
    (invoice) => readSubscriptionId(invoice) === subscriptionId,
  )
}
