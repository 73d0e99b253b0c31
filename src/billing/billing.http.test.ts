import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { PASSWORD, testApp } from '#testing/app.ts'
import {
  createShop,
  DECLINED_CARD,
  FAILS_AT_RENEWAL,
  failToMake,
  GOOD_CARD,
  loseEvents,
  PRICES,
  SLOW_DEBIT,
} from '#testing/shop.ts'
import { openCheckout } from './checkout.ts'
import type { SyncRequest } from './deps.ts'
import type { Processor } from './processor.ts'
import { RECONCILE_JOB } from './reconciliation.ts'
import { singleFlight } from './single-flight.ts'
import { syncUser } from './sync.ts'

const free = { status: 'free', tier: 'free' }
const pro = { status: 'active', tier: 'pro' }
const pickState = ({ status, tier }: { status: string; tier: string }) => ({ status, tier })

test('SPEC billing: plans are public, with price ids and amounts', async (t) => {
  const app = await testApp(t)
  const { status, body } = await app.get('/api/billing/plans')
  assert.equal(status, 200)
  const [none, pro, enterprise] = body.plans
  assert.deepEqual([none.tier, none.price], ['free', 0])
  assert.deepEqual(
    [pro.tier, pro.price, pro.price_monthly, pro.price_yearly],
    ['pro', 29, PRICES.pro, PRICES.proYearly],
  )
  assert.deepEqual(
    [enterprise.tier, enterprise.price, enterprise.currency],
    ['enterprise', 99, 'usd'],
  )
  for (const plan of body.plans) assert.ok(plan.name && plan.features.length > 0)
})

test('plans list token budgets only if set, and the actual number of vendors', async (t) => {
  const featuresOf = async (env: Record<string, string>) => {
    const app = await testApp(t, { env })
    const { plans } = (await app.get('/api/billing/plans')).body
    return plans.map((plan: { features: string[] }) => plan.features.join(' | ')) as [
      string,
      string,
      string,
    ]
  }
  const bare = await featuresOf({ SANDBOX: 'off', ANTHROPIC_API_KEY: 'sk-x' })
  assert.doesNotMatch(bare.join(), /budget|tokens|team|vendors/i)
  const keys = { SANDBOX: 'off', ANTHROPIC_API_KEY: 'sk-x', GEMINI_API_KEY: 'x' }
  const [, pro, enterprise] = await featuresOf({ ...keys, BUDGET_ENTERPRISE_TOKENS: '5000000' })
  assert.match(pro, /with 2 model vendors/)
  assert.doesNotMatch(pro, /tokens a month/)
  assert.match(enterprise, /5,000,000 tokens a month/)
})

test('SPEC billing: everything except plans and the webhook requires a bearer token', async (t) => {
  const app = await testApp(t)
  for (const [method, path] of [
    ['POST', '/api/billing/create-checkout-session?price_id=x'],
    ['POST', '/api/billing/create-portal-session'],
    ['GET', '/api/billing/subscription'],
  ] as const) {
    const reply = await app.request(method, path)
    assert.deepEqual(
      [reply.status, reply.body.detail],
      [401, 'Could not validate credentials'],
      path,
    )
  }
})

test('creates the customer on a retry after the processor failed', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const checkOut = () => ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  const mend = failToMake(app, 'customer')
  for (let click = 0; click < 2; click++) assert.equal((await checkOut()).status, 503)
  mend()
  const replies = await Promise.all([checkOut(), checkOut()])
  for (const reply of replies) assert.equal(reply.status, 200, reply.text)
  assert.equal((await createShop(app).processor.customers.list()).data.length, 1)
})

test('SPEC billing: a new user has no subscription, no customer and no portal', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const { body } = await ada.get('/api/billing/subscription')
  assert.deepEqual([body.status, body.tier, body.processor_customer_id], ['free', 'free', null])
  const portal = await ada.post('/api/billing/create-portal-session')
  assert.deepEqual(
    [portal.status, portal.body],
    [400, { detail: 'No billing account found', code: 'no_billing_account' }],
  )
})

test('checkout rejects a missing and an unknown price', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const missing = await ada.post('/api/billing/create-checkout-session')
  assert.equal(missing.status, 422)
  assert.deepEqual(missing.body.detail[0].loc, ['query', 'price_id'])
  for (const price of ['price_nope', 'price_sandbox_store_pro']) {
    const reply = await ada.post(`/api/billing/create-checkout-session?price_id=${price}`)
    assert.deepEqual(
      [reply.status, reply.body],
      [400, { detail: 'Unknown price', code: 'unknown_price' }],
    )
  }
})

