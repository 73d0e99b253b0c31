import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import { PASSWORD } from '#testing/app.ts'
import { cookieOf, openShop } from '#testing/buyer.ts'

const ADA = { email: 'ada@example.com', password: PASSWORD }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

test('a session starts with email and password, and ends when asked', async (t) => {
  const shop = await openShop(t)
  const { userId } = await shop.as('ada')

  const reply = await shop.store('POST', '/api/session', { body: { ...ADA, email: 'ADA@example.com' } })
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.body, { user: { id: userId, email: 'ada@example.com', full_name: 'ada' } })
  const header = reply.headers.get('set-cookie') ?? ''
  assert.match(header, /^store_session=[\w-]{43};/)
  assert.match(header, /HttpOnly/)
  assert.match(header, /SameSite=Lax/)
  assert.match(header, /Path=\//)
  assert.doesNotMatch(header, /Secure/)

  const cookie = cookieOf(reply)
  assert.equal((await shop.store('GET', '/api/purchases', { headers: { cookie } })).status, 200)
  const ended = await shop.store('DELETE', '/api/session', { headers: { cookie } })
  assert.equal(ended.status, 200)
  assert.equal((await shop.store('GET', '/api/purchases', { headers: { cookie } })).status, 401)
})

test('behind https the cookie is for https alone', async (t) => {
  const shop = await openShop(t, { STOREFRONT_URL: 'https://shop.example.com' })
  await shop.as('ada')
  const reply = await shop.store('POST', '/api/session', { body: ADA })
  assert.match(reply.headers.get('set-cookie') ?? '', /; Secure/)
})

test('wrong and missing credentials are told apart from nothing else', async (t) => {
  const shop = await openShop(t)
  await shop.as('ada')
  const post = (body: object) => shop.store('POST', '/api/session', { body })

  const wrong = await post({ ...ADA, password: 'not the password' })
  const unknown = await post({ ...ADA, email: 'nobody@example.com' })
  assert.equal(wrong.status, 401)
  assert.deepEqual(wrong.body, { error: 'Incorrect email or password' })
  assert.deepEqual([unknown.status, unknown.body], [wrong.status, wrong.body])
  assert.equal((await post({ email: 'ada@example.com' })).status, 400)
  assert.equal((await post({ ...ADA, password: '' })).status, 400)
  assert.equal((await post({ ...ADA, password: 7 })).status, 422)
})

test('a made-up or foreign cookie is nobody', async (t) => {
  const shop = await openShop(t)
  for (const cookie of ['', 'store_session=', `store_session=${'x'.repeat(43)}`, "store_session=' or 1=1 --"]) {
    const reply = await shop.store('GET', '/api/purchases', { headers: { cookie } })
    assert.equal(reply.status, 401, cookie)
    assert.deepEqual(reply.body, { error: 'Not authenticated' })
  }
  // The API's own token opens nothing here.
  const { token } = await shop.as('ada')
  const bearer = await shop.store('GET', '/api/purchases', { headers: { authorization: `Bearer ${token}` } })
  assert.equal(bearer.status, 401)
})

test('a session ends after 30 days', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  shop.clock.advance(29 * 24 * 3600_000)
  assert.equal((await ada.get('/api/purchases')).status, 200)
  shop.clock.advance(2 * 24 * 3600_000)
  assert.equal((await ada.get('/api/purchases')).status, 401)
})

test('a changed password ends the storefront session', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const changed = await shop
    .as('ada')
    .post('/api/users/me/change-password', { current_password: PASSWORD, new_password: 'another good password' })
  assert.equal(changed.status, 200)
  assert.equal((await ada.get('/api/purchases')).status, 401)
})

test('a deactivated user is signed out and kept out', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const root = await shop.as('root')
  await sql`update users set is_superuser = ${true} where id = ${root.userId}`.execute(shop.platform.db)
  shop.platform.bus.publish('identity.changed', { userId: root.userId })
  const off = await root.patch(`/api/admin/users/${ada.userId}`, { is_active: false })
  assert.equal(off.status, 200, off.text)

  assert.equal((await ada.get('/api/purchases')).status, 401)
  assert.equal((await ada.get('/dashboard')).status, 302)
  const again = await shop.store('POST', '/api/session', { body: ADA })
  assert.deepEqual([again.status, again.body], [403, { error: 'Inactive account' }])

  // Switched on again, the old session stays ended.
  await root.patch(`/api/admin/users/${ada.userId}`, { is_active: true })
  assert.equal((await ada.get('/api/purchases')).status, 401)
})

