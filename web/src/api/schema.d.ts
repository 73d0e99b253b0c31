// Made from docs/openapi.json by `npm run docs`; not for editing.

export type AdminUser = {
  id: string
  email: string
  full_name: string | null
  is_active: boolean
  is_verified: boolean
  is_superuser: boolean
  subscription_status: 'free' | 'active' | 'cancelled' | 'past_due'
  subscription_tier: string
  tier_override: string | null
  created_at: string
  last_login_at: string | null
}

/** A refusal: a sentence for people, which may be reworded, and a word that stays. */
export type ApiError = {
  detail: string | Array<Issue>
  code: string
}

export type ApiKey = {
  id: string
  name: string
  key_prefix: string
  is_active: boolean
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  scopes?: Array<'ai' | 'rag'>
  /** Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`). */
  models?: Array<string>
  rate_limit?: KeyRate
  monthly_token_limit?: number
}

export type ApiKeyCreated = {
  id: string
  name: string
  key_prefix: string
  is_active: boolean
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  scopes?: Array<'ai' | 'rag'>
  /** Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`). */
  models?: Array<string>
  rate_limit?: KeyRate
  monthly_token_limit?: number
  key: string
}

export type ChangeApiKeyRequest = {
  name?: string
  /** Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`). */
  models?: Array<string> | null
}

export type ChangeEmailRequest = {
  new_email: string
  password?: string | null
  code?: string | null
}

export type ChangePasswordRequest = {
  current_password: string
  new_password: string
  code?: string | null
}

export type ChangedUser = {
  id: string
  email: string
  full_name: string | null
  avatar_url: string | null
  is_active: boolean
  is_verified: boolean
  oauth_provider: 'google' | 'github' | null
  subscription_status: 'free' | 'active' | 'cancelled' | 'past_due'
  subscription_tier: string
  created_at: string
  is_superuser: boolean
  has_password: boolean
  totp_enabled: boolean
  /** What the plan grants */
  entitlements: Array<'ai' | 'rag' | 'api_keys'>
  tier_override: string | null
  last_login_at: string | null
}

/** OpenAI's chunk; a stream that breaks off ends with its `error` instead, and no `[DONE]`. */
export type ChatCompletionChunk = {
  id: string
  object: 'chat.completion.chunk'
  [other: string]: unknown
}

/** What the model thinks aloud; with `include_reasoning`. */
export type ChatReasoningEvent = {
  token: string
}

export type ChatRequest = {
  messages: Array<{
    role: 'system' | 'user' | 'assistant'
    content: string
  }>
  provider?: 'openai' | 'anthropic' | 'gemini' | 'google' | 'llm_vendor_1' | 'llm_vendor_2' | 'llm_vendor_3' | null
  model?: string | null
  temperature?: number | null
  max_tokens?: number | null
  stream?: boolean | null
  /** Streams only: `event: reasoning` for what the model thinks aloud. */
  include_reasoning?: boolean | null
  /** Streams only: an event with usage, model and finish_reason before the last line. */
  include_usage?: boolean | null
}

export type ChatResponse = {
  content: string
  model: string
  usage: TokenUsage
}

/** Last; with `include_usage`. */
export type ChatUsageEvent = {
  usage: TokenUsage
  model: string
  finish_reason: string | null
}

export type Chunk = {
  id: string
  content: string
  score: number
  metadata: Record<string, unknown>
}

export type CompleteChallengeRequest = {
  challenge: string
  code: string
}

export type CompletePromptRequest = {
  prompt: string
  system_prompt?: string | null
  provider?: 'openai' | 'anthropic' | 'gemini' | 'google' | 'llm_vendor_1' | 'llm_vendor_2' | 'llm_vendor_3' | null
  model?: string | null
  temperature?: number | null
  max_tokens?: number | null
}

export type CompletePromptResponse = {
  completion: string
  model: string
  usage: TokenUsage
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
  subject: string
  message: string
  created_at: string
  notified_at: string | null
}

export type CreateApiKeyRequest = {
  name: string
  expires_at?: string | null
  scopes?: Array<'ai' | 'rag'> | null
  /** Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`). */
  models?: Array<string> | null
  rate_limit?: KeyRate | null
  monthly_token_limit?: number | null
}

