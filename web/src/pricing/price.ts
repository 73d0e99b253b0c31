import type { Plan } from '../api/types.ts'
import { isFree } from '../billing/plans.ts'

export type Period = 'monthly' | 'yearly'

/** `amount` is null while the processor's price is not known; the checkout shows it in any case. */
export type Price = {
  amount: number | null
  currency: string
  per: string
  priceId: string | null
  saving: number | null
}

/** What a plan costs, per what, and, for a year, how much less than twelve months that is (0 to 1). */
export function computePrice(plan: Plan, period: Period): Price {
  const currency = (plan.currency ?? 'usd').toUpperCase()
  const month = plan.price ?? null
  if (isFree(plan)) return { amount: 0, currency, per: 'for good', priceId: null, saving: null }

  // What is sold by the year alone costs that under either heading.
  if (plan.price_yearly && (period === 'yearly' || !plan.price_monthly)) {
    const year = plan.amount_yearly ?? null
    const saving = year !== null && month !== null && month > 0 ? 1 - year / (12 * month) : null
    return {
      amount: year,
      currency,
      per: 'a year',
      priceId: plan.price_yearly,
      saving: saving !== null && saving > 0.005 ? saving : null,
    }
  }
  return {
    amount: month,
    currency,
    per: 'a month',
    priceId: plan.price_monthly ?? null,
    saving: null,
  }
}
