import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { setSubscription } from '#identity/subscription.ts'
import { transaction } from '#platform/db/db.ts'
import { testApp } from '#testing/app.ts'
import { createShop } from '#testing/shop.ts'

/** Its plan `documents` grants `rag` only. */
const CATALOGUE = join(import.meta.dirname, '../../docs/catalogue.json')

const CHAT = { messages: [{ role: 'user', content: 'Hello' }] }

test('offers, sells and applies a plan defined only in the catalogue file', async (t) => {
  const app = await testApp(t, { env: { CATALOGUE, BUDGET_DOCUMENTS_TOKENS: '90000' } })
  const shop = createShop(app)
  const ada = await app.as('ada')

  const { plans } = (await app.get('/api/billing/plans')).body
  assert.deepEqual(
    plans.map(({ tier, grants }: { tier: string; grants: string[] }) => [tier, grants]),
    [
      ['free', []],
      ['documents', ['rag', 'library']],
      ['pro', ['ai', 'rag', 'api_keys', 'exports', 'home', 'library']],
    ],
  )
  const [, documents] = plans
  assert.deepEqual(
    [
      documents.name,
      documents.price,
      documents.currency,
      documents.price_monthly,
      documents.price_yearly,
    ],
    ['Documents', 29, 'usd', 'price_documents_monthly', undefined],
  )
  assert.equal(documents.features.at(-1), '90,000 tokens a month')

  const search = () => ada.post('/api/rag/search', { query: 'Anything?' })
  const before = await search()
  assert.deepEqual(
    [before.status, before.body.detail],
    [403, 'This feature requires a Documents or Pro subscription'],
  )
  assert.equal(
    (await ada.post('/api/billing/create-checkout-session?price_id=price_documents_yearly')).status,
    400,
  )

  const subscription = await shop.subscribe(ada, { price: documents.price_monthly })
  assert.deepEqual([subscription.status, subscription.tier], ['active', 'documents'])
  assert.deepEqual((await ada.get('/api/auth/me')).body.entitlements, ['rag', 'library'])
  assert.deepEqual((await ada.get('/api/billing/subscription')).body.entitlements, [
    'rag',
    'library',
  ])

  assert.equal((await search()).status, 200)
  for (const reply of [
    await ada.post('/api/ai/chat', CHAT),
    await ada.post('/v1/chat/completions', { ...CHAT, model: 'gpt-6.1-terra' }),
    await ada.post('/api/api-keys', { name: 'laptop' }),
  ]) {
    assert.equal(reply.status, 403, reply.text)
    assert.match(reply.text, /This feature requires a Pro subscription/)
  }

  await shop.portal(ada, 'cancel-now')
  await app.settle()
  assert.deepEqual((await ada.get('/api/auth/me')).body.entitlements, [])
  assert.equal((await search()).status, 403)
})

test('lists a custom entitlement for users who have it', async (t) => {
  const app = await testApp(t, { env: { CATALOGUE } })
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'documents' })
  for (const [user, holds] of [
    [ada, true],
    [eve, false],
  ] as const) {
    for (const path of ['/api/auth/me', '/api/billing/subscription']) {
      assert.equal((await user.get(path)).body.entitlements.includes('exports'), holds, path)
    }
  }
})

test('a change to a larger plan grants its entitlements', async (t) => {
  const app = await testApp(t, { env: { CATALOGUE } })
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada, { price: 'price_documents_monthly' })
  await shop.portal(ada, 'change-plan', { price: 'price_pro_yearly' })
  await app.settle()
  assert.equal((await shop.subscription(ada)).tier, 'pro')
  assert.equal((await ada.post('/api/ai/chat', CHAT)).status, 200)
})

test('an API key has at most the entitlements of its owner’s plan', async (t) => {
  const app = await testApp(t, { env: { CATALOGUE } })
  const ada = await app.as('ada', { tier: 'pro' })
  const { key } = (await ada.post('/api/api-keys', { name: 'laptop' })).body
  const call = (method: string, path: string, body?: unknown) =>
    app.request(method, path, {
      ...(body ? { body } : {}),
      headers: { authorization: `Bearer ${key}` },
    })
  assert.equal((await call('POST', '/api/rag/search', { query: 'Anything?' })).status, 200)

  await transaction(app.platform.db, (tx) => setSubscription(tx, ada.userId, { tier: 'documents' }))
  const refused = await call('POST', '/api/rag/search', { query: 'Anything?' })
  assert.deepEqual(
    [refused.status, refused.body.detail],
    [403, 'Calling with an API key requires a Pro subscription'],
  )
  assert.equal(
    (await ada.post('/api/rag/search', { query: 'Anything?' })).status,
    200,
    'the session still may',
  )
  assert.equal((await call('GET', '/api/usage')).status, 200, 'what needs no plan stays open')
})

test('a tier that left the catalogue grants nothing and breaks no page', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const root = await app.as('root')
  const ada = await app.as('ada', { tier: 'pro' })
  const gold = sql`update users set subscription_tier = 'gold', processor_tier = 'gold', tier_override = 'gold' where id = ${ada.userId}`
  await gold.execute(db)
  await sql`update users set is_superuser = ${true} where id = ${root.userId}`.execute(db)
  app.clock.advance(1_000)

  const refused = await ada.post('/api/ai/chat', CHAT)
  assert.deepEqual(
    [refused.status, refused.body.detail],
    [403, 'This feature requires a Pro or Enterprise subscription'],
  )
  for (const path of ['/api/auth/me', '/api/users/me']) {
    const { body } = await ada.get(path)
    assert.deepEqual([body.subscription_tier, body.entitlements], ['gold', []], path)
  }
  const subscription = (await ada.get('/api/billing/subscription')).body
  assert.deepEqual([subscription.tier, subscription.entitlements], ['gold', []])
  for (const path of ['/api/usage', '/api/users/me/export', '/api/users/me/export?full=true']) {
    assert.equal((await ada.get(path)).status, 200, path)
  }

  const { users } = (await root.get('/api/admin/users')).body
  assert.equal(users.find(({ id }: { id: string }) => id === ada.userId).tier_override, 'gold')
  assert.equal((await root.get('/api/admin/stats')).status, 200)
  const again = await root.patch(`/api/admin/users/${ada.userId}`, { subscription_tier: 'gold' })
  assert.deepEqual([again.status, again.body.detail[0].loc], [422, ['body', 'subscription_tier']])
  const moved = await root.patch(`/api/admin/users/${ada.userId}`, {
    subscription_tier: 'enterprise',
  })
  assert.deepEqual(
    [moved.body.subscription_tier, moved.body.entitlements.length],
    ['enterprise', 5],
  )
})
