import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { collectAudit } from '#audit/audit.ts'
import { type Client, PASSWORD, type Reply } from '#testing/app.ts'
import { openShop, readCookie } from '#testing/buyer.ts'
import { throughProvider } from '#testing/provider.ts'

const ADA = { email: 'ada@example.com', password: PASSWORD }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

test('a session starts with email and password, and ends when asked', async (t) => {
  const shop = await openShop(t)
  const { userId } = await shop.as('ada')

  const reply = await shop.store('POST', '/api/session', {
    body: { ...ADA, email: 'ADA@example.com' },
  })
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.body, { user: { id: userId, email: 'ada@example.com', full_name: 'ada' } })
  const header = reply.headers.get('set-cookie') ?? ''
  assert.match(header, /^store_session=[\w-]{64};/)
  assert.match(header, /HttpOnly/)
  assert.match(header, /SameSite=Lax/)
  assert.match(header, /Path=\//)
  assert.doesNotMatch(header, /Secure/)

  const cookie = readCookie(reply)
  assert.equal((await shop.store('GET', '/api/purchases', { headers: { cookie } })).status, 200)
  const ended = await shop.store('DELETE', '/api/session', { headers: { cookie } })
  assert.equal(ended.status, 200)
  assert.equal((await shop.store('GET', '/api/purchases', { headers: { cookie } })).status, 401)
})

test('with https, the cookie is Secure', async (t) => {
  const shop = await openShop(t, { STOREFRONT_URL: 'https://shop.example.com' })
  await shop.as('ada')
  const reply = await shop.store('POST', '/api/session', { body: ADA })
  assert.match(reply.headers.get('set-cookie') ?? '', /; Secure/)
})

test('wrong and missing credentials get the same answer', async (t) => {
  const shop = await openShop(t)
  await shop.as('ada')
  const post = (body: object) => shop.store('POST', '/api/session', { body })

  const wrong = await post({ ...ADA, password: 'not the password' })
  const unknown = await post({ ...ADA, email: 'nobody@example.com' })
  assert.equal(wrong.status, 401)
  assert.deepEqual(wrong.body, { error: 'Incorrect email or password', code: 'credentials_wrong' })
  assert.deepEqual([unknown.status, unknown.body], [wrong.status, wrong.body])
  assert.equal((await post({ email: 'ada@example.com' })).status, 400)
  assert.equal((await post({ ...ADA, password: '' })).status, 400)
  assert.equal((await post({ ...ADA, password: 7 })).status, 422)
})

test('an invented or foreign cookie identifies no user', async (t) => {
  const shop = await openShop(t)
  for (const cookie of [
    '',
    'store_session=',
    `store_session=${'x'.repeat(64)}`,
    "store_session=' or 1=1 --",
  ]) {
    const reply = await shop.store('GET', '/api/purchases', { headers: { cookie } })
    assert.equal(reply.status, 401, cookie)
    assert.deepEqual(reply.body, { error: 'Not authenticated', code: 'not_signed_in' })
  }
  // The API's own token opens nothing here.
  const { token } = await shop.as('ada')
  const bearer = await shop.store('GET', '/api/purchases', {
    headers: { authorization: `Bearer ${token}` },
  })
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
  const changed = await shop.as('ada').post('/api/users/me/change-password', {
    current_password: PASSWORD,
    new_password: 'another good password',
  })
  assert.equal(changed.status, 200)
  assert.equal((await ada.get('/api/purchases')).status, 401)
})

test('a deactivated user is signed out and kept out', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const root = await shop.as('root', { superuser: true })
  const off = await root.patch(`/api/admin/users/${ada.userId}`, { is_active: false })
  assert.equal(off.status, 200, off.text)

  assert.equal((await ada.get('/api/purchases')).status, 401)
  assert.equal((await ada.get('/dashboard')).status, 302)
  const again = await shop.store('POST', '/api/session', { body: ADA })
  assert.deepEqual(
    [again.status, again.body],
    [403, { error: 'Inactive account', code: 'inactive_account' }],
  )

  // Switched on again, the old session stays ended.
  await root.patch(`/api/admin/users/${ada.userId}`, { is_active: true })
  assert.equal((await ada.get('/api/purchases')).status, 401)
})

test('with two-factor on, the login asks for a code, as JSON and as a form', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.as('ada')
  const { secret } = (await ada.post('/api/users/me/totp')).body
  const codeNow = () =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: shop.clock.ms() })
  const confirmed = await ada.post('/api/users/me/totp/confirm', { code: codeNow() })
  shop.clock.advance(31_000)

  const asked = await shop.store('POST', '/api/session', { body: ADA })
  assert.deepEqual(
    [asked.status, asked.body],
    [401, { error: 'Two-factor code required', code: 'two_factor_code_required' }],
  )
  const wrong = await shop.store('POST', '/api/session', { body: { ...ADA, code: '000000' } })
  assert.deepEqual(
    [wrong.status, wrong.body],
    [401, { error: 'Invalid two-factor code', code: 'two_factor_code_wrong' }],
  )
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
  assert.match(readCookie(good), /^store_session=/)
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
  assert.equal(
    (await ada.request('POST', '/logout', { headers: { ...FORM, ...own }, body: '' })).status,
    303,
  )
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
  assert.deepEqual(refused.body, { error: 'Rate limit exceeded', code: 'rate_limited' })
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
})

