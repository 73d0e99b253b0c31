import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { PASSWORD } from '#testing/app.ts'
import { type Buyer, openShop, paidSession, type Shop, signed } from '#testing/buyer.ts'
import { failToMake, intercept, SLOW_DEBIT } from '#testing/shop.ts'
import { FOLLOW_UP_JOB } from './payments.ts'

const HOLLOW = JSON.stringify({
  id: 'evt_1',
  type: 'checkout.session.completed',
  data: { object: null },
})
const CARD = '4242424242424242'

test('an invalid tier is reported first, to every caller', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  for (const path of [
    '/api/checkout',
    '/api/checkout?tier=',
    '/api/checkout?tier=gold',
    '/api/checkout?tier=pro&tier=pro',
    '/api/checkout?tier=toString',
  ]) {
    for (const reply of [await shop.store('GET', path), await ada.get(path)]) {
      assert.equal(reply.status, 400, path)
      assert.deepEqual(reply.body, { error: 'Invalid tier specified', code: 'tier_invalid' })
    }
  }
})

test('a visitor without a session is redirected to the login, and back afterwards', async (t) => {
  const shop = await openShop(t)
  const reply = await shop.store('GET', '/api/checkout?tier=enterprise')
  assert.equal(reply.status, 302)
  assert.equal(reply.headers.get('location'), '/login?redirect=/api/checkout?tier=enterprise')
})

test('a buyer is led to the hosted checkout, pays, and has a purchase when they return', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const { sessionId, payUrl } = await checkout(ada, 'pro')

  const processor = await shop.get(`/sandbox/stripe/v1/checkout/sessions/${sessionId}`, auth(shop))
  const session = processor.body
  assert.equal(session.mode, 'payment')
  assert.equal(session.amount_total, 29_900)
  assert.equal(session.currency, 'usd')
  assert.equal(session.allow_promotion_codes, true)
  assert.deepEqual(session.metadata, { user_id: ada.userId, tier: 'pro' })
  assert.equal(
    session.success_url,
    `${shop.config.urls.storefront}/dashboard?success=true&session_id={CHECKOUT_SESSION_ID}`,
  )
  assert.equal(session.cancel_url, `${shop.config.urls.storefront}/pricing?canceled=true`)

  const paid = await pay(shop, payUrl, ada.email)
  assert.equal(paid.status, 303)
  const back = new URL(paid.headers.get('location') ?? '')
  assert.equal(`${back.pathname}${back.search}`, `/dashboard?success=true&session_id=${sessionId}`)

  const page = await ada.get(back.pathname + back.search)
  assert.equal(page.status, 200)
  assert.match(page.text, /your payment has arrived/)
  const purchases = (await ada.get('/api/purchases')).body
  assert.equal(purchases.length, 1)

  const intent = await shop.get(
    `/sandbox/stripe/v1/payment_intents/${(await shop.get(`/sandbox/stripe/v1/checkout/sessions/${sessionId}`, auth(shop))).body.payment_intent}`,
    auth(shop),
  )
  assert.deepEqual(intent.body.metadata, { user_id: ada.userId, tier: 'pro' })
  const owned = await ada.get('/api/checkout?tier=pro')
  assert.deepEqual([owned.status, owned.headers.get('location')], [302, '/dashboard'])
  assert.equal((await ada.get('/api/checkout?tier=basic')).status, 302)
})

test('the returning buyer does not race the webhook', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const eve = await shop.buyer('eve')
  const { sessionId, payUrl } = await checkout(ada, 'basic')

  const early = await ada.get(`/dashboard?success=true&session_id=${sessionId}`)
  assert.match(early.text, /Confirming your payment/)
  assert.equal(early.headers.get('refresh'), '5')
  await pay(shop, payUrl, ada.email)
  await Promise.all([1, 2, 3].map(() => ada.get(`/dashboard?success=true&session_id=${sessionId}`)))
  assert.equal((await ada.get('/api/purchases')).body.length, 1)

  // Somebody else's session gives nothing away and nothing over.
  for (const [buyer, id] of [
    [eve, sessionId],
    [ada, 'cs_test_madeup'],
    [ada, '../../v1/customers'],
  ] as const) {
    const page = await buyer.get(`/dashboard?success=true&session_id=${id}`)
    assert.match(page.text, /No pending payment found/, id)
    assert.equal(page.headers.get('refresh'), null, 'nobody is asked again and again')
  }
  assert.equal((await eve.get('/api/purchases')).body.length, 0)
})

