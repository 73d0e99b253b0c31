/** The downloads of a purchase count per release. */
import type { Tier } from '#catalogue/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import { isCovered, type ProductDeps, showReleases } from '../products/releases.ts'
import { countDownloads } from './download-counts.ts'
import type { PurchaseRow } from './store.ts'
import * as store from './store.ts'

/** Returns the purchase as it is for the downloads of this version. */
export function applyRelease(purchase: PurchaseRow, version: string | null): PurchaseRow {
  const { download_version: counted, max_downloads, status } = purchase
  if (version === null || counted === version) return purchase
  const download_count = countDownloads(purchase, version)
  const isActive = status === 'completed' || status === 'expired'
  return {
    ...purchase,
    download_count,
    status: isActive ? (download_count < max_downloads ? 'completed' : 'expired') : status,
  }
}

/** Returns how often a purchase may still download the release, whatever its status. */
export function countLeft(purchase: PurchaseRow, version: string): number {
  return Math.max(0, purchase.max_downloads - countDownloads(purchase, version))
}

/** Returns the purchase as it is for the release that a download would get now. */
export async function readAllowance(
  deps: ProductDeps,
  purchase: PurchaseRow,
): Promise<PurchaseRow> {
  if (purchase.status !== 'expired') return purchase
  const releases = await showReleases(deps, purchase.tier)
  const served = releases.find((release) => isCovered(release, purchase.entitled_until))
  return applyRelease(purchase, served?.version ?? null)
}

/** Returns true when the user has the tier, and need not buy it again. */
export async function ownsTier(
  deps: Pick<Platform, 'db'> & ProductDeps,
  userId: string,
  tier: Tier,
): Promise<boolean> {
  const rows = (await store.listOfUser(deps.db, userId)).filter((row) => row.tier === tier)
  const current = await Promise.all(rows.map((row) => readAllowance(deps, row)))
  return current.some(store.isOwned)
}
