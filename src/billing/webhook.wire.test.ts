import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Stripe } from 'stripe'
import { type TestApp, testApp } from '#testing/app.ts'
import { freshDatabaseUrl } from '#testing/database.ts'
import { createShop, PRICES } from '#testing/shop.ts'

const CUSTOMER = 'cus_unknownToTheProcessor'
const SUBSCRIPTION = 'sub_unknownToTheProcessor'

/** A user with a customer that the processor lacks, so that only events count. */
async function untold(t: Parameters<typeof testApp>[0]) {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const now = async () => {
    const { status, tier, processor_customer_id } = await shop.subscription(ada)
    return { status, tier, customer: processor_customer_id }
  }
  const subscription = (status: string, price: string = PRICES.pro) => ({
    id: SUBSCRIPTION,
    object: 'subscription',
    customer: CUSTOMER,
    status,
    items: { object: 'list', data: [{ price: { id: price } }] },
  })
  const completed = (more: object = {}) => ({
    type: 'checkout.session.completed',
    object: {
      id: 'cs_1',
      object: 'checkout.session',
      mode: 'subscription',
      payment_status: 'paid',
      customer: CUSTOMER,
      subscription: SUBSCRIPTION,
      client_reference_id: ada.userId,
      line_items: { data: [{ price: { id: PRICES.pro } }] },
      ...more,
    },
  })
  const failed = {
    type: 'invoice.payment_failed',
    object: {
      id: 'in_1',
      object: 'invoice',
      customer: CUSTOMER,
      parent: { subscription_details: { subscription: SUBSCRIPTION } },
    },
  }
  return { app, shop, ada, now, subscription, completed, failed }
}

const CANCELLED = { status: 'cancelled', tier: 'free', customer: CUSTOMER }
const ACTIVE = { status: 'active', tier: 'pro', customer: CUSTOMER }

test('SPEC events: completed makes active, failed makes past due, updated follows, deleted makes cancelled and free', async (t) => {
  const { shop, now, subscription, completed, failed } = await untold(t)
  const received = await shop.send(completed())
  assert.deepEqual([received.status, received.body], [200, { received: true }])
  assert.deepEqual(await now(), ACTIVE)
  await shop.send(failed)
  assert.deepEqual(await now(), { ...ACTIVE, status: 'past_due' })
  await shop.send({
    type: 'customer.subscription.updated',
    object: subscription('active', PRICES.enterprise),
  })
  assert.deepEqual(await now(), { ...ACTIVE, tier: 'enterprise' })
  await shop.send({ type: 'customer.subscription.deleted', object: subscription('canceled') })
  assert.deepEqual(await now(), CANCELLED)
})

test('maps every processor status as the contract requires', async (t) => {
  const { shop, now, subscription, completed } = await untold(t)
  await shop.send(completed())
  for (const [word, status, tier] of [
    ['trialing', 'active', 'pro'],
    ['past_due', 'past_due', 'pro'],
    ['unpaid', 'past_due', 'free'],
    ['trialing', 'active', 'pro'],
    ['paused', 'past_due', 'free'],
    ['incomplete', 'past_due', 'free'],
    ['active', 'active', 'pro'],
    ['incomplete_expired', 'cancelled', 'free'],
  ] as const) {
    await shop.send({ type: 'customer.subscription.updated', object: subscription(word) })
    assert.deepEqual(await now(), { status, tier, customer: CUSTOMER }, word)
  }
})

test('accepts the signature in either header', async (t) => {
  const { shop, now, completed } = await untold(t)
  assert.equal((await shop.send(completed(), { header: 'processor-signature' })).status, 200)
  assert.deepEqual(await now(), ACTIVE)
})

test('a forged, missing, foreign, old or malformed signature changes nothing', async (t) => {
  const { app, shop, now, completed } = await untold(t)
  const at = Math.floor(app.clock.ms() / 1000)
  for (const [what, how] of Object.entries({
    'no signature': { signature: null },
    'a wrong secret': { secret: 'whsec_other' },
    "the storefront's secret": { secret: app.config.processor.storefrontWebhookSecret ?? '' },
    'an old timestamp': { at: at - 301 },
    'no timestamp': { signature: 'v1=abc' },
    garbage: { signature: 'garbage' },
    'an empty secret': { secret: 'whsec_' },
  })) {
    const reply = await shop.send(completed(), how)
    assert.deepEqual(
      [reply.status, reply.body],
      [400, { detail: 'Invalid signature', code: 'invalid_signature' }],
      what,
    )
  }
  assert.deepEqual(await now(), { status: 'free', tier: 'free', customer: null })
})