test('a checkout for nothing is one purchase for its session', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const { sessionId, payUrl } = await checkout(ada, 'basic')
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  await shop.app.request('POST', `${payUrl}/code`, { headers: form, body: 'code=FREE100' })
  await pay(shop, payUrl, ada.email)
  await ada.get(`/dashboard?success=true&session_id=${sessionId}`)
  await ada.get(`/dashboard?success=true&session_id=${sessionId}`)
  assert.equal((await ada.get('/api/purchases')).body.length, 1)
})

test('a tier without files is not for sale', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'shop-products-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'pro/1.0.0'), { recursive: true })
  writeFileSync(join(root, 'pro/1.0.0/a.txt'), 'a')
  mkdirSync(join(root, 'enterprise/1.0.0'), { recursive: true })
  writeFileSync(join(root, 'enterprise/1.0.0/a.txt'), 'a')
  writeFileSync(join(root, 'enterprise/releases.json'), '[{ "version": "1.0.0" }]')
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')

  for (const tier of ['basic', 'enterprise']) {
    const reply = await ada.get(`/api/checkout?tier=${tier}`)
    assert.deepEqual(
      [reply.status, reply.body],
      [409, { error: 'Not available yet', code: 'not_for_sale' }],
      tier,
    )
  }
  assert.equal((await ada.get('/api/checkout?tier=pro')).status, 302)
  for (const path of ['/', '/pricing']) {
    const { text } = await shop.store('GET', path)
    assert.match(text, /href="\/products\/pro#buy"/)
    assert.doesNotMatch(text, /products\/(basic|enterprise)#buy"/)
    assert.equal(text.match(/Coming soon/g)?.length, 2)
  }
})

test('a second checkout of a tier leads to the one that is open', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const tabs = await Promise.all([1, 2, 3, 4].map(() => checkout(ada, 'pro')))
  tabs.push(await checkout(ada, 'pro'))
  assert.equal(new Set(tabs.map(({ sessionId }) => sessionId)).size, 1)
  assert.notEqual((await checkout(ada, 'basic')).sessionId, tabs[0]?.sessionId)
  const eve = await shop.buyer('eve')
  assert.notEqual((await checkout(eve, 'pro')).sessionId, tabs[0]?.sessionId)

  // One that was given up at the processor is replaced.
  await shop.app.request(
    'POST',
    `/sandbox/stripe/v1/checkout/sessions/${tabs[0]?.sessionId}/expire`,
    auth(shop),
  )
  assert.notEqual((await checkout(ada, 'pro')).sessionId, tabs[0]?.sessionId)
})

test('after an outage of the processor, the affected buyer can check out', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const mend = failToMake(shop, 'checkout.session')
  for (let click = 0; click < 2; click++)
    assert.equal((await ada.get('/api/checkout?tier=pro')).status, 503)
  mend()
  const { sessionId } = await checkout(ada, 'pro')
  assert.equal((await checkout(ada, 'pro')).sessionId, sessionId)
})

test('a tab waits for the checkout that another tab is creating, and creates no second one', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const keys = new Set<unknown>()
  let busy = 1
  intercept(shop.app, (request, response) => {
    if (request.method !== 'POST' || !request.url?.endsWith('/v1/checkout/sessions')) return false
    keys.add(request.headers['idempotency-key'])
    if (busy-- <= 0) return false
    const error = { type: 'idempotency_error', code: 'idempotency_key_in_use', message: 'In use.' }
    response.writeHead(409, { 'content-type': 'application/json', 'stripe-should-retry': 'false' })
    response.end(JSON.stringify({ error }))
    return true
  })
  await checkout(ada, 'pro')
  assert.equal(keys.size, 1)

  busy = 100
  const reply = await ada.get('/api/checkout?tier=basic')
  assert.deepEqual([reply.status, reply.headers.get('retry-after')], [503, '5'])
  assert.equal(keys.size, 2)
})

