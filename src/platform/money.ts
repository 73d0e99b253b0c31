/**
 * Amounts of money: units of a currency, and the whole minor units in which the processor counts.
 */

import { DEFAULT_LOCALE, type Locale } from './locale.ts'

/**
 * The payment processor's list of currencies without minor units. It differs from ISO 4217: krónur
 * have hundredths. https://docs.stripe.com/currencies#minor-units
 */
const WITHOUT_MINOR = new Set(
  'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '),
)
const WITH_THREE = new Set('bhd jod kwd omr tnd'.split(' '))

/** Returns the decimals of the processor's minor unit: 2 for dollars, 0 for yen. */
export function minorDigits(currency: string): number {
  const code = currency.toLowerCase()
  return WITHOUT_MINOR.has(code) ? 0 : WITH_THREE.has(code) ? 3 : 2
}

/**
 * Returns the decimals that amounts may have. Fewer than `minorDigits` for krónur (whole) and
 * three-decimal currencies (the last digit must be 0).
 */
export function decimalsMax(currency: string): number {
  return Math.min(2, minorDigits(currency), usualDigits(currency))
}

function usualDigits(currency: string): number {
  return (
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
      .maximumFractionDigits ?? 2
  )
}

export function inMinorUnits(amount: number, currency: string): number {
  return Math.round(amount * 10 ** minorDigits(currency))
}

export function inUnits(minor: number, currency: string): number {
  return minor / 10 ** minorDigits(currency)
}

/** Returns `$299.00`, or `$299` with `short`; `299,00 $` in German. */
export function formatMoney(
  amount: number,
  currency: string,
  { short = false, locale = DEFAULT_LOCALE } = {},
): string {
  const digits = Math.min(minorDigits(currency), usualDigits(currency))
  return new Intl.NumberFormat(locale === 'de' ? 'de-DE' : 'en-US', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    trailingZeroDisplay: short ? 'stripIfInteger' : 'auto',
  }).format(amount)
}

/** Returns `US dollars` for `usd`, or `US-Dollar` in German. */
export function currencyName(currency: string, locale: Locale = 'en'): string {
  const parts = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'name',
  }).formatToParts(2)
  return parts.find(({ type }) => type === 'currency')?.value ?? currency.toUpperCase()
}

export function isCurrency(code: string): boolean {
  return Intl.supportedValuesOf('currency').includes(code.toUpperCase())
}
