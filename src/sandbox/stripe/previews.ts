/**
 * Previews the next invoice of a subscription, as it is or after a hypothetical change. Nothing is
 * kept.
 */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { priceOfLine, productName } from './catalogue.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { offersIn, passingDiscount } from './discounts.ts'
import { badParameter, Fault } from './fault.ts'
import { type Line, wholePeriod } from './invoice-lines.ts'
import { drawUp } from './invoices.ts'
import { must, mustParam, newId, sideOf } from './objects.ts'
import { flag, group, groups, integer, optionalText, played, text } from './parameters.ts'
import { addInterval } from './periods.ts'
import { changedItems, prorationIn, unusedOf } from './proration.ts'
import { billOf, isOver, type SubscriptionSide } from './subscriptions.ts'
import { taxTerms } from './tax.ts'

const DETAILS = 'subscription_details'

export function previewInvoice(deps: ProcessorDeps, form: Form): Stripe.Invoice {
  played(form, ['automatic_tax', 'customer', 'discounts', 'preview_mode', 'subscription', DETAILS])
  if (optionalText(form, 'preview_mode') === 'recurring')
    throw badParameter('preview_mode', 'The sandbox plays only the preview mode `next`.')
  const details = group(form, DETAILS)
  const id = optionalText(form, 'subscription')
  return id === null ? previewNew(deps, form, details) : previewNext(deps, form, details, id)
}

function previewNext(deps: ProcessorDeps, form: Form, details: Form, id: string): Stripe.Invoice {
  played(
    details,
    [
      'items',
      'proration_behavior',
      'proration_date',
      'trial_end',
      'cancel_now',
      'cancel_at_period_end',
    ],
    DETAILS,
  )
  const subscription = mustParam<Stripe.Subscription>(deps.db, 'subscription', id, 'subscription')
  const customer = optionalText(form, 'customer')
  if (customer !== null && customer !== subscription.customer)
    throw badParameter('customer', 'The subscription belongs to another customer.')
  const lines = nextLines(deps, subscription, details)
  const bill = billOf(deps, subscription, 'subscription_cycle', lines)
  const discounts =
    form.discounts === undefined
      ? bill.discounts
      : offersIn(deps, form, { currency: bill.currency, customer: bill.customer }).map((one) =>
          passingDiscount(deps, one, bill.customer),
        )
  const tax = form.automatic_tax === undefined ? bill.tax : taxAsked(deps, form, bill.customer)
  return asPreview(drawUp(deps, { ...bill, discounts, tax }, newId('upcoming_in')), subscription)
}

function nextLines(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  details: Form,
): readonly Line[] {
  const { pending = [] } = sideOf<SubscriptionSide>(deps.db, subscription.id)
  const at = integer(details, 'proration_date') ?? seconds(deps)
  if (isOver(subscription)) throw noneUpcoming(subscription)
  if (flag(details, 'cancel_now')) {
    const isPaid = subscription.status === 'active' && prorationIn(details) !== 'none'
    return [
      ...pending,
      ...(isPaid ? subscription.items.data.map((item) => unusedOf(deps, item, at)) : []),
    ]
  }
  const changes = groups(details, 'items')
  const isEnding = flag(details, 'cancel_at_period_end', subscription.cancel_at_period_end)
  if (isEnding && changes.length === 0 && pending.length === 0) throw noneUpcoming(subscription)

  const { items, lines, isNewPeriod } = changedItems(
    deps,
    subscription,
    changes,
    at,
    `${DETAILS}[items]`,
  )
  const behavior = prorationIn(details)
  const asked =
    behavior === 'none'
      ? lines.filter(({ proration }) => !proration)
      : subscription.status === 'active'
        ? lines
        : []
  if (changes.length > 0 && (behavior === 'always_invoice' || isNewPeriod)) return asked
  const from = optionalText(details, 'trial_end') === 'now' ? at : null
  const next = items.map((item) => nextPeriod(deps, item, from))
  return [...pending, ...asked, ...(isEnding ? [] : next)]
}

/** The period that follows the one that runs, or begins at a moment. */
function nextPeriod(deps: ProcessorDeps, item: Stripe.SubscriptionItem, from: number | null): Line {
  const start = from ?? item.current_period_end
  const end = item.price.recurring ? addInterval(start, item.price.recurring) : start
  return wholePeriod(deps, { ...item, current_period_start: start, current_period_end: end })
}

/** Of a subscription that is not there yet. */
function previewNew(deps: ProcessorDeps, form: Form, details: Form): Stripe.Invoice {
  played(details, ['items'], DETAILS)
  const { id: customer } = mustParam<Stripe.Customer>(
    deps.db,
    'customer',
    text(form, 'customer'),
    'customer',
  )
  const at = seconds(deps)
  const lines = groups(details, 'items').map((one, index): Line => {
    played(one, ['price', 'price_data', 'quantity'], `${DETAILS}[items][${index}]`)
    const price = priceOfLine(deps, one, `${DETAILS}[items][${index}]`)
    const quantity = integer(one, 'quantity') ?? 1
    const to = price.recurring ? addInterval(at, price.recurring) : at
    const amount = (price.unit_amount ?? 0) * quantity
    return {
      description: productName(deps, price),
      amount,
      price,
      item: null,
      from: at,
      to,
      proration: false,
      quantity,
    }
  })
  const [first] = lines
  if (!first) throw noneUpcoming({ customer })
  const { currency } = first.price
  const discounts = offersIn(deps, form, { currency, customer }).map((one) =>
    passingDiscount(deps, one, customer),
  )
  const tax = taxAsked(deps, form, customer)
  const bill = {
    customer,
    currency,
    reason: 'subscription_create',
    lines,
    discounts,
    subscription: null,
    tax,
  } as const
  return asPreview(drawUp(deps, bill, newId('upcoming_in')), null)
}

const taxAsked = (deps: ProcessorDeps, form: Form, customer: string) =>
  taxTerms(deps, flag(group(form, 'automatic_tax'), 'enabled'), customer)

const asPreview = (
  invoice: Stripe.Invoice,
  subscription: Stripe.Subscription | null,
): Stripe.Invoice => ({
  ...invoice,
  billing_reason: 'upcoming',
  next_payment_attempt: subscription?.items.data[0]?.current_period_end ?? null,
})

const noneUpcoming = ({ customer }: Pick<Stripe.Subscription, 'customer'>) =>
  new Fault(404, {
    type: 'invalid_request_error',
    code: 'invoice_upcoming_none',
    message: `No upcoming invoices for customer: ${customer}`,
  })

/** The invoice of the coming renewal, announced by `invoice.upcoming` some days ahead. */
export function upcomingInvoice(deps: ProcessorDeps, id: string): Stripe.Invoice {
  return previewInvoice(deps, {
    subscription: must<Stripe.Subscription>(deps.db, 'subscription', id).id,
  })
}
