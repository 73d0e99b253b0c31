import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { findUserByEmail, updateUser } from '#identity/users.ts'
import { MINUTE_MS } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { PASSWORD, type Reply } from '#testing/app.ts'
import { openShop, readCookie, type Shop } from '#testing/buyer.ts'
import { GOOD_CARD } from '#testing/shop.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

test('a buyer signs in with the emailed code, and continues where they were', async (t) => {
  const shop = await openShop(t)
  const { email } = await asVerified(shop, 'ada')
  const { cookie, page } = await request(shop, email)
  assert.match(page.text, /Check your inbox/)
  const code = await readCode(shop, email)
  const redirect = '/api/checkout?tier=pro'
  const reply = await confirm(shop, cookie, { email, code, redirect })
  assert.deepEqual([reply.status, reply.headers.get('location')], [303, redirect])
  const session = await shop.store('GET', '/dashboard', { headers: { cookie: readSession(reply) } })
  assert.equal(session.status, 200)

  const again = await confirm(shop, cookie, { email, code })
  assert.deepEqual([again.status, readSession(again)], [401, ''], 'a code works once')
})

test('a code works only in the browser that requested it', async (t) => {
  const shop = await openShop(t)
  const { email } = await asVerified(shop, 'ada')
  const owner = await request(shop, email)
  const code = await readCode(shop, email)
  // Eve requests a code for ada's address, too, and learns ada's code.
  const eve = await request(shop, email)
  for (const cookie of [eve.cookie, '', 'store_code=x'])
    assert.equal((await confirm(shop, cookie, { email, code })).status, 401, cookie)
  assert.equal((await confirm(shop, owner.cookie, { email, code })).status, 303)
})

test('five guesses end the codes of a browser', async (t) => {
  const shop = await openShop(t)
  const { email } = await asVerified(shop, 'ada')
  const { cookie } = await request(shop, email)
  const code = await readCode(shop, email)
  const wrong = code === '00000000' ? '00000001' : '00000000'
  for (let guess = 0; guess < 5; guess++)
    assert.equal((await confirm(shop, cookie, { email, code: wrong })).status, 401)
  assert.equal((await confirm(shop, cookie, { email, code })).status, 401)
})

test('a code ends after ten minutes, and with a change of the address', async (t) => {
  const shop = await openShop(t)
  const ada = await asVerified(shop, 'ada')
  const first = await request(shop, ada.email)
  const code = await readCode(shop, ada.email)
  shop.clock.advance(10 * MINUTE_MS + 1)
  assert.equal((await confirm(shop, first.cookie, { email: ada.email, code })).status, 401)

  const second = await request(shop, ada.email)
  const next = await readCode(shop, ada.email)
  const moved = 'elsewhere@example.com'
  await transaction(shop.platform.db, (tx) =>
    updateUser(tx, ada.userId, { email: moved, email_key: moved }, shop.clock.now()),
  )
  for (const email of [ada.email, moved])
    assert.equal((await confirm(shop, second.cookie, { email, code: next })).status, 401)
})

test('replies do not reveal whether an address has an account', async (t) => {
  const shop = await openShop(t)
  await asVerified(shop, 'ada')
  const known = await request(shop, 'ada@example.com')
  const unknown = await request(shop, 'eva@example.com')
  assert.equal(known.page.text.replaceAll('ada@', ''), unknown.page.text.replaceAll('eva@', ''))
  assert.equal(known.cookie.length, unknown.cookie.length)
  assert.deepEqual(await shop.mail('eva@example.com'), [])
  const [right, wrong] = await Promise.all([
    confirm(shop, known.cookie, { email: 'ada@example.com', code: '12345678' }),
    confirm(shop, unknown.cookie, { email: 'eva@example.com', code: '12345678' }),
  ])
  assert.deepEqual([right.status, wrong.status], [401, 401])
})

test('an address that nobody has proven gets a link for a new password, not a code', async (t) => {
  const shop = await openShop(t)
  // Eve registers the address of another person, who asks for a code.
  const body = { email: 'victim@example.com', password: PASSWORD }
  await shop.post('/api/auth/register', body)
  await request(shop, body.email)
  const subjects = (await shop.mail(body.email)).map(({ subject }) => subject)
  assert.ok(subjects.includes('Reset your password'))
  assert.ok(!subjects.includes('Your sign-in code'))
})

