import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { createShop, PRICES } from '#testing/shop.ts'

type Row = {
  id: string
  type: string
  email: string | null
  amount_cents: number
  tax_cents: number
}

test('the listed payments and refunds sum up to the revenue, in pages and as CSV', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const root = await app.as('root', { superuser: true })
  const [ada, bob] = [await app.as('ada'), await app.as('bob')]
  await shop.subscribe(ada)
  await shop.subscribe(bob, { price: PRICES.enterprise })
  await app.service.billing.sync()
  const { body: customer } = await root.get(`/api/admin/users/${ada.userId}`)
  const refund = { amount: 900, reason: 'Slow answers' }
  const refunded = await root.post(`/api/admin/payments/${customer.payments[0].id}/refund`, refund)
  assert.equal(refunded.status, 200, refunded.text)
  await app.settle()

  const day = app.clock.now().slice(0, 10)
  const rows: Row[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { status, body, text } = await root.get(
      `/api/admin/movements?from=${day}&to=${day}&limit=1${query}`,
    )
    assert.equal(status, 200, text)
    rows.push(...body.movements)
    cursor = body.next_cursor
  }
  assert.deepEqual(
    rows.map(({ type, email, amount_cents }) => [type, email, amount_cents]).sort(),
    [
      ['payment', ada.email, 2_900],
      ['payment', bob.email, 9_900],
      ['refund', ada.email, -900],
    ],
  )
  const { body: metrics } = await root.get(`/api/admin/metrics?from=${day}&to=${day}&names=revenue`)
  const revenue = rows.reduce((sum, row) => sum + row.amount_cents - row.tax_cents, 0)
  assert.equal(metrics.totals[0].value, revenue)
  const refunds = await root.get('/api/admin/movements?type=refund')
  assert.equal(refunds.body.movements.length, 1)

  const csv = await root.get(`/api/admin/movements.csv?from=${day}&to=${day}`)
  const lines = csv.text.trim().split('\r\n')
  assert.equal(lines[0], 'date,type,id,payment,invoice,customer,sold,currency,amount,tax,net')
  const amounts = lines.slice(1).filter((line) => !line.includes(',fee,'))
  assert.deepEqual(amounts.map((line) => line.split(',').slice(5, 9).join(' ')).sort(), [
    `${ada.email} Plan Pro usd -9`,
    `${ada.email} Plan Pro usd 29`,
    `${bob.email} Plan Enterprise usd 99`,
  ])
})

test('invoices of all customers are listed by status, for superusers only', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await app.service.billing.sync()
  const list = async (status: string) =>
    (await root.get(`/api/admin/invoices?status=${status}`)).body.invoices
  assert.deepEqual(
    (await list('paid')).map(({ email, total_cents, tier }: Record<string, unknown>) => [
      email,
      total_cents,
      tier,
    ]),
    [[ada.email, 2_900, 'pro']],
  )
  assert.deepEqual(await list('open'), [])
  for (const path of ['invoices', 'movements', 'movements.csv'])
    assert.equal((await ada.get(`/api/admin/${path}`)).status, 403, path)
  assert.equal((await root.get('/api/admin/invoices?cursor=none')).status, 422)
  assert.equal((await root.get('/api/admin/movements?from=2020-01-01')).status, 422)
})
