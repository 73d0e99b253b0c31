import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import { getPageMessages } from '../messages/pages.ts'
import { cutNotes, takePart } from './changelog.ts'
import { comparisonTable, listRows } from './comparison.ts'
import { parsePage } from './legal-pages.ts'
import { shorten } from './listing.ts'
import { tierCards } from './offer-pages.ts'

const releases = (notes: string[]) =>
  notes.map((text, index) => ({
    version: `${notes.length - index}.0.0`,
    publishedAt: '2026-01-01T00:00:00.000Z',
    folder: '',
    notes: text,
  }))

test('a changelog is split by its length, and every release is on one page', () => {
  const all = releases(Array.from({ length: 95 }, (_, index) => 'x'.repeat((index % 9) * 900)))
  const seen: string[] = []
  for (let from: string | null = null; ; ) {
    const part = takePart(all, from)
    assert.ok(part && part.releases.length > 0 && part.releases.length <= 20)
    assert.ok(part.releases.reduce((sum, { notes }) => sum + notes.length, 0) <= 16_000)
    seen.push(...part.releases.map(({ version }) => version))
    if (part.next === null) break
    from = part.next
  }
  assert.deepEqual(
    seen,
    all.map(({ version }) => version),
  )
})

test('a note that is longer than a page is alone on its page', () => {
  const part = takePart(releases(['x'.repeat(50_000), 'short']), null)
  assert.deepEqual([part?.releases.length, part?.next], [1, '1.0.0'])
  assert.equal(takePart(releases(['x']), '9.9.9'), null)
  assert.deepEqual(takePart([], null), { releases: [], next: null })
})

test('long notes are cut at the end of a paragraph', () => {
  const notes = `${'First. '.repeat(100)}\n\n${'Second. '.repeat(200)}`
  assert.equal(cutNotes(notes), `${'First. '.repeat(100)} …`)
  assert.equal(cutNotes('Short.'), 'Short.')
  assert.ok(cutNotes('x'.repeat(5_000)).length < 1_300)
})

test('descriptions are cut at a word', () => {
  assert.equal(shorten('  One\n line. '), 'One line.')
  const cut = shorten('word '.repeat(100))
  assert.ok(cut.length <= 161 && /word…$/.test(cut), cut)
})

test('the first heading of a legal page is its title', () => {
  assert.deepEqual(parsePage('terms', '\uFEFF# Terms of sale #\r\n\r\nBe nice.'), {
    path: '/legal/terms',
    title: 'Terms of sale',
    text: 'Be nice.',
  })
  assert.equal(parsePage('privacy-policy', 'We keep nothing.').title, 'Privacy policy')
})

test('tiers are compared by their own rows, or by features that each tier inherits', () => {
  const tier = (features: string[], includes: string | null, comparison = {}) =>
    ({ features, includes, comparison }) as never
  assert.deepEqual(listRows([tier(['A'], null), tier(['B'], 'Everything in A')]), [
    { name: 'A', cells: [true, true] },
    { name: 'B', cells: [false, true] },
  ])
  assert.deepEqual(listRows([tier(['A'], null), tier(['B'], null)]), [])
  assert.deepEqual(
    listRows([tier(['A'], null, { Support: 'Email' }), tier([], null, { Seats: true })]),
    [
      { name: 'Support', cells: ['Email', false] },
      { name: 'Seats', cells: [false, true] },
    ],
  )
})

const MESSAGES = getPageMessages('en')
const sell = (tier: string, more: Partial<CatalogueProduct> = {}) =>
  ({
    tier,
    slug: tier,
    name: tier,
    description: '',
    price: 9,
    currency: 'usd',
    free: null,
    bundle: [],
    features: [],
    includes: null,
    images: [],
    comparison: {},
    ...more,
  }) as unknown as CatalogueProduct

test('only products with rows are compared, and only on their own pages', () => {
  const [kit, team] = ['kit', 'team'].map((tier) => sell(tier, { comparison: { Support: tier } }))
  const products = [kit, team, sell('poster')] as CatalogueProduct[]
  const compare = (current: string | null) =>
    String(comparisonTable(products, { current, code: null }, MESSAGES))
  assert.match(compare(null), /kit.*team/s)
  assert.doesNotMatch(compare(null), /poster/)
  assert.match(compare('kit'), /class="current">kit/)
  assert.equal(compare('poster'), 'false')
})

test('only a tier between others that include each other is recommended', () => {
  const show = (products: CatalogueProduct[]) => {
    const state = { isOwned: false, isForSale: true, members: [], release: null }
    const offers = products.map((product) => ({ ...state, product }))
    return String(tierCards(offers, null, MESSAGES))
  }
  const tiers = [sell('one'), sell('two', { includes: 'One' }), sell('three', { includes: 'Two' })]
  assert.match(show(tiers), /Recommended<\/span>\s*<h2 id="tier-two">/)
  assert.doesNotMatch(show(['one', 'two', 'three'].map((tier) => sell(tier))), /Recommended/)
})
