import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openShop } from '#testing/buyer.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const PAGES = [
  '/',
  '/pricing',
  '/products/pro',
  '/products/pro/changelog',
  '/login',
  '/contact',
  '/recover',
  '/models?q=gpt',
  '/status',
]

test('every page is complete, works without scripts, and loads only its own assets', async (t) => {
  const shop = await openShop(t)
  for (const path of PAGES) {
    const page = await shop.store('GET', path)
    assert.equal(page.status, 200, path)
    assert.match(page.headers.get('content-type') ?? '', /text\/html; charset=utf-8/)
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /script-src 'self'/)
    assert.doesNotMatch(policy, /unsafe|\*/)
    assert.match(page.text, /^<!doctype html>/)
    assert.match(page.text, /<html lang="en">/)
    assert.equal(page.text.match(/<h1/g)?.length, 1, path)
    assert.match(page.text, /class="skip" href="#main"/)
    assert.doesNotMatch(page.text, /<script>| style="| onclick=/)
    // Each field has its label.
    for (const [, id] of page.text.matchAll(/<(?:input|select|textarea) id="(\w+)"/g)) {
      assert.ok(page.text.includes(`<label for="${id}">`), `${path}: ${id}`)
    }
    for (const [, asset = ''] of page.text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)) {
      const reply = await shop.store('GET', asset)
      assert.equal(reply.status, 200, asset)
      assert.match(reply.headers.get('cache-control') ?? '', /immutable/)
    }
  }
})

test('the home page shows three tiers with their prices and features', async (t) => {
  const shop = await openShop(t)
  const { text } = await shop.store('GET', '/')
  for (const [tier, price, feature] of [
    ['basic', '199', 'FastAPI and Next.js boilerplate'],
    ['pro', '299', 'RAG pipeline'],
    ['enterprise', '499', 'Fine-tuning scripts'],
  ]) {
    assert.ok(text.includes(`/products/${tier}#buy`))
    assert.ok(text.includes(`$${price}`))
    assert.ok(text.includes(feature ?? ''))
  }
})

test('the home page of a shop without products shows the plans', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-home-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const CATALOGUE = join(folder, 'catalogue.json')
  writeFileSync(CATALOGUE, JSON.stringify({ products: [] }))
  const shop = await openShop(t, { CATALOGUE })
  const { text } = await shop.store('GET', '/')
  assert.match(text, /<h1>Choose a plan<\/h1>/)
  assert.match(text, /<h3 id="plan-pro">Pro<\/h3>/)
  assert.doesNotMatch(text, /encrypted ZIP/)
})

test('the sign-in page leads to each configured method of the account', async (t) => {
  const shop = await openShop(t)
  const { text } = await shop.store('GET', '/login?redirect=/contact?of=v1')
  const methods = [...text.matchAll(/href="(\/login\/account\?with=[^"]+)">([^<]+)/g)]
  assert.deepEqual(
    methods.map(([, , name]) => name),
    ['Sign in with Google', 'Sign in with GitHub', 'Sign in with a passkey'],
  )
  for (const [, address = '', name = ''] of methods) {
    const { headers } = await shop.store('GET', address.replaceAll('&amp;', '&'))
    const method = new URL(headers.get('location') ?? '').searchParams.get('with')
    assert.ok(method && name.toLowerCase().includes(method), name)
  }
  const unknown = await shop.store('GET', '/login/account?with=facebook&redirect=/contact')
  assert.equal(new URL(unknown.headers.get('location') ?? '').searchParams.has('with'), false)
})

test('the pricing page shows the plans before the products, with links into the app', async (t) => {
  const shop = await openShop(t)
  const { text } = await shop.store('GET', '/pricing?code=SUMMER')
  const { frontend } = shop.config.urls
  assert.match(text, /<h1>Pricing<\/h1>/)
  assert.match(
    text,
    /<h3 id="plan-pro">Pro<\/h3>\s*<p class="price">\$\d+<\/p><p class="once">per month or \$\d+ per year<\/p>/,
  )
  const target = encodeURIComponent('/pricing?code=SUMMER')
  assert.ok(text.includes(`href="${frontend}/register?redirect=${target}">Get Pro</a>`))
  assert.ok(text.includes(`href="${frontend}/register">Create a free account</a>`))
  assert.ok(text.indexOf('plan-enterprise') < text.indexOf('tier-basic'))
  assert.match(text, /<h2 id="products">Pay once, no subscription<\/h2>/)
})

