/** The monthly recurring revenue of one subscription. */
import type { Account } from '../accounts.ts'

/** In minor units of the currency. */
export type MonthlyRevenue = { cents: number; currency: string }

const MONTHS: Readonly<Record<string, number>> = {
  year: 12,
  month: 1,
  week: 12 / 52,
  day: 12 / 365,
}

export type PricedAccount = Pick<
  Account,
  'processor_status' | 'is_grace_over' | 'ended_at' | 'price_cents' | 'currency' | 'interval'
>

/**
 * Returns the price of a month, before discounts and taxes. Null for trials, pauses, ended
 * subscriptions, and failed payments after their grace period.
 */
export function computeMonthlyRevenue(account: PricedAccount): MonthlyRevenue | null {
  const { processor_status, is_grace_over, ended_at, price_cents, currency, interval } = account
  const months = MONTHS[interval ?? '']
  const isPaid =
    processor_status === 'active' || (processor_status === 'past_due' && !is_grace_over)
  if (!isPaid || ended_at !== null || price_cents === null || currency === null) return null
  return months === undefined ? null : { cents: Math.round(price_cents / months), currency }
}
