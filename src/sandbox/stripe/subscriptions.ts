/** Subscriptions: started by a checkout, renewed by a button, changed and cancelled over the API or the portal. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { productName } from './catalogue.ts'
import { defaultMethod } from './customers.ts'
import { emit } from './events.ts'
import { badParameter, Fault } from './fault.ts'
import { collect, type Line, newInvoice, subscriptionOf, voidInvoice } from './invoices.ts'
import { all, get, must, mustParam, newId, put } from './objects.ts'
import { allow, flag, groups, integer, mergeMetadata, optionalText } from './parameters.ts'
import type { Attempt } from './payments.ts'
import { addInterval, remainingShare } from './periods.ts'
import { type NewSubscription, newItem, newSubscription, planOf } from './subscription-object.ts'
import { seconds, type World } from './world.ts'

const DAY_S = 24 * 3_600

/** Bills the first period, or begins a trial. A bank debit leaves the subscription `incomplete` until the bank has spoken. */
export function startSubscription(
  world: World,
  wanted: NewSubscription,
): { subscription: Stripe.Subscription; invoice: Stripe.Invoice; attempt: Attempt } {
  const id = newId('sub')
  const at = seconds(world)
  const trialEnd = wanted.trialDays > 0 ? at + wanted.trialDays * DAY_S : null
  const items = wanted.lines.map(({ price, quantity }) => newItem(world, id, price, quantity, at, trialEnd))
  const fresh = newSubscription(id, at, wanted, items, trialEnd)
  put(world.db, fresh, { owner: wanted.customer })

  const invoice = newInvoice(
    world,
    fresh,
    'subscription_create',
    items.map((item) => (trialEnd === null ? wholePeriod(world, item) : freePeriod(world, item))),
    wanted.coupon,
  )
  const started: Stripe.Subscription = { ...fresh, latest_invoice: invoice.id }
  put(world.db, started)
  emit(world, 'customer.subscription.created', started)
  const attempt = collect(world, invoice.id, wanted.method, true)

  if (attempt.status === 'succeeded' && trialEnd === null) setStatus(world, id, 'active')
  return { subscription: must(world.db, 'subscription', id), invoice: must(world.db, 'invoice', invoice.id), attempt }
}

/** Changes the status, says so, and stamps the end where it is one. */
export function setStatus(
  world: World,
  id: string,
  status: 'active' | 'past_due' | 'unpaid' | 'incomplete_expired' | 'paused',
): Stripe.Subscription {
  const before = must<Stripe.Subscription>(world.db, 'subscription', id)
  if (before.status === status) return before
  const ended = status === 'incomplete_expired' ? seconds(world) : before.ended_at
  const after: Stripe.Subscription = { ...before, status, ended_at: ended }
  put(world.db, after)
  emit(world, 'customer.subscription.updated', after, { status: before.status })
  return after
}

/** With `prorate`, what is left of the paid period becomes the customer's balance. */
export function cancelNow(world: World, id: string, { prorate = false } = {}): Stripe.Subscription {
  const before = must<Stripe.Subscription>(world.db, 'subscription', id)
  if (isOver(before))
    throw new Fault(404, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `No such subscription: '${id}'`,
      param: 'id',
    })
  const at = seconds(world)
  const after: Stripe.Subscription = {
    ...before,
    status: 'canceled',
    canceled_at: before.canceled_at ?? at,
    ended_at: at,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: 'cancellation_requested' },
  }
  put(world.db, after)
  for (const invoice of openInvoices(world, id)) voidInvoice(world, invoice.id)
  if (prorate && before.status === 'active') credit(world, before, at)
  emit(world, 'customer.subscription.deleted', after)
  return after
}

/** `cancel_at_period_end`, `items[0][id, price, quantity]`, `metadata`, `proration_behavior`, `default_payment_method`. */
export function updateSubscription(world: World, id: string, form: Form): Stripe.Subscription {
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
  const before = must<Stripe.Subscription>(world.db, 'subscription', id)
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
    canceled_at: atEnd ? (before.canceled_at ?? seconds(world)) : null,
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
  put(world.db, after)

  const changes = groups(form, 'items')
  if (changes.length === 0) {
    emit(world, 'customer.subscription.updated', after, {
      cancel_at_period_end: before.cancel_at_period_end,
      cancel_at: before.cancel_at,
    })
    return after
  }
  return changeItems(world, after, changes, optionalText(form, 'proration_behavior') !== 'none')
}

