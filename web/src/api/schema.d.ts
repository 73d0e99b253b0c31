// Made from docs/openapi.json by `npm run docs`; not for editing.

export type AccountExport = {
  id: string
  email: string
  full_name: string | null
  avatar_url: string | null
  locale: Locale | null
  is_verified: boolean
  oauth_provider: OAuthProvider | null
  subscription_status: SubscriptionStatus
  subscription_tier: string
  created_at: string
  updated_at: string
  last_login_at: string | null
  exported_at: string
}

export type AccountView = {
  access_token: string
  expires_at: string
}

export type AdminAuditEntry = {
  id: string
  /** With `position` it is where `audit verify` finds the entry */
  chain: number
  /** Null for a moment, until the entry is linked into its chain */
  position: number | null
  at: string
  action: string
  /** Null: nobody who is known, the service itself, or a deleted user */
  actor_id: string | null
  subject: string | null
  data: JsonObject | null
  /** The address of `actor_id` */
  actor_email: string | null
  actor_name: string | null
  /** The address of the user in `subject` */
  subject_email: string | null
  subject_name: string | null
}

export type AdminCall = {
  id: string
  at: string
  user_id: string
  /** Null after the account’s deletion */
  email: string | null
  route: string
  model: string
  vendor: string
  outcome: UsageOutcome
  /** The status of the reply */
  status: number
  cost_usd: number
  latency_ms: number
  error_code: string | null
  /** The reply’s `X-Request-Id` */
  request_id: string | null
}

export type AdminDocument = {
  /** Unique for each user only */
  id: string
  at: string
  user_id: string
  /** Null after the account’s deletion */
  email: string | null
  characters: number
  /** The size of the stored file; null without one */
  file_bytes: number | null
  chunks: number
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type AdminError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'email_taken' | 'email_domain_refused' | 'invitation_not_found' | 'invitation_required' | 'credentials_wrong' | 'two_factor_code_required' | 'two_factor_code_wrong' | 'proof_required' | 'emailed_code_wrong' | 'password_reset_required' | 'sign_in_queue_full' | 'refresh_token_invalid' | 'session_not_found' | 'fresh_sign_in_required' | 'verification_token_invalid' | 'reset_token_invalid' | 'undo_token_invalid' | 'setup_link_invalid' | 'password_wrong' | 'current_password_wrong' | 'password_not_set' | 'email_in_use' | 'confirmation_missing' | 'oauth_provider_not_found' | 'oauth_provider_not_configured' | 'oauth_provider_unreachable' | 'oauth_provider_not_linked' | 'last_sign_in_method' | 'two_factor_already_on' | 'two_factor_not_on' | 'passkey_limit_reached' | 'passkey_not_verified' | 'passkey_not_recognised' | 'passkey_not_found' | 'user_not_found' | 'account_not_viewable' | 'last_superuser' | 'superuser_unverified' | 'account_appeared' | 'unknown_price' | 'unknown_promotion_code' | 'promotion_code_used' | 'trial_needs_verified_email' | 'no_subscription' | 'same_plan' | 'payment_due' | 'subscription_ending' | 'subscription_pausing' | 'subscription_paused' | 'subscription_disputed' | 'not_pausable' | 'nothing_to_resume' | 'shorter_interval' | 'smaller_longer' | 'change_pending' | 'preview_outdated' | 'payment_refused' | 'payment_to_confirm' | 'nothing_to_refund' | 'refund_too_large' | 'invalid_unsubscribe_link' | 'no_billing_account' | 'billing_not_configured' | 'processor_unreachable' | 'processor_failed' | 'invalid_signature' | 'invalid_payload' | 'sandbox_only' | 'not_signed_in' | 'field_missing' | 'cross_site' | 'tier_invalid' | 'already_owned' | 'free_product_taken' | 'not_an_upgrade' | 'not_renewable' | 'promotion_code_unusable' | 'contact_message_not_found' | 'amount_too_small' | 'discount_code_taken' | 'discount_not_found' | 'waiver_outdated' | 'optout_link_invalid' | 'claim_link_invalid' | 'claim_needs_sign_in' | 'claim_of_another_account' | 'withdrawal_not_found' | 'not_for_sale' | 'checkout_busy' | 'purchase_not_found' | 'no_invoice' | 'purchase_upgraded' | 'purchase_in_bundle' | 'bundle_without_files' | 'purchase_not_restorable' | 'purchase_ended' | 'not_an_extension' | 'no_active_purchase' | 'purchase_id_invalid' | 'payment_disputed' | 'download_limit_reached' | 'download_cooldown' | 'resume_limit_reached' | 'range_not_satisfiable' | 'product_files_missing' | 'zip_failed' | 'products_fixed' | 'product_not_found' | 'product_exists' | 'product_slug_taken' | 'product_in_use' | 'product_changed' | 'release_refused' | 'release_exists' | 'release_incomplete' | 'products_dir_needed' | 'release_not_draft' | 'release_not_publishable' | 'release_not_published' | 'release_not_stored' | 'license_not_found' | 'license_revoked' | 'activations_full' | 'activation_not_found' | 'not_activated' | 'release_limit_reached' | 'download_token_not_found' | 'token_limit_reached' | 'download_credential_invalid' | 'release_not_found' | 'release_downloads_used' | 'daily_limit_reached' | 'contact_notification_failed' | 'payment_not_found' | 'job_not_found' | 'clock_fixed' | 'clock_moving' | 'clock_step_refused' | 'switch_not_found' | 'switch_subject_unknown' | 'switch_limit_reached'
}

export type AdminInvoice = {
  /** The id at the processor */
  id: string
  number: string | null
  status: string
  /** Null after the account’s deletion */
  user_id: string | null
  email: string | null
  tier: string | null
  currency: string
  /** In minor units of the currency */
  total_cents: number
  /** In minor units of the currency */
  paid_cents: number
  payment_id: string | null
  created_at: string
}

export type AdminUser = {
  id: string
  email: string
  full_name: string | null
  is_active: boolean
  is_verified: boolean
  is_superuser: boolean
  subscription_status: SubscriptionStatus
  subscription_tier: string
  tier_override: string | null
  tier_override_until: string | null
  created_at: string
  last_login_at: string | null
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type AiError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'call_not_found' | 'budget_exhausted' | 'token_budget_exhausted' | 'key_budget_exhausted' | 'free_needs_verified_email' | 'free_allowance_taken' | 'budget_busy' | 'provider_not_configured' | 'model_not_allowed' | 'choices_not_allowed' | 'model_not_found' | 'model_not_listed' | 'vendor_refused' | 'request_not_supported' | 'context_length_exceeded' | 'vendor_overloaded' | 'vendor_timeout' | 'vendor_failed' | 'vendor_unauthorized' | 'vendor_sandbox_closed' | 'model_switched_off' | 'vendor_switched_off' | 'gateway_full' | 'embeddings_not_supported' | 'rerank_not_supported' | 'dimensions_fixed' | 'responses_not_kept' | 'response_not_found' | 'tokens_unsupported'
}

export type AliasRoutes = {
  name: string
  strategy: 'order' | 'weight' | 'price' | 'latency' | null
  models: Array<string>
}

export type AllUsageGroup = {
  key: string
  email: string | null
  requests: number
  failed: number
  /** The caller disconnected. */
  cancelled: number
  prompt_tokens: number
  /** Included in `prompt_tokens`. */
  cached_tokens: number
  completion_tokens: number
  /** Computed from the price list. */
  cost_usd: number
  latency_ms: Percentiles | null
  first_token_ms: Percentiles | null
}

export type AllUsageGrouping = 'day' | 'vendor' | 'model' | 'plan' | 'user' | 'outcome'

export type AllUsageTotals = {
  requests: number
  failed: number
  /** The caller disconnected. */
  cancelled: number
  prompt_tokens: number
  /** Included in `prompt_tokens`. */
  cached_tokens: number
  completion_tokens: number
  /** Computed from the price list. */
  cost_usd: number
  latency_ms: Percentiles | null
  first_token_ms: Percentiles | null
}

export type Allowance = {
  period_start: string
  /** The billing period of a paid plan, or the trial; otherwise the UTC month. */
  period_end: string
  /** The end of the period. Null if it has passed: the remaining dollars can be used until the next payment. */
  renews_at: string | null
  /** Dollars that can be used in this period; null: no limit. */
  limit_usd: number | null
  used_usd: number
  /** Dollars reserved by running calls. */
  reserved_usd: number
  /** Active keys with their own budget in dollars. */
  keys: Array<KeyAllowance>
  /** Alerts that were written when 80 or 100 percent of the period’s dollars were used. Each is emailed to the user once. */
  alerts: Array<AllowanceAlert>
}

export type AllowanceAlert = {
  /** 80 or 100. */
  percent: number
  at: string
}

/** The first event: the ids of the answer and of its question. */
export type AnswerBegun = {
  id: string
  parent_id: string | null
  question_id: string | null
}

/** Why the answer failed. */
export type AnswerProblem = {
  code: string
  detail: string
}

/** Visible reasoning of the model. */
export type AnswerReasoning = {
  token: string
}

/** How long the model has thought, after its reasoning. */
export type AnswerThought = {
  ms: number
}

export type AnswerUsage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

export type AnthropicError = {
  type: 'error'
  error: AnthropicErrorObject
}

export type AnthropicErrorObject = {
  type: string
  message: string
  code: string
}

export type AnthropicMessage = {
  id: string
  type: 'message'
  role: 'assistant'
  model: string
  content: Array<JsonObject>
  stop_reason: string | null
  stop_sequence: string | null
  usage: AnthropicUsage
  [other: string]: unknown
}

/** The first of Anthropic’s events; `content_block_…`, `message_delta` and `message_stop` follow, or `error`. */
export type AnthropicMessageEvent = {
  type: string
  [other: string]: unknown
}

export type AnthropicMessageParam = {
  role: 'user' | 'assistant' | 'system'
  content: string | Array<ContentBlock>
  [other: string]: unknown
}

export type AnthropicTool = {
  name?: string
  type?: string | null
  [other: string]: unknown
}

export type AnthropicToolChoice = {
  type: 'auto' | 'any' | 'tool' | 'none'
  name?: string
  [other: string]: unknown
}

export type AnthropicUsage = {
  input_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
  output_tokens: number
  /** US dollars, by the price list. */
  cost_usd?: number
  [other: string]: unknown
}

export type ApiKey = {
  id: string
  name: string
  key_prefix: string
  is_active: boolean
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  /** What it may do; all that keys may, where there are none. `rag:read` searches, asks and lists. */
  scopes?: Array<KeyScope>
  /** Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`). */
  models?: Array<string>
  /** Networks from which it may be used: `203.0.113.7`, `10.0.0.0/8`, `2001:db8::/32`. */
  addresses?: Array<string>
  rate_limit?: KeyRate
  monthly_token_limit?: number
  budget?: KeyBudget
}

export type ApiKeyChange = {
  name?: string
  /** A date and time in ISO 8601, in the future. */
  expires_at?: string | null
  /** What it may do; all that keys may, where there are none. `rag:read` searches, asks and lists. */
  scopes?: Array<KeyScope> | null
  /** Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`). */
  models?: Array<string> | null
  /** Networks from which it may be used: `203.0.113.7`, `10.0.0.0/8`, `2001:db8::/32`. */
  addresses?: Array<string> | null
  rate_limit?: KeyRate | null
  monthly_token_limit?: number | null
  budget?: KeyBudget | null
}

export type ApiKeyCreated = {
  id: string
  name: string
  key_prefix: string
  is_active: boolean
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  /** What it may do; all that keys may, where there are none. `rag:read` searches, asks and lists. */
  scopes?: Array<KeyScope>
  /** Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`). */
  models?: Array<string>
  /** Networks from which it may be used: `203.0.113.7`, `10.0.0.0/8`, `2001:db8::/32`. */
  addresses?: Array<string>
  rate_limit?: KeyRate
  monthly_token_limit?: number
  budget?: KeyBudget
  key: string
}

export type ApiKeySelf = {
  id: string
  name: string
  key_prefix: string
  is_active: boolean
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  /** What it may do; all that keys may, where there are none. `rag:read` searches, asks and lists. */
  scopes?: Array<KeyScope>
  /** Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`). */
  models?: Array<string>
  /** Networks from which it may be used: `203.0.113.7`, `10.0.0.0/8`, `2001:db8::/32`. */
  addresses?: Array<string>
  rate_limit?: KeyRate
  monthly_token_limit?: number
  budget?: KeyBudget
  left: KeyLeft
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type ApiKeysError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'key_not_found' | 'key_limit_reached' | 'key_not_active' | 'api_key_needed' | 'key_changed'
}

export type AskConversationCitationsEvent = {
  citations: Array<JsonObject>
}

export type AskConversationRequest = {
  parent_id?: string | null
  parts?: Array<MessagePart>
  model?: string | null
  /** Whether the answer may read documents: if useful, never, or these only. */
  documents?: 'auto' | 'off' | Array<string>
  /** Collections that are chosen in addition to documents. */
  collections?: Array<string>
  /** An answer, without `parts`: answers its question again. A question, with `parts`: adds an edited question beside it. */
  replaces?: string
}

export type AskConversationSourcesEvent = {
  /** All so far. */
  sources: Array<JsonObject>
}

export type AskConversationTitleEvent = {
  title: string
}

export type AskConversationToolEvent = {
  name: 'search' | 'list_documents' | 'fetch'
  input: JsonObject
  state: 'running' | 'done'
  /** The number of results, when it is done. */
  found?: number
}

export type AskConversationUsageEvent = {
  usage: AnswerUsage
  model: string
  finish_reason: string | null
  cost_usd: number
}

export type AskTemporarilyCitationsEvent = {
  citations: Array<JsonObject>
}

export type AskTemporarilyRequest = {
  messages: Array<TemporaryTurn>
  model?: string | null
  /** Whether the answer may read documents: if useful, never, or these only. */
  documents?: 'auto' | 'off' | Array<string>
  /** Collections that are chosen in addition to documents. */
  collections?: Array<string>
  settings?: ConversationSettings
}

export type AskTemporarilySourcesEvent = {
  /** All so far. */
  sources: Array<JsonObject>
}

export type AskTemporarilyTitleEvent = {
  title: string
}

export type AskTemporarilyToolEvent = {
  name: 'search' | 'list_documents' | 'fetch'
  input: JsonObject
  state: 'running' | 'done'
  /** The number of results, when it is done. */
  found?: number
}

export type AskTemporarilyUsageEvent = {
  usage: AnswerUsage
  model: string
  finish_reason: string | null
  cost_usd: number
}

export type AssignContactMessageRequest = {
  user_id: string | null
}

export type AuditEntry = {
  id: string
  /** With `position` it is where `audit verify` finds the entry */
  chain: number
  /** Null for a moment, until the entry is linked into its chain */
  position: number | null
  at: string
  action: string
  /** Null: nobody who is known, the service itself, or a deleted user */
  actor_id: string | null
  subject: string | null
  data: JsonObject | null
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type AuthError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'email_taken' | 'email_domain_refused' | 'invitation_not_found' | 'invitation_required' | 'credentials_wrong' | 'two_factor_code_required' | 'two_factor_code_wrong' | 'proof_required' | 'emailed_code_wrong' | 'password_reset_required' | 'sign_in_queue_full' | 'refresh_token_invalid' | 'session_not_found' | 'fresh_sign_in_required' | 'verification_token_invalid' | 'reset_token_invalid' | 'undo_token_invalid' | 'setup_link_invalid' | 'password_wrong' | 'current_password_wrong' | 'password_not_set' | 'email_in_use' | 'confirmation_missing' | 'oauth_provider_not_found' | 'oauth_provider_not_configured' | 'oauth_provider_unreachable' | 'oauth_provider_not_linked' | 'last_sign_in_method' | 'two_factor_already_on' | 'two_factor_not_on' | 'passkey_limit_reached' | 'passkey_not_verified' | 'passkey_not_recognised' | 'passkey_not_found' | 'user_not_found' | 'account_not_viewable' | 'last_superuser' | 'superuser_unverified' | 'account_appeared'
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type BillingError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'unknown_price' | 'unknown_promotion_code' | 'promotion_code_used' | 'trial_needs_verified_email' | 'no_subscription' | 'same_plan' | 'payment_due' | 'subscription_ending' | 'subscription_pausing' | 'subscription_paused' | 'subscription_disputed' | 'not_pausable' | 'nothing_to_resume' | 'shorter_interval' | 'smaller_longer' | 'change_pending' | 'preview_outdated' | 'payment_refused' | 'payment_to_confirm' | 'nothing_to_refund' | 'refund_too_large' | 'invalid_unsubscribe_link' | 'no_billing_account' | 'billing_not_configured' | 'processor_unreachable' | 'processor_failed' | 'invalid_signature' | 'invalid_payload' | 'sandbox_only'
}

