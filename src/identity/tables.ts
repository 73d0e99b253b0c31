import type { AllowanceSlice, Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'
import type { Locale } from '#platform/locale.ts'

export type SubscriptionStatus = 'free' | 'active' | 'cancelled' | 'past_due'
export type OAuthProvider = 'google' | 'github'

export type UsersTable = {
  id: string
  /** As typed. Addresses are compared by `email_key`. */
  email: string
  email_key: string
  full_name: string | null
  /**
   * Address and name in lower case, for the superusers' search. Only `insertUser` and `updateUser`
   * write it.
   */
  search_text: string
  avatar_url: string | null
  /** The language of the user's emails and pages; null: unknown. */
  locale: Locale | null
  /** Null: the account has no password. */
  password_hash: string | null
  /** The provider of an account without a password; null for accounts with one. */
  oauth_provider: OAuthProvider | null
  is_active: boolean
  is_verified: boolean
  /**
   * When the address was verified without a session of this account. Then the earlier password and
   * sign-in methods may be another person's. Null otherwise.
   */
  verified_apart_at: Instant | null
  is_superuser: boolean
  is_totp_on: boolean
  subscription_status: SubscriptionStatus
  /** The tier for access control: the override, otherwise the processor's. */
  subscription_tier: Tier
  processor_tier: Tier
  tier_override: Tier | null
  /** When the override ends; null: when a superuser removes it. */
  tier_override_until: Instant | null
  /**
   * The part of the allowance of `processor_tier` that payments bought, the oldest first; null when
   * no payment covers it.
   */
  slices_json: readonly AllowanceSlice[] | null
  processor_customer_id: string | null
  created_at: Instant
  updated_at: Instant
  last_login_at: Instant | null
}

type SessionsTable = {
  user_id: string
  id: string
  user_agent: string | null
  ip_address: string | null
  created_at: Instant
  /** When the user entered a credential; a refresh does not change it. */
  authenticated_at: Instant
  last_used_at: Instant
  expires_at: Instant
  revoked_at: Instant | null
  /** The open view of another account (`account-views.ts`); null: none. */
  view_id: string | null
  viewed_user_id: string | null
}

type SessionTokensTable = {
  user_id: string
  session_id: string
  jti: string
  issued_at: Instant
  spent_at: Instant | null
  successor: string | null
}

type OneTimeTokensTable = {
  /** The user, or a random UUID for an entry without a user. */
  owner: string
  hash: string
  user_id: string | null
  purpose: string
  data_json: Record<string, unknown>
  created_at: Instant
  expires_at: Instant
  spent_at: Instant | null
  voided_at: Instant | null
}

type SigningKeysTable = {
  kid: string
  slot: number
  public_x: string
  private_sealed: string
  signs_from: Instant
  verifies_until: Instant
}

export type UserDevicesTable = {
  user_id: string
  /**
   * The marks of a sign-in: the browser's cookie, the network, the program in its wider network.
   */
  kind: 'browser' | 'network' | 'program'
  /** The keyed hash of the mark. */
  mark: string
  first_seen_at: Instant
  last_seen_at: Instant
}

type OAuthLinksTable = {
  user_id: string
  provider: OAuthProvider
  subject: string
  email: string | null
  linked_at: Instant
}

type TotpTable = {
  user_id: string
  secret_sealed: string
  /** The last 30-second step whose code was used, so that a code works once. */
  last_step: number
  created_at: Instant
  confirmed_at: Instant | null
}

type RecoveryCodesTable = { user_id: string; hash: string; spent_at: Instant | null }

type PasskeysTable = {
  user_id: string
  id: string
  credential_id: string
  public_key: Uint8Array
  counter: number
  transports: string
  name: string
  created_at: Instant
  last_used_at: Instant | null
}

/** Counts of users by the day of their registration. */
type UserCountsTable = {
  day: string
  slot: number
  users: number
  verified: number
  active: number
}

declare module '#platform/db/tables.ts' {
  interface Tables {
    users: UsersTable
    user_counts: UserCountsTable
    sessions: SessionsTable
    session_tokens: SessionTokensTable
    one_time_tokens: OneTimeTokensTable
    signing_keys: SigningKeysTable
    user_devices: UserDevicesTable
    oauth_links: OAuthLinksTable
    totp: TotpTable
    recovery_codes: RecoveryCodesTable
    passkeys: PasskeysTable
  }
}
