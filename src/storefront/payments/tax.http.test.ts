import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sumRevenueByPlan } from '#billing/money/revenue.ts'
import { openProcessor, type Processor } from '#billing/processor.ts'
import { readConfig } from '#config/config.ts'
import { openShop } from '#testing/buyer.ts'
import { GOOD_CARD, PRICES } from '#testing/shop.ts'

const EVER = { from: '2000-01-01T00:00:00.000Z', before: '2100-01-01T00:00:00.000Z' }

async function openTaxed(t: TestContext, env: Record<string, string>) {
  const shop = await openShop(t, env)
  const processor = openProcessor(shop.config.processor) as Processor
  const newest = async () => (await processor.checkout.sessions.list({ limit: 1 })).data[0]
  const pay = (url: string, form: Record<string, string>) =>
    shop.app.post(
      new URL(url).pathname,
      new URLSearchParams({ card: GOOD_CARD, email: 'ada@example.com', ...form }),
    )
  const revenue = async () =>
    (await sumRevenueByPlan(shop.platform.db, EVER)).map(
      ({ kind, paid_cents, refunded_cents, tax_cents }) => [
        kind,
        paid_cents,
        refunded_cents,
        tax_cents,
      ],
    )
  return { ...shop, processor, newest, pay, revenue }
}

test('with Stripe Tax both checkouts ask for tax, consent and tax ids, and what is tax is no revenue', async (t) => {
  const shop = await openTaxed(t, { TAX: 'stripe' })
  const ada = await shop.buyer('ada')
  const client = await shop.app.as('ada')

  const checkout = await ada.get('/api/checkout?tier=basic')
  const session = await shop.newest()
  assert.deepEqual([session?.amount_subtotal, session?.total_details?.amount_tax], [19_900, 3_980])
  assert.deepEqual(
    [session?.tax_id_collection?.enabled, session?.invoice_creation?.enabled],
    [true, true],
  )
  assert.match(
    session?.custom_text.terms_of_service_acceptance?.message ?? '',
    /immediate delivery.*right of withdrawal/,
  )
  const address = checkout.headers.get('location') ?? ''
  assert.equal((await shop.pay(address, {})).status, 402, 'who does not agree does not buy')
  assert.equal((await shop.pay(address, { terms: 'on' })).status, 303)
  await shop.settle()
  assert.deepEqual(await shop.revenue(), [['purchase', 19_900, 0, 3_980]])
  const [license] = (await shop.mail(ada.email)).filter(({ subject }) =>
    subject.startsWith('Your license for'),
  )
  assert.match(
    license?.text ?? '',
    /\nPaid: \$238\.80\nOrder: [0-9a-f-]{36}\nDate: \d{4}-\d\d-\d\d\nInvoice: http\S+\n/,
  )
  const paid = await shop.platform.db.selectFrom('payments').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual([paid.kind, paid.amount_cents, paid.tax_cents], ['purchase', 23_880, 3_980])

  await shop.processor.refunds.create({ payment_intent: paid.id, amount: 11_940 })
  // Half of the tax goes back with the half. The event is on its way when the refund is answered.
  await until(async () => (await shop.revenue()).join() === 'purchase,19900,9950,1990')

  const plan = await client.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  assert.equal((await shop.newest())?.automatic_tax.enabled, true)
  assert.equal((await shop.pay(plan.body.url, { terms: 'on', tax_id: 'DE123456789' })).status, 303)
  await shop.settle()
  assert.deepEqual(
    (await shop.revenue())[0],
    ['subscription', 2_900, 0, 0],
    'who has a tax id owes the tax',
  )

  const open = async () => (await ada.get('/api/checkout?tier=pro')).headers.get('location')
  assert.equal(await open(), await open(), 'a second click leads to the same checkout')

  async function until(holds: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < 2_000; tries++) {
      await shop.settle()
      if (await holds()) return
      // Jobs on SQLite never let the event loop go by themselves.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.fail(`it did not come to hold: ${(await shop.revenue()).join()}`)
  }
})

test('with a merchant of record no tax is shown, and each product of a file has its tax code', (t) => {
  const message =
    'TAX=managed needs the tax code of every product: products[0].tax_code of CATALOGUE is missing'
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-tax-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'catalogue.json')
  const product = { tier: 'kit', name: 'Kit', price: 1, currency: 'usd' }
  writeFileSync(path, JSON.stringify({ products: [product] }))
  assert.throws(() => readConfig({ TAX: 'managed', CATALOGUE: path }), { message })
  assert.throws(() => readConfig({ TAX: 'on' }), /TAX is wrong/)
  assert.deepEqual(readConfig({}).processor.tax, { by: 'off', behavior: 'exclusive' })
})
