// A stranger, a customer, a leaked API key, a forgotten session and hostile servers against the
// setup page, which decides where money and email go.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { settingsPath } from '#config/settings-file.ts'
import { HOUR_MS } from '#platform/clock.ts'
import { testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'
import { READ_ONLY_KEY, startStripeAccount, TEST_KEY } from '#testing/stripe-account.ts'

const MAIL = {
  host: '127.0.0.1',
  port: 1,
  encryption: 'starttls',
  from_address: 'hello@example.com',
}
/** With DATABASE_URL nothing is saved. */
const storing = { skip: ON_POSTGRES }

const CHANGES = [
  ['POST', '/api/admin/setup/payments', { secret_key: TEST_KEY }],
  ['DELETE', '/api/admin/setup/payments', undefined],
  [
    'POST',
    '/api/admin/setup/plans',
    { currency: 'usd', prices: [{ tier: 'pro', interval: 'month', amount: 1 }] },
  ],
  ['POST', '/api/admin/setup/models', { vendor: 'openai', api_key: 'sk-of-a-thief' }],
  ['DELETE', '/api/admin/setup/models?vendor=openai', undefined],
  ['POST', '/api/admin/setup/mail', MAIL],
  ['DELETE', '/api/admin/setup/mail', undefined],
  ['POST', '/api/admin/setup/restart', undefined],
] as const

test('only a superuser who has just signed in reads or changes the setup', async (t) => {
  const stripe = await startStripeAccount(t)
  const app = await testApp(t, { worker: true, env: { STRIPE_API_BASE: stripe.url } })
  const root = await app.as('root', { superuser: true })
  const eve = await app.as('eve', { tier: 'pro' })
  const { key } = (await root.post('/api/api-keys', { name: 'laptop' })).body
  const leaked = { headers: { authorization: `Bearer ${key}` } }

  assert.equal((await app.get('/api/admin/setup')).status, 401)
  assert.equal((await eve.get('/api/admin/setup')).status, 403)
  assert.equal((await app.get('/api/admin/setup', leaked)).status, 401)
  for (const [method, path, body] of CHANGES) {
    const request = body === undefined ? {} : { body }
    assert.equal((await app.request(method, path, request)).status, 401, path)
    assert.equal((await eve.request(method, path, request)).status, 403, path)
    assert.equal((await app.request(method, path, { ...request, ...leaked })).status, 401, path)
  }
  app.clock.advance(HOUR_MS / 4)
  const forgotten = await app.request('POST', '/api/auth/refresh', {
    body: { refresh_token: root.refreshToken },
  })
  const old = { headers: { authorization: `Bearer ${forgotten.body.access_token}` } }
  assert.equal((await app.get('/api/admin/setup', old)).status, 200)
  for (const [method, path, body] of CHANGES) {
    const reply = await app.request(method, path, { ...(body && { body }), ...old })
    assert.equal(reply.body.code, 'fresh_sign_in_required', `${path}: ${reply.text}`)
  }
  assert.deepEqual([...stripe.keys], [], 'nobody reached the processor')
  assert.equal(existsSync(settingsPath(app.dataDir)), false)
})

test('no reply, audit entry, notice or log line contains a saved secret', storing, async (t) => {
  const logged: string[] = []
  const { pino } = await import('pino')
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
  const stripe = await startStripeAccount(t)
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    worker: true,
    log,
    env: { STRIPE_API_BASE: stripe.url, OPENAI_BASE_URL: `${vendor.url}/v1` },
  })
  const root = await app.as('root', { superuser: true })
  const webhook_secret = 'whsec_hidden0from0replies'
  const replies = [
    await root.post('/api/admin/setup/payments', { secret_key: TEST_KEY, webhook_secret }),
    await root.post('/api/admin/setup/models', {
      vendor: 'openai',
      api_key: 'sk-hidden-from-replies',
    }),
    await root.post('/api/admin/setup/payments', { secret_key: 'sk_live_hiddenButWrongKey' }),
    await root.get('/api/admin/setup'),
    await root.get('/api/admin/audit'),
  ]
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 422, 200, 200],
  )
  assert.match(replies[4]?.text ?? '', /settings\.saved/)
  const mails = await app.mail(root.email)
  assert.ok(mails.some(({ subject }) => subject.startsWith('Settings')))
  const seen = [...replies.map(({ text }) => text), JSON.stringify(mails), ...logged].join('\n')
  for (const secret of [
    TEST_KEY,
    webhook_secret,
    'sk-hidden-from-replies',
    'sk_live_hiddenButWrongKey',
  ])
    assert.ok(!seen.includes(secret), `${secret} was shown`)
})

