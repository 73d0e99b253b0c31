// Attempts to enter another person's account, or to stay in it after being shut out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { issueKey, NO_LIMITS, rotateKey } from '#api-keys/keys.ts'
import { collectAudit } from '#audit/audit.ts'
import { deleteAccount } from '#identity/account/deletion.ts'
import { changeEmail } from '#identity/account/email-change.ts'
import { addSuperuser } from '#identity/admin/superuser.ts'
import { unlinkProvider } from '#identity/oauth/links.ts'
import { addPasskey as keepPasskey, removePasskey } from '#identity/second-factors/passkeys.ts'
import { confirmTotp } from '#identity/second-factors/totp.ts'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { findUser } from '#identity/users.ts'
import { type Client, createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createCredential, type Device, signChallenge } from '#testing/authenticator.ts'
import { chooseAccount, startAtProvider, throughProvider } from '#testing/provider.ts'

const DAY = 86_400_000

test('sign-in methods that were planted in an unproven account fall when its owner resets the password', async (t) => {
  const app = await testApp(t)
  // Eve registers the address of a victim, and adds two sign-in methods for the day when the victim
  // comes.
  const eve = await app.as('victim')
  const planted = await addPasskey(app, eve)
  await throughProvider(app, 'google', { email: 'eve@example.com' }, eve)
  assert.equal((await passkeyLogin(app, planted)).status, 200)

  await resetPassword(app, 'victim@example.com', 'the word of the owner')
  assert.equal((await passkeyLogin(app, planted)).status, 401)
  assert.equal(await opens(app, 'eve@example.com', eve.userId), false)
  assert.equal((await eve.get('/api/auth/me')).status, 401)
  const login = await app.post('/api/auth/login', {
    email: 'victim@example.com',
    password: 'the word of the owner',
  })
  assert.equal(login.status, 200)
})

test('a reset removes no sign-in method from an account with a verified address', async (t) => {
  const app = await testApp(t)
  const ada = await verified(app, 'ada')
  const device = await addPasskey(app, ada)
  await resetPassword(app, ada.email, 'another good password')
  assert.equal((await passkeyLogin(app, device)).status, 200)
})

test('an intruder who adds a sign-in method before changing the address loses it when the change is undone', async (t) => {
  const app = await testApp(t)
  const ada = await verified(app, 'ada')
  const eve = createClient(app.url, ada.token, ada)
  app.clock.advance(60_000)
  const device = await addPasskey(app, eve)
  await throughProvider(app, 'google', { email: 'eve@example.com' }, eve)
  app.clock.advance(60_000)
  await eve.post('/api/users/me/change-email', { new_email: 'eve@example.com', password: PASSWORD })
  const undo = await mailedToken(app, ada.email, '/undo-email-change')
  assert.equal((await app.post('/api/auth/undo-email-change', { token: undo })).status, 200)

  assert.equal((await passkeyLogin(app, device)).status, 401)
  assert.equal(await opens(app, 'eve@example.com', ada.userId), false)
})

test('the provider that an account was made with survives the undoing of a change of address', async (t) => {
  const app = await testApp(t)
  const { target } = await throughProvider(app, 'google', { email: 'olga@example.com' })
  const token = target.searchParams.get('access_token')!
  const { id } = (await app.get('/api/auth/me', { headers: { authorization: `Bearer ${token}` } }))
    .body
  const olga = createClient(app.url, token, {
    email: 'olga@example.com',
    userId: id,
    refreshToken: '',
  })
  await olga.post('/api/users/me/change-email', { new_email: 'olga2@example.com' })
  const undo = await mailedToken(app, 'olga@example.com', '/undo-email-change')
  assert.equal((await app.post('/api/auth/undo-email-change', { token: undo })).status, 200)
  assert.equal(await opens(app, 'olga@example.com', id), true)
})

test('a flow that links a provider ends with the session that began it', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const stolen = createClient(app.url, ada.token, ada)
  const walk = await startAtProvider(app, 'google', stolen)
  const back = await chooseAccount(app, walk, { email: 'eve@example.com' })

  // Ada changes her password on another device, which ends the old session.
  const login = await app.post('/api/auth/login', { email: ada.email, password: PASSWORD })
  const owner = createClient(app.url, login.body.access_token, ada)
  const change = { current_password: PASSWORD, new_password: 'nobody knows this one' }
  assert.equal((await owner.post('/api/users/me/change-password', change)).status, 200)

  const reply = await app.get(back.pathname + back.search, { headers: { cookie: walk.cookie } })
  assert.equal(new URL(reply.headers.get('location')!).searchParams.get('error'), 'invalid_state')
  assert.deepEqual((await owner.get('/api/users/me/oauth')).body, [])
})

