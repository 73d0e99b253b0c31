import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Buyer, openShop, type Shop } from '#testing/buyer.ts'
import { createShop, failToMake } from '#testing/shop.ts'

test('a code for owners of a product works for them alone, and not on the payment page', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.sell(ada, 'basic')
  const form = { code: 'Loyal', percent_off: 20, tiers: ['enterprise'], owners_of: 'basic' }
  const made = await root.post('/api/admin/discounts', form)
  assert.equal(made.status, 201, made.text)
  const { storefront } = shop.config.urls
  assert.equal(made.body.link, `${storefront}/products/enterprise?code=Loyal`)
  assert.equal(await price(shop, ada, 'enterprise', 'LOYAL'), 39_920)
  assert.equal(await price(shop, eve, 'enterprise', 'LOYAL'), 'promotion_code_unusable')
  assert.equal(await price(shop, ada, 'pro', 'LOYAL'), 'promotion_code_unusable')
  const { data } = await createShop(shop.app).processor.promotionCodes.list({
    code: 'Loyal',
    limit: 1,
  })
  assert.deepEqual(data, [])

  assert.equal(
    (await root.post('/api/admin/discounts', { code: 'LOYAL', percent_off: 5 })).body.code,
    'discount_code_taken',
  )
  assert.equal((await root.delete(`/api/admin/discounts/${made.body.id}`)).status, 200)
  assert.equal(
    (await root.delete(`/api/admin/discounts/${made.body.id}`)).body.code,
    'discount_not_found',
  )
  assert.equal(await price(shop, ada, 'enterprise', 'LOYAL'), 'unknown_promotion_code')
  assert.equal(
    (await root.post('/api/admin/discounts', { code: 'LOYAL', percent_off: 5 })).status,
    201,
    'the name is free again',
  )
  const { discounts } = (await root.get('/api/admin/discounts')).body
  assert.deepEqual(
    discounts.map(({ link }: { link: string }) => link),
    [`${storefront}/pricing?code=LOYAL`],
  )
})

test('a code ends with its time and its uses', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  const until = new Date(shop.clock.ms() + 3_600_000).toISOString()
  await root.post('/api/admin/discounts', {
    code: 'ONCE',
    amount_off: 9_900,
    currency: 'usd',
    redemptions_max: 1,
  })
  await root.post('/api/admin/discounts', { code: 'SOON', percent_off: 50, until })
  const { body } = await open(ada, 'pro', 'ONCE')
  await shop.pay(ada, body.url)
  const [{ amount_cents }] = (await shop.platform.db
    .selectFrom('purchases')
    .select('amount_cents')
    .execute()) as [{ amount_cents: number }]
  assert.equal(amount_cents, 20_000)
  assert.equal(await price(shop, eve, 'pro', 'ONCE'), 'promotion_code_unusable')
  assert.equal(await price(shop, eve, 'basic', 'SOON'), 9_950)
  shop.clock.advance(3_600_001)
  assert.equal(await price(shop, eve, 'pro', 'SOON'), 'promotion_code_unusable')
})

test('a discount is a percentage or an amount, and needs a superuser with a fresh sign-in', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const ask = async (form: object) =>
    (await root.post('/api/admin/discounts', { code: 'CODE', ...form })).status
  for (const form of [
    {},
    { percent_off: 10, amount_off: 5, currency: 'usd' },
    { amount_off: 5 },
    { percent_off: 10, currency: 'usd' },
    { percent_off: 0 },
    { percent_off: 101 },
    { percent_off: 10, code: 'a b' },
    { percent_off: 10, until: '2001-01-01T00:00:00.000Z' },
    { percent_off: 10, tiers: [] },
  ])
    assert.equal(await ask(form), 422, JSON.stringify(form))
  const mend = failToMake(shop.app, 'coupon')
  assert.ok((await ask({ percent_off: 10 })) >= 500)
  mend()
  assert.equal(await ask({ percent_off: 10 }), 201, 'a failed creation leaves the name free')
  const ada = await shop.as('ada')
  assert.equal(
    (await ada.post('/api/admin/discounts', { code: 'MINE', percent_off: 100 })).status,
    403,
  )
  shop.clock.advance(11 * 60_000)
  assert.equal(await ask({ code: 'LATE', percent_off: 10 }), 403)
})

test('a code must leave a price of nothing, or one that Stripe charges', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const make = (form: object) => root.post('/api/admin/discounts', { currency: 'usd', ...form })
  const refused = await make({ code: 'NEARLY', amount_off: 19_851 })
  assert.deepEqual([refused.status, refused.body.code], [409, 'amount_too_small'])
  assert.match(refused.body.detail, /^With this code, Basic would cost \$0\.49, .* \$0\.50/)
  assert.equal((await make({ code: 'LAST', amount_off: 19_850 })).status, 201)
  assert.equal((await make({ code: 'WHOLE', amount_off: 19_900 })).status, 201)
  assert.equal((await make({ code: 'EURO', amount_off: 19_851, currency: 'eur' })).status, 201)
  const only = { code: 'ONLY', amount_off: 19_851, tiers: ['pro'] }
  assert.equal((await make(only)).status, 201)

  const [basic] = (await root.get('/api/admin/products')).body.products
  const { tier, retired_at, is_for_sale, revision, ...form } = basic
  const reprice = (amount: number) =>
    root.request('PUT', `/api/admin/products/${tier}`, { body: { ...form, price: amount } })
  assert.equal((await reprice(198.7)).status, 200)
  const ada = await shop.buyer('ada')
  assert.equal(await price(shop, ada, 'basic', 'LAST'), 'amount_too_small', 'prices change')
  const tiny = await reprice(0.4)
  assert.equal(tiny.status, 422)
  assert.match(tiny.text, /Stripe charges at least \$0\.50/)
})

const open = (buyer: Buyer, tier: string, code: string) =>
  buyer.request('POST', '/api/checkout', { body: { tier, code } })

async function price(shop: Shop, buyer: Buyer, tier: string, code: string) {
  const { body } = await open(buyer, tier, code)
  if (!body.url) return body.code
  const id = new URL(body.url).pathname.split('/').at(-1) ?? ''
  const session = await createShop(shop.app).processor.checkout.sessions.retrieve(id)
  return session.amount_total
}
