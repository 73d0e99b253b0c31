import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { PASSWORD, testApp } from '#testing/app.ts'

test('every admin route rejects callers who are not signed in or not superusers', async (t) => {
  const app = await testApp(t)
  const addresses: [string, string][] = [
    ['GET', '/api/admin/stats'],
    ['GET', '/api/admin/usage'],
    ['GET', '/api/admin/users'],
    ['PATCH', '/api/admin/users/0190a6a8-0000-7000-8000-000000000000'],
    ['GET', '/api/admin/contact-messages'],
    ['GET', '/api/admin/switches'],
    ['GET', '/api/admin/jobs'],
    ['POST', '/api/admin/jobs/0190a6a8-0000-7000-8000-000000000000/retry'],
    ['DELETE', '/api/admin/jobs/0190a6a8-0000-7000-8000-000000000000'],
    ['GET', '/api/admin/events'],
  ]
  const eve = await app.as('eve', { tier: 'enterprise' })
  for (const [method, path] of addresses) {
    const unknown = await app.request(method, path, { body: method === 'GET' ? undefined : {} })
    assert.equal(unknown.status, 401, path)
    assert.deepEqual(unknown.body, {
      detail: 'Could not validate credentials',
      code: 'unauthenticated',
    })
    const other = await eve.request(method, path, { body: method === 'GET' ? undefined : {} })
    assert.equal(other.status, 403, path)
    assert.deepEqual(other.body, { detail: 'Not enough permissions', code: 'not_superuser' })
  }
})

test('the statistics count users, subscriptions, new users of seven days and verified addresses', async (t) => {
  const app = await testApp(t)
  const old = await app.as('old')
  app.clock.advance(8 * 86_400_000)
  const root = await app.as('root', { superuser: true })
  await app.as('ada', { tier: 'pro' })
  assert.equal(
    (await root.patch(`/api/admin/users/${old.userId}`, { is_verified: true })).status,
    200,
  )
  const reply = await root.get('/api/admin/stats')
  assert.deepEqual(reply.body, {
    total_users: 3,
    active_subscriptions: 1,
    new_users_7d: 2,
    verified_users: 1,
  })
})

test('lists users newest first, in pages, with the limits of the specification', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  for (const name of ['a', 'b', 'c']) {
    app.clock.advance(1_000)
    await app.as(name)
  }
  const first = await root.get('/api/admin/users?limit=2')
  assert.deepEqual(
    first.body.users.map((user: { email: string }) => user.email),
    ['c@example.com', 'b@example.com'],
  )
  assert.deepEqual(
    [first.body.total, first.body.page, first.body.limit, first.body.pages],
    [4, 1, 2, 2],
  )
  for (const field of [
    'id',
    'email',
    'full_name',
    'is_active',
    'is_verified',
    'subscription_status',
    'subscription_tier',
    'created_at',
    'last_login_at',
  ]) {
    assert.ok(field in first.body.users[0], field)
  }
  assert.ok(!first.text.includes('password'))
  assert.equal((await root.get('/api/admin/users?page=9')).body.users.length, 0)
  for (const query of [
    'page=0',
    'limit=0',
    'limit=101',
    'page=x',
    'limit=1.5',
    'page=1.5',
    'limit=99.9',
  ]) {
    const reply = await root.get(`/api/admin/users?${query}`)
    assert.equal(reply.status, 422, query)
    assert.deepEqual(reply.body.detail[0].loc, ['query', query.split('=')[0]])
  }
  const whole = (await root.get('/api/admin/users?limit=1.5')).body.detail[0]
  assert.deepEqual(whole, {
    loc: ['query', 'limit'],
    msg: 'Input should be a whole number',
    type: 'integer_type',
  })
  assert.equal(
    (await root.get('/api/admin/users?limit=2.0&page=1')).status,
    200,
    'a whole number however it is written',
  )
})