test('a call whose answer was lost is repeated under the same idempotency key, since it may have created a checkout', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const keys = new Set<unknown>()
  let isCut = true
  intercept(shop.app, (request) => {
    if (request.method !== 'POST' || !request.url?.endsWith('/v1/checkout/sessions')) return false
    keys.add(request.headers['idempotency-key'])
    if (isCut) request.socket.destroy()
    return isCut
  })
  assert.equal((await ada.get('/api/checkout?tier=pro')).status, 503)
  isCut = false
  await checkout(ada, 'pro')
  assert.equal(keys.size, 1)
})

test('of two checkouts that were begun with different addresses only one can be paid', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const made = Promise.withResolvers<void>()
  const freed = Promise.withResolvers<void>()
  let isFirst = true
  // The answer to the first call is made, and on its way for long.
  intercept(shop.app, (request, response, goOn) => {
    if (!isFirst || request.method !== 'POST' || !request.url?.endsWith('/v1/checkout/sessions'))
      return false
    isFirst = false
    const end = response.end.bind(response) as (body: unknown) => typeof response
    response.end = ((body: unknown) => {
      made.resolve()
      void freed.promise.then(() => end(body))
      return response
    }) as typeof response.end
    goOn()
    return true
  })
  const slow = checkout(ada, 'pro')
  await made.promise
  await shop.platform.db
    .updateTable('users')
    .set({ email: 'ada@example.org' })
    .where('id', '=', ada.userId)
    .execute()
  const quick = await checkout(ada, 'pro')
  freed.resolve()
  assert.equal((await slow).sessionId, quick.sessionId)
  assert.equal((await checkout(ada, 'pro')).sessionId, quick.sessionId)
})

test('a tab that comes late with another address leads to the checkout that is open', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const asked = Promise.withResolvers<void>()
  const freed = Promise.withResolvers<void>()
  let isFirst = true
  intercept(shop.app, (request, _response, goOn) => {
    if (!isFirst || request.method !== 'POST' || !request.url?.endsWith('/v1/checkout/sessions'))
      return false
    isFirst = false
    asked.resolve()
    void freed.promise.then(goOn)
    return true
  })
  const slow = checkout(ada, 'pro')
  await asked.promise
  await shop.platform.db
    .updateTable('users')
    .set({ email: 'ada@example.org' })
    .where('id', '=', ada.userId)
    .execute()
  const quick = await checkout(ada, 'pro')
  freed.resolve()
  assert.equal((await slow).sessionId, quick.sessionId)
  assert.equal((await checkout(ada, 'pro')).sessionId, quick.sessionId)
})

test('while a payment settles, its tier cannot be paid again; when the bank refuses it, it can', async (t) => {
  const shop = await openShop(t)
  shop.holdDebits()
  const ada = await shop.buyer('ada')
  const { sessionId, payUrl } = await checkout(ada, 'pro')
  await pay(shop, payUrl, ada.email, SLOW_DEBIT)

  const again = await ada.get('/api/checkout?tier=pro')
  assert.deepEqual(
    [again.status, again.headers.get('location')],
    [302, `/dashboard?success=true&session_id=${sessionId}`],
  )
  const page = await ada.get(again.headers.get('location') ?? '')
  assert.match(page.text, /payment is processing.*can take some days/)
  assert.equal(page.headers.get('refresh'), null, 'days are not waited for in steps of seconds')

  await settleDebit(shop, 'bounce')
  const next = await checkout(ada, 'pro')
  assert.notEqual(next.sessionId, sessionId)
  await pay(shop, next.payUrl, ada.email, SLOW_DEBIT)
  await settleDebit(shop, 'settle')
  // The webhook may still be on its way: the checkout asks the processor itself.
  assert.match(
    (await ada.get('/api/checkout?tier=pro')).headers.get('location') ?? '',
    /^\/dashboard/,
  )
  assert.deepEqual(await statuses(ada), ['completed'])
})

