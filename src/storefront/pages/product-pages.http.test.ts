import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { openShop } from '#testing/buyer.ts'
import { WAIVERS } from '../withdrawals/waiver.ts'

const KILOBYTES_MAX = 40

const PRODUCT = {
  tier: 'kit',
  slug: 'starter-kit',
  name: 'Starter </script>Kit',
  price: 149.5,
  currency: 'eur',
  description: 'Ships **today**.\n\n# How\nRead [the guide](https://docs.example/guide).',
  images: ['https://cdn.example/card.png'],
  gallery: [
    { url: 'https://pictures.example/one.png', alt: 'The dashboard' },
    { url: 'https://pictures.example/two.png', alt: 'The editor' },
  ],
  features: ['Accounts', 'Payments'],
  faq: [{ question: 'Is it & mine?', answer: 'Yes, **forever**.' }],
  terms: 'One *team*, any number of projects.',
  changelog: '# 0.9\nThe first customers.',
  comparison: { Support: 'Email', Source: true },
  updates_months: 6,
  renewal_price: 49,
}
const TEAM = {
  tier: 'team',
  name: 'Team',
  price: 300,
  currency: 'eur',
  upgrade_from: { kit: 'difference' },
  comparison: { Support: 'Phone' },
}

type Files = Record<string, string>

function shopWith(t: TestContext, files: Files, env: Record<string, string> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'pages-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'catalogue.json'), JSON.stringify({ products: [PRODUCT, TEAM] }))
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, 'products', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  const CATALOGUE = join(root, 'catalogue.json')
  return openShop(t, { CATALOGUE, PRODUCTS_DIR: join(root, 'products'), ...env })
}

const RELEASES = [
  { version: '1.0.0', published_at: '2026-01-01T00:00:00Z', notes: 'First.' },
  {
    version: '1.1.0',
    published_at: '2026-02-01T00:00:00Z',
    notes: '- **Faster** & [safer](/contact)',
  },
]
const FILES: Files = {
  'kit/releases.json': JSON.stringify(RELEASES),
  'kit/1.0.0/readme.md': 'old',
  'kit/1.1.0/readme.md': 'new',
  'kit/1.1.0/src/<main>.ts': 'x',
  'team/1.0.0/readme.md': 'team',
  '_legal/terms.md': '# Terms of sale\n\nBe nice.\n\n## Law\n\nOf Utopia.',
  '_legal/Draft Notes.md': 'not a page',
}

test('a product page has everything that a buyer needs, without a script', async (t) => {
  const shop = await shopWith(t, FILES)
  const { text, headers } = await shop.store('GET', '/products/starter-kit?code=SUMMER%22')
  for (const part of [
    '<strong>today</strong>',
    '<h2>How</h2>',
    '<img src="https://pictures.example/one.png" alt="The dashboard" width="1600" height="1000"',
    '€149.50',
    '6 months of updates, then €49 for another 6 months',
    'Release 1.1.0',
    '2 files',
    '&lt;main&gt;.ts',
    '<strong>Faster</strong>',
    '<summary>Is it &amp; mine?</summary>',
    'One <em>team</em>',
    '<th scope="row">Support</th><td class="current">Email</td><td>Phone</td>',
    '<input type="hidden" name="tier" value="kit">',
    '<input type="hidden" name="code" value="SUMMER&quot;">',
    `name="waiver" value="${WAIVERS.en.version}"><label for="waiver">`,
    '<a href="/legal/terms">Terms of sale</a>',
    '<a href="/products/team?code=SUMMER%22">Team</a>',
  ]) {
    assert.ok(text.includes(part), part)
  }
  assert.doesNotMatch(text, /<script(?! type="application\/ld\+json")/)
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /img-src 'self' https:\/\/cdn\.example https:\/\/pictures\.example/)
  for (const path of [
    '/products/none',
    '/products/starter-kit/changelog?from=9',
    '/legal/draft-notes',
  ])
    assert.equal((await shop.store('GET', path)).status, 404, path)
  assert.equal((await shop.store('GET', '/products/none/feed.json')).status, 404)
})