test('deactivating an account ends its sessions at once, and reactivating it allows sign-in', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  assert.equal((await ada.get('/api/auth/me')).status, 200)

  const off = await root.patch(`/api/admin/users/${ada.userId}`, { is_active: false })
  assert.equal(off.status, 200)
  assert.equal(off.body.is_active, false)
  assert.equal((await ada.get('/api/auth/me')).status, 401)
  const refused = await app.post('/api/auth/login', {
    email: ada.email,
    password: 'correct horse battery',
  })
  assert.deepEqual([refused.status, refused.body.detail], [403, 'Inactive account'])

  await root.patch(`/api/admin/users/${ada.userId}`, { is_active: true })
  assert.equal(
    (await app.post('/api/auth/login', { email: ada.email, password: 'correct horse battery' }))
      .status,
    200,
  )
})

test('a tier override holds until null removes it', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  const set = await root.patch(`/api/admin/users/${ada.userId}`, {
    subscription_tier: 'enterprise',
  })
  assert.deepEqual(
    [set.body.subscription_tier, set.body.tier_override],
    ['enterprise', 'enterprise'],
  )
  const lifted = await root.patch(`/api/admin/users/${ada.userId}`, { subscription_tier: null })
  assert.deepEqual([lifted.body.subscription_tier, lifted.body.tier_override], ['free', null])
})

test('a tier override with an end ends by itself, unless it was changed before', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  const change = (body: object) => root.patch(`/api/admin/users/${ada.userId}`, body)
  const inDays = (days: number) => new Date(app.clock.ms() + days * DAY_MS).toISOString()
  const readTiers = async () => {
    const columns = ['subscription_tier', 'tier_override', 'tier_override_until'] as const
    const users = app.platform.db.selectFrom('users').select(columns).where('id', '=', ada.userId)
    return Object.values(await users.executeTakeFirstOrThrow())
  }
  for (const body of [
    { subscription_tier_until: inDays(1) },
    { subscription_tier: null, subscription_tier_until: inDays(1) },
    { subscription_tier: 'pro', subscription_tier_until: inDays(-1) },
  ])
    assert.equal((await change(body)).status, 422, JSON.stringify(body))

  const until = inDays(3)
  const set = await change({ subscription_tier: 'pro', subscription_tier_until: until })
  assert.deepEqual([set.body.tier_override, set.body.tier_override_until], ['pro', until])
  const end = inDays(5)
  const later = await change({ subscription_tier: 'pro', subscription_tier_until: end })
  assert.equal(later.body.tier_override_until, end)
  app.clock.advance(4 * DAY_MS)
  await app.settle()
  assert.deepEqual(await readTiers(), ['pro', 'pro', end])
  app.clock.advance(DAY_MS)
  await app.settle()
  assert.deepEqual(await readTiers(), ['free', null, null])
})

test('changing a user returns the changed user', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  const { body } = await root.patch(`/api/admin/users/${ada.userId}`, {
    is_verified: true,
    subscription_tier: 'pro',
  })
  const own = (await ada.get('/api/auth/me')).body
  const listed = (await root.get('/api/admin/users')).body.users.find(
    ({ id }: { id: string }) => id === ada.userId,
  )
  assert.deepEqual(body, { ...own, ...listed })
  assert.deepEqual(
    [body.is_verified, body.subscription_tier, body.tier_override],
    [true, 'pro', 'pro'],
  )
  for (const field of [
    'avatar_url',
    'oauth_provider',
    'has_password',
    'totp_enabled',
    'last_login_at',
  ]) {
    assert.ok(field in body, field)
  }
})

