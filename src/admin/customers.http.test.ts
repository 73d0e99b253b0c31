import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, testApp } from '#testing/app.ts'
import { openShop } from '#testing/buyer.ts'
import { mockVendor, refuses, says } from '#testing/mock-vendor.ts'
import { findScans } from '#testing/plans.ts'
import { createShop } from '#testing/shop.ts'
import { findRequestOwner } from '#usage/request-owner.ts'
import { listCustomerEvents } from './customer-events.ts'
import { findReferencedUsers } from './customer-search.ts'
import { readCustomer } from './customers.ts'

type Event = { kind: string; at: string; [field: string]: unknown }

async function listEvents(root: Client, userId: string, query = ''): Promise<Event[]> {
  const { status, body, text } = await root.get(`/api/admin/users/${userId}/events${query}`)
  assert.equal(status, 200, text)
  return body.events
}

test('a customer is found by name, card, invoice, payment and request', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const shop = createShop(app)
  const root = await app.as('root', { superuser: true })
  const [ada, eve] = [await app.as('ada'), await app.as('eve')]
  await ada.patch('/api/users/me', { full_name: 'Ada King Lovelace' })
  await shop.subscribe(ada)
  await app.settle()
  vendor.play(says('Yes'))
  const call = await ada.post('/v1/chat/completions', {
    model: 'gpt-6-luna',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  assert.equal(call.status, 200, call.text)
  const find = async (query: string) => {
    const { status, body, text } = await root.get(`/api/admin/users?${query}`)
    assert.equal(status, 200, text)
    return body.users.map(({ email }: { email: string }) => email)
  }
  const { db } = app.platform
  const invoice = await db
    .selectFrom('invoices')
    .select(['id', 'number', 'payment_id', 'customer_id'])
    .where('user_id', '=', ada.userId)
    .executeTakeFirstOrThrow()
  assert.ok(invoice.number && invoice.payment_id && invoice.customer_id)

  for (const text of [
    'lovelace',
    'da@ex',
    '4242',
    invoice.number,
    invoice.number.toLowerCase(),
    invoice.id,
    invoice.payment_id,
    invoice.customer_id,
    call.headers.get('x-request-id') ?? '',
    ada.userId,
  ])
    assert.deepEqual(await find(`find=${encodeURIComponent(text)}`), [ada.email], text)
  for (const text of ['4243', '424', 'in_unknown', 'pi_', crypto.randomUUID()])
    assert.deepEqual(await find(`find=${text}`), [], text)

  assert.deepEqual(await find('plan=pro'), [ada.email])
  assert.deepEqual(await find('status=active'), [ada.email])
  assert.deepEqual(await find('find=eve&status=active'), [])
  assert.deepEqual(await find('find=4242&status=free'), [])
  assert.deepEqual(await find('plan=free&find=eve'), [eve.email])
  assert.equal((await eve.get('/api/admin/users?find=4242')).status, 403)

  const lettersOnly = 'cus_vtolqypmbQytsFbYclByLfbf'
  await db
    .updateTable('billing_customers')
    .set({ customer_id: lettersOnly })
    .where('customer_id', '=', invoice.customer_id)
    .execute()
  assert.deepEqual(await find(`find=${lettersOnly}`), [ada.email])

  const limits = { rows: 1, times: 10 }
  const requestId = call.headers.get('x-request-id') ?? ''
  assert.equal(await findRequestOwner(db, requestId, limits), ada.userId)
  assert.equal(await findRequestOwner(db, crypto.randomUUID(), limits), null)
  assert.equal(await findRequestOwner(db, requestId, { rows: 1, times: 0 }), null)
})

test('a customer is found by a license key, an order and its payment', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  const key = (await ada.download()).headers.get('x-license-key') ?? ''
  const [{ id }] = (await root.get('/api/admin/purchases')).body.purchases
  for (const text of [key, key.toLowerCase(), key.replaceAll('-', ' '), payment, id]) {
    const { body } = await root.get(`/api/admin/users?find=${encodeURIComponent(text)}`)
    assert.deepEqual(
      body.users.map(({ email }: { email: string }) => email),
      [ada.email],
      text,
    )
  }
  const events = await listEvents(root, ada.userId, '?about=money')
  assert.deepEqual(
    events.map((event) => [event.kind, event.order_id, event.tier, event.amount_cents]),
    [['purchase', id, 'pro', 29_900]],
  )
})

