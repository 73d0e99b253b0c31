import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { newSecret } from './secret.ts'

const HI = { messages: [{ role: 'user', content: 'Hi' }] }
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

test('a key is made with 201, shown once, and listed newest first without its secret', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })

  const first = await ada.post('/api/api-keys', { name: 'laptop' })
  app.clock.advance(1_000)
  const second = await ada.post('/api/api-keys', {
    name: 'server',
    expires_at: '2099-01-01T00:00:00Z',
  })

  assert.equal(first.status, 201)
  assert.deepEqual(Object.keys(first.body).sort(), [
    'created_at',
    'expires_at',
    'id',
    'is_active',
    'key',
    'key_prefix',
    'last_used_at',
    'name',
  ])
  assert.match(first.body.key, /^lk_[0-9A-Za-z]{55}$/)
  assert.equal(first.body.key_prefix, first.body.key.slice(0, 12))
  assert.equal(first.body.is_active, true)
  assert.equal(first.body.expires_at, null)
  assert.equal(second.body.expires_at, '2099-01-01T00:00:00.000Z')

  const list = await ada.get('/api/api-keys')
  assert.equal(list.status, 200)
  assert.deepEqual(
    list.body.map((key: { name: string }) => key.name),
    ['server', 'laptop'],
  )
  assert.equal(list.text.includes(first.body.key), false)
  assert.equal('key' in list.body[0], false)
})

test('a key can use the AI routes, and its last use is stored', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'laptop' })

  assert.equal((await app.post('/api/ai/chat', HI, bearer(body.key))).status, 200)
  const [used] = (await ada.get('/api/api-keys')).body
  assert.ok(Date.parse(used.last_used_at) > 0)

  await app.restart()
  const [kept] = (await ada.get('/api/api-keys')).body
  assert.equal(kept.last_used_at, used.last_used_at)
})

test('last use only moves forward', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'laptop' })
  await app.platform.db
    .updateTable('api_keys')
    .set({ last_used_at: '2090-01-01T00:00:00.000Z' })
    .where('id', '=', body.id)
    .execute()

  await app.post('/api/ai/chat', HI, bearer(body.key))
  await app.restart()

  assert.equal((await ada.get('/api/api-keys')).body[0].last_used_at, '2090-01-01T00:00:00.000Z')
})

test('a revoked key stays in the list as inactive, and is rejected', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'laptop' })
  assert.equal((await app.post('/api/ai/chat', HI, bearer(body.key))).status, 200)

  const revoked = await ada.delete(`/api/api-keys/${body.id}`)
  const after = await app.post('/api/ai/chat', HI, bearer(body.key))

  assert.deepEqual([revoked.status, revoked.body], [200, { message: 'API key revoked' }])
  assert.equal(after.status, 401)
  assert.equal(after.body.detail, 'Could not validate credentials')
  assert.equal(after.headers.get('www-authenticate'), 'Bearer')
  assert.equal((await ada.get('/api/api-keys')).body[0].is_active, false)
})

test('an expired key is rejected, and a key cannot be created with a past expiry', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const expiresAt = new Date(app.clock.ms() + 3_600_000).toISOString()
  const { body } = await ada.post('/api/api-keys', { name: 'short', expires_at: expiresAt })
  assert.equal((await app.post('/api/ai/chat', HI, bearer(body.key))).status, 200)

  app.clock.advance(3_600_000)
  assert.equal((await app.post('/api/ai/chat', HI, bearer(body.key))).status, 401)

  for (const wrong of ['2020-01-01T00:00:00Z', '2020-01-01', 'tomorrow', '', 5]) {
    const refused = await (await app.as('bob', { tier: 'pro' })).post('/api/api-keys', {
      name: 'x',
      expires_at: wrong,
    })
    assert.equal(refused.status, 422, String(wrong))
    assert.deepEqual(refused.body.detail[0].loc, ['body', 'expires_at'])
  }
})

