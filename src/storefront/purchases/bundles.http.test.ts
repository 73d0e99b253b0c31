/** Bundles: one payment for several products, which nobody takes apart. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BlobReader, TextWriter, ZipReader } from '@zip.js/zip.js'
import { lockPayment, updatePayment } from '#billing/money/payments.ts'
import { transaction } from '#platform/db/db.ts'
import { PASSWORD } from '#testing/app.ts'
import { type Buyer, openShop, paidSession, readCookie, type Shop } from '#testing/buyer.ts'
import { paymentOfCheckout } from '../payments/payment-events.ts'
import { ProductList } from '../products/product-list.ts'
import { followPayment, recordPurchase } from './purchases.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const MAIL = 'guest@example.com'
const TEAM = 'team@shop.example'
const UNKNOWN = '0190a6a8-0000-7000-8000-000000000000'
const PRODUCT = { currency: 'usd', price: 100, comparison: { Support: true } }
const PRODUCTS = [
  { ...PRODUCT, tier: 'kit', name: 'Kit', renewal_price: 30 },
  { ...PRODUCT, tier: 'tool', name: 'Tool', price: 80, updates_months: null },
  { ...PRODUCT, tier: 'suite', name: 'Suite', price: 300, upgrade_from: { kit: 5, tool: 5 } },
  { ...PRODUCT, tier: 'both', name: 'Both', price: 150, comparison: {}, bundle: ['kit', 'tool'] },
]

test('the pages show what is in a bundle, and what it costs alone', async (t) => {
  const shop = await openBundles(t)
  const page = (await shop.store('GET', '/products/both')).text
  assert.match(page, /In this bundle/)
  assert.match(page, /<a href="\/products\/kit">Kit<\/a> <span class="soft">\$100</)
  assert.match(page, /Bought one by one: \$180/)
  assert.match(page, /Buy Both/)
  assert.match(page, /"includesObject":\[\{"@type":"TypeAndQuantityNode"/)
  assert.doesNotMatch(page, /All future updates|Coming soon/)
  assert.match(page, /the license keys come by email/)
  assert.doesNotMatch(page, /class="comparison"/, 'a bundle without rows is not compared')
  const german = (await shop.store('GET', '/products/both?lang=de')).text
  assert.match(german, /In diesem Paket/)
  assert.match(german, /Einzeln gekauft: 180/)
  const pricing = (await shop.store('GET', '/pricing')).text
  assert.match(pricing, /Bought one by one: \$180/)
  assert.doesNotMatch(/<table class="comparison">.*?<\/thead>/s.exec(pricing)?.[0] ?? '', /Both/)
})

test('a bundle is for sale while each of its products is', async (t) => {
  const shop = await openBundles(t, ['kit'])
  assert.match((await shop.store('GET', '/products/both')).text, /cannot be bought yet/)
  const ada = await shop.buyer('ada')
  const reply = await ada.request('POST', '/api/checkout', { body: { tier: 'both' } })
  assert.equal(reply.body.code, 'not_for_sale')
})

test('the buyer of a bundle gets each product with its key, downloads and machines', async (t) => {
  const shop = await openBundles(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'kit')
  await shop.buy(ada, 'both')
  const { bundle, kit, tool } = await readBundle(ada)
  assert.deepEqual(
    [bundle.license_key_masked, bundle.releases, kit.bundle_id],
    [null, [], bundle.id],
  )
  assert.deepEqual([kit.can_withdraw, bundle.can_withdraw], [false, true])
  assert.deepEqual([kit.upgrades, bundle.upgrades, bundle.renewal], [[], [], null])
  assert.equal(kit.renewal.amount_cents, 3_000)
  assert.ok(kit.entitled_until)
  assert.deepEqual([tool.entitled_until, bundle.entitled_until], [null, null])

  const emails = (await shop.mail(ada.email)).filter(({ subject }) => / Both$/.test(subject))
  assert.equal(emails.length, 1)
  const keys = emails[0]?.text.match(/LK-[\w-]+/g) ?? []
  assert.equal(new Set(keys).size, 2)
  assert.match(emails[0]?.text ?? '', /Kit[\s\S]+Tool[\s\S]+\$150/)
  for (const [index, key] of keys.entries()) {
    const checked = await shop.store('POST', '/api/license/verify', { body: { license_key: key } })
    assert.deepEqual([checked.body.valid, checked.body.tier], [true, ['kit', 'tool'][index]])
    assert.equal((await activate(shop, key)).status, 201)
  }
  const page = (await ada.get('/dashboard')).text
  for (const key of keys) assert.ok(page.includes(key))
  assert.match(page, /<span>Renew updates until <time[^>]*>[^<]+<\/time> for \$30<\/span>/)
  assert.match(page, /The products of this bundle follow/)
  assert.equal(page.split('/withdraw?').length - 1, 2, 'of the kit alone and of the bundle')

  for (const { id } of [kit, tool]) {
    const reply = await ada.download(`/api/download?purchase_id=${id}`)
    assert.equal(reply.status, 200)
  }
  const history = /<section class="card history".*?<\/section>/s.exec(
    (await ada.get('/dashboard')).text,
  )
  assert.match(history?.[0] ?? '', /<th scope="col">Product<\/th>.*<td>Tool<\/td>.*<td>Kit<\/td>/s)
  const files = await ada.download(`/api/download?purchase_id=${bundle.id}`)
  assert.deepEqual([files.status, files.body.code], [409, 'bundle_without_files'])
  assert.equal((await ada.get(`/api/purchases/${kit.id}/invoice`)).body.code, 'no_invoice')
  const rotated = await ada.request('POST', `/api/purchases/${kit.id}/rotate-key`)
  assert.match(rotated.body.license_key, /^LK-/)
  for (const [path, body] of [
    ['rotate-key', undefined],
    ['tokens', { name: 'ci', days: 30 }],
  ] as const) {
    const reply = await ada.request('POST', `/api/purchases/${bundle.id}/${path}`, { body })
    assert.equal(reply.body.code, 'bundle_without_files')
  }
  const again = await ada.request('POST', '/api/checkout', { body: { tier: 'both' } })
  assert.equal(again.body.code, 'already_owned')

  await shop.store('POST', '/api/purchases/recover', { body: { email: ada.email } })
  await shop.settle()
  const recovered = (await shop.mail(ada.email)).find(({ subject }) => /license keys/.test(subject))
  assert.equal(recovered?.text.match(/LK-[\w-]+/g)?.length, 3, 'the bundle has none')
})

test('a refund, a dispute and a revocation end all products of a bundle, and come back with it', async (t) => {
  const shop = await openBundles(t)
  const ada = await shop.buyer('ada')
  const payment = await sell(shop, ada)
  const { bundle, kit } = await readBundle(ada)
  const key = (await ada.request('POST', `/api/purchases/${kit.id}/rotate-key`)).body.license_key
  const token = await ada.request('POST', `/api/purchases/${kit.id}/tokens`, {
    body: { name: 'ci', days: 30 },
  })
  assert.equal((await activate(shop, key)).status, 201)
  const dispute = (status: string) => ({
    id: 'du_1',
    object: 'dispute',
    payment_intent: payment,
    status,
  })
  const refund = { payment_intent: payment, amount: 29_900 }

  await shop.event('charge.refunded', { ...refund, amount_refunded: 5_000, refunded: false })
  assert.deepEqual(await statuses(ada), ['completed', 'completed', 'completed'])
  await shop.event('charge.dispute.created', dispute('needs_response'))
  assert.deepEqual(await statuses(ada), ['disputed', 'disputed', 'disputed'])
  assert.equal((await activate(shop, key, 'second')).body.code, 'payment_disputed')
  assert.equal((await ada.download(`/api/download?purchase_id=${kit.id}`)).status, 403)
  await shop.event('charge.dispute.closed', dispute('lost'))
  assert.deepEqual(await statuses(ada), ['refunded', 'refunded', 'refunded'])
  const verified = await shop.store('POST', '/api/license/verify', { body: { license_key: key } })
  assert.deepEqual([verified.body.valid, verified.body.code], [false, 'refunded'])
  const plain = await fetch(`${shop.storefrontUrl}/download/kit/latest.zip`, {
    headers: { authorization: `Bearer ${token.body.token}` },
  })
  assert.equal(plain.status, 401, 'the token has ended')
  await plain.body?.cancel()
  await shop.event('charge.dispute.funds_reinstated', dispute('won'))
  assert.deepEqual(await statuses(ada), ['completed', 'completed', 'completed'])

  await shop.event('charge.refunded', { ...refund, amount_refunded: 29_900, refunded: true })
  assert.deepEqual(await statuses(ada), ['refunded', 'refunded', 'refunded'])
  await shop.event('refund.failed', {
    id: 're_1',
    payment_intent: payment,
    amount: 29_900,
    status: 'failed',
  })
  assert.deepEqual(await statuses(ada), ['completed', 'completed', 'completed'])
  await shop.settle()
  const revoked = (await shop.mail(ada.email)).filter(({ subject }) => /were revoked/.test(subject))
  assert.equal(revoked.length, 1, 'one email for the bundle')

  const root = await shop.as('root', { superuser: true })
  await root.post(`/api/admin/purchases/${bundle.id}/revoke`, { reason: 'abuse' })
  assert.deepEqual(await statuses(ada), ['revoked', 'revoked', 'revoked'])
  assert.equal((await activate(shop, key)).body.code, 'license_revoked')
  await root.post(`/api/admin/purchases/${bundle.id}/restore`)
  assert.deepEqual(await statuses(ada), ['completed', 'completed', 'completed'])
  assert.equal((await activate(shop, key)).status, 201)
})

test('renewed updates of a product end with its bundle', async (t) => {
  const shop = await openBundles(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'both')
  const { bundle, kit } = await readBundle(ada)
  const renewal = await ada.request('POST', '/api/checkout', {
    body: { tier: 'kit', renew: kit.id },
  })
  await shop.pay(ada, renewal.body.url)
  const renewed = (await ada.get('/api/purchases')).body.find(
    (one: { from_id: string | null }) => one.from_id === kit.id,
  )
  assert.ok(renewed.entitled_until > kit.entitled_until)
  assert.deepEqual([renewed.bundle_id, renewed.upgrades], [null, []])
  const upgrade = { tier: 'suite', from: renewed.id }
  const refused = await ada.request('POST', '/api/checkout', { body: upgrade })
  assert.equal(refused.body.code, 'not_an_upgrade')

  const root = await shop.as('root', { superuser: true })
  await root.post(`/api/admin/purchases/${bundle.id}/revoke`, { reason: 'abuse' })
  assert.deepEqual(new Set(await statuses(ada)), new Set(['revoked', 'upgraded']))
  await root.post(`/api/admin/purchases/${bundle.id}/restore`)
  await root.post(`/api/admin/purchases/${bundle.id}/refund`, { reason: 'asked' })
  await shop.settle()
  assert.deepEqual(new Set(await statuses(ada)), new Set(['refunded']))
})

test('a refund of a bundle closes the open renewal of its product', async (t) => {
  const shop = await openBundles(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'both')
  const { bundle, kit } = await readBundle(ada)
  const body = { tier: 'kit', renew: kit.id }
  const { url } = (await ada.request('POST', '/api/checkout', { body })).body
  const root = await shop.as('root', { superuser: true })
  await root.post(`/api/admin/purchases/${bundle.id}/refund`, { reason: 'asked' })
  await shop.settle()
  await assert.rejects(shop.pay(ada, url))
})

test('a renewal paid before or after the refund of its bundle ends, and is reported', async (t) => {
  for (const order of ['renewal first', 'refund first'] as const) {
    const shop = await openBundles(t)
    const ada = await shop.buyer('ada')
    const payment = await sell(shop, ada)
    const { kit } = await readBundle(ada)
    const events = [() => renew(shop, ada, kit.id), () => refund(shop, payment)]
    for (const send of order === 'renewal first' ? events : events.toReversed()) await send()
    await shop.settle()
    await assertEndedAndReported(shop, ada, order)
    const thanks = (await shop.mail(ada.email)).filter(({ text }) => /stays the same/.test(text))
    assert.equal(thanks.length, order === 'renewal first' ? 1 : 0, 'no key that does not work')
  }
})

test('a renewal and the refund of its bundle at the same moment end it, and report it', async (t) => {
  for (const first of ['renewal', 'refund'] as const) {
    const shop = await openBundles(t)
    const ada = await shop.buyer('ada')
    const paymentId = await sell(shop, ada)
    const { kit } = await readBundle(ada)
    const { platform } = shop
    const deps = { ...platform, productList: await ProductList.read(platform) }
    const payment = paymentOfCheckout(renewalSession(ada, kit.id) as never)
    assert.ok(payment)
    // The first transaction has its locks when the second begins, and commits while it waits.
    let second: Promise<unknown> = Promise.resolve()
    const begin = async (start: () => Promise<unknown>) => {
      second = start()
      await sleep(300)
    }
    if (first === 'renewal')
      await recordPurchase(deps, payment, null, () => begin(() => refund(shop, paymentId)))
    else
      await transaction(platform.db, async (tx) => {
        const known = await lockPayment(tx, paymentId, platform.clock.now())
        const changed = { refunded_cents: 29_900, is_refunded: true }
        await updatePayment(platform, tx, known, changed)
        await followPayment(deps, tx, { ...known, ...changed }, known)
        await begin(() => recordPurchase(deps, payment, null))
      })
    await second
    await shop.settle()
    await assertEndedAndReported(shop, ada, first)
  }
})

test('a withdrawal from a bundle reports the renewal that ends with it', async (t) => {
  const shop = await openBundles(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'both')
  const { bundle, kit } = await readBundle(ada)
  await renew(shop, ada, kit.id)
  await withdraw(shop, bundle.id, ada.email)
  assert.equal((await findReports(shop)).length, 1)
  assert.deepEqual(new Set(await statuses(ada)), new Set(['withdrawn', 'refunded']))
})

test('emails about an ended bundle name its products, in the language of the buyer', async (t) => {
  for (const [locale, texts] of [
    ['en', ['Your licenses for Latchkey Both were revoked', 'license keys and downloads of its']],
    ['de', ['Ihre Lizenzen für Latchkey Both wurden widerrufen', 'der enthaltenen Produkte']],
  ] as const) {
    const shop = await openBundles(t)
    const ada = await shop.buyer('ada')
    await shop.platform.db
      .updateTable('users')
      .set({ locale })
      .where('id', '=', ada.userId)
      .execute()
    const payment = await sell(shop, ada)
    const { bundle } = await readBundle(ada)
    const root = await shop.as('root', { superuser: true })
    await root.post(`/api/admin/purchases/${bundle.id}/revoke`, { reason: 'abuse' })
    await root.post(`/api/admin/purchases/${bundle.id}/restore`)
    const dispute = { id: 'du_1', object: 'dispute', payment_intent: payment, status: 'lost' }
    await shop.event('charge.dispute.closed', dispute)
    await shop.settle()
    const revoked = (await shop.mail(ada.email)).filter(({ subject }) => subject === texts[0])
    assert.equal(revoked.length, 2)
    for (const { text } of revoked) {
      assert.match(text, new RegExp(texts[1]))
      assert.match(text, /Kit: LK-\w{4}-••••.*\s+Tool: LK-\w{4}-••••/)
    }
    await shop.event('charge.dispute.funds_reinstated', { ...dispute, status: 'won' })
    await refund(shop, payment)
    await shop.settle()
    const refunded = (await shop.mail(ada.email)).find(({ subject }) =>
      /refunded|erstattet/.test(subject),
    )
    assert.match(refunded?.text ?? '', new RegExp(texts[1]))
    assert.match(refunded?.text ?? '', /(Product|Produkt): Both/)
  }
})

test('a withdrawal takes the whole bundle, until one of its products is delivered', async (t) => {
  const shop = await openBundles(t)
  const [ada, eve] = [await shop.buyer('ada'), await shop.buyer('eve')]
  await shop.buy(ada, 'both')
  const { bundle, kit } = await readBundle(ada)
  await withdraw(shop, kit.id, ada.email)
  assert.deepEqual(await statuses(ada), ['completed', 'completed', 'completed'], 'none alone')
  await withdraw(shop, bundle.id, ada.email)
  assert.deepEqual(await statuses(ada), ['withdrawn', 'withdrawn', 'withdrawn'])

  const page = (await shop.store('GET', '/products/both')).text
  const waiver = /name="waiver" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const body = { tier: 'both', waiver }
  await shop.pay(eve, (await eve.request('POST', '/api/checkout', { body })).body.url)
  const hers = await readBundle(eve)
  assert.equal(hers.bundle.can_withdraw, true)
  assert.equal((await eve.download(`/api/download?purchase_id=${hers.tool.id}`)).status, 200)
  assert.equal((await readBundle(eve)).bundle.can_withdraw, false)
  await withdraw(shop, hers.bundle.id, eve.email)
  assert.deepEqual(await statuses(eve), ['completed', 'completed', 'completed'])
})

test('a guest claims a bundle with all its products', async (t) => {
  const shop = await openBundles(t)
  await buyAsGuest(shop, MAIL)
  const token = await readToken(shop, MAIL)
  const claimed = await claim(shop, token)
  const headers = { cookie: readCookie(claimed) }
  const { body } = await shop.store('GET', '/api/purchases', { headers })
  assert.deepEqual(body.map((one: { tier: string }) => one.tier).sort(), ['both', 'kit', 'tool'])

  // The account of a holder gets it with its session only, whole.
  const ada = await shop.buyer('ada')
  await buyAsGuest(shop, ada.email)
  assert.deepEqual((await ada.get('/api/purchases')).body, [])
  const rows = await shop.platform.db
    .selectFrom('purchases')
    .select(['id', 'tier'])
    .where('claimant_id', '=', ada.userId)
    .execute()
  const kit = rows.find(({ tier }) => tier === 'kit')?.id ?? ''
  await setVerified(shop, ada.userId)
  await shop.platform.db.updateTable('purchases').set({ is_claimant_proven: true }).execute()
  const page = (await ada.get('/dashboard')).text
  assert.equal(page.split('action="/dashboard/claim"').length - 1, 1, 'one offer')
  const alone = await ada.request('POST', '/dashboard/claim', {
    headers: FORM,
    body: new URLSearchParams({ purchase: kit }).toString(),
  })
  assert.equal(alone.status, 404)
  assert.deepEqual((await ada.get('/api/purchases')).body, [])
  // The keys of an unclaimed bundle come in one email, with one link.
  await shop.store('POST', '/api/purchases/recover', { body: { email: ada.email } })
  await shop.settle()
  const links = (await shop.mail(ada.email)).filter(({ text }) => text.includes('/claim?'))
  assert.equal(links.length, 2)
  const [key = ''] = links[0]?.text.match(/LK-[\w-]+/) ?? []
  assert.equal((await activate(shop, key)).status, 201)
  assert.equal((await claim(shop, await readToken(shop, ada.email), ada.cookie)).status, 303)
  assert.deepEqual(await statuses(ada), ['completed', 'completed', 'completed'])
  const moved = await readBundle(ada)
  const machines = await ada.get(`/api/purchases/${moved.kit.id}/activations`)
  assert.equal(machines.body.activations.length, 1, 'the machines move with the license')
})

test('the desk counts a bundle once, and finds it by the keys of its products', async (t) => {
  const shop = await openBundles(t)
  const ada = await shop.buyer('ada')
  const root = await shop.as('root', { superuser: true })
  const countOrders = async () => [
    (await root.get('/api/admin/purchases')).body.total,
    (await root.get('/api/admin/purchases.csv')).text.trim().split('\r\n').length,
  ]
  const [total, lines] = await countOrders()
  await shop.buy(ada, 'both')
  assert.deepEqual(await countOrders(), [total + 1, lines + 1])
  const { bundle, kit } = await readBundle(ada)
  const key = (await ada.request('POST', `/api/purchases/${kit.id}/rotate-key`)).body.license_key
  await ada.download(`/api/download?purchase_id=${kit.id}`)
  for (const q of [key, kit.id, bundle.id, ada.email]) {
    const { body } = await root.get(`/api/admin/purchases?${new URLSearchParams({ q })}`)
    assert.deepEqual(
      body.purchases.map((one: { id: string }) => one.id),
      [bundle.id],
      q,
    )
    assert.equal(body.total, 1)
  }
  const order = (await root.get(`/api/admin/purchases/${bundle.id}`)).body
  assert.deepEqual(
    [order.license_key_masked, order.amount_cents, order.members.map((one: Part) => one.tier)],
    [null, 15_000, ['kit', 'tool']],
  )
  assert.deepEqual(
    order.downloads.map(({ tier, version }: Record<string, string>) => [tier, version]),
    [['kit', '1.0.0']],
    'evidence for a dispute',
  )

  for (const [action, body] of [
    ['refund', { reason: 'asked' }],
    ['revoke', { reason: 'abuse' }],
    ['restore', undefined],
  ] as const) {
    const reply = await root.post(`/api/admin/purchases/${kit.id}/${action}`, body)
    assert.deepEqual([reply.status, reply.body.code], [409, 'purchase_in_bundle'], action)
  }
  const limit = await root.post(`/api/admin/purchases/${kit.id}/activations`, { limit: 9 })
  assert.deepEqual([limit.status, limit.body.activations_limit], [200, 9])
  const upgrade = { tier: 'suite', from: kit.id }
  const refused = await ada.request('POST', '/api/checkout', { body: upgrade })
  assert.equal(refused.body.code, 'not_an_upgrade')

  const eve = await shop.buyer('eve')
  for (const path of [`/api/purchases/${kit.id}/tokens`, `/api/purchases/${kit.id}/activations`]) {
    const [foreign, unknown] = [await eve.get(path), await eve.get(path.replace(kit.id, UNKNOWN))]
    assert.deepEqual([foreign.status, foreign.text], [404, unknown.text])
  }
  assert.equal((await eve.download(`/api/download?purchase_id=${kit.id}`)).status, 403)
})

test('an export has the products of a bundle; after an erasure they still end with it', async (t) => {
  const shop = await openBundles(t)
  const ada = await shop.buyer('ada')
  const payment = await sell(shop, ada)
  const { bundle, kit } = await readBundle(ada)
  const key = (await ada.request('POST', `/api/purchases/${kit.id}/rotate-key`)).body.license_key
  const client = await shop.as('ada')
  const exported = await readExport(shop, client.token)
  assert.deepEqual(
    exported
      .filter((row) => row.bundle_id === bundle.id)
      .map((row) => row.tier)
      .sort(),
    ['both', 'kit', 'tool'],
  )
  assert.equal(JSON.stringify(exported).includes(key), false)
  const deleted = await client.request('DELETE', '/api/users/me', { body: { password: PASSWORD } })
  assert.equal(deleted.status, 200)
  await shop.settle()
  const rows = await shop.platform.db
    .selectFrom('purchases')
    .selectAll()
    .where('bundle_id', '=', bundle.id)
    .execute()
  assert.equal(rows.length, 3)
  for (const row of rows)
    assert.deepEqual([row.user_id, row.claimant_id, row.owner], [null, null, row.id])
  assert.equal((await activate(shop, key)).status, 201, 'a paid license outlives the account')
  await shop.event('charge.refunded', {
    payment_intent: payment,
    amount: 29_900,
    amount_refunded: 29_900,
    refunded: true,
  })
  assert.equal((await activate(shop, key)).body.code, 'license_revoked')
})

test('a changed bundle does not change what an open checkout sells', async (t) => {
  const shop = await openShop(t)
  const root = await shop.as('root', { superuser: true })
  const form = { currency: 'usd', price: 400, name: 'All', updates_months: null }
  const change = (tier: string, body: object) =>
    root.request('PUT', `/api/admin/products/${tier}`, { body })
  const body = { ...form, tier: 'all', bundle: ['basic', 'pro'] }
  assert.equal((await root.post('/api/admin/products', body)).status, 201)
  const ada = await shop.buyer('ada')
  const open = await ada.request('POST', '/api/checkout', { body: { tier: 'all' } })
  assert.equal((await change('all', { ...form, bundle: ['basic', 'enterprise'] })).status, 200)
  await shop.pay(ada, open.body.url)
  assert.deepEqual((await tiersOf(ada)).sort(), ['all', 'basic', 'pro'])
  const eve = await shop.buyer('eve')
  await shop.buy(eve, 'all')
  assert.deepEqual((await tiersOf(eve)).sort(), ['all', 'basic', 'enterprise'])

  for (const bundle of [['basic'], ['basic', 'basic'], ['basic', 'gone'], ['basic', 'all']]) {
    const refused = await change('all', { ...form, bundle })
    assert.equal(refused.status, 422)
    assert.match(JSON.stringify(refused.body), /bundle/)
  }
  const basic = { currency: 'usd', price: 199, name: 'Basic' }
  for (const fields of [
    { slug: 'other' },
    { price: 0, free: 'email' },
    { bundle: ['pro', 'enterprise'], updates_months: null },
  ]) {
    const refused = await change('basic', { ...basic, ...fields })
    assert.deepEqual([refused.status, refused.body.code], [409, 'product_in_use'])
  }
  const retired = await root.request('DELETE', '/api/admin/products/basic')
  assert.deepEqual([retired.status, retired.body.code], [409, 'product_in_use'])
  assert.equal((await root.request('DELETE', '/api/admin/products/all')).status, 200)
})

type Part = { id: string; tier: string; bundle_id: string | null; status: string }

async function openBundles(t: TestContext, released = ['kit', 'tool', 'suite']) {
  const root = mkdtempSync(join(tmpdir(), 'bundles-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const tier of released) {
    mkdirSync(join(root, tier, '1.0.0'), { recursive: true })
    writeFileSync(join(root, tier, '1.0.0/readme.txt'), tier)
  }
  const CATALOGUE = join(root, 'catalogue.json')
  writeFileSync(CATALOGUE, JSON.stringify({ products: PRODUCTS }))
  return openShop(t, { CATALOGUE, PRODUCTS_DIR: root, SUPPORT_EMAIL: TEAM })
}

async function readBundle(buyer: Buyer) {
  const all = (await buyer.get('/api/purchases')).body
  const bundle = all.find((one: Part) => one.tier === 'both')
  const find = (tier: string) =>
    all.find((one: Part) => one.tier === tier && one.bundle_id === bundle.id)
  return { bundle, kit: find('kit'), tool: find('tool') }
}

const statuses = async (buyer: Buyer): Promise<string[]> =>
  (await buyer.get('/api/purchases')).body.map(({ status }: Part) => status)

const tiersOf = async (buyer: Buyer): Promise<string[]> =>
  (await buyer.get('/api/purchases')).body.map(({ tier }: Part) => tier)

const renewalSession = ({ userId }: Buyer, from_id: string) => {
  const session = paidSession(userId, 'kit')
  return { ...session, amount_total: 3_000, metadata: { ...session.metadata, from_id } }
}

async function renew(shop: Shop, buyer: Buyer, kitId: string): Promise<void> {
  const session = renewalSession(buyer, kitId)
  assert.equal((await shop.event('checkout.session.completed', session)).status, 200)
  await shop.settle()
}

async function refund(shop: Shop, payment_intent: string): Promise<void> {
  const refunded = { amount: 29_900, amount_refunded: 29_900, refunded: true }
  const reply = await shop.event('charge.refunded', { payment_intent, ...refunded })
  assert.equal(reply.status, 200)
}

const findReports = async (shop: Shop) =>
  (await shop.mail(TEAM)).filter(({ subject }) => /Ended, but paid: Kit for \$30/.test(subject))

async function assertEndedAndReported(shop: Shop, buyer: Buyer, order: string): Promise<void> {
  assert.deepEqual(await statuses(buyer), Array(4).fill('refunded'), order)
  const reports = await findReports(shop)
  assert.equal(reports.length, 1, order)
  const id = /shop\/orders\/([\w-]+)/.exec(reports[0]?.text ?? '')?.[1]
  const root = await shop.as('root', { superuser: true })
  const { body } = await root.get(`/api/admin/purchases/${id}`)
  assert.deepEqual([body.amount_cents, body.refunded_cents], [3_000, 0])
}

/** A purchase, as a paid checkout's event makes it, which the processor's records do not correct. */
async function sell(shop: Shop, { userId }: Buyer): Promise<string> {
  const session = paidSession(userId, 'both')
  const metadata = { ...session.metadata, bundle_0: 'kit', bundle_1: 'tool' }
  const reply = await shop.event('checkout.session.completed', { ...session, metadata })
  assert.equal(reply.status, 200)
  return session.payment_intent
}

