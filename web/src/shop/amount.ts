import { formatMoney, inUnits } from '#platform/money.ts'
import { type Language, language } from '../language/language.ts'

/** `$299.00` for 29900 in `usd`: the processor's minor units with fixed decimals. */
export function formatAmount(cents: number, currency: string, locale: Language = language): string {
  return formatMoney(inUnits(cents, currency), currency, { locale })
}

/** `pro` as `Pro`. A tier that has left the catalogue has no other name. */
export function formatTier(tier: string): string {
  return tier.slice(0, 1).toUpperCase() + tier.slice(1)
}

/** `$199` for 199, `$19.90` for 19.9. */
export function formatPrice(units: number, currency: string): string {
  return formatMoney(units, currency, { short: true, locale: language })
}