export type CreateChatCompletionRequest = {
  model: string
  messages: Array<{
    role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
    content?: string | null | Array<{
      type: string
      [other: string]: unknown
    }>
    tool_calls?: Array<{
      id: string
      function?: {
        name: string
        arguments: string
        [other: string]: unknown
      }
      [other: string]: unknown
    }> | null
    tool_call_id?: string | null
    [other: string]: unknown
  }>
  temperature?: number | null
  top_p?: number | null
  max_tokens?: number | null
  max_completion_tokens?: number | null
  n?: number | null
  stream?: boolean | null
  include_reasoning?: boolean | null
  stream_options?: {
    include_usage?: boolean | null
    [other: string]: unknown
  } | null
  tools?: Array<{
    type: string
    function?: {
      name: string
      [other: string]: unknown
    }
    [other: string]: unknown
  }> | null
  [other: string]: unknown
}

export type CreateEmbeddingsRequest = {
  model: string
  input: string | Array<string> | Array<number> | Array<Array<number>>
  encoding_format?: 'float' | 'base64' | null
  dimensions?: number | null
  [other: string]: unknown
}

export type DeadJob = {
  id: string
  kind: string
  attempts: number
  last_error: string | null
  created_at: string
}

export type DeleteAccountRequest = {
  password?: string | null
  code?: string | null
  confirm?: string | null
}

export type DeleteDocumentResponse = {
  status: string
  document_id: string
}

export type Document = {
  id: string
  external_id: string | null
  /** Newest first. More than one where files of the same text were given ids of their own. */
  external_ids: Array<string>
  source: string | null
  chunks: number
  characters: number
  metadata: Record<string, unknown>
  created_at: string
}

/** The answer is cut; no `[DONE]` follows. */
export type ErrorEvent = {
  detail: string
  code: string
}

export type FinishPasskeyLoginRequest = {
  response: PasskeyCredential
}

export type FinishPasskeyRegistrationRequest = {
  response: PasskeyCredential
  name?: string
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
}

export type HostedPage = {
  /** The processor’s hosted page */
  url: string
}

export type IngestFileRequest = {
  file: string
  chunk_size?: number
  chunk_overlap?: number
  /** An id of your own: the same id again replaces its document whole, whatever the text. */
  external_id?: string
  replace?: 'source'
}

export type IngestTextRequest = {
  content: string
  metadata?: Record<string, unknown>
  chunk_size?: number
  /** Default: 200, or a fifth of chunk_size if less. */
  chunk_overlap?: number
  /** An id of your own: the same id again replaces its document whole, whatever the text. */
  external_id?: string
  replace?: 'source'
}

export type IngestWarning = {
  page: number | null
  reason: string
}

export type Ingested = {
  document_ids: Array<string>
  chunks_created: number
  /** What of a file could not be read and is left out; `page` counts from 1, null where a file has no pages. */
  warnings: Array<IngestWarning>
}

export type Issue = {
  /** Begins with body, query, path or header */
  loc: Array<string | number>
  msg: string
  type: string
}

export type KeyRate = {
  requests: number
  seconds: number
}

export type KeySet = {
  keys: Array<{
    kty: string
    crv: string
    x: string
    kid: string
    use: string
    alg: string
  }>
}

export type ListContactMessagesResponse = {
  messages: Array<ContactMessage>
  total: number
  page: number
  limit: number
  pages: number
}

export type ListJobsResponse = {
  queued: number
  dead: Array<DeadJob>
}

export type ListPlansResponse = {
  plans: Array<Plan>
}

export type ListUsersResponse = {
  users: Array<AdminUser>
  total: number
  page: number
  limit: number
  pages: number
}

export type LogInRequest = {
  email: string
  password: string
  code?: string
}

export type Message = {
  message: string
}

export type Model = {
  id: string
  provider: string
  /** An alias: the model behind it. */
  alias_of: string | null
  kind: 'chat' | 'embedding'
  context_tokens: number | null
  output_tokens_max: number | null
  input_usd_per_million: number
  cached_input_usd_per_million: number
  output_usd_per_million: number
  /** No price is known: its vendor's dearest counts. */
  price_estimated: boolean
  available: boolean
  default: boolean
}

export type ModelList = {
  prices_as_of: string
  default_provider: string
  default_model: string
  providers: Array<Provider>
  models: Array<Model>
}

export type OAuthLink = {
  provider: 'google' | 'github'
  email: string | null
  linked_at: string
}

export type OAuthStart = {
  authorization_url: string
  state: string
}

export type OneTimeToken = {
  token: string
}

export type OpenAiError = {
  error: {
    message: string
    type: string
    code: string | null
    param: string | null
  }
}

