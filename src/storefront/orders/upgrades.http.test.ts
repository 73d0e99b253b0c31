import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Buyer, openShop, type Shop } from '#testing/buyer.ts'
import { createShop } from '#testing/shop.ts'

const DAY_MS = 24 * 3_600_000

test('an upgrade costs the difference, keeps the license key and replaces the purchase', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'basic')
  const key = await readKey(ada)
  const basic = await find(ada, 'basic')
  assert.deepEqual(basic.upgrades, [
    { tier: 'pro', name: 'Pro', amount_cents: 10_000, currency: 'usd' },
    { tier: 'enterprise', name: 'Enterprise', amount_cents: 30_000, currency: 'usd' },
  ])
  assert.equal(basic.renewal, null)

  await pay(shop, ada, { tier: 'pro', from: basic.id })
  const pro = await find(ada, 'pro')
  assert.deepEqual([pro.status, pro.from_id], ['completed', basic.id])
  assert.equal((await find(ada, 'basic')).status, 'upgraded')
  assert.equal(await readKey(ada), key)
  const verified = await shop.store('POST', '/api/license/verify', { body: { license_key: key } })
  assert.deepEqual([verified.body.valid, verified.body.tier], [true, 'pro'])
  assert.equal((await ada.download(`/api/download?purchase_id=${basic.id}`)).status, 403)
  assert.equal(await countPaid(shop), 29_900)

  // The next one counts both payments.
  assert.deepEqual(
    pro.upgrades.map(({ amount_cents }) => amount_cents),
    [20_000],
  )
  await pay(shop, ada, { tier: 'enterprise', from: pro.id })
  assert.deepEqual(await statuses(ada), {
    basic: 'upgraded',
    pro: 'upgraded',
    enterprise: 'completed',
  })
  assert.equal(await countPaid(shop), 49_900)
})

test('the difference counts what a partial refund returned', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'basic')
  const { id } = await find(ada, 'basic')
  const open = (await openCheckout(ada, { tier: 'pro', from: id })).body.url
  await refund(shop, id, 5_000)

  assert.equal((await find(ada, 'basic')).upgrades[0]?.amount_cents, 15_000)
  // The page with the old price is closed.
  await assert.rejects(shop.pay(ada, open))
  await pay(shop, ada, { tier: 'pro', from: id })
  assert.equal((await find(ada, 'pro')).status, 'completed')
  assert.equal(await countPaid(shop), 29_900)
})

test('a refunded upgrade gives the purchase before it back, and a refunded origin ends the upgrade', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'basic')
  const basic = await find(ada, 'basic')
  await pay(shop, ada, { tier: 'pro', from: basic.id })
  const { id } = await find(ada, 'pro')
  const root = await shop.as('root', { superuser: true })
  const refused = await root.post(`/api/admin/purchases/${basic.id}/refund`, { reason: 'x' })
  assert.deepEqual([refused.status, refused.body.code], [409, 'purchase_upgraded'])

  await refund(shop, id)
  assert.deepEqual(await statuses(ada), { basic: 'completed', pro: 'refunded' })
  const key = await readKey(ada, basic.id)

  await pay(shop, ada, { tier: 'enterprise', from: basic.id })
  // In the processor's dashboard, any payment can be refunded.
  const { payment_ref } = await root
    .get(`/api/admin/purchases/${basic.id}`)
    .then(({ body }) => body)
  await createShop(shop.app).processor.refunds.create({ payment_intent: payment_ref })
  await shop.app.service.billing.sync()
  assert.deepEqual(await statuses(ada), {
    basic: 'refunded',
    pro: 'refunded',
    enterprise: 'refunded',
  })
  const verified = await shop.store('POST', '/api/license/verify', { body: { license_key: key } })
  assert.equal(verified.body.valid, false)
})

