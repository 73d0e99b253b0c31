// Calls every route of both servers with broken input, as strangers and with wrong ids. Each
// refusal has a known code.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { fastify } from 'fastify'
import { sql } from 'kysely'
import { anthropicErrors } from '#ai/anthropic-messages/errors.ts'
import { openAiErrors } from '#ai/openai-compat/errors.ts'
import { DatabaseBusy, DatabaseUnreachable } from '#platform/db/failures.ts'
import { apiErrors, replyWithError } from '#platform/http/replies.ts'
import type { Entry } from '#platform/problem.ts'
import { storefrontErrors } from '#storefront/errors.ts'
import {
  call,
  PASSWORD,
  type Reply,
  type RequestOptions,
  type TestApp,
  testApp,
} from '#testing/app.ts'
import { catalogues } from './problems.ts'

const known = new Map<string, Entry>(
  Object.values(catalogues).flatMap((catalogue) => Object.entries(catalogue)),
)
const openaiWords = new Map(
  [...known].map(([code, entry]) => [
    entry[3] ?? code,
    [entry[0]].flat().map((one) => (one === 422 ? 400 : one)),
  ]),
)

/** Invalid inputs. */
const BODIES: RequestOptions[] = [
  {},
  { body: {} },
  { body: '{"email": ', headers: { 'content-type': 'application/json' } },
  { body: 'hello', headers: { 'content-type': 'text/plain' } },
  {
    body: {
      email: 7,
      password: '',
      token: 'x',
      messages: 'no',
      model: 'no/such',
      query: '',
      prompt: 'x',
      provider: 'no',
    },
  },
]
const QUERY =
  '?page=x&limit=-1&from=zz&group_by=nothing&tier=none&purchase_id=x&full=maybe&offset=-1&replace=x'

type Route = { method: string; path: string }

test('every refusal of the API has a known code', async (t) => {
  const app = await testApp(t, { env: { DEBUG: 'true' } })
  const pro = await app.as('ada', { tier: 'pro' })
  const key = await pro.post('/api/api-keys', { name: 'laptop' })
  const scoped = await pro.post('/api/api-keys', { name: 'narrow', scopes: ['usage'] })
  const root = await app.as('root')
  await sql`update users set is_superuser = true where email = ${root.email}`.execute(
    app.platform.db,
  )
  const eve = await app.as('eve')
  const tokens = ['nonsense', pro.token, eve.token, root.token, key.body.key, scoped.body.key]
  const callers: Record<string, string>[] = [
    {},
    ...tokens.map((token) => ({ authorization: `Bearer ${token}` })),
  ]
  const routes = routesOf(app.service.api).filter(({ path }) =>
    /^\/(api|v1|mcp|metrics)\b/.test(path),
  )
  assert.ok(routes.length > 60, `${routes.length} routes`)

  const codes = await walk(app.url, routes, callers, codesOf((await app.get('/openapi.json')).body))
  for (const code of [
    'unauthenticated',
    'paid_tier_needed',
    'validation_failed',
    'malformed_json',
    'not_superuser',
  ])
    assert.ok(codes.has(code), code)
  for (const code of [
    'invalid_api_key',
    'key_not_found',
    'document_not_found',
    'user_not_found',
    'job_not_found',
  ])
    assert.ok(codes.has(code), code)
})

test('every refusal of the storefront has a known code', async (t) => {
  const app = await testApp(t, { env: { DEBUG: 'true' } })
  const { email } = await app.as('ada')
  const session = await app.store('POST', '/api/session', { body: { email, password: PASSWORD } })
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  const routes = routesOf(app.service.storefront).filter(
    ({ path }) => path.startsWith('/api/') || path === '/metrics',
  )
  assert.ok(routes.length >= 11, `${routes.length} routes`)

  const described = codesOf((await app.store('GET', '/openapi.json')).body)
  const codes = await walk(
    app.storefrontUrl,
    routes,
    [{}, { cookie }, { 'sec-fetch-site': 'cross-site' }],
    described,
  )
  for (const code of [
    'not_signed_in',
    'field_missing',
    'tier_invalid',
    'cross_site',
    'no_active_purchase',
  ])
    assert.ok(codes.has(code), code)
})

test('an unknown address has a known error code', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_GENERAL: '8/60' } })
  const long = { body: { email: 'x'.repeat(2_000_000) } }
  const replies: [string, Reply][] = [
    ['not_found', await app.get('/api/nothing')],
    ['not_found', await app.get('/v1/nothing')],
    ['not_found', await app.store('GET', '/api/nothing')],
    ['bad_url', await app.get('/api/%zz')],
    ['body_too_large', await app.post('/api/auth/login', long.body)],
    ['body_too_large', await app.store('POST', '/api/contact', long)],
    ['origin_refused', await mcpFrom(app, 'https://evil.example')],
    ['method_not_allowed', await mcpFrom(app, undefined)],
  ]
  for (const [code, reply] of replies) assert.equal(checked(reply, reply.text), code, reply.text)

  await Promise.all(Array.from({ length: 9 }, () => app.get('/api/billing/plans')))
  assert.equal(checked(await app.get('/api/billing/plans'), 'limited'), 'rate_limited')
  assert.equal(checked(await app.get('/v1/models'), 'limited'), 'rate_limit_exceeded')

  for (const [url, member] of [
    [app.url, 'detail'],
    [app.storefrontUrl, 'error'],
  ] as const) {
    const [, body = ''] = (await said(url, 'no HTTP\r\n\r\n')).split('\r\n\r\n')
    assert.deepEqual(JSON.parse(body), {
      [member]: 'The request is not valid HTTP',
      code: 'bad_http',
    })
  }
})