test('with two-factor on, the login asks for a code, as JSON and as a form', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.as('ada')
  const { secret } = (await ada.post('/api/users/me/totp')).body
  const codeNow = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: shop.clock.ms() })
  const confirmed = await ada.post('/api/users/me/totp/confirm', { code: codeNow() })
  shop.clock.advance(31_000)

  const asked = await shop.store('POST', '/api/session', { body: ADA })
  assert.deepEqual([asked.status, asked.body], [401, { error: 'Two-factor code required' }])
  const wrong = await shop.store('POST', '/api/session', { body: { ...ADA, code: '000000' } })
  assert.deepEqual([wrong.status, wrong.body], [401, { error: 'Invalid two-factor code' }])
  const recovery = { ...ADA, code: confirmed.body.recovery_codes[0] }
  assert.equal((await shop.store('POST', '/api/session', { body: recovery })).status, 200)
  assert.equal((await shop.store('POST', '/api/session', { body: recovery })).status, 401)

  const post = (fields: Record<string, string>) =>
    shop.store('POST', '/login', {
      headers: FORM,
      body: new URLSearchParams({ redirect: '/pricing', ...ADA, ...fields }).toString(),
    })
  const page = await post({})
  assert.equal(page.status, 401)
  assert.match(page.text, /Two-factor code required/)
  assert.match(page.text, /<label for="code">/)
  assert.match(page.text, /name="redirect" value="\/pricing"/)
  const done = await post({ code: codeNow() })
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/pricing'])
})

test('the login form leads on to where the buyer was going, and never off this server', async (t) => {
  const shop = await openShop(t)
  await shop.as('ada')
  const login = (redirect: string, password = PASSWORD) =>
    shop.store('POST', '/login', {
      headers: FORM,
      body: new URLSearchParams({ email: ADA.email, password, redirect }).toString(),
    })

  const page = await shop.store('GET', '/login?redirect=/api/checkout?tier=pro')
  assert.match(page.text, /name="redirect" value="\/api\/checkout\?tier=pro"/)

  const good = await login('/api/checkout?tier=pro')
  assert.equal(good.status, 303)
  assert.equal(good.headers.get('location'), '/api/checkout?tier=pro')
  assert.match(cookieOf(good), /^store_session=/)
  for (const target of [
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
  ]) {
    assert.equal((await login(target)).headers.get('location'), '/dashboard', target)
    const shown = await shop.store('GET', `/login?redirect=${encodeURIComponent(target)}`)
    assert.match(shown.text, /name="redirect" value="\/dashboard"/)
  }

  const bad = await login('/dashboard', 'wrong password')
  assert.equal(bad.status, 401)
  assert.match(bad.text, /Incorrect email or password/)
  assert.match(bad.text, /value="ada@example.com"/)
  assert.doesNotMatch(bad.text, /wrong password/)
})

test('the form endpoint of the session leads on as well', async (t) => {
  const shop = await openShop(t)
  await shop.as('ada')
  const body = new URLSearchParams({ ...ADA, redirect: '/pricing' }).toString()
  const reply = await shop.store('POST', '/api/session', { headers: FORM, body })
  assert.deepEqual([reply.status, reply.headers.get('location')], [303, '/pricing'])
})

test('another site cannot make a browser sign in, sign out or write', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'null' },
  ]
  for (const headers of foreign) {
    const forms: [string, string][] = [
      ['/login', 'email=ada@example.com&password=x'],
      ['/logout', ''],
      ['/contact', 'name=a&email=a@example.com&subject=sales&message=x'],
      ['/api/session', 'email=ada@example.com&password=x'],
      ['/recover', 'email=ada@example.com'],
    ]
    for (const [path, body] of forms) {
      const reply = await ada.request('POST', path, { headers: { ...FORM, ...headers }, body })
      assert.equal(reply.status, 403, `${path} ${JSON.stringify(headers)}`)
    }
    assert.equal((await ada.request('DELETE', '/api/session', { headers })).status, 403)
  }
  const own = { origin: shop.storefrontUrl, 'sec-fetch-site': 'same-origin' }
  assert.equal((await ada.request('POST', '/logout', { headers: { ...FORM, ...own }, body: '' })).status, 303)
  assert.equal((await ada.get('/api/purchases')).status, 401)
})

test('the storefront shares the account’s limit of sign-ins', async (t) => {
  const shop = await openShop(t, { RATE_LIMIT_AUTH: '4/60' })
  const wrong = { email: 'ada@example.com', password: 'not this one' }
  for (let i = 0; i < 2; i++) {
    assert.equal((await shop.post('/api/auth/login', wrong)).status, 401)
    assert.equal((await shop.store('POST', '/api/session', { body: wrong })).status, 401)
  }
  const refused = await shop.store('POST', '/api/session', { body: wrong })
  assert.equal(refused.status, 429)
  assert.deepEqual(refused.body, { error: 'Rate limit exceeded' })
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
})
