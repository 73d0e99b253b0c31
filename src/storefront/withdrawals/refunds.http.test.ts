import assert from 'node:assert/strict'
import { test } from 'node:test'
import { billingProblem } from '#billing/problems.ts'
import { openShop, type Shop } from '#testing/buyer.ts'
import { createShop } from '#testing/shop.ts'
import { ProductList } from '../products/product-list.ts'
import { refundWithdrawal } from './refunds.ts'

const TEAM = 'team@shop.example'

test('the operator gets one email when the refund of a withdrawal fails at the bank', async (t) => {
  const shop = await openShop(t, { SUPPORT_EMAIL: TEAM })
  const { order } = await withdraw(shop)
  assert.deepEqual(await failures(shop), [])
  const [charge] = (await createShop(shop.app).processor.charges.list({ limit: 1 })).data
  await createShop(shop.app).press(`/sandbox/processor/charges/${charge?.id}/fail-refund`)
  await shop.settle()
  const [mail, ...more] = await failures(shop)
  assert.ok(mail?.includes(order))
  assert.deepEqual(more, [])
  await shop.app.service.billing.sync()
  await shop.settle()
  assert.equal((await failures(shop)).length, 1)
})

test('the operator gets an email when the processor refuses the refund; other failures are retried', async (t) => {
  const shop = await openShop(t, { SUPPORT_EMAIL: TEAM })
  const { order, paymentId } = await withdraw(shop)
  const productList = await ProductList.read(shop.platform)
  const refund = (code: 'processor_failed' | 'processor_unreachable' | 'nothing_to_refund') =>
    refundWithdrawal(
      {
        ...shop.platform,
        productList,
        billing: { refundPayment: () => Promise.reject(billingProblem(code)) },
      },
      { paymentId },
    )
  await refund('nothing_to_refund')
  await assert.rejects(refund('processor_unreachable'))
  await shop.settle()
  assert.deepEqual(await failures(shop), [])
  await refund('processor_failed')
  await shop.settle()
  const [mail] = await failures(shop)
  assert.ok(mail?.includes(order))
})

async function withdraw(shop: Shop) {
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'pro')
  const [{ id: order }] = (await ada.get('/api/purchases')).body
  const { body } = await shop.store('POST', '/api/withdrawals', {
    body: { order, email: ada.email },
  })
  await shop.store('POST', `/api/withdrawals/${body.id}/confirm`)
  await shop.settle()
  const [row] = await shop.platform.db.selectFrom('purchases').select('payment_ref').execute()
  return { order: order as string, paymentId: row?.payment_ref ?? '' }
}

async function failures(shop: Shop): Promise<string[]> {
  const mails = await shop.mail(TEAM)
  return mails.filter(({ subject }) => /Refund failed/.test(subject)).map(({ text }) => text)
}