test('an email that looks like another is no way to link: addresses of providers are held to our own form', async (t) => {
  const app = await testApp(t)
  const mike = await verified(app, 'mike')
  // The Kelvin sign is a k in lower case: `miKe@example.com` with it is another mailbox.
  for (const email of [
    'mi\u212Ae@example.com',
    'MI\u212AE@EXAMPLE.COM',
    'mike@example.com\u0000',
    'mike@ex\u00e4mple.com',
  ]) {
    const { target } = await throughProvider(app, 'github', { email })
    assert.equal(target.searchParams.get('access_token'), null, JSON.stringify(email))
    assert.match(target.search, /error=/, JSON.stringify(email))
  }
  assert.deepEqual((await mike.get('/api/users/me/oauth')).body, [])
  const login = await app.post('/api/auth/forgot-password', { email: 'mi\u212Ae@example.com' })
  assert.equal(login.status, 200)
  assert.deepEqual(
    await app.mail('mi\u212Ae@example.com'),
    [],
    'an email goes to the address of the account alone',
  )
})

test('registering an address while it is being promoted does not make a superuser', async (t) => {
  const app = await testApp(t)
  const token = new URL(app.service.superuserNotice!.link).searchParams.get('token')!
  const { hasher } = app.service.identity
  const hash = hasher.hash
  // The moment that a hash takes, and a storm of sign-ins makes long.
  hasher.hash = async (password) => {
    hasher.hash = hash
    const taken = await app.post('/api/auth/register', {
      email: 'boss@example.com',
      password: PASSWORD,
    })
    assert.equal(taken.status, 201)
    return hash(password)
  }
  const body = new URLSearchParams({
    token,
    email: 'boss@example.com',
    password: 'the word of the boss',
  })
  assert.equal((await app.request('POST', '/setup', { body })).status, 409)
  const eve = await app.as('boss')
  assert.equal((await eve.get('/api/auth/me')).body.is_superuser, false)
  const again = new URLSearchParams({
    token,
    email: 'root@example.com',
    password: 'the word of the boss',
  })
  assert.equal(
    (await app.request('POST', '/setup', { body: again })).status,
    200,
    'the link is not spent by it',
  )
})

test('a start voids the link of the start before, and there is none once there is a superuser', async (t) => {
  const app = await testApp(t)
  const first = new URL(app.service.superuserNotice!.link)
  await app.restart()
  const second = new URL(app.service.superuserNotice!.link)
  assert.equal((await app.get(first.pathname + first.search)).status, 400)
  assert.equal((await app.get(second.pathname + second.search)).status, 200)
  await addSuperuser(app.platform, (await app.as('root')).email, { allowUnverified: true })
  const token = second.searchParams.get('token')!
  const body = new URLSearchParams({
    token,
    email: 'eve@example.com',
    password: 'a good long password',
  })
  assert.equal(
    (await app.request('POST', '/setup', { body })).status,
    400,
    'a link that lies about is worth nothing',
  )
})

test('a sensitive request fails when the password changes while it is checked', async (t) => {
  const app = await testApp(t)
  const { hasher } = app.service.identity
  for (const [path, body] of [
    ['change-email', { new_email: 'eve@example.com', password: PASSWORD }],
    ['', { password: PASSWORD }],
  ] as const) {
    const ada = await app.as(`ada-${path}`)
    const verify = hasher.verify
    hasher.verify = async (password, stored) => {
      const outcome = await verify(password, stored)
      hasher.verify = verify
      await resetPassword(app, ada.email, 'nobody knows this one')
      return outcome
    }
    const reply =
      path === ''
        ? await ada.delete('/api/users/me', body)
        : await ada.post(`/api/users/me/${path}`, body)
    assert.deepEqual([reply.status, reply.body.detail], [400, 'Incorrect password'], path)
    const login = await app.post('/api/auth/login', {
      email: ada.email,
      password: 'nobody knows this one',
    })
    assert.equal(login.status, 200, path)
  }
})

test('two sign-ins that both renew an old hash both succeed', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const old =
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  await app.platform.db
    .updateTable('users')
    .set({ password_hash: old })
    .where('id', '=', ada.userId)
    .execute()
  const replies = await Promise.all(
    Array.from({ length: 4 }, () =>
      app.post('/api/auth/login', { email: ada.email, password: 'password' }),
    ),
  )
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200],
  )
})

