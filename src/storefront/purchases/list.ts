/** A buyer's purchases, and what each can be upgraded to or renewed for. */
import { type Static, Type } from 'typebox'
import { Instant, Nullable } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { listDelivered } from '../downloads/store.ts'
import { type Quote, quoteRenewal, quoteUpgrade } from '../orders/quotes.ts'
import type { Listed } from '../products/product-list.ts'
import { isCovered, type ProductDeps, showReleases } from '../products/releases.ts'
import { findWithdrawalRight } from '../withdrawals/waiver.ts'
import { applyRelease, countLeft } from './allowance.ts'
import { maskLicenseKey } from './license-key.ts'
import { computeEnd } from './new-purchase.ts'
import { openLicenseKey, PurchaseStatusName } from './purchases.ts'
import * as store from './store.ts'

const price = {
  amount_cents: Type.Integer({ description: 'In minor units, before taxes that are added' }),
  currency: Type.String(),
}

export const PurchaseView = Type.Object(
  {
    id: Type.String(),
    tier: Type.String(),
    status: PurchaseStatusName,
    license_key_masked: Nullable(Type.String({ description: 'Null for a bundle' })),
    download_count: Type.Integer(),
    max_downloads: Type.Integer(),
    /** Null: updates never end. */
    entitled_until: Nullable(Instant),
    // The release that a download would get now; null when nothing is published.
    version: Nullable(Type.String()),
    releases: Type.Array(
      Type.Object(
        { version: Type.String(), published_at: Instant, downloads_left: Type.Integer() },
        { title: 'PurchaseRelease' },
      ),
      { description: 'The releases that the purchase covers, newest first' },
    ),
    from_id: Nullable(Type.String({ description: 'The purchase that this one replaces' })),
    bundle_id: Nullable(
      Type.String({
        description:
          'The purchase of the bundle that this one belongs to; a bundle’s own is its `id`',
      }),
    ),
    upgrades: Type.Array(
      Type.Object({ tier: Type.String(), name: Type.String(), ...price }, { title: 'Upgrade' }),
    ),
    renewal: Nullable(Type.Object({ ...price, until: Instant }, { title: 'Renewal' })),
    waiver: Nullable(
      Type.Object(
        { version: Type.String(), at: Instant },
        { title: 'Waiver', description: 'The consent with which the right of withdrawal ends' },
      ),
    ),
    can_withdraw: Type.Boolean(),
    created_at: Instant,
  },
  { title: 'Purchase' },
)
export type PurchaseView = Static<typeof PurchaseView>

type ListDeps = Pick<Platform, 'config' | 'db' | 'secrets'> & ProductDeps

/** Lists the user's purchases, newest first. */
export async function listPurchases(deps: ListDeps, userId: string): Promise<PurchaseView[]> {
  const rows = await store.listOfUser(deps.db, userId)
  const delivered = await listDelivered(deps.db, userId)
  const now = deps.clock.now()
  return Promise.all(
    rows.map(async (row) => {
      const all = store.isBundle(row) ? [] : await showReleases(deps, row.tier)
      const releases = all.filter((release) => isCovered(release, row.entitled_until))
      const version = releases[0]?.version ?? null
      const { status, download_count } = applyRelease(row, version)
      return {
        id: row.id,
        tier: row.tier,
        status,
        license_key_masked: store.isBundle(row)
          ? null
          : maskLicenseKey(openLicenseKey(deps.secrets, row)),
        download_count,
        max_downloads: row.max_downloads,
        entitled_until: row.entitled_until,
        version,
        releases: releases.map((release) => ({
          version: release.version,
          published_at: release.publishedAt,
          downloads_left: countLeft(row, release.version),
        })),
        from_id: row.from_id,
        bundle_id: row.bundle_id,
        ...(await listOffers(deps, row, rows)),
        waiver: row.waiver_json,
        can_withdraw:
          findWithdrawalRight(row, { isDelivered: delivered.has(row.id), now }) === 'open',
        created_at: row.created_at,
      }
    }),
  )
}

/** Returns the exact prices that a checkout would charge now. */
export async function listOffers(
  deps: Pick<Platform, 'config' | 'db' | 'clock'> & Listed,
  row: store.PurchaseRow,
  all: readonly store.PurchaseRow[],
): Promise<Pick<PurchaseView, 'upgrades' | 'renewal'>> {
  const { productList } = deps
  const owned = all.filter(store.isOwned).map(({ tier }) => tier)
  const upgrades: PurchaseView['upgrades'] = []
  for (const product of productList.sold) {
    if (owned.includes(product.tier)) continue
    const quote = await quoteUpgrade(deps, product, row)
    if (quote) upgrades.push({ tier: product.tier, name: product.name, ...viewPrice(quote) })
  }
  const product = productList.findSold(row.tier)
  const renewal = product ? quoteRenewal(product, row) : null
  const until = product ? computeEnd(deps.clock.now(), product.updatesMonths, row.tier, row) : null
  return {
    upgrades,
    renewal: renewal && until !== null ? { ...viewPrice(renewal), until } : null,
  }
}

const viewPrice = ({ cents, product }: Quote) => ({
  amount_cents: cents,
  currency: product.currency,
})