test('only an own, current purchase can be upgraded, and only to what its product allows', async (t) => {
  const shop = await openShop(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.buy(ada, 'pro')
  await shop.buy(eve, 'basic')
  const [pro, hers] = [await find(ada, 'pro'), await find(eve, 'basic')]
  const ask = async (buyer: Buyer, body: object) => {
    const { status, body: said } = await openCheckout(buyer, body)
    return [status, said.code]
  }
  const missing = '0190a6a8-0000-7000-8000-000000000000'
  assert.deepEqual(await ask(ada, { tier: 'basic', from: pro.id }), [409, 'not_an_upgrade'])
  assert.deepEqual(await ask(ada, { tier: 'enterprise', from: hers.id }), [409, 'not_an_upgrade'])
  assert.deepEqual(await ask(ada, { tier: 'enterprise', from: missing }), [409, 'not_an_upgrade'])
  assert.deepEqual(await ask(ada, { tier: 'pro' }), [409, 'already_owned'])
  assert.deepEqual(await ask(ada, { tier: 'pro', from: pro.id }), [409, 'already_owned'])
  assert.deepEqual(await ask(ada, { tier: 'pro', renew: pro.id }), [409, 'not_renewable'])
  assert.deepEqual(await ask(ada, { tier: 'nothing' }), [400, 'tier_invalid'])
  assert.deepEqual(await ask(ada, { tier: 'enterprise', from: 'x' }), [422, 'validation_failed'])
  // Amounts of the request are not read.
  const { body } = await openCheckout(ada, {
    tier: 'enterprise',
    from: pro.id,
    amount: 1,
    price: 1,
    unit_amount: 1,
  })
  const session = await readSession(shop, body.url)
  assert.equal(session.amount_total, 20_000)

  const { processor } = createShop(shop.app)
  const charges = await processor.charges.list({ payment_intent: await readPayment(shop, hers.id) })
  await shop.app.request('POST', `/sandbox/processor/charges/${charges.data[0]?.id}/dispute`)
  await shop.app.service.billing.sync()
  assert.deepEqual(await ask(eve, { tier: 'pro', from: hers.id }), [409, 'not_an_upgrade'])
  await refund(shop, pro.id)
  assert.deepEqual(await ask(ada, { tier: 'enterprise', from: pro.id }), [409, 'not_an_upgrade'])
})

test('a purchase pays for one upgrade: another choice closes the open page', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'basic')
  const { id } = await find(ada, 'basic')
  const [toPro, again] = [
    await openCheckout(ada, { tier: 'pro', from: id }),
    await openCheckout(ada, { tier: 'pro', from: id }),
  ]
  assert.equal(toPro.body.url, again.body.url)
  const toEnterprise = await openCheckout(ada, { tier: 'enterprise', from: id })
  await assert.rejects(shop.pay(ada, toPro.body.url))
  await shop.pay(ada, toEnterprise.body.url)
  assert.deepEqual(await statuses(ada), { basic: 'upgraded', enterprise: 'completed' })
})

