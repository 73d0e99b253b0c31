import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Stripe } from 'stripe'
import { call, type TestApp, testApp } from '#testing/app.ts'
import { holdProcessor } from '#testing/shop.ts'

for (const [room, path, secretOf, event] of [
  [
    'billing',
    '/api/billing/webhook',
    (app: TestApp) => app.config.processor.webhookSecret,
    (userId: string) => ({
      type: 'customer.subscription.updated',
      object: {
        id: 'sub_1',
        customer: 'cus_slow',
        status: 'active',
        metadata: { user_id: userId },
      },
    }),
  ],
  [
    'the storefront',
    '/api/processor/webhook',
    (app: TestApp) => app.config.processor.storefrontWebhookSecret,
    () => ({ type: 'payment_intent.succeeded', object: { id: 'pi_1', metadata: {} } }),
  ],
] as const) {
  test(`answers an event of ${room} before the slow processor does, and handles it afterwards`, async (t) => {
    const app = await testApp(t)
    const { userId } = await app.as('ada')
    const processor = holdProcessor(app, 10_000)
    const rowOf = () =>
      app.platform.db
        .selectFrom('inbox')
        .select('handled_at')
        .where('event_id', '=', 'evt_slow')
        .executeTakeFirstOrThrow()

    const payload = JSON.stringify({
      id: 'evt_slow',
      created: Math.floor(app.clock.ms() / 1000),
      type: event(userId).type,
      data: { object: event(userId).object },
    })
    const secret = secretOf(app) ?? ''
    const timestamp = Math.floor(app.clock.ms() / 1000)
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })
    const reply = await call(room === 'billing' ? app.url : app.storefrontUrl, 'POST', path, {
      body: payload,
      headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    })
    assert.deepEqual([reply.status, reply.body], [200, { received: true }])
    assert.equal(processor.isHolding(), true, 'the answer waited for the processor')
    assert.equal((await rowOf()).handled_at, null)

    processor.release()
    app.clock.advance(11_000)
    await app.settle()
    assert.notEqual((await rowOf()).handled_at, null)
  })
}
