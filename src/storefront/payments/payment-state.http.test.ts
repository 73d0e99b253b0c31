import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { RECONCILE_JOB } from '#billing/reconciliation.ts'
import { type Buyer, openShop, type Shop } from '#testing/buyer.ts'
import { GOOD_CARD, intercept } from '#testing/shop.ts'

const DAY_MS = 24 * 3_600_000

test('a failed refund restores the purchase', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  await shop.event('charge.refunded', {
    payment_intent: payment,
    amount: 299,
    amount_refunded: 299,
    refunded: true,
  })
  assert.deepEqual(await statuses(ada), ['refunded'])
  const refund = { id: 're_1', object: 'refund', payment_intent: payment, amount: 299 }
  await shop.event('refund.updated', { ...refund, status: 'succeeded' })
  assert.deepEqual(await statuses(ada), ['refunded'])
  await shop.event('refund.failed', { ...refund, status: 'failed' })
  assert.deepEqual(await statuses(ada), ['completed'])
  assert.equal((await ada.download()).status, 200)
})

test('a partial refund stays when the failure of another refund is reported, any number of times', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  await shop.event('charge.refunded', {
    payment_intent: payment,
    amount: 299,
    amount_refunded: 100,
    refunded: false,
  })
  const failed = {
    id: 're_2',
    object: 'refund',
    payment_intent: payment,
    amount: 50,
    status: 'failed',
  }
  await shop.event('refund.updated', failed)
  await shop.event('refund.failed', failed)
  const { refunded_cents } = await shop.platform.db
    .selectFrom('payments')
    .selectAll()
    .executeTakeFirstOrThrow()
  assert.equal(refunded_cents, 100)
})

test('the audit log names what took a purchase and what gave it back', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  const refunded = { payment_intent: payment, amount: 299, amount_refunded: 299, refunded: true }
  await shop.event('charge.dispute.closed', { payment_intent: payment, status: 'lost' })
  await shop.event('charge.dispute.funds_reinstated', { payment_intent: payment, status: 'won' })
  await shop.event('charge.refunded', refunded)
  await shop.event('refund.failed', {
    id: 're_1',
    payment_intent: payment,
    amount: 299,
    status: 'failed',
  })
  const rows = await shop.platform.db
    .selectFrom('audit_log')
    .select(['action', 'details'])
    .where('action', 'like', 'purchase.%')
    .orderBy('at')
    .orderBy('position')
    .execute()
  assert.deepEqual(
    rows.map(({ action, details }) => [action, JSON.parse(details ?? '').by]),
    [
      ['purchase.revoked', 'dispute'],
      ['purchase.restored', 'dispute'],
      ['purchase.revoked', 'refund'],
      ['purchase.restored', 'refund'],
    ],
  )
})

test('an open dispute blocks downloads; a lost one revokes the purchase, a won or reinstated one restores it', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  const dispute = (status: string) => ({
    id: 'du_1',
    object: 'dispute',
    payment_intent: payment,
    status,
  })
  assert.equal((await ada.download()).status, 200)
  shop.clock.advance(61_000)

  await shop.event('charge.dispute.created', dispute('warning_needs_response'))
  assert.equal((await ada.download('/api/download', { range: 'bytes=5-9' })).status, 206)
  await shop.event('charge.dispute.created', dispute('needs_response'))
  for (const headers of [{}, { range: 'bytes=5-9' }] as Record<string, string>[]) {
    const reply = await ada.download('/api/download', headers)
    assert.deepEqual(
      [reply.status, reply.body],
      [403, { error: 'Payment is disputed', code: 'payment_disputed' }],
    )
  }
  assert.deepEqual(await statuses(ada), ['disputed'])
  assert.match((await ada.get('/dashboard')).text, /disputed/)

  await shop.event('charge.dispute.closed', dispute('lost'))
  assert.deepEqual(await statuses(ada), ['refunded'])
  // The first event, late.
  await shop.event('charge.dispute.created', dispute('needs_response'))
  assert.deepEqual(await statuses(ada), ['refunded'])
  await shop.event('charge.dispute.funds_reinstated', dispute('lost'))
  assert.deepEqual(await statuses(ada), ['completed'])
  assert.equal((await ada.download()).status, 200)
})

test('a purchase whose downloads are used up comes back as used up', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  await shop.platform.db
    .updateTable('purchases')
    .set({ status: 'expired', download_count: 5 })
    .execute()
  await shop.event('charge.dispute.closed', { payment_intent: payment, status: 'lost' })
  await shop.event('charge.dispute.funds_reinstated', { payment_intent: payment, status: 'won' })
  assert.deepEqual(await statuses(ada), ['expired'])
})

