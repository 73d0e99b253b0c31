import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listEmails } from '#mail/email-log.ts'
import { type Buyer, openShop, type Shop } from '#testing/buyer.ts'
import { createShop } from '#testing/shop.ts'
import { WAIVERS } from './waiver.ts'

const DAY_MS = 24 * 3_600_000
const TEAM = 'team@shop.example'

test('a confirmed withdrawal ends the purchase, refunds it once and emails a receipt', async (t) => {
  const { shop, ada, order } = await openWithOrder(t)
  const begun = await begin(shop, order, 'ADA@example.com', 'I do not need it')
  assert.equal(begun.status, 201)
  assert.equal(begun.body.confirmed_at, null)
  assert.equal(await status(ada), 'completed', 'nothing happens before the second step')
  assert.deepEqual(await receipts(shop, ada.email), [])

  const replies = await Promise.all([1, 2, 3].map(() => confirm(shop, begun.body.id)))
  assert.deepEqual(
    replies.map((reply) => reply.status),
    [200, 200, 200],
  )
  assert.ok(replies[0]?.body.confirmed_at)
  await shop.settle()
  assert.equal(await status(ada), 'withdrawn')
  assert.equal((await ada.download()).status, 403)
  const refunds = await createShop(shop.app).processor.refunds.list({ limit: 10 })
  assert.deepEqual(
    refunds.data.map(({ amount }) => amount),
    [29_900],
  )
  const [receipt, ...more] = await receipts(shop, ada.email)
  assert.equal(more.length, 0)
  for (const fact of [order, '$299.00', 'We refund your payment'])
    assert.ok(receipt?.text.includes(fact), fact)
  const { emails } = await listEmails(shop.platform.db, { userId: ada.userId, limit: 100 })
  assert.ok(emails.some(({ subject }) => subject === receipt?.subject))
  const [notice] = (await shop.mail(TEAM)).filter(({ subject }) => /Withdrawal/.test(subject))
  assert.match(notice?.text ?? '', /I do not need it/)
  const actions = await shop.platform.db
    .selectFrom('audit_log')
    .select('action')
    .where('action', '=', 'purchase.withdrawn')
    .execute()
  assert.equal(actions.length, 1)
})

test('nobody withdraws the order of another person, and replies do not show whether it exists', async (t) => {
  const { shop, ada, order } = await openWithOrder(t)
  const eve = await shop.buyer('eve')
  const shape = ({ body }: { body: Record<string, unknown> }) => Object.keys(body).sort()
  const right = await begin(shop, order, ada.email)
  for (const [id, email] of [
    [order, eve.email],
    [order, 'nobody@example.com'],
    ['0190a6a8-0000-7000-8000-000000000000', ada.email],
    ['my order', ada.email],
    [`${order}' or 1=1`, ada.email],
  ] as const) {
    const begun = await begin(shop, id, email)
    assert.deepEqual([begun.status, shape(begun)], [201, shape(right)])
    const confirmed = await confirm(shop, begun.body.id)
    assert.deepEqual([confirmed.status, shape(confirmed)], [200, shape(right)])
    assert.equal(await status(ada), 'completed')
    assert.deepEqual(await receipts(shop, email), [], 'a stranger gets no email')
  }
  const unknown = (await shop.mail(TEAM)).filter(({ subject }) => /unknown order/.test(subject))
  assert.equal(unknown.length, 5)
  assert.equal((await confirm(shop, '0190a6a8-0000-7000-8000-000000000000')).status, 404)
  assert.equal((await confirm(shop, 'x')).status, 422)
})

test('after 14 days, or after delivery with a waiver, the operator decides', async (t) => {
  const { shop, ada, order } = await openWithOrder(t)
  const eve = await shop.buyer('eve')
  assert.equal((await open(eve, { waiver: 'old' })).body.code, 'waiver_outdated')
  await shop.pay(eve, (await open(eve, { waiver: WAIVERS.en.version })).body.url)
  const [hers] = (await eve.get('/api/purchases')).body
  assert.deepEqual([hers.waiver.version, hers.can_withdraw], [WAIVERS.en.version, true])
  const shown = `at ${hers.waiver.at.slice(11, 16)} UTC .*\\(text of ${WAIVERS.en.version}\\)`
  assert.match((await eve.get('/dashboard')).text, new RegExp(shown))
  assert.equal((await eve.download()).status, 200)
  assert.equal((await eve.get('/api/purchases')).body[0].can_withdraw, false)
  // New downloads do not undo the delivery.
  await shop.platform.db
    .updateTable('purchases')
    .set({ download_count: 0, last_download_at: null })
    .where('id', '=', hers.id)
    .execute()
  assert.equal((await eve.get('/api/purchases')).body[0].can_withdraw, false)

  await withdraw(shop, hers.id, eve.email)
  assert.equal(await status(eve), 'completed')
  const [waived] = await receipts(shop, eve.email)
  for (const fact of [WAIVERS.en.version, hers.waiver.at, 'lose my right of withdrawal'])
    assert.ok(waived?.text.includes(fact), fact)

  // Downloading without a waiver keeps the right.
  assert.equal((await ada.download()).status, 200)
  assert.equal((await ada.get('/api/purchases')).body[0].can_withdraw, true)
  shop.clock.advance(14 * DAY_MS + 60_000)
  await withdraw(shop, order, ada.email)
  assert.equal(await status(ada), 'completed')
  assert.match((await receipts(shop, ada.email))[0]?.text ?? '', /14 days is over/)
  assert.deepEqual((await createShop(shop.app).processor.refunds.list({ limit: 10 })).data, [])
})

