// The shapes of the service's answers that this app reads.

export type User = {
  id: string
  email: string
  full_name: string | null
  avatar_url: string | null
  is_active: boolean
  is_verified: boolean
  oauth_provider: string | null
  subscription_status: SubscriptionStatus
  /** Of a plan, which may not be on offer any more. */
  subscription_tier: string
  created_at: string
  is_superuser: boolean
  has_password: boolean
  totp_enabled: boolean
  entitlements: Entitlement[]
}

/** What a plan may grant. */
export type Entitlement = 'ai' | 'rag' | 'api_keys'
export type SubscriptionStatus = 'free' | 'active' | 'cancelled' | 'past_due'

export type Token = { access_token: string; refresh_token: string; token_type: 'bearer' }

export type Message = { message: string }

export type Session = {
  id: string
  user_agent: string | null
  ip_address: string | null
  created_at: string
  last_used_at: string | null
  current: boolean
}

/** `price` is a month's and `amount_yearly` a year's, in units of `currency`; both are missing while the processor cannot be asked. */
export type Plan = {
  name: string
  tier: string
  price?: number | null
  price_monthly?: string | null
  price_yearly?: string | null
  amount_yearly?: number | null
  currency?: string | null
  features: string[]
  grants: Entitlement[]
}

/** The last two say when what is running renews, or ends; null and false where nothing runs. */
export type Subscription = {
  status: SubscriptionStatus
  tier: string
  processor_customer_id: string | null
  current_period_end: string | null
  cancel_at_period_end: boolean
  /** The processor's own word, as `paused`; null where nothing runs. */
  processor_status: string | null
  entitlements: Entitlement[]
}

export type ApiKey = {
  id: string
  name: string
  key_prefix: string
  is_active: boolean
  created_at: string
  last_used_at: string | null
  expires_at: string | null
}

export type ApiKeyCreated = ApiKey & { key: string }

export type TokenUsage = { prompt_tokens: number; completion_tokens: number; total_tokens: number }

export type UsageTotals = TokenUsage & { requests: number; cost_usd: number }
export type UsageGroup = UsageTotals & { key: string }
export type Usage = { from: string; to: string; totals: UsageTotals; groups: UsageGroup[] }

export type StoredDocument = {
  id: string
  external_id: string | null
  external_ids: string[]
  source: string | null
  chunks: number
  characters: number
  metadata: Record<string, unknown>
  created_at: string
}

export type Chunk = { id: string; content: string; score: number; metadata: Record<string, unknown> }

/** What of a file is left out; `page` is null where a file has no pages. */
export type IngestWarning = { page: number | null; reason: string }

export type Ingested = { document_ids: string[]; chunks_created: number; warnings: IngestWarning[] }

export type Role = 'system' | 'user' | 'assistant'

export type AdminStats = {
  total_users: number
  active_subscriptions: number
  new_users_7d: number
  verified_users: number
}

export type AdminUser = {
  id: string
  email: string
  full_name: string | null
  is_active: boolean
  is_verified: boolean
  is_superuser?: boolean
  subscription_status: SubscriptionStatus
  subscription_tier: string
  tier_override?: string | null
  created_at: string
  last_login_at: string | null
}

export type Paged = { total: number; page: number; limit: number; pages: number }

export type ContactMessage = {
  id: string
  name: string
  email: string
  subject: string
  message: string
  created_at: string
  /** Null while the notification has not been handed over to the mail server. */
  notified_at?: string | null
}
