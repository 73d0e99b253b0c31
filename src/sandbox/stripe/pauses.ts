/** Pauses of a subscription: no period runs and nothing is billed until it is resumed. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { badParameter } from './fault.ts'
import { periodLine } from './invoice-lines.ts'
import { getExisting, getSide, put } from './objects.ts'
import { allowSupported, group, optionalText } from './parameters.ts'
import { findMethod } from './payment-methods.ts'
import { addPeriod } from './periods.ts'
import {
  createBill,
  pause,
  resumePaused,
  retryInvoice,
  type SubscriptionSide,
} from './subscriptions.ts'

/** Pauses a subscription. The product credits nothing for the rest of the period. */
export function pauseSubscription(
  deps: ProcessorDeps,
  id: string,
  form: Form,
): Stripe.Subscription {
  allowSupported(form, ['type', 'bill_for'])
  const unused = group(group(form, 'bill_for'), 'unused_time_from')
  if (optionalText(unused, 'type') !== 'none')
    throw badParameter('bill_for[unused_time_from][type]', 'The sandbox supports only `none`.')
  return pause(deps, id)
}

/** Starts and bills a new period. The subscription stays paused until its invoice is paid. */
export function resumeSubscription(
  deps: ProcessorDeps,
  id: string,
  form: Form,
): Stripe.Subscription {
  allowSupported(form, ['proration_behavior', 'payment_behavior'])
  if (optionalText(form, 'proration_behavior') !== 'none')
    throw badParameter('proration_behavior', 'The sandbox supports only `none`.')
  if (optionalText(form, 'payment_behavior') !== 'resume_on_payment_success')
    throw badParameter('payment_behavior', 'The sandbox supports only `resume_on_payment_success`.')
  const before = getExisting(deps, 'subscription', id)
  if (before.status !== 'paused') return resumePaused(deps, id)
  const at = seconds(deps)
  const data = before.items.data.map((item) => ({
    ...item,
    current_period_start: at,
    current_period_end: addPeriod(at, item.price),
  }))
  const anchored: Stripe.Subscription = {
    ...before,
    items: { ...before.items, data },
    billing_cycle_anchor: at,
  }
  const lines = data.map((item) => periodLine(deps, item))
  const invoice = createBill(deps, anchored, 'subscription_cycle', lines)
  const side = {
    ...getSide<SubscriptionSide>(deps, id),
    resumes: { invoice: invoice.id, items: data, at },
  }
  put(deps, { ...before, latest_invoice: invoice.id }, { side })
  retryInvoice(deps, invoice, findMethod(deps, before), false)
  return getExisting(deps, 'subscription', id)
}
