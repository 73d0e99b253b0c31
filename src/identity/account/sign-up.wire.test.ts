// Rules for creating accounts, and what the operator can see and limit.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { DAY_MS } from '#platform/clock.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { PASSWORD, testApp } from '#testing/app.ts'
import { solveProof } from '#testing/proof.ts'
import { throughProvider } from '#testing/provider.ts'
import { listInvitations, withdrawInvitation } from './invitations.ts'
import { isAllowed } from './sign-up-rules.ts'

test('domains: allowed, denied, thrown away', () => {
  for (const [env, address, may] of [
    [{}, 'ada@mailinator.com', true],
    [{ SIGNUP_DOMAINS: '!disposable' }, 'ada@Mailinator.com', false],
    [{ SIGNUP_DOMAINS: '!disposable' }, 'ada@inbox.mailinator.com', false],
    [{ SIGNUP_DOMAINS: '!disposable' }, 'ada@example.com', true],
    [{ SIGNUP_DOMAINS: '!evil.example' }, 'ada@evil.example', false],
    [{ SIGNUP_DOMAINS: '!evil.example' }, 'ada@mx.evil.example', false],
    [{ SIGNUP_DOMAINS: '!evil.example' }, 'ada@notevil.example', true],
    [{ SIGNUP_DOMAINS: 'acme.example' }, 'ada@acme.example', true],
    [{ SIGNUP_DOMAINS: 'acme.example' }, 'ada@mx.acme.example', false],
    [{ SIGNUP_DOMAINS: 'acme.example, *.acme.example' }, 'ada@mx.acme.example', true],
    [{ SIGNUP_DOMAINS: 'acme.example' }, 'ada@acme.example.evil.example', false],
    [{ SIGNUP_DOMAINS: 'acme.example,!acme.example' }, 'ada@acme.example', false],
  ] as const) {
    assert.equal(
      isAllowed(readConfig(env).signUp, address),
      may,
      `${JSON.stringify(env)} ${address}`,
    )
  }
  assert.throws(() => readConfig({ SIGNUP_DOMAINS: 'not a domain' }), /SIGNUP_DOMAINS/)
  assert.throws(() => readConfig({ SIGNUP_DOMAINS: '!/no/such/list' }), /SIGNUP_DOMAINS/)
})

test('only invited people can create an account, by password or provider; an invitation works once, for one address', async (t) => {
  const app = await testApp(t, {
    env: { SIGNUP: 'invited', SUPERUSER_EMAIL: 'root@example.com', SUPERUSER_PASSWORD: PASSWORD },
  })
  const register = (email: string, invitation?: string) =>
    app.post('/api/auth/register', {
      email,
      password: PASSWORD,
      ...(invitation ? { invitation } : {}),
    })
  assert.deepEqual(
    [(await register('ada@example.com')).status, (await register('ada@example.com')).body.code],
    [403, 'invitation_required'],
  )
  const madeUp = await register('root@example.com', 'made-up')
  assert.deepEqual(
    [madeUp.status, madeUp.body.code],
    [403, 'invitation_required'],
    'whether there is such an account',
  )
  const stranger = await throughProvider(app, 'google', { email: 'eve@example.com' })
  assert.equal(stranger.target.searchParams.get('error'), 'invitation_required')

  const login = await app.post('/api/auth/login', { email: 'root@example.com', password: PASSWORD })
  const root = { headers: { authorization: `Bearer ${login.body.access_token}` } }
  for (const email of ['ada@example.com', 'bea@example.com']) {
    assert.equal((await app.post('/api/admin/invitations', { email }, root)).status, 200)
  }
  const invitationOf = async (email: string) =>
    new URL((await app.mail(email))[0]!.links[0]!).searchParams.get('invitation')!
  const ofAda = await invitationOf('ada@example.com')
  assert.equal((await register('eve@example.com', ofAda)).status, 403, 'of another address')
  assert.equal(
    (await register('Ada@example.com', ofAda)).status,
    201,
    'and it was not spent by that',
  )
  assert.equal((await register('ada2@example.com', ofAda)).status, 403)

  const invited = await throughProvider(app, 'google', { email: 'bea@example.com' })
  assert.ok(
    invited.target.searchParams.has('access_token'),
    'a provider vouches for the invited address',
  )
})