test('SPEC billing: checkout creates the customer from name and email, and the payment makes the user pro', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const { body } = await ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  const session = (await shop.processor.checkout.sessions.list({ limit: 1 })).data[0]
  assert.equal(session?.url, body.url)
  assert.equal(session?.success_url, `${app.config.urls.frontend}/dashboard?success=true`)
  assert.equal(session?.cancel_url, `${app.config.urls.frontend}/pricing?canceled=true`)

  const back = await shop.pay(body.url)
  assert.equal(back.headers.get('location'), `${app.config.urls.frontend}/dashboard?success=true`)
  const subscription = await shop.subscription(ada)
  assert.deepEqual(pickState(subscription), pro)
  const customer = await shop.processor.customers.retrieve(subscription.processor_customer_id ?? '')
  assert.ok(!customer.deleted)
  assert.deepEqual([customer.name, customer.email], ['ada', 'ada@example.com'])
  assert.deepEqual(
    [
      (await ada.get('/api/auth/me')).body.subscription_tier,
      (await ada.get('/api/auth/me')).body.subscription_status,
    ],
    ['pro', 'active'],
  )
})

test('accepts a JSON content type with an empty body', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const headers = { 'content-type': 'application/json' }
  const opened = await ada.request(
    'POST',
    `/api/billing/create-checkout-session?price_id=${PRICES.pro}`,
    { headers },
  )
  assert.equal(opened.status, 200, opened.text)
  const bodyless = await app.request('POST', '/api/auth/login', { headers })
  assert.deepEqual([bodyless.status, bodyless.body.detail[0].type], [422, 'missing'])
})

