import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createLog } from '#platform/telemetry/log.ts'
import { createClient, testApp } from '#testing/app.ts'

test('a plan change on another node takes effect before a cached caller is rejected', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const made = await ada.post('/api/api-keys', { name: 'laptop' })
  assert.equal(made.status, 201, made.text)
  const key = createClient(app.url, made.body.key, { email: '', userId: '', refreshToken: '' })
  /** Written as by another node, without an announcement. */
  const setTier = (tier: string) =>
    sql`update users set subscription_tier = ${tier}`.execute(app.platform.db)
  const ingest = (client: typeof ada) =>
    client.post('/api/rag/ingest/text', { content: 'The notice period is a month.' })

  for (const client of [ada, key]) {
    await setTier('free')
    let status = 0
    while (status !== 403) status = (await ingest(client)).status
    // Remembered now, and for half a second.
    assert.equal((await ingest(client)).status, 403)
    await setTier('pro')
    assert.equal((await ingest(client)).status, 200)
  }
})

test('a scope that a key has just been given counts at once', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const made = await ada.post('/api/api-keys', { name: 'laptop', scopes: ['ai'] })
  assert.equal(made.status, 201, made.text)
  const key = createClient(app.url, made.body.key, { email: '', userId: '', refreshToken: '' })
  const setScopes = (scopes_json: ('ai' | 'rag')[]) =>
    app.platform.db.updateTable('api_keys').set({ scopes_json }).execute()
  for (const documents of [
    () => key.get('/api/rag/documents'),
    () => app.get('/api/rag/documents', { headers: { 'x-api-key': made.body.key } }),
  ]) {
    await setScopes(['ai'])
    let status = 0
    while (status !== 403) status = (await documents()).status
    await setScopes(['ai', 'rag'])
    assert.equal((await documents()).status, 200)
  }
})

test('x-api-key is accepted only on routes that accept an API key as a bearer token', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  const issue = async (client: typeof ada, more: object = {}) =>
    (await client.post('/api/api-keys', { name: 'laptop', ...more })).body as {
      id: string
      key: string
    }
  const { id, key } = await issue(ada)
  const ofEve = await issue(eve)
  await ada.post('/api/rag/ingest/text', { content: 'The notice period is a month.' })
  const documents = (headers: Record<string, string>) => app.get('/api/rag/documents', { headers })
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  assert.equal((await documents({ 'x-api-key': key })).body.length, 1)
  assert.equal((await app.get('/v1/models', { headers: { 'X-API-KEY': key } })).status, 200)
  // The bearer's credential decides who calls.
  for (const [token, count] of [
    [ofEve.key, 0],
    [eve.token, 0],
    [key, 1],
  ] as const) {
    const { status, body } = await documents({
      ...bearer(token),
      'x-api-key': token === key ? ofEve.key : key,
    })
    assert.deepEqual([status, body.length], [200, count])
  }
  for (const wrong of [`lk_${'x'.repeat(55)}`, 'Basic', ada.token.slice(0, -2)]) {
    assert.equal(
      (await documents({ ...bearer(wrong), 'x-api-key': key })).status,
      401,
      'a bad bearer is not mended',
    )
  }
  // Other authorization schemes are for the proxy in front.
  assert.equal((await documents({ authorization: 'Basic YTpi', 'x-api-key': key })).status, 200)
  for (const wrong of [
    '',
    ada.token,
    `Bearer ${key}`,
    `${key}, ${key}`,
    `${key} `.repeat(2),
    key.toLowerCase(),
  ]) {
    assert.equal((await documents({ 'x-api-key': wrong })).status, 401, wrong)
  }

  for (const [method, path, body] of [
    ['GET', '/api/auth/me'],
    ['GET', '/api/api-keys'],
    ['POST', '/api/api-keys', { name: 'another' }],
    ['DELETE', `/api/api-keys/${id}`],
    ['GET', '/api/users/me/sessions'],
    ['GET', '/api/admin/users'],
    ['GET', '/metrics'],
  ] as const) {
    const { status } = await app.request(method, path, { body, headers: { 'x-api-key': key } })
    assert.equal(status, 401, `${method} ${path}`)
  }

  const narrow = await issue(ada, { scopes: ['ai'], rate_limit: { requests: 2, seconds: 60 } })
  assert.equal((await documents({ 'x-api-key': narrow.key })).status, 403)
  assert.equal((await documents({ 'x-api-key': narrow.key })).status, 403)
  assert.equal((await documents({ 'x-api-key': narrow.key })).status, 429)
  assert.equal((await ada.delete(`/api/api-keys/${id}`)).status, 200)
  assert.equal((await documents({ 'x-api-key': key })).status, 401)
})

test('a refused access is logged with the caller, at most once a minute', async (t) => {
  const lines: string[] = []
  const log = createLog('warn', { write: (line: string) => void lines.push(line) })
  const app = await testApp(t, { log })
  const eve = await app.as('eve', { tier: 'pro' })
  const refusals = () =>
    lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'refused')
  for (let i = 0; i < 5; i++) assert.equal((await eve.get('/api/admin/users')).status, 403)
  const [first, ...more] = refusals()
  assert.deepEqual(more, [])
  const { code, userId, keyId, address, method, route } = first
  assert.deepEqual(
    { code, userId, keyId, address, method, route },
    {
      code: 'not_superuser',
      userId: eve.userId,
      keyId: null,
      address: '127.0.0.1',
      method: 'GET',
      route: '/api/admin/users',
    },
  )
  // A key that is confined to one scope, another reason.
  const { key, id } = (await eve.post('/api/api-keys', { name: 'reader', scopes: ['rag:read'] }))
    .body
  const headers = { authorization: `Bearer ${key}` }
  assert.equal(
    (await app.post('/api/ai/completions', { prompt: 'Hello' }, { headers })).status,
    403,
  )
  assert.deepEqual([refusals()[1].code, refusals()[1].keyId], ['scope_missing', id])
  assert.ok(!lines.join('').includes(key))
  // Anonymous requests add nothing to the log.
  assert.equal((await app.get('/api/admin/users')).status, 401)
  assert.equal(refusals().length, 2)
})
