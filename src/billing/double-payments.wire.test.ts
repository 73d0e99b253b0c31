// Money never ends up as an unusable credit: a plan that was paid twice, and an account deleted
// while its plan is paid.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, PASSWORD, testApp } from '#testing/app.ts'
import { createShop, PRICES } from '#testing/shop.ts'

test('refunds a plan that was paid in two tabs once, with one email to the customer and one to the operator', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  const open = async (client: Client, price: string = PRICES.enterprise) =>
    (await client.post(`/api/billing/create-checkout-session?price_id=${price}`)).body.url as string
  const tabs = [await open(ada), await open(ada)]
  for (const tab of tabs) {
    assert.equal((await shop.pay(tab)).status, 303)
    shop.later()
  }
  for (let time = 0; time < 2; time++) {
    await app.service.billing.sync()
    await app.settle()
  }
  const { processor_customer_id: customer, tier } = await shop.subscription(ada)
  assert.equal(tier, 'enterprise')
  const { data } = await shop.processor.charges.list({ customer: customer ?? '' })
  assert.deepEqual(
    data.map(({ amount, amount_refunded }) => [amount, amount_refunded]),
    [
      [9900, 0],
      [9900, 9900],
    ],
  )
  const { balance } = (await shop.processor.customers.retrieve(customer ?? '')) as {
    balance: number
  }
  assert.equal(balance, 0)
  const { data: subscriptions } = await shop.processor.subscriptions.list({
    customer: customer ?? '',
    status: 'all',
  })
  assert.deepEqual(
    subscriptions.map(({ status }) => status),
    ['active', 'canceled'],
  )
  const emails = async (to: string, subject: RegExp) =>
    (await app.mail(to)).filter((mail) => subject.test(mail.subject)).length
  assert.equal(await emails(ada.email, /^You paid twice, so we refunded \$99\.00$/), 1)
  assert.equal(await emails(ada.email, /refunded/), 1, 'one email about the refund')
  assert.equal(
    await emails(app.config.mail.supportEmail, /A double payment was refunded: \$99\.00/),
    1,
  )

  await shop.pay(await open(ada, 'price_sandbox_enterprise_yearly'))
  await app.service.billing.sync()
  await app.settle()
  assert.equal(await emails(ada.email, /^Your new plan replaced the earlier one$/), 1)
  const after = (await shop.processor.charges.list({ customer: customer ?? '' })).data
  assert.equal(
    after.filter(({ refunded }) => refunded).length,
    1,
    'a change of plan is credited, not refunded',
  )
})

test('leaves no credit and no negative invoice of a deleted account, and announces this beforehand', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada, { price: PRICES.proYearly })
  const { processor_customer_id: customer } = await shop.subscription(ada)
  const { description } = (await app.get('/openapi.json')).body.paths['/api/users/me'].delete
  assert.match(description, /neither refunded nor credited/)
  assert.equal((await ada.delete('/api/users/me', { password: PASSWORD })).status, 200)
  await app.settle()
  const { data } = await shop.processor.subscriptions.list({
    customer: customer ?? '',
    status: 'all',
  })
  assert.equal(data[0]?.status, 'canceled')
  const { balance } = (await shop.processor.customers.retrieve(customer ?? '')) as {
    balance: number
  }
  assert.equal(balance, 0)
  const invoices = (await shop.processor.invoices.list({ customer: customer ?? '' })).data
  assert.deepEqual(
    invoices.map(({ total }) => total > 0),
    [true],
  )
})
