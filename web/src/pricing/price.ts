import type { Plan } from '../api/types.ts'

export type Period = 'monthly' | 'yearly'

/** What a plan costs and per what. `price` is per month; a yearly price is shown where the service names one. */
export function priceOf(plan: Plan, period: Period): { amount: number; per: string; priceId: string | null } {
  if (plan.price === 0) return { amount: 0, per: 'for good', priceId: null }
  if (period === 'yearly' && plan.price_yearly) {
    const year = plan.yearly_price
    return typeof year === 'number'
      ? { amount: year, per: 'a year', priceId: plan.price_yearly }
      : { amount: plan.price, per: 'a month, billed yearly', priceId: plan.price_yearly }
  }
  return { amount: plan.price, per: 'a month', priceId: plan.price_monthly ?? null }
}
