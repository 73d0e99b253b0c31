import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { type Client, createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createCredential, type Device, signChallenge } from '#testing/authenticator.ts'
import { throughProvider } from '#testing/provider.ts'

const STEP_MS = 30_000

test('two-factor: begun with a secret, on with the first code, asked at sign-in, each code once', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  startStep(app)
  const begun = await ada.post('/api/users/me/totp')
  assert.equal(begun.status, 200, begun.text)
  assert.match(begun.body.otpauth_url, /^otpauth:\/\/totp\/.*secret=/)
  assert.ok(begun.body.otpauth_url.includes(begun.body.secret))
  assert.match(begun.body.qr_code, /^data:image\/svg\+xml;base64,/)
  const { secret } = begun.body

  const bad = await ada.post('/api/users/me/totp/confirm', { code: '000000' })
  assert.deepEqual([bad.status, bad.body.detail], [400, 'Invalid two-factor code'])
  assert.equal((await login(app)).status, 200, 'not on before the first code')
  const confirmed = await ada.post('/api/users/me/totp/confirm', { code: codeNow(app, secret) })
  assert.equal(confirmed.status, 200, confirmed.text)
  const codes: string[] = confirmed.body.recovery_codes
  assert.equal(new Set(codes).size, 10)
  assert.equal((await ada.get('/api/auth/me')).body.totp_enabled, true)
  assert.equal((await ada.post('/api/users/me/totp')).status, 400)

  says(await login(app), 401, 'Two-factor code required', 'two_factor_code_required')
  says(await login(app, ''), 401, 'Two-factor code required', 'two_factor_code_required')
  says(await login(app, '123456'), 401, 'Invalid two-factor code', 'two_factor_code_wrong')
  says(
    await login(app, codeNow(app, secret)),
    401,
    'Invalid two-factor code',
    'two_factor_code_wrong',
  )
  const wrongPassword = await app.post('/api/auth/login', {
    email: ada.email,
    password: 'wrong',
    code: codeNow(app, secret),
  })
  says(wrongPassword, 401, 'Incorrect email or password', 'credentials_wrong')

  app.clock.advance(STEP_MS)
  const code = codeNow(app, secret)
  assert.equal((await login(app, code)).status, 200)
  says(await login(app, code), 401, 'Invalid two-factor code', 'two_factor_code_wrong')
  const expired = codeNow(app, secret)
  app.clock.advance(3 * STEP_MS)
  says(await login(app, expired), 401, 'Invalid two-factor code', 'two_factor_code_wrong')

  assert.equal((await login(app, codes[0]!.toUpperCase().replace('-', ' '))).status, 200)
  says(await login(app, codes[0]), 401, 'Invalid two-factor code', 'two_factor_code_wrong')

  says(
    await ada.delete('/api/users/me/totp', { code: codes[1] }),
    400,
    'Incorrect password',
    'password_wrong',
  )
  says(
    await ada.delete('/api/users/me/totp', { code: 'nonsense', password: PASSWORD }),
    400,
    'Invalid two-factor code',
    'two_factor_code_wrong',
  )
  const off = await ada.delete('/api/users/me/totp', { code: codes[1], password: PASSWORD })
  assert.equal(off.status, 200)
  assert.equal((await login(app)).status, 200)
})

test('of 20 simultaneous uses of one code, one succeeds', async (t) => {
  const app = await testApp(t)
  const { secret } = await turnOn(app)
  app.clock.advance(STEP_MS)
  const code = codeNow(app, secret)
  const replies = await Promise.all(Array.from({ length: 20 }, () => login(app, code)))
  assert.equal(replies.filter((reply) => reply.status === 200).length, 1)
})

test('a provider replaces the first factor only: the second is requested by a challenge', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  await throughProvider(app, 'google', { email: 'ada-google@example.com' }, ada)
  const { secret, codes } = await turnOn(app)
  const { target } = await throughProvider(app, 'google', { email: 'ada-google@example.com' })
  assert.equal(target.origin + target.pathname, `${app.config.urls.frontend}/login`)
  assert.deepEqual([...target.searchParams.keys()], ['challenge'])
  const challenge = target.searchParams.get('challenge')
  const answer = (code: string) => app.post('/api/auth/challenge', { challenge, code })

  says(await answer('000000'), 401, 'Invalid two-factor code', 'two_factor_code_wrong')
  app.clock.advance(STEP_MS)
  const done = await answer(codeNow(app, secret))
  assert.equal(done.status, 200, done.text)
  assert.equal(done.body.user.id, ada.userId)
  says(await answer(codes[0]!), 401, 'Invalid two-factor code', 'two_factor_code_wrong')
  says(
    await app.post('/api/auth/challenge', { challenge: 'guess', code: codes[0] }),
    401,
    'Invalid two-factor code',
    'two_factor_code_wrong',
  )
})