test('a customer’s page has revenue, cost, margin, keys, sessions and failed calls', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const shop = createShop(app)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await app.settle()
  const { id: keyId } = (await ada.post('/api/api-keys', { name: 'laptop' })).body
  const ask = () =>
    ada.post('/v1/chat/completions', {
      model: 'gpt-6-luna',
      messages: [{ role: 'user', content: 'The lighthouse key' }],
    })
  vendor.play(says('Yes', { usage: { prompt: 1_000, completion: 100 } }))
  await ask()
  vendor.play(refuses(400))
  await ask()

  const { body, text } = await root.get(`/api/admin/users/${ada.userId}`)
  assert.equal(text.includes('lighthouse'), false)
  const { subscription, margin_30d: margin, payments, usage_30d: usage } = body
  assert.deepEqual(subscription.mrr, { cents: payments[0].amount_cents, currency: 'usd' })
  assert.deepEqual([subscription.tier, subscription.card_last4], ['pro', '4242'])
  assert.deepEqual([usage.requests, usage.failed, usage.tokens], [2, 1, 1_100])
  assert.ok(margin.cost_usd > 0)
  assert.equal(margin.revenue.length, 1)
  assert.ok(margin.revenue[0].cents > 0 && margin.revenue[0].cents <= payments[0].amount_cents)
  assert.ok(Math.abs(margin.margin_usd - (margin.revenue[0].cents / 100 - margin.cost_usd)) < 1e-9)
  assert.deepEqual(
    body.keys.map(({ id, name }: { id: string; name: string }) => [id, name]),
    [[keyId, 'laptop']],
  )
  assert.equal(JSON.stringify(body.keys).includes('hash'), false)
  assert.equal('password_hash' in body, false)
  assert.equal(body.sessions.length, 1)

  const events = await listEvents(root, ada.userId)
  assert.deepEqual(
    events.map(({ at }) => at),
    events.map(({ at }) => at).toSorted((a, b) => b.localeCompare(a)),
  )
  const kinds = new Set(events.map(({ kind, action }) => action ?? kind))
  for (const kind of ['payment', 'call', 'registered', 'api-key.made', 'subscription.changed'])
    assert.ok(kinds.has(kind), kind)
  const calls = await listEvents(root, ada.userId, '?about=calls')
  assert.deepEqual(
    calls.map(({ kind, model, status }) => [kind, model, status]),
    [['call', 'gpt-6-luna', '400']],
  )
  assert.equal((await root.get(`/api/admin/users/${crypto.randomUUID()}`)).status, 404)
  assert.equal((await root.get(`/api/admin/users/${crypto.randomUUID()}/events`)).status, 404)
  for (const path of ['', '/events'])
    assert.equal((await ada.get(`/api/admin/users/${ada.userId}${path}`)).status, 403)
})

test('pages of events are parts of one list', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  for (let n = 0; n < 60; n++) {
    app.clock.advance(1_000)
    await root.patch(`/api/admin/users/${ada.userId}`, { is_verified: n % 2 === 0 })
  }
  const seen: Event[] = []
  let before: string | null = null
  let pages = 0
  do {
    const query: string = before === null ? '' : `?before=${before}`
    const { body } = await root.get(`/api/admin/users/${ada.userId}/events${query}`)
    seen.push(...body.events)
    before = body.next_before
    pages += 1
  } while (before !== null)
  assert.ok(pages >= 2)
  const changes = seen.filter(({ action }) => action === 'user.changed')
  assert.equal(changes.length, 60)
  assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length)
  assert.ok(changes.every(({ actor_email }) => actor_email === root.email))
})

test('a superuser signs a customer out everywhere, which the audit log records', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ada = await shop.as('ada')
  const buyer = await shop.buyer('ada')
  assert.equal((await ada.get('/api/users/me')).status, 200)
  const path = `/api/admin/users/${ada.userId}`
  assert.equal((await root.get(path)).body.sessions.length, 2)

  assert.equal((await root.post(`${path}/sign-out`)).status, 200)

  assert.equal((await ada.get('/api/users/me')).status, 401)
  assert.equal((await buyer.get('/api/purchases')).status, 401)
  assert.deepEqual((await root.get(path)).body.sessions, [])
  const [event] = await listEvents(root, ada.userId, '?about=account')
  assert.deepEqual([event?.action, event?.actor_email], ['user.signed-out', root.email])
  assert.equal((await root.post(`/api/admin/users/${crypto.randomUUID()}/sign-out`)).status, 404)
  shop.clock.advance(11 * 60_000)
  const late = await root.post(`${path}/sign-out`)
  assert.deepEqual([late.status, late.body.code], [403, 'fresh_sign_in_required'])
})

test('a payment of a subscription is refunded in part, then whole', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await app.settle()
  const read = async () => (await root.get(`/api/admin/users/${ada.userId}`)).body
  const [{ id, amount_cents }] = (await read()).payments
  const refund = (body: object) => root.post(`/api/admin/payments/${id}/refund`, body)

  assert.equal((await refund({ amount: 100 })).status, 422, 'a reason is required')
  const part = await refund({ amount: 100, reason: 'slow answers' })
  assert.deepEqual(
    [part.status, part.body],
    [200, { amount_cents: 100, currency: 'usd' }],
    part.text,
  )
  const rest = await refund({ reason: 'unhappy' })
  assert.equal(rest.body.amount_cents, amount_cents - 100)
  assert.equal((await refund({ reason: 'again' })).body.code, 'nothing_to_refund')
  await app.settle()
  assert.equal((await read()).payments[0].refunded_cents, amount_cents)
  const events = await listEvents(root, ada.userId)
  assert.equal(events.filter(({ kind }) => kind === 'refund').length, 2)
  assert.deepEqual(
    events
      .filter(({ action }) => action === 'payment.refunded')
      .map(({ data }) => (data as { reason: string }).reason)
      .sort(),
    ['slow answers', 'unhappy'],
  )
  const unknown = await root.post('/api/admin/payments/pi_unknown/refund', { reason: 'x' })
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'payment_not_found'])
})

test('no query about a customer scans a whole table', async (t) => {
  const app = await testApp(t)
  const { platform } = app
  const { userId } = await app.as('ada')
  const scans = await findScans(app, async (db) => {
    const deps = { ...platform, db, identity: app.service.identity }
    for (const text of ['4242', 'A-1', 'in_1', 'pi_1', 'cs_1', 'cus_1', crypto.randomUUID()])
      await findReferencedUsers(deps, text)
    await readCustomer(deps, userId)
    await listCustomerEvents(deps, userId, { before: platform.clock.now(), about: undefined })
  })
  assert.deepEqual(scans, [])
})
