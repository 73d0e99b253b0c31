// Changes that need more than a session, and the emails to the owner about every sign-in method
// that is added or removed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { run as superuser } from '#cli/superuser.ts'
import { addSuperuser } from '#identity/admin/superuser.ts'
import {
  type Client,
  createClient,
  PASSWORD,
  type Reply,
  type TestApp,
  testApp,
} from '#testing/app.ts'
import { createCredential } from '#testing/authenticator.ts'
import { throughProvider } from '#testing/provider.ts'

const MINUTE = 60_000
const STALE = { detail: 'Fresh sign-in required', code: 'fresh_sign_in_required' }

test('an account without a password changes its address only within ten minutes of a sign-in', async (t) => {
  const app = await testApp(t)
  const olga = await viaProvider(app, 'olga@example.com')
  app.clock.advance(11 * MINUTE)
  const reply = await olga.post('/api/users/me/change-email', { new_email: 'eve@example.com' })
  assert.deepEqual([reply.status, reply.body], [403, STALE])
  assert.equal((await olga.get('/api/auth/me')).body.email, 'olga@example.com')

  const again = await viaProvider(app, 'olga@example.com')
  app.clock.advance(9 * MINUTE)
  const changed = await again.post('/api/users/me/change-email', { new_email: 'olga2@example.com' })
  assert.equal(changed.status, 200)
})

test('an account without a password is deleted only within ten minutes of a sign-in', async (t) => {
  const app = await testApp(t)
  const olga = await viaProvider(app, 'olga@example.com')
  app.clock.advance(11 * MINUTE)
  const reply = await olga.delete('/api/users/me', { confirm: 'DELETE' })
  assert.deepEqual([reply.status, reply.body], [403, STALE])
  const unsaid = await olga.delete('/api/users/me', {})
  assert.deepEqual([unsaid.status, unsaid.body.detail], [400, 'Type DELETE to confirm'])

  const again = await viaProvider(app, 'olga@example.com')
  assert.equal((await again.delete('/api/users/me', { confirm: 'DELETE' })).status, 200)
})

test('a session that is hours old changes the address and the password of an account with a password after asking for it', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  app.clock.advance(29 * MINUTE)
  const change = { current_password: PASSWORD, new_password: 'nobody knows this one' }
  assert.equal((await ada.post('/api/users/me/change-password', change)).status, 200)
  const moved = { new_email: 'ada2@example.com', password: 'nobody knows this one' }
  assert.equal((await ada.post('/api/users/me/change-email', moved)).status, 200)
  assert.equal(
    (await ada.delete('/api/users/me', { password: 'nobody knows this one' })).status,
    200,
  )
})

test('with two-factor on, the password alone changes neither address nor password, and deletes nothing', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const code = await turnTotpOn(app, ada)
  const changes: [string, (code?: string) => Promise<Reply>][] = [
    [
      'change-password',
      (code) =>
        ada.post('/api/users/me/change-password', {
          current_password: PASSWORD,
          new_password: 'nobody knows this one',
          code,
        }),
    ],
    [
      'change-email',
      (code) =>
        ada.post('/api/users/me/change-email', {
          new_email: 'ada2@example.com',
          password: 'nobody knows this one',
          code,
        }),
    ],
    [
      'deletion',
      (code) => ada.delete('/api/users/me', { password: 'nobody knows this one', code }),
    ],
  ]
  for (const [name, change] of changes) {
    app.clock.advance(MINUTE)
    const without = await change()
    assert.deepEqual(
      [without.status, without.body],
      [400, { detail: 'Two-factor code required', code: 'two_factor_code_required' }],
      name,
    )
    const wrong = await change('not a code')
    assert.deepEqual([wrong.status, wrong.body.detail], [400, 'Invalid two-factor code'], name)
    const used = code()
    assert.equal((await change(used)).status, 200, name)
  }
  assert.equal((await ada.get('/api/auth/me')).status, 401)
})

test('an account with a provider and two-factor shows a code as well', async (t) => {
  const app = await testApp(t)
  const olga = await viaProvider(app, 'olga@example.com')
  const code = await turnTotpOn(app, olga)
  app.clock.advance(MINUTE)
  const without = await olga.post('/api/users/me/change-email', { new_email: 'olga2@example.com' })
  assert.deepEqual([without.status, without.body.detail], [400, 'Two-factor code required'])
  const changed = await olga.post('/api/users/me/change-email', {
    new_email: 'olga2@example.com',
    code: code(),
  })
  assert.equal(changed.status, 200)
  app.clock.advance(MINUTE)
  assert.equal((await olga.delete('/api/users/me', { confirm: 'DELETE' })).status, 400)
  assert.equal(
    (await olga.delete('/api/users/me', { confirm: 'DELETE', code: code() })).status,
    200,
  )
})

test('a code is not used up by a change that is refused for another reason', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  await app.as('bea')
  const code = await turnTotpOn(app, ada)
  app.clock.advance(MINUTE)
  const shown = code()
  const weak = { current_password: PASSWORD, new_password: 'password', code: shown }
  assert.equal((await ada.post('/api/users/me/change-password', weak)).status, 422)
  const taken = { new_email: 'bea@example.com', password: PASSWORD, code: shown }
  assert.equal(
    (await ada.post('/api/users/me/change-email', taken)).body.detail,
    'Email already in use',
  )
  const free = { new_email: 'ada2@example.com', password: PASSWORD, code: shown }
  assert.equal((await ada.post('/api/users/me/change-email', free)).status, 200)
})

test('codes are guessed at the pace of sign-ins, also where a session asks', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_AUTH: '10/60' } })
  const olga = await viaProvider(app, 'olga@example.com')
  await turnTotpOn(app, olga)
  const replies: number[] = []
  for (let time = 0; time < 12; time++) {
    const guess = { new_email: 'eve@example.com', code: String(100_000 + time) }
    replies.push((await olga.post('/api/users/me/change-email', guess)).status)
  }
  assert.equal(replies.at(-1), 429)
})