test('search engines and social networks read the page’s address, picture, price and questions', async (t) => {
  const shop = await shopWith(t, FILES)
  const { text } = await shop.store('GET', '/products/starter-kit?code=SUMMER')
  const url = `${shop.config.urls.storefront}/products/starter-kit`
  assert.ok(text.includes(`<link rel="canonical" href="${url}">`))
  assert.ok(text.includes('<meta name="description" content="Ships today. How Read the guide.">'))
  assert.ok(text.includes(`<meta property="og:url" content="${url}">`))
  assert.ok(text.includes('<meta property="og:image" content="https://pictures.example/one.png">'))

  const data = [...text.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/gs)].map(
    ([, json = '']) => JSON.parse(json),
  )
  const [product, place, questions] = data
  assert.equal(product.name, 'Latchkey Starter </script>Kit')
  assert.deepEqual(
    [product.offers.price, product.offers.priceCurrency, product.offers.availability],
    ['149.5', 'EUR', 'https://schema.org/InStock'],
  )
  assert.deepEqual(product.image, [
    'https://pictures.example/one.png',
    'https://pictures.example/two.png',
    'https://cdn.example/card.png',
  ])
  assert.equal(place.itemListElement[1].item, url)
  assert.deepEqual(
    [questions.mainEntity[0].name, questions.mainEntity[0].acceptedAnswer.text],
    ['Is it & mine?', 'Yes, forever.'],
  )

  for (const path of ['/login', '/recover', '/withdraw', '/gone']) {
    const page = (await shop.store('GET', path)).text
    assert.match(page, /<meta name="robots" content="noindex">/, path)
    assert.doesNotMatch(page, /rel="canonical"/, path)
  }
})

test('owners see their download, and the exact price of an upgrade', async (t) => {
  const shop = await shopWith(t, FILES)
  const ada = await shop.buyer('ada')
  const { location } = Object.fromEntries(
    (await ada.get(`/api/checkout?tier=kit&waiver=${WAIVERS.en.version}`)).headers,
  )
  await shop.pay(ada, location ?? '')
  const [{ id, waiver }] = (await ada.get('/api/purchases')).body
  assert.equal(waiver.version, WAIVERS.en.version)
  assert.match((await ada.get('/products/starter-kit')).text, /Go to your download/)
  assert.match((await ada.get('/dashboard')).text, /<li><strong>Faster<\/strong> &amp; <a href/)
  const { text, headers } = await ada.get('/products/team')
  assert.ok(text.includes(`href="/api/checkout?tier=team&amp;from=${id}">Upgrade from`))
  assert.match(text, /for €150\.50<\/a>/)
  assert.equal(headers.get('cache-control'), 'no-store')
})

test('a product without a release cannot be bought yet', async (t) => {
  const shop = await shopWith(t, { '_legal/terms.md': 'Be nice.' })
  const { text } = await shop.store('GET', '/products/starter-kit')
  assert.match(text, /Coming soon/)
  assert.doesNotMatch(text, /action="\/checkout"/)
  assert.match(text, /schema\.org\/OutOfStock/)
  assert.match((await shop.store('GET', '/products/starter-kit/changelog')).text, /no release yet/)
})

test('with taxes, the page says whether the price has them and leaves the consent to the processor', async (t) => {
  const shop = await shopWith(t, FILES, { TAX: 'stripe-inclusive' })
  const { text } = await shop.store('GET', '/products/starter-kit')
  assert.match(text, /one-time payment, tax included/)
  assert.doesNotMatch(text, /name="waiver"/)
})