export type BillingSync = {
  status: 'queued'
}

export type Brand = {
  name: string
  legal_name: string
  tagline: string | null
  logo: BrandLogo
  colours: BrandColours
  /** Of buttons and fields, in pixels */
  radius: number
  links: BrandLinks
}

export type BrandColours = {
  primary: string
  accent: string | null
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type BrandError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'brand_from_file'
}

export type BrandForm = {
  /** The name that customers read everywhere. */
  name?: string
  /** The company, in the footers of the shop and of emails. */
  legal_name?: string
  /** One sentence below the name and for search engines. */
  tagline?: string
  /** The language of emails to you and your team, and for everyone whose browser asks for neither English nor German. Default: `en`. */
  language?: 'en' | 'de'
  logo?: BrandFormLogo
  colours?: BrandFormColours
  /** The radius of buttons and fields in pixels; cards follow from it. */
  radius?: number
  links?: BrandFormLinks
  mail?: BrandFormMail
}

export type BrandFormColours = {
  /** Buttons, links and the focus. Needs a contrast of 4.5 : 1 to white. */
  primary?: string
  /** Highlights. Needs a contrast of 3 : 1 to white. */
  accent?: string
}

export type BrandFormLinks = {
  /** Terms of service */
  terms?: string
  /** Privacy policy */
  privacy?: string
  /** Imprint */
  imprint?: string
  /** Support: a page, or mailto: */
  support?: string
  /** Documentation */
  docs?: string
  /** Status page */
  status?: string
}

export type BrandFormLogo = {
  /** The logo on light pages, in place of the square and the name. A base64 `data:` address of at most 100 KB. */
  light?: string
  /** The logo on dark pages. Default: the light one. A base64 `data:` address of at most 100 KB. */
  dark?: string
  /** The icon of the apps and of browser tabs. A base64 `data:` address of at most 100 KB. */
  square?: string
  /** A PNG or JPEG of 1200 × 630 pixels for links in social networks. A base64 `data:` address of at most 300 KB. */
  social?: string
}

export type BrandFormMail = {
  /** The sender of emails. Default: the name in MAIL_FROM, or the name. */
  from_name?: string
  /** The last lines of every email, such as your postal address. */
  footer?: string
  /** The button of emails. Default: the primary colour. */
  colour?: string
}

export type BrandLinks = {
  docs: string | null
  status: string | null
  support: string | null
  terms: string | null
  privacy: string | null
  imprint: string | null
}

export type BrandLogo = {
  /** The path of the logo on light pages */
  light: string | null
  /** The path of the logo on dark pages */
  dark: string | null
  /** The path of the icon */
  square: string
}

export type BrandPreview = {
  name: string
  logo: BrandPreviewLogo
  /** The home page as HTML without scripts */
  shop: string
  email: BrandPreviewEmail
}

export type BrandPreviewEmail = {
  from: string
  subject: string
  html: string
}

/** `square` is null for the built-in key. */
export type BrandPreviewLogo = {
  /** A `data:` address */
  light: string | null
  /** A `data:` address */
  dark: string | null
  /** A `data:` address */
  square: string | null
}

export type BrandSettings = {
  form: BrandForm
  /** `file`: BRAND names a file, and the brand cannot be edited here. */
  source: 'file' | 'stored' | 'default'
  /** The path in BRAND */
  file: string | null
  changed_at: string | null
  /** The name without one in the form */
  default_name: string
}

export type BudgetPeriod = 'day' | 'week' | 'month'

export type BusinessMetrics = {
  from: string
  to: string
  /** The first day of each interval */
  starts: Array<string>
  series: Array<MetricSeries>
  totals: Array<MetricTotal>
  previous: Array<MetricTotal>
}

export type Call = {
  id: string
  at: string
  route: string
  model: string
  vendor: string
  /** Null for a call with a JWT. */
  key_id: string | null
  outcome: UsageOutcome
  /** The status of the reply: 200 even if the stream broke off later, 499 if the client disconnected. */
  status: number
  prompt_tokens: number
  /** A part of `prompt_tokens`. */
  cached_tokens: number
  completion_tokens: number
  /** A part of `completion_tokens`. */
  reasoning_tokens: number
  cost_usd: number
  /** True if the vendor reported no token counts, or if the model has no known price. */
  is_estimated: boolean
  latency_ms: number
  /** For a stream: milliseconds until its first chunk. */
  first_token_ms: number | null
  attempts: number
  /** The attempts in order, as in `openai:limited,anthropic:ok`; `cache`: answered from the cache. */
  tried: string
  /** The reply’s `X-Request-Id`. */
  request_id: string | null
  /** The vendor’s id of the request; quote it to their support. */
  vendor_request_id: string | null
  /** The error code of a failed call. */
  error_code: string | null
  /** The vendor’s error message, at most 500 characters. */
  error_detail: string | null
  /** The end user of the call: `user` of the request. */
  end_user: string | null
  labels: CallLabels
  parameters: CallParameters | null
}

/** `metadata` of the request. */
export type CallLabels = Record<string, unknown>

export type CallPage = {
  calls: Array<Call>
  next_cursor: string | null
}

/** Null for models that do not chat and for answers from the cache. */
export type CallParameters = {
  /** The number of messages or input items. */
  messages: number
  stream: boolean
  /** The number of tools. */
  tools?: number
  temperature?: number
  top_p?: number
  /** The limit of the answer, whatever its name in the request. */
  max_tokens?: number
  reasoning_effort?: string
}

export type Catalogue = {
  /** Null: the built-in plans */
  plans_file: string | null
  /** Null: products are built in, or edited in the shop */
  products_file: string | null
  /** From the lowest to the highest */
  plans: Array<CataloguePlan>
  /** Plans that accounts still have; the catalogue no longer has them */
  dropped_plans: Array<DroppedPlan>
  /** Prices with subscribers that belong to no plan */
  unknown_prices: Array<UnknownPrice>
}

export type CataloguePlan = {
  tier: string
  name: string
  features: Array<string>
  grants: Array<string>
  limits: PlanLimits
  /** Trial before the first payment, for users who have never subscribed */
  trial_days: number
  /** Maximum cost of calls in a paid month; null: no limit */
  allowance_usd: number | null
  trial_allowance_usd: number | null
  /** Maximum tokens in a paid month; null: no limit */
  tokens_max: number | null
  /** Accounts that have the plan now */
  accounts: number
  /** Empty for the plan without a subscription */
  prices: Array<CataloguePrice>
}

export type CataloguePrice = {
  interval: 'month' | 'year'
  /** The setting or field of the price id */
  setting: string
  /** Null: not for sale */
  price_id: string | null
  /** In units of the currency; null while the processor cannot be reached */
  amount: number | null
  currency: string | null
  subscribers: number
  /** A part of `subscribers` */
  trials: number
}

export type ChangeConversationRequest = {
  title?: string
  is_pinned?: boolean
  is_archived?: boolean
  /** Any message: the newest branch below it is shown. */
  leaf_id?: string
  model?: string | null
  settings?: ConversationSettings
  collection_ids?: Array<string>
}

export type ChangeConversationSettingsRequest = {
  keeps_conversations: boolean
}

export type ChangeCustomerPlanRequest = {
  price_id: string
  /** From the preview; valid for 15 minutes */
  proration_at: number
}

export type ChangeEmailRequest = {
  new_email: string
  password?: string | null
  code?: string | null
}

export type ChangeLine = {
  description: string | null
  amount: number
}

export type ChangePasswordRequest = {
  current_password: string
  new_password: string
  code?: string | null
}

export type ChangePreview = {
  price_id: string
  tier: string
  takes_effect: string
  /** In units of the currency, with taxes, after credits */
  due_now: number
  currency: string
  /** The items that are due now */
  lines: Array<ChangeLine>
  /** Price of each later period, before discounts and taxes */
  due_later: number | null
  due_later_at: string | null
  interval: string
  /** Unix seconds. Send it with the change, so that the change costs what the preview showed */
  proration_at: number
}

export type ChangeProductRequest = {
  name: string
  /** In units of the currency */
  price: number
  currency: string
  slug?: string
  /** Given away without a payment: by a mailed link, or to verified accounts */
  free?: 'email' | 'account' | null
  /** The slugs of the products that a bundle’s buyer gets; empty: no bundle */
  bundle?: Array<string>
  /** Markdown */
  description?: string
  includes?: string | null
  images?: Array<string>
  features?: Array<string>
  gallery?: Array<ProductPicture>
  faq?: Array<ProductQuestion>
  /** Rows of the table that compares the products */
  comparison?: Record<string, unknown>
  /** Markdown */
  terms?: string
  /** Markdown */
  changelog?: string
  tax_code?: string | null
  updates_months?: number | null
  /** In units of the currency */
  renewal_price?: number | null
  /** Per tier: `difference`, or a fixed price */
  upgrade_from?: Record<string, unknown>
  activations_max?: number | null
  activation_releases_per_month?: number
  /** Its place in the list; default: the last */
  position?: number
  /** Refuses the change if the product has another one */
  revision?: number
}

export type ChangeReleaseRequest = {
  /** Markdown */
  notes: string
}

export type ChangedUser = {
  id: string
  email: string
  full_name: string | null
  avatar_url: string | null
  locale: Locale | null
  is_active: boolean
  is_verified: boolean
  oauth_provider: OAuthProvider | null
  subscription_status: SubscriptionStatus
  subscription_tier: string
  created_at: string
  is_superuser: boolean
  has_password: boolean
  totp_enabled: boolean
  /** What the plan grants */
  entitlements: Array<string>
  tier_override: string | null
  tier_override_until: string | null
  last_login_at: string | null
}

export type ChatCompletion = {
  id: string
  object: 'chat.completion'
  /** Seconds since 1970. */
  created: number
  model: string
  choices: Array<ChatCompletionChoice>
  usage?: ChatCompletionUsage
  [other: string]: unknown
}

export type ChatCompletionChoice = {
  index: number
  message: ChatCompletionMessage
  /** `stop`, `length`, `tool_calls`, `content_filter`, or another value from the vendor. */
  finish_reason: string | null
  [other: string]: unknown
}

/** OpenAI's chunk; a stream that breaks off ends with its `error` instead, and no `[DONE]`. */
export type ChatCompletionChunk = {
  id: string
  object: 'chat.completion.chunk'
  /** Seconds since 1970. */
  created: number
  model: string
  choices: Array<ChatCompletionChunkChoice>
  usage?: ChatCompletionUsage | null
  [other: string]: unknown
}

export type ChatCompletionChunkChoice = {
  index: number
  delta: ChatCompletionDelta
  /** `stop`, `length`, `tool_calls`, `content_filter`, or another value from the vendor. */
  finish_reason?: string | null
  [other: string]: unknown
}

export type ChatCompletionDelta = {
  role?: 'assistant'
  content?: string | null
  refusal?: string | null
  /** The reasoning as readable text. */
  reasoning_content?: string
  /** The reasoning in the form that clients must send back unchanged. */
  reasoning_details?: Array<JsonObject>
  tool_calls?: Array<ToolCallDelta>
  [other: string]: unknown
}

export type ChatCompletionMessage = {
  role: 'assistant'
  content?: string | null
  refusal?: string | null
  /** The reasoning as readable text. */
  reasoning_content?: string
  /** The reasoning in the form that clients must send back unchanged. */
  reasoning_details?: Array<JsonObject>
  tool_calls?: Array<ToolCall>
  [other: string]: unknown
}

export type ChatCompletionRequestMessage = {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  content?: string | null | Array<ContentPart>
  tool_calls?: Array<RequestToolCall> | null
  tool_call_id?: string | null
  [other: string]: unknown
}

export type ChatCompletionUsage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details?: PromptTokensDetails
  completion_tokens_details?: CompletionTokensDetails
  /** US dollars, by the price list. */
  cost_usd?: number
  [other: string]: unknown
}

