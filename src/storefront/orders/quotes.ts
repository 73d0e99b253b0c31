/**
 * Computes the amount of a checkout: a product's price, an upgrade's difference or a renewal. Only the server
 * computes amounts; a request names products and purchases.
 */
import { findPayments, type PaymentRow } from '#billing/money/payments.ts'
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import { waiveSmallAmount } from '#catalogue/minimum-charge.ts'
import type { Config } from '#config/config.ts'
import { inMinorUnits } from '#platform/money.ts'
import type { Platform } from '#platform/platform.ts'
import { storefrontProblem } from '../problems.ts'
import type { ProductDeps } from '../products/releases.ts'
import { ownsTier } from '../purchases/allowance.ts'
import { findOfUser, isCurrent, listChain, type PurchaseRow } from '../purchases/store.ts'

export type QuoteDeps = Pick<Platform, 'config' | 'db'>

export type Quote = {
  product: CatalogueProduct
  kind: 'new' | 'upgrade' | 'renewal'
  /** Minor units, before promotions and taxes that are added. */
  cents: number
  /** The upgraded or renewed purchase. */
  from: PurchaseRow | null
}

/** The wanted sale: `from` upgrades this purchase, `renew` renews its updates. */
export type SaleRequest = { from?: string | undefined; renew?: string | undefined }

/** @throws Problem 409 `already_owned`, `not_an_upgrade` or `not_renewable` */
export async function quoteSale(
  deps: QuoteDeps & ProductDeps,
  userId: string,
  product: CatalogueProduct,
  { from, renew }: SaleRequest,
): Promise<Quote> {
  if (renew !== undefined) {
    const purchase = await findOfUser(deps.db, userId, renew)
    const quote = purchase && from === undefined ? quoteRenewal(product, purchase) : null
    if (!quote) throw storefrontProblem('not_renewable')
    return quote
  }
  if (await ownsTier(deps, userId, product.tier)) throw storefrontProblem('already_owned')
  if (from === undefined) return quoteNew(product)
  // Another buyer's purchase looks like a missing one.
  const purchase = await findOfUser(deps.db, userId, from)
  const quote = purchase ? await quoteUpgrade(deps, product, purchase) : null
  if (!quote) throw storefrontProblem('not_an_upgrade')
  return quote
}

export function quoteNew(product: CatalogueProduct): Quote {
  const cents = inMinorUnits(product.price, product.currency)
  return { product, kind: 'new', cents, from: null }
}

/** Returns null when the purchase cannot be upgraded to the product. */
export async function quoteUpgrade(
  { config, db }: QuoteDeps,
  product: CatalogueProduct,
  from: PurchaseRow,
): Promise<Quote | null> {
  const price = product.upgradeFrom[from.tier]
  if (price === undefined || !isReplaceable(product, from)) return null
  // Nothing was paid for the product alone, so neither a difference nor a fixed price is fair.
  if ((await listChain(db, from)).some(({ bundle_id }) => bundle_id !== null)) return null
  const priceCents = inMinorUnits(product.price, product.currency)
  const cents =
    price === 'difference'
      ? waiveSmallAmount(
          computeDifference(priceCents, await listCredits({ config, db }, from)),
          product.currency,
        )
      : inMinorUnits(price, product.currency)
  return { product, kind: 'upgrade', cents, from }
}

/** Returns null when the updates of the purchase cannot be renewed. */
export function quoteRenewal(product: CatalogueProduct, from: PurchaseRow): Quote | null {
  const { tier, currency, renewalPrice, updatesMonths } = product
  if (tier !== from.tier || renewalPrice === null || updatesMonths === null) return null
  if (from.entitled_until === null || !isReplaceable(product, from)) return null
  return { product, kind: 'renewal', cents: inMinorUnits(renewalPrice, currency), from }
}

const isReplaceable = ({ currency }: CatalogueProduct, from: PurchaseRow) =>
  isCurrent(from) && from.status !== 'disputed' && from.currency === currency

/** Computes max(0, price − paid + refunded), in minor units. */
export function computeDifference(
  priceCents: number,
  credits: readonly { paidCents: number; refundedCents: number }[],
): number {
  const credit = credits.reduce((sum, { paidCents, refundedCents }) => {
    return sum + Math.max(0, paidCents - refundedCents)
  }, 0)
  return Math.max(0, priceCents - credit)
}

/** Lists the payments for the tier: of the first purchase and its upgrades. Renewals paid for updates. */
async function listCredits({ config, db }: QuoteDeps, from: PurchaseRow) {
  const chain = new Map((await listChain(db, from)).map((row) => [row.id, row]))
  const counted: PurchaseRow[] = []
  for (let row: PurchaseRow | undefined = from; row; row = chain.get(row.from_id ?? '')) {
    if (chain.get(row.from_id ?? '')?.tier !== row.tier) counted.push(row)
  }
  const payments = await findPayments(
    db,
    counted.map(({ payment_ref }) => payment_ref),
  )
  return counted.map(({ payment_ref }) =>
    readCredit(config.processor.tax, payments.get(payment_ref)),
  )
}

/** Prices exclude a tax that is added to them, so the credit excludes it, too. */
export function readCredit(
  tax: Config['processor']['tax'],
  payment: Pick<PaymentRow, 'amount_cents' | 'tax_cents' | 'refunded_cents'> | undefined,
): { paidCents: number; refundedCents: number } {
  if (!payment || payment.amount_cents === 0) return { paidCents: 0, refundedCents: 0 }
  const isAdded = tax.behavior === 'exclusive'
  const paidCents = payment.amount_cents - (isAdded ? payment.tax_cents : 0)
  const refundedCents = Math.round((payment.refunded_cents * paidCents) / payment.amount_cents)
  return { paidCents, refundedCents }
}