test('the changelog and both feeds have the notes of every release', async (t) => {
  const shop = await shopWith(t, FILES)
  const base = shop.config.urls.storefront
  const changelog = (await shop.store('GET', '/products/starter-kit/changelog')).text
  assert.match(changelog, /id="v1\.1\.0"><h2>1\.1\.0/)
  assert.match(changelog, /<strong>Faster<\/strong> &amp; <a href="\/contact">safer<\/a>/)
  assert.match(changelog, /First\.[\s\S]*Earlier changes[\s\S]*<h3>0\.9<\/h3>/)

  const json = await shop.store('GET', '/products/starter-kit/feed.json')
  assert.equal(json.headers.get('content-type'), 'application/feed+json; charset=utf-8')
  const feed = JSON.parse(json.text)
  assert.equal(feed.version, 'https://jsonfeed.org/version/1.1')
  assert.equal(feed.feed_url, `${base}/products/starter-kit/feed.json`)
  assert.deepEqual(
    feed.items.map((item: { title: string }) => item.title),
    ['Latchkey Starter </script>Kit 1.1.0', 'Latchkey Starter </script>Kit 1.0.0'],
  )
  assert.ok(feed.items[0].content_html.includes(`<a href="${base}/contact">safer</a>`))
  assert.equal(
    (
      await shop.store(
        'GET',
        new URL(feed.items[1].url).pathname + new URL(feed.items[1].url).search,
      )
    ).status,
    200,
  )

  const atom = await shop.store('GET', '/products/starter-kit/feed.xml')
  assert.equal(atom.headers.get('content-type'), 'application/atom+xml; charset=utf-8')
  assert.match(atom.text, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<feed xmlns=/)
  assert.match(atom.text, /<updated>2026-02-01T00:00:00\.000Z<\/updated>/)
  assert.match(atom.text, /&lt;strong&gt;Faster&lt;\/strong&gt; &amp;amp;/)
  assert.equal(atom.text.match(/<entry>/g)?.length, 2)
})

test('the operator’s Markdown files become legal pages, linked on every page', async (t) => {
  const shop = await shopWith(t, FILES)
  const { status, text } = await shop.store('GET', '/legal/terms')
  assert.equal(status, 200)
  assert.match(text, /<h1>Terms of sale<\/h1>.*<p>Be nice\.<\/p><h2>Law<\/h2>/s)
  assert.match(text, /<title>Terms of sale · Latchkey<\/title>/)
  assert.match(
    (await shop.store('GET', '/login')).text,
    /<a href="\/legal\/terms">Terms of sale<\/a>/,
  )
  assert.doesNotMatch((await shop.store('GET', '/')).text, /Draft/)
})

test('the operator’s file replaces the heading and the text of the home page', async (t) => {
  const general = (await (await shopWith(t, FILES)).store('GET', '/')).text
  assert.match(general, /<h1>Buy once, keep it forever<\/h1>/)
  assert.doesNotMatch(general, /starter kits|of updates/)
  const shop = await shopWith(t, { ...FILES, '_home.md': '# Kits for *boats*\n\nSail **soon**.' })
  const { text } = await shop.store('GET', '/')
  assert.match(text, /<h1>Kits for \*boats\*<\/h1>\s*<div class="lead prose"><p>Sail <strong>soon/)
  assert.match(text, /<meta name="description" content="Sail soon\.">/)
})

test('a shop with the sample products has its legal pages in the data folder', async (t) => {
  const shop = await openShop(t)
  const folder = join(shop.dataDir, 'products/_legal')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'imprint.md'), '# Imprint\n\nShop Ltd')
  const { text } = await shop.store('GET', '/legal/imprint')
  assert.match(text, /<h1>Imprint<\/h1>/)
  assert.match(text, /Latchkey/)
})

