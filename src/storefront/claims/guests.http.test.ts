/** Guests who buy and claim; and attackers who buy for the addresses of others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findUserByEmail } from '#identity/users.ts'
import { DAY_MS } from '#platform/clock.ts'
import { PASSWORD, type Reply, type SandboxMail } from '#testing/app.ts'
import { openShop, paidSession, readCookie, type Shop } from '#testing/buyer.ts'
import { throughProvider } from '#testing/provider.ts'
import { createShop, GOOD_CARD } from '#testing/shop.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const MAIL = 'guest@example.com'

test('a guest pays, claims with the mailed link, and downloads', async (t) => {
  const shop = await openShop(t)
  const back = await buy(shop, MAIL)
  assert.equal(back.status, 200)
  assert.match(back.text, /Check your inbox/)
  assert.ok(!back.text.includes(MAIL), 'anyone may have the address of the page')

  const user = await findUserByEmail(shop.platform.db, MAIL)
  assert.equal(user?.is_verified, false)
  assert.equal(user?.password_hash, null)

  const token = await readToken(shop, MAIL)
  const page = await shop.store('GET', `/claim?token=${token}`)
  assert.match(page.text, /Open your purchase/)
  assert.equal(page.headers.get('set-cookie'), null)

  const claimed = await claim(shop, token)
  assert.deepEqual([claimed.status, claimed.headers.get('location')], [303, '/dashboard'])
  const cookie = readCookie(claimed)
  const purchases = await shop.store('GET', '/api/purchases', { headers: { cookie } })
  assert.equal(purchases.body.length, 1)
  assert.equal(purchases.body[0].tier, 'pro')
  const download = await fetch(`${shop.storefrontUrl}/api/download`, { headers: { cookie } })
  assert.equal(download.status, 200)
  await download.body?.cancel()
  assert.equal((await findUserByEmail(shop.platform.db, MAIL))?.is_verified, true)

  const again = await claim(shop, token)
  assert.equal(again.status, 400, 'the link works once')
  assert.equal(again.headers.get('set-cookie'), null)
})

test('the page of the checkout leads a guest to the payment, and back with the reason of a fault', async (t) => {
  const shop = await openShop(t)
  const login = await shop.store('GET', '/login?redirect=/api/checkout?tier=pro')
  assert.match(login.text, /href="\/checkout\?tier=pro"/)
  const page = await shop.store('GET', '/checkout?tier=pro&code=SUMMER')
  assert.match(page.text, /name="code"[^>]*value="SUMMER"/)

  const send = (fields: Record<string, string>) =>
    shop.store('POST', '/checkout', { headers: FORM, body: new URLSearchParams(fields).toString() })
  const sent = await send({ tier: 'pro', email: MAIL, code: '', waiver: '' })
  assert.equal(sent.status, 303)
  assert.match(sent.headers.get('location') ?? '', /\/sandbox\/pay\/cs_/)
  for (const [fields, status, says] of [
    [{ tier: 'pro', email: 'nobody' }, 400, /valid email address/],
    [{ tier: 'pro', email: MAIL, code: 'NOSUCH' }, 400, /role="alert"/],
    [{ tier: 'pro', email: MAIL, waiver: '1999-01-01' }, 409, /has changed/],
  ] as const) {
    const reply = await send(fields)
    assert.equal(reply.status, status)
    assert.match(reply.text, says)
  }
  assert.equal((await send({ tier: 'gold', email: MAIL })).status, 400)
})

test('a guest’s consent to immediate delivery is recorded with the purchase', async (t) => {
  const shop = await openShop(t)
  const page = await shop.store('GET', '/checkout?tier=pro')
  const waiver = /name="waiver" type="checkbox" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  await buy(shop, MAIL, { waiver })
  const [row] = await shop.platform.db.selectFrom('purchases').select('waiver_json').execute()
  assert.equal(row?.waiver_json?.version, waiver)
})

test('paying with the address of another account does not change that account', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await buy(shop, ada.email)
  assert.deepEqual((await ada.get('/api/purchases')).body, [])
  assert.doesNotMatch((await ada.get('/dashboard')).text, /data-purchase/)
  const user = await findUserByEmail(shop.platform.db, ada.email)
  assert.equal(user?.id, ada.userId)
  assert.ok(user?.password_hash, 'the password stays')

  // Eve paid. She has no link, and the link of the mail needs ada's session.
  const token = await readToken(shop, ada.email)
  const eve = await shop.buyer('eve')
  const visitor = await shop.store('POST', '/api/claim', { body: { token } })
  assert.deepEqual([visitor.status, visitor.body.code], [401, 'claim_needs_sign_in'])
  assert.equal(visitor.headers.get('set-cookie'), null, 'the link does not sign in to an account')
  const other = await eve.request('POST', '/api/claim', { body: { token } })
  assert.deepEqual([other.status, other.body.code], [403, 'claim_of_another_account'])
  const form = await claim(shop, token)
  assert.match(form.headers.get('location') ?? '', /^\/login\?redirect=/)

  const claimed = await ada.request('POST', '/api/claim', { body: { token } })
  assert.equal(claimed.status, 200)
  const { body } = await ada.get('/api/purchases')
  assert.deepEqual(
    body.map((purchase: { tier: string }) => purchase.tier),
    ['pro'],
  )
  const repeated = await ada.request('POST', '/api/claim', { body: { token } })
  assert.deepEqual([repeated.status, repeated.body.code], [400, 'claim_link_invalid'])
  assert.deepEqual((await eve.get('/api/purchases')).body, [])
})

test('the verified owner of the address claims on their page; nobody else does', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const eve = await shop.buyer('eve')
  await shop.platform.db.updateTable('users').set({ is_verified: true }).execute()
  await buy(shop, ada.email)
  const page = await ada.get('/dashboard')
  assert.match(page.text, /<strong>Pro is waiting for you\.<\/strong>/)
  assert.doesNotMatch(page.text, /LK-/, 'the key is not shown before the claim')
  const purchase = /name="purchase" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  const body = new URLSearchParams({ purchase }).toString()
  const post = (who: typeof ada) => who.request('POST', '/dashboard/claim', { headers: FORM, body })

  assert.doesNotMatch((await eve.get('/dashboard')).text, /is waiting/)
  assert.equal((await post(eve)).status, 404)
  assert.equal((await post(ada)).status, 303)
  assert.match((await ada.get('/dashboard')).text, /data-purchase/)
  assert.doesNotMatch((await ada.get('/dashboard')).text, /is waiting/)
  assert.equal((await post(ada)).status, 404, 'once')
  const token = await readToken(shop, ada.email)
  const late = await ada.request('POST', '/api/claim', { body: { token } })
  assert.equal(late.status, 200, 'the link of the email changes nothing more')
  assert.equal((await ada.get('/api/purchases')).body.length, 1)
})

test('someone who registered the address before and verifies another one claims nothing', async (t) => {
  const shop = await openShop(t)
  const body = { email: MAIL, password: PASSWORD }
  await shop.post('/api/auth/register', body)
  const eve = readCookie(await shop.store('POST', '/api/session', { body }))
  await buy(shop, MAIL)
  // The change of the address, as after its confirmation.
  await shop.platform.db
    .updateTable('users')
    .set({ email: 'eve@example.com', email_key: 'eve@example.com', is_verified: true })
    .where('email', '=', MAIL)
    .execute()
  const page = await shop.store('GET', '/dashboard', { headers: { cookie: eve } })
  assert.equal(page.status, 200)
  assert.doesNotMatch(page.text, /is waiting/)
  const { id: purchase } = await shop.platform.db
    .selectFrom('purchases')
    .select('id')
    .executeTakeFirstOrThrow()
  const sent = await shop.store('POST', '/dashboard/claim', {
    headers: { ...FORM, cookie: eve },
    body: new URLSearchParams({ purchase }).toString(),
  })
  assert.equal(sent.status, 404)
})

test('machines that were activated before the claim stay active', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await buy(shop, ada.email)
  const mail = await readMail(shop, ada.email)
  const license_key = /LK-[0-9A-Z-]+/.exec(mail.text)?.[0] ?? ''
  const machine = { license_key, fingerprint: 'workstation' }
  assert.equal((await shop.store('POST', '/api/license/activate', { body: machine })).status, 201)
  const claimed = await ada.request('POST', '/api/claim', { body: { token: tokenOf(mail) } })
  assert.equal(claimed.status, 200, claimed.text)

  const [{ id }] = (await ada.get('/api/purchases')).body
  const listed = await ada.get(`/api/purchases/${id}/activations`)
  assert.equal(listed.body.activations.length, 1)
  assert.equal((await shop.store('POST', '/api/license/activate', { body: machine })).status, 200)
})

test('someone who registered the address of a guest before never sees the purchase', async (t) => {
  const shop = await openShop(t)
  // Eve registers the address of another person and cannot verify it.
  const body = { email: MAIL, password: PASSWORD }
  assert.equal((await shop.post('/api/auth/register', body)).status, 201)
  const session = await shop.store('POST', '/api/session', { body })
  const eve = readCookie(session)
  await buy(shop, MAIL)
  const list = () => shop.store('GET', '/api/purchases', { headers: { cookie: eve } })
  assert.deepEqual((await list()).body, [])

  const token = await readToken(shop, MAIL)
  assert.equal((await claim(shop, token)).status, 303, 'leads to the sign-in')
  assert.deepEqual((await list()).body, [])

  // The owner of the mailbox resets the password, which throws Eve out, and claims.
  const password = 'a quite different horse'
  await setPassword(shop, MAIL, password)
  assert.equal((await list()).status, 401)
  const owner = await shop.store('POST', '/api/session', { body: { email: MAIL, password } })
  const cookie = readCookie(owner)
  const claimed = await shop.store('POST', '/api/claim', { body: { token }, headers: { cookie } })
  assert.equal(claimed.status, 200, claimed.text)
})

test('nobody can register, sign in or verify themselves into an unclaimed account', async (t) => {
  const shop = await openShop(t)
  await buy(shop, MAIL)
  const body = { email: MAIL, password: PASSWORD }
  const registered = await shop.post('/api/auth/register', body)
  assert.deepEqual([registered.status, registered.body.code], [400, 'email_taken'])
  for (const reply of [
    await shop.post('/api/auth/login', body),
    await shop.store('POST', '/api/session', { body }),
  ])
    assert.equal(reply.status, 401)
})

test('a password that the owner sets by mail ends the sign-in of older links', async (t) => {
  const shop = await openShop(t)
  await buy(shop, MAIL)
  const token = await readToken(shop, MAIL)
  await setPassword(shop, MAIL, PASSWORD)
  const reply = await shop.store('POST', '/api/claim', { body: { token } })
  assert.deepEqual([reply.status, reply.headers.get('set-cookie')], [401, null])
  const session = await shop.store('POST', '/api/session', {
    body: { email: MAIL, password: PASSWORD },
  })
  const { body } = await shop.store('GET', '/api/purchases', {
    headers: { cookie: readCookie(session) },
  })
  assert.equal(body.length, 1, 'the purchase is in the account that the payment created')
})

test('an address that only looks like another one opens nothing', async (t) => {
  const shop = await openShop(t)
  const victim = 'kim@example.com'
  await buy(shop, victim)
  // The Kelvin sign is the k of the victim's address in lower case.
  const twin = '\u212Aim@example.com'
  const refused = await shop.store('POST', '/api/checkout', {
    body: { tier: 'basic', email: twin },
  })
  assert.equal(refused.status, 422)
  const started = await startCheckout(shop, 'eve@example.com', 'basic')
  await pay(shop, started, twin)
  await shop.settle()
  const mails = await shop.mail(twin)
  assert.ok(mails.length > 0, 'the payer gets the key')
  assert.ok(mails.every(({ links }) => links.every((link) => !link.includes('/claim'))))
  const rows = await shop.platform.db
    .selectFrom('purchases')
    .select(['tier', 'user_id', 'claimant_id'])
    .where('tier', '=', 'basic')
    .execute()
  assert.deepEqual(rows, [{ tier: 'basic', user_id: null, claimant_id: null }])
})

test('the address at the payment page decides, and its link goes to the stored address', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await pay(shop, await startCheckout(shop, 'eve@example.com'), ada.email.toUpperCase())
  await shop.settle()
  assert.equal(await findUserByEmail(shop.platform.db, 'eve@example.com'), null)
  assert.deepEqual((await ada.get('/api/purchases')).body, [])
  assert.ok(await readToken(shop, ada.email))
})

test('a guest opens their account with a provider that has verified the address', async (t) => {
  const shop = await openShop(t)
  await buy(shop, MAIL)
  const unproven = await throughProvider(shop.app, 'google', { email: MAIL, verified: false })
  assert.equal(unproven.target.searchParams.get('error'), 'email_not_verified')
  const { target } = await throughProvider(shop.app, 'google', { email: MAIL })
  assert.ok(target.searchParams.get('access_token'), target.href)
  const user = await findUserByEmail(shop.platform.db, MAIL)
  assert.equal(user?.is_verified, true)

  // The link of the mail does not sign in any more: the account has a holder.
  const body = { token: await readToken(shop, MAIL) }
  const reply = await shop.store('POST', '/api/claim', { body })
  assert.deepEqual([reply.status, reply.headers.get('set-cookie')], [401, null])
})

test('a guest who verifies the address by a requested email signs in with a code', async (t) => {
  const shop = await openShop(t)
  await buy(shop, MAIL)
  await shop.post('/api/auth/resend-verification', { email: MAIL })
  const mail = (await shop.mail(MAIL)).find(({ subject }) => /Verify/.test(subject))
  const token = new URL(mail?.links[0] ?? '').searchParams.get('token')
  assert.equal((await shop.post('/api/auth/verify-email', { token })).status, 200)
  const body = new URLSearchParams({ email: MAIL }).toString()
  await shop.store('POST', '/login/code', { headers: FORM, body })
  const subjects = (await shop.mail(MAIL)).map(({ subject }) => subject)
  assert.ok(subjects.includes('Your sign-in code'), String(subjects))
})

test('a guest with a code for the whole price gets the product', async (t) => {
  const shop = await openShop(t)
  const back = await buy(shop, MAIL, { code: 'FREE100' })
  assert.match(back.text, /Check your inbox/)
  assert.equal(
    (await claim(shop, await readToken(shop, MAIL))).headers.get('location'),
    '/dashboard',
  )
  const rows = await shop.platform.db.selectFrom('purchases').select('amount_cents').execute()
  assert.deepEqual(rows, [{ amount_cents: 0 }])
})

test('a link ends after seven days, and a new one is mailed on request', async (t) => {
  const shop = await openShop(t)
  await buy(shop, MAIL)
  const old = await readToken(shop, MAIL)
  shop.clock.advance(7 * DAY_MS + 1)
  assert.equal((await claim(shop, old)).status, 400)
  await shop.store('POST', '/api/purchases/recover', { body: { email: MAIL } })
  const fresh = await readToken(shop, MAIL)
  assert.notEqual(fresh, old)
  assert.equal((await claim(shop, fresh)).headers.get('location'), '/dashboard')
})

test('a link of another person does not replace the session of a signed-in buyer', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await buy(shop, 'eve-mailbox@example.com')
  const token = await readToken(shop, 'eve-mailbox@example.com')
  const reply = await ada.request('POST', '/claim', {
    headers: FORM,
    body: new URLSearchParams({ token }).toString(),
  })
  assert.deepEqual([reply.status, reply.headers.get('set-cookie')], [403, null])
  const forged = await shop.store('POST', '/claim', {
    headers: { ...FORM, 'sec-fetch-site': 'cross-site' },
    body: new URLSearchParams({ token }).toString(),
  })
  assert.deepEqual([forged.status, forged.headers.get('set-cookie')], [403, null])
})

test('of simultaneous claims with one link, one succeeds', async (t) => {
  const shop = await openShop(t)
  await buy(shop, MAIL)
  const token = await readToken(shop, MAIL)
  const replies = await Promise.all(Array.from({ length: 8 }, () => claim(shop, token)))
  const opened = replies.filter((reply) => reply.headers.get('set-cookie') !== null)
  assert.equal(opened.length, 1)
})

test('simultaneous payments of one new guest make one account', async (t) => {
  const shop = await openShop(t)
  const tiers = ['basic', 'pro', 'enterprise']
  const addresses = await Promise.all(tiers.map((tier) => startCheckout(shop, MAIL, tier)))
  await Promise.all(addresses.map((address) => pay(shop, address, MAIL)))
  await Promise.all(
    addresses.map((address) => shop.store('GET', `/purchased?session_id=${idOf(address)}`)),
  )
  await shop.settle()
  const user = await findUserByEmail(shop.platform.db, MAIL)
  const rows = await shop.platform.db.selectFrom('purchases').select(['tier', 'user_id']).execute()
  assert.deepEqual(rows.map(({ tier }) => tier).sort(), tiers.toSorted())
  assert.ok(rows.every(({ user_id }) => user_id === user?.id))
})

test('replies do not depend on whether the address has an account', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'pro')
  const known = await buy(shop, ada.email)
  const unknown = await buy(shop, MAIL)
  assert.deepEqual([known.status, known.text], [unknown.status, unknown.text])
})

test('the page after the payment reveals no checkout of a user, and a guest’s metadata needs the key', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  const session = await shop.buy(ada, 'pro')
  const page = await shop.store('GET', `/purchased?session_id=${session}`)
  assert.match(page.text, /No pending payment found/)

  // Another shop on the same processor account sells a product of the same name to guests.
  const foreign = { ...paidSession('', 'pro'), metadata: { guest: 'a'.repeat(43), tier: 'pro' } }
  await shop.event('checkout.session.completed', foreign)
  await shop.settle()
  const rows = await shop.platform.db.selectFrom('purchases').select('id').execute()
  assert.equal(rows.length, 1)
})

test('a guest cannot upgrade, renew or use a code for owners', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'basic')
  const [{ id }] = (await ada.get('/api/purchases')).body
  for (const more of [{ from: id }, { renew: id }]) {
    const body = { tier: 'pro', email: ada.email, ...more }
    const reply = await shop.store('POST', '/api/checkout', { body })
    assert.deepEqual([reply.status, reply.body.code], [401, 'not_signed_in'])
  }
  const neither = await shop.store('POST', '/api/checkout', { body: { tier: 'pro' } })
  assert.deepEqual([neither.status, neither.body.code], [401, 'not_signed_in'])
})

test('where accounts need an invitation, guests cannot buy', async (t) => {
  const shop = await openShop(t, { SIGNUP: 'invited' })
  const reply = await shop.store('POST', '/api/checkout', { body: { tier: 'pro', email: MAIL } })
  assert.deepEqual([reply.status, reply.body.code], [401, 'not_signed_in'])
  assert.equal((await shop.store('GET', '/checkout?tier=pro')).status, 302)
  const login = await shop.store('GET', '/login?redirect=/api/checkout?tier=pro')
  assert.doesNotMatch(login.text, /without an account/)
})

test('an address of a refused domain pays for a license without an account', async (t) => {
  const shop = await openShop(t, { SIGNUP_DOMAINS: '!bad.example' })
  const body = { tier: 'pro', email: 'a@bad.example' }
  assert.equal((await shop.store('POST', '/api/checkout', { body })).status, 400)
  // The payment page takes any address.
  await pay(shop, await startCheckout(shop, MAIL), body.email)
  await shop.settle()
  assert.equal(await findUserByEmail(shop.platform.db, body.email), null)
  assert.match((await readMail(shop, body.email)).text, /LK-/)
})

test('the deletion of an account ends the links to it', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await buy(shop, ada.email)
  const token = await readToken(shop, ada.email)
  const client = await shop.as('ada')
  const deleted = await client.request('DELETE', '/api/users/me', { body: { password: PASSWORD } })
  assert.equal(deleted.status, 200, deleted.text)
  assert.equal((await claim(shop, token)).status, 400)
  const rows = await shop.platform.db.selectFrom('purchases').select('claimant_id').execute()
  assert.deepEqual(rows, [{ claimant_id: null }])
})

test('a repeated payment event does not bring a deleted account back', async (t) => {
  const shop = await openShop(t)
  const address = await startCheckout(shop, MAIL)
  await pay(shop, address, MAIL)
  await shop.settle()
  await setPassword(shop, MAIL, PASSWORD)
  const login = await shop.post('/api/auth/login', { email: MAIL, password: PASSWORD })
  const deleted = await shop.app.request('DELETE', '/api/users/me', {
    body: { password: PASSWORD },
    headers: { authorization: `Bearer ${login.body.access_token}` },
  })
  assert.equal(deleted.status, 200, deleted.text)
  const page = await shop.store('GET', `/purchased?session_id=${idOf(address)}`)
  assert.match(page.text, /Check your inbox/)
  assert.equal(await findUserByEmail(shop.platform.db, MAIL), null)
})

test('a guest withdraws before the claim, with the address of the order', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await buy(shop, ada.email)
  const order = /Order\W+([0-9a-f-]{36})/.exec((await readMail(shop, ada.email)).text)?.[1]
  const begun = await shop.store('POST', '/api/withdrawals', { body: { order, email: ada.email } })
  await shop.store('POST', `/api/withdrawals/${begun.body.id}/confirm`)
  const [row] = await shop.platform.db.selectFrom('purchases').select('status').execute()
  assert.equal(row?.status, 'withdrawn')
})

test('a refund before the claim is emailed to the holder of the address', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await buy(shop, ada.email)
  const [row] = await shop.platform.db.selectFrom('purchases').select('payment_ref').execute()
  await createShop(shop.app).processor.refunds.create({ payment_intent: row?.payment_ref ?? '' })
  await shop.app.service.billing.sync()
  await shop.settle()
  const subjects = (await shop.mail(ada.email)).map(({ subject }) => subject)
  assert.ok(subjects.includes('We refunded $299.00'), subjects.join())
})

async function startCheckout(
  shop: Shop,
  email: string,
  tier = 'pro',
  more: Record<string, string> = {},
): Promise<string> {
  const { status, body, text } = await shop.store('POST', '/api/checkout', {
    body: { tier, email, ...more },
  })
  assert.equal(status, 200, text)
  return body.url
}

async function pay(shop: Shop, address: string, email: string): Promise<void> {
  const paid = await shop.app.request('POST', new URL(address).pathname, {
    body: new URLSearchParams({ email, name: 'Guest', card: GOOD_CARD }),
  })
  assert.equal(paid.status, 303, paid.text)
}

/** Pays as a guest and returns the page that the payment leads to. */
async function buy(shop: Shop, email: string, more: Record<string, string> = {}): Promise<Reply> {
  const address = await startCheckout(shop, email, 'pro', more)
  await pay(shop, address, email)
  const page = await shop.store('GET', `/purchased?session_id=${idOf(address)}`)
  await shop.settle()
  return page
}

