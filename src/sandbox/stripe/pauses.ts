/** A subscription laid aside on request: no period runs and nothing is billed until it is resumed. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { emit } from './events.ts'
import { badParameter } from './fault.ts'
import { type Line, wholePeriod } from './invoice-lines.ts'
import { collect } from './invoices.ts'
import { must, put, sideOf } from './objects.ts'
import { group, integer, optionalText, played } from './parameters.ts'
import { methodOf } from './payment-methods.ts'
import { addInterval } from './periods.ts'
import { prorationIn, unusedOf } from './proration.ts'
import {
  bill,
  collectAgain,
  pause,
  renew,
  resumePaused,
  type SubscriptionSide,
  setStatus,
} from './subscriptions.ts'

export function pauseSubscription(
  deps: ProcessorDeps,
  id: string,
  form: Form,
): Stripe.Subscription {
  played(form, ['type', 'bill_for', 'invoicing_behavior'])
  if ((optionalText(form, 'type') ?? 'subscription') !== 'subscription')
    throw badParameter('type', 'Invalid type: must be subscription')
  const given = group(form, 'bill_for')
  // Nothing sold here is metered: there is never outstanding usage, for any request.
  played(given, ['unused_time_from', 'outstanding_usage_through'], 'bill_for')
  const unusedFrom = optionalText(group(given, 'unused_time_from'), 'type') ?? 'now'
  const before = must<Stripe.Subscription>(deps.db, 'subscription', id)
  const { current_period_start: start = 0 } = before.items.data[0] ?? {}
  const moments: Record<string, number | null> = {
    now: seconds(deps),
    item_current_period_start: start,
    none: null,
  }
  const from = moments[unusedFrom]
  if (from === undefined)
    throw badParameter('bill_for[unused_time_from][type]', `Invalid type: ${unusedFrom}`)
  const behavior = optionalText(form, 'invoicing_behavior') ?? 'pending_invoice_item'

  const paused = pause(deps, id)
  if (from === null || before.status !== 'active') return paused
  const lines = before.items.data.map((item) => unusedOf(deps, item, from))
  const side = sideOf<SubscriptionSide>(deps.db, id)
  const isNow = behavior === 'invoice'
  const pending = isNow ? side.pending : [...(side.pending ?? []), ...lines]
  put(deps.db, paused, { side: { ...side, ...(pending ? { pending } : {}), isCredited: true } })
  if (isNow)
    collect(
      deps,
      bill(deps, paused, 'subscription_update', lines).id,
      methodOf(deps, paused),
      false,
    )
  return must(deps.db, 'subscription', id)
}

/** On request, a new period begins and is billed at once; otherwise the old one continues. */
export function resumeSubscription(
  deps: ProcessorDeps,
  id: string,
  form: Form,
): Stripe.Subscription {
  played(form, ['billing_cycle_anchor', 'proration_behavior', 'proration_date', 'payment_behavior'])
  const anchor = form.billing_cycle_anchor
  const type =
    typeof anchor === 'string' ? anchor : optionalText(group(form, 'billing_cycle_anchor'), 'type')
  if (type !== null && type !== 'now' && type !== 'unchanged')
    throw badParameter('billing_cycle_anchor[type]', `Invalid type: ${type}`)
  if (type === 'unchanged') return resumePaused(deps, id)

  const before = must<Stripe.Subscription>(deps.db, 'subscription', id)
  if (before.status !== 'paused') return resumePaused(deps, id)
  const at = integer(form, 'proration_date') ?? seconds(deps)
  const { isCredited = false, pending = [], ...side } = sideOf<SubscriptionSide>(deps.db, id)
  const isOwed = !isCredited && prorationIn(form) !== 'none' && before.trial_end === null
  const unused = isOwed
    ? before.items.data.map((item) => unusedOf(deps, item, at)).filter((one) => one.amount < 0)
    : []
  const behavior = optionalText(form, 'payment_behavior') ?? 'resume_on_payment_attempt'
  if (behavior === 'resume_on_payment_success')
    return resumeOnceDue(deps, before, [...pending, ...unused], at)
  if (behavior !== 'resume_on_payment_attempt')
    throw badParameter('payment_behavior', `Invalid payment_behavior: ${behavior}`)
  const items = before.items.data.map((item) => ({ ...item, current_period_end: at }))
  const anchored = { ...before, items: { ...before.items, data: items }, billing_cycle_anchor: at }
  put(deps.db, anchored, { side: { ...side, pending: [...pending, ...unused] } })
  setStatus(deps, id, 'active')
  const resumed = renew(deps, id, true)
  emit(deps, 'customer.subscription.resumed', resumed)
  return resumed
}

/** It stays paused, with an open invoice, until that one is paid. */
function resumeOnceDue(
  deps: ProcessorDeps,
  before: Stripe.Subscription,
  pending: readonly Line[],
  at: number,
): Stripe.Subscription {
  const data = before.items.data.map((item) => ({
    ...item,
    current_period_start: at,
    current_period_end: item.price.recurring
      ? addInterval(at, item.price.recurring)
      : item.current_period_end,
  }))
  const anchored: Stripe.Subscription = {
    ...before,
    items: { ...before.items, data },
    billing_cycle_anchor: at,
  }
  const lines = [...pending, ...data.map((item) => wholePeriod(deps, item))]
  const invoice = bill(deps, anchored, 'subscription_cycle', lines)
  const side = {
    ...sideOf<SubscriptionSide>(deps.db, before.id),
    resumes: { invoice: invoice.id, items: data, at },
  }
  put(deps.db, { ...before, latest_invoice: invoice.id }, { side })
  collectAgain(deps, invoice, methodOf(deps, before), false)
  return must(deps.db, 'subscription', before.id)
}
