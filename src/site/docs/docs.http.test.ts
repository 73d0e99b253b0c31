import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import { openShop } from '#testing/buyer.ts'

const KILOBYTES_MAX = 40
const QUICKSTART = join(import.meta.dirname, '..', '..', '..', 'docs', 'quickstart.md')

test('every public page of the documentation is complete, and its links lead somewhere', async (t) => {
  const shop = await openShop(t)
  const { storefront } = shop.config.urls
  const home = await shop.store('GET', '/docs')
  const paths = new Set(
    [...home.text.matchAll(/href="(\/docs\/[\w-]+)"/g)].map(([, path = '']) => path),
  )
  assert.ok(paths.has('/docs/quickstart') && paths.has('/docs/errors'), [...paths].join())
  assert.ok(!paths.has('/docs/operations'))

  const ids = new Map<string, Set<string>>()
  const links: [from: string, to: string][] = []
  for (const path of paths) {
    const { status, text } = await shop.store('GET', path)
    assert.equal(status, 200, path)
    assert.equal(text.match(/<h1/g)?.length, 1, path)
    assert.match(text, /<meta name="description" content="[^"]{20,}">/, path)
    assert.ok(text.includes(`<link rel="canonical" href="${storefront}${path}">`), path)
    assert.match(text, /"@type":"TechArticle"/)
    assert.doesNotMatch(text, /localhost:800[01]\b|&lt;!--|\]\(/, path)
    assert.deepEqual(
      text.match(/<script(?! (?:type="application\/ld\+json"|src="\/assets\/copy-code))/),
      null,
    )
    ids.set(path, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)))
    for (const [, to = ''] of text.matchAll(/href="([^"]+)"/g)) links.push([path, to])
    const css = /"(\/assets\/storefront\.css[^"]*)"/.exec(text)?.[1] ?? ''
    const sent = [text, (await shop.store('GET', css)).text].map((one) => brotliCompressSync(one))
    const kilobytes = sent.reduce((sum, { length }) => sum + length, 0) / 1024
    assert.ok(kilobytes <= KILOBYTES_MAX, `${path}: ${kilobytes} KB`)
  }
  for (const [from, to] of links) {
    const { origin, pathname, hash } = new URL(to, storefront + from)
    if (origin !== new URL(storefront).origin || !paths.has(pathname)) continue
    const id = decodeURIComponent(hash.slice(1))
    assert.ok(id === '' || ids.get(pathname)?.has(id), `${from} links to ${to}`)
  }
})

test('superusers who are signed in also read the pages for operators', async (t) => {
  const shop = await openShop(t)
  await shop.app.as('ada', { superuser: true })
  const ada = await shop.buyer('ada')
  assert.match((await ada.get('/docs')).text, /href="\/docs\/operations"/)
  const { status, text, headers } = await ada.get('/docs/operations')
  assert.equal(status, 200)
  assert.match(text, /LatchkeyDown/)
  assert.equal(headers.get('cache-control'), 'no-store')

  const eve = await shop.buyer('eve')
  assert.equal((await eve.get('/docs/operations')).status, 404)
  assert.equal((await shop.store('GET', '/docs/operations')).status, 404)
  assert.equal((await ada.get('/docs/operations.md')).status, 404)
  assert.doesNotMatch((await eve.get('/docs?q=systemd')).text, /class="doc-results"><li>/)
})

test('the search works without scripts and shows words as text', async (t) => {
  const shop = await openShop(t)
  const found = (await shop.store('GET', '/docs?q=cached+budget')).text
  assert.match(found, /<a href="\/docs\/clients#cached-answers">Cached answers<\/a>/)
  assert.match(found, /<mark>budget<\/mark>/)
  assert.match(found, /<meta name="robots" content="noindex">/)
  const none = (await shop.store('GET', '/docs?q=%3Cscript%3Ealert(1)')).text
  assert.match(none, /No section contains all of these words/)
  assert.match(none, /value="&lt;script&gt;alert\(1\)"/)
  assert.equal((await shop.store('GET', '/docs?q=a&q=b')).status, 200)
})

