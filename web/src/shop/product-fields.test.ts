import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoreProduct } from '../api/types.ts'
import { createPair, formatFields, NEW_PRODUCT, readFields, suggestTier } from './product-fields.ts'

const PRODUCT: StoreProduct = {
  tier: 'kit',
  name: 'Starter kit',
  slug: 'starter-kit',
  price: 49.5,
  currency: 'eur',
  free: null,
  bundle: [],
  includes: 'Everything in Lite',
  features: ['Source code', 'Updates'],
  description: 'A **kit**.',
  updates_months: null,
  renewal_price: 19,
  upgrade_from: { lite: 'difference', old: 5 },
  activations_max: null,
  activation_releases_per_month: 2,
  gallery: [{ url: 'https://example.com/a.png', alt: 'The dashboard' }],
  faq: [{ question: 'Refunds?', answer: 'Within 14 days.' }],
  comparison: { Support: true, Seats: '5', Logo: false },
  terms: 'Be nice.',
  changelog: '# 1.0',
  images: ['https://example.com/b.png'],
  tax_code: 'txcd_10202000',
  revision: 3,
  retired_at: null,
  is_for_sale: true,
}

test('a product survives its form unchanged', () => {
  const { tier, revision, retired_at, is_for_sale, ...sent } = PRODUCT
  assert.deepEqual(readFields(formatFields(PRODUCT)), sent)
})

test('empty fields and rows are left out or mean no limit', () => {
  const form = readFields({
    ...NEW_PRODUCT,
    name: ' Kit ',
    price: '10',
    machines: '',
    features: 'One\n\n Two \n',
    faq: [createPair(), createPair('Why?', 'Because.')],
    upgrades: [{ tier: 'lite', price: '' }],
  })
  assert.equal(form.name, 'Kit')
  assert.equal('slug' in form, false)
  assert.equal(form.activations_max, null)
  assert.deepEqual(form.features, ['One', 'Two'])
  assert.deepEqual(form.faq, [{ question: 'Why?', answer: 'Because.' }])
  assert.deepEqual(form.upgrade_from, {})
})

test('a bundle has the licenses and updates of its products', () => {
  const form = readFields({ ...formatFields(PRODUCT), bundle: ['lite', 'tool'] })
  assert.deepEqual(form.bundle, ['lite', 'tool'])
  assert.deepEqual([form.updates_months, form.renewal_price, form.upgrade_from], [null, null, {}])
})

test('a tier is suggested from the name', () => {
  for (const [name, tier] of [
    ['Starter kit', 'starter-kit'],
    ['  Größe & Co. ', 'grosse-co'],
    ['Éclair', 'eclair'],
    ['', ''],
  ] as const)
    assert.equal(suggestTier(name), tier)
})
