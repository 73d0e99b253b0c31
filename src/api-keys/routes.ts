import { type Static, Type } from 'typebox'
import { plus } from '#platform/clock.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import { isNetwork } from '#platform/http/address.ts'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
import { Instant, Message, Named, Nullable, OneOf, Uuid } from '#platform/http/schema.ts'
import { invalid } from '#platform/problems.ts'
import {
  type ApiKey,
  changeKey,
  findKey,
  getRate,
  issueKey,
  type KeyChange,
  type KeyDeps,
  listKeys,
  NO_LIMITS,
  revokeKey,
  rotateKey,
} from './keys.ts'
import { apiKeyProblem } from './problems.ts'
import type { KeyPeriod } from './tables.ts'
import type { KeyVerifier } from './verifier.ts'

/** One line with at least one visible character. */
const NAME = '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$'
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: NAME })
const SCOPES = ['ai', 'rag', 'rag:read', 'usage'] as const
const Scopes = Type.Array(Named('KeyScope', OneOf(...SCOPES)), {
  minItems: 1,
  maxItems: SCOPES.length,
  description:
    'What it may do; all that keys may, where there are none. `rag:read` searches, asks and lists.',
})
/** Vendors' model names, aliases, and patterns with `*`. */
const Models = Type.Array(Type.String({ pattern: '^[!-~]{1,200}$' }), {
  minItems: 1,
  maxItems: 100,
  description: 'Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`).',
})
const Addresses = Type.Array(Type.String({ maxLength: 50 }), {
  minItems: 1,
  maxItems: 100,
  description: 'Networks from which it may be used: `203.0.113.7`, `10.0.0.0/8`, `2001:db8::/32`.',
})
const Rate = Type.Object(
  {
    requests: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    seconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
  },
  { title: 'KeyRate' },
)
const Period = Named('BudgetPeriod', OneOf('day', 'week', 'month'))
const Budget = Type.Object(
  { limit_usd: Type.Number({ minimum: 0.000_001, maximum: 1_000_000 }), period: Period },
  { title: 'KeyBudget', description: 'Model cost in US dollars, by UTC day, ISO week or month.' },
)
const TokenLimit = Type.Integer({ minimum: 1, maximum: 1_000_000_000_000 })

const LimitsBody = {
  expires_at: Type.Optional(
    Nullable(Type.String({ description: 'A date and time in ISO 8601, in the future.' })),
  ),
  scopes: Type.Optional(Nullable(Scopes)),
  models: Type.Optional(Nullable(Models)),
  addresses: Type.Optional(Nullable(Addresses)),
  rate_limit: Type.Optional(Nullable(Rate)),
  monthly_token_limit: Type.Optional(Nullable(TokenLimit)),
  budget: Type.Optional(Nullable(Budget)),
}

/** The optional fields are present only for restricted keys. */
const KeyFields = {
  id: Type.String(),
  name: Type.String(),
  key_prefix: Type.String(),
  is_active: Type.Boolean(),
  created_at: Instant,
  last_used_at: Nullable(Instant),
  expires_at: Nullable(Instant),
  scopes: Type.Optional(Scopes),
  models: Type.Optional(Models),
  addresses: Type.Optional(Addresses),
  rate_limit: Type.Optional(Rate),
  monthly_token_limit: Type.Optional(Type.Integer()),
  budget: Type.Optional(Budget),
}
const KeyView = Type.Object(KeyFields, { title: 'ApiKey' })
const KeyCreated = Type.Object({ ...KeyFields, key: Type.String() }, { title: 'ApiKeyCreated' })

/** The remaining amount of each limit, and when it renews. */
const KeySelf = Type.Object(
  {
    ...KeyFields,
    left: Type.Object(
      {
        requests: Type.Optional(
          Type.Object({ left: Type.Integer(), renews_at: Instant }, { title: 'RequestsLeft' }),
        ),
        tokens: Type.Optional(
          Type.Object(
            { used: Type.Integer(), left: Type.Integer(), renews_at: Instant },
            { title: 'TokensLeft' },
          ),
        ),
        budget: Type.Optional(
          Type.Object(
            { used_usd: Type.Number(), left_usd: Type.Number(), renews_at: Instant },
            { title: 'DollarsLeft' },
          ),
        ),
      },
      { title: 'KeyLeft' },
    ),
  },
  { title: 'ApiKeySelf' },
)