export type ChatMessage = {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** Visible reasoning of the model; only with `include_reasoning`. */
export type ChatReasoningEvent = {
  token: string
}

export type ChatRequest = {
  messages: Array<ChatMessage>
  provider?: ProviderName | null
  model?: string | null
  temperature?: number | null
  max_tokens?: number | null
  /** Your end user. `GET /api/usage?group_by=end_user` sums by this value. */
  user?: string | null
  /** Labels of the call, for `GET /api/usage/calls?label=name:value`. */
  metadata?: Record<string, unknown> | null
  stream?: boolean | null
  /** Streams only: adds `event: reasoning` with the visible reasoning of the model. */
  include_reasoning?: boolean | null
  /** Streams only: adds an event with usage, model and finish_reason before the last line. */
  include_usage?: boolean | null
}

export type ChatResponse = {
  content: string
  model: string
  usage: TokenUsage
}

export type ChatTurn = {
  role: 'user' | 'assistant'
  content: string
}

/** The last event before `[DONE]`; only with `include_usage`. */
export type ChatUsageEvent = {
  usage: TokenUsage
  model: string
  finish_reason: string | null
}

export type Chunk = {
  id: string
  content: string
  score: number
  /** The score of the reranking model, on its own scale; present if a model reranked the results. */
  rerank_score?: number
  metadata: JsonObject
}

export type ChunkSpan = {
  id: string
  /** Offset in the document’s text, in UTF-16 units. */
  start: number
  end: number
  /** From 1; null if the file has no pages. */
  page: number | null
  page_end: number | null
  /** `Terms › Notice` */
  heading: string | null
}

export type Citation = {
  /** The number of the source. */
  source: number
  /** The start of the statement in the answer, in UTF-16 units. */
  start: number
  end: number
  /** True if the source contains the words, numbers and names of the statement. Otherwise the mark is removed from the answer. */
  supported: boolean
  quote: Quote | null
}

export type CloseContactMessageRequest = {
  /** Default: true. */
  closed?: boolean
}

/** A document may be in several collections. */
export type Collection = {
  id: string
  name: string
  colour: CollectionColour
  instructions: string | null
  /** The number of documents in it. */
  documents: number
  created_at: string
  updated_at: string
}

export type CollectionColour = 'grey' | 'red' | 'orange' | 'yellow' | 'green' | 'teal' | 'blue' | 'purple' | 'pink'

export type CompleteChallengeRequest = {
  challenge: string
  code: string
}

export type CompletePromptRequest = {
  prompt: string
  system_prompt?: string | null
  provider?: ProviderName | null
  model?: string | null
  temperature?: number | null
  max_tokens?: number | null
  /** Your end user. `GET /api/usage?group_by=end_user` sums by this value. */
  user?: string | null
  /** Labels of the call, for `GET /api/usage/calls?label=name:value`. */
  metadata?: Record<string, unknown> | null
}

export type CompletePromptResponse = {
  completion: string
  model: string
  usage: TokenUsage
}

export type CompletionTokensDetails = {
  reasoning_tokens?: number
  [other: string]: unknown
}

export type ConfirmTotpRequest = {
  code: string
}

export type ConfirmTotpResponse = {
  recovery_codes: Array<string>
}

export type ContactMessage = {
  id: string
  name: string
  email: string
  subject: ContactSubject
  message: string
  created_at: string
  notified_at: string | null
  /** The id of a superuser */
  assigned_to: string | null
  closed_at: string | null
  /** Oldest first */
  replies: Array<ContactReply>
}

export type ContactReply = {
  id: string
  author_id: string | null
  text: string
  created_at: string
}

export type ContactSubject = 'sales' | 'support' | 'enterprise' | 'partnership' | 'other'

export type ContentBlock = {
  type: string
  [other: string]: unknown
}

export type ContentPart = {
  type: string
  [other: string]: unknown
}

export type Conversation = {
  id: string
  /** Empty until the first question. */
  title: string
  title_by: 'person' | 'model'
  model: string | null
  pinned_at: string | null
  archived_at: string | null
  created_at: string
  updated_at: string
  /** True while an answer is being written. */
  is_running: boolean
  /** The last message of the shown branch. */
  leaf_id: string | null
  settings: ConversationSettings
  collection_ids: Array<string>
}

export type ConversationExport = {
  conversations: Array<JsonObject>
}

export type ConversationImport = {
  imported: number
  skipped: Array<SkippedConversation>
}

export type ConversationListed = {
  id: string
  /** Empty until the first question. */
  title: string
  title_by: 'person' | 'model'
  model: string | null
  pinned_at: string | null
  archived_at: string | null
  created_at: string
  updated_at: string
  /** True while an answer is being written. */
  is_running: boolean
  /** With `q` only: lines that contain words of the query. */
  matches?: Array<ConversationMatch>
}

export type ConversationMatch = {
  /** Null for the title. */
  message_id: string | null
  text: string
  /** The found words in `text`: start and end, in UTF-16 units. */
  marks: Array<Array<unknown>>
}

export type ConversationMessage = {
  id: string
  parent_id: string | null
  role: 'user' | 'assistant'
  /** As in the question. */
  parts: Array<JsonObject>
  model: string | null
  outcome: 'running' | 'ok' | 'stopped' | 'interrupted' | 'failed'
  problem: AnswerProblem | null
  usage: MessageUsage | null
  sources: Array<JsonObject>
  citations: Array<JsonObject>
  tools: Array<JsonObject>
  reasoning: MessageReasoning | null
  /** This message and the others with the same parent, oldest first. */
  sibling_ids: Array<string>
  created_at: string
}

export type ConversationModel = {
  /** The name for `model` in a question. */
  name: string
  /** The display name. */
  vendor: string
  prices: ModelPrices
  context_tokens: number | null
  /** True if the model accepts images. */
  vision: boolean
  /** True if the model can search several times for one answer. */
  tools: boolean
  /** As measured by this server; null before the first use. */
  tokens_per_second: number | null
}

export type ConversationModels = {
  models: Array<ConversationModel>
  default_model: string
}

export type ConversationPage = {
  conversations: Array<ConversationListed>
  next_cursor: string | null
}

export type ConversationPreferences = {
  /** False: the service stores no new questions and answers. */
  keeps_conversations: boolean
  /** Days after its last message until a conversation is deleted. */
  kept_days: number | null
}

export type ConversationSettings = {
  instructions?: string
  temperature?: number
  max_tokens?: number
  /** Whether answers search documents: if useful, never, or these only. */
  documents?: 'auto' | 'off' | Array<string>
}

export type ConversationWithMessages = {
  conversation: Conversation
  /** Oldest first. */
  messages: Array<ConversationMessage>
  /** Send it as `before` to read the earlier messages; null: none. */
  before: string | null
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type ConversationsError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'call_not_found' | 'budget_exhausted' | 'token_budget_exhausted' | 'key_budget_exhausted' | 'free_needs_verified_email' | 'free_allowance_taken' | 'budget_busy' | 'provider_not_configured' | 'model_not_allowed' | 'choices_not_allowed' | 'model_not_found' | 'model_not_listed' | 'vendor_refused' | 'request_not_supported' | 'context_length_exceeded' | 'vendor_overloaded' | 'vendor_timeout' | 'vendor_failed' | 'vendor_unauthorized' | 'vendor_sandbox_closed' | 'model_switched_off' | 'vendor_switched_off' | 'gateway_full' | 'embeddings_not_supported' | 'rerank_not_supported' | 'dimensions_fixed' | 'responses_not_kept' | 'response_not_found' | 'tokens_unsupported' | 'conversation_not_found' | 'message_not_found' | 'conversations_not_kept' | 'answer_running' | 'answer_interrupted' | 'model_without_vision' | 'conversation_full' | 'share_not_found' | 'share_ended' | 'share_limit_reached' | 'share_too_large' | 'import_running' | 'import_too_large' | 'conversation_storage_full' | 'pin_limit_reached'
}

export type CountMessageTokensRequest = {
  model: string
  messages: Array<AnthropicMessageParam>
  system?: string | Array<ContentBlock> | null
  tools?: Array<AnthropicTool> | null
  tool_choice?: AnthropicToolChoice | null
  [other: string]: unknown
}

export type CountResponseTokensRequest = {
  model: string
  input?: string | Array<ResponseInputItem>
  instructions?: string | null
  tools?: Array<ResponseTool> | null
  parallel_tool_calls?: boolean | null
  max_output_tokens?: number | null
  /** Limits the calls of tools that OpenAI runs. Default with a budget: 10. */
  max_tool_calls?: number | null
  truncation?: 'auto' | 'disabled' | null
  temperature?: number | null
  top_p?: number | null
  reasoning?: ResponseReasoning | null
  text?: ResponseText | null
  prompt?: ResponsePrompt | null
  stream?: boolean | null
  /** Accepted, but nothing is stored. */
  store?: boolean | null
  background?: boolean | null
  [other: string]: unknown
}

export type CreateApiKeyRequest = {
  name: string
  /** A date and time in ISO 8601, in the future. */
  expires_at?: string | null
  /** What it may do; all that keys may, where there are none. `rag:read` searches, asks and lists. */
  scopes?: Array<KeyScope> | null
  /** Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`). */
  models?: Array<string> | null
  /** Networks from which it may be used: `203.0.113.7`, `10.0.0.0/8`, `2001:db8::/32`. */
  addresses?: Array<string> | null
  rate_limit?: KeyRate | null
  monthly_token_limit?: number | null
  budget?: KeyBudget | null
}

export type CreateChatCompletionRequest = {
  model: string
  messages: Array<ChatCompletionRequestMessage>
  temperature?: number | null
  top_p?: number | null
  max_tokens?: number | null
  max_completion_tokens?: number | null
  n?: number | null
  stream?: boolean | null
  include_reasoning?: boolean | null
  stream_options?: StreamOptions | null
  tools?: Array<Tool> | null
  [other: string]: unknown
}

export type CreateCollectionInLibraryRequest = {
  name: string
  colour?: CollectionColour
  /** Instructions to the model that answers from the collection. */
  instructions?: string | null
}

export type CreateCollectionRequest = {
  name: string
  colour?: CollectionColour
  /** Instructions to the model that answers from the collection. */
  instructions?: string | null
}

export type CreateConversationRequest = {
  title?: string
  model?: string | null
  settings?: ConversationSettings
  collection_ids?: Array<string>
}

export type CreateDiscountRequest = {
  code: string
  percent_off?: number | null
  /** In minor units of `currency` */
  amount_off?: number | null
  currency?: string | null
  /** Null: all products */
  tiers?: Array<string> | null
  /** Only for owners of this tier */
  owners_of?: string | null
  redemptions_max?: number | null
  until?: string | null
}

export type CreateEmbeddingsRequest = {
  model: string
  input: string | Array<string> | Array<number> | Array<Array<number>>
  encoding_format?: EmbeddingEncoding | null
  dimensions?: number | null
  [other: string]: unknown
}

export type CreateMessageRequest = {
  model: string
  messages: Array<AnthropicMessageParam>
  system?: string | Array<ContentBlock> | null
  tools?: Array<AnthropicTool> | null
  tool_choice?: AnthropicToolChoice | null
  max_tokens: number
  stream?: boolean | null
  stop_sequences?: Array<string> | null
  temperature?: number | null
  top_p?: number | null
  [other: string]: unknown
}

export type CreateProductRequest = {
  tier: string
  name: string
  /** In units of the currency */
  price: number
  currency: string
  slug?: string
  /** Given away without a payment: by a mailed link, or to verified accounts */
  free?: 'email' | 'account' | null
  /** The slugs of the products that a bundle’s buyer gets; empty: no bundle */
  bundle?: Array<string>
  /** Markdown */
  description?: string
  includes?: string | null
  images?: Array<string>
  features?: Array<string>
  gallery?: Array<ProductPicture>
  faq?: Array<ProductQuestion>
  /** Rows of the table that compares the products */
  comparison?: Record<string, unknown>
  /** Markdown */
  terms?: string
  /** Markdown */
  changelog?: string
  tax_code?: string | null
  updates_months?: number | null
  /** In units of the currency */
  renewal_price?: number | null
  /** Per tier: `difference`, or a fixed price */
  upgrade_from?: Record<string, unknown>
  activations_max?: number | null
  activation_releases_per_month?: number
  /** Its place in the list; default: the last */
  position?: number
}

export type CreateResponseRequest = {
  model: string
  input?: string | Array<ResponseInputItem>
  instructions?: string | null
  tools?: Array<ResponseTool> | null
  parallel_tool_calls?: boolean | null
  max_output_tokens?: number | null
  /** Limits the calls of tools that OpenAI runs. Default with a budget: 10. */
  max_tool_calls?: number | null
  truncation?: 'auto' | 'disabled' | null
  temperature?: number | null
  top_p?: number | null
  reasoning?: ResponseReasoning | null
  text?: ResponseText | null
  prompt?: ResponsePrompt | null
  stream?: boolean | null
  /** Accepted, but nothing is stored. */
  store?: boolean | null
  background?: boolean | null
  [other: string]: unknown
}

export type Customer = {
  id: string
  email: string
  full_name: string | null
  is_active: boolean
  is_verified: boolean
  is_superuser: boolean
  subscription_status: SubscriptionStatus
  subscription_tier: string
  tier_override: string | null
  tier_override_until: string | null
  created_at: string
  last_login_at: string | null
  subscription: CustomerSubscription | null
  margin_30d: CustomerMargin
  /** The newest payments of subscriptions */
  payments: Array<CustomerPayment>
  usage_30d: CustomerUsage
  keys: Array<CustomerKey>
  sessions: Array<CustomerSession>
}

export type CustomerDay = {
  day: string
  requests: number
  cost_usd: number
}

export type CustomerEvent = {
  at: string
  kind: 'payment' | 'refund' | 'dispute' | 'invoice' | 'purchase' | 'call' | 'audit' | 'email'
  id: string
  /** In minor units of the currency */
  amount_cents: number | null
  currency: string | null
  tier: string | null
  /** Of a refund, a dispute, an invoice, a purchase or an email; of a call */
  status: string | null
  /** The number of an invoice, the reason of a refund or a dispute, the error code of a call, the words of the mail server about a failed email */
  detail: string | null
  model: string | null
  /** The purchase that it is about */
  order_id: string | null
  /** Of the audit log */
  action: string | null
  /** The other account that did it, as a superuser */
  actor_email: string | null
  /** The other account that it was done to */
  subject_email: string | null
  data: JsonObject | null
  email: EmailToCustomer | null
}

export type CustomerKey = {
  id: string
  name: string
  key_prefix: string
  is_active: boolean
  created_at: string
  last_used_at: string | null
  expires_at: string | null
}

/** Of the last 30 days */
export type CustomerMargin = {
  /** Payments less refunds, lost disputes, fees and taxes */
  revenue: Array<CustomerRevenue>
  /** Of the models, from the price list */
  cost_usd: number
  /** Null with revenue in other currencies */
  margin_usd: number | null
}

export type CustomerPayment = {
  /** The id at the processor */
  id: string
  /** In minor units of the currency */
  amount_cents: number
  /** In minor units of the currency */
  refunded_cents: number
  currency: string
  tier: string | null
  invoice: string | null
  dispute: string | null
  paid_at: string
}

export type CustomerPlanChange = {
  message: string
  /** True: the customer got an email and must confirm the payment */
  is_to_confirm: boolean
}

export type CustomerRevenue = {
  /** In minor units of the currency */
  cents: number
  currency: string
}

export type CustomerSession = {
  id: string
  user_agent: string | null
  ip_address: string | null
  created_at: string
  last_used_at: string
}

export type CustomerSubscription = {
  /** The id at the processor */
  id: string
  tier: string | null
  processor_status: string | null
  /** In minor units of the currency */
  price_cents: number | null
  currency: string | null
  interval: string | null
  mrr: MonthlyRevenue | null
  started_at: string | null
  period_end_at: string | null
  trial_end_at: string | null
  past_due_at: string | null
  payment_error: string | null
  is_cancel_at_period_end: boolean
  ended_at: string | null
  card_last4: string | null
  card_expires_at: string | null
}

export type CustomerUsage = {
  requests: number
  failed: number
  tokens: number
  days: Array<CustomerDay>
}

/** A price for this customer alone */
export type Deal = {
  price_id: string
  tier: string
  amount: number
  currency: string
  interval: string
}

export type DeleteAccountRequest = {
  password?: string | null
  code?: string | null
  confirm?: string | null
}

export type DeleteConversationsRequest = {
  confirm: true
}

export type DeleteDocumentInLibraryResponse = {
  status: string
  document_id: string
}

export type DeleteDocumentResponse = {
  status: string
  document_id: string
}

export type DeleteDocumentsInLibraryResponse = {
  /** The number of deleted documents; may be 0. */
  deleted: number
}

export type DeleteDocumentsResponse = {
  /** The number of deleted documents; may be 0. */
  deleted: number
}

export type Disagreement = {
  about: 'subscription' | 'purchase' | 'payment' | 'refund' | 'dispute' | 'invoice'
  /** The id at the processor */
  id: string
  user_id: string | null
  email: string | null
  /** The value in the service */
  ours: string
  /** The value at the processor */
  theirs: string
}

export type Disagreements = {
  disagreements: Array<Disagreement>
  /** Number of compared accounts */
  accounts: number
  /** False when the limits cut the report short */
  is_whole: boolean
}

export type Discount = {
  id: string
  code: string
  percent_off: number | null
  /** In minor units of `currency` */
  amount_off: number | null
  currency: string | null
  /** Null: all products */
  tiers: Array<string> | null
  /** Only for owners of this tier */
  owners_of: string | null
  redemptions_max: number | null
  until: string | null
  created_at: string
  /** The link to share, which carries the code */
  link: string
}

export type Dispute = {
  /** The id at the processor */
  id: string
  /** The processor’s status, or `reinstated` */
  status: string
  /** The bank has not decided */
  is_open: boolean
  reason: string | null
  /** In minor units of the currency */
  amount_cents: number
  currency: string
  created_at: string
  /** The payment’s id at the processor */
  payment_ref: string
  kind: 'purchase' | 'subscription' | null
  /** Of the purchased product */
  tier: string | null
  /** The purchase; its deliveries are the evidence */
  order_id: string | null
  user_id: string | null
  email: string | null
}

export type Document = {
  id: string
  external_id: string | null
  /** Newest first. Several if files with the same text have different external ids. */
  external_ids: Array<string>
  source: string | null
  chunks: number
  characters: number
  metadata: JsonObject
  file: OriginalFile | null
  /** The ids of its collections. */
  collections: Array<string>
  created_at: string
}

export type DocumentSort = 'date' | 'name' | 'size'

export type DocumentWithSpans = {
  id: string
  external_id: string | null
  /** Newest first. Several if files with the same text have different external ids. */
  external_ids: Array<string>
  source: string | null
  chunks: number
  characters: number
  metadata: JsonObject
  file: OriginalFile | null
  /** The ids of its collections. */
  collections: Array<string>
  created_at: string
  /** The content of the chunk, if the id is a chunk’s. */
  content: string | null
  /** The places of its chunks, in order. */
  spans: Array<ChunkSpan>
}

export type DollarsLeft = {
  used_usd: number
  left_usd: number
  renews_at: string
}

export type DroppedPlan = {
  tier: string
  accounts: number
}

export type DueEvent = {
  at: string
  what: string
  email: string | null
  /** Null when no account has this address. */
  user_id: string | null
}

export type Durations = {
  latency_ms: Percentiles | null
  first_token_ms: Percentiles | null
}

export type EmailToCustomer = {
  address: string
  subject: string
}

export type Embedding = {
  object: 'embedding'
  index: number
  /** A string if `encoding_format` is `base64`. */
  embedding: Array<number> | string
}

export type EmbeddingEncoding = 'float' | 'base64'

export type EmbeddingList = {
  object: 'list'
  data: Array<Embedding>
  model: string
  usage: EmbeddingUsage
}

/** Chunks with vectors of the configured embedder; null if all chunks have them. Until then, searches compare only words. */
export type EmbeddingProgress = {
  done: number
  total: number
}

export type EmbeddingUsage = {
  prompt_tokens: number
  total_tokens: number
  /** US dollars, by the price list. */
  cost_usd?: number
}

/** The answer is cut; no `[DONE]` follows. */
export type ErrorEvent = {
  detail: string
  code: string
}

/** The job that handles it again */
export type EventJob = {
  id: string
  attempts: number
  last_error: string | null
  /** It is not retried any more */
  is_failed: boolean
}

export type EventReceipt = {
  received: boolean
}

export type ExtendOrderRequest = {
  until: string
}

export type FinalUsage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  finish_reason: string | null
  model: string
}

export type FinishPasskeyLoginRequest = {
  response: PasskeyCredential
}

export type FinishPasskeyRegistrationRequest = {
  response: PasskeyCredential
  name?: string
}

export type GetAllUsageResponse = {
  from: string
  to: string
  totals: AllUsageTotals
  /** The highest cost first; days in chronological order. `email` is set for groups by user. */
  groups: Array<AllUsageGroup>
  /** The users with the highest cost. */
  top_users: Array<TopUser>
  /** True when there were too many calls to read them all: durations and users come from a sample. Sums are exact. */
  is_sampled: boolean
}

export type GetStatsResponse = {
  total_users: number
  active_subscriptions: number
  new_users_7d: number
  verified_users: number
}

export type GetUsageResponse = {
  from: string
  to: string
  totals: UsageTotals
  groups: Array<UsageGroup>
  /** True if there are more groups; `totals` includes them. */
  has_more: boolean
}

export type Health = {
  status: 'ok'
}

export type HealthCheck = {
  area: 'database' | 'storage' | 'jobs' | 'billing' | 'mail' | 'models' | 'products' | 'settings'
  name: string
  state: 'ok' | 'sandbox' | 'off' | 'wrong'
  detail: string
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type HealthError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off'
}