test('a withdrawal refunds only what a superuser has not refunded', async (t) => {
  const { shop, ada, order } = await openWithOrder(t)
  const { processor } = createShop(shop.app)
  const { payment_ref } = await shop.platform.db
    .selectFrom('purchases')
    .select('payment_ref')
    .executeTakeFirstOrThrow()
  await processor.refunds.create({ payment_intent: payment_ref, amount: 9_900 })
  await withdraw(shop, order, ada.email)
  const { data } = await processor.refunds.list({ limit: 10 })
  assert.deepEqual(data.map(({ amount }) => amount).sort(), [20_000, 9_900])

  await withdraw(shop, order, ada.email)
  assert.match((await receipts(shop, ada.email))[0]?.text ?? '', /already ended/)
  assert.equal((await processor.refunds.list({ limit: 10 })).data.length, 2)
})

test('a withdrawn upgrade gives the purchase before it back', async (t) => {
  const { shop, ada } = await openWithOrder(t, 'basic')
  const [basic] = (await ada.get('/api/purchases')).body
  await shop.pay(ada, (await open(ada, { from: basic.id })).body.url)
  const [pro] = (await ada.get('/api/purchases')).body.filter(
    ({ tier }: { tier: string }) => tier === 'pro',
  )
  await withdraw(shop, basic.id, ada.email)
  await withdraw(shop, pro.id, ada.email)
  const all = (await ada.get('/api/purchases')).body
  assert.deepEqual(
    all.map(({ tier, status }: Record<string, string>) => `${tier} ${status}`).sort(),
    ['basic completed', 'pro withdrawn'],
  )
})

test('the pages lead through both steps without JavaScript', async (t) => {
  const { shop, ada, order } = await openWithOrder(t)
  assert.match((await shop.store('GET', `/withdraw?order=${order}`)).text, new RegExp(order))
  const form = (fields: Record<string, string>) => ({ body: new URLSearchParams(fields) })
  assert.equal((await shop.store('POST', '/withdraw', form({ order, email: 'x' }))).status, 400)
  const second = await shop.store(
    'POST',
    '/withdraw',
    form({ order, email: ada.email, reason: '<b>x</b>' }),
  )
  const id = /name="id" value="([^"]+)"/.exec(second.text)?.[1] ?? ''
  assert.match(second.text, /I withdraw from my purchase/)
  const done = await shop.store('POST', '/withdraw/confirm', form({ id }))
  assert.match(done.text, /Withdrawal confirmed/)
  assert.equal((await shop.store('POST', '/withdraw/confirm', form({ id: 'x' }))).status, 404)
  await shop.settle()
  assert.equal(await status(ada), 'withdrawn')
})

test('with Stripe Tax the consent of the payment page is the waiver', async (t) => {
  const shop = await openShop(t, { TAX: 'stripe' })
  const ada = await shop.buyer('ada')
  await shop.pay(ada, (await open(ada, {})).body.url, { terms: 'on' })
  const [{ waiver }] = (await ada.get('/api/purchases')).body
  assert.equal(waiver.version, WAIVERS.en.version)
})

async function openWithOrder(t: Parameters<typeof openShop>[0], tier = 'pro') {
  const shop = await openShop(t, { SUPPORT_EMAIL: TEAM })
  const ada = await shop.buyer('ada')
  await shop.buy(ada, tier)
  const [{ id: order }] = (await ada.get('/api/purchases')).body
  return { shop, ada, order: order as string }
}

const open = (buyer: Buyer, more: object) =>
  buyer.request('POST', '/api/checkout', { body: { tier: 'pro', ...more } })

const begin = (shop: Shop, order: string, email: string, reason?: string) =>
  shop.store('POST', '/api/withdrawals', { body: { order, email, reason } })

const confirm = (shop: Shop, id: string) => shop.store('POST', `/api/withdrawals/${id}/confirm`)

async function withdraw(shop: Shop, order: string, email: string): Promise<void> {
  assert.equal((await confirm(shop, (await begin(shop, order, email)).body.id)).status, 200)
  await shop.settle()
}

async function status(buyer: Buyer): Promise<string> {
  return (await buyer.get('/api/purchases')).body[0].status
}

async function receipts(shop: Shop, email: string) {
  return (await shop.mail(email)).filter(({ subject }) => subject === 'We received your withdrawal')
}