test('links in emails lead to our own pages, whichever Host header a request sends', async (t) => {
  const app = await testApp(t, { env: { TRUST_PROXY: 'true' } })
  const ada = await app.as('ada')
  const headers = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
    origin: 'https://evil.example',
    referer: 'https://evil.example/forgot',
  }
  await app.post('/api/auth/forgot-password', { email: ada.email }, { headers })
  await app.post('/api/auth/resend-verification', { email: ada.email }, { headers })
  const mails = await app.mail(ada.email)
  assert.ok(mails.length >= 3)
  for (const { links } of mails) {
    for (const link of links)
      assert.equal(new URL(link).origin, new URL(app.config.urls.frontend).origin)
  }
  const started = await app.get('/api/auth/oauth/google', { headers })
  assert.equal(started.text.includes('evil.example'), false)
})

test('nobody advertises through our emails, or floods a stranger with them', async (t) => {
  const app = await testApp(t)
  const names = [
    'You have won, see https://evil.example/prize',
    'Visit www.evil.example now',
    'evil.example',
    'a'.repeat(120),
  ]
  for (const [index, full_name] of names.entries()) {
    const email = `victim${index}@example.com`
    await app.post('/api/auth/register', { email, password: PASSWORD, full_name })
    const [mail] = await app.mail(email)
    assert.match(mail!.text, /^Hello,$/m)
    assert.equal(mail!.text.includes('evil') || mail!.text.includes('aaaa'), false)
  }

  // The attacker registers the victim's address and chooses the profile's texts.
  const squatter = await app.as('victim1')
  for (let time = 0; time < 8; time++) {
    const { options } = (await squatter.post('/api/auth/passkeys/register/options')).body
    const { response } = createCredential(options, placeOf(app))
    const name = 'Visit www.evil.example now'
    assert.equal(
      (await squatter.post('/api/auth/passkeys/register/verify', { response, name })).status,
      200,
    )
  }
  const told = (await app.mail('victim1@example.com')).filter(({ subject }) =>
    /passkey/i.test(subject),
  )
  assert.equal(told.length, 5)
  assert.equal(
    told.some(({ text }) => text.includes('evil')),
    false,
  )

  const stranger = 'stranger@example.com'
  const eve = await app.as('eve')
  for (let time = 0; time < 8; time++) {
    await eve.post('/api/users/me/change-email', { new_email: stranger, password: PASSWORD })
    await eve.post('/api/users/me/change-email', {
      new_email: `eve${time}@example.com`,
      password: PASSWORD,
    })
  }
  const asked = (await app.mail(stranger)).filter(({ links }) =>
    links.some((link) => link.includes('/verify-email')),
  )
  assert.equal(asked.length, 5)
})

test('nobody uses up the email of another’s registration by asking for it before', async (t) => {
  const app = await testApp(t)
  const email = 'newcomer@example.com'
  for (let time = 0; time < 8; time++) await app.post('/api/auth/resend-verification', { email })
  await app.settle()
  assert.equal((await app.post('/api/auth/register', { email, password: PASSWORD })).status, 201)
  assert.equal((await app.mail(email)).length, 1)
})

test('bytes that the database rejects count as a wrong address or token, not as a failure', async (t) => {
  const app = await testApp(t)
  const odd = ['a\u0000b@example.com', '\ud800@example.com', '\udfff', '\u0000']
  for (const text of odd) {
    const said = JSON.stringify(text)
    const login = await app.post('/api/auth/login', { email: text, password: text })
    assert.equal(login.status, 401, said)
    assert.equal((await app.post('/api/auth/forgot-password', { email: text })).status, 200, said)
    assert.equal(
      (await app.post('/api/auth/resend-verification', { email: text })).status,
      200,
      said,
    )
    assert.equal((await app.post('/api/auth/verify-email', { token: text })).status, 400, said)
    assert.equal((await app.post('/api/auth/refresh', { refresh_token: text })).status, 401, said)
    assert.equal(
      (await app.post('/api/auth/challenge', { challenge: text, code: '123456' })).status,
      401,
      said,
    )
  }
  const ada = await app.as('ada')
  const named = await ada.patch('/api/users/me', { full_name: 'half a pair \ud800' })
  assert.equal(named.status, 200)
  await app.post('/api/auth/forgot-password', { email: ada.email })
  await app.settle()
  assert.deepEqual(await app.platform.jobs.counts(), { queued: 0, dead: 0 })
  assert.equal((await app.mail(ada.email)).length, 2)
})

test('the program that a stranger names itself is only text in an email', async (t) => {
  const app = await testApp(t, { env: { TRUST_PROXY: 'true' } })
  const ada = await app.as('ada')
  await app.post(
    '/api/auth/login',
    { email: ada.email, password: PASSWORD },
    { headers: { 'user-agent': '<script>alert(1)</script>', 'x-forwarded-for': '203.0.113.77' } },
  )
  const [mail] = await app.mail(ada.email)
  assert.match(mail!.subject, /new sign-in/i)
  assert.equal(mail!.html.includes('<script>'), false)
})