export type HealthReport = {
  checked_at: string
  version: string
  node_version: string
  engine: 'sqlite' | 'postgres'
  /** Of the disk with the data folder; null where unknown */
  free_bytes: number | null
  /** When the payment processor last sent an event */
  last_event_at: string | null
  /** Faults first */
  components: Array<HealthCheck>
  /** Times of the last 30 days, longer than two minutes, in which no process served a part, newest first */
  outages: Array<ServiceOutage>
}

export type HostedPage = {
  /** The processor’s hosted page */
  url: string
}

/** The reason of the failure, as in the reply to a request; for a running job: of its last attempt. */
export type IngestError = {
  code: string
  detail: string
}

export type IngestFileInLibraryRequest = {
  file: string
  /** Default: 1000. */
  chunk_size?: number
  chunk_overlap?: number
  /** Your own id for the document: the same id again replaces the whole document. */
  external_id?: string
  replace?: Replace
  /** Ids of collections, separated by commas; the field may be repeated. */
  collections?: string
  /** The name for citations, such as a path. Default: the file’s name. */
  source?: string
}

export type IngestFileRequest = {
  file: string
  /** Default: 1000. */
  chunk_size?: number
  chunk_overlap?: number
  /** Your own id for the document: the same id again replaces the whole document. */
  external_id?: string
  replace?: Replace
  /** Ids of collections, separated by commas; the field may be repeated. */
  collections?: string
  /** The name for citations, such as a path. Default: the file’s name. */
  source?: string
}

/** The progress of storing a document. */
export type IngestJob = {
  id: string
  state: 'queued' | 'running' | 'done' | 'failed'
  stage: 'reading' | 'storing' | null
  /** The number of stored chunks. */
  done: number
  /** Null until the document has been read. */
  total: number | null
  chunks_created: number
  /** Parts of the file that could not be read and are omitted. `page` counts from 1; null if the file has no pages. */
  warnings: Array<IngestWarning>
  error: IngestError | null
  source: string | null
  external_id: string | null
  created_at: string
  finished_at: string | null
  document_ids: Array<string>
}

/** The current state of the job */
export type IngestJobNow = {
  id: string
  state: 'queued' | 'running' | 'done' | 'failed'
  stage: 'reading' | 'storing' | null
  /** The number of stored chunks. */
  done: number
  /** Null until the document has been read. */
  total: number | null
  chunks_created: number
  /** Parts of the file that could not be read and are omitted. `page` counts from 1; null if the file has no pages. */
  warnings: Array<IngestWarning>
  error: IngestError | null
  source: string | null
  external_id: string | null
  created_at: string
  finished_at: string | null
  document_ids: Array<string>
}

export type IngestQueued = {
  /** The id for `GET /api/rag/jobs/{id}`, which `Location` contains as well. */
  job_id: string
}

export type IngestTextInLibraryRequest = {
  content: string
  metadata?: JsonObject
  /** Default: 1000. */
  chunk_size?: number
  /** Default: 200, or a fifth of chunk_size if less. */
  chunk_overlap?: number
  /** Your own id for the document: the same id again replaces the whole document. */
  external_id?: string
  replace?: Replace
  /** Ids of collections. An empty list is as none. */
  collections?: Array<string>
}

export type IngestTextRequest = {
  content: string
  metadata?: JsonObject
  /** Default: 1000. */
  chunk_size?: number
  /** Default: 200, or a fifth of chunk_size if less. */
  chunk_overlap?: number
  /** Your own id for the document: the same id again replaces the whole document. */
  external_id?: string
  replace?: Replace
  /** Ids of collections. An empty list is as none. */
  collections?: Array<string>
}

export type IngestWarning = {
  page: number | null
  reason: string
}

export type Ingested = {
  document_ids: Array<string>
  chunks_created: number
  /** Parts of the file that could not be read and are omitted. `page` counts from 1; null if the file has no pages. */
  warnings: Array<IngestWarning>
}

export type InputTokensDetails = {
  cached_tokens?: number
  [other: string]: unknown
}

export type Invitation = {
  email: string
  invited_at: string
  expires_at: string
}

export type InviteUserRequest = {
  email: string
}

export type Invoice = {
  id: string
  number: string | null
  /** `open`, `paid`, `void` or `uncollectible` */
  status: string
  created_at: string
  description: string | null
  /** In units of the currency */
  total: number
  /** The unpaid part */
  due: number
  currency: string
  /** Redirects to the processor’s page of the invoice, where an open one is paid */
  pay_url: string | null
  /** Redirects to the PDF */
  pdf_url: string | null
}

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'

export type Invoices = {
  invoices: Array<Invoice>
}

export type Issue = {
  /** Begins with body, query, path or header */
  loc: Array<string | number>
  msg: string
  type: string
}

export type Job = {
  id: string
  kind: string
  attempts: number
  last_error: string | null
  created_at: string
  /** When a waiting job is due; when a failed job was tried last */
  run_at: string
  is_running: boolean
  email: JobEmail | null
}

/** The email that the job sends */
export type JobEmail = {
  to: string
  subject: string
}

export type JsonObject = Record<string, unknown>

export type JsonRpcError = {
  code: number
  message: string
  data?: JsonObject
}

/** Has a `result` or an `error`. */
export type JsonRpcReply = {
  jsonrpc: '2.0'
  id: string | number | null
  result?: JsonObject
  error?: JsonRpcError
}

/** A message without an `id` is a notification. */
export type JsonRpcRequest = {
  jsonrpc: '2.0'
  id?: string | number | null
  /** `server/discover`, `initialize`, `ping`, `tools/list`, `tools/call`, `resources/list`, `resources/templates/list`, `resources/read`, or a notification. */
  method: string
  params?: JsonObject
}

export type KeptCard = {
  last4: string | null
  expires_at: string | null
}

export type KeyAllowance = {
  id: string
  limit_usd: number
  used_usd: number
  period: BudgetPeriod
  period_end: string
}

/** Model cost in US dollars, by UTC day, ISO week or month. */
export type KeyBudget = {
  limit_usd: number
  period: BudgetPeriod
}

export type KeyLeft = {
  requests?: RequestsLeft
  tokens?: TokensLeft
  budget?: DollarsLeft
}

export type KeyRate = {
  requests: number
  seconds: number
}

export type KeyScope = 'ai' | 'rag' | 'rag:read' | 'usage'

export type KeySet = {
  keys: Array<SigningKey>
}

export type LeftOut = {
  path: string
  reason: string
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type LibraryError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'call_not_found' | 'budget_exhausted' | 'token_budget_exhausted' | 'key_budget_exhausted' | 'free_needs_verified_email' | 'free_allowance_taken' | 'budget_busy' | 'provider_not_configured' | 'model_not_allowed' | 'choices_not_allowed' | 'model_not_found' | 'model_not_listed' | 'vendor_refused' | 'request_not_supported' | 'context_length_exceeded' | 'vendor_overloaded' | 'vendor_timeout' | 'vendor_failed' | 'vendor_unauthorized' | 'vendor_sandbox_closed' | 'model_switched_off' | 'vendor_switched_off' | 'gateway_full' | 'embeddings_not_supported' | 'rerank_not_supported' | 'dimensions_fixed' | 'responses_not_kept' | 'response_not_found' | 'tokens_unsupported' | 'document_not_found' | 'original_not_found' | 'original_missing' | 'collection_not_found' | 'collection_limit_reached' | 'text_too_large' | 'storage_limit_reached' | 'file_too_large' | 'file_type_unsupported' | 'file_unreadable' | 'file_not_kept' | 'ingest_job_not_found' | 'ingest_cancelled' | 'ingest_not_allowed' | 'ingest_given_up' | 'ingest_queue_full' | 'watchers_limit_reached' | 'parser_busy' | 'reader_busy' | 'origin_refused' | 'method_not_allowed'
}

export type ListAllCallsResponse = {
  calls: Array<AdminCall>
  next_cursor: string | null
}

export type ListAllDocumentsResponse = {
  documents: Array<AdminDocument>
  next_cursor: string | null
}

export type ListAllInvoicesResponse = {
  invoices: Array<AdminInvoice>
  next_cursor: string | null
}

export type ListAuditResponse = {
  entries: Array<AdminAuditEntry>
  /** Counted up to 10,000; more are reached by cursor */
  total: number
  page: number
  limit: number
  pages: number
  next_cursor: string | null
}

export type ListContactMessagesResponse = {
  messages: Array<ContactMessage>
  /** To whom messages can be assigned */
  superusers: Array<Superuser>
  /** Counted up to 10,000; more are reached by cursor */
  total: number
  page: number
  limit: number
  pages: number
  next_cursor: string | null
}

export type ListCustomerEventsResponse = {
  events: Array<CustomerEvent>
  next_before: string | null
}

export type ListDiscountsResponse = {
  discounts: Array<Discount>
}

export type ListDisputesResponse = {
  disputes: Array<Dispute>
  /** Counted up to 10,000; more are reached by cursor */
  total: number
  page: number
  limit: number
  pages: number
  next_cursor: string | null
}

export type ListEmailsResponse = {
  emails: Array<LoggedEmail>
  next_cursor: string | null
}

export type ListInvitationsResponse = {
  invitations: Array<Invitation>
}

export type ListJobsResponse = {
  /** All waiting and running jobs */
  queued: number
  /** At most 200 failed jobs, newest first */
  dead: Array<Job>
  /** The 100 that are due next */
  waiting: Array<Job>
}

export type ListMovementsResponse = {
  movements: Array<Movement>
  next_cursor: string | null
}

export type ListOrdersResponse = {
  purchases: Array<Order>
  /** Counted up to 10,000; more are reached by cursor */
  total: number
  page: number
  limit: number
  pages: number
  next_cursor: string | null
}

export type ListOwnAuditResponse = {
  entries: Array<AuditEntry>
  /** Counted up to 10,000; more are reached by cursor */
  total: number
  page: number
  limit: number
  pages: number
  next_cursor: string | null
}

export type ListPlansResponse = {
  plans: Array<Plan>
}

export type ListProductsResponse = {
  /** True when the file of CATALOGUE has the products; nobody can edit them */
  is_fixed: boolean
  /** The address of the shop */
  shop_url: string
  products: Array<StoreProduct>
}

export type ListReceivedEventsResponse = {
  events: Array<ReceivedEvent>
  next_cursor: string | null
}

export type ListReleasesResponse = {
  releases: Array<StoreRelease>
}

export type ListSharesResponse = {
  shares: Array<Share>
}

export type ListSubscriptionChangesResponse = {
  changes: Array<SubscriptionChange>
  next_cursor: string | null
}

export type ListSwitchesResponse = {
  switches: Array<Switch>
}

export type ListUsersResponse = {
  users: Array<AdminUser>
  total: number
  page: number
  limit: number
  pages: number
  next_cursor: string | null
}

export type ListedIngestJob = {
  id: string
  state: 'queued' | 'running' | 'done' | 'failed'
  stage: 'reading' | 'storing' | null
  /** The number of stored chunks. */
  done: number
  /** Null until the document has been read. */
  total: number | null
  chunks_created: number
  /** Parts of the file that could not be read and are omitted. `page` counts from 1; null if the file has no pages. */
  warnings: Array<IngestWarning>
  error: IngestError | null
  source: string | null
  external_id: string | null
  created_at: string
  finished_at: string | null
  document_id: string | null
}

export type Locale = 'en' | 'de'

export type LogInRequest = {
  email: string
  password: string
  code?: string
  /** The solved `challenge` of a `proof_required` */
  proof?: string
}

export type LoggedEmail = {
  id: string
  /** The account that the email is for. Null for emails to the operator, to an address without an account, and to senders of the contact form. */
  user_id: string | null
  address: string
  subject: string
  state: 'waiting' | 'sent' | 'failed'
  /** The words of the mail server after a failure */
  error: string | null
  created_at: string
  sent_at: string | null
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type McpError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'document_not_found' | 'original_not_found' | 'original_missing' | 'collection_not_found' | 'collection_limit_reached' | 'text_too_large' | 'storage_limit_reached' | 'file_too_large' | 'file_type_unsupported' | 'file_unreadable' | 'file_not_kept' | 'ingest_job_not_found' | 'ingest_cancelled' | 'ingest_not_allowed' | 'ingest_given_up' | 'ingest_queue_full' | 'watchers_limit_reached' | 'parser_busy' | 'reader_busy' | 'origin_refused' | 'method_not_allowed'
}

export type Message = {
  message: string
}

export type MessagePart = {
  type: 'text'
  text: string
} | {
  type: 'image'
  media_type: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'
  /** The image in base64, at most 5 MB. */
  data: string
} | {
  type: 'document'
  document_id: string
  name: string
}

/** What the model showed of its reasoning. */
export type MessageReasoning = {
  text: string
  /** How long the model thought. */
  ms: number
}

export type MessageUsage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  cost_usd: number | null
  finish_reason?: 'length' | 'content_filter'
}

export type MetricInterval = 'day' | 'week' | 'month'

export type MetricName = 'mrr' | 'new_mrr' | 'expansion' | 'contraction' | 'churned_mrr' | 'active_accounts' | 'new_accounts' | 'churned_accounts' | 'trials' | 'trial_conversion' | 'churn_rate' | 'revenue' | 'refunds' | 'model_cost' | 'gross_margin' | 'margin_percent' | 'calls' | 'failure_rate' | 'ttft_p95' | 'documents' | 'signups' | 'checkout_conversion'

export type MetricSeries = {
  name: MetricName
  unit: 'money' | 'count' | 'percent' | 'milliseconds'
  /** Set for money, which is in minor units */
  currency: string | null
  values: Array<number | null>
}

export type MetricTotal = {
  name: MetricName
  unit: 'money' | 'count' | 'percent' | 'milliseconds'
  /** Set for money, which is in minor units */
  currency: string | null
  /** Null when unknown, such as a rate of nothing */
  value: number | null
}

export type Model = {
  id: string
  provider: string
  /** For an alias: its model, or the first of several. */
  alias_of: string | null
  /** The models that may answer, as `provider/model`; several for an alias of several models. */
  routes: Array<string>
  routed_by: 'order' | 'weight' | 'price' | 'latency' | null
  kind: 'chat' | 'embedding' | 'rerank'
  context_tokens: number | null
  output_tokens_max: number | null
  /** True if every model that may answer is known to accept images. */
  vision: boolean
  input_usd_per_million: number
  cached_input_usd_per_million: number
  output_usd_per_million: number
  /** True if the model has no known price, so that its vendor's highest price counts. */
  price_estimated: boolean
  available: boolean
  default: boolean
}

/** Null: unknown. */
export type ModelCapabilities = {
  temperature: 'taken' | 'refused' | 'without-reasoning'
  thinking: boolean
  forced_tools: boolean
  vision: boolean | null
  pdf: boolean | null
  audio: boolean | null
  tools: boolean | null
  json_schema: boolean | null
}

export type ModelList = {
  prices_as_of: string
  default_provider: string
  default_model: string
  providers: Array<Provider>
  models: Array<Model>
}

export type ModelPrices = {
  input_usd_per_million: number
  output_usd_per_million: number
}

export type ModelsOverview = {
  /** The usage covers this many days. */
  days: number
  /** Calls that name no model use it. */
  default_model: string | null
  /** In the order of LLM_FALLBACKS. */
  fallbacks: Array<string>
  aliases: Array<AliasRoutes>
  /** In the order of their slots. `off`: the vendor has no key. */
  vendors: Array<OperatorVendor>
  /** Listed and recently used models of vendors with a key, highest cost first. */
  models: Array<OperatorModel>
}

/** The price of a month, before discounts and taxes; null unless it is paid */
export type MonthlyRevenue = {
  /** In minor units of the currency */
  cents: number
  currency: string
}

export type MoveClockRequest = {
  to: string
}

export type MovedClock = {
  now: string
  /** The time without the moves. The clock is never behind it. */
  real_time: string
  /** The next events of the processor. */
  ahead: Array<DueEvent>
  events: Array<PassedEvent>
  emails: Array<SentEmail>
}

export type Movement = {
  at: string
  type: 'payment' | 'refund' | 'dispute'
  /** The id at the processor */
  id: string
  payment_id: string
  /** The number of the invoice */
  invoice: string | null
  /** The purchase that the payment paid */
  order_id: string | null
  kind: 'purchase' | 'subscription'
  /** Null after the account’s deletion */
  user_id: string | null
  email: string | null
  tier: string | null
  currency: string
  /** In minor units of the currency */
  amount_cents: number
  /** Included in `amount_cents` */
  tax_cents: number
}

export type MovementType = 'payment' | 'refund' | 'dispute'

export type NewPlanPrice = {
  tier: string
  interval: 'month' | 'year'
  /** In the currency’s smallest unit */
  amount: number
}

