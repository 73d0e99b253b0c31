/** The row of a new purchase: its license and the end of its updates. */
import { randomUUID } from 'node:crypto'
import { PRODUCT_DEFAULTS, type Tier } from '#catalogue/catalogue.ts'
import type { User } from '#identity/users.ts'
import type { Platform } from '#platform/platform.ts'
import type { Secrets } from '#platform/secrets.ts'
import type { Listed } from '../products/product-list.ts'
import { hashLicenseKey, newLicenseKey } from './license-key.ts'
import { MEMBER_PREFIX, type PurchaseRow } from './store.ts'

const DOWNLOADS_MAX = 5

export type Payment = {
  /** The payment intent, or the checkout session where the total was 0. */
  ref: string
  checkoutSessionId: string | null
  /** Null for a guest. */
  userId: string | null
  /** Proves that this shop opened the checkout of a guest; see `markGuest`. */
  guest: string | null
  tier: Tier
  /** The purchase that this one upgrades or renews. */
  fromId: string | null
  /** The products of a bundle, as the checkout offered them; empty: the product is no bundle. */
  members: readonly Tier[]
  /** The version of the waiver that the buyer agreed to. */
  waiver: string | null
  amountCents: number
  /** Null when the event does not contain it. */
  taxCents: number | null
  currency: string
}

/** Returns the row of a new purchase, with a new license or that of its chain. */
export function buildPurchase(
  deps: Pick<Platform, 'clock' | 'secrets'> & Listed,
  payment: Payment,
  { buyer, claimant, from, status }: Parties & Pick<PurchaseRow, 'status'>,
): PurchaseRow {
  const now = deps.clock.now()
  const id = randomUUID()
  return {
    owner: buyer?.id ?? from?.owner ?? id,
    id,
    chain_id: from?.chain_id ?? id,
    from_id: from?.id ?? null,
    bundle_id: payment.members.length > 0 ? id : null,
    user_id: buyer?.id ?? null,
    claimant_id: claimant?.id ?? null,
    is_claimant_proven: claimant?.is_verified ?? false,
    tier: payment.tier,
    status,
    payment_ref: payment.ref,
    checkout_session_id: payment.checkoutSessionId,
    amount_cents: payment.amountCents,
    currency: payment.currency,
    ...pickLicense(from ?? createLicense(deps.secrets)),
    download_count: 0,
    download_version: null,
    other_downloads_json: {},
    max_downloads: DOWNLOADS_MAX,
    last_download_at: null,
    entitled_until: computeEnd(now, findMonths(deps, payment), payment.tier, from),
    activations_limit: from?.activations_limit ?? null,
    activation_count: 0,
    waiver_json: payment.waiver === null ? null : { version: payment.waiver, at: now },
    withdrawn_at: null,
    revoked_at: from?.revoked_at ?? null,
    created_at: now,
  }
}

/** Returns the rows of a bundle's products, each with its own license. They cost nothing more. */
export function buildMembers(
  deps: Pick<Platform, 'clock' | 'secrets'> & Listed,
  payment: Payment,
  bundle: PurchaseRow,
  parties: Omit<Parties, 'from'>,
): PurchaseRow[] {
  const { status } = bundle
  return payment.members.map((tier) => {
    const part: Payment = {
      ...payment,
      ref: `${MEMBER_PREFIX}${bundle.id}_${tier}`,
      checkoutSessionId: null,
      tier,
      fromId: null,
      members: [],
      waiver: null,
      amountCents: 0,
    }
    const row = buildPurchase(deps, part, { ...parties, from: null, status })
    return { ...row, bundle_id: bundle.id }
  })
}

type Parties = {
  /** The account that has the purchase. */
  buyer: User | null
  /** The account that may claim it. */
  claimant: User | null
  from: PurchaseRow | null
}

type License = Pick<PurchaseRow, 'license_hash' | 'license_sealed'>

function createLicense(secrets: Secrets): License {
  const key = newLicenseKey()
  return {
    license_hash: hashLicenseKey(secrets, key),
    license_sealed: secrets.seal('license-key', key),
  }
}

/** An upgrade or renewal keeps the key of its chain. */
const pickLicense = ({ license_hash, license_sealed }: License): License => ({
  license_hash,
  license_sealed,
})

const findMonths = ({ productList }: Listed, { tier, members }: Payment) =>
  members.length > 0 ? null : (productList.find(tier) ?? PRODUCT_DEFAULTS).updatesMonths

/**
 * Returns the end of updates; null: they never end. A renewal counts from its time or from the end
 * before, whichever is later. An upgrade shortens nothing.
 */
export function computeEnd(
  now: string,
  months: number | null,
  tier: Tier,
  from: Pick<PurchaseRow, 'tier' | 'entitled_until'> | null,
): string | null {
  if (months === null || from?.entitled_until === null) return null
  const before = from?.entitled_until ?? now
  if (from?.tier === tier) return addMonths(before > now ? before : now, months)
  const end = addMonths(now, months)
  return before > end ? before : end
}

/** Returns the same day of a later month, or that month's last day. */
function addMonths(instant: string, months: number): string {
  const date = new Date(instant)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  if (date.getUTCDate() !== day) date.setUTCDate(0)
  return date.toISOString()
}
