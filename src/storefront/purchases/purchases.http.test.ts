import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { PASSWORD, testApp } from '#testing/app.ts'
import { openShop } from '#testing/buyer.ts'
import { findScans } from '#testing/plans.ts'
import { findByCheckoutSession } from './store.ts'

test('purchases are listed newest first, each to its owner alone', async (t) => {
  const shop = await openShop(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.sell(ada, 'basic')
  shop.clock.advance(1000)
  await shop.sell(ada, 'pro')
  const tiers = (await ada.get('/api/purchases')).body.map(({ tier }: { tier: string }) => tier)
  assert.deepEqual(tiers, ['pro', 'basic'])
  assert.deepEqual((await eve.get('/api/purchases')).body, [])
  const anyone = await shop.store('GET', '/api/purchases')
  assert.deepEqual(
    [anyone.status, anyone.body],
    [401, { error: 'Not authenticated', code: 'not_signed_in' }],
  )
})

test('a license key is verified however it is typed, through refund and deletion', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  await shop.sell(ada, 'basic')
  const [email] = (await shop.mail(ada.email)).filter(({ text }) =>
    /Latchkey Pro|latchkey Pro/.test(text),
  )
  const key = /LK(-\w{4}){7}/.exec(email?.text ?? '')?.[0] ?? ''
  const verify = async (license_key: unknown) => {
    const reply = await shop.store('POST', '/api/license/verify', { body: { license_key } })
    return [reply.status, reply.body]
  }

  const [status, body] = await verify(key)
  assert.equal(status, 200)
  assert.deepEqual(
    { ...body, entitled_until: null, updates_until: null },
    {
      valid: true,
      tier: 'pro',
      status: 'completed',
      entitled_until: null,
      code: 'ok',
      seats: 1,
      updates_until: null,
    },
  )
  assert.match(body.entitled_until, /^\d{4}-\d\d-\d\dT/)
  assert.deepEqual(await verify(key.toLowerCase().replaceAll('-', ' ')), [status, body])

  const unknown = {
    valid: false,
    tier: null,
    status: null,
    entitled_until: null,
    code: null,
    seats: null,
    updates_until: null,
  }
  for (const junk of [
    'LK-0000-0000-0000-0000-0000-0000-0000',
    'x',
    "' or 1=1 --",
    key.slice(0, -1),
  ]) {
    assert.deepEqual(await verify(junk), [200, unknown], junk)
  }
  assert.equal((await verify('')).at(0), 400)
  assert.equal((await verify(undefined)).at(0), 400)
  assert.equal((await verify(7)).at(0), 422)

  await shop.event('charge.refunded', {
    payment_intent: payment,
    amount: 1,
    amount_refunded: 1,
    refunded: true,
  })
  assert.deepEqual(await verify(key), [
    200,
    { ...body, valid: false, status: 'refunded', code: 'refunded' },
  ])
})

test('lost keys are emailed to their owner, and the reply does not reveal whether the address has any', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const key = (await ada.download()).headers.get('x-license-key') ?? ''
  const recover = (email: unknown) =>
    shop.store('POST', '/api/purchases/recover', { body: { email } })

  const known = await recover('ADA@example.com')
  const unknown = await recover('nobody@example.com')
  assert.equal(known.status, 200)
  assert.deepEqual(known.body, unknown.body)
  const emails = (await shop.mail(ada.email)).filter(
    ({ subject }) => subject === 'Your license key',
  )
  assert.equal(emails.length, 1)
  assert.ok(emails[0]?.text.includes(key))
  assert.deepEqual(await shop.mail('nobody@example.com'), [])
  assert.equal((await recover('')).status, 400)
  assert.equal((await recover(undefined)).status, 400)
})

test('keys are not asked for more than three times an hour', async (t) => {
  const shop = await openShop(t, { RATE_LIMIT_GENERAL: '1000/60' })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  for (let i = 0; i < 5; i++) {
    assert.equal(
      (await shop.store('POST', '/api/purchases/recover', { body: { email: ada.email } })).status,
      200,
    )
    await shop.settle()
  }
  const emails = (await shop.mail(ada.email)).filter(
    ({ subject }) => subject === 'Your license key',
  )
  assert.equal(emails.length, 3)
})

test('a deleted account leaves the purchase for accounting, without personal data', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  const key = (await ada.download()).headers.get('x-license-key') ?? ''
  await shop.store('POST', '/api/contact', {
    body: { name: 'Ada', email: 'Ada@Example.com', subject: 'sales', message: 'Hello' },
  })

  const deleted = await shop.as('ada').delete('/api/users/me', { password: PASSWORD })
  assert.equal(deleted.status, 200, deleted.text)
  await shop.settle()

  assert.equal((await ada.get('/api/purchases')).status, 401)
  const { db } = shop.platform
  const [row, ...more] = await db.selectFrom('purchases').selectAll().execute()
  assert.equal(more.length, 0)
  assert.equal(row?.user_id, null)
  assert.equal(row?.payment_ref, payment)
  assert.equal(row?.tier, 'pro')
  assert.deepEqual(await db.selectFrom('downloads').selectAll().execute(), [])
  assert.deepEqual(await db.selectFrom('contact_messages').selectAll().execute(), [])
  assert.deepEqual(await db.selectFrom('store_sessions').selectAll().execute(), [])
  const verified = await shop.store('POST', '/api/license/verify', { body: { license_key: key } })
  assert.equal(verified.body.valid, true)
})

test('neither the database nor a job contains a readable license key', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const jobs = await shop.platform.db.selectFrom('jobs').selectAll().execute()
  const key = (await ada.download()).headers.get('x-license-key') ?? ''
  const purchases = await shop.platform.db.selectFrom('purchases').selectAll().execute()
  assert.ok(jobs.length > 0)
  assert.ok(!JSON.stringify([jobs, purchases]).includes(key))
  assert.ok(!JSON.stringify([jobs, purchases]).includes(key.slice(3).replaceAll('-', '')))
})

test('a purchase is found by its checkout without reading all of them', async (t) => {
  const app = await testApp(t)
  assert.deepEqual(await findScans(app, (db) => findByCheckoutSession(db, 'cs_unknown')), [])
})

test('updates end after the months of the product, or never', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-catalogue-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'catalogue.json')
  const product = { name: 'Kit', price: 10, currency: 'usd' }
  writeFileSync(
    path,
    JSON.stringify({
      products: [
        { ...product, tier: 'basic', updates_months: 1 },
        { ...product, tier: 'pro', updates_months: null },
      ],
    }),
  )
  const shop = await openShop(t, { CATALOGUE: path })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'basic')
  await shop.sell(ada, 'pro')
  const ends = new Map<string, string | null>(
    (await ada.get('/api/purchases')).body.map(
      ({ tier, entitled_until }: { tier: string; entitled_until: string | null }) => [
        tier,
        entitled_until,
      ],
    ),
  )
  assert.equal(ends.get('pro'), null)
  const days = (Date.parse(ends.get('basic') ?? '') - shop.clock.ms()) / 86_400_000
  assert.ok(days > 26 && days < 32, `${days} days`)
  assert.equal((await ada.download()).status, 200)
  assert.match((await ada.get('/dashboard')).text, /no end/)
})
