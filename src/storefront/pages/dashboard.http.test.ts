import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Buyer, openShop, type Shop } from '#testing/buyer.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const NAME = '<script>alert(1)</script>'

test('a buyer releases a machine with a form', async (t) => {
  const { shop, ada, purchase } = await openOwned(t)
  const license_key = await readKey(ada)
  const machine = { license_key, fingerprint: 'one', name: NAME, platform: 'linux' }
  const { body } = await shop.store('POST', '/api/license/activate', { body: machine })
  const page = await ada.get('/dashboard')
  assert.match(page.text, /Machines \(1 of 3\)/)
  assert.ok(!page.text.includes(NAME), 'a machine’s name is text')

  const sent = await send(ada, 'release', { purchase, item: body.activation_id })
  assert.deepEqual(
    [sent.status, sent.headers.get('location')],
    [303, `/dashboard#purchase-${purchase}`],
  )
  assert.match((await ada.get('/dashboard')).text, /Machines \(0 of 3\)/)
})

test('a download token is shown once, works, and is revoked with a form', async (t) => {
  const { shop, ada, purchase } = await openOwned(t)
  const made = await send(ada, 'tokens', { purchase, name: NAME, days: '90' })
  assert.equal(made.status, 200)
  assert.ok(!made.text.includes(NAME))
  const token = /lkd_[\w-]+/.exec(made.text)?.[0] ?? ''
  const headers = { authorization: `Bearer ${token}` }
  const update = () => shop.store('GET', '/api/updates/pro?version=1.0.0', { headers })
  assert.equal((await update()).status, 200)

  const page = await ada.get('/dashboard')
  assert.doesNotMatch(page.text, /lkd_/)
  const [{ id, expires_at }] = (await ada.get(`/api/purchases/${purchase}/tokens`)).body
  assert.ok(page.text.includes(id))
  assert.equal(Math.round((Date.parse(expires_at) - shop.clock.ms()) / 86_400_000), 90)
  assert.equal((await send(ada, 'delete-token', { purchase, item: id })).status, 303)
  assert.equal((await update()).status, 401)
})

test('a token needs a name and one of the offered lifetimes', async (t) => {
  const { ada, purchase } = await openOwned(t)
  for (const fields of [
    { name: '', days: '90' },
    { name: 'a\nb', days: '90' },
    { name: 'x'.repeat(101), days: '90' },
    { name: 'CI', days: '99999' },
    { name: 'CI', days: '-1' },
  ]) {
    const reply = await send(ada, 'tokens', { purchase, ...fields })
    assert.equal(reply.status, 400)
    assert.match(reply.text, /role="alert"/)
  }
  assert.deepEqual((await ada.get(`/api/purchases/${purchase}/tokens`)).body, [])
})

test('a buyer replaces a key, which the page then shows', async (t) => {
  const { shop, ada, purchase } = await openOwned(t)
  const before = await readKey(ada)
  assert.equal((await send(ada, 'rotate-key', { purchase })).status, 303)
  const after = await readKey(ada)
  assert.notEqual(after, before)
  const verify = (license_key: string) =>
    shop.store('POST', '/api/license/verify', { body: { license_key } })
  assert.equal((await verify(before)).body.valid, false)
  assert.equal((await verify(after)).body.valid, true)
})

test('the page has the invoice, the withdrawal and the downloads of the release', async (t) => {
  const { ada, purchase } = await openOwned(t)
  const { text } = await ada.get('/dashboard')
  assert.ok(text.includes(`href="/api/purchases/${purchase}/invoice"`))
  assert.ok(text.includes(`href="/withdraw?order=${purchase}"`))
  assert.match(text, /Downloads of 1\.1\.0<\/dt>.*?5 of 5 left/s)
  assert.match(text, /Upgrade to Enterprise for \$200/)
})

test('the forms change nothing of another buyer', async (t) => {
  const { shop, ada, purchase } = await openOwned(t)
  const eve = await shop.buyer('eve')
  const license_key = await readKey(ada)
  const machine = { license_key, fingerprint: 'one' }
  const { body } = await shop.store('POST', '/api/license/activate', { body: machine })
  const { id: token } = (
    await ada.request('POST', `/api/purchases/${purchase}/tokens`, { body: { name: 'CI' } })
  ).body
  for (const [action, fields] of [
    ['rotate-key', { purchase }],
    ['release', { purchase, item: body.activation_id }],
    ['tokens', { purchase, name: 'Eve', days: '90' }],
    ['delete-token', { purchase, item: token }],
  ] as const) {
    const reply = await send(eve, action, fields)
    assert.equal(reply.status, 404, action)
    assert.ok(!reply.text.includes(license_key.slice(0, 12)), action)
  }
  assert.equal(await readKey(ada), license_key)
  assert.equal((await ada.get(`/api/purchases/${purchase}/tokens`)).body.length, 1)
  const { activations } = (await ada.get(`/api/purchases/${purchase}/activations`)).body
  assert.equal(activations.length, 1)
})

test('a form needs a session, the own site and ids', async (t) => {
  const { shop, ada, purchase } = await openOwned(t)
  const key = await readKey(ada)
  const body = new URLSearchParams({ purchase }).toString()
  const visitor = await shop.store('POST', '/dashboard/rotate-key', { headers: FORM, body })
  assert.equal(visitor.headers.get('location'), '/login?redirect=/dashboard')
  const forged = await ada.request('POST', '/dashboard/rotate-key', {
    headers: { ...FORM, 'sec-fetch-site': 'cross-site' },
    body,
  })
  assert.equal(forged.status, 403)
  const wrong: Record<string, string>[] = [{}, { purchase: "' or 1=1" }, { purchase, item: 'x' }]
  for (const fields of wrong) assert.equal((await send(ada, 'release', fields)).status, 303)
  assert.equal(await readKey(ada), key)
})

async function openOwned(t: Parameters<typeof openShop>[0]) {
  const shop: Shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'pro')
  const [{ id: purchase }] = (await ada.get('/api/purchases')).body
  return { shop, ada, purchase: purchase as string }
}

function send(buyer: Buyer, action: string, fields: Record<string, string>) {
  const body = new URLSearchParams(fields).toString()
  return buyer.request('POST', `/dashboard/${action}`, { headers: FORM, body })
}

async function readKey(buyer: Buyer): Promise<string> {
  return /LK-[0-9A-Z]{4}(?:-[0-9A-Z]{4})+/.exec((await buyer.get('/dashboard')).text)?.[0] ?? ''
}
