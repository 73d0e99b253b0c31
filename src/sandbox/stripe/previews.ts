/** Previews the invoice of a plan change, or of the next renewal. Nothing is stored. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { refused } from './fault.ts'
import { type Line, periodLine } from './invoice-lines.ts'
import { buildInvoice } from './invoices.ts'
import { getNamed, newId } from './objects.ts'
import { allowSupported, group, groups, integer, optionalText, text } from './parameters.ts'
import { addPeriod } from './periods.ts'
import { changeItems, readProration, selectDueLines } from './proration.ts'
import { buildBill, hasEnded } from './subscriptions.ts'

const DETAILS = 'subscription_details'

export function previewInvoice(deps: ProcessorDeps, form: Form): Stripe.Invoice {
  allowSupported(form, ['subscription', DETAILS])
  const details = group(form, DETAILS)
  allowSupported(details, ['items', 'proration_behavior', 'proration_date', 'trial_end'], DETAILS)
  const id = text(form, 'subscription')
  const subscription = getNamed(deps, 'subscription', id, 'subscription')
  if (hasEnded(subscription)) throw nothingUpcoming(subscription)
  const lines = form[DETAILS]
    ? changeLines(deps, subscription, details)
    : renewalLines(deps, subscription)
  const bill = buildBill(deps, subscription, 'subscription_cycle', lines)
  return {
    ...buildInvoice(deps, bill, newId('upcoming_in')),
    billing_reason: 'upcoming',
    next_payment_attempt: subscription.items.data[0]?.current_period_end ?? null,
  }
}

/** Returns the lines that the change bills at once, or those of the first renewal after it. */
function changeLines(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  details: Form,
): readonly Line[] {
  const at = integer(details, 'proration_date') ?? seconds(deps)
  const behavior = readProration(details)
  const changes = groups(details, 'items')
  const { items, lines } = changeItems(deps, subscription, changes, at, `${DETAILS}[items]`)
  const due = selectDueLines(subscription, behavior, lines)
  if (behavior === 'always_invoice' || due.length > 0) return due
  const start = optionalText(details, 'trial_end') === 'now' ? at : undefined
  return items.map((item) => nextPeriod(deps, item, start))
}

function renewalLines(deps: ProcessorDeps, subscription: Stripe.Subscription): readonly Line[] {
  if (subscription.cancel_at_period_end) throw nothingUpcoming(subscription)
  return subscription.items.data.map((item) => nextPeriod(deps, item))
}

function nextPeriod(
  deps: ProcessorDeps,
  item: Stripe.SubscriptionItem,
  start = item.current_period_end,
): Line {
  const end = addPeriod(start, item.price)
  return periodLine(deps, { ...item, current_period_start: start, current_period_end: end })
}

const nothingUpcoming = ({ customer }: Stripe.Subscription) =>
  refused(404, `No upcoming invoices for customer: ${customer}`, 'invoice_upcoming_none')
