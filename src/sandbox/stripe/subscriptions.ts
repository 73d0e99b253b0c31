/** Subscriptions: started by a checkout, renewed by a button, changed and cancelled over the API or the portal. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { productName } from './catalogue.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { emit } from './events.ts'
import { badParameter, Fault } from './fault.ts'
import { collect, type Line, newInvoice, subscriptionOf, voidInvoice } from './invoices.ts'
import { all, get, must, mustParam, newId, put } from './objects.ts'
import { allow, flag, groups, integer, mergeMetadata, optionalText } from './parameters.ts'
import { defaultMethod } from './payment-methods.ts'
import type { Attempt } from './payments.ts'
import { addInterval, remainingShare } from './periods.ts'
import { type NewSubscription, newItem, newSubscription, planOf } from './subscription-object.ts'

const DAY_S = 24 * 3_600

/** Bills the first period, or begins a trial. A bank debit leaves the subscription `incomplete` until the bank has spoken. */
export function startSubscription(
  deps: ProcessorDeps,
  wanted: NewSubscription,
): { subscription: Stripe.Subscription; invoice: Stripe.Invoice; attempt: Attempt } {
  const id = newId('sub')
  const at = seconds(deps)
  const trialEnd = wanted.trialDays > 0 ? at + wanted.trialDays * DAY_S : null
  const items = wanted.lines.map(({ price, quantity }) => newItem(deps, id, price, quantity, at, trialEnd))
  const fresh = newSubscription(id, at, wanted, items, trialEnd)
  put(deps.db, fresh, { owner: wanted.customer })

  const invoice = newInvoice(
    deps,
    fresh,
    'subscription_create',
    items.map((item) => (trialEnd === null ? wholePeriod(deps, item) : freePeriod(deps, item))),
    wanted.coupon,
  )
  const started: Stripe.Subscription = { ...fresh, latest_invoice: invoice.id }
  put(deps.db, started)
  emit(deps, 'customer.subscription.created', started)
  const attempt = collect(deps, invoice.id, wanted.method, true)

  if (attempt.status === 'succeeded' && trialEnd === null) setStatus(deps, id, 'active')
  return { subscription: must(deps.db, 'subscription', id), invoice: must(deps.db, 'invoice', invoice.id), attempt }
}

/** Changes the status, says so, and stamps the end where it is one. */
export function setStatus(
  deps: ProcessorDeps,
  id: string,
  status: 'active' | 'past_due' | 'unpaid' | 'incomplete_expired' | 'paused',
): Stripe.Subscription {
  const before = must<Stripe.Subscription>(deps.db, 'subscription', id)
  if (before.status === status) return before
  const ended = status === 'incomplete_expired' ? seconds(deps) : before.ended_at
  const after: Stripe.Subscription = { ...before, status, ended_at: ended }
  put(deps.db, after)
  emit(deps, 'customer.subscription.updated', after, { status: before.status })
  return after
}

/** With `prorate`, what is left of the paid period becomes the customer's balance. */
export function cancelNow(deps: ProcessorDeps, id: string, { prorate = false } = {}): Stripe.Subscription {
  const before = must<Stripe.Subscription>(deps.db, 'subscription', id)
  if (isOver(before))
    throw new Fault(404, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `No such subscription: '${id}'`,
      param: 'id',
    })
  const at = seconds(deps)
  const after: Stripe.Subscription = {
    ...before,
    status: 'canceled',
    canceled_at: before.canceled_at ?? at,
    ended_at: at,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: 'cancellation_requested' },
  }
  put(deps.db, after)
  for (const invoice of openInvoices(deps, id)) voidInvoice(deps, invoice.id)
  if (prorate && before.status === 'active') credit(deps, before, at)
  emit(deps, 'customer.subscription.deleted', after)
  return after
}