test('switched off while a sign-in is under way: no session comes of it', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root')
  const { identity } = app.service
  await addSuperuser(app.platform, root.email, { allowUnverified: true })
  const ada = await app.as('ada')
  const { hasher } = identity
  const verify = hasher.verify
  hasher.verify = async (password, stored) => {
    const outcome = await verify(password, stored)
    hasher.verify = verify
    await identity.changeUser(root.userId, ada.userId, { is_active: false })
    return outcome
  }
  const reply = await app.post('/api/auth/login', { email: ada.email, password: PASSWORD })
  assert.deepEqual([reply.status, reply.body.detail], [403, 'Inactive account'])
})

test('SUPERUSER_EMAIL with a password makes its account, and an account that is there keeps its own password', async (t) => {
  const app = await testApp(t)
  const ada = await verified(app, 'ada')
  await app.restart({ superuser: { email: ada.email, password: 'of the settings' } })
  assert.equal((await ada.get('/api/auth/me')).body.is_superuser, true)
  const login = (password: string) => app.post('/api/auth/login', { email: ada.email, password })
  assert.deepEqual(
    [(await login('of the settings')).status, (await login(PASSWORD)).status],
    [401, 200],
  )
})

test('an API key that was made or rotated in the week before a change of address falls with the undoing', async (t) => {
  const app = await testApp(t)
  const ada = await verified(app, 'ada', 'pro')
  const old = await makeKey(ada, 'of long ago')
  const rotated = await makeKey(ada, 'to be rotated')
  app.clock.advance(8 * DAY)
  const eve = await signedIn(app, ada)
  const planted = await makeKey(eve, 'planted before')
  const again = await eve.post(`/api/api-keys/${rotated.id}/rotate`, { grace_seconds: 3_600 })
  assert.equal(again.status, 200)
  app.clock.advance(60_000)
  await eve.post('/api/users/me/change-email', { new_email: 'eve@example.com', password: PASSWORD })
  const later = await makeKey(eve, 'planted after')
  for (const { key } of [old, rotated, planted, later, again.body])
    assert.equal(await keyOpens(app, key), true)

  const undo = await mailedToken(app, ada.email, '/undo-email-change')
  assert.equal((await app.post('/api/auth/undo-email-change', { token: undo })).status, 200)
  assert.equal(await keyOpens(app, old.key), true, 'what is older than a week stays')
  for (const { key } of [planted, later, rotated, again.body])
    assert.equal(await keyOpens(app, key), false)

  await resetPassword(app, ada.email, 'the word of the owner')
  const owner = await signedIn(app, ada, 'the word of the owner')
  const live = (await owner.get('/api/api-keys')).body.filter(
    (key: { is_active: boolean }) => key.is_active,
  )
  assert.deepEqual(
    live.map(({ name }: { name: string }) => name),
    ['of long ago'],
  )
  const [mail] = (await app.mail(ada.email)).filter(({ subject }) =>
    /address.*restored/i.test(subject),
  )
  for (const name of ['to be rotated', 'planted before', 'planted after'])
    assert.ok(mail!.text.includes(name), name)
  const events = await collectAudit(app.platform.db, ada.userId)
  const revoked = events.find(({ action }) => action === 'api-keys.revoked')
  assert.equal((revoked!.data as { keys: string[] }).keys.length, 3)
})

test('a second factor that was set up in the week before a change of address falls with the undoing; an older one stays', async (t) => {
  const app = await testApp(t)
  for (const [name, daysBefore, stays] of [
    ['ada', 8, true],
    ['bea', 1, false],
  ] as const) {
    const owner = await verified(app, name)
    app.clock.advance(30 * DAY)
    const before = await signedIn(app, owner)
    const code = await turnTotpOn(app, before)
    app.clock.advance(daysBefore * DAY)
    const session = await signedIn(app, owner, PASSWORD, code())
    app.clock.advance(60_000)
    const changed = await session.post('/api/users/me/change-email', {
      new_email: `eve-${name}@example.com`,
      password: PASSWORD,
      code: code(),
    })
    assert.equal(changed.status, 200)
    const undo = await mailedToken(app, owner.email, '/undo-email-change')
    assert.equal((await app.post('/api/auth/undo-email-change', { token: undo })).status, 200)
    const login = await app.post('/api/auth/login', { email: owner.email, password: PASSWORD })
    assert.equal(login.status, stays ? 401 : 200, name)
  }
})