test('programs get the pages as Markdown, and the description of the operations for keys', async (t) => {
  const shop = await openShop(t, { PRODUCT_NAME: 'zebra' })
  const { base, storefront } = shop.config.urls
  const page = await shop.store('GET', '/docs/quickstart.md')
  assert.equal(page.headers.get('content-type'), 'text/markdown; charset=utf-8')
  assert.match(page.text, /^# Quickstart\n/)
  assert.ok(page.text.includes(`curl ${base}/v1/chat/completions`))
  assert.ok(page.text.includes(`](${storefront}/docs/errors)`))
  assert.equal((await shop.store('GET', '/docs/README.md')).status, 404)
  assert.equal((await shop.store('GET', '/docs/..%2fpackage.md')).status, 404)

  const { paths, components, info, servers } = (await shop.store('GET', '/docs/openapi.json')).body
  assert.deepEqual([info.title, servers], ['Zebra', [{ url: base }]])
  assert.ok('/v1/chat/completions' in paths)
  assert.deepEqual(
    Object.keys(paths).filter((path) => /admin|auth/.test(path)),
    [],
  )
  const references = [...JSON.stringify([paths, components]).matchAll(/schemas\/([^"]+)"/g)]
  for (const [, name = ''] of references) assert.ok(name in components.schemas, name)
  assert.ok(!('SwitchEffect' in components.schemas))
})

test('llms.txt lists the pages, and llms-full.txt has their texts', async (t) => {
  const shop = await openShop(t, { PRODUCT_NAME: 'zebra' })
  const { storefront } = shop.config.urls
  const index = await shop.store('GET', '/llms.txt')
  assert.equal(index.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.match(index.text, /^# Zebra\n\n> .+\n\n## Documentation\n\n- \[/)
  const own = [...index.text.matchAll(/\]\(([^)]+)\)/g)]
    .map(([, url = '']) => url)
    .filter((url) => url.startsWith(`${storefront}/`))
  assert.ok(own.length >= 8)
  for (const url of own) {
    const reply = await shop.store('GET', url.slice(storefront.length))
    assert.equal(reply.status, 200, url)
  }
  const full = (await shop.store('GET', '/llms-full.txt')).text
  assert.match(full, /\n# Quickstart\n[\s\S]*\n# Errors\n/)
  assert.doesNotMatch(full, /<!--|\n# Operations/)
  for (const path of ['/llms.txt', '/llms-full.txt']) {
    const reply = await shop.app.get(path)
    assert.equal(reply.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(reply.text, (await shop.store('GET', path)).text, 'the API has the same file')
  }
})

test('the requests of the quickstart work', async (t) => {
  const { app, config } = await openShop(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { key } = (await ada.post('/api/api-keys', { name: 'quickstart' })).body
  const text = readFileSync(QUICKSTART, 'utf8')
  const requests = [...text.matchAll(/curl http:\/\/localhost:8000(\S+) [\s\S]*?-d '(.+)'/g)]
  assert.equal(requests.length, 3)
  const answers: unknown[] = []
  for (const [, path = '', body = ''] of requests) {
    const headers = { authorization: `Bearer ${key}` }
    const reply = await app.post(path, JSON.parse(body), { headers })
    assert.ok(reply.status < 300, `${path}: ${reply.text}`)
    await app.settle()
    answers.push(reply.body)
  }
  const [chat, , rag] = answers as [
    { choices: unknown[]; usage: { cost_usd: number } },
    unknown,
    { sources: unknown[] },
  ]
  assert.equal(chat.choices.length, 1)
  assert.equal(typeof chat.usage.cost_usd, 'number')
  assert.equal(rag.sources.length, 1)
  assert.ok(config.urls.base)
})