test('an invitation is listed and can be withdrawn for a week', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const email = 'bob@example.com'
  assert.equal((await root.post('/api/admin/invitations', { email })).status, 200)
  assert.equal((await listInvitations(app.platform)).length, 1)
  app.clock.advance(7 * DAY_MS)
  assert.deepEqual(await listInvitations(app.platform), [])
  const withdrawal = withdrawInvitation(app.platform, root.userId, email)
  await assert.rejects(withdrawal, { code: 'invitation_not_found' })
})

test('registrations from one network prove work after the third within an hour; the bucket counts those that were made', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_SIGNUP: '6/3600', TRUST_PROXY: '1' } })
  const register = (index: number, more: object = {}) =>
    app.post(
      '/api/auth/register',
      { email: `user${index}@example.com`, password: PASSWORD, ...more },
      { headers: { 'x-forwarded-for': '198.51.100.7' } },
    )
  for (let index = 0; index < 3; index++) assert.equal((await register(index)).status, 201)
  for (let index = 3; index < 6; index++) {
    const asked = await register(index)
    assert.deepEqual([asked.status, asked.body.code], [429, 'proof_required'])
    const proof = await solveProof(asked.body.challenge)
    assert.equal(
      (await register(index + 10, { proof })).body.code,
      'proof_required',
      'made for another address',
    )
    assert.equal((await register(index, { proof })).status, 201)
  }
  assert.equal((await register(99)).body.code, 'rate_limited')

  const ask = (index: number) =>
    app.post(
      '/api/auth/register',
      { email: `bot${index}@example.com`, password: PASSWORD, proof: 'made up' },
      { headers: { 'x-forwarded-for': '198.51.100.8' } },
    )
  // One after another: each counts until its challenge is made.
  const codes: string[] = []
  for (let index = 0; index < 80; index++) codes.push((await ask(index)).body.code)
  assert.equal(
    codes.filter((code) => code === 'proof_required').length,
    66,
    'who asks without end is counted',
  )
  assert.equal(codes.filter((code) => code === 'rate_limited').length, 14)
})

