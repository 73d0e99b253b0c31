// Shared and separate counts: a user's keys together, a key's separate limit always, registrations
// by themselves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'

test('registrations have a separate limit, by address', async (t) => {
  const app = await testApp(t, {
    env: { RATE_LIMIT_SIGNUP: '2/3600', RATE_LIMIT_GENERAL: '2/60', TRUST_PROXY: '1' },
  })
  const register = (name: string, address = '198.51.100.1') =>
    app.post(
      '/api/auth/register',
      { email: `${name}@example.com`, password: PASSWORD },
      { headers: { 'x-forwarded-for': address } },
    )
  const first = await register('ada')
  assert.deepEqual([first.status, first.headers.get('ratelimit-limit')], [201, '2'])
  assert.equal((await register('bob')).status, 201)
  const refused = await register('eve')
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('ratelimit-remaining'), '0')
  assert.ok(Number(refused.headers.get('retry-after')) > 3_000)
  assert.equal((await register('eve', '198.51.100.2')).status, 201)
  // A registration's count is separate from other requests.
  const other = await app.get('/api/nothing', { headers: { 'x-forwarded-for': '198.51.100.1' } })
  assert.deepEqual([other.status, other.headers.get('ratelimit-remaining')], [404, '1'])
})

for (const [setting, chain, counted] of [
  // Only addresses added by the trusted proxies count; the client can forge the rest.
  ['true', ['made up', '203.0.113.7'], '203.0.113.7'],
  ['1', ['198.51.100.1', '198.51.100.2', '203.0.113.7'], '203.0.113.7'],
  ['2', ['198.51.100.1', '203.0.113.7', '10.0.0.9'], '203.0.113.7'],
  ['loopback,10.0.0.0/8', ['198.51.100.1', '203.0.113.7', '10.0.0.9'], '203.0.113.7'],
  ['10.0.0.0/8', ['203.0.113.7'], '127.0.0.1'],
  ['false', ['203.0.113.7'], '127.0.0.1'],
] as const) {
  test(`TRUST_PROXY=${setting} behind ${chain.join(', ')} counts ${counted}`, async (t) => {
    const app = await testApp(t, { env: { RATE_LIMIT_GENERAL: '100/60', TRUST_PROXY: setting } })
    const headers = { 'x-forwarded-for': chain.join(', ') }
    await app.get('/api/nothing', { headers })
    const hit = await app.platform.limiter.hit('general', counted, { requests: 100, seconds: 60 })
    assert.equal(hit.remaining, 98)
  })
}

test('ten registrations an hour, unless a setting says otherwise', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_SIGNUP: '' } })
  const reply = await app.post('/api/auth/register', {})
  assert.equal(reply.headers.get('ratelimit-limit'), '10')
  assert.equal(reply.headers.get('ratelimit-reset'), '3600')
})

test('without a separate limit registrations count like other requests', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_SIGNUP: 'off', RATE_LIMIT_GENERAL: '2/60' } })
  const statuses = []
  for (let index = 0; index < 3; index++)
    statuses.push((await app.post('/api/auth/register', {})).status)
  assert.deepEqual(statuses, [422, 422, 429])
})

for (const [bucket, call] of [
  ['RATE_LIMIT_AI', (client: Awaited<ReturnType<typeof keyed>>) => client.post('/api/ai/chat', {})],
  [
    'RATE_LIMIT_RAG',
    (client: Awaited<ReturnType<typeof keyed>>) => client.get('/api/rag/documents'),
  ],
  ['RATE_LIMIT_GENERAL', (client: Awaited<ReturnType<typeof keyed>>) => client.get('/api/usage')],
] as const) {
  test(`a user's keys and sessions share ${bucket}`, async (t) => {
    const app = await testApp(t, { env: { [bucket]: '3/60' } })
    const ada = await app.as('ada', { tier: 'pro' })
    const keys = [await keyed(app, 'ada'), await keyed(app, 'ada')]
    app.clock.advance(61_000)
    const callers = [ada, keys[0]!, keys[1]!, keys[0]!, ada]
    const statuses = []
    for (const caller of callers) statuses.push((await call(caller)).status === 429)
    assert.deepEqual(statuses, [false, false, false, true, true])
    const eve = await keyed(app, 'eve')
    assert.notEqual((await call(eve)).status, 429)
  })
}

test("a key's own limit counts where the general ones are off", async (t) => {
  const app = await testApp(t)
  const limited = await keyed(app, 'ada', { rate_limit: { requests: 2, seconds: 60 } })
  const free = await keyed(app, 'ada')
  const replies = []
  for (let index = 0; index < 3; index++) replies.push(await limited.get('/v1/models'))
  assert.deepEqual(
    replies.map(({ status, headers }) => [
      status,
      headers.get('ratelimit-limit'),
      headers.get('ratelimit-remaining'),
    ]),
    [
      [200, '2', '1'],
      [200, '2', '0'],
      [429, '2', '0'],
    ],
  )
  assert.equal((await free.get('/v1/models')).status, 200)
})

test('a rejection by a key’s own limit does not count for the user’s other keys; the reply shows the nearer limit', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_RAG: '4/60' } })
  const limited = await keyed(app, 'ada', { rate_limit: { requests: 2, seconds: 60 } })
  const free = await keyed(app, 'ada')
  const ask = async (client: typeof free) => {
    const { status, headers } = await client.get('/api/rag/documents')
    return [status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]
  }
  assert.deepEqual(await ask(limited), [200, '2', '1'])
  assert.deepEqual(await ask(limited), [200, '2', '0'])
  for (let index = 0; index < 3; index++) assert.deepEqual(await ask(limited), [429, '2', '0'])
  assert.deepEqual(await ask(free), [200, '4', '1'])
  assert.deepEqual(await ask(free), [200, '4', '0'])
  assert.deepEqual(await ask(free), [429, '4', '0'])
})

test('a caller who cannot be identified while the database is unreachable is counted by the address', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_GENERAL: '100/60' } })
  const { token } = await app.as('ada')
  await app.platform.db.schema.alterTable('users').renameTo('gone').execute()
  const reply = await app.get('/api/users/me', { headers: { authorization: `Bearer ${token}` } })
  assert.ok(reply.status >= 500)
  assert.equal(reply.headers.get('ratelimit-limit'), '100')
})

/** A client that holds a key of the person's. */
async function keyed(app: TestApp, name: string, settings: object = {}) {
  const person = await app.as(name, { tier: 'pro' })
  const made = await person.post('/api/api-keys', { name: 'test', ...settings })
  assert.ok(made.status < 300, made.text)
  return createClient(app.url, made.body.key, { email: '', userId: '', refreshToken: '' })
}
