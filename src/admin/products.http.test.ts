import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { openShop } from '#testing/buyer.ts'

const COURSE = { tier: 'course', name: 'Course', price: 49.5, currency: 'EUR' }

test('a product made by a superuser is on the pages at once, with the defaults of the catalogue', async (t) => {
  const { shop, root } = await openDesk(t)
  const before = (await root.get('/api/admin/products')).body
  assert.equal(before.is_fixed, false)
  assert.deepEqual(readTiers(before), ['basic', 'pro', 'enterprise'])

  const form = { ...COURSE, slug: 'the-course', faq: [{ question: 'For whom?', answer: 'All.' }] }
  const made = await root.post('/api/admin/products', { ...form, position: 1 })
  assert.equal(made.status, 201, made.text)
  const { currency, activations_max, updates_months, faq, slug, revision } = made.body
  assert.equal(made.body.is_for_sale, false, 'it has no release')
  assert.deepEqual(
    [currency, activations_max, updates_months, faq, slug, revision],
    ['eur', 3, 12, form.faq, 'the-course', 1],
  )
  const after = (await root.get('/api/admin/products')).body
  assert.deepEqual(readTiers(after), ['basic', 'course', 'pro', 'enterprise'])
  const { text } = await shop.store('GET', '/pricing')
  assert.ok(text.includes('€49.50') && text.includes('US dollars'), 'shown beside the built-in')
  assert.equal(
    (await shop.store('GET', '/api/checkout?tier=course')).status,
    302,
    'leads to the sign-in',
  )
})

test('a change is in effect at once, and an outdated one is refused', async (t) => {
  const { shop, root } = await openDesk(t)
  const [basic] = (await root.get('/api/admin/products')).body.products
  assert.equal(basic.is_for_sale, true)
  const { tier, retired_at, is_for_sale, revision, ...form } = basic
  const change = (body: object) => root.request('PUT', `/api/admin/products/${tier}`, { body })

  const renamed = await change({ ...form, name: 'Starter', price: 9.99, position: 2, revision: 0 })
  assert.equal(renamed.status, 200, renamed.text)
  assert.match((await shop.store('GET', '/pricing')).text, /Starter<.+\$9\.99/s)
  const list = (await root.get('/api/admin/products')).body
  assert.deepEqual(readTiers(list), ['pro', 'enterprise', 'basic'])

  const again = await change({ ...form, name: 'Kit', revision: renamed.body.revision })
  assert.equal(again.status, 200)
  const outdated = await change({ ...form, name: 'Set', revision: renamed.body.revision })
  assert.deepEqual([outdated.status, outdated.body.code], [409, 'product_changed'])
  const [pro] = list.products
  assert.equal(pro.revision, 0, 'a change of another product does not count')
  assert.equal((await root.request('PUT', '/api/admin/products/none', { body: form })).status, 404)
})

test('a change of prices needs a fresh sign-in, a change of texts does not', async (t) => {
  const { shop, root } = await openDesk(t)
  const pro = (await root.get('/api/admin/products')).body.products[1]
  const { tier, retired_at, is_for_sale, revision, ...form } = pro
  shop.clock.advance(11 * 60_000)
  const change = (body: object) =>
    root.request('PUT', '/api/admin/products/pro', { body: { ...form, ...body } })
  assert.equal((await change({ description: 'Better.' })).status, 200)
  for (const body of [
    { price: 1 },
    { currency: 'eur' },
    { renewal_price: 5 },
    { upgrade_from: {} },
    { upgrade_from: { basic: 10 } },
  ]) {
    const refused = await change(body)
    assert.deepEqual([refused.status, refused.body.code], [403, 'fresh_sign_in_required'])
  }
  assert.equal((await root.post('/api/admin/products', COURSE)).status, 403)
})

test('a wrong product is refused with its field, and one that another has with its tier', async (t) => {
  const { root } = await openDesk(t)
  const post = (body: object) => root.post('/api/admin/products', { ...COURSE, ...body })
  for (const [body, field] of [
    [{ tier: 'a b' }, 'tier'],
    [{ slug: 'A' }, 'slug'],
    [{ currency: 'zzq' }, 'currency'],
    [{ price: 1.999 }, 'price'],
    [{ price: -1 }, 'price'],
    [{ images: ['javascript:alert(1)'] }, 'images'],
    [{ upgrade_from: { course: 'difference' } }, 'upgrade_from'],
    [{ gallery: [{ url: 'ftp://example.com', alt: 'A' }] }, 'gallery'],
  ] as const) {
    const refused = await post(body)
    assert.equal(refused.status, 422, JSON.stringify(body))
    assert.deepEqual(refused.body.detail[0].loc.slice(0, 2), ['body', field])
  }
  for (const [body, code] of [
    [{ tier: 'basic' }, 'product_exists'],
    [{ tier: 'BASIC', slug: 'other' }, 'product_exists'],
    [{ slug: 'pro' }, 'product_slug_taken'],
  ] as const) {
    const refused = await post(body)
    assert.deepEqual([refused.status, refused.body.code], [409, code])
  }
  assert.equal((await root.get('/api/admin/products')).body.products.length, 3)
})

