import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '#testing/app.ts'
import { openShop, type Shop } from '#testing/buyer.ts'
import { createShop, intercept } from '#testing/shop.ts'

const MONTH_MS = 31 * 24 * 3_600_000

test('a superuser finds purchases by buyer, id, payment, key, status and product', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  const payment = await shop.sell(ada, 'pro')
  shop.clock.advance(1000)
  await shop.sell(eve, 'basic')
  const key = (await ada.download()).headers.get('x-license-key') ?? ''
  const find = async (query: string) => {
    const { status, body } = await root.get(`/api/admin/purchases?${query}`)
    assert.equal(status, 200)
    return body.purchases.map(({ tier }: { tier: string }) => tier)
  }

  assert.deepEqual(await find(''), ['basic', 'pro'])
  const [order] = (await root.get('/api/admin/purchases?q=ada@')).body.purchases
  assert.deepEqual(
    [order.email, order.status, order.amount_cents, order.refunded_cents, order.payment_ref],
    [ada.email, 'completed', 29_900, 0, payment],
  )
  for (const q of [order.id, ada.userId, payment, key, key.toLowerCase(), 'ada@example.com'])
    assert.deepEqual(await find(`q=${encodeURIComponent(q)}`), ['pro'], q)
  assert.deepEqual(await find('q=nobody@example.com'), [])
  assert.deepEqual(await find('q=LK-0000-0000-0000-0000-0000-0000-0000'), [])
  assert.deepEqual(await find('status=completed'), ['basic', 'pro'])
  assert.deepEqual(await find('status=refunded'), [])
  assert.deepEqual(await find('product=pro'), ['pro'])

  const first = (await root.get('/api/admin/purchases?limit=1')).body
  assert.deepEqual([first.total, first.pages], [2, 2])
  assert.deepEqual(await find(`limit=1&cursor=${first.next_cursor}`), ['pro'])
  assert.equal((await root.get('/api/admin/purchases?status=lost')).status, 422)
})

test('an order shows its deliveries and hides its key', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const downloaded = await ada.download('/api/download', { 'user-agent': 'curl/8' })
  const key = downloaded.headers.get('x-license-key') ?? ''
  const { body, text } = await readOnly(root)
  assert.equal(body.downloads.length, 1)
  assert.deepEqual(
    [body.downloads[0].user_agent, body.downloads[0].ip_address],
    ['curl/8', '127.0.0.1'],
  )
  assert.deepEqual(
    [body.waiver, body.refunds, body.disputes, body.chain.length, body.from_id],
    [null, [], [], 1, null],
  )
  assert.equal(text.includes(key), false)
  const missing = '0190a6a8-0000-7000-8000-000000000000'
  assert.equal((await root.get(`/api/admin/purchases/${missing}`)).status, 404)
})

test('a part of a payment is refunded, then the rest, and the status follows the processor', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'pro')
  const { id } = (await readOnly(root)).body
  const refund = (body: object) => root.post(`/api/admin/purchases/${id}/refund`, body)

  assert.equal((await refund({ amount: 100 })).status, 422, 'a reason is required')
  assert.equal((await refund({ amount: 0, reason: 'x' })).status, 422)
  const tooMuch = await refund({ amount: 29_901, reason: 'x' })
  assert.deepEqual(
    [tooMuch.status, tooMuch.body.code, tooMuch.body.left],
    [409, 'refund_too_large', 29_900],
  )

  const part = await refund({ amount: 5_000, reason: 'late delivery' })
  assert.deepEqual(
    [part.status, part.body.status, part.body.refunded_cents, part.body.refunds.length],
    [200, 'completed', 5_000, 1],
  )
  // The same amount again is a second refund.
  assert.equal((await refund({ amount: 5_000, reason: 'again' })).body.refunded_cents, 10_000)
  const rest = await refund({ reason: 'unhappy' })
  assert.deepEqual([rest.body.status, rest.body.refunded_cents], ['refunded', 29_900])
  assert.equal((await refund({ reason: 'once more' })).body.code, 'nothing_to_refund')
  assert.equal((await ada.download()).status, 403)
  await shop.settle()
  const refunds = await createShop(shop.app).processor.refunds.list({ limit: 10 })
  assert.deepEqual(refunds.data.map(({ amount }) => amount).sort(), [19_900, 5_000, 5_000].sort())
  const entries = await auditOf(shop, id)
  assert.deepEqual(
    entries
      .filter(([action]) => action === 'purchase.refunded')
      .map(([, data]) => [data.amount_cents, data.reason]),
    [
      [5_000, 'late delivery'],
      [5_000, 'again'],
      [19_900, 'unhappy'],
    ],
  )
  assert.equal(
    (await shop.mail(ada.email)).filter(({ subject }) => subject.startsWith('We refunded')).length,
    3,
  )
})