export type OAuthLink = {
  provider: OAuthProvider
  email: string | null
  linked_at: string
}

export type OAuthProvider = 'google' | 'github'

export type OAuthStart = {
  authorization_url: string
  state: string
}

export type OffersWish = {
  by_mail: boolean
}

export type OneTimeToken = {
  token: string
}

export type OpenAiError = {
  error: OpenAiErrorObject
}

export type OpenAiErrorObject = {
  message: string
  type: string
  code: string | null
  param: string | null
}

export type OpenAiModel = {
  id: string
  object: 'model'
  /** Seconds since 1970. */
  created: number
  owned_by: string
  context_tokens: number | null
  output_tokens_max: number | null
  price: OpenAiModelPrice | null
  capabilities: ModelCapabilities | null
  /** For an alias of several models: the models that may answer. */
  routes?: Array<string>
  routed_by?: 'order' | 'weight' | 'price' | 'latency'
}

export type OpenAiModelList = {
  object: 'list'
  data: Array<OpenAiModel>
}

/** US dollars per million tokens. */
export type OpenAiModelPrice = {
  input: number
  output: number
  cached: number
}

export type OperatorModel = {
  vendor: string
  model: string
  kind: 'chat' | 'embedding' | 'rerank'
  context_tokens: number | null
  input_usd_per_million: number
  output_usd_per_million: number
  is_price_estimated: boolean
  is_default: boolean
  /** Why the model or its vendor is switched off. */
  off_reason: string | null
  calls: number
  failed: number
  /** Computed from the price list. */
  cost_usd: number
}

export type OperatorVendor = {
  name: string
  label: string
  state: 'live' | 'sandbox' | 'off'
  key_setting: string | null
  /** Circuits are those of the node that replies. */
  endpoints: Array<VendorEndpoint>
  /** Models whose rate limit the node waits out. */
  limited_models: Array<string>
  last_failure: VendorFailure | null
  calls: number
  failed: number
  /** Computed from the price list. */
  cost_usd: number
}

export type Order = {
  id: string
  /** Null after the deletion of the account, and before a guest’s claim */
  user_id: string | null
  email: string | null
  tier: string
  status: PurchaseStatus
  /** In minor units of the currency */
  amount_cents: number
  /** The part of the amount that is tax */
  tax_cents: number
  refunded_cents: number
  currency: string
  /** The processor’s fee in `fee_currency`; null while unknown */
  fee_cents: number | null
  fee_currency: string | null
  /** The payment’s id at the processor */
  payment_ref: string
  /** The purchase that this one replaces */
  from_id: string | null
  /** The order of the bundle that paid for it; a bundle’s own is its `id` */
  bundle_id: string | null
  download_count: number
  max_downloads: number
  /** Null: the limit of the product */
  activations_limit: number | null
  entitled_until: string | null
  created_at: string
}

export type OrderChange = {
  at: string
  action: string
  actor_email: string | null
  data: JsonObject | null
}

export type OrderDetail = {
  id: string
  /** Null after the deletion of the account, and before a guest’s claim */
  user_id: string | null
  email: string | null
  tier: string
  status: PurchaseStatus
  /** In minor units of the currency */
  amount_cents: number
  /** The part of the amount that is tax */
  tax_cents: number
  refunded_cents: number
  currency: string
  /** The processor’s fee in `fee_currency`; null while unknown */
  fee_cents: number | null
  fee_currency: string | null
  /** The payment’s id at the processor */
  payment_ref: string
  /** The purchase that this one replaces */
  from_id: string | null
  /** The order of the bundle that paid for it; a bundle’s own is its `id` */
  bundle_id: string | null
  download_count: number
  max_downloads: number
  /** Null: the limit of the product */
  activations_limit: number | null
  entitled_until: string | null
  created_at: string
  /** Null for a bundle */
  license_key_masked: string | null
  /** The products of a bundle, each with its own license; their `id` works like an order’s */
  members: Array<OrderMember>
  waiver: Waiver | null
  withdrawn_at: string | null
  revoked_at: string | null
  /** The purchases with this license key, oldest first */
  chain: Array<Order>
  refunds: Array<OrderMoney>
  disputes: Array<OrderMoney>
  /** The newest deliveries */
  downloads: Array<OrderDownload>
  /** The machines that the license is active on, oldest first */
  machines: Array<OrderMachine>
  /** The newest entries of the audit log about this purchase */
  changes: Array<OrderChange>
}

export type OrderDownload = {
  id: string
  /** The product; in a bundle, one of its products */
  tier: string
  version: string
  ip_address: string
  user_agent: string
  country: string | null
  downloaded_at: string
}

export type OrderMachine = {
  id: string
  name: string | null
  platform: string | null
  version: string | null
  activated_at: string
  last_seen_at: string
}

export type OrderMember = {
  id: string
  tier: string
  status: PurchaseStatus
  license_key_masked: string
}

export type OrderMoney = {
  /** The id at the processor */
  id: string
  amount_cents: number
  currency: string
  /** The processor’s status */
  status: string
  reason: string | null
  created_at: string
}

/** The uploaded file, if it is stored. */
export type OriginalFile = {
  name: string
  bytes: number
  /** In hexadecimal, to compare with a local file. */
  sha256: string
}

export type OutputTokensDetails = {
  reasoning_tokens?: number
  [other: string]: unknown
}

export type PassedEvent = {
  id: string
  at: string
  type: 'invoice.paid' | 'invoice.payment_failed' | 'invoice.upcoming' | 'customer.subscription.trial_will_end' | 'customer.subscription.paused' | 'customer.subscription.resumed' | 'customer.subscription.deleted' | 'charge.refunded' | 'charge.dispute.created' | 'charge.dispute.closed'
  /** In minor units of the currency. */
  amount_cents: number | null
  currency: string | null
  email: string | null
  /** Null when no account has this address. */
  user_id: string | null
}

export type Passkey = {
  id: string
  name: string
  created_at: string
  last_used_at: string | null
}

export type PasskeyAnswer = {
  clientDataJSON: string
}

export type PasskeyCredential = {
  id: string
  rawId: string
  type: 'public-key'
  response: PasskeyAnswer
}

export type PasskeyOptions = {
  options: JsonObject
}

/** A second checkout that waits for its first payment while a plan runs */
export type PendingCheckout = {
  price_id: string
  tier: string | null
  payment_status: string
  /** True when its payment replaces the running plan. False when it is the older one, which is credited if it is paid */
  replaces: boolean
}

export type Percentiles = {
  p50: number
  p95: number
}

export type Plan = {
  name: string
  tier: string
  /** Per month, in units of the currency; absent when the processor cannot be reached */
  price?: number
  /** The processor’s price id, for create-checkout-session */
  price_monthly?: string
  /** The processor’s price id, for create-checkout-session */
  price_yearly?: string
  /** Per year, in units of the currency */
  amount_yearly?: number
  currency?: string
  features: Array<string>
  grants: Array<string>
  limits: PlanLimits
  /** Trial before the first payment, for users who have never subscribed */
  trial_days: number
}

export type PlanChange = {
  price_id: string
  /** From the preview; valid for 15 minutes */
  proration_at: number
}

export type PlanChoice = {
  price_id: string
}

/** Limits of stored data and of each call; null: no limit. */
export type PlanLimits = {
  documents_max: number | null
  characters_max: number | null
  chunks_max: number | null
  file_bytes_max: number | null
  output_tokens_max: number | null
  choices_max: number | null
}

export type PlanModel = {
  id: string
  provider: string
  /** The display name. */
  provider_label: string
  /** For an alias: the models that may answer, as `provider/model`; otherwise empty. */
  routes: Array<string>
  kind: 'chat' | 'embedding' | 'rerank'
  context_tokens: number | null
  output_tokens_max: number | null
  capabilities: ModelCapabilities | null
  input_usd_per_million: number
  cached_input_usd_per_million: number
  output_usd_per_million: number
  /** True if the model has no known price, so that its vendor's highest price counts. */
  price_estimated: boolean
  /** True if your calls that name no model use it. */
  default: boolean
  /** The names of the plans that include it. */
  plans: Array<string>
  /** True if your plan includes it. */
  included: boolean
}

export type PlanModelList = {
  prices_as_of: string
  models: Array<PlanModel>
}

export type PreviewCustomerPlanRequest = {
  price_id: string
}

export type ProcessorAccount = {
  name: string | null
  country: string | null
  can_charge: boolean
}

export type ProcessorEvent = {
  id: string
  type: string
  data: ProcessorEventData
  [other: string]: unknown
}

export type ProcessorEventData = {
  object: JsonObject
  [other: string]: unknown
}

export type ProductPicture = {
  url: string
  alt: string
}

export type ProductQuestion = {
  question: string
  /** Markdown */
  answer: string
}

export type PromptTokensDetails = {
  cached_tokens?: number
  [other: string]: unknown
}

export type ProtectedResource = {
  resource: string
  resource_name: string
  scopes_supported: Array<string>
  bearer_methods_supported: Array<string>
}

export type Provider = {
  provider: string
  /** The display name. */
  label: string
  configured: boolean
  sandbox: boolean
  default_model: string
}

export type ProviderName = 'openai' | 'anthropic' | 'gemini' | 'google' | 'llm_vendor_1' | 'llm_vendor_2' | 'llm_vendor_3'

export type PurchaseStatus = 'completed' | 'expired' | 'upgraded' | 'disputed' | 'refunded' | 'withdrawn' | 'revoked'

/** After an answer; only with `include_sources`. */
export type QueryDocumentsCitationsEvent = {
  citations: Array<Citation>
}

export type QueryDocumentsRequest = {
  question: string
  /** Default: 5. */
  top_k?: number
  /** Excludes chunks with a lower score. If no chunk is left, no model is called. Null: 0.3 for a vendor’s model, which declines when its sources do not answer; 0.5 in the sandbox and for an embedder without a known `similarity`. Default: 0.5. */
  min_score?: number | null
  /** Default: false. */
  stream?: boolean
  /** Streams only: adds a first event with the sources and a last event with the usage. Default: false. */
  include_sources?: boolean
  chat_history?: Array<ChatTurn> | null
  filter?: JsonObject | null
  /** Ids of collections. An empty list is as none. */
  collections?: Array<string>
  /** The model that answers, as under `/v1`: a name, `vendor/model` or an alias. Default: the default model. */
  model?: string | null
  /** Your end user. `GET /api/usage?group_by=end_user` sums by this value. */
  user?: string | null
  /** Labels of the call, for `GET /api/usage/calls?label=name:value`. */
  metadata?: Record<string, unknown> | null
}

export type QueryDocumentsResponse = {
  answer: string
  sources: Array<Source>
  /** The nearest chunks if no chunk reached `min_score`. */
  nearest: Array<Chunk>
  /** The question as a model rewrote it for the search; null if it was searched unchanged. */
  searched_as: string | null
  /** True if the question is about the documents as a whole; the sources then give an overview of them. */
  overview: boolean
  warnings: Array<SearchWarning>
  citations: Array<Citation>
  /** The model that answered; null, like `usage`, if nothing was found and no model was called. */
  model: string | null
  usage: TokenUsage | null
}

/** The first event; only with `include_sources`. */
export type QueryDocumentsSourcesEvent = {
  sources: Array<Source>
  /** The nearest chunks if no chunk reached `min_score`. */
  nearest: Array<Chunk>
  /** The question as a model rewrote it for the search; null if it was searched unchanged. */
  searched_as: string | null
  /** True if the question is about the documents as a whole; the sources then give an overview of them. */
  overview: boolean
  warnings: Array<SearchWarning>
}

/** The complete sentences of the cited source that match the statement best; null if the source does not support it or no sentence matches. */
export type Quote = {
  /** The text, copied from the source. */
  text: string
  /** Offset in the document’s text, in UTF-16 units, as in the `spans` of `GET /api/rag/documents/{id}`. */
  start: number
  end: number
  /** The page of `start`, from 1; null if the file has no pages. */
  page: number | null
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type RagError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'call_not_found' | 'budget_exhausted' | 'token_budget_exhausted' | 'key_budget_exhausted' | 'free_needs_verified_email' | 'free_allowance_taken' | 'budget_busy' | 'provider_not_configured' | 'model_not_allowed' | 'choices_not_allowed' | 'model_not_found' | 'model_not_listed' | 'vendor_refused' | 'request_not_supported' | 'context_length_exceeded' | 'vendor_overloaded' | 'vendor_timeout' | 'vendor_failed' | 'vendor_unauthorized' | 'vendor_sandbox_closed' | 'model_switched_off' | 'vendor_switched_off' | 'gateway_full' | 'embeddings_not_supported' | 'rerank_not_supported' | 'dimensions_fixed' | 'responses_not_kept' | 'response_not_found' | 'tokens_unsupported' | 'document_not_found' | 'original_not_found' | 'original_missing' | 'collection_not_found' | 'collection_limit_reached' | 'text_too_large' | 'storage_limit_reached' | 'file_too_large' | 'file_type_unsupported' | 'file_unreadable' | 'file_not_kept' | 'ingest_job_not_found' | 'ingest_cancelled' | 'ingest_not_allowed' | 'ingest_given_up' | 'ingest_queue_full' | 'watchers_limit_reached' | 'parser_busy' | 'reader_busy' | 'origin_refused' | 'method_not_allowed'
}

export type ReadDocumentTextInLibraryResponse = {
  id: string
  source: string | null
  text: string
  /** The id of the next part; null at the end. */
  next: string | null
}

export type ReadDocumentTextResponse = {
  id: string
  source: string | null
  text: string
  /** The id of the next part; null at the end. */
  next: string | null
}

export type Readiness = {
  status: 'ready' | 'draining' | 'not ready'
  checks: ReadinessChecks
  /** What is set up, by name; no secrets. */
  configured: Record<string, unknown>
}

export type ReadinessChecks = {
  /** It answers. */
  database: boolean
  /** It takes writes, and its disk is not full. */
  writable: boolean
  /** Null where none is set. */
  redis: boolean | null
  /** How far this machine’s clock is ahead of the database’s. */
  clock_skew_ms: number | null
}

export type ReceivedEvent = {
  /** The part of the service that handles it */
  source: string
  /** The id at the processor */
  id: string
  received_at: string
  handled_at: string | null
  job: EventJob | null
}

export type RefreshTokensRequest = {
  refresh_token: string
}

export type RefundOrderRequest = {
  /** In minor units of the currency; without it, everything that is left */
  amount?: number
  /** For the audit log */
  reason: string
}

export type RefundPaymentRequest = {
  /** In minor units of the currency; without it, everything that is left */
  amount?: number
  /** For the audit log */
  reason: string
}

export type RefundedPayment = {
  amount_cents: number
  currency: string
}

export type RegisterUserRequest = {
  email: string
  password: string
  full_name?: string | null
  /** Of the mailed link, where an account is made by invitation */
  invitation?: string
  /** The solved `challenge` of a `proof_required` */
  proof?: string
}

export type RejoinAnswerCitationsEvent = {
  citations: Array<JsonObject>
}

export type RejoinAnswerSourcesEvent = {
  /** All so far. */
  sources: Array<JsonObject>
}

export type RejoinAnswerTitleEvent = {
  title: string
}

export type RejoinAnswerToolEvent = {
  name: 'search' | 'list_documents' | 'fetch'
  input: JsonObject
  state: 'running' | 'done'
  /** The number of results, when it is done. */
  found?: number
}

export type RejoinAnswerUsageEvent = {
  usage: AnswerUsage
  model: string
  finish_reason: string | null
  cost_usd: number
}

export type ReleaseStatus = 'draft' | 'published' | 'withdrawn'

export type RemoveMailResponse = {
  /** For the environment of a service that stores no settings; otherwise empty. */
  lines: Array<SettingLine>
}

export type RemoveModelsResponse = {
  /** For the environment of a service that stores no settings; otherwise empty. */
  lines: Array<SettingLine>
}

export type RemovePaymentsResponse = {
  /** For the environment of a service that stores no settings; otherwise empty. */
  lines: Array<SettingLine>
}

export type RemoveTotpRequest = {
  code: string
  password?: string | null
}

export type Replace = 'source'

export type ReplyToContactMessageRequest = {
  message: string
}

export type RequestPasswordResetRequest = {
  email: string
}

export type RequestToolCall = {
  id: string
  function?: ToolCallFunction
  [other: string]: unknown
}

export type RequestsLeft = {
  left: number
  renews_at: string
}

export type ResendVerificationRequest = {
  email: string
}

export type ResetPasswordRequest = {
  token: string
  new_password: string
  revoke_api_keys?: boolean
}

/** OpenAI's events, each under its own name. The last is `response.completed` or `response.incomplete`; a stream that breaks off ends with `response.failed` and `error`. */
export type ResponseEvent = {
  /** The event’s name: `response.created`, `response.output_text.delta`, … */
  type: string
  sequence_number?: number
  response?: ResponseObject
  item?: ResponseOutputItem
  delta?: string
  [other: string]: unknown
}

