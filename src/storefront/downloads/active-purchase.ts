/** The purchase that a download is for. Another buyer's purchase looks like a missing one. */
import { isDisputed } from '#billing/money/payments.ts'
import type { Platform } from '#platform/platform.ts'
import { storefrontProblem } from '../problems.ts'
import { isCovered, type ProductDeps, showReleases } from '../products/releases.ts'
import { applyRelease, readAllowance } from '../purchases/allowance.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import * as purchaseStore from '../purchases/store.ts'

type Deps = Pick<Platform, 'db'> & ProductDeps
type Wanted = { purchaseId?: string | undefined; version?: string | undefined }

/**
 * Returns the purchase as it is for the requested release. @throws Problem 403 when nothing of it can
 * be downloaded
 */
export async function requireActivePurchase(
  deps: Deps,
  userId: string,
  { purchaseId: id, version }: Wanted,
): Promise<PurchaseRow> {
  const { db } = deps
  const found = id ? await purchaseStore.findOfUser(db, userId, id) : undefined
  if (found && purchaseStore.isBundle(found)) throw storefrontProblem('bundle_without_files')
  const purchase = id
    ? found && (await applyVersion(deps, found, version))
    : await findNewestPurchase(deps, userId, version)
  if (purchase?.status === 'expired') {
    if (version !== undefined && version !== (await findNewestVersion(deps, purchase)))
      throw storefrontProblem('release_downloads_used', { version })
    throw storefrontProblem('download_limit_reached', { extra: { expired: true } })
  }
  if (purchase?.status === 'disputed') throw storefrontProblem('payment_disputed')
  if (purchase?.status !== 'completed') throw storefrontProblem('no_active_purchase')
  await requireUndisputed(deps, purchase)
  return purchase
}

/** Returns the newest completed purchase; without one, the newest of any status. */
async function findNewestPurchase(
  deps: Deps,
  userId: string,
  version: string | undefined,
): Promise<PurchaseRow | undefined> {
  const rows = await purchaseStore.listOfUser(deps.db, userId)
  const files = rows.filter((row) => !purchaseStore.isBundle(row))
  const purchases = await Promise.all(files.map((row) => applyVersion(deps, row, version)))
  return purchases.find(({ status }) => status === 'completed') ?? purchases[0]
}

/** Returns the purchase as it is for the requested release. */
const applyVersion = async (deps: Deps, row: PurchaseRow, version: string | undefined) =>
  version === undefined ? readAllowance(deps, row) : applyRelease(row, version)

/** Returns the newest release that the purchase covers. */
export async function findNewestVersion(deps: ProductDeps, purchase: PurchaseRow) {
  const releases = await showReleases(deps, purchase.tier)
  return releases.find((release) => isCovered(release, purchase.entitled_until))?.version
}

/** Rejects downloads while the payment is disputed. */
export async function requireUndisputed(
  { db }: Pick<Platform, 'db'>,
  purchase: PurchaseRow,
): Promise<void> {
  if (await isDisputed(db, purchase.payment_ref)) throw storefrontProblem('payment_disputed')
}