const idOf = (address: string) => new URL(address).pathname.split('/').at(-1) ?? ''

function claim(shop: Shop, token: string): Promise<Reply> {
  const body = new URLSearchParams({ token }).toString()
  return shop.store('POST', '/claim', { headers: FORM, body })
}

/** Returns the newest email with a license key. */
async function readMail(shop: Shop, to: string): Promise<SandboxMail> {
  const mails = (await shop.mail(to)).filter(({ text }) => text.includes('LK-'))
  const newest = mails.toSorted((a, b) => b.at.localeCompare(a.at))[0]
  assert.ok(newest, `a license was mailed to ${to}`)
  return newest
}

function tokenOf({ links }: SandboxMail): string {
  const link = links.find((address) => address.includes('/claim?'))
  assert.ok(link, 'the mail has a link')
  return new URL(link).searchParams.get('token') ?? ''
}

const readToken = async (shop: Shop, to: string) => tokenOf(await readMail(shop, to))

/** Sets a password as the reader of the mailbox does. */
async function setPassword(shop: Shop, email: string, password: string): Promise<void> {
  await shop.post('/api/auth/forgot-password', { email })
  const reset = (await shop.mail(email)).find(({ subject }) => /Reset/.test(subject))
  const token = new URL(reset?.links[0] ?? '').searchParams.get('token')
  const reply = await shop.post('/api/auth/reset-password', { token, new_password: password })
  assert.equal(reply.status, 200, reply.text)
}