export type ResponseInputItem = {
  type?: string
  role?: string
  [other: string]: unknown
}

export type ResponseInputTokens = {
  object: 'response.input_tokens'
  input_tokens: number
}

export type ResponseObject = {
  id: string
  object: 'response'
  /** Seconds since 1970. */
  created_at: number
  /** `completed`, `incomplete`, `in_progress` or `failed`. */
  status: string
  model: string
  output: Array<ResponseOutputItem>
  usage?: ResponseUsage | null
  error?: JsonObject | null
  incomplete_details?: JsonObject | null
  instructions?: string | null
  [other: string]: unknown
}

export type ResponseOutputItem = {
  /** `message`, `reasoning`, `function_call`, `custom_tool_call`, or another of OpenAI’s own. */
  type: string
  id?: string
  [other: string]: unknown
}

export type ResponsePrompt = Record<string, unknown>

export type ResponseReasoning = {
  effort?: string | null
  summary?: string | null
  [other: string]: unknown
}

export type ResponseText = Record<string, unknown>

export type ResponseTool = {
  type: string
  [other: string]: unknown
}

export type ResponseUsage = {
  input_tokens: number
  input_tokens_details?: InputTokensDetails
  output_tokens: number
  output_tokens_details?: OutputTokensDetails
  total_tokens: number
  /** US dollars, by the price list. */
  cost_usd?: number
  [other: string]: unknown
}

export type RestartServiceResponse = {
  started_at: string
}

export type RetryFailedJobsRequest = {
  about?: 'emails' | 'others'
}

export type RetryFailedJobsResponse = {
  retried: number
}

export type RetryJobResponse = {
  status: 'queued'
  id: string
}

export type RevokeOrderRequest = {
  /** For the audit log */
  reason: string
}

export type RotateApiKeyRequest = {
  grace_seconds?: number
}

export type SearchChunksInLibraryRequest = {
  query: string
  /** Default: 5. */
  top_k?: number
  mode?: SearchMode
  /** Default: 0. */
  min_score?: number
  /** Excludes chunks below this share of the best score. With 0.7, fewer chunks are returned, and those that answer are rarely missing. Default: 0. */
  min_relative_score?: number
  filter?: JsonObject | null
  /** Ids of collections. An empty list is as none. */
  collections?: Array<string>
  /** Whether a model reranks the best 30 chunks, in a separate call. Default: true if this server has a reranking model. Without one, true is rejected. */
  rerank?: boolean
  /** Your end user. `GET /api/usage?group_by=end_user` sums by this value. */
  user?: string | null
  /** Labels of the call, for `GET /api/usage/calls?label=name:value`. */
  metadata?: Record<string, unknown> | null
}

export type SearchChunksInLibraryResponse = {
  results: Array<Chunk>
  warnings: Array<SearchWarning>
}

export type SearchChunksRequest = {
  query: string
  /** Default: 5. */
  top_k?: number
  mode?: SearchMode
  /** Default: 0. */
  min_score?: number
  /** Excludes chunks below this share of the best score. With 0.7, fewer chunks are returned, and those that answer are rarely missing. Default: 0. */
  min_relative_score?: number
  filter?: JsonObject | null
  /** Ids of collections. An empty list is as none. */
  collections?: Array<string>
  /** Whether a model reranks the best 30 chunks, in a separate call. Default: true if this server has a reranking model. Without one, true is rejected. */
  rerank?: boolean
  /** Your end user. `GET /api/usage?group_by=end_user` sums by this value. */
  user?: string | null
  /** Labels of the call, for `GET /api/usage/calls?label=name:value`. */
  metadata?: Record<string, unknown> | null
}

export type SearchChunksResponse = {
  results: Array<Chunk>
  warnings: Array<SearchWarning>
}

/** `lexical` compares words, `dense` compares meanings, `hybrid` fuses both rankings. `auto` is `hybrid` if this server has an embedder, otherwise `lexical`. Without an embedder, `dense` and `hybrid` are rejected. Default: "auto". */
export type SearchMode = 'auto' | 'lexical' | 'dense' | 'hybrid'

/** A configured step that the search could not perform. */
export type SearchWarning = {
  code: 'embedding' | 'not_reranked'
  reason: string
}

export type SentEmail = {
  /** The email is at `/sandbox/mail/{id}`. */
  id: number
  at: string
  to: string
  subject: string
  /** Null when no account has this address. */
  user_id: string | null
}

export type ServiceOutage = {
  parts: Array<ServicePart>
  from: string
  /** Null while the outage lasts */
  until: string | null
}

export type ServicePart = 'api' | 'storefront' | 'worker'

export type Session = {
  id: string
  user_agent: string | null
  ip_address: string | null
  created_at: string
  last_used_at: string
  current: boolean
}

export type SetOrderActivationsRequest = {
  limit: number | null
}

export type SetUpMailRequest = {
  /** A name or an IPv4 address */
  host: string
  port: number
  encryption: 'tls' | 'starttls'
  user?: string
  password?: string
  from_name?: string
  from_address: string
}

export type SetUpMailResponse = {
  sent_to: string
  /** For the environment of a service that stores no settings; otherwise empty. */
  lines: Array<SettingLine>
}

export type SetUpModelsRequest = {
  vendor: string
  api_key: string
}

export type SetUpModelsResponse = {
  model: string
  latency_ms: number
  /** For the environment of a service that stores no settings; otherwise empty. */
  lines: Array<SettingLine>
}

export type SetUpPaymentsRequest = {
  /** A secret or restricted key. A publishable key (`pk_…`) cannot charge. */
  secret_key: string
  /** Of an endpoint that you created. Omitted: the service creates its endpoints. */
  webhook_secret?: string
}

export type SetUpPaymentsResponse = {
  account: ProcessorAccount
  /** For the environment of a service that stores no settings; otherwise empty. */
  lines: Array<SettingLine>
}

export type SetUpPlansRequest = {
  currency: string
  prices: Array<NewPlanPrice>
}

export type SetUpPlansResponse = {
  /** For the environment of a service that stores no settings; otherwise empty. */
  lines: Array<SettingLine>
}

export type SettingLine = {
  name: string
  value: string
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type SetupError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'email_taken' | 'email_domain_refused' | 'invitation_not_found' | 'invitation_required' | 'credentials_wrong' | 'two_factor_code_required' | 'two_factor_code_wrong' | 'proof_required' | 'emailed_code_wrong' | 'password_reset_required' | 'sign_in_queue_full' | 'refresh_token_invalid' | 'session_not_found' | 'fresh_sign_in_required' | 'verification_token_invalid' | 'reset_token_invalid' | 'undo_token_invalid' | 'setup_link_invalid' | 'password_wrong' | 'current_password_wrong' | 'password_not_set' | 'email_in_use' | 'confirmation_missing' | 'oauth_provider_not_found' | 'oauth_provider_not_configured' | 'oauth_provider_unreachable' | 'oauth_provider_not_linked' | 'last_sign_in_method' | 'two_factor_already_on' | 'two_factor_not_on' | 'passkey_limit_reached' | 'passkey_not_verified' | 'passkey_not_recognised' | 'passkey_not_found' | 'user_not_found' | 'account_not_viewable' | 'last_superuser' | 'superuser_unverified' | 'account_appeared' | 'unknown_price' | 'unknown_promotion_code' | 'promotion_code_used' | 'trial_needs_verified_email' | 'no_subscription' | 'same_plan' | 'payment_due' | 'subscription_ending' | 'subscription_pausing' | 'subscription_paused' | 'subscription_disputed' | 'not_pausable' | 'nothing_to_resume' | 'shorter_interval' | 'smaller_longer' | 'change_pending' | 'preview_outdated' | 'payment_refused' | 'payment_to_confirm' | 'nothing_to_refund' | 'refund_too_large' | 'invalid_unsubscribe_link' | 'no_billing_account' | 'billing_not_configured' | 'processor_unreachable' | 'processor_failed' | 'invalid_signature' | 'invalid_payload' | 'sandbox_only' | 'setting_in_environment' | 'settings_unusable' | 'processor_key_refused' | 'webhooks_refused' | 'played_clock_ahead' | 'price_refused' | 'payments_not_set_up' | 'plan_not_found' | 'vendor_not_found' | 'vendor_test_failed' | 'test_email_failed' | 'nothing_to_apply'
}

export type SetupMail = {
  state: 'on' | 'sandbox' | 'off'
  host: string | null
  /** Name and address in emails */
  sender: string
  /** This page saved it, and can remove it. */
  is_saved: boolean
  /** The setting of the environment that decides; null: this page does. */
  fixed_by: string | null
}

export type SetupModel = {
  vendor: string
  /** The default model, which answers the test call. */
  model: string
  state: 'on' | 'sandbox' | 'off'
  /** This page saved it, and can remove it. */
  is_saved: boolean
  /** The setting of the environment that decides; null: this page does. */
  fixed_by: string | null
}

export type SetupPayments = {
  state: 'live' | 'test' | 'sandbox' | 'off'
  has_webhook: boolean
  /** This page saved it, and can remove it. */
  is_saved: boolean
  /** The setting of the environment that decides; null: this page does. */
  fixed_by: string | null
}

export type SetupPlan = {
  tier: string
  name: string
  features: Array<string>
  prices: SetupPlanPrices
}

/** The intervals for sale. */
export type SetupPlanPrices = {
  month: boolean
  year: boolean
}

export type SetupPlans = {
  /** The setting of the environment that decides; null: this page does. */
  fixed_by: string | null
  plans: Array<SetupPlan>
}

export type SetupState = {
  /** False: this service stores no settings, and replies contain lines for its environment. */
  is_stored: boolean
  /** The sandbox stands in for parts without a key. */
  has_sandbox: boolean
  /** The addresses are not those of this machine. */
  is_public: boolean
  storefront_url: string
  started_at: string
  /** Names of saved settings that apply after a restart. */
  pending: Array<string>
  /** Why the last restart returned to the former settings. */
  restart_failure: string | null
  payments: SetupPayments
  /** The vendors that can get a key here, in the order that answers calls. */
  models: Array<SetupModel>
  mail: SetupMail
  plans: SetupPlans
}

export type Share = {
  id: string
  token: string
  url: string
  conversation_id: string
  title: string
  /** The last shared message. */
  leaf_id: string
  with_sources: boolean
  expires_at: string | null
  /** True if the conversation now ends with another message. */
  has_newer: boolean
  created_at: string
  updated_at: string
}

export type ShareConversationRequest = {
  /** The last message to share. */
  leaf_id: string
  /** Whether answers show their cited sentences. Whole documents are never shown. */
  with_sources: boolean
  /** When the link ends; null: never. */
  expires_at?: string | null
}

export type SharedCitation = {
  source: number
  start: number
  end: number
  quote: SharedQuote
}

export type SharedConversation = {
  title: string
  with_sources: boolean
  created_at: string
  updated_at: string
  messages: Array<SharedMessage>
}

export type SharedMessage = {
  role: 'user' | 'assistant'
  text: string
  model: string | null
  created_at: string
  /** The number of images and documents, which are not shared. */
  attachments: number
  /** The cited ones only. */
  sources: Array<SharedSource>
  citations: Array<SharedCitation>
}

export type SharedQuote = {
  text: string
  page: number | null
}

export type SharedSource = {
  /** The number of the marks in the text. */
  number: number
  name: string
  page: number | null
}

export type SignInToStorefrontRequest = {
  /** As the storefront gave it */
  state: string
}

export type SignInToStorefrontResponse = {
  url: string
}

export type SigningKey = {
  kty: string
  crv: string
  x: string
  kid: string
  use: string
  alg: string
}

export type SkippedConversation = {
  title: string
  reason: 'already_imported' | 'empty' | 'invalid' | 'too_long'
}

export type SortDirection = 'asc' | 'desc'

/** `[n]` in the answer cites the n-th source. */
export type Source = {
  id: string
  content: string
  score: number
  /** The score of the reranking model, on its own scale; present if a model reranked the results. */
  rerank_score?: number
  metadata: JsonObject
  document_id: string
  /** All chunks of the content: the found chunk and its neighbours. */
  chunk_ids: Array<string>
}

export type StartTotpResponse = {
  secret: string
  otpauth_url: string
  /** A picture of `otpauth_url`, as a data: address */
  qr_code: string
}

export type Storage = {
  documents: StorageRoom
  characters: StorageRoom
  chunks: StorageRoom
  file_bytes: StorageRoom
  embedding: EmbeddingProgress | null
}

export type StorageRoom = {
  used: number
  /** The limit of the plan; null: no limit. */
  max: number | null
}

export type StoreProduct = {
  tier: string
  name: string
  price: number
  currency: string
  slug: string
  /** Given away without a payment: by a mailed link, or to verified accounts */
  free: 'email' | 'account' | null
  /** The slugs of the products that a bundle’s buyer gets; empty: no bundle */
  bundle: Array<string>
  /** Markdown */
  description: string
  includes: string | null
  images: Array<string>
  features: Array<string>
  gallery: Array<ProductPicture>
  faq: Array<ProductQuestion>
  /** Rows of the table that compares the products */
  comparison: Record<string, unknown>
  /** Markdown */
  terms: string
  /** Markdown */
  changelog: string
  tax_code: string | null
  updates_months: number | null
  /** In units of the currency */
  renewal_price: number | null
  /** Per tier: `difference`, or a fixed price */
  upgrade_from: Record<string, unknown>
  activations_max: number | null
  activation_releases_per_month: number
  /** Of the last change; 0 before the first */
  revision: number
  retired_at: string | null
  /** False without a published release, or without a tax code that TAX needs; a bundle needs these of its products */
  is_for_sale: boolean
}

export type StoreRelease = {
  version: string
  status: ReleaseStatus
  /** Markdown */
  notes: string
  /** False for a folder of PRODUCTS_DIR, or of the sample. Only its files change it */
  is_uploaded: boolean
  /** False while an upload runs, and after it broke off */
  is_complete: boolean
  file_count: number | null
  /** Of all its files, unpacked */
  size_bytes: number | null
  /** Of the plain ZIP; null before it is published */
  sha256: string | null
  left_out: Array<LeftOut>
  created_at: string | null
  published_at: string | null
  withdrawn_at: string | null
}

export type StreamOptions = {
  include_usage?: boolean | null
  [other: string]: unknown
}

export type Subscription = {
  status: SubscriptionStatus
  tier: string
  processor_customer_id: string | null
  price_id: string | null
  current_period_end: string | null
  cancel_at_period_end: boolean
  /** The processor’s status, such as `paused`, `unpaid` or, before the first payment, `incomplete`; null without a subscription */
  processor_status: string | null
  /** The processor’s status of the missing payment: `requires_action` when the bank requires a confirmation, `processing` while it is in progress; null when none is missing */
  payment_status: string | null
  /** The subscribed plan, also while a pause or a missing payment keeps it closed */
  subscribed_tier: string | null
  pending_checkout: PendingCheckout | null
  /** Entitlements of the plan */
  entitlements: Array<string>
  /** Price of the next period, in units of the currency, before discounts and taxes */
  amount: number | null
  currency: string | null
  interval: string | null
  trial_ends_at: string | null
  /** True when a checkout starts with the trial of its plan, if it has one */
  trial_available: boolean
  open_until: string | null
  /** The price that follows this period */
  next_price_id: string | null
  next_tier: string | null
  pauses_at: string | null
  card: KeptCard | null
  deal: Deal | null
  offers_by_mail: boolean
}

export type SubscriptionChange = {
  day: string
  /** Null after the account’s deletion */
  user_id: string | null
  email: string | null
  kind: 'new' | 'expansion' | 'contraction' | 'churned' | 'trial_started' | 'trial_converted' | 'trial_ended'
  tier: string | null
  currency: string
  /** Monthly recurring revenue in minor units; 0 while there is none */
  before_cents: number
  /** Monthly recurring revenue in minor units; 0 while there is none */
  after_cents: number
}

export type SubscriptionChangeKind = 'new' | 'expansion' | 'contraction' | 'churned' | 'trial_started' | 'trial_converted' | 'trial_ended'

export type SubscriptionStatus = 'free' | 'active' | 'cancelled' | 'past_due'

export type Superuser = {
  id: string
  email: string
  full_name: string | null
}

export type Switch = {
  kind: SwitchKind
  subject: string
  /** The address of the user, or of the key’s owner. */
  email: string | null
  reason: string
  set_at: string
}

export type SwitchEffect = {
  /** Calls and costs are daily averages over this many days. */
  days: number
  default_model: SwitchEffectOnDefault
  /** Models that the switch would turn off, the highest recent cost first. `stand_in` answers calls that name the model; null: they would be rejected. */
  models: Array<SwitchEffectOnModel>
  /** Aliases of these models, and the first model of each alias. */
  aliases: Array<SwitchEffectOnAlias>
}