test('the payment of a stranger does not touch the purchase that it names', async (t) => {
  const shop = await openShop(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.sell(ada, 'basic')
  const { id } = await find(ada, 'basic')
  // No checkout of this service has such metadata.
  const session = {
    id: 'cs_test_forged',
    object: 'checkout.session',
    mode: 'payment',
    payment_status: 'paid',
    payment_intent: 'pi_forged',
    amount_total: 1,
    currency: 'usd',
    metadata: { user_id: eve.userId, tier: 'pro', from_id: id, sale: 'upgrade' },
  }
  await shop.event('checkout.session.completed', session)
  assert.equal((await find(ada, 'basic')).status, 'completed')
  assert.equal((await find(eve, 'pro')).from_id, null)
})

test('a renewal counts from the end of updates, or from now when they have ended', async (t) => {
  const shop = await openShop(t, writeCatalogue(t))
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'kit')
  const first = await find(ada, 'kit')
  const { renewal } = first
  assert.deepEqual([renewal?.amount_cents, renewal?.currency], [4_900, 'eur'])
  assert.equal(renewal?.until, addYear(first.entitled_until))

  const key = await readKey(ada)
  await pay(shop, ada, { tier: 'kit', renew: first.id })
  const second = await current(ada)
  assert.deepEqual([second.from_id, second.entitled_until], [first.id, renewal.until])
  assert.equal(await readKey(ada), key)

  // Long after the end.
  shop.clock.advance(3 * 366 * DAY_MS)
  const returning = await shop.buyer('ada')
  const late = await current(returning)
  assert.equal(late.entitled_until, second.entitled_until)
  await pay(shop, returning, { tier: 'kit', renew: late.id })
  const third = await current(returning)
  const days = (Date.parse(third.entitled_until) - shop.clock.ms()) / DAY_MS
  assert.ok(days > 364 && days < 367, `${days} days`)

  // Renewals paid for updates, so an upgrade does not count them.
  assert.deepEqual(
    third.upgrades.map(({ amount_cents }) => amount_cents),
    [15_000, 5_000],
  )
  assert.equal(
    (await openCheckout(returning, { tier: 'kit', renew: first.id })).body.code,
    'not_renewable',
  )
  assert.equal(
    (await openCheckout(returning, { tier: 'suite', renew: third.id })).body.code,
    'not_renewable',
  )
  assert.equal(
    (await openCheckout(returning, { tier: 'kit', renew: third.id, from: third.id })).body.code,
    'not_renewable',
  )

  await refund(shop, third.id)
  assert.equal((await current(returning)).id, late.id)
})

test('a promotion code is applied before the payment page', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const { processor } = createShop(shop.app)
  const half = await processor.coupons.create({ percent_off: 50 })
  const euros = await processor.coupons.create({ amount_off: 100, currency: 'eur' })
  await processor.promotionCodes.create({
    promotion: { type: 'coupon', coupon: half.id },
    code: 'HALF',
  })
  await processor.promotionCodes.create({
    promotion: { type: 'coupon', coupon: euros.id },
    code: 'EUROS',
  })
  const refused = await openCheckout(ada, { tier: 'pro', code: 'NOTHING' })
  assert.deepEqual([refused.status, refused.body.code], [400, 'unknown_promotion_code'])
  const foreign = await openCheckout(ada, { tier: 'pro', code: 'EUROS' })
  assert.deepEqual([foreign.status, foreign.body.code], [409, 'promotion_code_unusable'])

  const plain = (await openCheckout(ada, { tier: 'pro' })).body.url
  const { headers } = await ada.get('/api/checkout?tier=pro&code=half')
  const url = headers.get('location') ?? ''
  assert.notEqual(url, plain)
  assert.equal((await readSession(shop, url)).amount_total, 14_950)
  await shop.pay(ada, url)
  const pro = await find(ada, 'pro')
  // The difference counts what was paid, not the price.
  assert.deepEqual(
    pro.upgrades.map(({ amount_cents }) => amount_cents),
    [49_900 - 14_950],
  )
})

test('an upgrade that is already paid for costs nothing', async (t) => {
  const shop = await openShop(t, writeCatalogue(t))
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'suite')
  const { id, upgrades } = await find(ada, 'suite')
  assert.deepEqual(upgrades, [{ tier: 'cheap', name: 'Cheap', amount_cents: 0, currency: 'eur' }])
  assert.match((await ada.get('/dashboard')).text, />Upgrade to Cheap at no charge<\/a>/)
  assert.match((await ada.get('/products/cheap')).text, />Upgrade from Suite at no charge<\/a>/)
  await pay(shop, ada, { tier: 'cheap', from: id })
  assert.deepEqual(await statuses(ada), { suite: 'upgraded', cheap: 'completed' })
})

test('visitors sign in first, and the address of the upgrade survives it', async (t) => {
  const shop = await openShop(t)
  const id = '0190a6a8-0000-7000-8000-000000000000'
  const target = `/api/checkout?tier=pro&from=${id}`
  const { status, headers } = await shop.store('GET', target)
  assert.deepEqual(
    [status, headers.get('location')],
    [302, `/login?redirect=${encodeURIComponent(target)}`],
  )
})