test('robots.txt names the sitemap, which lists only pages that exist', async (t) => {
  const shop = await shopWith(t, FILES)
  const base = shop.config.urls.storefront
  const robots = await shop.store('GET', '/robots.txt')
  assert.match(robots.text, /^User-agent: \*\nDisallow: \/api\/\n/)
  assert.ok(robots.text.includes(`Sitemap: ${base}/sitemap.xml`))

  const { text, headers } = await shop.store('GET', '/sitemap.xml')
  assert.equal(headers.get('content-type'), 'application/xml; charset=utf-8')
  const paths = [...text.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url = '']) =>
    url.slice(base.length),
  )
  assert.deepEqual(paths, [
    '/',
    '/pricing',
    '/products/starter-kit',
    '/products/starter-kit/changelog',
    '/products/team',
    '/products/team/changelog',
    '/models',
    '/docs',
    '/docs/quickstart',
    '/docs/clients',
    '/docs/retrieval',
    '/docs/conversations',
    '/docs/conformance',
    '/docs/errors',
    '/status',
    '/contact',
    '/legal/terms',
  ])
  for (const path of paths) {
    const page = await shop.store('GET', path)
    assert.equal(page.status, 200, path)
    assert.ok(page.text.includes(`<link rel="canonical" href="${base}${path}">`), path)
    assert.match(page.text, /<meta name="description" content="[^"]{20,}">/, path)
    assert.doesNotMatch(page.text, /noindex/, path)
  }
  assert.match(text, /<lastmod>2026-02-01T00:00:00\.000Z<\/lastmod>/)
})

test('pages for everyone are compressed and revalidated; personal pages are neither', async (t) => {
  const shop = await shopWith(t, FILES)
  const fetchPage = (path: string, headers: Record<string, string>) =>
    shop.store('GET', path, { headers })
  const plain = await fetchPage('/products/starter-kit', { 'accept-encoding': 'identity' })
  assert.equal(plain.headers.get('content-encoding'), null)
  assert.equal(plain.headers.get('cache-control'), 'private, no-cache')
  assert.equal(plain.headers.get('vary'), 'accept-encoding')
  const etag = plain.headers.get('etag') ?? ''
  const again = await fetchPage('/products/starter-kit', { 'if-none-match': etag })
  assert.deepEqual([again.status, again.text], [304, ''])

  for (const [encoding, unpack] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const) {
    const bytes = await readBytes(`${shop.storefrontUrl}/products/starter-kit`, encoding)
    assert.equal(bytes.encoding, encoding)
    assert.equal(unpack(bytes.body).toString(), plain.text)
  }

  const ada = await shop.buyer('ada')
  for (const path of ['/', '/products/starter-kit', '/dashboard']) {
    const { headers } = await ada.get(path, { 'accept-encoding': 'br, gzip' })
    assert.equal(headers.get('content-encoding'), null, path)
    assert.equal(headers.get('cache-control'), 'no-store', path)
  }
})

test('pages stay below 40 KB with 10,000 files and a hundred releases', async (t) => {
  const notes = `## Changes\n\n${'- A line about a change that somebody made\n'.repeat(120)}`
  const releases = Array.from({ length: 100 }, (_, index) => ({
    version: `1.${index}.0`,
    published_at: new Date(Date.UTC(2026, 0, 1, index)).toISOString(),
    notes,
  }))
  const files: Files = { 'kit/releases.json': JSON.stringify(releases) }
  for (let index = 0; index < 10_000; index++)
    files[`kit/1.99.0/folder-${index % 40}/part-${index % 9}/a-long-name-of-a-file-${index}.ts`] =
      ''
  for (const { version } of releases) files[`kit/${version}/readme.md`] = version
  const shop = await shopWith(t, files)
  const css = await shop.store(
    'GET',
    /"(\/assets\/storefront\.css[^"]*)"/.exec((await shop.store('GET', '/')).text)?.[1] ?? '',
  )
  for (const path of [
    '/',
    '/pricing',
    '/products/starter-kit',
    '/products/starter-kit/changelog',
  ]) {
    const { status, text } = await shop.store('GET', path)
    assert.equal(status, 200)
    const kilobytes = (Buffer.byteLength(text) + Buffer.byteLength(css.text)) / 1024
    t.diagnostic(`${path}: ${kilobytes.toFixed(1)} KB`)
    assert.ok(kilobytes <= KILOBYTES_MAX, `${path}: ${kilobytes} KB`)
  }
})

/** Reads a body as it was sent: fetch would unpack it. */
function readBytes(url: string, encoding: string) {
  return new Promise<{ encoding: string | undefined; body: Buffer }>((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': encoding } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          encoding: response.headers['content-encoding'],
          body: Buffer.concat(chunks),
        }),
      )
    }).on('error', reject)
  })
}