test('a payment that waits for its payer blocks a second checkout of the tier for two weeks and is checked again', async (t) => {
  const shop = await openShop(t)
  shop.holdDebits()
  const ada = await shop.buyer('ada')
  const { sessionId, payUrl } = await checkout(ada, 'pro')
  await pay(shop, payUrl, ada.email, SLOW_DEBIT)
  const confirmation = `/dashboard?success=true&session_id=${sessionId}`
  const intentBecomes = (status: string) =>
    inSandbox(
      shop,
      `update stripe_objects set body = json_set(body, '$.status', '${status}') where object = 'payment_intent'`,
    )
  intentBecomes('requires_action')
  assert.equal((await ada.get('/api/checkout?tier=pro')).headers.get('location'), confirmation)
  assert.match((await ada.get(confirmation)).text, /payment is processing/)

  // The step is taken after days, and its event is lost.
  await afterDays(shop, 3)
  intentBecomes('processing')
  await settleDebit(shop, 'settle', { silently: true })
  await afterDays(shop, 1)
  assert.deepEqual(await statuses(ada), ['completed'])

  const basic = await checkout(ada, 'basic')
  await pay(shop, basic.payUrl, ada.email, SLOW_DEBIT)
  intentBecomes('requires_action')
  await afterDays(shop, 12)
  assert.match(
    (await ada.get('/api/checkout?tier=basic')).headers.get('location') ?? '',
    /^\/dashboard/,
  )
  await afterDays(shop, 2)
  assert.notEqual((await checkout(ada, 'basic')).sessionId, basic.sessionId)
})

test('a used-up tier is bought again in a separate checkout', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const { sessionId, payUrl } = await checkout(ada, 'basic')
  await pay(shop, payUrl, ada.email)
  await ada.get(`/dashboard?success=true&session_id=${sessionId}`)
  await shop.platform.db
    .updateTable('purchases')
    .set({ status: 'expired', download_count: 5 })
    .execute()
  assert.notEqual((await checkout(ada, 'basic')).sessionId, sessionId)
})

test('a debit that settles after days is found without any event', async (t) => {
  const shop = await openShop(t)
  shop.holdDebits()
  const ada = await shop.buyer('ada')
  const { payUrl } = await checkout(ada, 'pro')
  await pay(shop, payUrl, ada.email, SLOW_DEBIT)
  for (let day = 1; day <= 3; day++) {
    await afterDays(shop, 1)
    assert.deepEqual(await statuses(ada), [])
    const waiting = await shop.platform.db
      .selectFrom('jobs')
      .where('kind', '=', FOLLOW_UP_JOB)
      .select('id')
      .execute()
    assert.equal(waiting.length, 1, 'one look a day')
  }
  await settleDebit(shop, 'settle', { silently: true })
  await afterDays(shop, 1)
  assert.deepEqual(await statuses(ada), ['completed'])
})

test('a second payment for one tier is reported to the operator once', async (t) => {
  const shop = await openShop(t, { SUPPORT_EMAIL: 'owner@example.com' })
  const ada = await shop.buyer('ada')
  const emails = async () => {
    shop.clock.advance(61_000)
    const all = await shop.mail('owner@example.com')
    return all.filter(({ subject }) => subject.includes('Paid twice'))
  }
  const first = await shop.sell(ada, 'pro')
  assert.equal((await emails()).length, 0)
  const second = await shop.sell(ada, 'pro')
  await shop.sell(ada, 'basic')

  const [email, ...more] = await emails()
  assert.equal(more.length, 0)
  for (const fact of [first, second, ada.email, '$299.00'])
    assert.ok(email?.text.includes(fact), fact)
  assert.equal((await emails()).length, 1)
})

test('simultaneous payments are reported as well, and so is a purchase given back to a buyer who bought again', async (t) => {
  const shop = await openShop(t, { SUPPORT_EMAIL: 'owner@example.com' })
  const ada = await shop.buyer('ada')
  const emails = async () => {
    shop.clock.advance(61_000)
    const all = await shop.mail('owner@example.com')
    return all.filter(({ subject }) => subject.includes('Paid twice'))
  }
  await Promise.all([shop.sell(ada, 'pro'), shop.sell(ada, 'pro')])
  assert.equal((await emails()).length, 1)

  const lost = await shop.sell(ada, 'basic')
  await shop.event('charge.dispute.closed', { payment_intent: lost, status: 'lost' })
  const anew = await shop.sell(ada, 'basic')
  assert.equal((await emails()).length, 1)
  await shop.event('charge.dispute.funds_reinstated', { payment_intent: lost, status: 'won' })
  const [newest, ...earlier] = await emails()
  assert.equal(earlier.length, 1)
  for (const payment of [lost, anew]) assert.ok(newest?.text.includes(payment), payment)
})