type Purchase = {
  id: string
  tier: string
  status: string
  from_id: string | null
  entitled_until: string
  upgrades: { tier: string; name: string; amount_cents: number; currency: string }[]
  renewal: { amount_cents: number; currency: string; until: string } | null
}

async function list(buyer: Buyer): Promise<Purchase[]> {
  return (await buyer.get('/api/purchases')).body
}

async function find(buyer: Buyer, tier: string): Promise<Purchase> {
  const found = (await list(buyer)).find((one) => one.tier === tier)
  assert.ok(found, tier)
  return found
}

async function current(buyer: Buyer): Promise<Purchase> {
  const found = (await list(buyer)).find(({ status }) => status === 'completed')
  assert.ok(found)
  return found
}

async function statuses(buyer: Buyer): Promise<Record<string, string>> {
  return Object.fromEntries((await list(buyer)).map(({ tier, status }) => [tier, status]))
}

const openCheckout = (buyer: Buyer, body: object) =>
  buyer.request('POST', '/api/checkout', { body })

async function pay(shop: Shop, buyer: Buyer, body: object): Promise<void> {
  const { status, body: said } = await openCheckout(buyer, body)
  assert.equal(status, 200, JSON.stringify(said))
  await shop.pay(buyer, said.url)
}

async function readKey(buyer: Buyer, purchaseId?: string): Promise<string> {
  const query = purchaseId ? `?purchase_id=${purchaseId}` : ''
  const { headers, status } = await buyer.download(`/api/download${query}`, { range: 'bytes=0-0' })
  assert.ok([200, 206].includes(status), `${status}`)
  return headers.get('x-license-key') ?? ''
}

async function readPayment(shop: Shop, id: string): Promise<string> {
  const row = await shop.platform.db
    .selectFrom('purchases')
    .select('payment_ref')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.payment_ref
}

/** What all payments are worth after their refunds. */
async function countPaid(shop: Shop): Promise<number> {
  const rows = await shop.platform.db
    .selectFrom('payments')
    .select(['amount_cents', 'refunded_cents'])
    .execute()
  return rows.reduce(
    (sum, { amount_cents, refunded_cents }) => sum + amount_cents - refunded_cents,
    0,
  )
}

async function refund(shop: Shop, id: string, amount?: number): Promise<void> {
  const root = await shop.as('root', { superuser: true })
  const reply = await root.post(`/api/admin/purchases/${id}/refund`, { amount, reason: 'test' })
  assert.equal(reply.status, 200, reply.text)
  await shop.settle()
}

function readSession(shop: Shop, url: string) {
  const id = new URL(url).pathname.split('/').at(-1) ?? ''
  return createShop(shop.app).processor.checkout.sessions.retrieve(id)
}

function addYear(instant: string): string {
  const date = new Date(instant)
  date.setUTCFullYear(date.getUTCFullYear() + 1)
  return date.toISOString()
}

/** Three products with releases. */
function writeCatalogue(t: TestContext): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-upgrades-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const tier of ['kit', 'suite', 'cheap']) {
    mkdirSync(join(folder, 'products', tier, '1.0.0'), { recursive: true })
    writeFileSync(join(folder, 'products', tier, '1.0.0', 'README.md'), '# Hello\n')
  }
  const path = join(folder, 'catalogue.json')
  const product = { currency: 'eur', name: 'Kit' }
  writeFileSync(
    path,
    JSON.stringify({
      products: [
        { ...product, tier: 'kit', price: 100, renewal_price: 49 },
        {
          ...product,
          tier: 'suite',
          name: 'Suite',
          price: 250,
          upgrade_from: { kit: 'difference' },
        },
        {
          ...product,
          tier: 'cheap',
          name: 'Cheap',
          price: 200,
          upgrade_from: { kit: 50, suite: 'difference' },
        },
      ],
    }),
  )
  return { CATALOGUE: path, PRODUCTS_DIR: join(folder, 'products') }
}
