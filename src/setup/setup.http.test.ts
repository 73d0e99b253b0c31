import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { settingsPath } from '#config/settings-file.ts'
import { type TestApp, testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { startMailServer } from '#testing/mail-server.ts'
import { mockVendor } from '#testing/mock-vendor.ts'
import { startStripeAccount, TEST_KEY } from '#testing/stripe-account.ts'

/** Tests of saved settings need SQLite: with DATABASE_URL nothing is saved. */
const onSqlite = { skip: ON_POSTGRES }

async function restart(app: TestApp, root: { post: TestApp['post'] }) {
  const reply = await root.post('/api/admin/setup/restart')
  assert.equal(reply.status, 202, reply.text)
  // The restart begins when the reply has left.
  for (let tries = 0; tries < 200; tries++) {
    await app.restarted()
    const state = await root.post('/api/admin/setup/restart').catch(() => null)
    if (state?.body?.code === 'nothing_to_apply') return reply.body.started_at as string
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the service did not restart')
}

test('a fresh service plays every part until a tested key replaces it', onSqlite, async (t) => {
  const stripe = await startStripeAccount(t)
  const app = await testApp(t, { worker: true, env: { STRIPE_API_BASE: stripe.url } })
  const root = await app.as('root', { superuser: true })
  const before = (await root.get('/api/admin/setup')).body
  assert.equal(before.payments.state, 'sandbox')
  assert.equal(before.mail.state, 'sandbox')
  assert.equal(before.models[0].state, 'sandbox')
  assert.deepEqual(before.pending, [])

  const saved = await root.post('/api/admin/setup/payments', { secret_key: TEST_KEY })
  assert.equal(saved.status, 200, saved.text)
  assert.deepEqual(saved.body, {
    account: { name: 'Zebra Ltd', country: 'DE', can_charge: true },
    lines: [],
  })
  const pending = (await root.get('/api/admin/setup')).body
  assert.deepEqual(pending.pending, ['STRIPE_SECRET_KEY'])
  assert.equal(pending.payments.state, 'test')
  assert.deepEqual([before.payments.is_saved, pending.payments.is_saved], [false, true])
  assert.equal(app.config.processor.sandboxed, true, 'the running service is unchanged')

  const startedAt = await restart(app, root)
  const after = (await root.get('/api/admin/setup')).body
  assert.deepEqual(after.pending, [])
  assert.ok(after.started_at > startedAt || after.started_at !== before.started_at)
  assert.equal(app.config.processor.secretKey, TEST_KEY)
  assert.equal((await root.get('/api/users/me')).status, 200, 'the session goes on')

  const removed = await root.request('DELETE', '/api/admin/setup/payments')
  assert.equal(removed.status, 200, removed.text)
  assert.equal(existsSync(settingsPath(app.dataDir)), false)
  assert.deepEqual((await root.get('/api/admin/setup')).body.pending, ['STRIPE_SECRET_KEY'])
})

test(
  'a public service gets its webhook endpoints; older ones at its addresses are disabled',
  onSqlite,
  async (t) => {
    const stripe = await startStripeAccount(t)
    stripe.endpoints.push(
      {
        id: 'we_old',
        url: 'https://app.example.com/api/billing/webhook',
        status: 'enabled',
        enabled_events: [],
      },
      {
        id: 'we_other',
        url: 'https://other.example.com/api/billing/webhook',
        status: 'enabled',
        enabled_events: [],
      },
    )
    const app = await testApp(t, {
      worker: true,
      env: {
        STRIPE_API_BASE: stripe.url,
        BASE_URL: 'https://app.example.com',
        STOREFRONT_URL: 'https://shop.example.com',
      },
    })
    const root = await app.as('root', { superuser: true })
    assert.equal((await root.get('/api/admin/setup')).body.payments.state, 'off')
    const saved = await root.post('/api/admin/setup/payments', { secret_key: TEST_KEY })
    assert.equal(saved.status, 200, saved.text)
    assert.deepEqual(
      stripe.endpoints.map(({ id, url, status }) => [id, new URL(url).host, status]),
      [
        ['we_old', 'app.example.com', 'disabled'],
        ['we_other', 'other.example.com', 'enabled'],
        ['we_3', 'app.example.com', 'enabled'],
        ['we_4', 'shop.example.com', 'enabled'],
      ],
    )
    assert.ok(stripe.endpoints[2]?.enabled_events.includes('customer.subscription.updated'))
    const file = JSON.parse(readFileSync(settingsPath(app.dataDir), 'utf8'))
    assert.equal(file.STRIPE_WEBHOOK_SECRET, 'whsec_we_3_secret,whsec_we_4_secret')
  },
)

test(
  'prices of plans are created once, under one product, and leave with a key that lacks them',
  onSqlite,
  async (t) => {
    const stripe = await startStripeAccount(t)
    const app = await testApp(t, { worker: true, env: { STRIPE_API_BASE: stripe.url } })
    const root = await app.as('root', { superuser: true })
    const prices = [
      { tier: 'pro', interval: 'year', amount: 29_000 },
      { tier: 'pro', interval: 'month', amount: 2_900 },
    ]
    const early = await root.post('/api/admin/setup/plans', { currency: 'eur', prices })
    assert.equal(early.body.code, 'payments_not_set_up')
    await root.post('/api/admin/setup/payments', { secret_key: TEST_KEY })
    const unknown = await root.post('/api/admin/setup/plans', {
      currency: 'eur',
      prices: [{ tier: 'gold', interval: 'month', amount: 100 }],
    })
    assert.equal(unknown.body.code, 'plan_not_found')
    const saved = await root.post('/api/admin/setup/plans', { currency: 'eur', prices })
    assert.equal(saved.status, 200, saved.text)
    assert.deepEqual(
      stripe.prices.map((price) => [
        price.unit_amount,
        price['recurring[interval]'],
        price.product,
      ]),
      [
        ['2900', 'month', 'prod_price_1'],
        ['29000', 'year', 'prod_price_1'],
      ],
    )
    const { plans } = (await root.get('/api/admin/setup')).body
    assert.deepEqual(plans.plans[0].prices, { month: true, year: true })
    assert.deepEqual(plans.plans[1].prices, { month: false, year: false })

    stripe.prices.splice(0, 1)
    await root.post('/api/admin/setup/payments', { secret_key: TEST_KEY })
    const left = (await root.get('/api/admin/setup')).body.plans.plans[0].prices
    assert.deepEqual(left, { month: false, year: true })
  },
)

test('the key of a model is tested by one short call', onSqlite, async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { worker: true, env: { OPENAI_BASE_URL: `${vendor.url}/v1` } })
  const root = await app.as('root', { superuser: true })
  const saved = await root.post('/api/admin/setup/models', {
    vendor: 'openai',
    api_key: 'sk-of-this-test',
  })
  assert.equal(saved.status, 200, saved.text)
  assert.equal(vendor.calls.length, 1)
  assert.equal(vendor.calls[0]?.headers.authorization, 'Bearer sk-of-this-test')
  assert.equal(vendor.calls[0]?.body.model, saved.body.model)
  assert.match(JSON.stringify(vendor.calls[0]?.body), /"max_(completion_)?tokens":16\b/)
  assert.deepEqual((await root.get('/api/admin/setup')).body.pending, ['OPENAI_API_KEY'])
  await restart(app, root)
  assert.equal(app.config.ai.vendors.openai?.apiKey, 'sk-of-this-test')
  const nobody = await root.post('/api/admin/setup/models', {
    vendor: 'nobody',
    api_key: 'sk-of-this-test',
  })
  assert.equal(nobody.body.code, 'vendor_not_found')
})