test('ten concurrent tabs create one customer', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const replies = await Promise.all(
    Array.from({ length: 10 }, () =>
      ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`),
    ),
  )
  assert.deepEqual(new Set(replies.map((reply) => reply.status)), new Set([200]))
  assert.equal((await shop.processor.customers.list()).data.length, 1)
})

test('receipts follow a new account address, but keep an address set in the portal', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const { processor_customer_id: id } = await shop.subscribe(ada)
  const address = async () => {
    await ada.post('/api/billing/create-portal-session')
    const customer = await shop.processor.customers.retrieve(id ?? '')
    return customer.deleted ? null : customer.email
  }
  await shop.processor.customers.update(id ?? '', { email: 'accounting@example.com' })
  assert.equal(await address(), 'accounting@example.com')
  await ada.post('/api/users/me/change-email', {
    new_email: 'lovelace@example.com',
    password: PASSWORD,
  })
  assert.equal(await address(), 'lovelace@example.com')
})

test('returns 502 for a price that the processor lacks, and keeps the customer', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const { processor_customer_id: id } = await shop.subscribe(ada)
  const prices = new Map([
    ...app.config.processor.prices,
    ['price_lost', { tier: 'pro', interval: 'month' }] as const,
  ])
  const { platform } = app
  const deps = {
    ...platform,
    config: { ...app.config, processor: { ...app.config.processor, prices } },
    processor: shop.processor,
    syncs: singleFlight<SyncRequest>(),
  }
  await assert.rejects(openCheckout(deps, ada.userId, { priceId: 'price_lost' }), { status: 502 })
  assert.equal((await shop.subscription(ada)).processor_customer_id, id)
})

test('of two nodes that read concurrently, the one that began first reads again', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const live = await shop.readSubscription(ada)

  const slow = Promise.withResolvers<void>()
  const canceled = async () => ({ data: [{ ...live, status: 'canceled' }] })
  const answers = [
    async () => {
      await slow.promise
      return { data: [live] }
    },
    canceled,
    canceled,
  ]
  const processor = { subscriptions: { list: () => answers.shift()?.() } } as unknown as Processor
  const node = () => ({ ...app.platform, processor, syncs: singleFlight<SyncRequest>() })
  const first = syncUser(node(), ada.userId)
  while (answers.length > 2) await new Promise((resolve) => setTimeout(resolve, 5))
  await syncUser(node(), ada.userId)
  slow.resolve()
  await first
  assert.equal(answers.length, 0)
  assert.deepEqual(pickState(await shop.subscription(ada)), { status: 'cancelled', tier: 'free' })
})

test('concurrent events of one customer cost two reads, and each is settled by a later read', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const live = await shop.readSubscription(ada)
  const first = Promise.withResolvers<void>()
  let readings = 0
  const list = async () => {
    if (++readings === 1) await first.promise
    return { data: [live] }
  }
  const processor = { subscriptions: { list } } as unknown as Processor
  const deps = { ...app.platform, processor, syncs: singleFlight<SyncRequest>() }
  const settled: number[] = []
  const ask = () =>
    syncUser(deps, ada.userId, {
      settle: { isEnough: () => true, write: async () => void settled.push(readings) },
    })
  const reads = [ask()]
  while (readings < 1) await new Promise((resolve) => setTimeout(resolve, 5))
  for (let more = 1; more < 20; more++) reads.push(ask())
  first.resolve()
  await Promise.all(reads)
  assert.equal(readings, 2)
  assert.deepEqual(settled, [1, ...Array(19).fill(2)])
})

test('replaces a customer deleted at the processor at the next checkout, and closes the portal', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const { processor_customer_id: first } = await shop.subscribe(ada)
  await shop.processor.customers.del(first ?? '')

  const portal = await ada.post('/api/billing/create-portal-session')
  assert.deepEqual([portal.status, portal.body.detail], [400, 'No billing account found'])
  const again = await shop.subscribe(ada, { price: PRICES.enterprise })
  assert.notEqual(again.processor_customer_id, first)
  assert.deepEqual(pickState(again), { status: 'active', tier: 'enterprise' })
})

test('SPEC billing: the portal returns to the dashboard', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const { status, body } = await ada.post('/api/billing/create-portal-session')
  assert.equal(status, 200)
  const page = await app.get(new URL(body.url).pathname)
  assert.match(page.text, /href="[^"]*\/dashboard"/)
})

test('follows a subscription through change, cancellation, resumption, failure, recovery, end and restart', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const now = async () => pickState(await shop.subscription(ada))
  await shop.subscribe(ada, { card: FAILS_AT_RENEWAL })

  await shop.portal(ada, 'cancel-at-end')
  const ending = (await ada.get('/api/billing/subscription')).body
  assert.deepEqual(
    [ending.status, ending.tier, ending.cancel_at_period_end],
    ['active', 'pro', true],
  )
  await shop.portal(ada, 'resume')
  assert.equal((await ada.get('/api/billing/subscription')).body.cancel_at_period_end, false)

  await shop.portal(ada, 'renew-well')
  assert.deepEqual(
    await now(),
    { status: 'past_due', tier: 'pro' },
    'keeps the tier while the processor retries',
  )
  await shop.portal(ada, 'card', { card: GOOD_CARD })
  await shop.portal(ada, 'retry')
  assert.deepEqual(await now(), pro)

  await shop.portal(ada, 'change-plan', { price: PRICES.enterprise })
  assert.deepEqual(await now(), { status: 'active', tier: 'enterprise' })
  await shop.portal(ada, 'cancel-now')
  assert.deepEqual(await now(), { status: 'cancelled', tier: 'free' })
  const again = await shop.subscribe(ada)
  assert.deepEqual(pickState(again), pro)
})

test('a failed payment keeps the tier during the grace period, and a later payment restores it', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada, { card: FAILS_AT_RENEWAL })
  const portal = new URL((await ada.post('/api/billing/create-portal-session')).body.url).pathname
  const { id } = await shop.readSubscription(ada)
  const press = (button: string, form = {}) =>
    shop.press(`${portal}/${button}`, { subscription: id, ...form })
  const key = (await ada.post('/api/api-keys', { name: 'laptop' })).body.key
  const asks = () =>
    app.request('GET', '/api/rag/documents', { headers: { authorization: `Bearer ${key}` } })
  const days = async (count: number) => {
    app.clock.advance(count * DAY_MS)
    await app.settle()
  }

  await press('renew-well')
  assert.deepEqual(await stateOf(app, ada.userId), { status: 'past_due', tier: 'pro' })
  await days(13)
  await press('retry')
  await app.service.billing.sync()
  assert.deepEqual(await stateOf(app, ada.userId), { status: 'past_due', tier: 'pro' })
  assert.equal((await asks()).status, 200)
  await days(1.01)
  assert.deepEqual(await stateOf(app, ada.userId), { status: 'past_due', tier: 'free' })
  const refused = await asks()
  assert.deepEqual(
    [refused.status, refused.body.detail],
    [403, 'This feature requires a Pro or Enterprise subscription'],
  )
  await app.service.billing.sync()
  assert.deepEqual(
    await stateOf(app, ada.userId),
    { status: 'past_due', tier: 'free' },
    'another look changes nothing',
  )

  await press('card', { card: GOOD_CARD })
  await press('retry')
  assert.deepEqual(await stateOf(app, ada.userId), pro)
  assert.equal((await asks()).status, 200)
  await press('renew-badly')
  await days(13)
  assert.deepEqual(
    await stateOf(app, ada.userId),
    { status: 'past_due', tier: 'pro' },
    'the next failure has a grace of its own',
  )
})

test('the grace period ends by itself, after the configured number of days', async (t) => {
  const app = await testApp(t, { env: { PAST_DUE_GRACE_DAYS: '3' } })
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada, { card: FAILS_AT_RENEWAL })
  await shop.portal(ada, 'renew-well')
  await app.settle()
  app.clock.advance(3 * DAY_MS - 60_000)
  await app.settle()
  assert.deepEqual(await stateOf(app, ada.userId), { status: 'past_due', tier: 'pro' })
  app.clock.advance(2 * 60_000)
  await app.settle()
  assert.deepEqual(await stateOf(app, ada.userId), { status: 'past_due', tier: 'free' })
})

test('without a grace period a failed payment closes the plan at once', async (t) => {
  const app = await testApp(t, { env: { PAST_DUE_GRACE_DAYS: '0' } })
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada, { card: FAILS_AT_RENEWAL })
  await shop.portal(ada, 'renew-well')
  assert.deepEqual(pickState(await shop.subscription(ada)), { status: 'past_due', tier: 'free' })
})

test('paused and unpaid subscriptions have no tier until they resume or a new one starts', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const view = async () => {
    const { status, tier, processor_status } = (await ada.get('/api/billing/subscription')).body
    return [status, tier, processor_status]
  }
  await shop.subscribe(ada)
  assert.deepEqual(await view(), ['active', 'pro', 'active'])
  for (const [button, word, back] of [
    ['pause', 'paused', 'unpause'],
    ['give-up', 'unpaid', 'retry'],
  ] as const) {
    await shop.portal(ada, button)
    assert.deepEqual(await view(), ['past_due', 'free', word])
    assert.equal((await ada.get('/api/rag/documents')).status, 403, word)
    await shop.portal(ada, back)
    assert.deepEqual(await view(), ['active', 'pro', 'active'], back)

    await shop.portal(ada, button)
    app.clock.advance(2_000)
    assert.deepEqual(pickState(await shop.subscribe(ada)), pro, `subscribed again while ${word}`)
    await app.settle()
    const { processor_customer_id: customer } = await shop.subscription(ada)
    const left = await shop.processor.subscriptions.list({ customer: customer ?? '' })
    assert.deepEqual(
      left.data.map((one) => one.status),
      ['active'],
    )
  }
})

test('a payment restores a lapsed plan whose price has left the catalogue', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const prices = new Map([...app.config.processor.prices].filter(([id]) => id !== PRICES.pro))
  const { platform } = app
  const deps = {
    ...platform,
    config: { ...app.config, processor: { ...app.config.processor, prices } },
    processor: shop.processor,
    syncs: singleFlight<SyncRequest>(),
  }
  const { id } = await shop.readSubscription(ada)
  const portal = new URL((await ada.post('/api/billing/create-portal-session')).body.url).pathname
  loseEvents(app)
  for (const [button, state] of [
    ['pause', { status: 'past_due', tier: 'free' }],
    ['unpause', pro],
  ] as const) {
    await shop.press(`${portal}/${button}`, { subscription: id })
    await syncUser(deps, ada.userId)
    assert.deepEqual(await stateOf(app, ada.userId), state, button)
  }
})

test('a declined card changes nothing; a bank debit counts once it is paid', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const { body } = await ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  assert.equal((await shop.pay(body.url, DECLINED_CARD)).status, 402)
  assert.deepEqual(pickState(await shop.subscription(ada)), free)

  await shop.pay(body.url, SLOW_DEBIT)
  assert.deepEqual(pickState(await shop.subscription(ada)), free)
  const charge = (await shop.processor.charges.list({ limit: 1 })).data[0]
  await shop.press(`/sandbox/processor/charges/${charge?.id}/settle`)
  assert.deepEqual(pickState(await shop.subscription(ada)), pro)
})

test('a free checkout counts as paid', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const { body } = await ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  await shop.press(`${new URL(body.url).pathname}/code`, { code: 'FREE100' })
  await shop.pay(body.url)
  assert.deepEqual(pickState(await shop.subscription(ada)), pro)
})

test('a second checkout changes the plan and leaves one subscription', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const { processor_customer_id: customer } = await shop.subscribe(ada)
  // The processor's clock counts whole seconds, and the second subscription must be newer.
  app.clock.advance(2_000)
  await shop.subscribe(ada, { price: PRICES.enterprise })
  await app.settle()

  const live = await shop.processor.subscriptions.list({
    customer: customer ?? '',
    status: 'active',
  })
  assert.deepEqual(
    live.data.map((one) => one.items.data[0]?.price.id),
    [PRICES.enterprise],
  )
  assert.deepEqual(pickState(await shop.subscription(ada)), {
    status: 'active',
    tier: 'enterprise',
  })
})

test('ignores a one-time purchase on the same processor account', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const { body } = await ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  const { processor_customer_id: customer } = await shop.subscription(ada)
  assert.ok(customer && body.url)
  const session = await shop.processor.checkout.sessions.create({
    mode: 'payment',
    customer,
    client_reference_id: ada.userId,
    line_items: [{ price: 'price_sandbox_store_pro', quantity: 1 }],
    success_url: 'http://localhost:1/',
  })
  await shop.pay(session.url ?? '')
  assert.deepEqual(pickState(await shop.subscription(ada)), free)
})

test('a foreign subscription on the same processor account grants no plan and keeps none open', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const price = await shop.processor.prices.create({
    currency: 'usd',
    unit_amount: 100,
    recurring: { interval: 'month' },
    product_data: { name: 'Newsletter' },
  })
  const subscribeElsewhere = async (customer: string) => {
    const session = await shop.processor.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ quantity: 1, price: price.id }],
      success_url: 'http://localhost:1/',
    })
    app.clock.advance(2_000)
    await shop.pay(session.url ?? '')
  }
  const { processor_customer_id: customer } = await shop.subscribe(ada)
  const { id } = await shop.readSubscription(ada)
  await subscribeElsewhere(customer ?? '')
  assert.deepEqual(pickState(await shop.subscription(ada)), pro)
  await shop.processor.subscriptions.cancel(id)
  await app.service.billing.sync()
  assert.deepEqual(pickState(await shop.subscription(ada)), { status: 'cancelled', tier: 'free' })

  const eve = await app.as('eve')
  await eve.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  await subscribeElsewhere((await shop.subscription(eve)).processor_customer_id ?? '')
  await app.service.billing.sync()
  assert.deepEqual(pickState(await shop.subscription(eve)), free)
})

test('the page after the checkout reads the processor when the event is late', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await undo(app, ada.userId)
  app.clock.advance(3_000)
  assert.deepEqual(pickState(await shop.subscription(ada)), pro)
})

test('reconciliation finds changes without events', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await undo(app, ada.userId)
  const done = await app.service.billing.sync()
  assert.equal(done?.failed, 0)
  assert.ok((done?.accounts ?? 0) >= 1)
  assert.deepEqual(pickState(await shop.subscription(ada)), pro)
})

test('reads undelivered events from the processor', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await app.platform.db.deleteFrom('inbox').execute()
  await undo(app, ada.userId)
  const done = await app.service.billing.sync()
  assert.ok((done?.events ?? 0) >= 2)
  assert.equal((await app.service.billing.sync())?.events, 0, 'the inbox knows them now')
  assert.deepEqual(pickState(await shop.subscription(ada)), pro)
})

test('reconciliation recovers after a long outage of the processor', async (t) => {
  const env = {
    STRIPE_SECRET_KEY: 'sk_test_x',
    STRIPE_WEBHOOK_SECRET: 'whsec_x',
    STRIPE_API_BASE: 'http://127.0.0.1:9',
    PRICE_PRO_MONTHLY: 'price_x',
  }
  const app = await testApp(t, { env })
  const { db, jobs } = app.platform
  // Reconciliation needs at least one account.
  const checkout = await app.as('ada').post('/api/billing/create-checkout-session?price_id=price_x')
  assert.equal(checkout.status, 503)
  await jobs.enqueue(db, RECONCILE_JOB, {}, { key: RECONCILE_JOB })
  for (const minutes of [0, 2, 10]) {
    app.clock.advance(minutes * 60_000)
    await app.settle()
  }
  assert.deepEqual(await jobs.counts(), { queued: 0, dead: 1 }, 'a superuser sees it')
  await jobs.enqueue(db, RECONCILE_JOB, {}, { key: RECONCILE_JOB })
  assert.deepEqual(await jobs.counts(), { queued: 1, dead: 0 }, 'the next hour asks again')
})

test('deleting the account cancels the subscription and closes open checkouts', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const open = await ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.enterprise}`)
  const { id } = await shop.readSubscription(ada)

  assert.equal((await ada.delete('/api/users/me', { password: PASSWORD })).status, 200)
  await app.settle()
  assert.equal((await shop.processor.subscriptions.retrieve(id)).status, 'canceled')
  assert.equal((await app.get(new URL(open.body.url).pathname)).status, 410)
})