const GRACE_SECONDS_DEFAULT = 24 * 60 * 60
const GRACE_SECONDS_MAX = 30 * 24 * 60 * 60

const route = declareRoutes('api-keys', { access: 'user', needs: 'api_keys' })

/** Returns the key's usage in the current period; `end` is the start of the next one. */
export type KeyUse = (
  userId: string,
  keyId: string,
  period: KeyPeriod,
) => Promise<{ tokens: number; nanos: number; end: string }>

export function apiKeyRoutes(app: App, deps: KeyDeps, verifier: KeyVerifier, keyUse: KeyUse) {
  const buildView = (key: ApiKey) => keyView(key, verifier.lastUse(key))

  app.post(
    '/api/api-keys',
    route('createApiKey', 'Make an API key; its secret is shown only here', {
      body: Type.Object({ name: Name, ...LimitsBody }),
      response: { 201: KeyCreated },
    }),
    async (request, reply) => {
      const { body } = request
      const { key, secret } = await issueKey(deps, requireCaller(request), {
        ...NO_LIMITS,
        ...withoutUndefined(parseSettings(body)),
        name: body.name,
      })
      return reply.status(201).send({ ...buildView(key), key: secret })
    },
  )

  app.get(
    '/api/api-keys',
    route(
      'listApiKeys',
      'List API keys, newest first',
      { response: { 200: Type.Array(KeyView) } },
      { viewable: true },
    ),
    async (request) => (await listKeys(deps, requireCaller(request).userId)).map(buildView),
  )

  app.get(
    '/api/api-keys/self',
    route(
      'getOwnApiKey',
      'What the API key that asks may do, what is left of its limits, and when they begin anew',
      { response: { 200: KeySelf } },
      // A session gets an error that says that it is not a key.
      { access: 'user-or-key', described: { security: [{ key: [] }, { key_header: [] }] } },
    ),
    async (request) => {
      const { userId, keyId } = requireCaller(request)
      if (keyId === null) throw apiKeyProblem('api_key_needed')
      const key = await findKey(deps.db, userId, keyId)
      return { ...buildView(key), left: await computeRemainder(deps, key, keyUse) }
    },
  )

  app.delete(
    '/api/api-keys/:key_id',
    route('revokeApiKey', 'Revoke an API key', {
      params: Type.Object({ key_id: Uuid }),
      response: { 200: Message },
    }),
    async (request) => {
      await revokeKey(deps, requireCaller(request).userId, request.params.key_id)
      return { message: 'API key revoked' }
    },
  )

  app.patch(
    '/api/api-keys/:key_id',
    route(
      'changeApiKey',
      'Rename an API key, or change its limits: what is left out stays, null lifts it',
      {
        params: Type.Object({ key_id: Uuid }),
        querystring: Type.Object({ name: Type.Optional(Name) }),
        body: Type.Optional(
          Nullable(
            Type.Object({ name: Type.Optional(Name), ...LimitsBody }, { title: 'ApiKeyChange' }),
          ),
        ),
        response: { 200: KeyView },
      },
    ),
    async (request) => {
      const { params, query, body } = request
      const change: KeyChange = withoutUndefined({
        ...parseSettings(body ?? {}),
        name: query.name ?? body?.name,
      })
      if (Object.keys(change).length === 0)
        throw invalid(['query', 'name'], 'Field required', 'missing')
      return buildView(await changeKey(deps, requireCaller(request), params.key_id, change))
    },
  )

  app.post(
    '/api/api-keys/:key_id/rotate',
    route(
      'rotateApiKey',
      'Replace the secret of an API key; the old one opens until the grace ends',
      {
        params: Type.Object({ key_id: Uuid }),
        body: Type.Optional(
          Nullable(
            Type.Object({
              grace_seconds: Type.Optional(
                Type.Integer({ minimum: 0, maximum: GRACE_SECONDS_MAX }),
              ),
            }),
          ),
        ),
        response: { 200: KeyCreated },
      },
    ),
    async (request) => {
      const grace = (request.body as { grace_seconds?: number } | null | undefined)?.grace_seconds
      const graceMs = (grace ?? GRACE_SECONDS_DEFAULT) * 1_000
      const { key, secret } = await rotateKey(
        deps,
        requireCaller(request),
        request.params.key_id,
        graceMs,
      )
      return { ...buildView(key), key: secret }
    },
  )
}