test('a superuser finds an account by any part of its address or name, or by its id', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const names = ['anna', 'Ann', 'an_', 'an%', 'bob', 'zoe']
  const ids = new Map<string, string>()
  for (const name of names) {
    const { body } = await app.post('/api/auth/register', {
      email: `${name}@example.org`,
      password: 'a long enough password',
    })
    ids.set(name, body.id)
  }
  const find = async (text: string, more = '') =>
    (await root.get(`/api/admin/users?find=${encodeURIComponent(text)}${more}`)).body
  const addresses = async (text: string, more = '') =>
    (await find(text, more)).users.map(({ email }: { email: string }) => email.split('@')[0])

  assert.deepEqual(
    await addresses('AN'),
    ['an%', 'an_', 'Ann', 'anna'],
    'in any case of the letters, in their order',
  )
  assert.deepEqual(await addresses(' ann@ '), ['Ann'])
  assert.deepEqual(
    [await addresses('an_'), await addresses('an%')],
    [['an_'], ['an%']],
    'signs stand for themselves',
  )
  assert.deepEqual(await addresses('nn'), ['Ann', 'anna'], 'in the middle')
  assert.deepEqual(await addresses('A@EXAMPLE'), ['anna'])
  assert.deepEqual(await addresses('e@'), ['zoe'])
  assert.deepEqual((await addresses('o')).length, names.length + 1)
  const grace = await app.as('grace')
  await grace.patch('/api/users/me', { full_name: 'Ernest Ängström' })
  for (const part of ['änGST', 'nest ängs', 'grace ÄNGSTRÖM', 'ström example']) {
    assert.deepEqual(await addresses(part), ['grace'], part)
  }
  assert.deepEqual(await addresses('anna ängström'), [])
  await grace.patch('/api/users/me', { full_name: 'Grace Lowell' })
  assert.deepEqual(
    [await addresses('ängström'), await addresses('lowell')],
    [[], ['grace']],
    'the name as it is now',
  )
  assert.deepEqual(await addresses(String(ids.get('zoe')).toUpperCase()), ['zoe'])
  assert.deepEqual(await addresses('an', '&limit=3&page=2'), ['anna'])
  const { total, pages, next_cursor } = await find('an', '&limit=3')
  assert.deepEqual([total, pages, next_cursor], [4, 2, null])
  assert.equal((await find(' ')).total, names.length + 2, 'nothing asked for: everybody')
  assert.deepEqual(await addresses('a\0'), [])
})

test('the audit log names the users that its entries are by and about', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  await root.patch(`/api/admin/users/${ada.userId}`, { is_verified: true })
  const entries = async () => (await root.get('/api/admin/audit')).body.entries
  const [changed] = (await entries()).filter(
    ({ action }: { action: string }) => action === 'user.changed',
  )
  assert.deepEqual([changed.actor_email, changed.subject_email], [root.email, ada.email])
  assert.deepEqual([changed.actor_name, changed.subject_name], ['root', 'ada'])
  const [signIn] = (await entries()).filter(
    ({ actor_id: by }: { actor_id: string }) => by === ada.userId,
  )
  assert.deepEqual([signIn.actor_email, signIn.subject_email], [ada.email, null])

  await ada.delete('/api/users/me', { password: PASSWORD })
  const [since] = (await entries()).filter(({ id }: { id: string }) => id === changed.id)
  assert.deepEqual([since.subject, since.subject_email], ['user:deleted', null])
})

test('the last superuser cannot lock everyone out', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  for (const change of [{ is_superuser: false }, { is_active: false }]) {
    assert.equal((await root.patch(`/api/admin/users/${root.userId}`, change)).status, 400)
  }
  assert.equal(
    (await root.patch('/api/admin/users/0190a6a8-0000-7000-8000-000000000000', {})).status,
    404,
  )
  assert.equal((await root.patch('/api/admin/users/not-a-uuid', {})).status, 422)
})

test('superusers read the messages of the contact form, newest first', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const hello = { name: 'Ada', email: 'ada@example.com', subject: 'sales' }
  for (const message of ['one', 'two', 'three']) {
    assert.equal(
      (await app.store('POST', '/api/contact', { body: { ...hello, message } })).status,
      200,
    )
    app.clock.advance(1000)
  }
  const { status, body } = await root.get('/api/admin/contact-messages?page=1&limit=2')
  assert.equal(status, 200)
  assert.deepEqual(
    { ...body, messages: [], superusers: [] },
    {
      messages: [],
      superusers: [],
      total: 3,
      page: 1,
      limit: 2,
      pages: 2,
      next_cursor: body.next_cursor,
    },
  )
  const rest = await root.get(`/api/admin/contact-messages?limit=2&cursor=${body.next_cursor}`)
  assert.deepEqual([rest.body.messages[0].message, rest.body.next_cursor], ['one', null])
  assert.deepEqual(
    body.messages.map(({ message }: { message: string }) => message),
    ['three', 'two'],
  )
  assert.equal(typeof body.messages[0].notified_at, 'string')
  assert.equal((await root.get('/api/admin/contact-messages?limit=101')).status, 422)
})
