import type { Plan } from '../api/types.ts'
import { isFree } from '../billing/plans.ts'
import { t } from '../language/text.ts'

export type Period = 'monthly' | 'yearly'

/** `amount` is null while the processor's price is unknown; the checkout shows it. */
export type Price = {
  amount: number | null
  currency: string
  per: string
  priceId: string | null
  saving: number | null
}

/** Returns a plan's price. `saving`: fraction saved by a year against twelve months. */
export function computePrice(plan: Plan, period: Period): Price {
  const currency = (plan.currency ?? 'usd').toUpperCase()
  const month = plan.price ?? null
  if (isFree(plan)) return { amount: 0, currency, per: t('forever'), priceId: null, saving: null }

  // A plan without a monthly price shows its yearly price for both periods.
  if (plan.price_yearly && (period === 'yearly' || !plan.price_monthly)) {
    const year = plan.amount_yearly ?? null
    const saving = year !== null && month !== null && month > 0 ? 1 - year / (12 * month) : null
    return {
      amount: year,
      currency,
      per: t('per year'),
      priceId: plan.price_yearly,
      saving: saving !== null && saving > 0.005 ? saving : null,
    }
  }
  return {
    amount: month,
    currency,
    per: t('per month'),
    priceId: plan.price_monthly ?? null,
    saving: null,
  }
}
