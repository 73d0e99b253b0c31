import { formatMoney, inMinorUnits, inUnits } from '#platform/money.ts'
import type { CatalogueProduct } from './catalogue.ts'
import { CatalogueError } from './fields.ts'

/**
 * The smallest amounts that Stripe charges, in minor units (docs.stripe.com/currencies,
 * "Minimum and maximum charge amounts"). Other currencies depend on the account's settlement.
 */
const MINIMUM: Readonly<Record<string, number>> = {
  usd: 50,
  aed: 200,
  aud: 50,
  bgn: 100,
  brl: 50,
  cad: 50,
  chf: 50,
  czk: 1_500,
  dkk: 250,
  eur: 50,
  gbp: 30,
  hkd: 400,
  huf: 17_500,
  inr: 50,
  jpy: 50,
  mxn: 1_000,
  myr: 200,
  nok: 300,
  nzd: 50,
  pln: 200,
  ron: 200,
  sek: 300,
  sgd: 50,
  thb: 1_000,
}

/** Nothing can be free, or cost at least the minimum. */
export function isChargeable(cents: number, currency: string): boolean {
  return cents === 0 || cents >= (MINIMUM[currency] ?? 0)
}

/** Returns `$0.50`. */
export function formatMinimum(currency: string): string {
  return formatMoney(inUnits(MINIMUM[currency] ?? 0, currency), currency)
}

/** Returns the product. @throws CatalogueError for an amount that nobody can pay */
export function requireChargeable(product: CatalogueProduct, at: string): CatalogueProduct {
  const { price, renewalPrice, upgradeFrom, currency } = product
  const amounts = [
    ['price', price],
    ['renewal_price', renewalPrice ?? 0],
    ...Object.entries(upgradeFrom).map(([tier, amount]) => [`upgrade_from.${tier}`, amount]),
  ] as const
  for (const [field, amount] of amounts) {
    if (typeof amount === 'number' && !isChargeable(inMinorUnits(amount, currency), currency)) {
      const minimum = formatMinimum(currency)
      throw new CatalogueError(
        `${at}.${field} is wrong: Stripe charges at least ${minimum}; give 0 or more than that`,
      )
    }
  }
  return product
}

/** Returns 0 for a difference that cannot be charged: the buyer gets the upgrade without it. */
export function waiveSmallAmount(cents: number, currency: string): number {
  return isChargeable(cents, currency) ? cents : 0
}