test('simultaneous refunds of a payment refund it once', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'pro')
  const { id } = (await readOnly(root)).body
  const replies = await Promise.all(
    Array.from({ length: 6 }, () =>
      root.post(`/api/admin/purchases/${id}/refund`, { amount: 20_000, reason: 'double click' }),
    ),
  )
  const statuses = replies.map(({ status }) => status)
  assert.ok(statuses.includes(200), String(statuses))
  assert.ok(
    statuses.every((status) => [200, 409, 503].includes(status)),
    String(statuses),
  )
  const refunds = await createShop(shop.app).processor.refunds.list({ limit: 10 })
  assert.deepEqual(
    refunds.data.map(({ amount }) => amount),
    [20_000],
  )
  assert.equal((await readOnly(root)).body.refunded_cents, 20_000)
})

test('a refund that the processor rejects changes nothing', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'pro')
  const { id } = (await readOnly(root)).body
  intercept(shop.app, (request, response) => {
    if (request.method !== 'POST' || !request.url?.endsWith('/v1/refunds')) return false
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { type: 'invalid_request_error', message: 'No.' } }))
    return true
  })
  const reply = await root.post(`/api/admin/purchases/${id}/refund`, { reason: 'unhappy' })
  assert.deepEqual([reply.status, reply.body.code], [502, 'processor_failed'])
  const { body } = await readOnly(root)
  assert.deepEqual([body.status, body.refunded_cents], ['completed', 0])
  assert.deepEqual(await auditOf(shop, id), [])
})

test('downloads are reset, updates are extended, and the key is sent again', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  await shop.platform.db
    .updateTable('purchases')
    .set({ status: 'expired', download_count: 5, other_downloads_json: { '1.0.0': 5 } })
    .execute()
  const { id, entitled_until } = (await readOnly(root)).body
  const change = (action: string, body?: object) =>
    root.post(`/api/admin/purchases/${id}/${action}`, body)

  const reset = await change('reset-downloads')
  assert.deepEqual(
    [reset.status, reset.body.status, reset.body.download_count],
    [200, 'completed', 0],
  )
  assert.equal((await ada.download('/api/download?version=1.0.0')).status, 200)

  assert.equal((await change('extend', { until: entitled_until })).body.code, 'not_an_extension')
  const until = new Date(Date.parse(entitled_until) + MONTH_MS).toISOString()
  assert.equal((await change('extend', { until })).body.entitled_until, until)

  assert.equal((await change('resend')).status, 200)
  const emails = (await shop.mail(ada.email)).filter(({ text }) => text.includes('LK-'))
  assert.equal(emails.length, 2)

  assert.equal((await change('activations', { limit: 9 })).body.activations_limit, 9)
  assert.equal((await change('activations', { limit: null })).body.activations_limit, null)
  assert.equal((await change('activations', { limit: -1 })).status, 422)
  assert.deepEqual(
    (await auditOf(shop, id)).map(([action]) => action),
    [
      'purchase.downloads_reset',
      'purchase.extended',
      'purchase.resent',
      'purchase.activations_set',
      'purchase.activations_set',
    ],
  )
})

test('a superuser releases a machine beyond the buyer’s own releases of the month', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const { id } = (await readOnly(root)).body
  const license_key = (await ada.download()).headers.get('x-license-key')
  const activate = async (fingerprint: string) =>
    (await shop.store('POST', '/api/license/activate', { body: { license_key, fingerprint } })).body
  const release = (machine: string) =>
    root.delete(`/api/admin/purchases/${id}/activations/${machine}`)

  const machines = await Promise.all(['one', 'two', 'three'].map(activate))
  assert.equal((await activate('four')).code, 'activations_full')
  for (const { activation_id } of machines) {
    const { status, body } = await release(activation_id)
    assert.deepEqual(
      [status, body.machines.some((one: { id: string }) => one.id === activation_id)],
      [200, false],
    )
    assert.equal((await release(activation_id)).body.code, 'activation_not_found')
  }
  assert.ok((await activate('four')).activation_id)
  const { body } = await ada.get(`/api/purchases/${id}/activations`)
  assert.deepEqual([body.activations.length, body.releases_left], [1, 3])
  const [entry] = await auditOf(shop, id)
  assert.equal(entry?.[0], 'purchase.machine_released')
})