async function readExport(shop: Shop, token: string): Promise<Part[]> {
  const response = await fetch(`${shop.app.url}/api/users/me/export?full=true`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const entries = await new ZipReader(new BlobReader(await response.blob())).getEntries()
  const entry = entries.find(({ filename }) => filename === 'purchases.json')
  assert.ok(entry && !entry.directory)
  return JSON.parse(await entry.getData(new TextWriter()))
}

const activate = (shop: Shop, license_key: string, fingerprint = 'machine') =>
  shop.store('POST', '/api/license/activate', { body: { license_key, fingerprint } })

async function withdraw(shop: Shop, order: string, email: string): Promise<void> {
  const begun = await shop.store('POST', '/api/withdrawals', { body: { order, email } })
  await shop.store('POST', `/api/withdrawals/${begun.body.id}/confirm`, { body: {} })
  await shop.settle()
}

async function buyAsGuest(shop: Shop, email: string): Promise<void> {
  const { body } = await shop.store('POST', '/api/checkout', { body: { tier: 'both', email } })
  const get = (path: string) => shop.store('GET', path.replace('/dashboard', '/purchased'))
  await shop.pay({ email, get }, body.url)
}

async function readToken(shop: Shop, email: string): Promise<string> {
  await shop.settle()
  const texts = (await shop.mail(email)).map(({ text }) => text)
  const text = texts.find((one) => one.includes('/claim?')) ?? ''
  return /claim\?token=([\w.-]+)/.exec(text)?.[1] ?? ''
}

const claim = (shop: Shop, token: string, cookie = '') =>
  shop.store('POST', '/claim', {
    headers: { ...FORM, ...(cookie && { cookie }) },
    body: new URLSearchParams({ token }).toString(),
  })

async function setVerified(shop: Shop, id: string): Promise<void> {
  await shop.platform.db
    .updateTable('users')
    .set({ is_verified: true })
    .where('id', '=', id)
    .execute()
}