test('a reset of an account with an unverified address revokes its API keys', async (t) => {
  const app = await testApp(t)
  const eve = await app.as('victim', { tier: 'pro' })
  const planted = await makeKey(eve, 'planted')
  assert.equal(await keyOpens(app, planted.key), true)
  await resetPassword(app, 'victim@example.com', 'the word of the owner')
  assert.equal(await keyOpens(app, planted.key), false)
})

test('a reset revokes the API keys of a verified account only on request, and the email lists them', async (t) => {
  const app = await testApp(t)
  const ada = await verified(app, 'ada', 'pro')
  const key = await makeKey(ada, 'laptop')
  await resetPassword(app, ada.email, 'another good password')
  assert.equal(await keyOpens(app, key.key), true)
  await resetPassword(app, ada.email, 'one more good password', { revoke_api_keys: true })
  assert.equal(await keyOpens(app, key.key), false)
  const [mail] = (await app.mail(ada.email)).filter(({ subject }) =>
    /password was changed/i.test(subject),
  )
  assert.match(mail!.text, /API keys? .*revoked/i)
})

test('a stranger’s password falls when the owner of an address that they verified for nobody comes with a provider', async (t) => {
  const app = await testApp(t)
  // Eve registers the address of a victim, who takes the email for a formality and follows its
  // link.
  const eve = await app.as('victim', { tier: 'pro' })
  const planted = await addPasskey(app, eve)
  const key = await makeKey(eve, 'planted')
  const cookie = await storeCookie(app, eve.email)
  await throughProvider(app, 'github', { email: 'eve@example.com' }, eve)
  const token = await mailedToken(app, eve.email, '/verify-email')
  assert.equal((await app.post('/api/auth/verify-email', { token })).status, 200)
  app.clock.advance(60_000)
  const later = await makeKey(eve, 'made later')

  assert.equal(await opens(app, eve.email, eve.userId), true, 'the owner is in')
  assert.equal((await eve.get('/api/auth/me')).status, 401)
  assert.equal(
    (await app.post('/api/auth/refresh', { refresh_token: eve.refreshToken })).status,
    401,
  )
  assert.equal(
    (await app.post('/api/auth/login', { email: eve.email, password: PASSWORD })).status,
    401,
  )
  assert.equal((await app.store('GET', '/api/purchases', { headers: { cookie } })).status, 401)
  assert.equal((await passkeyLogin(app, planted)).status, 401)
  assert.equal(await keyOpens(app, key.key), false)
  assert.equal(await keyOpens(app, later.key), true)
  const { target } = await throughProvider(app, 'github', { email: 'eve@example.com' })
  const elsewhere = createClient(app.url, target.searchParams.get('access_token')!, eve)
  assert.notEqual((await elsewhere.get('/api/auth/me')).body.id, eve.userId)

  const owner = await ofProvider(app, eve.email)
  const me = (await owner.get('/api/auth/me')).body
  assert.deepEqual([me.has_password, me.oauth_provider], [false, 'google'])
  const [mail] = (await app.mail(eve.email)).filter(({ subject }) =>
    /Google sign-in was added/i.test(subject),
  )
  assert.match(mail!.text, /password, passkeys and other providers .*removed/i)
  assert.doesNotMatch(mail!.text, /every other way in/i, 'what stays is not said to be gone')
  assert.match(mail!.text, /API keys created after .*\/api-keys/)
  const actions = (await collectAudit(app.platform.db, eve.userId)).map(({ action }) => action)
  for (const action of ['provider.linked', 'password.removed', 'api-keys.revoked'])
    assert.ok(actions.includes(action))

  await resetPassword(app, eve.email, 'the word of the owner')
  const again = await app.post('/api/auth/login', {
    email: eve.email,
    password: 'the word of the owner',
  })
  assert.equal(again.status, 200)
})

test('a password stays when its owner verified the address, and the owner gets an email about the provider', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const headers = { authorization: `Bearer ${ada.token}` }
  const token = await mailedToken(app, ada.email, '/verify-email')
  assert.equal((await app.post('/api/auth/verify-email', { token }, { headers })).status, 200)
  const device = await addPasskey(app, ada)
  assert.equal(await opens(app, ada.email, ada.userId), true)
  assert.equal((await ada.get('/api/auth/me')).status, 200)
  assert.equal((await passkeyLogin(app, device)).status, 200)
  assert.equal(
    (await app.post('/api/auth/login', { email: ada.email, password: PASSWORD })).status,
    200,
  )
  const [mail] = (await app.mail(ada.email)).filter(({ subject }) =>
    /Google sign-in was added/i.test(subject),
  )
  assert.doesNotMatch(mail!.text, /password.* removed/i)
})

