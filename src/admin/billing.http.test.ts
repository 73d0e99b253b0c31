import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { createShop, GOOD_CARD, loseEvents, PRICES } from '#testing/shop.ts'

test('a superuser sees differences from the processor and reconciles them', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const root = await app.as('root', { superuser: true })
  loseEvents(app)
  const ada = await app.as('ada')
  await shop.pay(
    (await ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)).body.url,
    GOOD_CARD,
  )

  const { status, body } = await root.get('/api/admin/billing/disagreements')
  assert.equal(status, 200)
  assert.deepEqual([body.accounts, body.is_whole], [1, true])
  assert.deepEqual(
    body.disagreements.map(({ about, email, ours, theirs }: Record<string, string>) => [
      about,
      email,
      ours,
      theirs,
    ]),
    [
      ['subscription', ada.email, 'free, free', 'active, pro'],
      ['payment', ada.email, 'none', '2900 usd'],
      ['invoice', ada.email, 'none', 'paid'],
    ],
  )
  assert.equal((await ada.get('/api/admin/billing/disagreements')).status, 403)
  assert.equal((await ada.post('/api/admin/billing/sync')).status, 403)
  const free = await app.platform.db
    .selectFrom('users')
    .select('subscription_tier')
    .where('id', '=', ada.userId)
    .execute()
  assert.equal(free[0]?.subscription_tier, 'free', 'the report changes nothing')

  assert.equal((await root.post('/api/admin/billing/sync')).status, 202)
  await app.settle()
  assert.deepEqual((await root.get('/api/admin/billing/disagreements')).body.disagreements, [])
  assert.equal((await ada.get('/api/billing/subscription')).body.tier, 'pro')
})

test('a superuser changes a customer’s plan at the price of the preview', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const root = await app.as('root', { superuser: true })
  const path = `/api/admin/users/${ada.userId}/plan`
  const choice = { price_id: PRICES.enterprise }

  const { status, body: preview } = await root.post(`${path}/preview`, choice)
  assert.equal(status, 200)
  assert.deepEqual([preview.tier, preview.currency], ['enterprise', 'usd'])
  assert.ok(preview.due_now > 0)
  const change = { ...choice, proration_at: preview.proration_at }
  for (const [client, target, expected] of [
    [ada, path, 403],
    [root, `/api/admin/users/${crypto.randomUUID()}/plan`, 404],
  ] as const) {
    assert.equal((await client.post(`${target}/preview`, choice)).status, expected)
    assert.equal((await client.post(target, change)).status, expected)
  }
  assert.equal((await ada.get('/api/billing/subscription')).body.tier, 'pro')

  const changed = await root.post(path, change)
  assert.equal(changed.status, 200, changed.text)
  assert.equal((await ada.get('/api/billing/subscription')).body.tier, 'enterprise')
  const [newest] = (await ada.get('/api/billing/invoices')).body.invoices
  assert.equal(newest.total, preview.due_now, 'the customer paid what the preview showed')
  const { entries } = (await ada.get('/api/users/me/audit')).body
  const entry = entries.find(({ action }: { action: string }) => action === 'plan.changed')
  assert.deepEqual([entry.actor_id, entry.data], [root.userId, choice])
  assert.equal((await root.post(path, change)).body.code, 'same_plan')
})
