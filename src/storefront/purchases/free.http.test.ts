/** Free products, and attackers who want paid ones the same way. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findUserByEmail } from '#identity/users.ts'
import type { Reply } from '#testing/app.ts'
import { openShop, readCookie, type Shop } from '#testing/buyer.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const MAIL = 'guest@example.com'
const PRODUCT = { currency: 'usd', price: 0 }
const PRODUCTS = [
  { ...PRODUCT, tier: 'lite', name: 'Lite', free: 'email' },
  { ...PRODUCT, tier: 'club', name: 'Club', free: 'account' },
  { ...PRODUCT, tier: 'pro', name: 'Pro', price: 299, upgrade_from: { lite: 'difference' } },
]

test('a visitor confirms an address and gets a free product', async (t) => {
  const shop = await openFreeShop(t)
  const product = await shop.store('GET', '/products/lite')
  assert.match(product.text, /<p class="price">Free<\/p>\n<p class="once">with your email address/)
  assert.match(product.text, /Get Lite/)
  assert.match(product.text, /"price":"0"/)
  assert.doesNotMatch(product.text, /name="waiver"|Buy Lite|\$0/)
  const german = await shop.store('GET', '/checkout?tier=lite&lang=de', {
    headers: { 'accept-language': 'de' },
  })
  assert.match(german.text, /Lite holen/)

  const sent = await send(shop, { tier: 'lite', email: MAIL })
  assert.deepEqual([sent.status, sent.headers.get('location')], [303, '/checkout/sent'])
  assert.match((await shop.store('GET', '/checkout/sent')).text, /Check your inbox/)
  const token = await readToken(shop, MAIL)
  assert.equal(await findUserByEmail(shop.platform.db, MAIL), null, 'nothing before the link')

  assert.match((await shop.store('GET', `/claim?token=${token}`)).text, /guest@example\.com/)
  assert.equal(await findUserByEmail(shop.platform.db, MAIL), null, 'mail scanners open links')
  const claimed = await claim(shop, token)
  assert.deepEqual([claimed.status, claimed.headers.get('location')], [303, '/dashboard'])
  const cookie = readCookie(claimed)
  const [purchase, ...more] = (await shop.store('GET', '/api/purchases', { headers: { cookie } }))
    .body
  assert.deepEqual([more.length, purchase.tier, purchase.can_withdraw], [0, 'lite', false])
  const download = await fetch(`${shop.storefrontUrl}/api/download`, { headers: { cookie } })
  assert.equal(download.status, 200)
  await download.body?.cancel()
  const invoice = `/api/purchases/${purchase.id}/invoice`
  const refused = await shop.store('GET', invoice, { headers: { cookie } })
  assert.equal(refused.body.code, 'no_invoice')
  const page = (await shop.store('GET', '/dashboard', { headers: { cookie } })).text
  assert.doesNotMatch(page, /\/invoice|\/withdraw\?/)

  await shop.app.settle()
  const email = (await shop.mail(MAIL)).find(({ subject }) => /Your license for/.test(subject))
  assert.match(email?.text ?? '', /LK-/)
  assert.doesNotMatch(email?.text ?? '', /Paid|\$0|Invoice|Receipt/)
  assert.equal((await claim(shop, token)).status, 400, 'the link works once')
})

test('a free order costs nothing and has nothing to refund or to withdraw from', async (t) => {
  const shop = await openFreeShop(t)
  const ada = await verifiedBuyer(shop, 'ada')
  assert.equal((await take(ada, 'club')).headers.get('location'), '/dashboard')
  const root = await shop.as('root', { superuser: true })
  const [order] = (await root.get('/api/admin/purchases')).body.purchases
  assert.deepEqual([order.tier, order.amount_cents, order.status], ['club', 0, 'completed'])
  const refund = await root.post(`/api/admin/purchases/${order.id}/refund`, { reason: 'asked' })
  assert.deepEqual([refund.status, refund.body.code], [409, 'nothing_to_refund'])
  const body = { order: order.id, email: ada.email }
  const begun = await shop.store('POST', '/api/withdrawals', { body })
  await shop.store('POST', `/api/withdrawals/${begun.body.id}/confirm`, { body: {} })
  const after = await root.get(`/api/admin/purchases/${order.id}`)
  assert.equal(after.body.status, 'completed')
  assert.deepEqual((await root.get('/api/admin/payments')).body.payments ?? [], [])
  const revoked = await root.post(`/api/admin/purchases/${order.id}/revoke`, { reason: 'abuse' })
  assert.equal(revoked.body.status, 'revoked')
  await take(ada, 'club')
  const [only, ...more] = (await ada.get('/api/purchases')).body
  assert.deepEqual([only.status, more.length], ['revoked', 0], 'no second one')
})

test('a product for accounts needs a verified one', async (t) => {
  const shop = await openFreeShop(t)
  const visit = await shop.store('GET', '/checkout?tier=club')
  assert.equal(visit.headers.get('location'), '/login?redirect=%2Fcheckout%3Ftier%3Dclub')
  assert.equal((await send(shop, { tier: 'club', email: MAIL })).status, 303)
  const asked = await shop.store('POST', '/api/checkout', { body: { tier: 'club', email: MAIL } })
  assert.deepEqual([asked.status, asked.body.code], [401, 'not_signed_in'])
  assert.deepEqual(await shop.mail(MAIL), [])

  const ada = await shop.buyer('ada')
  await setVerified(shop, ada.userId, false)
  const early = await ada.request('POST', '/api/checkout', { body: { tier: 'club' } })
  assert.deepEqual([early.status, early.body.code], [403, 'email_not_verified'])
  await setVerified(shop, ada.userId, true)
  const { body } = await ada.request('POST', '/api/checkout', { body: { tier: 'club' } })
  assert.equal(body.url, `${shop.config.urls.storefront}/dashboard`)
  assert.deepEqual(await tiersOf(ada), ['club'])
})

test('a link for an address with an account adds the product with its session only', async (t) => {
  const shop = await openFreeShop(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await send(shop, { tier: 'lite', email: ada.email })
  const token = await readToken(shop, ada.email)
  assert.match((await claim(shop, token)).headers.get('location') ?? '', /^\/login\?redirect=/)
  assert.equal((await claim(shop, token, eve.cookie)).status, 403)
  assert.deepEqual([await tiersOf(ada), await tiersOf(eve)], [[], []])
  assert.equal((await claim(shop, token, ada.cookie)).status, 303)
  assert.deepEqual([await tiersOf(ada), await tiersOf(eve)], [['lite'], []])
})

test('a mailbox gets a free product once', async (t) => {
  const shop = await openFreeShop(t)
  const ada = await verifiedBuyer(shop, 'ada')
  const replies = await Promise.all(Array.from({ length: 4 }, () => take(ada, 'lite')))
  assert.deepEqual(
    replies.map(({ status }) => status),
    [303, 303, 303, 303],
  )
  assert.deepEqual(await tiersOf(ada), ['lite'])

  await send(shop, { tier: 'lite', email: ada.email.replace('@', '+second@') })
  const token = await readToken(shop, ada.email.replace('@', '+second@'))
  const reply = await shop.store('POST', '/api/claim', { body: { token } })
  assert.deepEqual([reply.status, reply.body.code], [409, 'free_product_taken'])
  assert.equal(await findUserByEmail(shop.platform.db, ada.email.replace('@', '+second@')), null)
})

test('requests for free products are limited, and disposable addresses are refused', async (t) => {
  const shop = await openFreeShop(t, {
    SIGNUP_DOMAINS: '!disposable',
    RATE_LIMIT_GENERAL: '1000/60',
  })
  const refused = await send(shop, { tier: 'lite', email: 'a@mailinator.com' })
  assert.equal(refused.status, 400)
  for (let count = 0; count < 20; count++)
    assert.equal((await send(shop, { tier: 'lite', email: MAIL })).status, 303)
  assert.equal((await send(shop, { tier: 'lite', email: MAIL })).status, 429)
  await shop.app.settle()
  assert.equal((await shop.mail(MAIL)).length, 5)
})

test('no paid product comes without its payment', async (t) => {
  const shop = await openFreeShop(t)
  const ada = await verifiedBuyer(shop, 'ada')
  const paid = await take(ada, 'pro')
  assert.match(paid.headers.get('location') ?? '', /\/sandbox\/pay\/cs_/)
  for (const more of ['free=pro', 'price=0&product=pro', 'tier=pro'])
    await ada.request('POST', '/checkout', { headers: FORM, body: `tier=lite&${more}` })
  assert.deepEqual(await tiersOf(ada), ['lite'])

  // The difference of an upgrade from a free product is the whole price.
  const [lite] = (await ada.get('/api/purchases')).body
  assert.deepEqual(
    lite.upgrades.map((one: { tier: string; amount_cents: number }) => [
      one.tier,
      one.amount_cents,
    ]),
    [['pro', 29_900]],
  )
  for (const sale of [{ from: lite.id }, { renew: lite.id }]) {
    const reply = await ada.request('POST', '/api/checkout', { body: { tier: 'lite', ...sale } })
    assert.equal(reply.body.code, 'not_an_upgrade')
  }
  // Another site cannot put a product into an account.
  const forged = await ada.request('POST', '/checkout', {
    headers: { ...FORM, 'sec-fetch-site': 'cross-site' },
    body: form({ tier: 'club' }),
  })
  assert.equal(forged.status, 403)
  assert.equal(
    (await ada.get('/api/checkout?tier=club')).headers.get('location'),
    '/checkout?tier=club',
  )
  assert.deepEqual(await tiersOf(ada), ['lite'])
})

test('a link that was mailed while the product was free opens it no more once it has a price', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const lite = { name: 'Basic', currency: 'usd', price: 0, free: 'email' }
  const change = (body: object) => root.request('PUT', '/api/admin/products/basic', { body })
  assert.equal((await change(lite)).status, 200)
  await send(shop, { tier: 'basic', email: MAIL })
  const token = await readToken(shop, MAIL)
  const priced = { ...lite, price: 199, free: null }
  assert.equal((await change(priced)).status, 200)
  const reply = await shop.store('POST', '/api/claim', { body: { token } })
  assert.deepEqual([reply.status, reply.body.code], [409, 'not_for_sale'])
  assert.equal(await findUserByEmail(shop.platform.db, MAIL), null)
  for (const wrong of [{ price: 5 }, { renewal_price: 5 }, { upgrade_from: { pro: 1 } }]) {
    const refused = await change({ ...lite, ...wrong })
    assert.equal(refused.status, 422)
  }
})

async function openFreeShop(t: TestContext, env: Record<string, string> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'free-products-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const { tier } of PRODUCTS) {
    mkdirSync(join(root, tier, '1.0.0'), { recursive: true })
    writeFileSync(join(root, tier, '1.0.0/readme.txt'), tier)
  }
  const CATALOGUE = join(root, 'catalogue.json')
  writeFileSync(CATALOGUE, JSON.stringify({ products: PRODUCTS }))
  return openShop(t, { CATALOGUE, PRODUCTS_DIR: root, ...env })
}

type TestBuyer = Awaited<ReturnType<Shop['buyer']>>

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

const send = (shop: Shop, fields: Record<string, string>): Promise<Reply> =>
  shop.store('POST', '/checkout', { headers: FORM, body: form(fields) })

/** Clicks the button of the product's page. */
async function take(buyer: TestBuyer, tier: string): Promise<Reply> {
  const page = await buyer.get(`/checkout?tier=${tier}`)
  if (page.status === 302) return buyer.get(page.headers.get('location') ?? '')
  return buyer.request('POST', '/checkout', { headers: FORM, body: form({ tier }) })
}

function claim(shop: Shop, token: string, cookie = ''): Promise<Reply> {
  const headers = { ...FORM, ...(cookie && { cookie }) }
  return shop.store('POST', '/claim', { headers, body: form({ token }) })
}

async function readToken(shop: Shop, email: string): Promise<string> {
  await shop.app.settle()
  const texts = (await shop.mail(email)).map(({ text }) => text)
  return (
    /claim\?token=([\w.-]+)/.exec(texts.find((text) => text.includes('/claim?')) ?? '')?.[1] ?? ''
  )
}

async function tiersOf(buyer: TestBuyer): Promise<string[]> {
  return (await buyer.get('/api/purchases')).body.map(({ tier }: { tier: string }) => tier)
}

async function setVerified(shop: Shop, id: string, is_verified: boolean): Promise<void> {
  await shop.platform.db.updateTable('users').set({ is_verified }).where('id', '=', id).execute()
}

async function verifiedBuyer(shop: Shop, name: string): Promise<TestBuyer> {
  const buyer = await shop.buyer(name)
  await setVerified(shop, buyer.userId, true)
  return buyer
}
