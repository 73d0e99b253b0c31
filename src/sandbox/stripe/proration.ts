/** The cost and the credit of a plan change in the middle of a period. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { productName } from './catalogue.ts'
import type { ProcessorDeps } from './deps.ts'
import { badParameter, badReference } from './fault.ts'
import type { Line } from './invoice-lines.ts'
import { getNamed } from './objects.ts'
import { allowSupported, optionalText, text } from './parameters.ts'
import { addInterval, remainingShare } from './periods.ts'
import { toPlan } from './subscription-object.ts'

/** Both values that the product sends. The real default, `create_prorations`, is not supported. */
const PRORATIONS = ['always_invoice', 'none']

export function readProration(form: Form): string {
  const behavior = text(form, 'proration_behavior')
  if (!PRORATIONS.includes(behavior))
    throw badParameter('proration_behavior', `The sandbox supports only ${PRORATIONS.join(', ')}.`)
  return behavior
}

/**
 * Returns the lines of a change that are billed at once. Without proration only a new period is.
 */
export function selectDueLines(
  { status }: Stripe.Subscription,
  behavior: string,
  lines: readonly Line[],
): readonly Line[] {
  if (behavior === 'none') return lines.filter((line) => !line.proration)
  return status === 'active' ? lines : []
}

export type Change = { items: Stripe.SubscriptionItem[]; lines: Line[] }

/**
 * Returns the items after the change and its lines. A different interval starts a new period; a
 * trial costs nothing.
 */
export function changeItems(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  changes: readonly Form[],
  at: number,
  param = 'items',
): Change {
  const lines: Line[] = []
  const isFree = subscription.status === 'trialing'
  for (const [index, change] of changes.entries()) {
    allowSupported(change, ['id', 'price'], `${param}[${index}]`)
    const id = optionalText(change, 'id')
    if (id ? !subscription.items.data.some((item) => item.id === id) : changes.length > 1)
      throw badReference('subscription_item', id ?? '', `${param}[${index}][id]`)
  }

  const items = subscription.items.data.map((item) => {
    const index = changes.findIndex((one) => (optionalText(one, 'id') ?? item.id) === item.id)
    const change = changes[index]
    if (!change) return item
    const priceId = optionalText(change, 'price') ?? item.price.id
    const price = getNamed(deps, 'price', priceId, `${param}[${index}][price]`)
    if (!price.recurring)
      throw badParameter(
        `${param}[${index}][price]`,
        'The price specified is set to `type=one_time`.',
      )
    if (price.currency !== subscription.currency)
      throw badParameter(
        `${param}[${index}][price]`,
        'The price is in another currency than the subscription.',
      )
    const quantity = item.quantity ?? 1
    const sameInterval =
      price.recurring.interval === item.price.recurring?.interval &&
      price.recurring.interval_count === item.price.recurring.interval_count
    if (isFree) return { ...item, price, plan: toPlan(price), quantity }
    const from = sameInterval ? item.current_period_start : at
    const to = sameInterval ? item.current_period_end : addInterval(at, price.recurring)

    const ahead = remainingShare(item.current_period_start, item.current_period_end, at)
    const due = Math.round((price.unit_amount ?? 0) * quantity * (sameInterval ? ahead : 1))
    const line = { item: item.id, from: at, proration: true }
    lines.push(creditLine(deps, item, at), {
      ...line,
      to,
      price,
      quantity,
      proration: sameInterval,
      amount: due,
      description: sameInterval
        ? `Remaining time on ${productName(deps, price)}`
        : productName(deps, price),
    })
    return {
      ...item,
      price,
      plan: toPlan(price),
      quantity,
      current_period_start: from,
      current_period_end: to,
    }
  })
  return { items, lines }
}

/** Returns the credit for the rest of a paid period. */
export function creditLine(deps: ProcessorDeps, item: Stripe.SubscriptionItem, at: number): Line {
  const { price, current_period_start: start, current_period_end: to } = item
  const quantity = item.quantity ?? 1
  const amount = -Math.round((price.unit_amount ?? 0) * quantity * remainingShare(start, to, at))
  const description = `Unused time on ${productName(deps, price)}`
  // Avoids -0, which JSON cannot represent.
  return {
    description,
    amount: amount || 0,
    price,
    item: item.id,
    from: at,
    to,
    proration: true,
    quantity,
  }
}
