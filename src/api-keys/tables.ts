import type { Json } from '#platform/db/tables.ts'

export type KeyPeriod = 'day' | 'week' | 'month'

export type ApiKeysTable = {
  user_id: string
  id: string
  name: string
  /** HMAC of the whole key. */
  hash: string
  key_prefix: string
  is_active: boolean
  /** The key's scopes; null: all scopes. */
  scopes_json: Json<string[]> | null
  /** Names and patterns of the models that the key may use; null: all models of the plan. */
  models_json: Json<string[]> | null
  rate_requests: number | null
  rate_seconds: number | null
  monthly_tokens: number | null
  /** Billionths of a dollar per period. */
  budget_nanos: number | null
  budget_period: KeyPeriod | null
  /** Networks from which it may be used, as `10.0.0.0/8`; null: from everywhere. */
  addresses_json: Json<string[]> | null
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  rotated_at: string | null
  /** The hash before a rotation, which works until the grace period ends. */
  previous_hash: string | null
  previous_until_at: string | null
}

declare module '#platform/db/tables.ts' {
  interface Tables {
    api_keys: ApiKeysTable
  }
}