test("a tier set by a superuser overrides the processor's events", async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await app.platform.db
    .updateTable('users')
    .set({ tier_override: 'enterprise', subscription_tier: 'enterprise' })
    .where('id', '=', ada.userId)
    .execute()
  await shop.portal(ada, 'cancel-now')
  assert.deepEqual(pickState(await shop.subscription(ada)), {
    status: 'cancelled',
    tier: 'enterprise',
  })
})

test('without a key billing returns 503, and still lists plans', async (t) => {
  const app = await testApp(t, { env: { SANDBOX: 'off' } })
  const plans = await app.get('/api/billing/plans')
  assert.deepEqual(
    plans.body.plans.map((plan: { tier: string }) => plan.tier),
    ['free', 'pro', 'enterprise'],
  )
  const hook = await app.post(
    '/api/billing/webhook',
    {},
    { headers: { 'stripe-signature': 't=1,v1=x' } },
  )
  assert.deepEqual(
    [hook.status, hook.body],
    [503, { detail: 'Billing is not configured', code: 'billing_not_configured' }],
  )
  const ada = await app.as('ada')
  for (const path of ['create-checkout-session?price_id=x', 'create-portal-session']) {
    const reply = await ada.post(`/api/billing/${path}`)
    assert.deepEqual(
      [reply.status, reply.body],
      [503, { detail: 'Billing is not configured', code: 'billing_not_configured' }],
      path,
    )
  }
  assert.equal((await ada.get('/api/billing/subscription')).body.status, 'free')
})