test('without a processor, the checkout returns an error with the reason', async (t) => {
  const shop = await openShop(t, { SANDBOX: 'off' })
  const ada = await shop.buyer('ada')
  const reply = await ada.get('/api/checkout?tier=pro')
  assert.deepEqual(
    [reply.status, reply.body],
    [503, { error: 'Billing is not configured', code: 'billing_not_configured' }],
  )
})

test('a paid session creates a purchase and emails its key once, for any number and order of events', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const session = paidSession(ada.userId, 'pro')
  const intent = {
    id: session.payment_intent,
    object: 'payment_intent',
    amount: 29_900,
    amount_received: 29_900,
    currency: 'usd',
    metadata: session.metadata,
  }

  const first = await shop.event('payment_intent.succeeded', intent, { id: 'evt_1' })
  assert.deepEqual([first.status, first.body], [200, { received: true }])
  await Promise.all([
    shop.event('checkout.session.completed', session),
    shop.event('checkout.session.completed', session),
    shop.event('payment_intent.succeeded', intent, { id: 'evt_1' }),
    shop.event('checkout.session.async_payment_succeeded', session, {
      header: 'processor-signature',
    }),
  ])

  const [purchase, ...more] = (await ada.get('/api/purchases')).body
  assert.equal(more.length, 0)
  assert.deepEqual(Object.keys(purchase).sort(), [
    'bundle_id',
    'can_withdraw',
    'created_at',
    'download_count',
    'entitled_until',
    'from_id',
    'id',
    'license_key_masked',
    'max_downloads',
    'releases',
    'renewal',
    'status',
    'tier',
    'upgrades',
    'version',
    'waiver',
  ])
  assert.equal(purchase.tier, 'pro')
  assert.equal(purchase.status, 'completed')
  assert.equal(purchase.max_downloads, 5)
  assert.equal(purchase.download_count, 0)
  assert.equal(purchase.version, '1.1.0')
  assert.match(purchase.license_key_masked, /^LK-\w{4}(-••••){5}-\w{4}$/)
  const months = new Date(purchase.created_at)
  months.setUTCMonth(months.getUTCMonth() + 12)
  assert.equal(purchase.entitled_until.slice(0, 7), months.toISOString().slice(0, 7))

  const emails = (await shop.mail(ada.email)).filter(({ subject }) => /license/.test(subject))
  assert.equal(emails.length, 1)
  assert.match(emails[0]?.text ?? '', /LK(-\w{4}){7}/)
  assert.match(emails[0]?.text ?? '', /7-Zip/)
  assert.match(emails[0]?.text ?? '', /unzip/)
})

test('no purchase exists before its payment', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const session = paidSession(ada.userId, 'basic')
  await shop.event('checkout.session.completed', { ...session, payment_status: 'unpaid' })
  assert.equal((await ada.get('/api/purchases')).body.length, 0)
  await shop.event('checkout.session.async_payment_failed', {
    ...session,
    payment_status: 'unpaid',
  })
  assert.equal((await ada.get('/api/purchases')).body.length, 0)
  await shop.event('checkout.session.async_payment_succeeded', session)
  assert.equal((await ada.get('/api/purchases')).body.length, 1)
})