test('a storefront session is seen in the account’s list and ended there, alone or with all others', async (t) => {
  const shop = await openShop(t, { TRUST_PROXY: 'true' })
  const ada = await shop.as('ada')
  const eve = await shop.as('eve')
  const signIn = async () => {
    const headers = { 'user-agent': 'Phone/1.0', 'x-forwarded-for': '198.51.100.7' }
    return readCookie(await shop.store('POST', '/api/session', { body: ADA, headers }))
  }
  const opens = async (cookie: string) =>
    (await shop.store('GET', '/api/purchases', { headers: { cookie } })).status
  const first = await signIn()
  const listed = (await ada.get('/api/users/me/sessions')).body
  assert.equal(listed.length, 2)
  const store = listed.find((session: { current: boolean }) => !session.current)
  assert.deepEqual(Object.keys(store).sort(), [
    'created_at',
    'current',
    'id',
    'ip_address',
    'last_used_at',
    'user_agent',
  ])
  assert.deepEqual([store.user_agent, store.ip_address], ['Phone/1.0', '198.51.100.7'])

  assert.equal(
    (await eve.delete(`/api/users/me/sessions/${store.id}`)).status,
    404,
    'only by its owner',
  )
  assert.equal(await opens(first), 200)
  assert.equal((await ada.delete(`/api/users/me/sessions/${store.id}`)).status, 200)
  assert.equal(await opens(first), 401)
  assert.equal((await ada.delete(`/api/users/me/sessions/${store.id}`)).status, 404)

  const second = await signIn()
  const laptop = await shop.post('/api/auth/login', ADA)
  const all = await ada.delete('/api/users/me/sessions')
  assert.deepEqual([all.status, all.body], [200, { message: 'Other sessions revoked' }])
  assert.equal(await opens(second), 401)
  assert.equal(
    (await shop.post('/api/auth/refresh', { refresh_token: laptop.body.refresh_token })).status,
    401,
  )
  const left = (await ada.get('/api/users/me/sessions')).body
  assert.deepEqual(
    left.map(({ current }: { current: boolean }) => current),
    [true],
  )
  assert.equal(
    (await eve.get('/api/users/me/sessions')).body.length,
    1,
    'nobody else is signed out',
  )
  const actions = (await collectAudit(shop.platform.db, ada.userId)).map(({ action }) => action)
  assert.deepEqual(actions.slice(0, 1), ['sessions.ended'])
})

test('a storefront session shows when it was last used', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const account = await shop.as('ada')
  const used = async () => {
    const listed = (await account.get('/api/users/me/sessions')).body
    return Date.parse(listed.find((session: { current: boolean }) => !session.current).last_used_at)
  }
  const before = await used()
  shop.clock.advance(20 * 60_000)
  assert.equal((await ada.get('/api/purchases')).status, 200)
  assert.ok((await used()) - before >= 20 * 60_000)
})

test('a storefront sign-in from a new device sends an email; one from a known device does not', async (t) => {
  const shop = await openShop(t, { TRUST_PROXY: 'true' })
  const from = (headers: Record<string, string>) =>
    shop.store('POST', '/api/session', { body: ADA, headers })
  const told = async () =>
    (await shop.mail(ADA.email)).filter(({ subject }) => /new sign-in/i.test(subject)).length
  await shop.as('ada')
  await from({ 'user-agent': 'Firefox/140.0', 'x-forwarded-for': '203.0.113.9' })
  assert.equal(await told(), 1)
  await from({ 'user-agent': 'Firefox/141.0', 'x-forwarded-for': '203.0.113.80' })
  assert.equal(await told(), 1)
  const form = new URLSearchParams({ ...ADA, redirect: '/pricing' }).toString()
  const headers = { ...FORM, 'user-agent': 'Safari/20.0', 'x-forwarded-for': '198.51.100.1' }
  assert.equal((await shop.store('POST', '/login', { body: form, headers })).status, 303)
  assert.equal(await told(), 2)
  const login = { headers: { 'user-agent': 'Safari/20.1', 'x-forwarded-for': '198.51.100.2' } }
  assert.equal((await shop.post('/api/auth/login', ADA, login)).status, 200)
  assert.equal(await told(), 2, 'one memory of devices for both servers')
})

