// A hanging or failing processor delays nobody: users get a reply within 8 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { createShop, holdProcessor, intercept, PRICES } from '#testing/shop.ts'

test('returns 503 while the processor hangs, and still shows the invoices and the plan', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await app.service.billing.sync()
  const listed = (await ada.get('/api/billing/invoices')).body.invoices
  assert.equal(listed.length, 1)
  const processor = holdProcessor(app, 60_000)
  t.after(processor.release)

  const { invoices } = (await ada.get('/api/billing/invoices')).body
  assert.deepEqual(invoices, listed)
  assert.equal((await ada.get('/api/billing/subscription')).body.tier, 'pro')
  const calls: [string, object?][] = [
    [`create-checkout-session?price_id=${PRICES.enterprise}`],
    ['create-portal-session'],
    ['create-portal-session?flow=cancel'],
    ['create-payment-session'],
    ['change/preview', { price_id: PRICES.enterprise }],
    ['change', { price_id: PRICES.enterprise, proration_at: Math.floor(app.clock.ms() / 1000) }],
    ['pause'],
    ['resume'],
  ]
  await Promise.all(
    calls.map(async ([path, body]) => {
      const reply = await ada.post(`/api/billing/${path}`, body)
      assert.deepEqual([reply.status, reply.body.code], [503, 'processor_unreachable'], path)
      assert.equal(reply.headers.get('retry-after'), '5', path)
    }),
  )
  assert.ok(processor.isHolding())
})

test('reports a failing processor as unavailable and a refusal as a failure', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  let status = 500
  intercept(app, (request, response) => {
    if (!request.url?.startsWith('/sandbox/stripe/v1/')) return false
    response.writeHead(status, {
      'content-type': 'application/json',
      'stripe-should-retry': 'false',
    })
    response.end(
      JSON.stringify({
        error: { type: status === 500 ? 'api_error' : 'invalid_request_error', message: 'No' },
      }),
    )
    return true
  })
  const open = async () => ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  const failed = await open()
  assert.deepEqual(
    [failed.status, failed.body.code, failed.headers.get('retry-after')],
    [503, 'processor_unreachable', '5'],
  )
  status = 400
  const refused = await open()
  assert.deepEqual([refused.status, refused.body.code], [502, 'processor_failed'])
})

test('lists invoices without calling the processor, and reads missing ones in a job', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const list = async () => (await ada.get('/api/billing/invoices')).body.invoices
  await list()
  await app.settle()
  const [listed] = await list()
  await app.platform.db.deleteFrom('invoices').execute()
  await app.platform.db.updateTable('billing_accounts').set({ invoices_read_at: null }).execute()
  let calls = 0
  intercept(app, (request) => {
    if (request.url?.startsWith('/sandbox/stripe/v1/')) calls++
    return false
  })

  assert.deepEqual([await list(), calls], [[], 0])
  await app.settle()
  assert.ok(calls > 0)
  assert.deepEqual(await list(), [listed])
})

test('opens the page and the PDF of an invoice by a signed link without a session', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const [{ id, pay_url: page, pdf_url: pdf }] = (await ada.get('/api/billing/invoices')).body
    .invoices
  const invoice = await shop.processor.invoices.retrieve(id)
  const open = (url: string) => app.get(url.slice(url.indexOf('/api/')))
  for (const [link, target] of [
    [page, invoice.hosted_invoice_url],
    [pdf, invoice.invoice_pdf],
  ]) {
    const reply = await open(link)
    assert.deepEqual([reply.status, reply.headers.get('location')], [303, target])
  }
  assert.equal((await open(page.slice(0, -1))).status, 404)
  assert.equal((await open(page.replace(id, 'in_other'))).status, 404)
})