test('subscriptions and what others sell on the account are passed over', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const session = paidSession(ada.userId, 'pro')
  const foreign: [string, object][] = [
    [
      'checkout.session.completed',
      { ...session, mode: 'subscription', payment_intent: null, subscription: 'sub_1' },
    ],
    ['checkout.session.completed', { ...session, metadata: {} }],
    ['checkout.session.completed', { ...session, metadata: { user_id: ada.userId, tier: 'gold' } }],
    [
      'payment_intent.succeeded',
      { id: 'pi_unknown', amount: 100, amount_received: 100, currency: 'usd', metadata: {} },
    ],
    ['customer.subscription.updated', { id: 'sub_1', metadata: session.metadata }],
    ['invoice.paid', { id: 'in_1' }],
  ]
  for (const [type, object] of foreign) {
    const reply = await shop.event(type, object)
    assert.deepEqual([reply.status, reply.body], [200, { received: true }], type)
  }
  assert.equal((await ada.get('/api/purchases')).body.length, 0)
})

test('a payment without metadata is found by its checkout', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const { sessionId, payUrl } = await checkout(ada, 'basic')
  await pay(shop, payUrl, ada.email)
  const { payment_intent } = (
    await shop.get(`/sandbox/stripe/v1/checkout/sessions/${sessionId}`, auth(shop))
  ).body
  const intent = {
    id: payment_intent,
    amount: 19_900,
    amount_received: 19_900,
    currency: 'usd',
    metadata: {},
  }
  assert.equal((await shop.event('payment_intent.succeeded', intent)).status, 200)
  assert.equal((await ada.get('/api/purchases')).body.length, 1)
})

test('a full refund and a lost dispute revoke, a partial refund does not', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const status = async (tier: string) =>
    (await ada.get('/api/purchases')).body.find(
      (purchase: { tier: string }) => purchase.tier === tier,
    )?.status

  const pro = await shop.sell(ada, 'pro')
  await shop.event('charge.refunded', {
    payment_intent: pro,
    amount: 29_900,
    amount_refunded: 10_000,
    refunded: false,
  })
  assert.equal(await status('pro'), 'completed')
  await shop.event('charge.refunded', {
    payment_intent: pro,
    amount: 29_900,
    amount_refunded: 29_900,
    refunded: true,
  })
  assert.equal(await status('pro'), 'refunded')
  assert.equal(
    (await ada.get('/api/checkout?tier=pro')).headers.get('location')?.startsWith('/dashboard'),
    false,
  )

  const basic = await shop.sell(ada, 'basic')
  await shop.event('charge.dispute.closed', { payment_intent: basic, status: 'won' })
  assert.equal(await status('basic'), 'completed')
  await shop.event('charge.dispute.closed', { payment_intent: basic, status: 'lost' })
  assert.equal(await status('basic'), 'refunded')
})

test('a refund that arrives before its purchase is applied', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const session = paidSession(ada.userId, 'pro')
  await shop.event('charge.refunded', {
    payment_intent: session.payment_intent,
    amount: 1,
    amount_refunded: 1,
    refunded: true,
  })
  await shop.event('checkout.session.completed', session)
  assert.equal((await ada.get('/api/purchases')).body[0].status, 'refunded')
  assert.equal((await ada.download()).status, 403)
  assert.equal(
    (await shop.mail(ada.email)).filter(({ subject }) => /license/.test(subject)).length,
    0,
  )
})

test('a refund and its purchase at the same moment leave it revoked', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  for (let round = 0; round < 5; round++) {
    const session = paidSession(ada.userId, 'basic')
    await Promise.all([
      shop.event('checkout.session.completed', session),
      shop.event('charge.refunded', {
        payment_intent: session.payment_intent,
        amount: 1,
        amount_refunded: 1,
        refunded: true,
      }),
    ])
  }
  const statuses = (await ada.get('/api/purchases')).body.map(
    (purchase: { status: string }) => purchase.status,
  )
  assert.deepEqual(statuses, Array(5).fill('refunded'))
})

