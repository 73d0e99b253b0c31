import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { BlobReader, TextWriter, ZipReader } from '@zip.js/zip.js'
import { run as audit } from '#cli/audit.ts'
import { run as superuser } from '#cli/superuser.ts'
import { addSuperuser } from '#identity/admin/superuser.ts'
import { agedIdentity } from '#identity/retention.ts'
import { setSubscription } from '#identity/subscription.ts'
import { removeAged } from '#platform/retention.ts'
import { createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { throughProvider } from '#testing/provider.ts'

test('sessions show device, address and last use, and can be ended one by one', async (t) => {
  const app = await testApp(t, { env: { TRUST_PROXY: 'true' } })
  const ada = await app.as('ada')
  const phone = await app.post(
    '/api/auth/login',
    { email: ada.email, password: PASSWORD },
    { headers: { 'user-agent': 'Phone/1.0', 'x-forwarded-for': '198.51.100.7' } },
  )
  const sessions = (await ada.get('/api/users/me/sessions')).body
  assert.equal(sessions.length, 2)
  const other = sessions.find((session: { current: boolean }) => !session.current)
  assert.deepEqual(Object.keys(other).sort(), [
    'created_at',
    'current',
    'id',
    'ip_address',
    'last_used_at',
    'user_agent',
  ])
  assert.deepEqual([other.user_agent, other.ip_address], ['Phone/1.0', '198.51.100.7'])
  const { sid } = JSON.parse(
    Buffer.from(phone.body.access_token.split('.')[1], 'base64url').toString(),
  )
  assert.equal(other.id, sid)

  const onPhone = createClient(app.url, phone.body.access_token, ada)
  assert.equal((await onPhone.get('/api/auth/me')).status, 200)
  assert.equal((await ada.delete(`/api/users/me/sessions/${sid}`)).status, 200)
  assert.equal((await onPhone.get('/api/auth/me')).status, 401, 'at once')
  assert.equal(
    (await app.post('/api/auth/refresh', { refresh_token: phone.body.refresh_token })).status,
    401,
  )
  assert.equal((await ada.delete(`/api/users/me/sessions/${sid}`)).status, 404)
  assert.equal((await ada.delete('/api/users/me/sessions/not-a-uuid')).status, 422)
  assert.equal((await ada.get('/api/users/me/sessions')).body.length, 1)
})

test('a session ends 90 days after its sign-in, however often it is renewed', async (t) => {
  const app = await testApp(t)
  let { refreshToken } = await app.as('ada')
  const renew = () => app.post('/api/auth/refresh', { refresh_token: refreshToken })
  for (const day of [25, 50, 75, 89]) {
    app.clock.advance((day === 89 ? 14 : 25) * 86_400_000)
    const renewed = await renew()
    assert.equal(renewed.status, 200, `on day ${day}`)
    refreshToken = renewed.body.refresh_token
  }
  app.clock.advance(23.8 * 3_600_000)
  const last = await renew()
  assert.equal(last.status, 200, 'shortly before the end')
  refreshToken = last.body.refresh_token
  app.clock.advance(15 * 60_000)
  const bearer = { headers: { authorization: `Bearer ${last.body.access_token}` } }
  assert.equal((await app.get('/api/auth/me', bearer)).status, 401, 'an access token ends with it')
  assert.equal((await renew()).status, 401)
})

test('a revocation without a bus message, as by another node, takes effect within a second', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  assert.equal((await ada.get('/api/auth/me')).status, 200)
  await app.platform.db.updateTable('sessions').set({ revoked_at: app.clock.now() }).execute()
  await wait(1_000)
  assert.equal((await ada.get('/api/auth/me')).status, 401)
})

test('a sign-in from a new device sends an email; one from a known device does not', async (t) => {
  const app = await testApp(t, { env: { TRUST_PROXY: 'true' } })
  const ada = await app.as('ada')
  const from = (agent: string, address: string) =>
    app.post(
      '/api/auth/login',
      { email: ada.email, password: PASSWORD },
      { headers: { 'user-agent': agent, 'x-forwarded-for': address } },
    )
  const told = async () =>
    (await app.mail(ada.email)).filter(({ subject }) => /new sign-in/i.test(subject)).length
  assert.equal(await told(), 0, 'the first device is nothing to tell')
  await from('Firefox/140.0 (X11; Linux)', '203.0.113.9')
  assert.equal(await told(), 1)
  await from('Firefox/141.0 (X11; Linux)', '203.0.113.80')
  assert.equal(await told(), 1, 'an update, and another address of the network')
  await from('Firefox/141.0 (X11; Linux)', '198.51.100.1')
  assert.equal(await told(), 2)
  const [mail] = await app.mail(ada.email)
  assert.ok(mail!.text.includes('198.51.100.1'))
})