test('a rejected key changes nothing, and its reason is the processor’s', async (t) => {
  const stripe = await startStripeAccount(t)
  const app = await testApp(t, {
    worker: true,
    env: {
      STRIPE_API_BASE: stripe.url,
      BASE_URL: 'https://app.example.com',
      STOREFRONT_URL: 'https://shop.example.com',
    },
  })
  const root = await app.as('root', { superuser: true })
  const pay = (secret_key: string) => root.post('/api/admin/setup/payments', { secret_key })
  assert.equal((await pay('sk_test_aKeyOfNobody')).body.code, 'processor_key_refused')
  const mayOnlyRead = await pay(READ_ONLY_KEY)
  assert.equal(mayOnlyRead.body.code, 'webhooks_refused')
  assert.match(mayOnlyRead.body.detail, /This key may not do that/)
  for (const malformed of [
    'pk_test_publishable00',
    'sk_test_a\nPORT=1',
    'sk_test_"; rm -rf /',
    'whsec_12345678',
  ])
    assert.equal((await pay(malformed)).status, 422, malformed)
  assert.equal(existsSync(settingsPath(app.dataDir)), false)
})

test('the environment decides, so a superuser cannot redirect its money', async (t) => {
  const stripe = await startStripeAccount(t)
  const app = await testApp(t, {
    worker: true,
    env: {
      STRIPE_API_BASE: stripe.url,
      STRIPE_SECRET_KEY: 'sk_test_ofTheEnvironment',
      STRIPE_WEBHOOK_SECRET: 'whsec_ofTheEnvironment',
      OPENAI_API_KEY: 'sk-of-the-environment',
      SMTP_URL: 'smtp://127.0.0.1:1',
    },
  })
  const root = await app.as('root', { superuser: true })
  for (const [path, body, setting] of [
    ['payments', { secret_key: TEST_KEY }, 'STRIPE_SECRET_KEY'],
    ['models', { vendor: 'openai', api_key: 'sk-of-a-thief' }, 'OPENAI_API_KEY'],
    ['mail', MAIL, 'SMTP_URL'],
  ] as const) {
    const reply = await root.post(`/api/admin/setup/${path}`, body)
    assert.equal(reply.status, 409, reply.text)
    assert.equal(reply.body.code, 'setting_in_environment')
    assert.match(reply.body.detail, new RegExp(setting))
  }
  const state = (await root.get('/api/admin/setup')).body
  assert.equal(state.payments.fixed_by, 'STRIPE_SECRET_KEY')
  assert.deepEqual([...stripe.keys], [])
})

test('a vendor that rejects the key or echoes it shows nothing of it', storing, async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { worker: true, env: { OPENAI_BASE_URL: `${vendor.url}/v1` } })
  const root = await app.as('root', { superuser: true })
  const ask = () =>
    root.post('/api/admin/setup/models', { vendor: 'openai', api_key: 'sk-echoedByTheVendor' })
  const fail = (status: number) => (_call: unknown, reply: import('node:http').ServerResponse) => {
    const error = { message: 'Wrong key: sk-echoedByTheVendor', type: 'invalid_request_error' }
    reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  }
  for (const status of [401, 400, 500, 429]) {
    vendor.play(fail(status))
    const reply = await ask()
    assert.equal(vendor.calls.length, 1, 'nothing is retried')
    assert.equal(reply.body.code, 'vendor_test_failed', reply.text)
    assert.doesNotMatch(reply.text, /sk-echoed/)
  }
  vendor.play(says('Hello'))
  assert.equal((await ask()).status, 200)
  for (const api_key of [
    'sk-two,sk-keys',
    'sk-with space',
    'sk-line\nPORT=1',
    'sk-"quoted"',
    'short',
  ])
    assert.equal(
      (await root.post('/api/admin/setup/models', { vendor: 'openai', api_key })).status,
      422,
    )
  const file = JSON.parse(readFileSync(settingsPath(app.dataDir), 'utf8'))
  assert.deepEqual(file, { OPENAI_API_KEY: 'sk-echoedByTheVendor' })
})

test('simultaneous changes keep each other’s settings', storing, async (t) => {
  const stripe = await startStripeAccount(t)
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    worker: true,
    env: {
      STRIPE_API_BASE: stripe.url,
      OPENAI_BASE_URL: `${vendor.url}/v1`,
      ANTHROPIC_BASE_URL: vendor.url,
    },
  })
  const root = await app.as('root', { superuser: true })
  const replies = await Promise.all([
    root.post('/api/admin/setup/payments', { secret_key: TEST_KEY }),
    root.post('/api/admin/setup/models', { vendor: 'openai', api_key: 'sk-first-of-two' }),
    root.post('/api/admin/setup/models', { vendor: 'anthropic', api_key: 'sk-second-of-two' }),
  ])
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200],
  )
  const names = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'STRIPE_SECRET_KEY']
  assert.deepEqual((await root.get('/api/admin/setup')).body.pending, names)
})

test('after the sandbox has played days ahead, a real processor is refused', async (t) => {
  const stripe = await startStripeAccount(t)
  const app = await testApp(t, { worker: true, env: { STRIPE_API_BASE: stripe.url } })
  app.clock.advance(48 * HOUR_MS)
  const root = await app.as('root', { superuser: true })
  const reply = await root.post('/api/admin/setup/payments', { secret_key: TEST_KEY })
  assert.equal(reply.body.code, 'played_clock_ahead')
  assert.match(reply.body.detail, /2 days/)
})