test('returns 503 when the processor cannot be reached, and still shows the account page', async (t) => {
  const env = {
    STRIPE_SECRET_KEY: 'sk_test_x',
    STRIPE_WEBHOOK_SECRET: 'whsec_x',
    STRIPE_API_BASE: 'http://127.0.0.1:9',
    PRICE_PRO_MONTHLY: 'price_1',
  }
  const app = await testApp(t, { env })
  const ada = await app.as('ada')
  const reply = await ada.post('/api/billing/create-checkout-session?price_id=price_1')
  assert.equal(reply.status, 503)
  assert.match(reply.body.detail, /cannot be reached/)
  assert.ok(reply.headers.get('retry-after'))
  assert.equal((await ada.get('/api/billing/subscription')).status, 200)
  const { plans } = (await app.get('/api/billing/plans')).body
  assert.deepEqual([plans[1].price_monthly, plans[1].price], ['price_1', undefined])
})

type App = Awaited<ReturnType<typeof testApp>>

/** Reads the user's row directly: opening a page would read the processor first. */
async function stateOf(app: App, userId: string) {
  const user = await app.platform.db
    .selectFrom('users')
    .select(['subscription_status', 'subscription_tier'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  return { status: user.subscription_status, tier: user.subscription_tier }
}

/** Resets the user, as if no event had arrived. */
async function undo(app: App, userId: string) {
  await app.platform.db
    .updateTable('users')
    .set({ subscription_status: 'free', subscription_tier: 'free', processor_tier: 'free' })
    .where('id', '=', userId)
    .execute()
  await app.platform.db
    .updateTable('billing_accounts')
    .set({ subscription_id: null, subscription_created_at: null })
    .where('user_id', '=', userId)
    .execute()
}