test('a revoked purchase is restored by a superuser alone, and never past a refund', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  const payment = await shop.sell(ada, 'pro')
  const { id } = (await readOnly(root)).body
  const change = (action: string, body?: object) =>
    root.post(`/api/admin/purchases/${id}/${action}`, body)

  assert.equal((await change('restore')).body.code, 'purchase_not_restorable')
  const revoked = await change('revoke', { reason: 'the key was published' })
  assert.deepEqual([revoked.body.status, revoked.body.revoked_at !== null], ['revoked', true])
  assert.equal((await change('revoke', { reason: 'x' })).body.code, 'purchase_ended')
  assert.equal((await change('resend')).body.code, 'purchase_ended')
  assert.equal((await ada.download()).status, 403)

  // The processor's events do not restore it.
  await shop.event('charge.dispute.closed', { payment_intent: payment, status: 'lost' })
  await shop.event('charge.dispute.funds_reinstated', { payment_intent: payment, status: 'won' })
  assert.equal((await readOnly(root)).body.status, 'revoked')
  assert.equal((await change('restore')).body.status, 'completed')

  await change('revoke', { reason: 'again' })
  await shop.event('charge.refunded', {
    payment_intent: payment,
    amount: 1,
    amount_refunded: 1,
    refunded: true,
  })
  assert.equal((await change('restore')).body.status, 'refunded')
})

test('money needs a fresh sign-in, and everything a superuser', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const { id } = (await readOnly(root)).body
  const user = await shop.as('ada')
  for (const [action, body] of [
    ['refund', { reason: 'x' }],
    ['resend', undefined],
    ['reset-downloads', undefined],
    ['extend', { until: '2099-01-01T00:00:00Z' }],
    ['revoke', { reason: 'x' }],
    ['restore', undefined],
    ['activations', { limit: 9 }],
  ] as const) {
    assert.equal(
      (await user.post(`/api/admin/purchases/${id}/${action}`, body)).status,
      403,
      action,
    )
  }
  for (const path of ['', '.csv', `/${id}`])
    assert.equal((await user.get(`/api/admin/purchases${path}`)).status, 403, path)

  shop.clock.advance(11 * 60_000)
  const stale = await root.post(`/api/admin/purchases/${id}/refund`, { reason: 'x' })
  assert.deepEqual([stale.status, stale.body.code], [403, 'fresh_sign_in_required'])
})

test('purchases are exported as CSV, filtered like the list', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.buy(ada, 'pro')
  await shop.sell(eve, 'basic')
  // The reconciliation reads the fees.
  await shop.app.service.billing.sync()
  const { headers, text } = await root.get('/api/admin/purchases.csv?product=pro')
  assert.match(headers.get('content-type') ?? '', /^text\/csv/)
  const [head, ...lines] = text.trimEnd().split('\r\n')
  assert.match(head ?? '', /^order,date,email,/)
  assert.equal(lines.length, 1)
  assert.match(
    lines[0] ?? '',
    /,ada@example\.com,pro,completed,299\.00,0\.00,0\.00,USD,8\.97,USD,pi_/,
  )
  assert.equal((await root.get('/api/admin/purchases.csv')).text.trimEnd().split('\r\n').length, 3)
})

/** Reads the only order. */
async function readOnly(root: Client) {
  const [order] = (await root.get('/api/admin/purchases')).body.purchases
  return root.get(`/api/admin/purchases/${order.id}`)
}

async function auditOf(shop: Shop, id: string): Promise<[string, Record<string, unknown>][]> {
  const rows = await shop.platform.db
    .selectFrom('audit_log')
    .select(['action', 'details'])
    .where('subject', '=', `purchase:${id}`)
    .where('actor', 'is not', null)
    .orderBy('at')
    .orderBy('id')
    .execute()
  return rows.map(({ action, details }) => [action, JSON.parse(details ?? '{}')])
}
