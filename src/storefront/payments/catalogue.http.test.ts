import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openProcessor, type Processor } from '#billing/processor.ts'
import { openShop } from '#testing/buyer.ts'
import { GOOD_CARD } from '#testing/shop.ts'

/** Sells `basic` for 149.50 euro and `studio` for 60,000 yen. */
const CATALOGUE = join(import.meta.dirname, '../../../docs/catalogue.json')

function productsOf(t: Pick<TestContext, 'after'>, ...tiers: string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'catalogue-products-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const tier of tiers) {
    const path = join(root, tier, '1.0.0/readme.txt')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, tier)
  }
  return root
}

test('a product in euro is shown, charged, delivered and confirmed in euro', async (t) => {
  const shop = await openShop(t, { CATALOGUE, PRODUCTS_DIR: productsOf(t, 'basic', 'studio') })
  const ada = await shop.buyer('ada')
  const processor = openProcessor(shop.config.processor) as Processor

  const pricing = (await ada.get('/pricing')).text
  for (const words of [
    '€149.50',
    '¥60,000',
    'Prices are in euros and Japanese yen',
    'Buy Studio',
  ]) {
    assert.ok(pricing.includes(words), words)
  }
  assert.match(
    pricing,
    /<p>Accounts, payments and deployment, <strong>already done<\/strong>\.<\/p>/,
  )
  assert.match(pricing, /<a href="https:\/\/example\.com\/guide">a guide<\/a>/)
  assert.match(pricing, /<img src="https:\/\/example\.com\/studio\.png"/)
  assert.doesNotMatch(pricing, /US dollars|Recommended|Enterprise/)

  for (const [tier, amount, currency] of [
    ['basic', 14_950, 'eur'],
    ['studio', 60_000, 'jpy'],
  ] as const) {
    const checkout = await ada.get(`/api/checkout?tier=${tier}`)
    assert.equal(checkout.status, 302, checkout.text)
    const payUrl = new URL(checkout.headers.get('location') ?? '').pathname
    // Twenty dollars off are nothing off another currency.
    await shop.app.post(`${payUrl}/code`, new URLSearchParams({ code: 'MINUS20' }))
    const { data } = await processor.checkout.sessions.list({ limit: 1 })
    assert.deepEqual([data[0]?.amount_total, data[0]?.currency], [amount, currency])
    const page = (await shop.get(payUrl)).text
    assert.ok(
      page.includes(tier === 'basic' ? '€149.50' : '¥60,000'),
      'the payment page has the price',
    )
    const paid = await shop.app.post(
      payUrl,
      new URLSearchParams({ card: GOOD_CARD, email: ada.email }),
    )
    assert.equal(paid.status, 303, paid.text)
    const back = new URL(paid.headers.get('location') ?? '')
    assert.match((await ada.get(back.pathname + back.search)).text, /your payment has arrived/)
  }

  const [studio, basic] = await shop.platform.db
    .selectFrom('purchases')
    .selectAll()
    .orderBy('created_at', 'desc')
    .execute()
  assert.deepEqual(
    [studio?.amount_cents, studio?.currency, basic?.amount_cents, basic?.currency].sort(),
    [14_950, 60_000, 'eur', 'jpy'],
  )
  const [charge] = (await processor.charges.list({ limit: 1 })).data
  await shop.app.post(
    `/sandbox/processor/charges/${charge?.id}/refund`,
    new URLSearchParams({ units: '20000' }),
  )
  assert.equal(
    (await processor.charges.retrieve(charge?.id ?? '')).amount_refunded,
    20_000,
    'a yen is not cut in hundredths',
  )
  assert.equal(
    (await ada.get('/api/checkout?tier=enterprise')).status,
    400,
    'what is built in is not sold beside it',
  )
  assert.equal((await ada.get('/api/purchases')).body.length, 2)
  assert.match((await ada.get('/dashboard')).text, /Studio[\s\S]*Basic|Basic[\s\S]*Studio/)
  const mail = (await shop.mail(ada.email)).map(({ subject }) => subject)
  assert.ok(mail.includes('Your license for Latchkey Studio'), mail.join())
})

test('the page policy allows images only from the catalogue’s addresses', async (t) => {
  const shop = await openShop(t, { CATALOGUE })
  const policy = (await shop.store('GET', '/')).headers.get('content-security-policy') ?? ''
  assert.match(policy, /img-src 'self' https:\/\/example\.com;/)
  const plain = await openShop(t)
  assert.match(
    (await plain.store('GET', '/')).headers.get('content-security-policy') ?? '',
    /img-src 'self';/,
  )
})

test('a checkout that was open when the price changed is closed, and the next one has the new price', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const processor = openProcessor(shop.config.processor) as Processor
  const old = (await ada.get('/api/checkout?tier=basic')).headers.get('location')
  assert.equal(
    (await ada.get('/api/checkout?tier=basic')).headers.get('location'),
    old,
    'as long as it costs the same',
  )

  const { catalogue } = shop.app.config
  const products = catalogue.products.map((product) => ({
    ...product,
    price: 249,
    currency: 'eur',
  }))
  await shop.app.restart({ catalogue: { ...catalogue, products } })
  const now = (await ada.get('/api/checkout?tier=basic')).headers.get('location')
  assert.notEqual(now, old)
  const { data } = await processor.checkout.sessions.list({ limit: 10 })
  assert.deepEqual(
    data.map(({ status, amount_total, currency }) => [status, amount_total, currency]).sort(),
    [
      ['expired', 19_900, 'usd'],
      ['open', 24_900, 'eur'],
    ],
  )
})

test('a product removed while its buyer paid is still delivered and breaks no page', async (t) => {
  const root = productsOf(t, 'basic')
  const shop = await openShop(t, { PRODUCTS_DIR: root })
  const ada = await shop.buyer('ada')
  const checkout = await ada.get('/api/checkout?tier=basic')
  const { catalogue } = shop.app.config
  await shop.app.restart({ catalogue: { ...catalogue, products: [] } })

  const payUrl = new URL(checkout.headers.get('location') ?? '').pathname
  await shop.app.post(payUrl, new URLSearchParams({ card: GOOD_CARD, email: ada.email }))
  await shop.app.settle()
  const [purchase] = (await ada.get('/api/purchases')).body
  assert.deepEqual(
    [purchase.tier, purchase.status, purchase.version],
    ['basic', 'completed', '1.0.0'],
  )
  assert.equal((await ada.download()).status, 200)
  assert.match((await ada.get('/dashboard')).text, /<h2 [^>]*>basic<\/h2>/)
  for (const path of ['/', '/pricing']) assert.equal((await ada.get(path)).status, 200, path)
  assert.equal((await ada.get('/api/checkout?tier=basic')).status, 400)
})