export type SwitchEffectOnAlias = {
  alias: string
  /** `vendor/model` */
  before: string | null
  /** `vendor/model` */
  after: string | null
}

/** Calls that name no model. `after` is null when they would be rejected. */
export type SwitchEffectOnDefault = {
  /** `vendor/model` */
  before: string | null
  /** `vendor/model` */
  after: string | null
  /** The new cost of the same calls divided by their present cost: 8 is 8 times as much. */
  price_ratio: number | null
}

export type SwitchEffectOnModel = {
  /** `vendor/model` */
  model: string
  calls_per_day: number
  cost_usd_per_day: number
  /** `vendor/model` */
  stand_in: string | null
  /** The new cost of the same calls divided by their present cost: 8 is 8 times as much. */
  price_ratio: number | null
}

export type SwitchKind = 'user' | 'key' | 'model' | 'vendor'

export type SwitchOffRequest = {
  kind: SwitchKind
  /** The id of a user or a key, the name of a vendor, or models as a plan lists them: `gpt-6-luna`, `groq/*`, an alias. */
  subject: string
  /** Shown to rejected callers. */
  reason: string
}

export type SwitchOnResponse = {
  status: 'on'
}

export type SwitchableRoute = 'model' | 'vendor'

export type TemporaryTurn = {
  role: 'user' | 'assistant'
  parts: Array<MessagePart>
}

export type Tier = 'free' | 'pro' | 'enterprise'

export type TimeMachine = {
  now: string
  /** The time without the moves. The clock is never behind it. */
  real_time: string
  /** The next events of the processor. */
  ahead: Array<DueEvent>
}

export type Token = {
  access_token: string
  refresh_token: string
  token_type: 'bearer'
  user: TokenUser | null
}

export type TokenCount = {
  input_tokens: number
}

/** A chunk of the answer. */
export type TokenEvent = {
  token: string
}

export type TokenUsage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

export type TokenUser = {
  id: string
  email: string
  full_name: string | null
  is_verified: boolean
  subscription_status: string
  subscription_tier: string
  created_at: string
}

export type TokensLeft = {
  used: number
  left: number
  renews_at: string
}

export type Tool = {
  type: string
  function?: ToolFunction
  [other: string]: unknown
}

export type ToolCall = {
  id: string
  type: 'function'
  function: ToolCallFunction
  [other: string]: unknown
}

export type ToolCallDelta = {
  index: number
  id?: string
  type?: 'function'
  function?: ToolCallFunctionDelta
  [other: string]: unknown
}

export type ToolCallFunction = {
  name: string
  arguments: string
  [other: string]: unknown
}

export type ToolCallFunctionDelta = {
  name?: string
  arguments?: string
  [other: string]: unknown
}

export type ToolFunction = {
  name: string
  [other: string]: unknown
}

export type TopUser = {
  id: string
  email: string | null
  requests: number
  cost_usd: number
}

export type UnknownPrice = {
  price_id: string
  subscribers: number
}

export type UpdateCollectionInLibraryRequest = {
  name?: string
  colour?: CollectionColour
  /** Instructions to the model that answers from the collection. */
  instructions?: string | null
}

export type UpdateCollectionRequest = {
  name?: string
  colour?: CollectionColour
  /** Instructions to the model that answers from the collection. */
  instructions?: string | null
}

export type UpdateProfileRequest = {
  full_name?: string | null
  avatar_url?: string | null
  locale?: Locale | null
}

export type UpdateShareRequest = {
  /** The last message to share. */
  leaf_id?: string
  /** Whether answers show their cited sentences. Whole documents are never shown. */
  with_sources?: boolean
  /** When the link ends; null: never. */
  expires_at?: string | null
}

export type UpdateUserRequest = {
  is_active?: boolean
  is_verified?: boolean
  is_superuser?: boolean
  subscription_tier?: Tier | null
  /** When the override ends by itself; only with a tier. Without it, the plan has no end; an earlier end is removed. */
  subscription_tier_until?: string | null
}

export type UploadReleaseRequest = {
  version: string
  /** Markdown */
  notes?: string
  /** A ZIP */
  file: string
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type UsageError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'call_not_found' | 'budget_exhausted' | 'token_budget_exhausted' | 'key_budget_exhausted' | 'free_needs_verified_email' | 'free_allowance_taken' | 'budget_busy'
}

export type UsageGroup = {
  key: string
  requests: number
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  /** A part of `prompt_tokens`. */
  cached_tokens: number
  cost_usd: number
}

export type UsageGrouping = 'day' | 'model' | 'key' | 'vendor' | 'outcome' | 'end_user'

export type UsageOutcome = 'ok' | 'failed' | 'cancelled'

export type UsageTotals = {
  requests: number
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  /** A part of `prompt_tokens`. */
  cached_tokens: number
  cost_usd: number
}