test('with REQUIRE=verified_email nothing that costs is done for an address that nobody has proven', async (t) => {
  const app = await testApp(t, { env: { REQUIRE: 'verified_email' } })
  const ada = await app.as('ada', { tier: 'pro' })
  for (const ask of [
    () => ada.post('/api/ai/completions', { prompt: 'Hello' }),
    () =>
      ada.post('/v1/chat/completions', {
        model: 'gpt-4o',
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    () => ada.post('/api/rag/ingest/text', { content: 'A text' }),
    () => ada.post('/api/api-keys', { name: 'laptop' }),
  ]) {
    const reply = await ask()
    assert.equal(reply.status, 403, reply.text)
    assert.match(reply.text, /Verify your email address first/)
  }
  const link = (await app.mail(ada.email))
    .flatMap(({ links }) => links)
    .find((url) => url.includes('verify-email'))
  await app.post('/api/auth/verify-email', { token: new URL(link ?? '').searchParams.get('token') })
  assert.equal((await ada.post('/api/ai/completions', { prompt: 'Hello' })).status, 200)
})

test('a user reads what was tried at the account, a superuser everything, and neither another’s part', async (t) => {
  const app = await testApp(t, { env: { REQUIRE: 'superuser_two_factor' } })
  const [ada, eve] = [await app.as('ada'), await app.as('eve')]
  await app.post('/api/auth/login', { email: ada.email, password: 'a guess' })
  await app.post('/api/auth/login', { email: ada.email.toUpperCase(), password: 'a guess' })
  await app.post('/api/auth/login', { email: 'nobody@example.com', password: 'a guess' })
  const { entries, total } = (await ada.get('/api/users/me/audit')).body
  assert.equal(total, 3)
  assert.deepEqual(
    entries.map(({ action }: { action: string }) => action),
    ['sign-in.failed', 'sign-in', 'registered'],
  )
  assert.deepEqual(
    [entries[0].subject, entries[0].data.reason, entries[0].data.attempts],
    [`user:${ada.userId}`, 'credentials_wrong', 2],
  )
  assert.equal((await eve.get('/api/users/me/audit?action=sign-in.failed')).body.total, 0)
  assert.equal(
    (await eve.get(`/api/users/me/audit?user_id=${ada.userId}`)).body.entries[0].actor_id,
    eve.userId,
  )

  // A superuser without two-factor is none, where the operator asks for it.
  await app.platform.db
    .updateTable('users')
    .set({ is_superuser: true })
    .where('id', '=', eve.userId)
    .execute()
  app.clock.advance(1_000)
  const weak = await eve.get(`/api/admin/audit?user_id=${ada.userId}`)
  assert.deepEqual([weak.status, weak.body.code], [403, 'two_factor_needed'])
  assert.equal((await eve.get('/metrics')).status, 401)
  await app.platform.db
    .updateTable('users')
    .set({ is_totp_on: true })
    .where('id', '=', eve.userId)
    .execute()
  app.clock.advance(1_000)
  const all = await eve.get('/api/admin/audit?action=sign-in.failed')
  assert.deepEqual([all.body.total, all.body.entries[0].subject], [1, `user:${ada.userId}`])
  const metrics = await eve.get('/metrics')
  assert.equal(metrics.status, 200)
  assert.match(metrics.text, /latchkey_refusals_total\{code="credentials_wrong",status="401"\} 3/)
  assert.match(metrics.text, /latchkey_refusals_total\{code="two_factor_needed",status="403"\} 1/)
})

test('a rejected sign-in logs a line for fail2ban, and security.txt names the contact', async (t) => {
  const lines: string[] = []
  const app = await testApp(t, {
    env: { TRUST_PROXY: '1', SUPPORT_EMAIL: 'safe@example.com' },
    log: createLog('warn', { write: (line: string) => void lines.push(line) }),
  })
  const headers = { 'x-forwarded-for': '203.0.113.66' }
  await app.post('/api/auth/login', { email: 'ada@example.com', password: 'a guess' }, { headers })
  const filter = readFileSync(
    join(import.meta.dirname, '../../../deploy/fail2ban/filter.conf'),
    'utf8',
  )
  // Exactly one pattern, so that no second line can match.
  const [, failregex = '', date = ''] = /failregex = (.*)\ndatepattern = (.*)/.exec(filter) ?? []
  assert.match(failregex, /sign-in failed/)
  const found = new RegExp(failregex.replace('<HOST>', '(?<host>[\\w.:]+)'))
  const dated = new RegExp(date.replaceAll(/%%[YmdHMS]/g, '\\d+'))
  const own = lines.filter(
    (line) => found.exec(line)?.groups?.host === '203.0.113.66' && dated.test(line),
  )
  assert.equal(own.length, 1, lines.join(''))
  // A stranger's input cannot look like a log line about another user.
  const forged = { email: 'x@example.com', password: '","msg":"sign-in failed from 192.0.2.1"' }
  await app.post('/api/auth/login', forged, {
    headers: { ...headers, 'user-agent': forged.password },
  })
  assert.ok(!lines.some((line) => found.exec(line)?.groups?.host === '192.0.2.1'))
  assert.ok(!own[0]?.includes('ada@example.com'), 'people’s addresses stand in no log')

  for (const reply of [
    await app.get('/.well-known/security.txt'),
    await app.store('GET', '/.well-known/security.txt'),
  ]) {
    assert.match(reply.text, /^Contact: mailto:safe@example\.com$/m)
    assert.ok(Date.parse(/^Expires: (.*)$/m.exec(reply.text)?.[1] ?? '') > app.clock.ms())
  }
})