test('an internal error has a known code in each of the four formats', async () => {
  const failures: [unknown, number, string][] = [
    [new Error('a bug'), 500, 'internal_error'],
    [new DatabaseUnreachable('away'), 503, 'database_unreachable'],
    [new DatabaseBusy('later'), 503, 'database_busy'],
    [Object.assign(new Error('full'), { errcode: 13 }), 503, 'database_full'],
    [Object.assign(new Error('read-only'), { errcode: 8 }), 503, 'database_read_only'],
  ]
  for (const shape of [apiErrors, storefrontErrors, openAiErrors, anthropicErrors]) {
    for (const [failure, status, code] of failures) {
      const app = fastify().setErrorHandler((error, request, reply) =>
        replyWithError(shape, error, request, reply),
      )
      app.get('/', () => Promise.reject(failure))
      const reply = await app.inject('/')
      const body = reply.json()
      assert.deepEqual([reply.statusCode, body.error?.code ?? body.code], [status, code])
      assert.doesNotMatch(reply.body, /a bug/)
    }
  }
})

/** Calls every route as every caller with every input. @returns the codes of the refusals */
async function walk(
  url: string,
  routes: Route[],
  callers: Record<string, string>[],
  described?: (method: string, path: string) => string[] | null,
): Promise<Set<string>> {
  const codes = new Set<string>()
  // Routes that end a session come last.
  for (const { method, path } of routes.toSorted(
    (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
  )) {
    const [bodies, query] = method === 'GET' ? [[{}], ['', QUERY]] : [BODIES, ['']]
    const addresses = new Set(
      [crypto.randomUUID(), 'no-such-id'].map((id) => path.replace(/:\w+/g, id)),
    )
    for (const caller of callers) {
      const calls = [...addresses].flatMap((address) =>
        query.flatMap((asked) =>
          bodies.map(async ({ body, headers }) => {
            const reply = await call(url, method, address + asked, {
              body,
              headers: { ...headers, ...caller },
            })
            const what = `${method} ${address}${asked} ${JSON.stringify(body)}: ${reply.text}`
            if (reply.status < 400) return
            const code = checked(reply, what)
            codes.add(code)
            // JSON-RPC's own are numbers.
            const told = code.startsWith('-') ? null : described?.(method, path)
            assert.ok(told?.includes(code) ?? true, `${code} is not described: ${what}`)
          }),
        ),
      )
      await Promise.all(calls)
    }
  }
  return codes
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body by reading it.
type Description = any

/**
 * The codes that the API's description lists for an operation; null where it lists none, as under
 * /v1.
 */
function codesOf({
  paths,
  components,
}: Description): (method: string, path: string) => string[] | null {
  return (method, path) => {
    const operation = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
    const named = (section: string, { $ref }: { $ref: string }) =>
      components[section][$ref.split('/').at(-1) ?? '']
    const refused = operation && named('responses', operation.responses.default)
    return refused
      ? (named('schemas', refused.content['application/json'].schema).properties.code?.enum ?? null)
      : null
  }
}

/** The code of a refusal, after a look at its shape, its word and its status. */
function checked({ status, body }: Reply, what: string): string {
  const isRpc = body?.jsonrpc === '2.0'
  if (isRpc) return String(body.error.code)
  const isVendors = typeof body?.error === 'object'
  const isAnthropic = body?.type === 'error'
  const code = isVendors ? body.error.code : body?.code
  const words =
    isVendors && !isAnthropic ? openaiWords.get(code) : [known.get(code)?.[0] ?? []].flat()
  const statuses = isAnthropic ? words?.map((one) => (one === 422 ? 400 : one)) : words
  assert.ok(statuses?.includes(status), `${status} ${code} is not in a catalogue: ${what}`)
  if (isAnthropic) assert.deepEqual(Object.keys(body.error), ['type', 'message', 'code'], what)
  else if (isVendors)
    assert.deepEqual(Object.keys(body.error), ['message', 'type', 'code', 'param'], what)
  else assert.ok(body.detail ?? body.error, what)
  return code
}

const mcpFrom = async (app: TestApp, origin: string | undefined) => {
  const { token } = await app.as('mia', { tier: 'pro' })
  return app.get('/mcp', {
    headers: { authorization: `Bearer ${token}`, ...(origin && { origin }) },
  })
}

/**
 * Fastify prints its routes as a tree of lines: `├── /api/x (GET, HEAD)`, four characters a level.
 */
function routesOf(app: TestApp['service']['api']): Route[] {
  const tree = app?.printRoutes({ commonPrefix: false }) ?? ''
  const above: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] =
      /^((?:[│ ] {3})*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? []
    const level = indent.length / 4
    above[level] = (above[level - 1] ?? '') + part
    const path = above[level] ?? ''
    return methods
      .split(', ')
      .flatMap((method) =>
        method && method !== 'HEAD' && method !== 'OPTIONS' ? [{ method, path }] : [],
      )
  })
}

/** Sends raw bytes that `fetch` would refuse to send. */
function said(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text)).on('error', reject)
  })
}