test('switching an account off ends its sessions at once; a tier set by hand stays until lifted', async (t) => {
  const app = await testApp(t)
  const { identity, platform } = app.service
  const root = await app.as('root')
  await addSuperuser(app.platform, root.email, { allowUnverified: true })
  const ada = await app.as('ada')
  assert.equal((await ada.get('/api/auth/me')).status, 200)
  await identity.changeUser(root.userId, ada.userId, { is_active: false })
  assert.equal((await ada.get('/api/auth/me')).status, 401)
  assert.equal(
    (await app.post('/api/auth/refresh', { refresh_token: ada.refreshToken })).status,
    401,
  )
  const back = await identity.changeUser(root.userId, ada.userId, {
    is_active: true,
    subscription_tier: 'enterprise',
  })
  assert.deepEqual([back.is_active, back.subscription_tier], [true, 'enterprise'])

  const after = await setSubscription(platform.db, ada.userId, { status: 'active', tier: 'pro' })
  assert.deepEqual([after?.subscription_status, after?.subscription_tier], ['active', 'enterprise'])
  const lifted = await identity.changeUser(root.userId, ada.userId, { subscription_tier: null })
  assert.equal(lifted.subscription_tier, 'pro')

  await assert.rejects(identity.changeUser(root.userId, root.userId, { is_superuser: false }), {
    detail: 'This is the last active superuser',
  })
  await assert.rejects(identity.changeUser(root.userId, crypto.randomUUID(), {}), { status: 404 })
})

test('a superuser made by hand counts at once, on tokens that are there already', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  assert.equal((await ada.get('/api/auth/me')).body.is_superuser, false)
  const lines: string[] = []
  const context = {
    config: app.config,
    platform: async () => app.platform,
    print: (line = '') => void lines.push(line),
  }
  // Anyone can register the operator's address: until its owner opens the mailed link, the account
  // is not promoted.
  await assert.rejects(superuser(['add', ada.email], context), (error: Error) => {
    assert.match(
      error.message,
      /ada@example\.com has not verified its address: .*requests the verification email/,
    )
    return true
  })
  assert.equal((await ada.get('/api/auth/me')).body.is_superuser, false)
  const [{ links = [] } = {}] = await app.mail(ada.email)
  const verification = new URL(links[0]!).searchParams.get('token')
  assert.equal((await app.post('/api/auth/verify-email', { token: verification })).status, 200)
  assert.equal(await superuser(['add', ada.email], context), 0)
  assert.equal((await ada.get('/api/auth/me')).body.is_superuser, true)

  assert.equal(await superuser(['add', 'boss@example.com'], context), 0)
  const token = new URL(/http\S+/.exec(lines.at(-1)!)![0]).searchParams.get('token')
  const reset = await app.post('/api/auth/reset-password', {
    token,
    new_password: 'the word of the boss',
  })
  assert.equal(reset.status, 200)
  const login = await app.post('/api/auth/login', {
    email: 'boss@example.com',
    password: 'the word of the boss',
  })
  assert.equal(login.body.user.is_verified, true)
  assert.equal(await superuser(['add', 'no address'], context), 2)
})

test('SUPERUSER_EMAIL and SUPERUSER_PASSWORD create a superuser at the first start', async (t) => {
  const app = await testApp(t, {
    env: { SUPERUSER_EMAIL: 'root@example.com', SUPERUSER_PASSWORD: 'root of all that is' },
  })
  const login = await app.post('/api/auth/login', {
    email: 'root@example.com',
    password: 'root of all that is',
  })
  const bearer = { headers: { authorization: `Bearer ${login.body.access_token}` } }
  assert.equal((await app.get('/api/auth/me', bearer)).body.is_superuser, true)
  assert.equal(app.service.superuserNotice, null)
  await app.restart()
  assert.equal(app.service.superuserNotice, null)
  const weak = { email: 'other@example.com', password: 'Other2026!' }
  await assert.rejects(app.restart({ superuser: weak }), { code: 'validation_failed' })
})

test('SUPERUSER_EMAIL never promotes an account with an unverified address', async (t) => {
  const app = await testApp(t)
  const eve = await app.as('root')
  await app.restart({ superuser: { email: eve.email, password: null } })
  assert.equal((await eve.get('/api/auth/me')).body.is_superuser, false)
})

