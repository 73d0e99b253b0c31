// A processor that hangs, or fails, holds nobody: people get an answer within 8 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { holdProcessor, intercept, PRICES, shopOf } from '#testing/shop.ts'

test('a person is answered with 503 while the processor hangs, and sees the invoices and the plan', async (t) => {
  const app = await testApp(t)
  const shop = shopOf(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await app.service.billing.sync()
  const [listed] = (await ada.get('/api/billing/invoices')).body.invoices
  const processor = holdProcessor(app, 60_000)
  t.after(processor.release)

  const { invoices } = (await ada.get('/api/billing/invoices')).body
  assert.deepEqual(invoices, [{ ...listed, description: null, pay_url: null, pdf_url: null }])
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

test('a processor that fails is unavailable, and has refused nothing', async (t) => {
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