test('the processor’s current record decides, in any order of events', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const payment = await buy(shop, ada, 'pro')
  const charge = await chargeOf(shop, payment)
  await shop.app.request('POST', '/sandbox/stripe/v1/refunds', {
    ...auth(shop),
    body: new URLSearchParams({ payment_intent: payment }),
  })
  await until(async () => (await statuses(ada))[0] === 'refunded')

  // The bank gives the money of the refund back; an older event still says that all is refunded.
  inSandbox(
    shop,
    `update stripe_objects set body = json_set(body, '$.status', 'failed') where object = 'refund'`,
  )
  await shop.event('refund.failed', {
    id: 're_1',
    payment_intent: payment,
    amount: charge.amount,
    status: 'failed',
  })
  assert.deepEqual(await statuses(ada), ['completed'])
  await shop.event('charge.refunded', { ...charge, amount_refunded: charge.amount, refunded: true })
  assert.deepEqual(await statuses(ada), ['completed'])
})

test('a refund and a lost dispute without an event are found within the hour', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const refunded = await buy(shop, ada, 'pro')
  const disputed = await buy(shop, ada, 'basic')
  await reconcile(shop)
  forgetEvents(shop)
  await refund(shop, refunded)
  const charge = (await chargeOf(shop, disputed)).id
  const press = (action: string) =>
    shop.app.request('POST', `/sandbox/processor/charges/${charge}/${action}`)
  await press('dispute')
  assert.deepEqual(await statuses(ada), ['completed', 'completed'])

  await reconcile(shop)
  assert.deepEqual(await tiers(ada, 'refunded'), ['pro'])
  const { id } = (await ada.get('/api/purchases')).body.find(
    ({ tier }: { tier: string }) => tier === 'basic',
  )
  assert.deepEqual((await ada.download(`/api/download?purchase_id=${id}`)).body, {
    error: 'Payment is disputed',
    code: 'payment_disputed',
  })

  await press('lose')
  // It is no new dispute, so it is found by the daily look.
  shop.clock.advance(1.01 * DAY_MS)
  await reconcile(shop)
  assert.deepEqual(await tiers(ada, 'refunded'), ['basic', 'pro'])

  // Others of the same payment are won and reinstated.
  inSandbox(
    shop,
    `insert into stripe_objects (id, object, owner, body, side)
     select 'du_won', object, owner, json_set(body, '$.id', 'du_won', '$.status', 'won'), side
     from stripe_objects where object = 'dispute';
     insert into stripe_objects (id, object, owner, body, side)
     select 'du_back', object, owner, json_set(body, '$.id', 'du_back', '$.status', 'lost',
       '$.balance_transactions', json('[{"amount":-1499},{"amount":1499}]')), side
     from stripe_objects where id = 'du_won'`,
  )
  assert.ok(((await shop.app.service.billing.sync())?.repaired ?? 0) > 0)
  const again = await shop.app.service.billing.sync()
  assert.deepEqual([again?.repaired, again?.failed], [0, 0], 'a repaired row does not differ again')
})

test('a purchase whose payment was never announced is created from the payment itself', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  forgetEvents(shop)
  await pay(shop, ada, 'pro')
  assert.deepEqual(await statuses(ada), [])
  await reconcile(shop)
  assert.deepEqual(await statuses(ada), ['completed'])

  // A checkout that the processor does not list any more is a lost sale, and cannot be repaired.
  await pay(shop, ada, 'basic')
  inSandbox(shop, `delete from stripe_objects where object = 'checkout.session'`)
  for (let looks = 1; looks <= 2; looks++) {
    const synced = await shop.app.service.billing.sync()
    assert.deepEqual([synced?.repaired, synced?.failed], [0, 1])
  }
})