test('forged, old, replayed and malformed events change nothing', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const session = paidSession(ada.userId, 'pro')
  const body = JSON.stringify({
    id: `evt_${randomUUID()}`,
    object: 'event',
    type: 'checkout.session.completed',
    data: { object: session },
  })
  const post = (headers: Record<string, string>, sent = body) =>
    shop.store('POST', '/api/processor/webhook', {
      body: sent,
      headers: { 'content-type': 'application/json', ...headers },
    })

  const refused = [
    await post({}),
    await post({ 'stripe-signature': '' }),
    await post({ 'stripe-signature': 't=1,v1=00' }),
    await post({ 'stripe-signature': signed(body, 'whsec_wrong') }),
    await post({ 'stripe-signature': signed(body, 'whsec_shop', Date.now() - 3_600_000) }),
    await post({ 'stripe-signature': signed(body, 'whsec_shop') }, `${body} `),
    await post({ 'stripe-signature': signed('not json', 'whsec_shop') }, 'not json'),
    await post({ 'stripe-signature': signed('{}', 'whsec_shop') }, '{}'),
    await post({ 'stripe-signature': signed('', 'whsec_shop') }, ''),
    await post({ 'stripe-signature': signed('null', 'whsec_shop') }, 'null'),
    await post({ 'stripe-signature': signed(HOLLOW, 'whsec_shop') }, HOLLOW),
  ]
  for (const [index, reply] of refused.entries()) {
    assert.equal(reply.status, 400, `case ${index}: ${reply.text}`)
    assert.equal(typeof reply.body.error, 'string')
  }
  assert.equal((await ada.get('/api/purchases')).body.length, 0)
})

test('the purchase of a deleted account is stored for accounting and mailed to the payer', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const { payUrl, sessionId } = await checkout(ada, 'basic')
  assert.equal((await shop.as('ada').delete('/api/users/me', { password: PASSWORD })).status, 200)
  await pay(shop, payUrl, 'payer@example.com')
  const { body } = await shop.get(`/sandbox/stripe/v1/checkout/sessions/${sessionId}`, auth(shop))
  await shop.event('checkout.session.completed', body)

  const [email] = await shop.mail('payer@example.com')
  const key = /LK(-\w{4}){7}/.exec(email?.text ?? '')?.[0]
  const verified = await shop.store('POST', '/api/license/verify', { body: { license_key: key } })
  assert.equal(verified.body.valid, true)
})

test('no name, address or email of an event is stored', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const details = {
    email: 'payer@example.com',
    name: 'Ada Lovelace',
    address: { city: 'Marylebone' },
  }
  await shop.event('checkout.session.completed', {
    ...paidSession(ada.userId, 'pro'),
    customer_details: details,
  })
  const rows = await shop.platform.db
    .selectFrom('inbox')
    .selectAll()
    .where('source', '=', 'processor.storefront')
    .execute()
  assert.equal(rows.length, 1)
  assert.doesNotMatch(JSON.stringify(rows), /payer@|Lovelace|Marylebone/)
})

async function checkout(buyer: Buyer, tier: string) {
  const reply = await buyer.get(`/api/checkout?tier=${tier}`)
  assert.equal(reply.status, 302, reply.text)
  const { pathname } = new URL(reply.headers.get('location') ?? '')
  return { payUrl: pathname, sessionId: pathname.split('/').at(-1) ?? '' }
}

async function statuses(buyer: Buyer): Promise<string[]> {
  return (await buyer.get('/api/purchases')).body.map(({ status }: { status: string }) => status)
}

/** Days pass, each with its work. */
async function afterDays(shop: Shop, days: number) {
  for (let day = 1; day <= days; day++) {
    shop.clock.advance(1.1 * 24 * 3_600_000)
    await shop.settle()
  }
}

function inSandbox(shop: Shop, statement: string) {
  const db = new DatabaseSync(join(shop.dataDir, 'sandbox.db'))
  db.exec(statement)
  db.close()
}

/** The bank pays, or refuses; silently: every event about it is lost. */
async function settleDebit(shop: Shop, word: 'settle' | 'bounce', { silently = false } = {}) {
  const { data } = (await shop.get('/sandbox/stripe/v1/charges?limit=100', auth(shop))).body
  const pending = data.find(({ status }: { status: string }) => status === 'pending')
  if (silently) shop.loseEvents()
  await shop.app.request('POST', `/sandbox/processor/charges/${pending.id}/${word}`)
}

function pay(shop: Shop, payUrl: string, email: string, card = CARD) {
  return shop.app.request('POST', payUrl, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ email, name: 'Ada', card }).toString(),
  })
}

function auth(shop: Shop) {
  return { headers: { authorization: `Bearer ${shop.config.processor.secretKey}` } }
}
