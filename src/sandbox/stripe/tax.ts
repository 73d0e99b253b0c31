/**
 * Applies one tax rate to every sale with tax, for buyers of all countries. A buyer with a tax id
 * owes the tax instead (reverse charge).
 */
import type { Stripe } from 'stripe'
import type { Db } from './deps.ts'
import { all } from './objects.ts'

const TAX_PERCENT = 20

export type TaxTerms = { percent: number; isReverse: boolean }

/** Null: no tax applies. */
export function taxTerms(deps: Db, isAsked: boolean, customer: string | null): TaxTerms | null {
  if (!isAsked) return null
  const isReverse = customer !== null && all(deps, 'tax_id', customer).length > 0
  return { percent: TAX_PERCENT, isReverse }
}

export type Tax = { amount: number; behavior: 'exclusive' | 'inclusive'; taxable: number }

/** Prices exclude tax by default, as in the processor's initial settings. */
export function computeTax(
  amount: number,
  price: Pick<Stripe.Price, 'tax_behavior'>,
  terms: TaxTerms | null,
): Tax {
  const behavior = price.tax_behavior === 'inclusive' ? 'inclusive' : 'exclusive'
  if (!terms || terms.isReverse) return { amount: 0, behavior, taxable: amount }
  const share = terms.percent / 100
  if (behavior === 'exclusive')
    return { amount: Math.round(amount * share), behavior, taxable: amount }
  const tax = amount - Math.round(amount / (1 + share))
  return { amount: tax, behavior, taxable: amount - tax }
}

/** Formats the tax for an invoice and its lines. */
export function toTaxLines({ amount, behavior, taxable }: Tax, terms: TaxTerms | null): object[] {
  if (!terms) return []
  return [
    {
      amount,
      tax_behavior: behavior,
      tax_rate_details: { tax_rate: 'txr_sandbox' },
      taxability_reason: terms.isReverse ? 'reverse_charge' : 'standard_rated',
      taxable_amount: terms.isReverse ? 0 : taxable,
      type: 'tax_rate_details',
    },
  ]
}