/** Upgrades are billed for what is left of the period; what a downgrade saves becomes the customer's balance. */
function changeItems(
  world: World,
  subscription: Stripe.Subscription,
  changes: Form[],
  prorate: boolean,
): Stripe.Subscription {
  const now = seconds(world)
  const lines: Line[] = []
  const items = subscription.items.data.map((item) => {
    const change =
      changes.find((one) => optionalText(one, 'id') === item.id) ??
      (changes.length === 1 && !changes[0]?.id ? changes[0] : undefined)
    if (!change) return item
    const priceId = optionalText(change, 'price') ?? item.price.id
    const price = mustParam<Stripe.Price>(world.db, 'price', priceId, 'items[0][price]')
    const quantity = integer(change, 'quantity') ?? item.quantity ?? 1
    const sameInterval = price.recurring?.interval === item.price.recurring?.interval
    const from = sameInterval ? item.current_period_start : now
    const to = sameInterval || !price.recurring ? item.current_period_end : addInterval(now, price.recurring)

    const ahead = remainingShare(item.current_period_start, item.current_period_end, now)
    const unused = -Math.round((item.price.unit_amount ?? 0) * (item.quantity ?? 1) * ahead)
    const due = Math.round((price.unit_amount ?? 0) * quantity * (sameInterval ? ahead : 1))
    const line = { item: item.id, from: now, to, proration: true, quantity }
    lines.push(
      { ...line, price: item.price, amount: unused, description: `Unused time on ${productName(world, item.price)}` },
      { ...line, price, amount: due, description: `Remaining time on ${productName(world, price)}` },
    )
    return { ...item, price, plan: planOf(price), quantity, current_period_start: from, current_period_end: to }
  })
  const before = { items: subscription.items }
  const changed: Stripe.Subscription = { ...subscription, items: { ...subscription.items, data: items } }
  put(world.db, changed)

  const sum = lines.reduce((all, line) => all + line.amount, 0)
  if (prorate && sum > 0 && subscription.status === 'active') {
    const invoice = newInvoice(world, changed, 'subscription_update', lines)
    put(world.db, { ...changed, latest_invoice: invoice.id })
    if (collect(world, invoice.id, methodOf(world, changed), false).status === 'failed') {
      setStatus(world, subscription.id, 'past_due')
    }
  }
  if (prorate && sum < 0 && subscription.status === 'active') {
    const customer = must<Stripe.Customer>(world.db, 'customer', String(subscription.customer))
    put(world.db, { ...customer, balance: customer.balance + sum })
  }
  const after = must<Stripe.Subscription>(world.db, 'subscription', subscription.id)
  emit(world, 'customer.subscription.updated', after, before)
  return after
}

/** The end of the period comes at once: the next one is billed, or the subscription ends where that was asked for. */
export function renew(world: World, id: string, succeeds: boolean): Stripe.Subscription {
  const before = must<Stripe.Subscription>(world.db, 'subscription', id)
  if (isOver(before) || before.status === 'incomplete' || before.status === 'paused')
    throw badParameter('id', 'Only a live subscription renews.')
  if (before.cancel_at_period_end) return cancelNow(world, id)

  const items = before.items.data.map((item) => ({
    ...item,
    current_period_start: item.current_period_end,
    current_period_end: item.price.recurring
      ? addInterval(item.current_period_end, item.price.recurring)
      : item.current_period_end,
  }))
  const moved: Stripe.Subscription = { ...before, items: { ...before.items, data: items } }
  const invoice = newInvoice(
    world,
    moved,
    'subscription_cycle',
    items.map((item) => wholePeriod(world, item)),
  )
  put(world.db, { ...moved, latest_invoice: invoice.id })
  emit(
    world,
    'customer.subscription.updated',
    { ...moved, latest_invoice: invoice.id },
    { items: before.items, latest_invoice: before.latest_invoice },
  )

  const attempt = collect(world, invoice.id, succeeds ? methodOf(world, moved) : undefined, false)
  return setStatus(
    world,
    id,
    attempt.status === 'succeeded' && openInvoices(world, id).length === 0 ? 'active' : 'past_due',
  )
}

