import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import { findCurrentRelease, type ProductDeps, type ReleaseFiles } from '../products/releases.ts'
import { readAllowance } from '../purchases/allowance.ts'
import * as purchaseStore from '../purchases/store.ts'

export type OfferDeps = Pick<Platform, 'config' | 'db'> & ProductDeps

/** A product, whether the visitor owns it, and the newest release. */
export type Offer = {
  product: CatalogueProduct
  isOwned: boolean
  isForSale: boolean
  /** The products of a bundle. */
  members: readonly CatalogueProduct[]
  release: ReleaseFiles | null
}

const PATIENCE_MS = 3_000
const CODE_LENGTH_MAX = 100

/** Lists all products on sale. */
export async function listOffers(deps: OfferDeps, userId: string | null): Promise<Offer[]> {
  const products = deps.productList.sold
  const releases = await Promise.all(products.map(({ tier }) => findReleaseInTime(deps, tier)))
  const purchases = userId === null ? [] : await purchaseStore.listOfUser(deps.db, userId)
  const current = await Promise.all(purchases.map((row) => readAllowance(deps, row)))
  const owned = current.filter(purchaseStore.isOwned).map(({ tier }) => tier)
  const offers = products.map((product, index) => {
    const release = product.bundle.length > 0 ? null : (releases[index] ?? null)
    return {
      product,
      isOwned: owned.includes(product.tier),
      isForSale: release !== null && deps.productList.canCharge(product.tier),
      members: deps.productList.listMembers(product),
      release,
    }
  })
  const isSold = ({ tier }: CatalogueProduct) =>
    offers.some(({ product, isForSale }) => product.tier === tier && isForSale)
  return offers.map((offer) =>
    offer.product.bundle.length === 0
      ? offer
      : {
          ...offer,
          isForSale:
            deps.productList.canCharge(offer.product.tier) &&
            offer.members.length === offer.product.bundle.length &&
            offer.members.every(isSold),
        },
  )
}

/**
 * Returns null when the file store does not answer in time, so that the page never waits for it.
 */
function findReleaseInTime(deps: ProductDeps, tier: Tier): Promise<ReleaseFiles | null> {
  return Promise.race([findCurrentRelease(deps, tier), sleep(PATIENCE_MS, null, { ref: false })])
}

/** Returns the promotion code of a link such as `/pricing?code=SUMMER`. */
export function readCode(request: FastifyRequest): string | null {
  const { code } = request.query as { code?: unknown }
  const isCode = typeof code === 'string' && code !== '' && code.length <= CODE_LENGTH_MAX
  return isCode ? code : null
}

/** Keeps the promotion code on the way to the checkout. */
export function withCode(path: string, code: string | null): string {
  return code === null ? path : `${path}?code=${encodeURIComponent(code)}`
}