test('ending the account’s sessions ends those of the storefront', async (t) => {
  const shop = await openShop(t)
  const tokenIn = async (email: string, path: string) => {
    for (const { links } of await shop.mail(email)) {
      const link = links.find((candidate) => candidate.includes(path))
      if (link) return new URL(link).searchParams.get('token')
    }
    throw new Error(`no email with ${path}`)
  }
  const ends: Record<string, (email: string, client: Client) => Promise<Reply>> = {
    reset: async (email) => {
      await shop.post('/api/auth/forgot-password', { email })
      const token = await tokenIn(email, '/reset-password')
      return shop.post('/api/auth/reset-password', { token, new_password: 'another good password' })
    },
    moved: (_email, client) =>
      client.post('/api/users/me/change-email', {
        new_email: 'elsewhere@example.com',
        password: PASSWORD,
      }),
    undone: async (email, client) => {
      await client.post('/api/users/me/change-email', {
        new_email: 'away@example.com',
        password: PASSWORD,
      })
      await shop.store('POST', '/api/session', {
        body: { email: 'away@example.com', password: PASSWORD },
      })
      return shop.post('/api/auth/undo-email-change', {
        token: await tokenIn(email, '/undo-email-change'),
      })
    },
    deleted: (_email, client) => client.delete('/api/users/me', { password: PASSWORD }),
  }
  for (const [name, end] of Object.entries(ends)) {
    const buyer = await shop.buyer(name)
    assert.equal((await end(buyer.email, await shop.as(name))).status, 200, name)
    assert.equal((await buyer.get('/api/purchases')).status, 401, name)
    const { db } = shop.platform
    const left = await db
      .selectFrom('store_sessions')
      .select('id')
      .where('user_id', '=', buyer.userId)
      .execute()
    assert.deepEqual(left, [], name)
  }
})

test('every sign-in method of the account opens the storefront: in the browser that started, once, after a fresh sign-in', async (t) => {
  const shop = await openShop(t)
  const viaGoogle = await throughProvider(shop.app, 'google', { email: 'olga@example.com' })
  const olga = {
    headers: { authorization: `Bearer ${viaGoogle.target.searchParams.get('access_token')}` },
  }
  const setOut = async () => {
    const left = await shop.store('GET', '/login/account?redirect=/contact?of=v1.2.3')
    assert.equal(left.status, 302)
    const state = new URL(left.headers.get('location') ?? '').searchParams.get('state') ?? ''
    return { cookie: readCookie(left), state }
  }
  const codeFor = async (state: string, session = olga) => {
    const { url } = (await shop.post('/api/auth/storefront', { state }, session)).body
    assert.equal(new URL(url).origin, shop.config.urls.storefront)
    return new URL(url).searchParams.get('code') ?? ''
  }
  const comeBack = (code: string, cookie = '') =>
    shop.store('GET', `/login/return?code=${code}`, { headers: cookie ? { cookie } : {} })

  const own = await setOut()
  const code = await codeFor(own.state)
  // Eve set out in her browser and has Olga follow the link that comes back, or the other way
  // round.
  const eve = await setOut()
  assert.equal((await comeBack(code)).status, 400)
  const ofEve = await codeFor(eve.state)
  assert.equal((await comeBack(ofEve, own.cookie)).status, 400)
  assert.equal((await comeBack(await codeFor(own.state), eve.cookie)).status, 400)

  const again = await codeFor(own.state)
  const back = await comeBack(again, own.cookie)
  assert.deepEqual([back.status, back.headers.get('location')], [303, '/contact?of=v1.2.3'])
  const session =
    back.headers.getSetCookie().find((cookie) => cookie.startsWith('store_session=')) ?? ''
  const purchases = await shop.store('GET', '/api/purchases', {
    headers: { cookie: session.split(';')[0] ?? '' },
  })
  assert.equal(purchases.status, 200)
  assert.equal((await comeBack(again, own.cookie)).status, 400, 'once')
  const stolen = await codeFor(own.state)
  assert.equal((await shop.app.request('DELETE', '/api/users/me/sessions', olga)).status, 200)
  assert.equal(
    (await comeBack(stolen, own.cookie)).status,
    400,
    'not after everything was signed out',
  )

  // A session that is ended alone takes the code with it that was made in it, and no other.
  const elsewhere = await throughProvider(shop.app, 'google', { email: 'olga@example.com' })
  const intruder = {
    headers: { authorization: `Bearer ${elsewhere.target.searchParams.get('access_token')}` },
  }
  const [made, kept] = [await codeFor(own.state, intruder), await codeFor(own.state)]
  const sessions = (await shop.app.request('GET', '/api/users/me/sessions', intruder)).body
  const { id } = sessions.find(({ current }: { current: boolean }) => current)
  assert.equal((await shop.app.request('DELETE', `/api/users/me/sessions/${id}`, olga)).status, 200)
  assert.equal((await comeBack(made, own.cookie)).status, 400, 'not after its session was ended')
  assert.equal((await comeBack(kept, own.cookie)).status, 303)
  const late = await codeFor(own.state)
  shop.clock.advance(3 * 60_000)
  assert.equal((await comeBack(late, own.cookie)).status, 400, 'for two minutes')
  shop.clock.advance(8 * 60_000)
  assert.equal(
    (await shop.post('/api/auth/storefront', { state: own.state }, olga)).body.code,
    'fresh_sign_in_required',
  )
})
