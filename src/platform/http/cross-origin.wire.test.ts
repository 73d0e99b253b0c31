/**
 * Pages of other origins: with an API key they call and read what they are answered, with anything
 * else they read nothing.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type RequestOptions, testApp } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'

const PAGE = 'https://tool.example'
const APP = 'http://localhost:5199'
const CHAT = { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Hi' }] }

/** Routes that take API keys. */
const OPEN: [method: string, path: string, body?: object][] = [
  ['GET', '/v1/models'],
  ['GET', '/v1/models/gpt-6-luna'],
  ['POST', '/v1/chat/completions', CHAT],
  ['POST', '/v1/chat/completions', { ...CHAT, stream: true }],
  ['POST', '/v1/responses', { model: CHAT.model, input: 'Hi' }],
  ['POST', '/v1/messages', { ...CHAT, max_tokens: 9 }],
  ['POST', '/v1/messages', { ...CHAT, max_tokens: 9, stream: true }],
  ['POST', '/api/ai/chat', { ...CHAT, stream: true }],
  ['GET', '/api/ai/models'],
  ['GET', '/api/usage'],
  ['GET', '/api/rag/documents'],
  ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }],
]
/** Routes that take none. */
const CLOSED: [method: string, path: string, body?: object][] = [
  ['GET', '/api/auth/me'],
  ['GET', '/api/api-keys'],
  ['POST', '/api/api-keys', { name: 'mine' }],
  ['GET', '/api/users/me/sessions'],
  ['GET', '/api/admin/users'],
  ['POST', '/api/auth/login', { email: 'ada@example.com', password: 'x' }],
  ['GET', '/metrics'],
  ['GET', '/sandbox/mail.json?to=ada@example.com'],
  ['GET', '/v1/nothing'],
]