/** `cancel_at_period_end`, `items[0][id, price, quantity]`, `metadata`, `proration_behavior`, `default_payment_method`. */
export function updateSubscription(deps: ProcessorDeps, id: string, form: Form): Stripe.Subscription {
  allow(form, [
    'cancel_at_period_end',
    'items',
    'metadata',
    'proration_behavior',
    'default_payment_method',
    'description',
    'payment_behavior',
    'cancellation_details',
  ])
  const before = must<Stripe.Subscription>(deps.db, 'subscription', id)
  if (isOver(before)) {
    throw badParameter(
      'id',
      'A canceled subscription can only update its cancellation_details and metadata.',
      'resource_missing',
    )
  }
  const atEnd = flag(form, 'cancel_at_period_end', before.cancel_at_period_end)
  const end = before.items.data[0]?.current_period_end ?? null
  const after: Stripe.Subscription = {
    ...before,
    cancel_at_period_end: atEnd,
    cancel_at: atEnd ? end : null,
    canceled_at: atEnd ? (before.canceled_at ?? seconds(deps)) : null,
    cancellation_details: {
      comment: null,
      feedback: null,
      feedback_option: null,
      reason: atEnd ? 'cancellation_requested' : null,
    },
    description: optionalText(form, 'description', before.description),
    default_payment_method: optionalText(
      form,
      'default_payment_method',
      before.default_payment_method as string | null,
    ),
    metadata: mergeMetadata(before.metadata, form.metadata),
  }
  put(deps.db, after)

  const changes = groups(form, 'items')
  if (changes.length === 0) {
    emit(deps, 'customer.subscription.updated', after, {
      cancel_at_period_end: before.cancel_at_period_end,
      cancel_at: before.cancel_at,
    })
    return after
  }
  return changeItems(deps, after, changes, optionalText(form, 'proration_behavior') !== 'none')
}

/** Upgrades are billed for what is left of the period; what a downgrade saves becomes the customer's balance. */
function changeItems(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  changes: Form[],
  prorate: boolean,
): Stripe.Subscription {
  const now = seconds(deps)
  const lines: Line[] = []
  const items = subscription.items.data.map((item) => {
    const change =
      changes.find((one) => optionalText(one, 'id') === item.id) ??
      (changes.length === 1 && !changes[0]?.id ? changes[0] : undefined)
    if (!change) return item
    const priceId = optionalText(change, 'price') ?? item.price.id
    const price = mustParam<Stripe.Price>(deps.db, 'price', priceId, 'items[0][price]')
    const quantity = integer(change, 'quantity') ?? item.quantity ?? 1
    const sameInterval = price.recurring?.interval === item.price.recurring?.interval
    const from = sameInterval ? item.current_period_start : now
    const to = sameInterval || !price.recurring ? item.current_period_end : addInterval(now, price.recurring)

    const ahead = remainingShare(item.current_period_start, item.current_period_end, now)
    const unused = -Math.round((item.price.unit_amount ?? 0) * (item.quantity ?? 1) * ahead)
    const due = Math.round((price.unit_amount ?? 0) * quantity * (sameInterval ? ahead : 1))
    const line = { item: item.id, from: now, to, proration: true, quantity }
    lines.push(
      { ...line, price: item.price, amount: unused, description: `Unused time on ${productName(deps, item.price)}` },
      { ...line, price, amount: due, description: `Remaining time on ${productName(deps, price)}` },
    )
    return { ...item, price, plan: planOf(price), quantity, current_period_start: from, current_period_end: to }
  })
  const before = { items: subscription.items }
  const changed: Stripe.Subscription = { ...subscription, items: { ...subscription.items, data: items } }
  put(deps.db, changed)

  const sum = lines.reduce((all, line) => all + line.amount, 0)
  if (prorate && sum > 0 && subscription.status === 'active') {
    const invoice = newInvoice(deps, changed, 'subscription_update', lines)
    put(deps.db, { ...changed, latest_invoice: invoice.id })
    if (collect(deps, invoice.id, methodOf(deps, changed), false).status === 'failed') {
      setStatus(deps, subscription.id, 'past_due')
    }
  }
  if (prorate && sum < 0 && subscription.status === 'active') {
    const customer = must<Stripe.Customer>(deps.db, 'customer', String(subscription.customer))
    put(deps.db, { ...customer, balance: customer.balance + sum })
  }
  const after = must<Stripe.Subscription>(deps.db, 'subscription', subscription.id)
  emit(deps, 'customer.subscription.updated', after, before)
  return after
}

/** The end of the period comes at once: the next one is billed, or the subscription ends where that was asked for. */
export function renew(deps: ProcessorDeps, id: string, succeeds: boolean): Stripe.Subscription {
  const before = must<Stripe.Subscription>(deps.db, 'subscription', id)
  if (isOver(before) || before.status === 'incomplete' || before.status === 'paused')
    throw badParameter('id', 'Only a live subscription renews.')
  if (before.cancel_at_period_end) return cancelNow(deps, id)

  const items = before.items.data.map((item) => ({
    ...item,
    current_period_start: item.current_period_end,
    current_period_end: item.price.recurring
      ? addInterval(item.current_period_end, item.price.recurring)
      : item.current_period_end,
  }))
  const moved: Stripe.Subscription = { ...before, items: { ...before.items, data: items } }
  const invoice = newInvoice(
    deps,
    moved,
    'subscription_cycle',
    items.map((item) => wholePeriod(deps, item)),
  )
  put(deps.db, { ...moved, latest_invoice: invoice.id })
  emit(
    deps,
    'customer.subscription.updated',
    { ...moved, latest_invoice: invoice.id },
    { items: before.items, latest_invoice: before.latest_invoice },
  )

  const attempt = collect(deps, invoice.id, succeeds ? methodOf(deps, moved) : undefined, false)
  return setStatus(
    deps,
    id,
    attempt.status === 'succeeded' && openInvoices(deps, id).length === 0 ? 'active' : 'past_due',
  )
}