test('a key is renamed by its query', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'laptop' })

  const renamed = await ada.patch(
    `/api/api-keys/${body.id}?name=${encodeURIComponent('Büro & Heim')}`,
  )
  const nameless = await ada.patch(`/api/api-keys/${body.id}`)

  assert.equal(renamed.status, 200)
  assert.equal(renamed.body.name, 'Büro & Heim')
  assert.equal('key' in renamed.body, false)
  assert.equal(nameless.status, 422)
  assert.deepEqual(nameless.body.detail[0].loc, ['query', 'name'])
  assert.equal((await ada.post('/api/api-keys', {})).status, 422)
  assert.equal((await ada.post('/api/api-keys', { name: '' })).status, 422)
})

test('a user cannot use the routes of another user’s key', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'laptop' })

  for (const id of [body.id, crypto.randomUUID()]) {
    for (const reply of [
      await eve.delete(`/api/api-keys/${id}`),
      await eve.patch(`/api/api-keys/${id}?name=mine`),
      await eve.post(`/api/api-keys/${id}/rotate`, {}),
    ]) {
      assert.equal(reply.status, 404)
      assert.equal(reply.body.detail, 'API key not found')
    }
  }
  assert.deepEqual((await eve.get('/api/api-keys')).body, [])
  assert.equal((await ada.get('/api/api-keys')).body[0].is_active, true)
})

test('keys are managed with a JWT alone, and by paying users alone', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'laptop' })

  for (const [method, path] of [
    ['GET', '/api/api-keys'],
    ['POST', '/api/api-keys'],
    ['DELETE', `/api/api-keys/${body.id}`],
    ['PATCH', `/api/api-keys/${body.id}?name=x`],
    ['POST', `/api/api-keys/${body.id}/rotate`],
    ['GET', '/api/users/me'],
  ] as const) {
    const reply = await app.request(method, path, {
      ...bearer(body.key),
      ...(method === 'POST' ? { body: { name: 'x' } } : {}),
    })
    assert.equal(reply.status, 401, `${method} ${path}`)
    assert.equal(reply.body.detail, 'Could not validate credentials')
  }
  const free = await (await app.as('eve')).post('/api/api-keys', { name: 'x' })
  assert.equal(free.status, 403)
  assert.equal(free.body.detail, 'This feature requires a Pro or Enterprise subscription')
})

test('a rotated key works with its new secret at once, and with its old one until the grace period ends', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body: old } = await ada.post('/api/api-keys', { name: 'laptop' })
  const opens = async (key: string) =>
    (await app.post('/api/ai/chat', HI, bearer(key))).status === 200
  assert.equal(await opens(old.key), true)

  const rotated = await ada.post(`/api/api-keys/${old.id}/rotate`, { grace_seconds: 600 })

  assert.equal(rotated.status, 200)
  assert.equal(rotated.body.id, old.id)
  assert.notEqual(rotated.body.key, old.key)
  assert.equal(rotated.body.key_prefix, rotated.body.key.slice(0, 12))
  assert.deepEqual([await opens(old.key), await opens(rotated.body.key)], [true, true])

  app.clock.advance(600_000)
  assert.deepEqual([await opens(old.key), await opens(rotated.body.key)], [false, true])

  const hard = await ada.post(`/api/api-keys/${old.id}/rotate`, { grace_seconds: 0 })
  assert.deepEqual([await opens(rotated.body.key), await opens(hard.body.key)], [false, true])

  await ada.delete(`/api/api-keys/${old.id}`)
  assert.equal(await opens(hard.body.key), false)
  assert.equal((await ada.post(`/api/api-keys/${old.id}/rotate`, {})).status, 409)
})

test('after simultaneous rotations, the newest secret works, and the one before it in its grace period', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body: key } = await ada.post('/api/api-keys', { name: 'laptop' })

  const replies = await Promise.all(
    Array.from({ length: 5 }, () =>
      ada.post(`/api/api-keys/${key.id}/rotate`, { grace_seconds: 3_600 }),
    ),
  )
  const secrets = replies.filter(({ status }) => status === 200).map(({ body }) => body.key)
  const opening = await Promise.all(
    secrets.map((secret) => app.post('/api/ai/chat', HI, bearer(secret))),
  )

  assert.ok(secrets.length >= 1)
  // The newest opens, and the one before it in its grace.
  assert.ok(opening.filter(({ status }) => status === 200).length >= Math.min(2, secrets.length))
})