test('the pricing page mentions a cancelled checkout', async (t) => {
  const shop = await openShop(t)
  assert.match((await shop.store('GET', '/pricing?canceled=true')).text, /Checkout cancelled/)
  assert.doesNotMatch((await shop.store('GET', '/pricing')).text, /cancelled/)
})

test('returns a page for an unknown page address and JSON for an unknown API address', async (t) => {
  const shop = await openShop(t)
  const page = await shop.store('GET', '/no/such/page')
  assert.equal(page.status, 404)
  assert.match(page.text, /Page not found/)
  for (const [method, path] of [
    ['GET', '/api/nothing'],
    ['POST', '/api/nothing'],
  ] as const) {
    const reply = await shop.store(method, path)
    assert.deepEqual([reply.status, reply.body], [404, { error: 'Not Found', code: 'not_found' }])
  }
  for (const path of [
    '/assets/../storefront.ts',
    '/assets/%2e%2e/routes.ts',
    '/..%2f..%2fpackage.json',
  ]) {
    assert.equal((await shop.store('GET', path)).status, 404, path)
  }
})

test('the dashboard redirects to the login, which redirects back', async (t) => {
  const shop = await openShop(t)
  const reply = await shop.store('GET', '/dashboard?success=true&session_id=cs_1')
  assert.equal(reply.status, 302)
  assert.equal(
    reply.headers.get('location'),
    '/login?redirect=%2Fdashboard%3Fsuccess%3Dtrue%26session_id%3Dcs_1',
  )
  const login = await shop.store('GET', reply.headers.get('location') ?? '')
  assert.match(login.text, /name="redirect" value="\/dashboard\?success=true&amp;session_id=cs_1"/)
})

test('the dashboard shows each purchase with key, downloads left, cooldown, releases and ZIP instructions', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  assert.match((await ada.get('/dashboard')).text, /No purchases yet/)
  await shop.sell(ada, 'pro')
  const before = (await ada.get('/dashboard')).text
  assert.match(before, /5 of 5 left/)
  assert.match(before, /Download 1\.1\.0/)
  assert.doesNotMatch(before, /data-wait-seconds/)
  assert.match(before, /LK-\w{4}(-••••){5}-\w{4}/)

  const { headers } = await ada.download()
  await shop.settle()
  const after = (await ada.get('/dashboard')).text
  assert.match(after, /4 of 5 left/)
  assert.match(after, /data-wait-seconds="(60|59)"/)
  assert.ok(after.includes(headers.get('x-license-key') ?? ''))
  assert.match(after, /API keys and an admin dashboard/)
  assert.match(after, /7-Zip/)
  assert.match(after, /127\.0\.0\.1/)
  assert.match((await ada.get('/')).text, /Go to your download/)
})

test('the contact form works without scripts', async (t) => {
  const shop = await openShop(t, { SUPPORT_EMAIL: 'team@shop.example' })
  const post = (fields: Record<string, string>) =>
    shop.store('POST', '/contact', { headers: FORM, body: new URLSearchParams(fields).toString() })
  const fields = {
    name: 'Ada',
    email: 'ada@example.com',
    subject: 'support',
    message: 'Help <b>me</b>',
  }

  const refused = await post({ ...fields, email: 'nope', name: '"><script>alert(1)</script>' })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /Help &lt;b&gt;me/)
  assert.doesNotMatch(refused.text, /<script>alert/)

  const sent = await post(fields)
  assert.equal(sent.status, 200)
  assert.match(sent.text, /Message sent/)
  assert.equal((await shop.mail('team@shop.example')).length, 1)
})

test('the lost-key form returns the same page for known and unknown addresses', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const post = (email: string) =>
    shop.store('POST', '/recover', {
      headers: FORM,
      body: new URLSearchParams({ email }).toString(),
    })
  assert.equal((await post(ada.email)).text, (await post('nobody@example.com')).text)
  assert.equal(
    (await shop.mail(ada.email)).filter(({ subject }) => subject === 'Your license key').length,
    1,
  )
})

test('signing out ends the session', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const reply = await ada.request('POST', '/logout', { headers: FORM, body: '' })
  assert.deepEqual([reply.status, reply.headers.get('location')], [303, '/'])
  assert.equal((await ada.get('/dashboard')).status, 302)
})
