import type { Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'

export type PurchaseStatus = 'completed' | 'refunded' | 'expired'
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
  /** The user; after the deletion of the account, the purchase's own id. */
  owner: string
  id: string
  /** Null after the deletion of the account; the row stays for accounting. */
  user_id: string | null
  tier: Tier
  status: PurchaseStatus
  /** The payment intent, or the checkout session where the total was 0. */
  payment_ref: string
  checkout_session_id: string | null
  amount_cents: number
  currency: string
  license_hash: string
  license_sealed: string
  download_count: number
  max_downloads: number
  last_download_at: Instant | null
  /** The end of updates; null: they never end. */
  entitled_until: Instant | null
  /** The number of machines that are active now. */
  activation_count: number
  /** The limit for this buyer; null: the product's. */
  activations_limit: number | null
  created_at: Instant
}

/** A machine that a license is, or was, active on. */
type ActivationsTable = {
  /** The owner of the purchase. */
  owner: string
  id: string
  purchase_id: string
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

/** The open checkout of a user for a tier. */
type StoreCheckoutsTable = {
  user_id: string
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
  resume_count: number
  /** Total bytes sent of the archive, including all resumes and running downloads. */
  sent_bytes: number
  ip_address: string
  user_agent: string
  country: string | null
  downloaded_at: Instant
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
  created_at: Instant
  /** Null until the notification was sent. */
  notified_at: Instant | null
}

declare module '#platform/db/tables.ts' {
  interface Tables {
    store_sessions: StoreSessionsTable
    purchases: PurchasesTable
    store_checkouts: StoreCheckoutsTable
    downloads: DownloadsTable
    archive_checksums: ArchiveChecksumsTable
    activations: ActivationsTable
    license_signing_keys: LicenseSigningKeysTable
    contact_messages: ContactMessagesTable
  }
}