test(
  'a mail server is saved after it has taken a test email to the superuser',
  onSqlite,
  async (t) => {
    const server = await startMailServer()
    t.after(() => server.stop())
    const app = await testApp(t, { worker: true })
    const root = await app.as('root', { superuser: true })
    const saved = await root.post('/api/admin/setup/mail', {
      host: '127.0.0.1',
      port: Number(new URL(server.url).port),
      encryption: 'starttls',
      from_name: 'Zebra',
      from_address: 'hello@zebra.example',
    })
    assert.equal(saved.status, 200, saved.text)
    assert.deepEqual(saved.body, { sent_to: root.email, lines: [] })
    assert.deepEqual(server.to, [root.email])
    const { mail } = (await root.get('/api/admin/setup')).body
    assert.deepEqual(mail, {
      state: 'on',
      host: new URL(server.url).host,
      sender: 'Zebra <hello@zebra.example>',
      is_saved: true,
      fixed_by: null,
    })
    // The notice goes by the former way, which is the sandbox's mailbox here.
    const [notice] = await app.mail(root.email)
    assert.equal(notice?.subject, 'Settings of your service were changed')
    assert.match(notice?.text ?? '', /What: SMTP_URL, MAIL_FROM/)
    const { emails } = (await root.get(`/api/admin/emails?user_id=${root.userId}`)).body
    assert.equal(emails[0].subject, notice?.subject)
  },
)

test('a service with DATABASE_URL or of several processes gets lines for its environment', async (t) => {
  const stripe = await startStripeAccount(t)
  // On SQLite, jobs run in another process here.
  const app = await testApp(t, { worker: onSqlite.skip, env: { STRIPE_API_BASE: stripe.url } })
  const root = await app.as('root', { superuser: true })
  assert.equal((await root.get('/api/admin/setup')).body.is_stored, false)
  const { body } = await root.post('/api/admin/setup/payments', { secret_key: TEST_KEY })
  assert.deepEqual(body.lines, [{ name: 'STRIPE_SECRET_KEY', value: TEST_KEY }])
  assert.equal(existsSync(settingsPath(app.dataDir)), false)
  assert.equal((await root.post('/api/admin/setup/restart')).body.code, 'nothing_to_apply')
})
