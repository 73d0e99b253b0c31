import { Type } from 'typebox'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Message, Named, Nullable, OneOf, Uuid } from '#platform/http/schema.ts'
import { invalid } from '#platform/problems.ts'
import { type ApiKey, changeKey, issueKey, type KeyDeps, listKeys, revokeKey, rotateKey } from './keys.ts'
import type { KeyVerifier } from './verifier.ts'

/** One line with something to see on it. */
const NAME = '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$'
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: NAME })
const Scopes = Type.Array(Named('KeyScope', OneOf('ai', 'rag', 'usage')), { minItems: 1, maxItems: 3 })
/** Names of models as the vendors have them, aliases, and patterns with `*`. */
const Models = Type.Array(Type.String({ pattern: '^[!-~]{1,200}$' }), {
  minItems: 1,
  maxItems: 100,
  description: 'Models that it may ask for: names, aliases, and patterns (`gpt-*`, `groq/*`).',
})
const Rate = Type.Object(
  {
    requests: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    seconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
  },
  { title: 'KeyRate' },
)

/** The last four come only with a key that is confined. */
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
  rate_limit: Type.Optional(Rate),
  monthly_token_limit: Type.Optional(Type.Integer()),
}
const KeyView = Type.Object(KeyFields, { title: 'ApiKey' })
const KeyCreated = Type.Object({ ...KeyFields, key: Type.String() }, { title: 'ApiKeyCreated' })

const GRACE_SECONDS_DEFAULT = 24 * 60 * 60
const GRACE_SECONDS_MAX = 30 * 24 * 60 * 60

export function apiKeyRoutes(app: App, deps: KeyDeps, verifier: KeyVerifier) {
  const config = { access: 'user', needs: 'api_keys' } as const
  const tags = ['api-keys']
  const viewOf = (key: ApiKey) => keyView(key, verifier.lastUse(key))

  app.post(
    '/api/api-keys',
    {
      schema: {
        operationId: 'createApiKey',
        tags,
        summary: 'Make an API key; its secret is shown only here',
        body: Type.Object({
          name: Name,
          expires_at: Type.Optional(Nullable(Type.String())),
          scopes: Type.Optional(Nullable(Scopes)),
          models: Type.Optional(Nullable(Models)),
          rate_limit: Type.Optional(Nullable(Rate)),
          monthly_token_limit: Type.Optional(Nullable(Type.Integer({ minimum: 1 }))),
        }),
        response: { 201: KeyCreated },
      },
      config,
    },
    async (request, reply) => {
      const { body } = request
      const { key, secret } = await issueKey(deps, callerOf(request), {
        name: body.name,
        expiresAt: readInstant(body.expires_at ?? null),
        scopes: body.scopes ?? null,
        models: body.models ?? null,
        rate: body.rate_limit ?? null,
        monthlyTokens: body.monthly_token_limit ?? null,
      })
      return reply.status(201).send({ ...viewOf(key), key: secret })
    },
  )

  app.get(
    '/api/api-keys',
    {
      schema: {
        operationId: 'listApiKeys',
        tags,
        summary: 'List API keys, newest first',
        response: { 200: Type.Array(KeyView) },
      },
      config,
    },
    async (request) => (await listKeys(deps, callerOf(request).userId)).map(viewOf),
  )

  app.delete(
    '/api/api-keys/:key_id',
    {
      schema: {
        operationId: 'revokeApiKey',
        tags,
        summary: 'Revoke an API key',
        params: Type.Object({ key_id: Uuid }),
        response: { 200: Message },
      },
      config,
    },
    async (request) => {
      await revokeKey(deps, callerOf(request).userId, request.params.key_id)
      return { message: 'API key revoked' }
    },
  )

  app.patch(
    '/api/api-keys/:key_id',
    {
      schema: {
        operationId: 'changeApiKey',
        tags,
        summary: 'Rename an API key, or change what it may ask for',
        params: Type.Object({ key_id: Uuid }),
        querystring: Type.Object({ name: Type.Optional(Name) }),
        body: Type.Optional(
          Nullable(Type.Object({ name: Type.Optional(Name), models: Type.Optional(Nullable(Models)) })),
        ),
        response: { 200: KeyView },
      },
      config,
    },
    async (request) => {
      const { params, query, body } = request
      const name = query.name ?? body?.name
      const models = body?.models
      if (name === undefined && models === undefined) throw invalid(['query', 'name'], 'Field required', 'missing')
      return viewOf(await changeKey(deps, callerOf(request), params.key_id, { name, models }))
    },
  )

  app.post(
    '/api/api-keys/:key_id/rotate',
    {
      schema: {
        operationId: 'rotateApiKey',
        tags,
        summary: 'Replace the secret of an API key; the old one opens until the grace ends',
        params: Type.Object({ key_id: Uuid }),
        body: Type.Optional(
          Nullable(
            Type.Object({
              grace_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: GRACE_SECONDS_MAX })),
            }),
          ),
        ),
        response: { 200: KeyCreated },
      },
      config,
    },
    async (request) => {
      const grace = (request.body as { grace_seconds?: number } | null | undefined)?.grace_seconds
      const graceMs = (grace ?? GRACE_SECONDS_DEFAULT) * 1_000
      const { key, secret } = await rotateKey(deps, callerOf(request), request.params.key_id, graceMs)
      return { ...viewOf(key), key: secret }
    },
  )
}

export function keyView(key: ApiKey, lastUsedAt: string | null) {
  return {
    id: key.id,
    name: key.name,
    key_prefix: key.key_prefix,
    is_active: key.is_active,
    created_at: key.created_at,
    last_used_at: lastUsedAt,
    expires_at: key.expires_at,
    ...(key.scopes_json === null ? {} : { scopes: key.scopes_json as ('ai' | 'rag' | 'usage')[] }),
    ...(key.models_json === null ? {} : { models: key.models_json }),
    ...(key.rate_requests === null || key.rate_seconds === null
      ? {}
      : { rate_limit: { requests: key.rate_requests, seconds: key.rate_seconds } }),
    ...(key.monthly_tokens === null ? {} : { monthly_token_limit: key.monthly_tokens }),
  }
}

/** ISO 8601: a day, or a time with or without its zone (then UTC). */
const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i

function readInstant(text: string | null): string | null {
  if (text === null) return null
  const match = ISO.exec(text)
  const ms = match ? Date.parse(`${match[1]}T${match[2] ?? '00:00'}${match[3] ?? 'Z'}`.toUpperCase()) : Number.NaN
  if (Number.isNaN(ms))
    throw invalid(['body', 'expires_at'], 'Should be a date and time in ISO 8601', 'datetime_parsing')
  return new Date(ms).toISOString()
}