test('a password that was set by a mailed link stays when a provider is linked', async (t) => {
  const app = await testApp(t)
  const ada = await verified(app, 'ada')
  await resetPassword(app, ada.email, 'another good password')
  assert.equal(await opens(app, ada.email, ada.userId), true)
  const login = await app.post('/api/auth/login', {
    email: ada.email,
    password: 'another good password',
  })
  assert.equal(login.status, 200)
})

test('another user’s session, an ended one or none does not prove who verifies', async (t) => {
  const app = await testApp(t)
  const bea = await app.as('bea')
  const bearers: Record<string, (own: Client) => Promise<string>> = {
    another: async () => `Bearer ${bea.token}`,
    ended: async (own) => {
      const [session] = (await own.get('/api/users/me/sessions')).body
      await own.delete(`/api/users/me/sessions/${session.id}`)
      return `Bearer ${own.token}`
    },
    nonsense: async () => 'Bearer x.y.z',
    nothing: async () => '',
    basic: async (own) => `Basic ${own.token}`,
    refresh: async (own) => `Bearer ${own.refreshToken}`,
  }
  for (const [name, bearer] of Object.entries(bearers)) {
    const own = await app.as(name)
    const token = await mailedToken(app, own.email, '/verify-email')
    const headers = { authorization: await bearer(own) }
    assert.equal(
      (await app.post('/api/auth/verify-email', { token }, { headers })).status,
      200,
      name,
    )
    assert.equal(await opens(app, own.email, own.userId), true, name)
    assert.equal(
      (await app.post('/api/auth/login', { email: own.email, password: PASSWORD })).status,
      401,
      name,
    )
  }
})

test('an account that moved to the address of another falls to its owner in the same way', async (t) => {
  const app = await testApp(t)
  const eve = await verifiedHerself(app, 'eve')
  const moved = await eve.post('/api/users/me/change-email', {
    new_email: 'victim@example.com',
    password: PASSWORD,
  })
  assert.equal(moved.status, 200)
  const token = await mailedToken(app, 'victim@example.com', '/verify-email')
  assert.equal((await app.post('/api/auth/verify-email', { token })).status, 200)
  assert.equal(await opens(app, 'victim@example.com', eve.userId), true)
  assert.equal((await eve.get('/api/auth/me')).status, 401)
  const login = await app.post('/api/auth/login', {
    email: 'victim@example.com',
    password: PASSWORD,
  })
  assert.equal(login.status, 401)
})

test('an account without a password is protected the same way: its provider no longer opens it', async (t) => {
  const app = await testApp(t)
  const { target } = await throughProvider(app, 'github', { email: 'eve@example.com' })
  const token = target.searchParams.get('access_token')!
  const { id } = (await app.get('/api/auth/me', { headers: { authorization: `Bearer ${token}` } }))
    .body
  const eve = createClient(app.url, token, {
    email: 'eve@example.com',
    userId: id,
    refreshToken: '',
  })
  const moved = await eve.post('/api/users/me/change-email', { new_email: 'victim@example.com' })
  assert.equal(moved.status, 200)
  const link = await mailedToken(app, 'victim@example.com', '/verify-email')
  assert.equal((await app.post('/api/auth/verify-email', { token: link })).status, 200)

  assert.equal(await opens(app, 'victim@example.com', id), true)
  assert.equal((await eve.get('/api/auth/me')).status, 401)
  const again = await throughProvider(app, 'github', { email: 'eve@example.com' })
  const headers = { authorization: `Bearer ${again.target.searchParams.get('access_token')}` }
  assert.notEqual((await app.get('/api/auth/me', { headers })).body.id, id)
})

test('a superuser who takes an address for proven has not proven whose password it is', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root')
  await addSuperuser(app.platform, root.email, { allowUnverified: true })
  const eve = await app.as('victim')
  assert.equal(
    (await root.patch(`/api/admin/users/${eve.userId}`, { is_verified: true })).status,
    200,
  )
  assert.equal(await opens(app, eve.email, eve.userId), true)
  assert.equal((await eve.get('/api/auth/me')).status, 401)
})

test('a session that ends during the request gets no API key', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { id } = await makeKey(ada, 'laptop')
  const [session] = (await ada.get('/api/users/me/sessions')).body
  // The request has passed the check of its bearer when the owner ends the session.
  const maker = { userId: ada.userId, sessionId: session.id }
  assert.equal((await ada.delete(`/api/users/me/sessions/${session.id}`)).status, 200)
  await assert.rejects(issueKey(app.platform, maker, { ...NO_LIMITS, name: 'late' }), {
    status: 401,
  })
  await assert.rejects(rotateKey(app.platform, maker, id, 0), { status: 401 })
})