test('events have rate headers and are never rate-limited', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_GENERAL: '2/60' } })
  const shop = createShop(app)
  const replies = []
  for (let n = 0; n < 4; n++) replies.push(await shop.send({ type: 'ping', object: {} }))
  assert.deepEqual(
    replies.map(({ status, headers }) => [
      status,
      headers.get('ratelimit-limit'),
      headers.get('ratelimit-remaining'),
    ]),
    [
      [200, '2', '1'],
      [200, '2', '0'],
      [200, '2', '0'],
      [200, '2', '0'],
    ],
  )
  const forged = await shop.send({ type: 'ping', object: {} }, { signature: 'garbage' })
  assert.equal(forged.status, 400)
  assert.ok(Number(forged.headers.get('ratelimit-reset')) > 0)
})

test('rejects a signed payload whose bytes were changed', async (t) => {
  const { app, shop, completed } = await untold(t)
  const original = JSON.stringify({ id: 'evt_1', type: 'x', created: 1, data: { object: {} } })
  const { Stripe } = await import('stripe')
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload: original,
    secret: app.config.processor.webhookSecret ?? '',
    timestamp: Math.floor(app.clock.ms() / 1000),
  })
  assert.equal((await shop.sendRaw(original, { signature })).status, 200)
  for (const changed of [
    original.replace('evt_1', 'evt_2'),
    `${original} `,
    original.replace('{', '{ '),
  ]) {
    assert.equal((await shop.sendRaw(changed, { signature })).status, 400)
  }
  assert.equal((await shop.send(completed())).status, 200)
})

test('rejects a signed payload that is no event', async (t) => {
  const { shop } = await untold(t)
  for (const payload of [
    '',
    'no json',
    '[]',
    'null',
    '"text"',
    '{}',
    '{"id":"evt_1","type":"x"}',
    '{"id":1,"type":"x","data":{"object":{}}}',
  ]) {
    const reply = await shop.sendRaw(payload)
    assert.deepEqual(
      [reply.status, reply.body],
      [400, { detail: 'Invalid payload', code: 'invalid_payload' }],
      payload,
    )
  }
})

test('accepts and ignores other types and unknown customers', async (t) => {
  const { shop, now, completed, subscription } = await untold(t)
  for (const event of [
    { type: 'product.updated', object: { id: 'prod_1', object: 'product' } },
    { type: 'charge.refunded', object: { id: 'ch_1', object: 'charge', customer: CUSTOMER } },
    completed({ client_reference_id: crypto.randomUUID() }),
    completed({ client_reference_id: "'; drop table users; --" }),
    { type: 'customer.subscription.updated', object: subscription('active') },
    { type: 'invoice.payment_failed', object: { id: 'in_2', customer: CUSTOMER } },
  ]) {
    assert.deepEqual((await shop.send(event)).body, { received: true }, event.type)
  }
  assert.deepEqual(await now(), { status: 'free', tier: 'free', customer: null })
})

test('a one-time payment and an unpaid checkout activate nobody', async (t) => {
  const { shop, now, completed } = await untold(t)
  await shop.send(completed({ mode: 'payment', subscription: null, payment_intent: 'pi_1' }))
  assert.equal((await now()).status, 'free')
  await shop.send(completed({ payment_status: 'unpaid' }))
  assert.equal((await now()).status, 'free')
  await shop.send({ ...completed(), type: 'checkout.session.async_payment_succeeded' })
  assert.deepEqual(await now(), ACTIVE)
})

test('reads a checkout’s prices from the processor; without prices only the status changes', async (t) => {
  const { shop, ada, now, completed } = await untold(t)
  const bare = { line_items: undefined, metadata: {} }
  await shop.send(completed(bare))
  assert.deepEqual(await now(), { status: 'active', tier: 'free', customer: CUSTOMER })

  const opened = await ada.post(
    `/api/billing/create-checkout-session?price_id=${PRICES.enterprise}`,
  )
  assert.equal(opened.status, 200)
  const session = (await shop.processor.checkout.sessions.list({ limit: 1 })).data[0]
  const { processor_customer_id: customer } = await shop.subscription(ada)
  await shop.send(completed({ ...bare, id: session?.id, customer }))
  assert.deepEqual(await now(), { status: 'active', tier: 'enterprise', customer })
})