export function keyView(key: ApiKey, lastUsedAt: string | null) {
  const rate = getRate(key)
  return {
    id: key.id,
    name: key.name,
    key_prefix: key.key_prefix,
    is_active: key.is_active,
    created_at: key.created_at,
    last_used_at: lastUsedAt,
    expires_at: key.expires_at,
    ...(key.scopes_json === null ? {} : { scopes: key.scopes_json as (typeof SCOPES)[number][] }),
    ...(key.models_json === null ? {} : { models: key.models_json }),
    ...(key.addresses_json === null ? {} : { addresses: key.addresses_json }),
    ...(rate === null ? {} : { rate_limit: rate }),
    ...(key.monthly_tokens === null ? {} : { monthly_token_limit: key.monthly_tokens }),
    ...(key.budget_nanos === null
      ? {}
      : { budget: { limit_usd: key.budget_nanos / 1e9, period: key.budget_period ?? 'month' } }),
  }
}

async function computeRemainder(
  { limiter, clock }: Pick<KeyDeps, 'limiter' | 'clock'>,
  key: ApiKey,
  keyUse: KeyUse,
) {
  const { user_id, id, monthly_tokens, budget_nanos, budget_period } = key
  const rate = getRate(key)
  const hit = rate === null ? null : await limiter.look('key', id, rate)
  const month = monthly_tokens === null ? null : await keyUse(user_id, id, 'month')
  const spent = budget_nanos === null ? null : await keyUse(user_id, id, budget_period ?? 'month')
  return {
    ...(hit && {
      requests: { left: hit.remaining, renews_at: plus(clock.now(), hit.resetSeconds * 1_000) },
    }),
    ...(month && {
      tokens: {
        used: month.tokens,
        left: Math.max(0, (monthly_tokens ?? 0) - month.tokens),
        renews_at: month.end,
      },
    }),
    ...(spent && {
      budget: {
        used_usd: spent.nanos / 1e9,
        left_usd: Math.max(0, (budget_nanos ?? 0) - spent.nanos) / 1e9,
        renews_at: spent.end,
      },
    }),
  }
}

type LimitsBody = Static<ReturnType<typeof Type.Object<typeof LimitsBody>>>

/** @throws Problem 422 for an invalid time or network */
function parseSettings(body: LimitsBody): KeyChange {
  const { budget } = body
  return {
    expiresAt: body.expires_at === undefined ? undefined : readInstant(body.expires_at),
    scopes: body.scopes,
    models: body.models,
    addresses: body.addresses?.map(readNetwork) ?? body.addresses,
    rate: body.rate_limit,
    monthlyTokens: body.monthly_token_limit,
    budget: budget && { limitNanos: Math.round(budget.limit_usd * 1e9), period: budget.period },
  }
}

function withoutUndefined<T extends object>(settings: T) {
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>
  }
}

function readNetwork(text: string, index: number): string {
  if (isNetwork(text)) return text.toLowerCase()
  throw invalid(
    ['body', 'addresses', index],
    'Should be an address or a network, as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32',
  )
}

/** ISO 8601: a day, or a time with or without its zone (then UTC). */
const ISO =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i

function readInstant(text: string | null): string | null {
  if (text === null) return null
  const match = ISO.exec(text)
  const ms = match
    ? Date.parse(`${match[1]}T${match[2] ?? '00:00'}${match[3] ?? 'Z'}`.toUpperCase())
    : Number.NaN
  if (Number.isNaN(ms))
    throw invalid(
      ['body', 'expires_at'],
      'Should be a date and time in ISO 8601',
      'datetime_parsing',
    )
  return new Date(ms).toISOString()
}