test('a session that ends during the request gets neither a passkey nor a second factor', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const { options } = (await ada.post('/api/auth/passkeys/register/options')).body
  const { response } = createCredential(options, placeOf(app))
  const { secret } = (await ada.post('/api/users/me/totp')).body
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: app.clock.ms(),
  })
  const [session] = (await ada.get('/api/users/me/sessions')).body
  const user = await findUser(app.platform.db, ada.userId)
  assert.equal((await ada.delete(`/api/users/me/sessions/${session.id}`)).status, 200)

  await assert.rejects(
    keepPasskey(app.platform, user!, { response, name: 'late', sessionId: session.id }),
    { status: 401 },
  )
  await assert.rejects(confirmTotp(app.platform, user!, { code, sessionId: session.id }), {
    status: 401,
  })
  assert.equal((await findUser(app.platform.db, ada.userId))?.is_totp_on, false)
})

test('a session that ends during the request cannot use its fresh sign-in', async (t) => {
  const app = await testApp(t)
  const olga = await ofProvider(app, 'olga@example.com')
  await throughProvider(app, 'github', { email: 'olga@example.com' }, olga)
  const { hasher } = app.service.identity
  const deps = {
    ...app.platform,
    hasher,
    revokeKeys: async () => [],
    sessionsElsewhere: [],
    rooms: [],
  }
  await addPasskey(app, olga)
  const [passkey] = (await olga.get('/api/auth/passkeys')).body
  const [session] = (await olga.get('/api/users/me/sessions')).body
  const user = await findUser(app.platform.db, olga.userId)
  const requester = { sessionId: session.id }
  const remover = { userId: olga.userId, sessionId: session.id }
  await requireFreshSignIn(app.platform, remover)
  assert.equal((await olga.delete(`/api/users/me/sessions/${session.id}`)).status, 200)

  await assert.rejects(requireFreshSignIn(app.platform, remover), { status: 401 })
  await assert.rejects(changeEmail(deps, user!, { new_email: 'eve@example.com' }, requester), {
    status: 401,
  })
  await assert.rejects(deleteAccount(deps, user!, { confirm: 'DELETE' }, requester), {
    status: 401,
  })
  await assert.rejects(unlinkProvider(deps, remover, 'github'), { status: 401 })
  await assert.rejects(removePasskey(deps, remover, passkey.id), { status: 401 })
  assert.equal((await findUser(app.platform.db, olga.userId))?.email, 'olga@example.com')
})

test('a session that ends while its password is hashed cannot change anything', async (t) => {
  const app = await testApp(t)
  const { hasher } = app.service.identity
  const [ada, bea] = [await app.as('ada'), await app.as('bea')]
  const code = await turnTotpOn(app, bea)
  const shown = {
    password: PASSWORD,
    current_password: PASSWORD,
    new_password: 'nobody knows this one',
  }
  for (const [owner, method, path, body] of [
    [ada, 'POST', '/change-email', { ...shown, new_email: 'eve@example.com' }],
    [ada, 'POST', '/change-password', shown],
    [ada, 'DELETE', '', shown],
    [bea, 'DELETE', '/totp', shown],
  ] as const) {
    app.clock.advance(60_000)
    const eve = await signedIn(app, owner, PASSWORD, owner === bea ? code() : undefined)
    app.clock.advance(60_000)
    const verify = hasher.verify
    hasher.verify = async (password, stored) => {
      const outcome = await verify(password, stored)
      hasher.verify = verify
      assert.equal((await owner.delete('/api/users/me/sessions')).status, 200)
      return outcome
    }
    const asked = { ...body, ...(owner === bea ? { code: code() } : {}) }
    assert.equal(
      (await eve.request(method, `/api/users/me${path}`, { body: asked })).status,
      401,
      path,
    )
  }
  assert.equal((await signedIn(app, ada)).email, ada.email)
  assert.equal((await ada.get('/api/auth/me')).body.email, 'ada@example.com')
  assert.equal((await findUser(app.platform.db, bea.userId))?.is_totp_on, true)
})

async function verified(app: TestApp, name: string, tier?: 'pro'): Promise<Client> {
  const client = await app.as(name, tier ? { tier } : {})
  const token = await mailedToken(app, client.email, '/verify-email')
  assert.equal((await app.post('/api/auth/verify-email', { token })).status, 200)
  return client
}

/** Follows the link in the browser that is signed in. */
async function verifiedHerself(app: TestApp, name: string): Promise<Client> {
  const client = await app.as(name)
  const token = await mailedToken(app, client.email, '/verify-email')
  assert.equal((await client.post('/api/auth/verify-email', { token })).status, 200)
  return client
}