test('finds the user by metadata when there is no reference', async (t) => {
  const { shop, ada, now, completed } = await untold(t)
  await shop.send(completed({ client_reference_id: null, metadata: { user_id: ada.userId } }))
  assert.deepEqual(await now(), ACTIVE)
})

test('an event delivered twice, or a hundred times at once, counts once', async (t) => {
  const { app, shop, now, completed, subscription } = await untold(t)
  const event = { id: 'evt_same', ...completed() }
  const replies = await Promise.all(Array.from({ length: 20 }, () => shop.send(event)))
  assert.ok(replies.every((reply) => reply.status === 200))
  await shop.send({ type: 'customer.subscription.deleted', object: subscription('canceled') })

  assert.equal((await shop.send(event)).status, 200)
  assert.deepEqual(await now(), CANCELLED, 'a replay revives nothing')
  const rows = await app.platform.db
    .selectFrom('inbox')
    .select('event_id')
    .where('event_id', '=', 'evt_same')
    .execute()
  assert.equal(rows.length, 1)
})

test('the newest event wins in every order of arrival', async (t) => {
  const { app, shop, now, subscription, completed } = await untold(t)
  const start = Math.floor(app.clock.ms() / 1000)
  await shop.send({ ...completed(), created: start })
  await shop.send({
    type: 'customer.subscription.deleted',
    object: subscription('canceled'),
    created: start + 20,
  })
  await shop.send({
    type: 'customer.subscription.updated',
    object: subscription('active'),
    created: start + 10,
  })
  assert.deepEqual(await now(), CANCELLED)
  await shop.send({
    type: 'customer.subscription.updated',
    object: subscription('active'),
    created: start + 20,
  })
  assert.deepEqual(await now(), CANCELLED, 'within one second the end wins')

  const again = { ...subscription('active'), id: 'sub_another' }
  await shop.send({ type: 'customer.subscription.created', object: again, created: start + 30 })
  assert.deepEqual(await now(), ACTIVE, 'another subscription begins anew')
})

test('the processor’s state overrides the event', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const { processor_customer_id: customer } = await shop.subscribe(ada)
  const { id } = await shop.readSubscription(ada)
  const claim = (type: string, status: string) => ({
    type,
    object: { id, customer, status, items: { data: [{ price: { id: PRICES.enterprise } }] } },
  })

  await shop.send(claim('customer.subscription.deleted', 'canceled'))
  await shop.send(claim('customer.subscription.updated', 'past_due'))
  await shop.send({
    type: 'invoice.payment_failed',
    object: { id: 'in_x', customer, parent: { subscription_details: { subscription: id } } },
  })
  assert.deepEqual(await shop.subscription(ada), {
    status: 'active',
    tier: 'pro',
    processor_customer_id: customer,
  })
})

test('a full history, delivered twice in any order, ends in the processor’s state', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await shop.portal(ada, 'change-plan', { price: PRICES.enterprise })
  await shop.portal(ada, 'renew-badly')
  const events = (await shop.processor.events.list({ limit: 100 })).data
  const relevant = events.filter((event) =>
    /^(checkout|customer\.subscription|invoice)/.test(event.type),
  )
  assert.ok(relevant.length > 8)

  await app.platform.db.deleteFrom('inbox').execute()
  const shuffled = [...relevant, ...relevant]
    .map((event, index) => ({ event, key: (index * 7919) % 101 }))
    .sort((a, b) => a.key - b.key)
  await Promise.all(
    shuffled.map(({ event }) =>
      shop.send({
        id: event.id,
        type: event.type,
        object: event.data.object,
        created: event.created,
      }),
    ),
  )
  const { status, tier } = await shop.subscription(ada)
  assert.deepEqual({ status, tier }, { status: 'past_due', tier: 'enterprise' })
})

test('late events of an earlier customer do not affect the present one', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const { processor_customer_id: first } = await shop.subscribe(ada)
  const old = await shop.readSubscription(ada)
  await shop.processor.customers.del(first ?? '')
  const { processor_customer_id: second } = await shop.subscribe(ada, { price: PRICES.enterprise })
  assert.notEqual(second, first)

  const metadata = { user_id: ada.userId }
  const hour = 3_600
  const created = Math.floor(app.clock.ms() / 1000) - 2 * hour
  await shop.send({ type: 'customer.subscription.deleted', object: { ...old, metadata } })
  await shop.send({
    type: 'customer.subscription.updated',
    object: { ...old, id: 'sub_lost', status: 'past_due', metadata },
  })
  await shop.send({
    type: 'checkout.session.completed',
    object: { id: 'cs_old', mode: 'subscription', customer: first, subscription: old.id, metadata },
    created,
  })
  assert.deepEqual(await shop.subscription(ada), {
    status: 'active',
    tier: 'enterprise',
    processor_customer_id: second,
  })
})