test('guesses at a challenge are limited by account', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_AUTH: '10/60', TRUST_PROXY: 'true' } })
  const ada = await app.as('ada')
  await throughProvider(app, 'google', { email: 'ada-google@example.com' }, ada)
  await turnOn(app)
  const replies = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const { target } = await throughProvider(app, 'google', { email: 'ada-google@example.com' })
      const challenge = target.searchParams.get('challenge')
      const body = { challenge, code: String(100_000 + index) }
      return app.post('/api/auth/challenge', body, {
        headers: { 'x-forwarded-for': `198.51.100.${index}` },
      })
    }),
  )
  assert.equal(replies.filter((reply) => reply.status === 401).length, 10)
  assert.equal(replies.filter((reply) => reply.status === 429).length, 40)
})

test('changes to second factors ask for a fresh sign-in', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  app.clock.advance(11 * 60_000)
  const stale = { detail: 'Fresh sign-in required', code: 'fresh_sign_in_required' }
  for (const reply of [
    await ada.post('/api/users/me/totp'),
    await ada.post('/api/users/me/totp/confirm', { code: '123456' }),
    await ada.delete('/api/users/me/totp', { code: '123456', password: PASSWORD }),
    await ada.post('/api/auth/passkeys/register/options'),
    await ada.delete(`/api/auth/passkeys/${crypto.randomUUID()}`),
    await ada.post('/api/users/me/oauth/google'),
    await ada.delete('/api/users/me/oauth/google'),
  ]) {
    assert.deepEqual([reply.status, reply.body], [403, stale])
  }
  const refreshed = (await app.post('/api/auth/refresh', { refresh_token: ada.refreshToken })).body
  const stillStale = createClient(app.url, refreshed.access_token, ada)
  assert.deepEqual((await stillStale.post('/api/users/me/totp')).body, stale)
})

test('a passkey is made, signs in without a password, and is removed', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const device = await addPasskey(app, ada)
  const [listed] = (await ada.get('/api/auth/passkeys')).body
  assert.deepEqual([listed.name, listed.last_used_at], ['Laptop', null])

  const signedIn = await passkeyLogin(app, device)
  assert.equal(signedIn.status, 200, signedIn.text)
  assert.equal(signedIn.body.user.id, ada.userId)
  assert.notEqual((await ada.get('/api/auth/passkeys')).body[0].last_used_at, null)

  const eve = await app.as('eve')
  assert.equal((await eve.delete(`/api/auth/passkeys/${listed.id}`)).status, 404)
  assert.equal((await ada.delete(`/api/auth/passkeys/${listed.id}`)).status, 200)
  says(await passkeyLogin(app, device), 401, 'Passkey not recognised', 'passkey_not_recognised')
})

test('a passkey is two factors in one: it needs no code', async (t) => {
  const app = await testApp(t)
  const device = await addPasskey(app, await app.as('ada'))
  await turnOn(app)
  assert.equal((await passkeyLogin(app, device)).status, 200)
})

test('passkeys refuse replays, other places, unverified people, other keys and cloned devices', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const device = await addPasskey(app, ada)
  const place = placeOf(app)
  const options = async () => (await app.post('/api/auth/passkeys/login/options', {})).body.options
  const verify = (response: object) => app.post('/api/auth/passkeys/login/verify', { response })
  const refused = async (why: string, response: object) => {
    const reply = await verify(response)
    assert.deepEqual([reply.status, reply.body.detail], [401, 'Passkey not recognised'], why)
  }

  const once = signChallenge(device, await options(), place)
  assert.equal((await verify(once)).status, 200)
  await refused('a replay', once)
  await refused('a challenge of nobody', signChallenge(device, { challenge: 'AAAA' }, place))
  await refused(
    'a phishing page',
    signChallenge(device, await options(), { ...place, origin: 'https://evil.example' }),
  )
  await refused(
    'another relying party',
    signChallenge(device, await options(), { ...place, rpId: 'evil.example' }),
  )
  await refused(
    'nobody verified',
    signChallenge(device, await options(), { ...place, verified: false }),
  )
  const { device: other } = createCredential({ challenge: 'x', user: { id: 'x' } }, place)
  await refused('an unknown key', signChallenge(other, await options(), place))
  await refused(
    'another key under a known id',
    signChallenge({ ...other, id: device.id }, await options(), place),
  )
  await refused(
    'a clone that counts from the past',
    signChallenge({ ...device, counter: 0 }, await options(), place),
  )
  const late = await options()
  app.clock.advance(11 * 60_000)
  await refused('a challenge that has expired', signChallenge(device, late, place))

  // The challenge of one person's registration is none for another's.
  const eve = await app.as('eve')
  const again = await app.post('/api/auth/login', { email: ada.email, password: PASSWORD })
  const fresh = createClient(app.url, again.body.access_token, ada)
  const forAda = (await fresh.post('/api/auth/passkeys/register/options')).body.options
  const made = createCredential(forAda, place)
  const freshEve = await app.post('/api/auth/login', { email: eve.email, password: PASSWORD })
  const stolen = await createClient(app.url, freshEve.body.access_token, eve).post(
    '/api/auth/passkeys/register/verify',
    { response: made.response },
  )
  assert.deepEqual([stolen.status, stolen.body.detail], [400, 'Passkey could not be verified'])
})