async function storeCookie(app: TestApp, email: string): Promise<string> {
  const reply = await app.store('POST', '/api/session', { body: { email, password: PASSWORD } })
  return reply.headers.get('set-cookie')?.split(';')[0] ?? ''
}

async function ofProvider(app: TestApp, email: string): Promise<Client> {
  const { target } = await throughProvider(app, 'google', { email })
  const token = target.searchParams.get('access_token')!
  const { body } = await app.get('/api/auth/me', { headers: { authorization: `Bearer ${token}` } })
  return createClient(app.url, token, { email, userId: body.id, refreshToken: '' })
}

async function resetPassword(app: TestApp, email: string, new_password: string, more: object = {}) {
  await app.post('/api/auth/forgot-password', { email })
  const token = await mailedToken(app, email, '/reset-password')
  assert.equal(
    (await app.post('/api/auth/reset-password', { token, new_password, ...more })).status,
    200,
  )
}

/** A further session of the same person. */
async function signedIn(
  app: TestApp,
  person: Client,
  password = PASSWORD,
  code?: string,
): Promise<Client> {
  const login = await app.post('/api/auth/login', { email: person.email, password, code })
  assert.equal(login.status, 200, login.text)
  return createClient(app.url, login.body.access_token, {
    ...person,
    refreshToken: login.body.refresh_token,
  })
}

/** Returns a function that computes the current code. */
async function turnTotpOn(app: TestApp, client: Client): Promise<() => string> {
  const { secret } = (await client.post('/api/users/me/totp')).body
  const totp = new TOTP({
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: 30,
  })
  const code = () => totp.generate({ timestamp: app.clock.ms() })
  assert.equal((await client.post('/api/users/me/totp/confirm', { code: code() })).status, 200)
  return code
}

async function makeKey(client: Client, name: string): Promise<{ id: string; key: string }> {
  const made = await client.post('/api/api-keys', { name })
  assert.equal(made.status, 201, made.text)
  return made.body
}

async function keyOpens(app: TestApp, key: string): Promise<boolean> {
  return (
    (await app.get('/api/usage', { headers: { authorization: `Bearer ${key}` } })).status === 200
  )
}

/** Whether the provider's person gets into the account. */
async function opens(app: TestApp, email: string, userId: string): Promise<boolean> {
  const { target } = await throughProvider(app, 'google', { email })
  const token = target.searchParams.get('access_token')
  const me = await app.get('/api/auth/me', { headers: { authorization: `Bearer ${token}` } })
  return me.body.id === userId
}

async function mailedToken(app: TestApp, email: string, path: string): Promise<string> {
  for (const { links } of await app.mail(email)) {
    const link = links.find((candidate) => candidate.includes(path))
    if (link) return new URL(link).searchParams.get('token') ?? ''
  }
  throw new Error(`no email with ${path}`)
}

const placeOf = (app: TestApp) => {
  const { origin, hostname } = new URL(app.config.urls.frontend)
  return { origin, rpId: hostname }
}

async function addPasskey(app: TestApp, client: Pick<Client, 'post'>): Promise<Device> {
  const { options } = (await client.post('/api/auth/passkeys/register/options')).body
  const { device, response } = createCredential(options, placeOf(app))
  assert.equal((await client.post('/api/auth/passkeys/register/verify', { response })).status, 200)
  return device
}

async function passkeyLogin(app: TestApp, device: Device) {
  const { options } = (await app.post('/api/auth/passkeys/login/options', {})).body
  return app.post('/api/auth/passkeys/login/verify', {
    response: signChallenge(device, options, placeOf(app)),
  })
}

test('a sandboxed provider can neither sign in nor link a superuser', async (t) => {
  const app = await testApp(t)
  const root = await verified(app, 'root')
  const linked = await throughProvider(app, 'github', { email: 'helper@example.com' })
  assert.ok(linked.target.searchParams.get('access_token'))
  await app.platform.db
    .updateTable('users')
    .set({ is_superuser: true })
    .where('email', 'in', ['root@example.com', 'helper@example.com'])
    .execute()

  // By address, by a link made before, and by the superuser's own hand.
  for (const [provider, email] of [
    ['google', 'root@example.com'],
    ['github', 'helper@example.com'],
  ] as const) {
    const { target } = await throughProvider(app, provider, { email })
    assert.equal(target.href, `${app.config.urls.frontend}/login?error=sandboxed_provider`)
  }
  const { target } = await throughProvider(app, 'google', { email: 'root@example.com' }, root)
  assert.equal(target.searchParams.get('error'), 'sandboxed_provider')
  assert.deepEqual((await root.get('/api/users/me/oauth')).body, [])
})
