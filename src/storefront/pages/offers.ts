import { setTimeout as sleep } from 'node:timers/promises'
import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import { isForSale, type ProductDeps } from '../products/releases.ts'
import { readAllowance } from '../purchases/allowance.ts'
import * as purchaseStore from '../purchases/store.ts'

/** A product, whether the visitor owns it, and whether it is for sale. */
export type Offer = { product: CatalogueProduct; isOwned: boolean; isForSale: boolean }

const PATIENCE_MS = 3_000

/** Lists all products on sale. */
export async function listOffers(
  deps: Pick<Platform, 'config' | 'db'> & ProductDeps,
  userId: string | null,
): Promise<Offer[]> {
  const products = deps.productList.sold
  const isSold = await Promise.all(products.map(({ tier }) => isSoldInTime(deps, tier)))
  const purchases = userId === null ? [] : await purchaseStore.listOfUser(deps.db, userId)
  const current = await Promise.all(purchases.map((row) => readAllowance(deps, row)))
  const owned = current.filter(purchaseStore.isOwned).map(({ tier }) => tier)
  return products.map((product, index) => ({
    product,
    isOwned: owned.includes(product.tier),
    isForSale: isSold[index] === true,
  }))
}

/**
 * Returns false when the file store does not answer in time, so that the page never waits for it.
 */
function isSoldInTime(deps: ProductDeps, tier: Tier): Promise<boolean> {
  return Promise.race([isForSale(deps, tier), sleep(PATIENCE_MS, false, { ref: false })])
}