export type Passkey = {
  id: string
  name: string
  created_at: string
  last_used_at: string | null
}

export type PasskeyCredential = {
  id: string
  rawId: string
  type: 'public-key'
  response: {
    clientDataJSON: string
  }
}

export type PasskeyOptions = {
  options: unknown
}

export type Plan = {
  name: string
  tier: string
  /** A month, in units of the currency; left out when the processor cannot be asked */
  price?: number
  /** The processor’s price id, for create-checkout-session */
  price_monthly?: string
  /** The processor’s price id, for create-checkout-session */
  price_yearly?: string
  /** A year, in units of the currency */
  amount_yearly?: number
  currency?: string
  features: Array<string>
  grants: Array<'ai' | 'rag' | 'api_keys'>
}

export type Provider = {
  provider: string
  /** Its name for people. */
  label: string
  configured: boolean
  sandbox: boolean
  default_model: string
}

export type QueryDocumentsRequest = {
  question: string
  top_k?: number
  min_score?: number
  stream?: boolean
  /** Streams only: an event with the sources first, one with the usage last. */
  include_sources?: boolean
  chat_history?: Array<{
    role: 'user' | 'assistant'
    content: string
  }> | null
  filter?: Record<string, unknown> | null
}

export type QueryDocumentsResponse = {
  answer: string
  sources: Array<Chunk>
  usage: TokenUsage | null
}

/** First; with `include_sources`. */
export type QueryDocumentsSourcesEvent = {
  sources: Array<Chunk>
}

export type ReceiveBillingEventResponse = {
  received: boolean
}

export type RefreshTokensRequest = {
  refresh_token: string
}

export type RegisterUserRequest = {
  email: string
  password: string
  full_name?: string | null
}

export type RemoveTotpRequest = {
  code: string
  password?: string | null
}

export type RequestPasswordResetRequest = {
  email: string
}

export type ResendVerificationRequest = {
  email: string
}

export type ResetPasswordRequest = {
  token: string
  new_password: string
  revoke_api_keys?: boolean
}

export type RetryJobResponse = {
  status: 'queued'
  id: string
}

export type RotateApiKeyRequest = {
  grace_seconds?: number
}

export type SearchChunksRequest = {
  query: string
  top_k?: number
  /** `lexical` compares words, `dense` meanings, `auto` is the one that this server’s embedder can do; one that it cannot is refused. */
  mode?: 'auto' | 'lexical' | 'dense' | 'hybrid'
  min_score?: number
  filter?: Record<string, unknown> | null
}

export type SearchChunksResponse = {
  results: Array<Chunk>
}

export type Session = {
  id: string
  user_agent: string | null
  ip_address: string | null
  created_at: string
  last_used_at: string
  current: boolean
}

export type StartTotpResponse = {
  secret: string
  otpauth_url: string
  /** A picture of `otpauth_url`, as a data: address */
  qr_code: string
}

export type Subscription = {
  status: 'free' | 'active' | 'cancelled' | 'past_due'
  tier: string
  processor_customer_id: string | null
  price_id: string | null
  current_period_end: string | null
  cancel_at_period_end: boolean
  /** The processor’s own word, as `paused` or `unpaid`; null when nothing runs */
  processor_status: string | null
  /** What the plan grants */
  entitlements: Array<'ai' | 'rag' | 'api_keys'>
}

export type Token = {
  access_token: string
  refresh_token: string
  token_type: 'bearer'
  user: TokenUser | null
}

/** A piece of the answer. */
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

export type UpdateProfileRequest = {
  full_name?: string | null
  avatar_url?: string | null
}

export type UpdateUserRequest = {
  is_active?: boolean
  is_verified?: boolean
  is_superuser?: boolean
  subscription_tier?: 'free' | 'pro' | 'enterprise' | null
}

export type UsageGroup = {
  key: string
  requests: number
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  cost_usd: number
}

export type UsageTotals = {
  requests: number
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  cost_usd: number
}

export type User = {
  id: string
  email: string
  full_name: string | null
  avatar_url: string | null
  is_active: boolean
  is_verified: boolean
  oauth_provider: 'google' | 'github' | null
  subscription_status: 'free' | 'active' | 'cancelled' | 'past_due'
  subscription_tier: string
  created_at: string
  is_superuser: boolean
  has_password: boolean
  totp_enabled: boolean
  /** What the plan grants */
  entitlements: Array<'ai' | 'rag' | 'api_keys'>
}

export type VerifyResetTokenResponse = {
  valid: boolean
}
