// Guessing is bounded, and nobody is kept out of their account by what others try.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { findDialect } from '#platform/db/db.ts'
import { Problem } from '#platform/problem.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { PASSWORD, type Reply, type TestApp, testApp } from '#testing/app.ts'
import { readCookie } from '#testing/buyer.ts'
import { solveProof } from '#testing/proof.ts'
import { throughProvider } from '#testing/provider.ts'
import { computeProofFactor } from './attempts.ts'
import { checkCredentials } from './credentials.ts'
import { createFailedSignIns } from './failed-sign-ins.ts'

const MINUTE = 60_000
const LIMITED = { RATE_LIMIT_AUTH: '10/60', TRUST_PROXY: '1' }

test('the more was tried with proofs, the dearer the next one is', () => {
  assert.deepEqual(
    [0, 99, 100, 999, 1_000, 9_999, 10_000, 1e9].map(computeProofFactor),
    [1, 1, 2, 2, 4, 4, 8, 8],
  )
})

describe('attempts', () => {
  /** One service for all tests: each test uses separate accounts and addresses. */
  const undo: (() => unknown)[] = []
  let app: TestApp
  before(async () => {
    const t = { after: (work: () => unknown) => void undo.unshift(work) } as Parameters<
      typeof testApp
    >[0]
    app = await testApp(t, { env: LIMITED })
  })
  after(async () => {
    for (const work of undo) await work()
  })

  test('ten thousand wrong passwords from five hundred addresses: the owner signs in, and 30 were checked', async () => {
    const email = await register(app, 'owner')
    const device = readCookie(await signIn(app, email, '203.0.113.5'))
    app.clock.advance(2 * MINUTE)

    const deps = {
      ...app.platform,
      hasher: app.service.identity.hasher,
      failedSignIns: createFailedSignIns({ ...app.platform, metrics: createMetrics() }),
    }
    const codes = new Map<string, number>()
    const guess = async (address: string) => {
      const origin = { userAgent: 'guesser/1', address }
      const refused = await checkCredentials(deps, { email, password: 'a guess', origin }).catch(
        (error) => error,
      )
      assert.ok(refused instanceof Problem)
      codes.set(refused.code, (codes.get(refused.code) ?? 0) + 1)
    }
    const addresses = Array.from({ length: 500 }, (_, index) => `10.3.${index >> 2}.${index & 3}`)
    // PostgreSQL compiled to WebAssembly takes its time, and four rounds are past every limit.
    const rounds = findDialect(app.platform.db) === 'sqlite' ? 20 : 4
    // In crowds that a server's connections can serve in time.
    for (let from = 0; from < rounds * 500; from += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => guess(addresses[(from + index) % 500] ?? '')),
      )
    assert.deepEqual(Object.fromEntries(codes), {
      credentials_wrong: 30,
      proof_required: 125 * 10 - 30,
      // More than ten a minute of a network.
      rate_limited: rounds * 500 - 125 * 10,
    })

    const elsewhere = await signIn(app, email, '198.51.100.77', { cookie: device })
    assert.equal(elsewhere.status, 200, 'a known device, wherever it is')
    assert.equal(
      (await signIn(app, email, '203.0.113.200')).status,
      200,
      'a known network, without the cookie',
    )

    const stranger = await signIn(app, email, '192.0.2.9')
    assert.deepEqual([stranger.status, stranger.body.code], [429, 'proof_required'])
    const proof = await solveProof(stranger.body.challenge)
    const again = await signIn(app, email, '192.0.2.9', { proof })
    assert.equal(again.status, 200, 'a new device, with the proof of work')
    assert.equal(
      (await signIn(app, email, '198.18.0.1', { proof })).body.code,
      'proof_required',
      'which is good once',
    )

    const audit = await app.platform.db
      .selectFrom('audit_log')
      .select('details')
      .where('action', '=', 'sign-in.failed')
    await deps.failedSignIns.flush()
    const entries = (await audit.execute()).map(({ details }) => JSON.parse(details ?? ''))
    // One every five seconds, on a slow machine more than one; and the service may have written
    // down its own two by now.
    const proofs = entries.filter(
      ({ reason, user_agent }) => reason === 'proof_required' && user_agent === 'guesser/1',
    )
    assert.equal(
      proofs.reduce((sum, { attempts }) => sum + attempts, 0),
      codes.get('proof_required'),
    )
    assert.equal(proofs[0].addresses.length, 20)
  })

  test('the audit log of an account grows by a bounded number of small entries, however many attempts fail', async () => {
    const email = await register(app, 'noisy')
    const { db } = app.platform
    const failed = createFailedSignIns({ ...app.platform, metrics: createMetrics() })
    const [user] = await db.selectFrom('users').select('id').where('email', '=', email).execute()
    const person = await db
      .selectFrom('audit_persons')
      .selectAll()
      .where('user_id', '=', user!.id)
      .executeTakeFirst()
    const detailsOf = async () => {
      const audit = db
        .selectFrom('audit_log')
        .select('details')
        .where('action', '=', 'sign-in.failed')
      const rows = await audit.where('subject', '=', `user:${person!.pseudonym}`).execute()
      return rows.map(({ details }) => JSON.parse(details ?? ''))
    }
    const origin = { userAgent: 'x'.repeat(15_000), address: '203.0.113.8' }
    for (let index = 0; index < 50; index++) {
      failed.note({ account: email, origin, reason: 'rate_limited' })
      failed.note({ account: `nobody${index}@example.com`, origin, reason: 'rate_limited' })
      await failed.flush()
    }
    failed.note({ account: email, origin, reason: 'credentials_wrong' })
    await Promise.all([failed.flush(), failed.flush()])
    const details = await detailsOf()
    assert.equal(details.length, 21, 'twenty an hour, and another reason has its own')
    assert.ok(details.every(({ user_agent }) => user_agent.length === 400))
    app.clock.advance(60 * MINUTE)
    failed.note({ account: email, origin, reason: 'rate_limited' })
    await failed.flush()
    assert.equal((await detailsOf()).length, 22)
  })

  test('within any hour fewer than a hundred passwords are tried without a proof, from any number of addresses', async () => {
    const email = await register(app, 'hourly')
    assert.equal((await signIn(app, email, '203.0.113.5')).status, 200)
    let tried = 0
    for (let minute = 6; minute < 60; minute += 6) {
      app.clock.advance(6 * MINUTE)
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          signIn(app, email, `10.9.${index < 6 ? index : minute}.1`, { password: 'a guess' }),
        ),
      )
      tried += replies.filter(({ status }) => status === 401).length
    }
    assert.ok(tried >= 30 && tried <= 60, `${tried}`)

    // A stranger in the owner's network has a separate count, then needs a proof of work like all
    // others.
    let near = 0
    for (let minute = 0; minute < 6; minute++) {
      app.clock.advance(MINUTE)
      const replies = await Promise.all(
        Array.from({ length: 12 }, () =>
          signIn(app, email, '203.0.113.99', { password: 'a guess' }),
        ),
      )
      near += replies.filter(({ status }) => status === 401).length
    }
    assert.equal(near, 30)
    assert.ok(tried + near <= 100)
  })

  test('a pair of account and network has ten a minute, however many at once, and an address six times that', async () => {
    const email = await register(app, 'pair')
    const guess = (index: number) =>
      signIn(app, index % 2 ? email : email.toUpperCase(), `198.51.7.${index}`, {
        password: `guess ${index}`,
      })
    const replies = await Promise.all(Array.from({ length: 60 }, (_, index) => guess(index)))
    assert.deepEqual(statuses(replies), { 401: 10, 429: 50 })
    const limited = replies.find(({ status }) => status === 429)!
    assert.deepEqual(limited.body, { detail: 'Rate limit exceeded', code: 'rate_limited' })
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
    app.clock.advance(61_000)

    const spray = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        signIn(app, `user${index}@example.com`, `2001:db8:1:2:${index.toString(16)}::1`, {
          password: 'guess',
        }),
      ),
    )
    assert.deepEqual(statuses(spray), { 401: 60, 429: 40 }, 'one IPv6 customer, one count')
  })

  test('a proof is for one account, for ten minutes, and cannot be made up', async () => {
    const [email, other] = [await register(app, 'proven'), await register(app, 'other')]
    await exhaust(app, email)
    await exhaust(app, other)
    const ask = async (of: string, more: object) =>
      (await signIn(app, of, '192.0.2.44', more)).body.code
    const { challenge } = (await signIn(app, email, '192.0.2.44')).body
    const proof = await solveProof(challenge)
    assert.equal(await ask(other, { proof }), 'proof_required', 'of another account')
    const { solution } = JSON.parse(Buffer.from(proof, 'base64').toString())
    const forged = [
      'nonsense',
      Buffer.from('{}').toString('base64'),
      encoded({ challenge: { ...challenge, signature: '00'.repeat(32) }, solution }),
      encoded({ challenge, solution: { ...solution, derivedKey: '00'.repeat(32) } }),
      encoded({
        challenge: { ...challenge, parameters: { ...challenge.parameters, expiresAt: 9e9 } },
        solution,
      }),
      encoded({
        challenge: { ...challenge, parameters: { ...challenge.parameters, cost: 1 } },
        solution,
      }),
    ]
    app.clock.advance(61_000)
    for (const made of forged)
      assert.equal(await ask(email, { proof: made }), 'proof_required', made.slice(0, 20))
    app.clock.advance(10 * MINUTE)
    assert.equal(await ask(email, { proof }), 'proof_required', 'too late')
  })

  test('failures of others block neither a provider sign-in nor a live session and its changes', async () => {
    const email = await register(app, 'busy')
    const { access_token } = (await signIn(app, email, '203.0.113.5')).body
    await exhaust(app, email)
    const bearer = { authorization: `Bearer ${access_token}` }
    const changed = await app.post(
      '/api/users/me/change-password',
      { current_password: PASSWORD, new_password: 'another good one' },
      { headers: bearer },
    )
    assert.equal(changed.status, 200)
    const viaGoogle = await throughProvider(app, 'google', {
      email: 'fresh@gmail.test.example.com',
    })
    assert.ok(viaGoogle.target.searchParams.has('access_token'))
  })

  test('a session may guess its password thirty times an hour', async () => {
    const email = await register(app, 'guessing')
    const { access_token } = (await signIn(app, email, '203.0.113.5')).body
    const guess = () =>
      app.post(
        '/api/users/me/change-password',
        { current_password: 'a guess', new_password: 'another good one' },
        { headers: { authorization: `Bearer ${access_token}` } },
      )
    let wrong = 0
    for (let minute = 0; minute < 5; minute++) {
      const replies = await Promise.all(Array.from({ length: 11 }, guess))
      wrong += replies.filter(({ status }) => status === 400).length
      app.clock.advance(MINUTE)
    }
    assert.equal(wrong, 30)
  })

  test('wrong codes after the right password: an email after five, closed after twenty, but not for the owner’s device', async () => {
    const email = await register(app, 'coded')
    const first = await signIn(app, email, '203.0.113.5')
    const device = readCookie(first)
    const bearer = { headers: { authorization: `Bearer ${first.body.access_token}` } }
    const { secret } = (await app.post('/api/users/me/totp', {}, bearer)).body
    const codeNow = () =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.ms() })
    await app.post('/api/users/me/totp/confirm', { code: codeNow() }, bearer)
    const told = async () =>
      (await app.mail(email)).filter(({ subject }) => /wrong codes/i.test(subject)).length

    const guess = async (index: number) => {
      if (index % 9 === 0) app.clock.advance(MINUTE)
      return (await signIn(app, email, '198.51.100.1', { code: '000000' })).body.code
    }
    for (let index = 1; index <= 4; index++)
      assert.equal(await guess(index), 'two_factor_code_wrong')
    assert.equal(await told(), 0)
    for (let index = 5; index <= 20; index++)
      assert.equal(await guess(index), 'two_factor_code_wrong')
    assert.equal(await told(), 2)
    app.clock.advance(MINUTE)
    const right = await signIn(app, email, '198.51.100.1', { code: codeNow() })
    assert.deepEqual([right.status, right.body.code], [403, 'password_reset_required'])
    const own = await signIn(app, email, '198.51.100.200', { cookie: device, code: codeNow() })
    assert.equal(own.status, 200)

    await app.post('/api/auth/forgot-password', { email })
    const link = (await app.mail(email))
      .flatMap(({ links }) => links)
      .find((url) => url.includes('reset-password'))
    const token = new URL(link ?? '').searchParams.get('token')
    const reset = await app.post('/api/auth/reset-password', {
      token,
      new_password: 'quite another one',
    })
    assert.equal(reset.status, 200)
    app.clock.advance(MINUTE)
    const anew = await signIn(app, email, '198.51.100.1', {
      password: 'quite another one',
      code: codeNow(),
    })
    assert.equal(anew.status, 200)
  })
})

async function register(app: TestApp, name: string): Promise<string> {
  const email = `${name}@example.com`
  const reply = await app.post('/api/auth/register', { email, password: PASSWORD })
  assert.equal(reply.status, 201)
  return email
}

type Shown = { password?: string; code?: string; proof?: string; cookie?: string }

function signIn(
  app: TestApp,
  email: string,
  address: string,
  { cookie, ...shown }: Shown = {},
): Promise<Reply> {
  const headers = { 'x-forwarded-for': address, ...(cookie ? { cookie } : {}) }
  return app.post('/api/auth/login', { email, password: PASSWORD, ...shown }, { headers })
}

/** Uses up what strangers may try without a proof. */
async function exhaust(app: TestApp, email: string): Promise<void> {
  const guesses = Array.from({ length: 30 }, (_, index) =>
    signIn(app, email, `10.77.${index}.1`, { password: 'a guess' }),
  )
  assert.deepEqual(statuses(await Promise.all(guesses)), { 401: 30 })
}

function statuses(replies: Reply[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