export type User = {
  id: string
  email: string
  full_name: string | null
  avatar_url: string | null
  locale: Locale | null
  is_active: boolean
  is_verified: boolean
  oauth_provider: OAuthProvider | null
  subscription_status: SubscriptionStatus
  subscription_tier: string
  created_at: string
  is_superuser: boolean
  has_password: boolean
  totp_enabled: boolean
  /** What the plan grants */
  entitlements: Array<string>
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type UsersError = {
  detail: string | Array<Issue>
  code: 'unauthenticated' | 'inactive_account' | 'not_superuser' | 'two_factor_needed' | 'view_read_only' | 'scope_missing' | 'address_not_allowed' | 'rate_limited' | 'validation_failed' | 'malformed_json' | 'json_too_deep' | 'bad_request' | 'bad_url' | 'bad_http' | 'not_found' | 'request_timeout' | 'body_too_large' | 'media_type_unsupported' | 'encoding_unsupported' | 'body_not_unpacked' | 'headers_too_large' | 'internal_error' | 'upload_not_taken' | 'busy' | 'database_unreachable' | 'database_busy' | 'database_full' | 'database_read_only' | 'email_not_verified' | 'paid_tier_needed' | 'user_switched_off' | 'key_switched_off' | 'email_taken' | 'email_domain_refused' | 'invitation_not_found' | 'invitation_required' | 'credentials_wrong' | 'two_factor_code_required' | 'two_factor_code_wrong' | 'proof_required' | 'emailed_code_wrong' | 'password_reset_required' | 'sign_in_queue_full' | 'refresh_token_invalid' | 'session_not_found' | 'fresh_sign_in_required' | 'verification_token_invalid' | 'reset_token_invalid' | 'undo_token_invalid' | 'setup_link_invalid' | 'password_wrong' | 'current_password_wrong' | 'password_not_set' | 'email_in_use' | 'confirmation_missing' | 'oauth_provider_not_found' | 'oauth_provider_not_configured' | 'oauth_provider_unreachable' | 'oauth_provider_not_linked' | 'last_sign_in_method' | 'two_factor_already_on' | 'two_factor_not_on' | 'passkey_limit_reached' | 'passkey_not_verified' | 'passkey_not_recognised' | 'passkey_not_found' | 'user_not_found' | 'account_not_viewable' | 'last_superuser' | 'superuser_unverified' | 'account_appeared'
}

export type VendorEndpoint = {
  name: string
  circuit: 'closed' | 'open' | 'half-open'
}

export type VendorFailure = {
  endpoint: string
  at: string
  /** Why the attempt failed: `timeout`, `limited`, `unauthorized`. */
  failure: string
  model: string | null
  user_id: string
  email: string | null
  request_id: string | null
  /** Null when another endpoint or vendor answered the call. */
  error_code: string | null
  /** The vendor’s own words. */
  error_detail: string | null
}

export type VerifyResetTokenResponse = {
  valid: boolean
}

export type ViewAccountRequest = {
  /** For the audit log */
  reason: string
}

/** The consent with which the right of withdrawal ends */
export type Waiver = {
  version: string
  at: string
}

/** By method and address: what goes in, and the JSON that comes back when all went well. */
export type Paths = {
  GET: {
    '/healthz': {
      reply: Health
    }
    '/readyz': {
      reply: Readiness
    }
    '/metrics': {
      reply: null
    }
    '/api/brand': {
      reply: Brand
    }
    '/api/admin/brand': {
      reply: BrandSettings
    }
    '/api/auth/me': {
      reply: User
    }
    '/api/users/me': {
      reply: User
    }
    '/api/users/me/export': {
      query?: {
        full?: boolean
      }
      reply: AccountExport
    }
    '/api/users/me/audit': {
      query?: {
        action?: string
        page?: number
        limit?: number
        cursor?: string
      }
      reply: ListOwnAuditResponse
    }
    '/.well-known/jwks.json': {
      reply: KeySet
    }
    '/api/users/me/sessions': {
      reply: Array<Session>
    }
    '/api/auth/passkeys': {
      reply: Array<Passkey>
    }
    '/api/billing/subscription': {
      reply: Subscription
    }
    '/api/billing/invoices': {
      reply: Invoices
    }
    '/api/billing/plans': {
      reply: ListPlansResponse
    }
    '/api/api-keys': {
      reply: Array<ApiKey>
    }
    '/api/api-keys/self': {
      reply: ApiKeySelf
    }
    '/api/usage': {
      query?: {
        from?: string
        to?: string
        group_by?: UsageGrouping
      }
      reply: GetUsageResponse
    }
    '/api/usage/calls': {
      query?: {
        from?: string
        to?: string
        model?: string
        vendor?: string
        route?: string
        key?: string
        outcome?: UsageOutcome
        end_user?: string
        label?: string
        request_id?: string
        cursor?: string
        limit?: number
      }
      reply: CallPage
    }
    '/api/usage/calls/{id}': {
      path: {
        id: string
      }
      reply: Call
    }
    '/api/usage/durations': {
      query?: {
        from?: string
        to?: string
      }
      reply: Durations
    }
    '/api/usage/allowance': {
      reply: Allowance
    }
    '/api/ai/models': {
      reply: ModelList
    }
    '/api/ai/plan-models': {
      reply: PlanModelList
    }
    '/v1/models': {
      query?: {
        limit?: number
        after_id?: string
        before_id?: string
      }
      reply: OpenAiModelList
    }
    '/v1/models/{model}': {
      path: {
        model: string
      }
      reply: OpenAiModel
    }
    '/api/auth/oauth/{provider}': {
      path: {
        provider: string
      }
      reply: OAuthStart
    }
    '/api/auth/callback/{provider}': {
      path: {
        provider: string
      }
      query?: {
        code?: string
        state?: string
        iss?: string
        error?: string
      }
      reply: null
    }
    '/api/users/me/oauth': {
      reply: Array<OAuthLink>
    }
    '/api/rag/jobs': {
      query?: {
        limit?: number
      }
      reply: Array<ListedIngestJob>
    }
    '/api/rag/jobs/{id}': {
      path: {
        id: string
      }
      reply: IngestJob
    }
    '/api/rag/documents/{document_id}': {
      path: {
        document_id: string
      }
      query?: {
        limit?: number
      }
      reply: DocumentWithSpans
    }
    '/api/rag/documents': {
      query?: {
        limit?: number
        offset?: number
        collection?: string
        name_contains?: string
        sort?: DocumentSort
        direction?: SortDirection
        cursor?: string
        external_id?: string
        source?: string
      }
      reply: Array<Document>
    }
    '/api/rag/documents/{document_id}/text': {
      path: {
        document_id: string
      }
      reply: ReadDocumentTextResponse
    }
    '/api/rag/documents/{document_id}/file': {
      path: {
        document_id: string
      }
      reply: null
    }
    '/api/rag/collections': {
      reply: Array<Collection>
    }
    '/api/rag/storage': {
      reply: Storage
    }
    '/api/library/jobs': {
      query?: {
        limit?: number
      }
      reply: Array<ListedIngestJob>
    }
    '/api/library/jobs/{id}': {
      path: {
        id: string
      }
      reply: IngestJob
    }
    '/api/library/documents/{document_id}': {
      path: {
        document_id: string
      }
      query?: {
        limit?: number
      }
      reply: DocumentWithSpans
    }
    '/api/library/documents': {
      query?: {
        limit?: number
        offset?: number
        collection?: string
        name_contains?: string
        sort?: DocumentSort
        direction?: SortDirection
        cursor?: string
        external_id?: string
        source?: string
      }
      reply: Array<Document>
    }
    '/api/library/documents/{document_id}/text': {
      path: {
        document_id: string
      }
      reply: ReadDocumentTextInLibraryResponse
    }
    '/api/library/documents/{document_id}/file': {
      path: {
        document_id: string
      }
      reply: null
    }
    '/api/library/collections': {
      reply: Array<Collection>
    }
    '/api/library/storage': {
      reply: Storage
    }
    '/.well-known/oauth-protected-resource/mcp': {
      reply: ProtectedResource
    }
    '/api/conversations/models': {
      reply: ConversationModels
    }
    '/api/conversations': {
      query?: {
        q?: string
        collection?: string
        archived?: boolean
        cursor?: string
      }
      reply: ConversationPage
    }
    '/api/conversations/{id}': {
      path: {
        id: string
      }
      query?: {
        before?: string
      }
      reply: ConversationWithMessages
    }
    '/api/conversations/settings': {
      reply: ConversationPreferences
    }
    '/api/conversations/{id}/messages/{messageId}/stream': {
      path: {
        id: string
        messageId: string
      }
      reply: Record<string, unknown>
    }
    '/api/conversations/export': {
      reply: JsonObject
    }
    '/api/shares': {
      reply: ListSharesResponse
    }
    '/api/shared/{token}': {
      path: {
        token: string
      }
      reply: SharedConversation
    }
    '/api/admin/stats': {
      reply: GetStatsResponse
    }
    '/api/admin/invitations': {
      reply: ListInvitationsResponse
    }
    '/api/admin/users/{id}': {
      path: {
        id: string
      }
      reply: Customer
    }
    '/api/admin/audit': {
      query?: {
        user_id?: string
        action?: string
        page?: number
        limit?: number
        cursor?: string
      }
      reply: ListAuditResponse
    }
    '/api/admin/jobs': {
      query?: {
        about?: 'emails' | 'others'
      }
      reply: ListJobsResponse
    }
    '/api/admin/events': {
      query?: {
        open?: boolean
        limit?: number
        cursor?: string
      }
      reply: ListReceivedEventsResponse
    }
    '/api/admin/emails': {
      query?: {
        user_id?: string
        state?: 'waiting' | 'sent' | 'failed'
        limit?: number
        cursor?: string
      }
      reply: ListEmailsResponse
    }
    '/api/admin/users': {
      query?: {
        find?: string
        plan?: Tier
        status?: SubscriptionStatus
        page?: number
        limit?: number
        cursor?: string
      }
      reply: ListUsersResponse
    }
    '/api/admin/users/{id}/events': {
      path: {
        id: string
      }
      query?: {
        about?: 'money' | 'account' | 'calls'
        before?: string
      }
      reply: ListCustomerEventsResponse
    }
    '/api/admin/usage': {
      query?: {
        from?: string
        to?: string
        group_by?: AllUsageGrouping
      }
      reply: GetAllUsageResponse
    }
    '/api/admin/calls': {
      query?: {
        from?: string
        to?: string
        outcome?: UsageOutcome
        limit?: number
        cursor?: string
      }
      reply: ListAllCallsResponse
    }
    '/api/admin/documents': {
      query?: {
        from?: string
        to?: string
        limit?: number
        cursor?: string
      }
      reply: ListAllDocumentsResponse
    }
    '/api/admin/models': {
      reply: ModelsOverview
    }
    '/api/admin/catalogue': {
      reply: Catalogue
    }
    '/api/admin/health': {
      reply: HealthReport
    }
    '/api/admin/metrics': {
      query?: {
        from?: string
        to?: string
        interval?: MetricInterval
        names?: string
      }
      reply: BusinessMetrics
    }
    '/api/admin/metrics.csv': {
      query?: {
        from?: string
        to?: string
        interval?: MetricInterval
        names?: string
      }
      reply: null
    }
    '/api/admin/subscription-changes': {
      query?: {
        from?: string
        to?: string
        kind?: SubscriptionChangeKind
        limit?: number
        cursor?: string
      }
      reply: ListSubscriptionChangesResponse
    }
    '/api/admin/movements': {
      query?: {
        from?: string
        to?: string
        type?: MovementType
        limit?: number
        cursor?: string
      }
      reply: ListMovementsResponse
    }
    '/api/admin/movements.csv': {
      query?: {
        from?: string
        to?: string
      }
      reply: null
    }
    '/api/admin/invoices': {
      query?: {
        status?: InvoiceStatus
        limit?: number
        cursor?: string
      }
      reply: ListAllInvoicesResponse
    }
    '/api/admin/switches': {
      reply: ListSwitchesResponse
    }
    '/api/admin/switches/effect': {
      query: {
        kind: SwitchableRoute
        subject: string
      }
      reply: SwitchEffect
    }
    '/api/admin/billing/disagreements': {
      reply: Disagreements
    }
    '/api/admin/products': {
      reply: ListProductsResponse
    }
    '/api/admin/products/{tier}/releases': {
      path: {
        tier: string
      }
      reply: ListReleasesResponse
    }
    '/api/admin/purchases': {
      query?: {
        q?: string
        status?: PurchaseStatus
        product?: string
        page?: number
        limit?: number
        cursor?: string
      }
      reply: ListOrdersResponse
    }
    '/api/admin/purchases.csv': {
      query?: {
        q?: string
        status?: PurchaseStatus
        product?: string
      }
      reply: null
    }
    '/api/admin/purchases/{id}': {
      path: {
        id: string
      }
      reply: OrderDetail
    }
    '/api/admin/disputes': {
      query?: {
        open?: boolean
        page?: number
        limit?: number
        cursor?: string
      }
      reply: ListDisputesResponse
    }
    '/api/admin/contact-messages': {
      query?: {
        open?: boolean
        page?: number
        limit?: number
        cursor?: string
      }
      reply: ListContactMessagesResponse
    }
    '/api/admin/time-machine': {
      reply: TimeMachine
    }
    '/api/admin/discounts': {
      reply: ListDiscountsResponse
    }
    '/api/admin/setup': {
      reply: SetupState
    }
  }
  PUT: {
    '/api/admin/brand': {
      body: BrandForm
      reply: BrandSettings
    }
    '/api/rag/collections/{id}/documents/{document_id}': {
      path: {
        id: string
        document_id: string
      }
      reply: null
    }
    '/api/library/collections/{id}/documents/{document_id}': {
      path: {
        id: string
        document_id: string
      }
      reply: null
    }
    '/api/conversations/settings': {
      body: ChangeConversationSettingsRequest
      reply: ConversationPreferences
    }
    '/api/shares/{id}': {
      path: {
        id: string
      }
      body: UpdateShareRequest
      reply: Share
    }
    '/api/admin/products/{tier}': {
      path: {
        tier: string
      }
      body: ChangeProductRequest
      reply: StoreProduct
    }
  }
  POST: {
    '/api/auth/register': {
      body: RegisterUserRequest
      reply: User
    }
    '/api/auth/verify-email': {
      body: OneTimeToken
      reply: Message
    }
    '/api/auth/resend-verification': {
      body: ResendVerificationRequest
      reply: Message
    }
    '/api/auth/undo-email-change': {
      body: OneTimeToken
      reply: Message
    }
    '/api/users/me/change-password': {
      body: ChangePasswordRequest
      reply: Message
    }
    '/api/users/me/change-email': {
      body: ChangeEmailRequest
      reply: Message
    }
    '/api/auth/forgot-password': {
      body: RequestPasswordResetRequest
      reply: Message
    }
    '/api/auth/verify-reset-token': {
      body: OneTimeToken
      reply: VerifyResetTokenResponse
    }
    '/api/auth/reset-password': {
      body: ResetPasswordRequest
      reply: Message
    }
    '/api/auth/refresh': {
      body: RefreshTokensRequest
      reply: Token
    }
    '/api/auth/logout': {
      reply: Message
    }
    '/api/users/me/totp': {
      reply: StartTotpResponse
    }
    '/api/users/me/totp/confirm': {
      body: ConfirmTotpRequest
      reply: ConfirmTotpResponse
    }
    '/api/auth/passkeys/register/options': {
      reply: PasskeyOptions
    }
    '/api/auth/passkeys/register/verify': {
      body: FinishPasskeyRegistrationRequest
      reply: Passkey
    }
    '/api/billing/create-checkout-session': {
      query: {
        price_id: string
        promotion_code?: string
      }
      reply: HostedPage
    }
    '/api/billing/create-portal-session': {
      query?: {
        flow?: 'card' | 'cancel'
      }
      reply: HostedPage
    }
    '/api/billing/change/preview': {
      body: PlanChoice
      reply: ChangePreview
    }
    '/api/billing/change': {
      body: PlanChange
      reply: Subscription
    }
    '/api/billing/pause': {
      reply: Subscription
    }
    '/api/billing/resume': {
      reply: Subscription
    }
    '/api/billing/create-payment-session': {
      query?: {
        for?: 'plan' | 'checkout'
      }
      reply: HostedPage
    }
    '/api/api-keys': {
      body: CreateApiKeyRequest
      reply: ApiKeyCreated
    }
    '/api/api-keys/{key_id}/rotate': {
      path: {
        key_id: string
      }
      body?: RotateApiKeyRequest
      reply: ApiKeyCreated
    }
    '/api/ai/chat': {
      body: ChatRequest
      reply: ChatResponse
    }
    '/api/ai/completions': {
      body: CompletePromptRequest
      reply: CompletePromptResponse
    }
    '/v1/chat/completions': {
      body: CreateChatCompletionRequest
      reply: ChatCompletion
    }
    '/v1/embeddings': {
      body: CreateEmbeddingsRequest
      reply: EmbeddingList
    }
    '/v1/messages': {
      body: CreateMessageRequest
      reply: AnthropicMessage
    }
    '/v1/messages/count_tokens': {
      body: CountMessageTokensRequest
      reply: TokenCount
    }
    '/v1/responses': {
      body: CreateResponseRequest
      reply: ResponseObject
    }
    '/v1/responses/input_tokens': {
      body: CountResponseTokensRequest
      reply: ResponseInputTokens
    }
    '/api/auth/login': {
      body: LogInRequest
      reply: Token
    }
    '/api/auth/challenge': {
      body: CompleteChallengeRequest
      reply: Token
    }
    '/api/auth/storefront': {
      body: SignInToStorefrontRequest
      reply: SignInToStorefrontResponse
    }
    '/api/auth/passkeys/login/options': {
      reply: PasskeyOptions
    }
    '/api/auth/passkeys/login/verify': {
      body: FinishPasskeyLoginRequest
      reply: Token
    }
    '/api/users/me/oauth/{provider}': {
      path: {
        provider: string
      }
      reply: OAuthStart
    }
    '/api/billing/offers/unsubscribe': {
      query: {
        token: string
      }
      reply: Message
    }
    '/api/billing/webhook': {
      body: ProcessorEvent
      reply: EventReceipt
    }
    '/api/rag/ingest/text': {
      query?: {
        replace?: Replace
      }
      body: IngestTextRequest
      reply: Ingested
    }
    '/api/rag/ingest/file': {
      query?: {
        replace?: Replace
      }
      form: IngestFileRequest
      reply: Ingested
    }
    '/api/rag/search': {
      body: SearchChunksRequest
      reply: SearchChunksResponse
    }
    '/api/rag/collections': {
      body: CreateCollectionRequest
      reply: Collection
    }
    '/api/library/ingest/text': {
      query?: {
        replace?: Replace
      }
      body: IngestTextInLibraryRequest
      reply: Ingested
    }
    '/api/library/ingest/file': {
      query?: {
        replace?: Replace
      }
      form: IngestFileInLibraryRequest
      reply: Ingested
    }
    '/api/library/search': {
      body: SearchChunksInLibraryRequest
      reply: SearchChunksInLibraryResponse
    }
    '/api/library/collections': {
      body: CreateCollectionInLibraryRequest
      reply: Collection
    }
    '/api/rag/query': {
      body: QueryDocumentsRequest
      reply: QueryDocumentsResponse
    }
    '/api/conversations/temporary': {
      body: AskTemporarilyRequest
      reply: Record<string, unknown>
    }
    '/api/conversations': {
      body: CreateConversationRequest
      reply: Conversation
    }
    '/api/conversations/{id}/messages': {
      path: {
        id: string
      }
      body: AskConversationRequest
      reply: Record<string, unknown>
    }
    '/api/conversations/{id}/stop': {
      path: {
        id: string
      }
      reply: null
    }
    '/mcp': {
      body: JsonRpcRequest
      reply: JsonRpcReply
    }
    '/api/conversations/import': {
      body: ConversationExport | Array<JsonObject>
      reply: ConversationImport
    }
    '/api/conversations/{id}/shares': {
      path: {
        id: string
      }
      body: ShareConversationRequest
      reply: Share
    }
    '/api/shared/{token}/copy': {
      path: {
        token: string
      }
      reply: Conversation
    }
    '/api/admin/invitations': {
      body: InviteUserRequest
      reply: Message
    }
    '/api/admin/jobs/retry': {
      body: RetryFailedJobsRequest
      reply: RetryFailedJobsResponse
    }
    '/api/admin/jobs/{id}/retry': {
      path: {
        id: string
      }
      reply: RetryJobResponse
    }
    '/api/admin/users/{id}/sign-out': {
      path: {
        id: string
      }
      reply: Message
    }
    '/api/admin/users/{id}/view': {
      path: {
        id: string
      }
      body: ViewAccountRequest
      reply: AccountView
    }
    '/api/admin/payments/{id}/refund': {
      path: {
        id: string
      }
      body: RefundPaymentRequest
      reply: RefundedPayment
    }
    '/api/admin/users/{id}/plan/preview': {
      path: {
        id: string
      }
      body: PreviewCustomerPlanRequest
      reply: ChangePreview
    }
    '/api/admin/users/{id}/plan': {
      path: {
        id: string
      }
      body: ChangeCustomerPlanRequest
      reply: CustomerPlanChange
    }
    '/api/admin/switches': {
      body: SwitchOffRequest
      reply: Switch
    }
    '/api/admin/billing/sync': {
      reply: BillingSync
    }
    '/api/admin/products': {
      body: CreateProductRequest
      reply: StoreProduct
    }
    '/api/admin/products/{tier}/releases': {
      path: {
        tier: string
      }
      form: UploadReleaseRequest
      reply: StoreRelease
    }
    '/api/admin/products/{tier}/releases/{version}/publish': {
      path: {
        tier: string
        version: string
      }
      reply: StoreRelease
    }
    '/api/admin/products/{tier}/releases/{version}/withdraw': {
      path: {
        tier: string
        version: string
      }
      reply: StoreRelease
    }
    '/api/admin/purchases/{id}/refund': {
      path: {
        id: string
      }
      body: RefundOrderRequest
      reply: OrderDetail
    }
    '/api/admin/purchases/{id}/resend': {
      path: {
        id: string
      }
      reply: OrderDetail
    }
    '/api/admin/purchases/{id}/reset-downloads': {
      path: {
        id: string
      }
      reply: OrderDetail
    }
    '/api/admin/purchases/{id}/extend': {
      path: {
        id: string
      }
      body: ExtendOrderRequest
      reply: OrderDetail
    }
    '/api/admin/purchases/{id}/revoke': {
      path: {
        id: string
      }
      body: RevokeOrderRequest
      reply: OrderDetail
    }
    '/api/admin/purchases/{id}/restore': {
      path: {
        id: string
      }
      reply: OrderDetail
    }
    '/api/admin/purchases/{id}/activations': {
      path: {
        id: string
      }
      body: SetOrderActivationsRequest
      reply: OrderDetail
    }
    '/api/admin/contact-messages/{id}/reply': {
      path: {
        id: string
      }
      body: ReplyToContactMessageRequest
      reply: ContactMessage
    }
    '/api/admin/contact-messages/{id}/assign': {
      path: {
        id: string
      }
      body: AssignContactMessageRequest
      reply: ContactMessage
    }
    '/api/admin/contact-messages/{id}/close': {
      path: {
        id: string
      }
      body: CloseContactMessageRequest
      reply: ContactMessage
    }
    '/api/admin/time-machine': {
      body: MoveClockRequest
      reply: MovedClock
    }
    '/api/admin/brand/preview': {
      body: BrandForm
      reply: BrandPreview
    }
    '/api/admin/discounts': {
      body: CreateDiscountRequest
      reply: Discount
    }
    '/api/admin/setup/payments': {
      body: SetUpPaymentsRequest
      reply: SetUpPaymentsResponse
    }
    '/api/admin/setup/plans': {
      body: SetUpPlansRequest
      reply: SetUpPlansResponse
    }
    '/api/admin/setup/models': {
      body: SetUpModelsRequest
      reply: SetUpModelsResponse
    }
    '/api/admin/setup/mail': {
      body: SetUpMailRequest
      reply: SetUpMailResponse
    }
    '/api/admin/setup/restart': {
      reply: RestartServiceResponse
    }
  }
  PATCH: {
    '/api/users/me': {
      body: UpdateProfileRequest
      reply: User
    }
    '/api/billing/offers': {
      body: OffersWish
      reply: Subscription
    }
    '/api/api-keys/{key_id}': {
      path: {
        key_id: string
      }
      query?: {
        name?: string
      }
      body?: ApiKeyChange
      reply: ApiKey
    }
    '/api/rag/collections/{id}': {
      path: {
        id: string
      }
      body: UpdateCollectionRequest
      reply: Collection
    }
    '/api/library/collections/{id}': {
      path: {
        id: string
      }
      body: UpdateCollectionInLibraryRequest
      reply: Collection
    }
    '/api/conversations/{id}': {
      path: {
        id: string
      }
      body: ChangeConversationRequest
      reply: Conversation
    }
    '/api/admin/users/{id}': {
      path: {
        id: string
      }
      body: UpdateUserRequest
      reply: ChangedUser
    }
    '/api/admin/products/{tier}/releases/{version}': {
      path: {
        tier: string
        version: string
      }
      body: ChangeReleaseRequest
      reply: StoreRelease
    }
  }
  DELETE: {
    '/api/users/me': {
      body: DeleteAccountRequest
      reply: Message
    }
    '/api/users/me/sessions': {
      reply: Message
    }
    '/api/users/me/sessions/{id}': {
      path: {
        id: string
      }
      reply: Message
    }
    '/api/users/me/totp': {
      body: RemoveTotpRequest
      reply: Message
    }
    '/api/auth/passkeys/{id}': {
      path: {
        id: string
      }
      reply: Message
    }
    '/api/api-keys/{key_id}': {
      path: {
        key_id: string
      }
      reply: Message
    }
    '/api/users/me/oauth/{provider}': {
      path: {
        provider: string
      }
      reply: Message
    }
    '/api/rag/jobs/{id}': {
      path: {
        id: string
      }
      reply: IngestJob
    }
    '/api/rag/documents/{document_id}': {
      path: {
        document_id: string
      }
      reply: DeleteDocumentResponse
    }
    '/api/rag/documents': {
      query?: {
        external_id?: string
        source?: string
      }
      reply: DeleteDocumentsResponse
    }
    '/api/rag/collections/{id}': {
      path: {
        id: string
      }
      reply: null
    }
    '/api/rag/collections/{id}/documents/{document_id}': {
      path: {
        id: string
        document_id: string
      }
      reply: null
    }
    '/api/library/jobs/{id}': {
      path: {
        id: string
      }
      reply: IngestJob
    }
    '/api/library/documents/{document_id}': {
      path: {
        document_id: string
      }
      reply: DeleteDocumentInLibraryResponse
    }
    '/api/library/documents': {
      query?: {
        external_id?: string
        source?: string
      }
      reply: DeleteDocumentsInLibraryResponse
    }
    '/api/library/collections/{id}': {
      path: {
        id: string
      }
      reply: null
    }
    '/api/library/collections/{id}/documents/{document_id}': {
      path: {
        id: string
        document_id: string
      }
      reply: null
    }
    '/api/conversations': {
      body: DeleteConversationsRequest
      reply: null
    }
    '/api/conversations/{id}': {
      path: {
        id: string
      }
      reply: null
    }
    '/api/shares/{id}': {
      path: {
        id: string
      }
      reply: null
    }
    '/api/admin/invitations': {
      query: {
        email: string
      }
      reply: Message
    }
    '/api/admin/jobs/{id}': {
      path: {
        id: string
      }
      reply: Message
    }
    '/api/admin/view': {
      reply: Message
    }
    '/api/admin/switches': {
      query: {
        kind: SwitchKind
        subject: string
      }
      reply: SwitchOnResponse
    }
    '/api/admin/products/{tier}': {
      path: {
        tier: string
      }
      reply: Message
    }
    '/api/admin/products/{tier}/releases/{version}': {
      path: {
        tier: string
        version: string
      }
      reply: Message
    }
    '/api/admin/purchases/{id}/activations/{activation_id}': {
      path: {
        id: string
        activation_id: string
      }
      reply: OrderDetail
    }
    '/api/admin/discounts/{id}': {
      path: {
        id: string
      }
      reply: Message
    }
    '/api/admin/setup/payments': {
      reply: RemovePaymentsResponse
    }
    '/api/admin/setup/models': {
      query: {
        vendor: string
      }
      reply: RemoveModelsResponse
    }
    '/api/admin/setup/mail': {
      reply: RemoveMailResponse
    }
  }
}
