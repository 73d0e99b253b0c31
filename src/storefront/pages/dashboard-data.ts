import { listWaiting } from '../claims/claims.ts'
import { findKnownArchive } from '../downloads/archives.ts'
import { cooldownLeftMs, type DownloadDeps } from '../downloads/downloads.ts'
import * as downloadStore from '../downloads/store.ts'
import { listTokens } from '../downloads/tokens.ts'
import { type ActivationDeps, listActivations } from '../licences/activations.ts'
import { isCovered, type Release, showReleases } from '../products/releases.ts'
import { applyRelease, countLeft } from '../purchases/allowance.ts'
import { maskLicenseKey } from '../purchases/license-key.ts'
import { listOffers } from '../purchases/list.ts'
import { openLicenseKey } from '../purchases/purchases.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import * as purchaseStore from '../purchases/store.ts'
import { findWithdrawalRight } from '../withdrawals/waiver.ts'

export type OwnedProduct = {
  purchase: PurchaseRow
  licenseKey: string
  maskedKey: string
  downloadsLeft: number
  /** Seconds until the next download is allowed; 0 when it is allowed now. */
  waitSeconds: number
  /** Newest first. Includes releases after the entitlement ended. */
  releases: (Release & { isCovered: boolean; downloadsLeft: number })[]
  /** The exact prices of what it can become. */
  offers: Awaited<ReturnType<typeof listOffers>>
  /** Null for a bundle, and when no key or download works any more. */
  license: OwnedLicense | null
  hasInvoice: boolean
  canWithdraw: boolean
  /** The ZIP; null while no release is published or the ZIP is being built. */
  file: { sizeBytes: number; sha256: string | null } | null
}

export type OwnedLicense = {
  machines: Awaited<ReturnType<typeof listActivations>>
  tokens: Awaited<ReturnType<typeof listTokens>>
}

export type Dashboard = {
  products: OwnedProduct[]
  /** Purchases that a guest made for the user's address. */
  waiting: readonly PurchaseRow[]
  downloads: Awaited<ReturnType<typeof downloadStore.listOfUser>>
}

const DOWNLOADS_SHOWN = 10

type Deps = DownloadDeps & ActivationDeps

/** Reads everything that a buyer's page shows. */
export async function readDashboard(deps: Deps, userId: string): Promise<Dashboard> {
  const [purchases, waiting, delivered, downloads] = await Promise.all([
    purchaseStore.listOfUser(deps.db, userId),
    listWaiting(deps.db, userId),
    downloadStore.listDelivered(deps.db, userId),
    downloadStore.listOfUser(deps.db, userId, undefined, DOWNLOADS_SHOWN),
  ])
  return {
    products: await Promise.all(
      purchases.map((purchase) =>
        readProduct(deps, purchase, purchases, delivered.has(purchase.id)),
      ),
    ),
    waiting,
    downloads,
  }
}

async function readProduct(
  deps: Deps,
  row: PurchaseRow,
  all: readonly PurchaseRow[],
  isDelivered: boolean,
): Promise<OwnedProduct> {
  const { clock, db, log, secrets } = deps
  const licenseKey = openLicenseKey(secrets, row)
  const releases = await showReleases(deps, row.tier)
  const served = releases.find((release) => isCovered(release, row.entitled_until))
  const purchase = applyRelease(row, served?.version ?? null)
  const archive = purchaseStore.isEnded(purchase)
    ? null
    : await findKnownArchive(deps, purchase).catch((error) => {
        log.error({ err: error, tier: purchase.tier }, 'the files of a product cannot be read')
        return null
      })
  const checksum = archive && (await downloadStore.findChecksum(db, archive.etag))
  return {
    purchase,
    licenseKey,
    maskedKey: maskLicenseKey(licenseKey),
    downloadsLeft: Math.max(0, purchase.max_downloads - purchase.download_count),
    waitSeconds: Math.ceil(cooldownLeftMs(purchase, clock.ms()) / 1000),
    releases: releases.map((release) => ({
      ...release,
      isCovered: isCovered(release, row.entitled_until),
      downloadsLeft: countLeft(row, release.version),
    })),
    offers: await listOffers(deps, purchase, all),
    license: isLicensed(purchase) ? await readLicense(deps, purchase) : null,
    hasInvoice: purchase.amount_cents > 0,
    canWithdraw: findWithdrawalRight(row, { isDelivered, now: clock.now() }) === 'open',
    file: archive && { sizeBytes: archive.sizeBytes, sha256: checksum?.sha256 ?? null },
  }
}

const isLicensed = (purchase: PurchaseRow) =>
  purchaseStore.isCurrent(purchase) && !purchaseStore.isBundle(purchase)

async function readLicense(deps: Deps, { owner, id }: PurchaseRow): Promise<OwnedLicense> {
  const [machines, tokens] = await Promise.all([
    listActivations(deps, owner, id),
    listTokens(deps, owner, id),
  ])
  return { machines, tokens }
}