test('the last sign-in method cannot be removed', async (t) => {
  const app = await testApp(t)
  const { target } = await throughProvider(app, 'google', { email: 'olga@example.com' })
  const token = target.searchParams.get('access_token')!
  const olga = createClient(app.url, token, {
    email: 'olga@example.com',
    userId: '',
    refreshToken: '',
  })
  const only = 'This is the only way to sign in to your account'
  says(await olga.delete('/api/users/me/oauth/google'), 400, only, 'last_sign_in_method')
  assert.equal((await olga.get('/api/users/me/oauth')).body.length, 1, 'and it is still there')
  assert.equal((await olga.delete('/api/users/me/oauth/github')).status, 404)

  const linked = await throughProvider(app, 'github', { email: 'olga-gh@example.com' }, olga)
  assert.equal(linked.target.searchParams.get('linked'), 'github')
  assert.equal((await olga.delete('/api/users/me/oauth/google')).status, 200)
  assert.equal((await olga.get('/api/auth/me')).body.oauth_provider, 'github')
  await addPasskey(app, olga)
  assert.equal((await olga.delete('/api/users/me/oauth/github')).status, 200)
  const [passkey] = (await olga.get('/api/auth/passkeys')).body
  says(await olga.delete(`/api/auth/passkeys/${passkey.id}`), 400, only, 'last_sign_in_method')
})

test('of two removals at once, one finds itself the last', async (t) => {
  const app = await testApp(t)
  const { target } = await throughProvider(app, 'google', { email: 'olga@example.com' })
  const olga = createClient(app.url, target.searchParams.get('access_token')!, {
    email: '',
    userId: '',
    refreshToken: '',
  })
  await throughProvider(app, 'github', { email: 'olga-gh@example.com' }, olga)
  const replies = await Promise.all([
    olga.delete('/api/users/me/oauth/google'),
    olga.delete('/api/users/me/oauth/github'),
  ])
  assert.deepEqual(replies.map((reply) => reply.status).sort(), [200, 400])
})

test('a provider that is linked to one account is not linked to a second', async (t) => {
  const app = await testApp(t)
  const [ada, eve] = [await app.as('ada'), await app.as('eve')]
  await throughProvider(app, 'google', { email: 'shared@example.com' }, ada)
  const second = await throughProvider(app, 'google', { email: 'shared@example.com' }, eve)
  assert.equal(second.target.pathname, '/account')
  assert.equal(second.target.searchParams.get('error'), 'already_linked')
  assert.deepEqual((await eve.get('/api/users/me/oauth')).body, [])
})

/** To the start of a step, so that none ends between two lines of a test. */
function startStep(app: TestApp) {
  app.clock.advance(STEP_MS - (app.clock.ms() % STEP_MS))
}

function codeNow(app: TestApp, secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.ms() })
}

function login(app: TestApp, code?: string) {
  return app.post('/api/auth/login', {
    email: 'ada@example.com',
    password: PASSWORD,
    ...(code === undefined ? {} : { code }),
  })
}

async function turnOn(app: TestApp): Promise<{ secret: string; codes: string[] }> {
  const ada = await app.as('ada')
  startStep(app)
  const { secret } = (await ada.post('/api/users/me/totp')).body
  const confirmed = await ada.post('/api/users/me/totp/confirm', { code: codeNow(app, secret) })
  assert.equal(confirmed.status, 200, confirmed.text)
  return { secret, codes: confirmed.body.recovery_codes }
}

function placeOf(app: TestApp) {
  const frontend = new URL(app.config.urls.frontend)
  return { origin: frontend.origin, rpId: frontend.hostname }
}

async function addPasskey(app: TestApp, client: Pick<Client, 'post'>): Promise<Device> {
  const { options } = (await client.post('/api/auth/passkeys/register/options')).body
  assert.equal(options.authenticatorSelection.userVerification, 'required')
  const { device, response } = createCredential(options, placeOf(app))
  const kept = await client.post('/api/auth/passkeys/register/verify', { response, name: 'Laptop' })
  assert.equal(kept.status, 200, kept.text)
  return device
}

async function passkeyLogin(app: TestApp, device: Device) {
  const { options } = (await app.post('/api/auth/passkeys/login/options', {})).body
  return app.post('/api/auth/passkeys/login/verify', {
    response: signChallenge(device, options, placeOf(app)),
  })
}

function says(
  reply: { status: number; body: unknown; text: string },
  status: number,
  detail: string,
  code: string,
) {
  assert.deepEqual([reply.status, reply.body], [status, { detail, code }])
}