test('with two-factor on, the code needs the second factor, too', async (t) => {
  const shop = await openShop(t)
  const ada = await asVerified(shop, 'ada')
  const { secret } = (await ada.post('/api/users/me/totp')).body
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const next = () => totp.generate({ timestamp: shop.clock.ms() })
  assert.equal((await ada.post('/api/users/me/totp/confirm', { code: next() })).status, 200)
  shop.clock.advance(MINUTE_MS)

  const { email } = ada
  const { cookie } = await request(shop, email)
  const code = await readCode(shop, email)
  const asked = await confirm(shop, cookie, { email, code })
  assert.deepEqual([asked.status, readSession(asked)], [401, ''])
  assert.match(asked.text, /name="second_factor"/)
  const wrong = await confirm(shop, cookie, { email, code, second_factor: '000000' })
  assert.deepEqual([wrong.status, readSession(wrong)], [401, ''])
  const right = await confirm(shop, cookie, { email, code, second_factor: next() })
  assert.equal(right.status, 303, right.text)
})

test('a guest signs in with a code instead of the link', async (t) => {
  const shop = await openShop(t)
  const email = 'guest@example.com'
  const { body } = await shop.store('POST', '/api/checkout', { body: { tier: 'pro', email } })
  const pay = new URL(body.url).pathname
  const form = { email, name: 'Guest', card: GOOD_CARD }
  await shop.app.request('POST', pay, { body: new URLSearchParams(form) })
  await shop.store('GET', `/purchased?session_id=${pay.split('/').at(-1)}`)
  await shop.settle()

  const { cookie } = await request(shop, email)
  const reply = await confirm(shop, cookie, { email, code: await readCode(shop, email) })
  const purchases = await shop.store('GET', '/api/purchases', {
    headers: { cookie: readSession(reply) },
  })
  assert.equal(purchases.body.length, 1)
  assert.equal((await findUserByEmail(shop.platform.db, email))?.is_verified, true)
})

test('a target outside the shop becomes the dashboard', async (t) => {
  const shop = await openShop(t)
  const { email } = await asVerified(shop, 'ada')
  const { cookie } = await request(shop, email)
  const code = await readCode(shop, email)
  const reply = await confirm(shop, cookie, { email, code, redirect: '//evil.example' })
  assert.equal(reply.headers.get('location'), '/dashboard')
})

/** Verifies the address as a signed-in user does. */
async function asVerified(shop: Shop, name: string) {
  const client = await shop.as(name)
  await transaction(shop.platform.db, (tx) =>
    updateUser(tx, client.userId, { is_verified: true }, shop.clock.now()),
  )
  return client
}

async function request(shop: Shop, email: string): Promise<{ cookie: string; page: Reply }> {
  const page = await send(shop, '/login/code', '', { email, redirect: '/dashboard' })
  assert.equal(page.status, 200)
  await shop.settle()
  return { cookie: readCookie(page), page }
}

function confirm(shop: Shop, cookie: string, fields: Record<string, string>): Promise<Reply> {
  return send(shop, '/login/code/confirm', cookie, fields)
}

function send(shop: Shop, path: string, cookie: string, fields: Record<string, string>) {
  return shop.store('POST', path, {
    headers: { ...FORM, cookie },
    body: new URLSearchParams(fields).toString(),
  })
}

/** Returns the code of the newest email. */
async function readCode(shop: Shop, to: string): Promise<string> {
  const mails = (await shop.mail(to)).filter(({ subject }) => subject === 'Your sign-in code')
  const newest = mails.toSorted((a, b) => b.at.localeCompare(a.at))[0]
  const code = /\b\d{4} \d{4}\b/.exec(newest?.text ?? '')?.[0]
  assert.ok(code, `a code was mailed to ${to}`)
  return code
}

function readSession(reply: Reply): string {
  const cookie = reply.headers.getSetCookie().find((one) => one.startsWith('store_session='))
  return cookie?.split(';')[0] ?? ''
}