test('a retired product is no longer sold, its buyers keep it, and it can be sold again', async (t) => {
  const { shop, root } = await openDesk(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'basic')
  const retired = await root.delete('/api/admin/products/basic')
  assert.equal(retired.status, 200, retired.text)
  assert.equal((await root.delete('/api/admin/products/basic')).status, 404)
  const { products } = (await root.get('/api/admin/products')).body
  assert.deepEqual(
    products.map(({ tier, retired_at }: { tier: string; retired_at: string | null }) => [
      tier,
      retired_at !== null,
    ]),
    [
      ['pro', false],
      ['enterprise', false],
      ['basic', true],
    ],
  )
  assert.doesNotMatch((await shop.store('GET', '/pricing')).text, /Buy Basic/)
  assert.equal((await ada.get('/api/checkout?tier=basic')).status, 400)
  assert.match((await ada.get('/dashboard')).text, />Basic<\/h2>/)
  assert.equal((await ada.download()).status, 200)
  const taken = await root.post('/api/admin/products', { ...COURSE, slug: 'basic' })
  assert.equal(taken.body.code, 'product_slug_taken', 'programs of its buyers call the slug')

  const again = await root.post('/api/admin/products', { ...COURSE, tier: 'basic', name: 'Basic' })
  assert.equal(again.status, 201, again.text)
  assert.match((await shop.store('GET', '/pricing')).text, /Buy Basic/)
})

test('every change is in the audit log, and only superusers make one', async (t) => {
  const { shop, root } = await openDesk(t)
  await root.post('/api/admin/products', COURSE)
  await root.request('PUT', '/api/admin/products/course', {
    body: { ...COURSE, tier: undefined, price: 50 },
  })
  await root.delete('/api/admin/products/course')
  for (const action of ['product.made', 'product.changed', 'product.retired']) {
    const { entries } = (await root.get(`/api/admin/audit?action=${action}`)).body
    assert.deepEqual([entries.length, entries[0]?.subject], [1, 'product:course'], action)
  }
  const eve = await shop.as('eve')
  for (const refused of [
    await eve.get('/api/admin/products'),
    await eve.post('/api/admin/products', COURSE),
    await eve.request('PUT', '/api/admin/products/basic', { body: COURSE }),
    await eve.delete('/api/admin/products/basic'),
  ])
    assert.equal(refused.status, 403)
})

test('simultaneous changes lose none', async (t) => {
  const { root } = await openDesk(t)
  const tiers = Array.from({ length: 8 }, (_, index) => `kit${index}`)
  const replies = await Promise.all(
    tiers.map((tier) => root.post('/api/admin/products', { ...COURSE, tier })),
  )
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]))
  const { products } = (await root.get('/api/admin/products')).body
  assert.equal(products.length, 11)
  const revisions = new Set(products.map(({ revision }: { revision: number }) => revision))
  assert.equal(revisions.size, 9, 'one for each new product, and 0 for the built-in ones')
})

test('the products of a catalogue file win over rows, and nobody can edit them', async (t) => {
  const { shop, root } = await openDesk(t)
  await root.post('/api/admin/products', COURSE)
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-products-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'catalogue.json')
  writeFileSync(path, JSON.stringify({ products: [{ ...COURSE, tier: 'filed' }] }))
  const { catalogue } = readConfig({ CATALOGUE: path })
  await shop.app.restart({ catalogue })

  const list = (await root.get('/api/admin/products')).body
  assert.deepEqual([list.is_fixed, readTiers(list)], [true, ['filed']])
  for (const refused of [
    await root.post('/api/admin/products', COURSE),
    await root.request('PUT', '/api/admin/products/filed', {
      body: { ...COURSE, tier: undefined },
    }),
    await root.delete('/api/admin/products/filed'),
  ])
    assert.deepEqual([refused.status, refused.body.code], [409, 'products_fixed'])
  assert.match((await shop.store('GET', '/pricing')).text, /Course/)
})

test('a merchant of record sells only products with a tax code', async (t) => {
  const { shop, root } = await openDesk(t, { TAX: 'managed' })
  assert.doesNotMatch((await shop.store('GET', '/pricing')).text, /Buy (Basic|Pro)/)
  const refused = await root.post('/api/admin/products', COURSE)
  assert.deepEqual(refused.body.detail[0].loc, ['body', 'tax_code'])
  const [basic] = (await root.get('/api/admin/products')).body.products
  const { tier, retired_at, is_for_sale, revision, ...form } = basic
  const changed = await root.request('PUT', '/api/admin/products/basic', {
    body: { ...form, tax_code: 'txcd_10202000' },
  })
  assert.equal(changed.status, 200, changed.text)
  assert.match((await shop.store('GET', '/pricing')).text, /Buy Basic/)
})

async function openDesk(t: TestContext, env: Record<string, string> = {}) {
  const shop = await openShop(t, env)
  return { shop, root: await shop.as('root', { superuser: true }) }
}

const readTiers = ({ products }: { products: { tier: string }[] }) =>
  products.map(({ tier }) => tier)
