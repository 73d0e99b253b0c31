import { setTimeout as sleep } from 'node:timers/promises'
import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import { isForSale, type ProductDeps } from '../products/releases.ts'
import * as purchaseStore from '../purchases/store.ts'

/** A product, with whether the visitor owns it and can buy it. */
export type Offer = { product: CatalogueProduct; isOwned: boolean; isForSale: boolean }

const PATIENCE_MS = 3_000

/** Lists every product of the catalogue. */
export async function listOffers(
  deps: Pick<Platform, 'config' | 'db'> & ProductDeps,
  userId: string | null,
): Promise<Offer[]> {
  const { products } = deps.config.catalogue
  const isSold = await Promise.all(products.map(({ tier }) => isSoldInTime(deps, tier)))
  const purchases = userId === null ? [] : await purchaseStore.listOfUser(deps.db, userId)
  const owned = purchases.filter(({ status }) => status === 'completed').map(({ tier }) => tier)
  return products.map((product, index) => ({
    product,
    isOwned: owned.includes(product.tier),
    isForSale: isSold[index] === true,
  }))
}

/**
 * Limits the wait, because a file store that has not answered since the start must not delay the
 * page.
 */
function isSoldInTime(deps: ProductDeps, tier: Tier): Promise<boolean> {
  return Promise.race([isForSale(deps, tier), sleep(PATIENCE_MS, false, { ref: false })])
}