async function setting(t: TestContext, env: Record<string, string> = {}) {
  const vendor = await mockVendor(t)
  vendor.play(says('Good day'))
  const app = await testApp(t, { env: { FRONTEND_URL: APP, ...vendor.env.openai, ...env } })
  const ada = await app.as('ada', { tier: 'pro' })
  const keyWith = async (settings: object): Promise<string> =>
    (await ada.post('/api/api-keys', { name: 'page', ...settings })).body.key
  const key = await keyWith({})
  const from = (
    origin: string,
    method: string,
    path: string,
    { headers, ...rest }: RequestOptions = {},
  ) => app.request(method, path, { ...rest, headers: { origin, ...headers } })
  return { app, ada, key, keyWith, from }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** The headers a browser needs to pass a reply to its page. */
function allowedFor(headers: Headers): string | null {
  assert.equal(headers.get('access-control-allow-credentials'), null)
  const origin = headers.get('access-control-allow-origin')
  assert.equal(headers.get('access-control-expose-headers'), origin === null ? null : '*')
  return origin
}

test('a page calls with an API key, and reads answers, streams and refusals', async (t) => {
  const { app, key, keyWith, from } = await setting(t)

  for (const [method, path, body] of OPEN) {
    for (const headers of [bearer(key), { 'x-api-key': key }]) {
      const reply = await from(PAGE, method, path, { body, headers })
      assert.equal(reply.status, 200, `${method} ${path}: ${reply.text}`)
      assert.equal(allowedFor(reply.headers), '*', `${method} ${path}`)
      assert.ok(reply.headers.get('x-request-id'))
    }
    assert.equal(
      allowedFor((await from('null', method, path, { body, headers: bearer(key) })).headers),
      '*',
    )
    // Programs that are no pages are spared the headers.
    assert.equal(
      allowedFor((await app.request(method, path, { body, headers: bearer(key) })).headers),
      null,
    )
  }

  const narrow = await keyWith({ scopes: ['rag'] })
  const slow = await keyWith({ rate_limit: { requests: 1, seconds: 60 } })
  await from(PAGE, 'GET', '/v1/models', { headers: bearer(slow) })
  const chat = (headers: Record<string, string>, body: unknown = CHAT) =>
    from(PAGE, 'POST', '/v1/chat/completions', { body, headers })
  for (const [status, reply] of [
    [401, await chat({})],
    [401, await chat(bearer(`lk_${'x'.repeat(55)}`))],
    [401, await chat({ 'x-api-key': 'sk-of-another-service' })],
    [403, await chat(bearer(narrow))],
    [429, await chat(bearer(slow))],
    [400, await chat(bearer(key), { model: 'gpt-6-luna' })],
    [400, await chat({ ...bearer(key), 'content-type': 'application/json' }, '{')],
    [415, await chat({ ...bearer(key), 'content-type': 'text/csv' }, 'a')],
    [413, await chat(bearer(key), { ...CHAT, pad: 'x'.repeat(33 * 1024 * 1024) })],
    [404, await from(PAGE, 'GET', '/v1/models/gpt-none', { headers: bearer(key) })],
  ] as const) {
    assert.equal(reply.status, status, reply.text)
    assert.equal(allowedFor(reply.headers), '*', `${status}`)
  }
  assert.ok(Number((await chat(bearer(slow))).headers.get('retry-after')) > 0)
})

test('a session is never open to pages of other origins, with any other headers', async (t) => {
  const { ada, key, from } = await setting(t)
  const jwt = bearer(ada.token)

  for (const origin of [PAGE, 'null', `${APP}.tool.example`, 'http://localhost:51990']) {
    for (const [method, path, body] of OPEN) {
      const reply = await from(origin, method, path, { body, headers: jwt })
      assert.equal(allowedFor(reply.headers), null, `${method} ${path} from ${origin}`)
    }
  }
  for (const headers of [
    { ...jwt, 'x-api-key': key },
    { ...bearer(`${ada.token} `), 'x-api-key': key },
    { authorization: `bearer ${ada.token}` },
    { ...jwt, cookie: `store_session=${key}` },
    // An expired token or an attempt: the page learns nothing about sessions, live or not.
    bearer('eyJhbGciOiJFZERTQSJ9.e30.AA'),
  ]) {
    const reply = await from(PAGE, 'GET', '/v1/models', { headers })
    assert.equal(allowedFor(reply.headers), null, JSON.stringify(Object.keys(headers)))
  }
  // Two headers, or one in two pieces, are no bearer at all.
  const two = await from(PAGE, 'GET', '/v1/models', {
    headers: { authorization: `Bearer ${key}, Bearer ${ada.token}` },
  })
  assert.equal(two.status, 401)
})

test('pages of other origins cannot read routes that accept no API key', async (t) => {
  const { app, ada, key, from } = await setting(t)
  for (const [method, path, body] of CLOSED) {
    for (const headers of [{}, bearer(key), { 'x-api-key': key }, bearer(ada.token)] as Record<
      string,
      string
    >[]) {
      const reply = await from(PAGE, method, path, { body, headers })
      assert.equal(allowedFor(reply.headers), null, `${method} ${path}`)
    }
  }
  for (const path of ['/api/purchases', '/dashboard', '/api/session']) {
    const reply = await app.store('GET', path, { headers: { origin: PAGE, ...bearer(key) } })
    assert.equal(allowedFor(reply.headers), null, path)
  }
})

test('routes that accept keys answer preflights for any header without counting them', async (t) => {
  const { from } = await setting(t, {
    RATE_LIMIT_GENERAL: '30/60',
    RATE_LIMIT_AI: '30/60',
    RATE_LIMIT_RAG: '30/60',
  })
  const preflight = (path: string, method: string, more: Record<string, string> = {}) =>
    from(PAGE, 'OPTIONS', path, {
      headers: {
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
        ...more,
      },
    })

  const left = async () =>
    Number((await from(PAGE, 'GET', '/api/nothing')).headers.get('ratelimit-remaining'))
  const before = await left()
  for (let round = 0; round < 5; round++) {
    for (const [method, path] of OPEN) {
      const { status, headers, text } = await preflight(path, method)
      assert.deepEqual([status, text], [204, ''], path)
      assert.equal(allowedFor(headers), '*')
      assert.match(headers.get('access-control-allow-methods') ?? '', new RegExp(`\\b${method}\\b`))
      // The one header that the star does not stand for.
      assert.match(headers.get('access-control-allow-headers') ?? '', /^Authorization, \*$/)
      assert.ok(Number(headers.get('access-control-max-age')) > 0)
      assert.equal(headers.get('ratelimit-limit'), null)
    }
  }
  assert.equal(await left(), before - 1)

  for (const [method, path] of CLOSED.filter(([, path]) => !path.startsWith('/sandbox'))) {
    const { status, headers } = await preflight(path, method)
    assert.equal(status, 404, path)
    assert.equal(allowedFor(headers), null, path)
    assert.equal(headers.get('access-control-allow-headers'), null)
  }
  // No preflight of a browser's: it is counted, and read like any other.
  const odd = await from(APP, 'OPTIONS', '/api/auth/me', {
    body: {},
    headers: { 'access-control-request-method': 'GET' },
  })
  assert.equal(odd.status, 404)
  assert.ok(odd.headers.get('ratelimit-limit'))
})

test('the user app on a separate origin reads all of the API with its session, and nothing else', async (t) => {
  const { ada, from } = await setting(t)
  const me = await from(APP, 'GET', '/api/auth/me', { headers: bearer(ada.token) })
  assert.deepEqual(
    [me.status, allowedFor(me.headers), me.headers.get('vary')],
    [200, APP, 'Origin'],
  )
  const asked = {
    'access-control-request-method': 'DELETE',
    'access-control-request-headers': 'authorization',
  }
  const preflight = await from(APP, 'OPTIONS', '/api/users/me', { headers: asked })
  assert.deepEqual([preflight.status, allowedFor(preflight.headers)], [204, APP])
  const refused = await from(APP, 'GET', '/api/auth/me')
  assert.deepEqual([refused.status, allowedFor(refused.headers)], [401, APP])
  const mail = await from(APP, 'GET', '/sandbox/mail.json?to=ada@example.com')
  assert.deepEqual([mail.status, allowedFor(mail.headers)], [200, null])
})
