import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { createShop } from '#testing/shop.ts'

test('cancelling works with a retention coupon that the processor lacks or has deleted', async (t) => {
  const app = await testApp(t, { env: { RETENTION_COUPON: 'SOON_GONE' } })
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const openFlow = async () => {
    const reply = await ada.post('/api/billing/create-portal-session?flow=cancel')
    assert.equal(reply.status, 200, reply.text)
    return new URL(reply.body.url).pathname
  }
  const page = async () => (await app.get(await openFlow())).text

  assert.doesNotMatch(await page(), /30 %/, 'no such coupon')
  await shop.processor.coupons.create({
    id: 'SOON_GONE',
    percent_off: 30,
    duration: 'once',
    name: '30 % off',
  })
  assert.match(await page(), /30 %/)
  await shop.processor.coupons.del('SOON_GONE')
  assert.doesNotMatch(await page(), /30 %/, 'a deleted coupon')
  await shop.press(await openFlow(), { choice: 'cancel', feedback: 'unused' })
  assert.equal((await shop.readSubscription(ada)).cancel_at_period_end, true)
})