test('everything that is held about a user is handed out only within ten minutes of a sign-in', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  assert.equal((await ada.get('/api/users/me/export?full=true')).status, 200)
  app.clock.advance(11 * MINUTE)
  const reply = await ada.get('/api/users/me/export?full=true')
  assert.deepEqual([reply.status, reply.body], [403, STALE])
  assert.equal((await ada.get('/api/users/me/export')).status, 200, 'the account alone needs none')
})

test('a superuser changes a user only within ten minutes of a sign-in', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root')
  await addSuperuser(app.platform, root.email, { allowUnverified: true })
  const ada = await app.as('ada')
  app.clock.advance(11 * MINUTE)
  for (const change of [
    { is_superuser: true },
    { subscription_tier: 'pro' },
    { is_active: false },
  ]) {
    const reply = await root.patch(`/api/admin/users/${ada.userId}`, change)
    assert.deepEqual([reply.status, reply.body], [403, STALE], JSON.stringify(change))
  }
  assert.equal((await root.get('/api/admin/users')).status, 200, 'looking needs none')
  const again = await signedIn(app, root)
  assert.equal(
    (await again.patch(`/api/admin/users/${ada.userId}`, { subscription_tier: 'pro' })).status,
    200,
  )
})

test('the owner gets an email about each sign-in method that is added or removed', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const told = async (subject: RegExp, ...words: string[]) => {
    const [mail] = await app.mail(ada.email)
    assert.match(mail!.subject, subject)
    for (const word of words) assert.ok(mail!.text.includes(word), `${word} in ${mail!.text}`)
  }

  const passkey = await addPasskey(app, ada)
  await told(/passkey was added/i, 'Desk')
  assert.equal((await ada.delete(`/api/auth/passkeys/${passkey}`)).status, 200)
  await told(/passkey was removed/i, 'Desk')

  await throughProvider(app, 'google', { email: 'ada-google@example.com' }, ada)
  await told(/Google sign-in was added/i, 'ada-google@example.com')
  assert.equal((await ada.delete('/api/users/me/oauth/google')).status, 200)
  await told(/Google sign-in was removed/i)

  const code = await turnTotpOn(app, ada)
  await told(/two-factor .* on/i)
  app.clock.advance(MINUTE)
  assert.equal(
    (await ada.delete('/api/users/me/totp', { code: code(), password: PASSWORD })).status,
    200,
  )
  await told(/two-factor .* off/i)

  const made = await ada.post('/api/api-keys', { name: 'laptop' })
  await told(/API key was created/i, 'laptop', made.body.key_prefix)
  const rotated = await ada.post(`/api/api-keys/${made.body.id}/rotate`)
  await told(/API key was rotated/i, 'laptop', rotated.body.key_prefix)
  const mails = await app.mail(ada.email)
  for (const { text } of mails) {
    assert.equal(
      text.includes(made.body.key) || text.includes(rotated.body.key),
      false,
      'no secret travels by mail',
    )
  }
})

test('a new superuser gets exactly one email, on every path to the role', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root')
  const context = { config: app.config, platform: async () => app.platform, print: () => undefined }
  const [{ links = [] } = {}] = await app.mail(root.email)
  await app.post('/api/auth/verify-email', { token: new URL(links[0]!).searchParams.get('token') })
  const mails = async (email: string) =>
    (await app.mail(email)).filter(({ subject }) => /superuser/i.test(subject)).length
  await superuser(['add', root.email], context)
  await superuser(['add', root.email], context)
  assert.equal(await mails(root.email), 1)

  const ada = await app.as('ada')
  for (const is_superuser of [true, true]) {
    assert.equal((await root.patch(`/api/admin/users/${ada.userId}`, { is_superuser })).status, 200)
  }
  assert.equal(await mails(ada.email), 1)
})

test('a reset that removes sign-in methods names them', async (t) => {
  const app = await testApp(t)
  const eve = await app.as('victim')
  await addPasskey(app, eve)
  await app.post('/api/auth/forgot-password', { email: eve.email })
  const link = (await app.mail(eve.email))[0]!.links.find((candidate) =>
    candidate.includes('/reset-password'),
  )!
  const token = new URL(link).searchParams.get('token')
  await app.post('/api/auth/reset-password', { token, new_password: 'the word of the owner' })
  const [mail] = (await app.mail(eve.email)).filter(({ subject }) =>
    /password was changed/i.test(subject),
  )
  assert.ok(mail!.text.includes('Desk'))
})

async function viaProvider(app: TestApp, email: string): Promise<Client> {
  const { target } = await throughProvider(app, 'google', { email })
  const token = target.searchParams.get('access_token')!
  const { body } = await app.get('/api/auth/me', { headers: { authorization: `Bearer ${token}` } })
  return createClient(app.url, token, {
    email,
    userId: body.id,
    refreshToken: target.searchParams.get('refresh_token')!,
  })
}

/** A further session of the same person. */
async function signedIn(app: TestApp, person: Client): Promise<Client> {
  const login = await app.post('/api/auth/login', { email: person.email, password: PASSWORD })
  return createClient(app.url, login.body.access_token, person)
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

async function addPasskey(app: TestApp, client: Client): Promise<string> {
  const { options } = (await client.post('/api/auth/passkeys/register/options')).body
  const { origin, hostname } = new URL(app.config.urls.frontend)
  const { response } = createCredential(options, { origin, rpId: hostname })
  const added = await client.post('/api/auth/passkeys/register/verify', { response, name: 'Desk' })
  assert.equal(added.status, 200)
  return added.body.id
}