test('the full export is a ZIP of JSON with everything, and only what is of the user', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  await app.as('eve')
  await throughProvider(app, 'google', { email: 'ada-google@example.com' }, ada)
  const response = await fetch(`${app.url}/api/users/me/export?full=true`, {
    headers: { authorization: `Bearer ${ada.token}` },
  })
  const entries = await new ZipReader(new BlobReader(await response.blob())).getEntries()
  const files = new Map<string, unknown>()
  for (const entry of entries) {
    if (entry.directory) continue
    files.set(
      entry.filename,
      JSON.parse(await entry.getData(new TextWriter(), { checkSignature: true })),
    )
  }
  for (const name of [
    'account',
    'sessions',
    'devices',
    'sign_in_providers',
    'passkeys',
    'two_factor',
    'security_events',
  ]) {
    assert.ok(files.has(`${name}.json`), name)
  }
  const whole = JSON.stringify([...files])
  assert.ok(whole.includes('ada-google@example.com'))
  assert.ok(
    (files.get('security_events.json') as { action: string }[]).some(
      ({ action }) => action === 'sign-in',
    ),
  )
  assert.equal(whole.includes('eve@example.com'), false)
  assert.equal(whole.includes('argon2id'), false, 'no hash of a password')
})

test('deletion leaves no row of the user in this room, and a log that still holds', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  await throughProvider(app, 'google', { email: 'ada-google@example.com' }, ada)
  await app.post('/api/auth/forgot-password', { email: ada.email })
  await app.settle()
  assert.equal((await ada.delete('/api/users/me', { password: PASSWORD })).status, 200)
  await app.settle()

  const { db } = app.platform
  for (const table of [
    'sessions',
    'session_tokens',
    'one_time_tokens',
    'user_devices',
    'oauth_links',
    'audit_persons',
  ] as const) {
    const rows = await db.selectFrom(table).selectAll().where('user_id', '=', ada.userId).execute()
    assert.equal(rows.length, 0, table)
  }
  const log = await db.selectFrom('audit_log').selectAll().execute()
  const text = JSON.stringify(log)
  assert.ok(log.some(({ action }) => action === 'account.deleted'))
  assert.equal(text.includes(ada.userId), false)
  assert.equal(text.includes('127.0.0.1'), false, 'addresses of the deleted are erased')
  assert.equal((await verify(app)).code, 0)
  const gone = (await app.mail(ada.email))[0]!
  assert.match(gone.subject, /deleted/i)
})

test('a hash with other parameters is replaced at the next sign-in', async (t) => {
  const app = await testApp(t, { fullHashing: true })
  const ada = await app.as('ada')
  const { db } = app.platform
  const stored = async () =>
    (
      await db
        .selectFrom('users')
        .select('password_hash')
        .where('id', '=', ada.userId)
        .executeTakeFirstOrThrow()
    ).password_hash
  // `password` with 64 MiB, as another program has left it.
  const old =
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  await db.updateTable('users').set({ password_hash: old }).where('id', '=', ada.userId).execute()

  assert.equal(
    (await app.post('/api/auth/login', { email: ada.email, password: 'passwore' })).status,
    401,
  )
  assert.equal(await stored(), old)
  assert.equal(
    (await app.post('/api/auth/login', { email: ada.email, password: 'password' })).status,
    200,
  )
  assert.match((await stored()) ?? '', /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.equal(
    (await app.post('/api/auth/login', { email: ada.email, password: 'password' })).status,
    200,
  )
})

test('what nobody can use any more is removed, and what was mailed still gets an honest answer', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  await app.get('/api/auth/oauth/google')
  const { db } = app.platform
  const purposes = async () =>
    (await db.selectFrom('one_time_tokens').select('purpose').execute()).map((row) => row.purpose)
  app.clock.advance(2 * 86_400_000)
  await removeAged(app.platform, agedIdentity())
  assert.equal((await purposes()).includes('oauth'), false)
  assert.ok((await purposes()).includes('verify'))
  app.clock.advance(40 * 86_400_000)
  await removeAged(app.platform, agedIdentity())
  assert.deepEqual(await purposes(), [])
  assert.deepEqual(
    await db.selectFrom('sessions').selectAll().where('user_id', '=', ada.userId).execute(),
    [],
  )
})

async function verify(app: TestApp, ...noted: string[]) {
  const lines: string[] = []
  const code = await audit(['verify', ...noted], {
    config: app.config,
    platform: async () => app.platform,
    print: (line = '') => void lines.push(line),
  })
  return { code, text: lines.join('\n') }
}