test('a key with one scope cannot use another', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'search only', scopes: ['rag'] })

  assert.deepEqual(body.scopes, ['rag'])
  const refused = await app.post('/api/ai/chat', HI, bearer(body.key))
  assert.equal(refused.status, 403)
  const usage = await app.get('/api/usage?group_by=key', bearer(body.key))
  assert.deepEqual(
    [usage.status, usage.body.detail],
    [403, "This API key is not allowed to use 'usage'"],
  )
  const free = (await ada.post('/api/api-keys', { name: 'everything' })).body
  assert.equal((await app.get('/api/usage?group_by=key', bearer(free.key))).status, 200)
  assert.equal((await ada.post('/api/api-keys', { name: 'x', scopes: ['admin'] })).status, 422)
  assert.equal((await ada.post('/api/api-keys', { name: 'x', scopes: [] })).status, 422)
})

test('a key’s own rate counts beside the bucket’s', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_AI: '100/60' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', {
    name: 'slow',
    rate_limit: { requests: 2, seconds: 60 },
  })
  const ask = async () => (await app.post('/api/ai/chat', HI, bearer(body.key))).status

  assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 429])
  assert.equal((await ada.post('/api/ai/chat', HI)).status, 200)
})

test('a text with only the form of a key is rejected without a query', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'laptop' })
  const queries: string[] = []
  const { db } = app.platform
  const run = db.getExecutor().executeQuery
  t.mock.method(
    Object.getPrototypeOf(db.getExecutor()),
    'executeQuery',
    function (this: unknown, ...args: Parameters<typeof run>) {
      queries.push(args[0].sql)
      return run.apply(this as never, args)
    },
  )

  for (const wrong of [
    'lk_',
    'lk_short',
    `${body.key}x`,
    body.key.slice(0, -1),
    body.key.toLowerCase(),
    `${body.key.slice(0, 20)}0${body.key.slice(21)}`,
    body.key_prefix,
    body.id,
    `lk_${'A'.repeat(3_000)}`,
  ]) {
    if (wrong === body.key) continue
    const reply = await app.post('/api/ai/chat', HI, bearer(wrong))
    assert.equal(reply.status, 401, wrong)
  }
  assert.deepEqual(
    queries.filter((sql) => sql.includes('api_keys')),
    [],
  )

  // Well-formed and unknown: one look-up, the same answer.
  assert.equal(
    (await app.post('/api/ai/chat', HI, bearer(newSecret(crypto.randomUUID())))).status,
    401,
  )
})

test('a key stops with its user’s tier and status', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'laptop' })
  const set = async (changes: { subscription_tier?: 'free' | 'pro'; is_active?: boolean }) => {
    await app.platform.db.updateTable('users').set(changes).where('id', '=', ada.userId).execute()
    app.clock.advance(1_000)
    return (await app.post('/api/ai/chat', HI, bearer(body.key))).status
  }

  assert.equal(await set({ subscription_tier: 'free' }), 403)
  assert.equal(await set({ subscription_tier: 'pro' }), 200)
  assert.equal(await set({ is_active: false }), 403)
})

test('the secret is not in the database', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'laptop' })

  const rows = JSON.stringify(await app.platform.db.selectFrom('api_keys').selectAll().execute())

  assert.equal(rows.includes(body.key), false)
  assert.equal(rows.includes(body.key.slice(12)), false)
})

test('a key’s name is one line that shows', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body: key } = await ada.post('/api/api-keys', { name: 'Ада’s laptop 🚀' })
  assert.equal(key.name, 'Ада’s laptop 🚀')

  for (const name of ['', '  ', 'a\u0000b', 'a\nb', '\u001b[31mred', 'x'.repeat(201)]) {
    assert.equal((await ada.post('/api/api-keys', { name })).status, 422, JSON.stringify(name))
    const query = `name=${encodeURIComponent(name)}`
    assert.equal(
      (await ada.patch(`/api/api-keys/${key.id}?${query}`)).status,
      422,
      JSON.stringify(name),
    )
  }
})