/** Nothing is billed while it is paused; resuming bills nothing for the time between. */
export function pause(deps: ProcessorDeps, id: string): Stripe.Subscription {
  mustRun(deps, id, 'pause')
  const paused = setStatus(deps, id, 'paused')
  emit(deps, 'customer.subscription.paused', paused)
  return paused
}

export function resumePaused(deps: ProcessorDeps, id: string): Stripe.Subscription {
  const { status } = must<Stripe.Subscription>(deps.db, 'subscription', id)
  if (status !== 'paused')
    throw badParameter('id', `You can only resume subscriptions which are paused, not ${status}.`)
  const resumed = setStatus(deps, id, 'active')
  emit(deps, 'customer.subscription.resumed', resumed)
  return resumed
}

/** The processor has tried often enough, and the account is set to leave the subscription `unpaid`. */
export function giveUp(deps: ProcessorDeps, id: string): Stripe.Subscription {
  const { status } = mustRun(deps, id, 'mark unpaid')
  if (status !== 'past_due') renew(deps, id, false)
  return setStatus(deps, id, 'unpaid')
}

function mustRun(deps: ProcessorDeps, id: string, what: string): Stripe.Subscription {
  const subscription = must<Stripe.Subscription>(deps.db, 'subscription', id)
  if (isOver(subscription) || subscription.status === 'incomplete' || subscription.status === 'paused') {
    throw badParameter('id', `You cannot ${what} a subscription that is ${subscription.status}.`)
  }
  return subscription
}

/** Collects what is open, with the card of today. */
export function retryPayment(deps: ProcessorDeps, id: string): Attempt {
  const subscription = must<Stripe.Subscription>(deps.db, 'subscription', id)
  let last: Attempt = { status: 'succeeded' }
  for (const invoice of openInvoices(deps, id)) {
    last = collect(deps, invoice.id, methodOf(deps, subscription), false)
    if (last.status !== 'succeeded') return last
  }
  setStatus(deps, id, 'active')
  return last
}

export const isOver = (subscription: Stripe.Subscription) =>
  subscription.status === 'canceled' || subscription.status === 'incomplete_expired'

function openInvoices(deps: Pick<ProcessorDeps, 'db'>, subscriptionId: string): Stripe.Invoice[] {
  const subscription = must<Stripe.Subscription>(deps.db, 'subscription', subscriptionId)
  return all<Stripe.Invoice>(deps.db, 'invoice', String(subscription.customer)).filter(
    (invoice) => subscriptionOf(invoice) === subscriptionId && invoice.status === 'open',
  )
}

function methodOf(deps: ProcessorDeps, subscription: Stripe.Subscription): Stripe.PaymentMethod | undefined {
  const id = subscription.default_payment_method
  return (
    (typeof id === 'string' && get<Stripe.PaymentMethod>(deps.db, id)) ||
    defaultMethod(deps, String(subscription.customer))
  )
}

function credit(deps: ProcessorDeps, { customer: id, items }: Stripe.Subscription, at: number): void {
  const unused = items.data.reduce((sum, { price, quantity, current_period_start: from, current_period_end: to }) => {
    return sum + Math.round((price.unit_amount ?? 0) * (quantity ?? 1) * remainingShare(from, to, at))
  }, 0)
  const customer = must<Stripe.Customer>(deps.db, 'customer', String(id))
  put(deps.db, { ...customer, balance: customer.balance - unused })
}

function freePeriod(deps: ProcessorDeps, item: Stripe.SubscriptionItem): Line {
  return { ...wholePeriod(deps, item), amount: 0, description: `Trial period for ${productName(deps, item.price)}` }
}

function wholePeriod(deps: ProcessorDeps, item: Stripe.SubscriptionItem): Line {
  return {
    description: productName(deps, item.price),
    amount: (item.price.unit_amount ?? 0) * (item.quantity ?? 1),
    price: item.price,
    item: item.id,
    from: item.current_period_start,
    to: item.current_period_end,
    proration: false,
    quantity: item.quantity ?? 1,
  }
}
