/** The lines of an invoice, with discounts and taxes. */
import type { Stripe } from 'stripe'
import { decimal, productName } from './catalogue.ts'
import type { Db, ProcessorDeps } from './deps.ts'
import { computeDiscount, findCoupon } from './discounts.ts'
import { newId } from './objects.ts'
import { computeTax, type Tax, type TaxTerms, toTaxLines } from './tax.ts'

export type Line = {
  description: string
  amount: number
  price: Stripe.Price
  /** The subscription's item; null on the invoice of a one-time sale. */
  item: string | null
  from: number
  to: number
  proration: boolean
  quantity: number
}

export function periodLine(deps: ProcessorDeps, item: Stripe.SubscriptionItem): Line {
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

export function trialLine(deps: ProcessorDeps, item: Stripe.SubscriptionItem): Line {
  return {
    ...periodLine(deps, item),
    amount: 0,
    description: `Trial period for ${productName(deps, item.price)}`,
  }
}

export type Priced = { line: Line; off: { discount: string; amount: number }[]; tax: Tax }

/**
 * Discounts apply one after another, each divided among the lines in proportion to their remaining
 * amounts. Tax applies to the rest.
 */
export function priceLines(
  deps: Db,
  lines: readonly Line[],
  discounts: readonly Stripe.Discount[],
  terms: TaxTerms | null,
): Priced[] {
  const rows = lines.map((line) => ({ line, left: line.amount, off: [] as Priced['off'] }))
  const discountable = rows.filter(({ line }) => line.amount > 0)
  for (const discount of discounts) {
    const sum = discountable.reduce((all, { left }) => all + left, 0)
    let offLeft = computeDiscount(Math.max(0, sum), findCoupon(deps, discount))
    const share = sum === 0 ? 0 : offLeft / sum
    for (const [index, row] of discountable.entries()) {
      const amount = index === discountable.length - 1 ? offLeft : Math.round(row.left * share)
      offLeft -= amount
      row.left -= amount
      row.off.push({ discount: discount.id, amount })
    }
  }
  return rows.map(({ line, left, off }) => ({
    line,
    off,
    tax: computeTax(left, line.price, terms),
  }))
}

export function lineItem(
  invoice: string,
  subscription: Stripe.Subscription | null,
  { line, off, tax }: Priced,
  terms: TaxTerms | null,
): Stripe.InvoiceLineItem {
  return {
    id: newId('il'),
    object: 'line_item',
    amount: line.amount,
    currency: line.price.currency,
    description: line.proration ? line.description : `${line.quantity} × ${line.description}`,
    discount_amounts: off,
    discountable: !line.proration,
    discounts: [],
    invoice,
    livemode: false,
    metadata: subscription?.metadata ?? {},
    parent: subscription && {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: line.proration,
        proration_details: { credited_items: null },
        subscription: subscription.id,
        subscription_item: line.item,
      },
      type: 'subscription_item_details',
    },
    period: { start: line.from, end: line.to },
    pretax_credit_amounts: off.map(({ amount, discount }) => ({
      amount,
      discount,
      type: 'discount',
    })),
    pricing: {
      price_details: { price: line.price.id, product: String(line.price.product) },
      type: 'price_details',
      unit_amount_decimal: decimal(line.price.unit_amount ?? 0),
    },
    quantity: line.quantity,
    quantity_decimal: String(line.quantity),
    subscription: subscription?.id ?? null,
    subtotal: line.amount,
    taxes: toTaxLines(tax, terms),
  } as unknown as Stripe.InvoiceLineItem
}
