import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ConfigError, readConfig } from '#config/config.ts'
import { findGrants, findPlanNames } from './catalogue.ts'
import { formatProduct, readProduct } from './product-form.ts'

const EXAMPLE = join(import.meta.dirname, '../../docs/catalogue.json')

const PLAN = { tier: 'team', name: 'Team', grants: ['rag'] }
const PRODUCT = { tier: 'kit', name: 'Kit', price: 149.5, currency: 'eur' }

/** A file of this content, for CATALOGUE. */
function fileOf(t: Pick<TestContext, 'after'>, content: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'catalogue.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

test('without a file there are the plans and products of the specification, priced by settings', () => {
  const { catalogue, processor } = readConfig({
    PRICE_PRO_MONTHLY: 'pm',
    PRICE_ENTERPRISE_YEARLY: 'ey',
    SANDBOX: 'off',
  })
  assert.deepEqual(
    catalogue.plans.map(({ tier, name, prices, grants }) => [tier, name, prices, grants.length]),
    [
      ['free', 'Free', {}, 2],
      ['pro', 'Pro', { month: 'pm' }, 5],
      ['enterprise', 'Enterprise', { year: 'ey' }, 5],
    ],
  )
  assert.deepEqual(
    [...processor.prices],
    [
      ['pm', { tier: 'pro', interval: 'month' }],
      ['ey', { tier: 'enterprise', interval: 'year' }],
    ],
  )
  assert.deepEqual(
    catalogue.products.map(({ tier, price, currency }) => [tier, price, currency]),
    [
      ['basic', 199, 'usd'],
      ['pro', 299, 'usd'],
      ['enterprise', 499, 'usd'],
    ],
  )
})

test('the file of the documentation can be read, and holds every field of the form', () => {
  const { catalogue, processor } = readConfig({ CATALOGUE: EXAMPLE })
  assert.deepEqual(
    catalogue.plans.map(({ tier }) => tier),
    ['free', 'documents', 'pro'],
  )
  assert.deepEqual(
    [...processor.prices.keys()],
    ['price_documents_monthly', 'price_pro_monthly', 'price_pro_yearly'],
  )
  assert.deepEqual(catalogue.products[0], {
    tier: 'basic',
    name: 'Basic',
    slug: 'basic',
    price: 149.5,
    currency: 'eur',
    description: 'Accounts, payments and deployment, **already done**.',
    includes: null,
    images: [],
    features: ['Accounts and sign-in', 'Subscriptions', 'Docker'],
    gallery: [{ url: 'https://example.com/basic-screen.png', alt: 'The sign-in page' }],
    faq: [{ question: 'May I use it for clients?', answer: 'Yes, for **any number** of them.' }],
    comparison: { 'Accounts and sign-in': true, 'Design files': false, Support: 'Email' },
    terms: 'You may change and ship the code. You may not resell it.',
    changelog: 'Before 1.0 the kit was a private course.',
    free: null,
    bundle: [],
    taxCode: 'txcd_10202000',
    updatesMonths: 12,
    renewalPrice: 49,
    upgradeFrom: {},
    activationsMax: 3,
    activationReleasesPerMonth: 3,
  })
  assert.deepEqual(catalogue.products[1]?.upgradeFrom, { basic: 45_000 })
  const told = readFileSync(join(EXAMPLE, '../catalogue.md'), 'utf8')
  const example = JSON.parse(readFileSync(EXAMPLE, 'utf8')) as Record<
    'plans' | 'products',
    object[]
  >
  for (const field of [
    ...Object.keys(example.plans[0] ?? {}),
    ...Object.keys(example.products[0] ?? {}),
  ]) {
    assert.ok(told.includes(`| \`${field}\` |`), field)
  }
})

test('what a file leaves out is as built in', (t) => {
  const onlyPlans = readConfig({ CATALOGUE: fileOf(t, { plans: [PLAN] }) }).catalogue
  assert.deepEqual(
    [onlyPlans.plans.map(({ tier }) => tier), onlyPlans.products.length],
    [['free', 'team'], 3],
  )
  const onlyProducts = readConfig({ CATALOGUE: fileOf(t, { products: [PRODUCT] }) }).catalogue
  assert.deepEqual(
    [onlyProducts.plans.length, onlyProducts.products.map(({ tier }) => tier)],
    [3, ['kit']],
  )
  const { description, includes, images, features, taxCode } = onlyProducts.products[0] ?? {}
  assert.deepEqual([description, includes, images, features, taxCode], ['', null, [], [], null])
  const { slug, updatesMonths, activationsMax, activationReleasesPerMonth } =
    onlyProducts.products[0] ?? {}
  assert.deepEqual(
    [slug, updatesMonths, activationsMax, activationReleasesPerMonth],
    ['kit', 12, 3, 3],
  )
})

test('the form of every product reads as the same product', () => {
  const { products } = readConfig({ CATALOGUE: EXAMPLE }).catalogue
  for (const product of [...products, ...readConfig({}).catalogue.products])
    assert.deepEqual(readProduct(formatProduct(product), 'product'), product)
})

test('null removes the limit of a license', (t) => {
  const unlimited = { ...PRODUCT, tier: 'Big_Kit', updates_months: null, activations_max: null }
  const { products } = readConfig({
    CATALOGUE: fileOf(t, { products: [{ ...unlimited, activation_releases_per_month: 0 }] }),
  }).catalogue
  const { slug, updatesMonths, activationsMax, activationReleasesPerMonth } = products[0] ?? {}
  assert.deepEqual(
    [slug, updatesMonths, activationsMax, activationReleasesPerMonth],
    ['big-kit', null, null, 0],
  )
})

test('a catalogue can redefine the free plan, which may grant something', (t) => {
  const free = {
    tier: 'free',
    name: 'Visitor',
    prices: {},
    grants: ['rag'],
    features: ['Ten questions'],
  }
  const { catalogue } = readConfig({ CATALOGUE: fileOf(t, { plans: [PLAN, free] }) })
  assert.deepEqual(
    catalogue.plans.map(({ name }) => name),
    ['Team', 'Visitor'],
  )
  assert.deepEqual(findGrants(catalogue, 'free'), ['rag', 'library'])
})

test('a plan without prices takes them, and its budget, from the settings named after it', (t) => {
  const CATALOGUE = fileOf(t, { plans: [{ ...PLAN, tier: 'team-plus' }] })
  const env = { CATALOGUE, PRICE_TEAM_PLUS_YEARLY: 'ty', BUDGET_TEAM_PLUS_TOKENS: '5000' }
  assert.deepEqual(readConfig({ ...env, SANDBOX: 'off' }).catalogue.plans[1]?.prices, {
    year: 'ty',
  })
  const played = readConfig(env)
  assert.deepEqual(played.catalogue.plans[1]?.prices, {
    month: 'price_sandbox_team-plus_monthly',
    year: 'ty',
  })
  assert.equal(played.budgets.get('team-plus'), 5000)
  const unpriced = readConfig({ CATALOGUE: fileOf(t, { plans: [{ ...PLAN, prices: {} }] }) })
  assert.deepEqual(
    unpriced.catalogue.plans[1]?.prices,
    {},
    'a plan that says it has no prices is given none',
  )
})

test('ai includes home and rag includes library, and not the other way round', (t) => {
  const plans = [
    ['calls', ['ai']],
    ['documents', ['rag']],
    ['app', ['home', 'library']],
    ['both', ['ai', 'home', 'api_keys']],
  ].map(([tier, grants]) => ({ tier, name: tier, grants }))
  const { catalogue } = readConfig({ CATALOGUE: fileOf(t, { plans }) })
  assert.deepEqual(
    catalogue.plans.map(({ tier, grants }) => [tier, [...grants]]),
    [
      ['free', []],
      ['calls', ['ai', 'home']],
      ['documents', ['rag', 'library']],
      ['app', ['home', 'library']],
      ['both', ['ai', 'home', 'api_keys']],
    ],
  )
  assert.deepEqual(findGrants(catalogue, 'documents'), ['rag', 'library'])
  assert.equal(findPlanNames(catalogue, 'home', 'or'), 'calls, app or both')
  assert.equal(findPlanNames(catalogue, 'ai', 'or'), 'calls or both')
})

test('a tier that is not in the catalogue grants nothing', () => {
  const { catalogue } = readConfig({})
  for (const tier of ['gold', '', 'PRO', '__proto__', 'constructor'])
    assert.deepEqual(findGrants(catalogue, tier), [])
})

test('a rejected caller learns which plans grant the feature', (t) => {
  const { catalogue } = readConfig({
    CATALOGUE: fileOf(t, { plans: ['A', 'B', 'C'].map((name) => ({ ...PLAN, tier: name, name })) }),
  })
  assert.equal(findPlanNames(catalogue, 'rag', 'or'), 'A, B or C')
  assert.equal(findPlanNames(catalogue, 'rag', 'and'), 'A, B and C')
  assert.equal(findPlanNames(catalogue, 'ai', 'or'), null)
})

test('a wrong file stops the start with the field’s name', (t) => {
  const wrong: [unknown, RegExp][] = [
    ['{', /it is not JSON/],
    [[], /it is wrong: got \[\], expected an object/],
    [{ plan: [] }, /plan is no field of the form: expected plans, products/],
    [{ plans: {} }, /plans is wrong: got {}, expected a list/],
    [{ plans: [{ name: 'X', grants: [] }] }, /plans\[0\]\.tier is missing, expected letters/],
    [
      { plans: [{ ...PLAN, limits: { documents: 1 } }] },
      /plans\[0\]\.limits\.documents is no field of the form/,
    ],
    [
      { plans: [{ ...PLAN, limits: { chunks_max: 0 } }] },
      /plans\[0\]\.limits\.chunks_max is wrong: got 0, expected a whole/,
    ],
    [{ plans: [{ ...PLAN, tier: '../etc' }] }, /plans\[0\]\.tier is wrong: got "\.\.\/etc"/],
    [
      { plans: [PLAN, { ...PLAN, tier: 'TEAM' }] },
      /plans\[1\]\.tier is wrong: there is another 'TEAM'/,
    ],
    [
      { products: [{ ...PRODUCT, slug: 'Kit' }] },
      /products\[0\]\.slug is wrong: got "Kit", expected small letters/,
    ],
    [
      { products: [PRODUCT, { ...PRODUCT, tier: 'other', slug: 'kit' }] },
      /products\[1\]\.slug is wrong: there is another 'kit'/,
    ],
    [
      { products: [{ ...PRODUCT, activations_max: 0 }] },
      /products\[0\]\.activations_max is wrong: got 0, expected a whole/,
    ],
    [
      { products: [{ ...PRODUCT, activation_releases_per_month: null }] },
      /products\[0\]\.activation_releases_per_month is wrong: got null/,
    ],
    [
      { products: [{ ...PRODUCT, tier: 'kit', upgrade_from: { kit: 'difference' } }] },
      /products\[0\]\.upgrade_from is wrong: 'kit' cannot be upgraded to itself/,
    ],
    [
      { products: [{ ...PRODUCT, upgrade_from: { old: 'half' } }] },
      /products\[0\]\.upgrade_from\.old is wrong: got "half"/,
    ],
    ...[
      [
        { bundle: ['kit'] },
        /products\[2\]\.bundle is wrong: got \["kit"\], expected the slugs of 2 to 20 products/,
      ],
      [{ bundle: Array.from({ length: 21 }, (_, at) => `a${at}`) }, /bundle is wrong: got/],
      [{ bundle: ['kit', 'kit'] }, /products\[2\]\.bundle is wrong: it has 'kit' twice/],
      [{ bundle: ['kit', 'Tool'] }, /products\[2\]\.bundle\[1\] is wrong: got "Tool"/],
      [{ bundle: ['kit', 'gone'] }, /products\[2\]\.bundle is wrong: 'gone' is not sold/],
      [{ bundle: ['kit', 'all'] }, /products\[2\]\.bundle is wrong: 'all' is a bundle/],
      [{ bundle: ['kit', 'gift'] }, /products\[2\]\.bundle is wrong: 'gift' is free/],
      ...[{ renewal_price: 9 }, { upgrade_from: { kit: 5 } }, { updates_months: 12 }].map(
        (terms) => [
          { ...terms, bundle: ['kit', 'tool'] },
          /products\[2\]\.bundle is wrong: a bundle/,
        ],
      ),
      [
        { price: 0, free: 'email', bundle: ['kit', 'tool'] },
        /bundle is wrong: a bundle has no free/,
      ],
    ].map(([fields, message]): [object, RegExp] => [
      {
        products: [
          { ...PRODUCT, tier: 'kit' },
          { ...PRODUCT, tier: 'tool' },
          { ...PRODUCT, tier: 'all', ...fields },
          { ...PRODUCT, tier: 'gift', price: 0, free: 'email' },
        ],
      },
      message as RegExp,
    ]),
    [
      {
        products: [
          { ...PRODUCT, tier: 'kit' },
          { ...PRODUCT, tier: 'tool', upgrade_from: { all: 5 } },
          { ...PRODUCT, tier: 'lite' },
          { ...PRODUCT, tier: 'all', bundle: ['kit', 'lite'] },
        ],
      },
      /products\[1\]\.upgrade_from is wrong: 'all' is a bundle/,
    ],
    [
      { products: [{ ...PRODUCT, gallery: [{ url: 'https://example.com/a.png' }] }] },
      /products\[0\]\.gallery\[0\]\.alt is missing/,
    ],
    [
      { products: [{ ...PRODUCT, gallery: [{ url: '//example.com', alt: 'A' }] }] },
      /products\[0\]\.gallery\[0\]\.url is wrong/,
    ],
    [
      { products: [{ ...PRODUCT, images: ['https://a;script-src,b/c.png'] }] },
      /products\[0\]\.images\[0\] is wrong/,
    ],
    [
      { products: [{ ...PRODUCT, faq: [{ question: 'Why?', answer: '' }] }] },
      /products\[0\]\.faq\[0\]\.answer is wrong/,
    ],
    [
      { products: [{ ...PRODUCT, comparison: { Support: 24 } }] },
      /products\[0\]\.comparison\.Support is wrong: got 24/,
    ],
    [{ products: [{ ...PRODUCT, terms: null }] }, /products\[0\]\.terms is wrong/],
    [
      { products: [{ ...PRODUCT, price: 0.3 }] },
      /products\[0\]\.price is wrong: Stripe charges at least €0\.50/,
    ],
    [{ products: [{ ...PRODUCT, renewal_price: -1 }] }, /products\[0\]\.renewal_price is wrong/],
    [
      { products: [{ ...PRODUCT, updates_months: 1.5 }] },
      /products\[0\]\.updates_months is wrong: got 1\.5/,
    ],
    [{ plans: [{ ...PLAN, name: ' ' }] }, /plans\[0\]\.name is wrong: got " ", expected a text/],
    [{ plans: [{ tier: 'x', name: 'X' }] }, /plans\[0\]\.grants is missing, expected a list/],
    [
      { plans: [{ ...PLAN, grants: ['rag', 'api-keys'] }] },
      /plans\[0\]\.grants\[1\] is wrong: got "api-keys", expected one of ai, rag, api_keys, home, library/,
    ],
    [
      { entitlements: ['exports'], plans: [{ ...PLAN, grants: ['export'] }] },
      /grants\[0\] is wrong: got "export", expected one of ai, rag, api_keys, home, library, exports/,
    ],
    [
      { entitlements: ['An Export'] },
      /entitlements\[0\] is wrong: got "An Export", expected small letters/,
    ],
    [{ plans: [{ ...PLAN, grant: ['ai'] }] }, /plans\[0\]\.grant is no field of the form/],
    [
      { plans: [{ ...PLAN, prices: { weekly: 'x' } }] },
      /plans\[0\]\.prices\.weekly is no field of the form: expected month, year/,
    ],
    [
      { plans: [{ ...PLAN, prices: { month: 29 } }] },
      /plans\[0\]\.prices\.month is wrong: got 29, expected a text/,
    ],
    [
      { plans: [{ ...PLAN, prices: { month: 'p', year: 'p' } }] },
      /CATALOGUE: prices\.year of 'team' repeats the price id 'p' of CATALOGUE: prices\.month of 'team'/,
    ],
    [
      { plans: [{ ...PLAN, tier: 'free', prices: { month: 'p' } }] },
      /plans\[0\]\.prices is wrong: 'free' is the plan of who has no subscription/,
    ],
    [
      { plans: [{ ...PLAN, features: 'many' }] },
      /plans\[0\]\.features is wrong: got "many", expected a list/,
    ],
    [
      { plans: [{ ...PLAN, trial_days: '14' }] },
      /plans\[0\]\.trial_days is wrong: got "14", expected whole days/,
    ],
    [{ plans: [{ ...PLAN, trial_days: 731 }] }, /plans\[0\]\.trial_days is wrong: got 731/],
    [
      { plans: [{ ...PLAN, tier: 'free', trial_days: 7 }] },
      /plans\[0\]\.trial_days is wrong: 'free' costs nothing/,
    ],
    [
      { products: [{ ...PRODUCT, price: '149' }] },
      /products\[0\]\.price is wrong: got "149", expected an amount/,
    ],
    [{ products: [{ ...PRODUCT, price: -1 }] }, /products\[0\]\.price is wrong: got -1/],
    [
      { products: [{ ...PRODUCT, price: 1.999 }] },
      /products\[0\]\.price is wrong: got 1\.999, expected an amount with at most 2 decimals/,
    ],
    [
      { products: [{ ...PRODUCT, price: 9.5, currency: 'jpy' }] },
      /products\[0\]\.price is wrong: got 9\.5, expected an amount with at most 0 decimals/,
    ],
    [
      { products: [{ ...PRODUCT, currency: 'euro' }] },
      /products\[0\]\.currency is wrong: got "euro"/,
    ],
    [{ products: [{ ...PRODUCT, currency: 'zzq' }] }, /products\[0\]\.currency is wrong/],
    [
      { products: [{ ...PRODUCT, images: ['studio.png'] }] },
      /products\[0\]\.images\[0\] is wrong: got "studio\.png", expected an address/,
    ],
    [
      { products: [{ ...PRODUCT, images: ['javascript:alert(1)'] }] },
      /products\[0\]\.images\[0\] is wrong/,
    ],
    [{ products: [{ ...PRODUCT, tax_code: 7 }] }, /products\[0\]\.tax_code is wrong: got 7/],
    [{ products: [PRODUCT, PRODUCT] }, /products\[1\]\.tier is wrong: there is another 'kit'/],
  ]
  for (const [content, words] of wrong) {
    const path = fileOf(t, content)
    assert.throws(
      () => readConfig({ CATALOGUE: path }),
      (error) =>
        error instanceof ConfigError && words.test(error.message) && !error.message.includes('\n'),
      String(words),
    )
  }
  assert.throws(
    () => readConfig({ CATALOGUE: '/nowhere.json' }),
    /^Error: CATALOGUE cannot be read: ENOENT/,
  )
})

test('a setting without effect stops the start', (t) => {
  const CATALOGUE = fileOf(t, { plans: [{ ...PLAN, prices: { month: 'p' } }] })
  for (const [env, words] of [
    [
      { CATALOGUE, PRICE_TEAM_MONTHLY: 'q' },
      /PRICE_TEAM_MONTHLY is set, and CATALOGUE names the prices of 'team'/,
    ],
    [
      { CATALOGUE, PRICE_PRO_MONTHLY: 'q' },
      /PRICE_PRO_MONTHLY names no plan of the catalogue: expected TEAM in place of PRO/,
    ],
    [
      { CATALOGUE, BUDGET_PRO_TOKENS: '5' },
      /BUDGET_PRO_TOKENS names no plan of the catalogue: expected FREE or TEAM in place of PRO/,
    ],
    [{ PRICE_TEAM_MONTHLY: 'q' }, /PRICE_TEAM_MONTHLY names no plan of the catalogue/],
    [
      { PRICE_FREE_MONTHLY: 'q' },
      /PRICE_FREE_MONTHLY names no plan of the catalogue: expected PRO or ENTERPRISE/,
    ],
    [
      { PRICE_PRO_MONTHLY: 'q', PRICE_PRO_YEARLY: 'q' },
      /PRICE_PRO_YEARLY repeats the price id 'q' of PRICE_PRO_MONTHLY/,
    ],
  ] as const) {
    assert.throws(() => readConfig(env), words, JSON.stringify(env))
  }
})