test('a payment that cannot be read hides no other, and is tried again every hour', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const [first, second] = [await buy(shop, ada, 'basic'), await buy(shop, ada, 'pro')]
  await reconcile(shop)
  forgetEvents(shop)
  await refund(shop, first)
  await refund(shop, second)
  let isRefused = true
  const asked: string[] = []
  intercept(shop.app, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://stripe')
    const payment = searchParams.get('payment_intent')
    if (pathname !== '/sandbox/stripe/v1/charges' || payment === null) return false
    asked.push(payment)
    if (payment !== second || !isRefused) return false
    response.writeHead(403, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        error: { type: 'invalid_request_error', message: 'This key may not do that.' },
      }),
    )
    return true
  })
  const sync = async () => {
    const { repaired = 0, failed = 0 } = (await shop.app.service.billing.sync()) ?? {}
    return { repaired, failed }
  }
  assert.deepEqual(await sync(), { repaired: 1, failed: 1 })
  assert.deepEqual(await tiers(ada, 'refunded'), ['basic'])
  for (let hour = 1; hour <= 3; hour++) {
    asked.length = 0
    shop.clock.advance(3_600_000)
    await reconcile(shop)
    assert.deepEqual([...new Set(asked)], [second], `in hour ${hour}`)
  }
  isRefused = false
  assert.deepEqual(await sync(), { repaired: 1, failed: 0 })
  assert.deepEqual(await tiers(ada, 'refunded'), ['basic', 'pro'])
  assert.deepEqual(await sync(), { repaired: 0, failed: 0 })
})

test('payments of other sellers on the account are neither stored nor read again', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await buy(shop, ada, 'pro')
  inSandbox(
    shop,
    `insert into stripe_objects (id, object, owner, body, side)
     select 'ch_others', object, '', json_set(body, '$.id', 'ch_others', '$.payment_intent', 'pi_others', '$.metadata', json('{"sku":"9"}')), '{}'
     from stripe_objects where object = 'charge'`,
  )
  const synced = await shop.app.service.billing.sync()
  assert.deepEqual([synced?.repaired, synced?.failed], [0, 0])
  await shop.event('charge.refunded', {
    payment_intent: 'pi_others',
    amount: 299,
    amount_refunded: 299,
    refunded: true,
  })
  const rows = await shop.platform.db.selectFrom('payments').select('id').execute()
  assert.equal(rows.length, 1)
})

/** From now on the processor sends no events, and its list of events is empty. */
function forgetEvents(shop: Shop) {
  shop.loseEvents()
  inSandbox(
    shop,
    `delete from stripe_objects where object = 'event';
     create trigger no_events before insert on stripe_objects when new.object = 'event' begin select raise(ignore); end`,
  )
}

async function refund(shop: Shop, payment: string) {
  const body = new URLSearchParams({ payment_intent: payment })
  assert.equal(
    (await shop.app.request('POST', '/sandbox/stripe/v1/refunds', { ...auth(shop), body })).status,
    200,
  )
}

async function reconcile(shop: Shop) {
  await shop.platform.jobs.enqueue(shop.platform.db, RECONCILE_JOB, {}, { key: RECONCILE_JOB })
  await shop.settle()
}

/** Pays a checkout for real, so that the processor knows the payment. Returns the session. */
async function pay(shop: Shop, buyer: Buyer, tier: string): Promise<string> {
  const { pathname } = new URL(
    (await buyer.get(`/api/checkout?tier=${tier}`)).headers.get('location') ?? '',
  )
  const form = { email: buyer.email, name: 'Ada', card: GOOD_CARD }
  await shop.app.request('POST', pathname, { body: new URLSearchParams(form) })
  return pathname.split('/').at(-1) ?? ''
}

/** And comes back. Returns the payment. */
async function buy(shop: Shop, buyer: Buyer, tier: string): Promise<string> {
  const session = await pay(shop, buyer, tier)
  await buyer.get(`/dashboard?success=true&session_id=${session}`)
  return (await shop.get(`/sandbox/stripe/v1/checkout/sessions/${session}`, auth(shop))).body
    .payment_intent
}

async function chargeOf(shop: Shop, payment: string) {
  return (await shop.get(`/sandbox/stripe/v1/charges?payment_intent=${payment}`, auth(shop))).body
    .data[0]
}

async function statuses(buyer: Buyer): Promise<string[]> {
  return (await buyer.get('/api/purchases')).body.map(({ status }: { status: string }) => status)
}

async function tiers(buyer: Buyer, wanted: string): Promise<string[]> {
  const { body } = await buyer.get('/api/purchases')
  const found = body.filter(({ status }: { status: string }) => status === wanted)
  return found.map(({ tier }: { tier: string }) => tier).sort()
}

function inSandbox(shop: Shop, statement: string) {
  const db = new DatabaseSync(join(shop.dataDir, 'sandbox.db'))
  db.exec(statement)
  db.close()
}

async function until(isSo: () => Promise<boolean>) {
  for (let tries = 0; tries < 500 && !(await isSo()); tries++)
    await new Promise((resolve) => setTimeout(resolve, 10))
  assert.ok(await isSo())
}

function auth(shop: Shop) {
  return { headers: { authorization: `Bearer ${shop.config.processor.secretKey}` } }
}