/** Nothing is billed while it is paused; resuming bills nothing for the time between. */
export function pause(world: World, id: string): Stripe.Subscription {
  mustRun(world, id, 'pause')
  const paused = setStatus(world, id, 'paused')
  emit(world, 'customer.subscription.paused', paused)
  return paused
}

export function resumePaused(world: World, id: string): Stripe.Subscription {
  const { status } = must<Stripe.Subscription>(world.db, 'subscription', id)
  if (status !== 'paused')
    throw badParameter('id', `You can only resume subscriptions which are paused, not ${status}.`)
  const resumed = setStatus(world, id, 'active')
  emit(world, 'customer.subscription.resumed', resumed)
  return resumed
}

/** The processor has tried often enough, and the account is set to leave the subscription `unpaid`. */
export function giveUp(world: World, id: string): Stripe.Subscription {
  const { status } = mustRun(world, id, 'mark unpaid')
  if (status !== 'past_due') renew(world, id, false)
  return setStatus(world, id, 'unpaid')
}

function mustRun(world: World, id: string, what: string): Stripe.Subscription {
  const subscription = must<Stripe.Subscription>(world.db, 'subscription', id)
  if (isOver(subscription) || subscription.status === 'incomplete' || subscription.status === 'paused') {
    throw badParameter('id', `You cannot ${what} a subscription that is ${subscription.status}.`)
  }
  return subscription
}

/** Collects what is open, with the card of today. */
export function retryPayment(world: World, id: string): Attempt {
  const subscription = must<Stripe.Subscription>(world.db, 'subscription', id)
  let last: Attempt = { status: 'succeeded' }
  for (const invoice of openInvoices(world, id)) {
    last = collect(world, invoice.id, methodOf(world, subscription), false)
    if (last.status !== 'succeeded') return last
  }
  setStatus(world, id, 'active')
  return last
}

export const isOver = (subscription: Stripe.Subscription) =>
  subscription.status === 'canceled' || subscription.status === 'incomplete_expired'

function openInvoices(world: Pick<World, 'db'>, subscriptionId: string): Stripe.Invoice[] {
  const subscription = must<Stripe.Subscription>(world.db, 'subscription', subscriptionId)
  return all<Stripe.Invoice>(world.db, 'invoice', String(subscription.customer)).filter(
    (invoice) => subscriptionOf(invoice) === subscriptionId && invoice.status === 'open',
  )
}

function methodOf(world: World, subscription: Stripe.Subscription): Stripe.PaymentMethod | undefined {
  const id = subscription.default_payment_method
  return (
    (typeof id === 'string' && get<Stripe.PaymentMethod>(world.db, id)) ||
    defaultMethod(world, String(subscription.customer))
  )
}

function credit(world: World, { customer: id, items }: Stripe.Subscription, at: number): void {
  const unused = items.data.reduce((sum, { price, quantity, current_period_start: from, current_period_end: to }) => {
    return sum + Math.round((price.unit_amount ?? 0) * (quantity ?? 1) * remainingShare(from, to, at))
  }, 0)
  const customer = must<Stripe.Customer>(world.db, 'customer', String(id))
  put(world.db, { ...customer, balance: customer.balance - unused })
}

function freePeriod(world: World, item: Stripe.SubscriptionItem): Line {
  return { ...wholePeriod(world, item), amount: 0, description: `Trial period for ${productName(world, item.price)}` }
}

function wholePeriod(world: World, item: Stripe.SubscriptionItem): Line {
  return {
    description: productName(world, item.price),
    amount: (item.price.unit_amount ?? 0) * (item.quantity ?? 1),
    price: item.price,
    item: item.id,
    from: item.current_period_start,
    to: item.current_period_end,
    proration: false,
    quantity: item.quantity ?? 1,
  }
}
