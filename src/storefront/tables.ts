import type { Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'
import type { Locale } from '#platform/locale.ts'

/**
 * `expired`: its downloads are used up. `upgraded`: a later purchase of its chain replaces it.
 * `disputed`: a bank holds the money. The last three have ended. See `orders/chains.ts`.
 */
export const PURCHASE_STATUSES = [
  'completed',
  'expired',
  'upgraded',
  'disputed',
  'refunded',
  'withdrawn',
  'revoked',
] as const
export type PurchaseStatus = (typeof PURCHASE_STATUSES)[number]

/** The buyer's consent to delivery at once, with which the right of withdrawal ends. */
export type Waiver = { version: string; at: Instant }

export type ContactSubject = 'sales' | 'support' | 'enterprise' | 'partnership' | 'other'

type StoreSessionsTable = {
  user_id: string
  /** The id in the account's list of sessions. */
  id: string
  /** Keyed hash of the cookie's token. */
  token_hash: string
  user_agent: string | null
  ip_address: string | null
  created_at: Instant
  last_used_at: Instant
  expires_at: Instant
}

type PurchasesTable = {
  /** The user; after the deletion of the account, the id of its chain. */
  owner: string
  id: string
  /** The id of the first purchase; upgrades and renewals share its license key. */
  chain_id: string
  /** The purchase that this one upgrades or renews. */
  from_id: string | null
  /**
   * The purchase of the bundle that paid for this one; a bundle's own purchase names itself. Null
   * without a bundle.
   */
  bundle_id: string | null
  /** Null after the deletion of the account; the row stays for accounting. */
  user_id: string | null
  /**
   * The account whose address a guest gave at the payment page. It has the purchase after its
   * owner has claimed it. Null once `user_id` is set.
   */
  claimant_id: string | null
  /**
   * The claimant had verified that address before the purchase, so their session alone may claim it.
   * Kept, because the account may change its address later.
   */
  is_claimant_proven: boolean
  tier: Tier
  /** Derived from the chain's payments and the three dates below. */
  status: PurchaseStatus
  /** The payment intent; the checkout session where the total was 0; a prefix of `isUnpaid`. */
  payment_ref: string
  checkout_session_id: string | null
  amount_cents: number
  currency: string
  license_hash: string
  license_sealed: string
  /** Downloads of `download_version`. */
  download_count: number
  /** The newest release that was downloaded while it was the newest; null before the first. */
  download_version: string | null
  /** Downloads of other releases, by version. */
  other_downloads_json: Readonly<Record<string, number>>
  max_downloads: number
  last_download_at: Instant | null
  /** The end of updates; null: they never end. */
  entitled_until: Instant | null
  /** The active machines of the chain; counted on its first purchase. */
  activation_count: number
  /** The limit of machines that a superuser set for this purchase; null: the product's. */
  activations_limit: number | null
  /** Null when the buyer kept the right of withdrawal. */
  waiver_json: Waiver | null
  withdrawn_at: Instant | null
  /** When a superuser revoked it, independently of its payment. */
  revoked_at: Instant | null
  created_at: Instant
}

/** A machine that a license is, or was, active on. */
type ActivationsTable = {
  /** The owner of the purchases. */
  owner: string
  id: string
  /** The chain of purchases that has the license. */
  chain_id: string
  /** Keyed hash of the program's fingerprint of the machine. */
  fingerprint_hash: string
  name: string | null
  platform: string | null
  /** The program's version at its last activation. */
  version: string | null
  activated_at: Instant
  last_seen_at: Instant
  /** Null while the machine is active. Released rows count towards the releases of their month. */
  released_at: Instant | null
}

/** The Ed25519 keys that sign offline licenses and updates. The highest number signs. */
type LicenseSigningKeysTable = {
  number: number
  kid: string
  public_x: string
  private_sealed: string
  created_at: Instant
}

/** The open checkout of a user for a tier, or of a purchase for its upgrade or renewal. */
type StoreCheckoutsTable = {
  user_id: string
  /** The tier, or `from:` and the id of the purchase. */
  about: string
  tier: Tier
  /** The idempotency key at the processor, so that two simultaneous tabs open the same session. */
  attempt: string
  session_id: string | null
}

type DownloadsTable = {
  user_id: string
  id: string
  purchase_id: string
  version: string
  etag: string
  /** True for a plain archive that a token or a license key has fetched. */
  is_plain: boolean
  resume_count: number
  /** Total bytes sent of the archive, including all resumes and running downloads. */
  sent_bytes: number
  ip_address: string
  user_agent: string
  country: string | null
  downloaded_at: Instant
}

/** A token with which machines download the plain archives of a license. */
type DownloadTokensTable = {
  /** The owner of the purchases. */
  owner: string
  id: string
  chain_id: string
  /** Keyed hash of the token. */
  token_hash: string
  name: string
  created_at: Instant
  last_used_at: Instant | null
  expires_at: Instant
}

/** Downloads of a token or a license key on a UTC day. */
type DownloadDaysTable = {
  owner: string
  /** The token's id, or the chain of the key. */
  credential_id: string
  day: string
  /** The last version that was requested. */
  version: string
  requests: number
  /** Total bytes, including running downloads. */
  sent_bytes: number
}

/** The whole ZIP's SHA-256, computed after its first download. */
type ArchiveChecksumsTable = { etag: string; sha256: string; size_bytes: number }

type ContactMessagesTable = {
  id: string
  name: string
  email: string
  email_key: string
  subject: ContactSubject
  message: string
  /** The sender's language; null: unknown. */
  locale: Locale | null
  created_at: Instant
  /** Null until the notification was sent. */
  notified_at: Instant | null
  /** The superuser who answers it. */
  assigned_to: string | null
  closed_at: Instant | null
}

/** A superuser's answer to a message. It goes with the message. */
type ContactRepliesTable = {
  id: string
  message_id: string
  /** Null after the deletion of the superuser's account. */
  author_id: string | null
  text: string
  created_at: Instant
}

/** A promotion code that a superuser made. The coupon is at the processor. */
type DiscountsTable = {
  id: string
  code: string
  code_key: string
  coupon_id: string
  /** Null: the code works only through this service, which checks its conditions. */
  promotion_id: string | null
  percent_off: number | null
  amount_off_cents: number | null
  currency: string | null
  /** Null: all products. */
  tiers_json: readonly Tier[] | null
  /** Only for owners of this product. */
  owners_of: Tier | null
  redemptions_max: number | null
  until_at: Instant | null
  created_at: Instant
  deleted_at: Instant | null
}

/** A statement of withdrawal from a purchase, sent without sign-in. */
type WithdrawalsTable = {
  id: string
  /** As the visitor entered it; it may belong to no purchase. */
  order_id: string
  email: string
  email_key: string
  reason: string | null
  created_at: Instant
  /** Null until the second step. */
  confirmed_at: Instant | null
}

/** A product that superusers edit. Retired products stay for their buyers. */
type StoreProductsTable = {
  tier: Tier
  /** Products on sale are shown in ascending order. */
  position: number
  /** In the form of the catalogue's file. */
  product_json: unknown
  /** The list's revision at the last change of this product. */
  revision: number
  created_at: Instant
  updated_at: Instant
  retired_at: Instant | null
}

/** One row, from the first change of a product or release on. */
type StoreProductListTable = {
  number: number
  revision: number
  /** False while the built-in products are sold. */
  is_edited: boolean
}

export const RELEASE_STATUSES = ['draft', 'published', 'withdrawn'] as const
export type ReleaseStatus = (typeof RELEASE_STATUSES)[number]

/** A release that a superuser uploaded. Its files are in the product's store. */
type StoreReleasesTable = {
  id: string
  tier: Tier
  version: string
  status: ReleaseStatus
  /** Markdown. */
  notes: string
  /** Null until every file is stored. */
  file_count: number | null
  /** Of all files, unpacked. */
  size_bytes: number | null
  /** Of the plain archive; null before the publication. */
  sha256: string | null
  left_out_json: readonly { path: string; reason: string }[]
  created_at: Instant
  /** Of the first publication. */
  published_at: Instant | null
  withdrawn_at: Instant | null
}

/** An email about a release that a buyer got. */
type ReleaseNoticesTable = { user_id: string; tier: Tier; version: string; sent_at: Instant }

/** Buyers who want no emails about releases. */
type ReleaseOptoutsTable = { user_id: string; created_at: Instant }

declare module '#platform/db/tables.ts' {
  interface Tables {
    store_sessions: StoreSessionsTable
    purchases: PurchasesTable
    store_checkouts: StoreCheckoutsTable
    downloads: DownloadsTable
    archive_checksums: ArchiveChecksumsTable
    download_tokens: DownloadTokensTable
    download_days: DownloadDaysTable
    activations: ActivationsTable
    license_signing_keys: LicenseSigningKeysTable
    contact_messages: ContactMessagesTable
    contact_replies: ContactRepliesTable
    withdrawals: WithdrawalsTable
    discounts: DiscountsTable
    release_notices: ReleaseNoticesTable
    release_optouts: ReleaseOptoutsTable
    store_products: StoreProductsTable
    store_product_list: StoreProductListTable
    store_releases: StoreReleasesTable
  }
}