test('stores an event that cannot be handled yet and handles it later', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const { id } = await shop.readSubscription(ada)
  const restore = breakProcessor(app)
  const reply = await shop.send({
    id: 'evt_late',
    type: 'customer.subscription.updated',
    object: { id, customer: 'cus_other', metadata: { user_id: ada.userId } },
  })
  assert.deepEqual([reply.status, reply.body], [200, { received: true }])
  const pending = () =>
    app.platform.db
      .selectFrom('inbox')
      .select('handled_at')
      .where('event_id', '=', 'evt_late')
      .executeTakeFirstOrThrow()
  assert.equal((await pending()).handled_at, null)

  restore()
  app.clock.advance(11_000)
  await app.settle()
  assert.notEqual((await pending()).handled_at, null)
})

test('rejects a body over a megabyte before reading it', async (t) => {
  const { shop } = await untold(t)
  assert.equal((await shop.sendRaw(`{"a":"${'x'.repeat(1_100_000)}"}`)).status, 413)
})

/**
 * Makes every call to the sandbox's processor fail, as in an outage; returns a function that ends
 * it.
 */
function breakProcessor(app: TestApp): () => void {
  const api = app.service.api
  assert.ok(api)
  let broken = true
  const { server } = api
  const [listener] = server.listeners('request') as ((...args: unknown[]) => void)[]
  assert.ok(listener)
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    if (broken && request.url?.startsWith('/sandbox/stripe/')) {
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"error":{"type":"api_error","message":"outage"}}')
      return
    }
    listener(request, response)
  })
  return () => {
    broken = false
  }
}

const PAYLOAD = JSON.stringify({
  id: 'evt_1',
  object: 'event',
  type: 'x.y',
  data: { object: { id: 'obj' } },
})

function sendSigned(app: TestApp, secret: string, headers: Record<string, string> = {}) {
  return app.request('POST', '/api/billing/webhook', {
    body: PAYLOAD,
    headers: {
      'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload: PAYLOAD, secret }),
      'content-type': 'application/json',
      ...headers,
    },
  })
}

test('every data folder has separate, permanent sandbox secrets', async (t) => {
  const seen = new Set<string>()
  for (const folder of ['one', 'another']) {
    await t.test(folder, async (t) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-test-'))
      const { url: databaseUrl, drop } = await freshDatabaseUrl()
      const app = await testApp(t, { onData: { dataDir, databaseUrl } })
      t.after(drop)
      t.after(() => rmSync(dataDir, { recursive: true, force: true }))
      const { webhookSecret, storefrontWebhookSecret } = app.config.processor
      for (const secret of [webhookSecret ?? '', storefrontWebhookSecret ?? '']) {
        assert.match(secret, /^whsec_sandbox_[\w-]{43}$/)
        seen.add(secret)
      }
      await app.restart()
      assert.equal(app.config.processor.webhookSecret, webhookSecret)
      assert.equal((await sendSigned(app, webhookSecret ?? '')).status, 200)
      assert.equal((await sendSigned(app, 'whsec_sandbox_billing')).status, 400)
    })
  }
  assert.equal(seen.size, 4)
})

for (const sandbox of ['auto', 'on']) {
  test(`with SANDBOX=${sandbox} accepts sandbox events only from this machine`, async (t) => {
    const app = await testApp(t, { env: { SANDBOX: sandbox } })
    const secret = app.config.processor.webhookSecret ?? ''
    for (const name of ['x-forwarded-for', 'x-real-ip', 'via', 'cf-ray', 'forwarded']) {
      assert.equal((await sendSigned(app, secret, { [name]: '127.0.0.1' })).status, 403, name)
    }
    assert.equal((await sendSigned(app, secret)).status, 200)
  })
}

test('accepts events of a real processor from anywhere', async (t) => {
  const app = await testApp(t, {
    env: { STRIPE_SECRET_KEY: 'sk_test_x', STRIPE_WEBHOOK_SECRET: 'whsec_own' },
  })
  assert.equal(
    (await sendSigned(app, 'whsec_own', { 'x-forwarded-for': '203.0.113.9' })).status,
    200,
  )
})
