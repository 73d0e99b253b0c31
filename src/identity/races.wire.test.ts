// Concurrency: of many who show one credential at once, exactly one gets what it is good for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import {
  type Client,
  createClient,
  PASSWORD,
  type Reply,
  type TestApp,
  testApp,
} from '#testing/app.ts'
import { createCredential, signChallenge } from '#testing/authenticator.ts'
import { chooseAccount, startAtProvider, throughProvider } from '#testing/provider.ts'

const CROWD = 100
const TRIALS = 50

/**
 * Everything that is good for one use, and how a crowd shows it. Each returns how many of the crowd
 * it served.
 */
const ONE_TIME: Record<string, (app: TestApp) => Promise<number>> = {
  async 'an undo of a change of address'(app) {
    const ada = await app.as('undo')
    await ada.post('/api/users/me/change-email', {
      new_email: 'undo2@example.com',
      password: PASSWORD,
    })
    const token = await mailedToken(app, ada.email, '/undo-email-change')
    return served(await crowd(() => app.post('/api/auth/undo-email-change', { token })))
  },

  async 'a challenge for the second factor'(app) {
    const { client, codes } = await withTotp(app, 'challenged')
    await throughProvider(app, 'google', { email: 'challenged@gmail.test.example.com' }, client)
    const { target } = await throughProvider(app, 'google', {
      email: 'challenged@gmail.test.example.com',
    })
    const challenge = target.searchParams.get('challenge')
    // Each has a separate valid code while there are enough.
    return served(
      await crowd((index) =>
        app.post('/api/auth/challenge', { challenge, code: codes[index % codes.length] }),
      ),
    )
  },

  async 'a code of the moment'(app) {
    const { email, secret } = await withTotp(app, 'coded')
    app.clock.advance(30_000)
    const code = codeNow(app, secret)
    return served(
      await crowd(() => app.post('/api/auth/login', { email, password: PASSWORD, code })),
    )
  },

  async 'a recovery code'(app) {
    const { email, codes } = await withTotp(app, 'recovering')
    return served(
      await crowd(() => app.post('/api/auth/login', { email, password: PASSWORD, code: codes[0] })),
    )
  },

  async "a provider's answer"(app) {
    const walk = await startAtProvider(app, 'google')
    const back = await chooseAccount(app, walk, { email: 'crowd@example.com' })
    const replies = await crowd(() =>
      app.get(back.pathname + back.search, { headers: { cookie: walk.cookie } }),
    )
    return replies.filter(({ headers }) => headers.get('location')?.includes('access_token='))
      .length
  },

  async "a passkey's challenge at sign-in"(app) {
    const device = await deviceOf(app, await app.as('keyed'))
    const { options } = (await app.post('/api/auth/passkeys/login/options', {})).body
    const response = signChallenge(device, options, placeOf(app))
    return served(await crowd(() => app.post('/api/auth/passkeys/login/verify', { response })))
  },

  async "a passkey's challenge at its making"(app) {
    const client = await app.as('maker')
    const { options } = (await client.post('/api/auth/passkeys/register/options')).body
    const { response } = createCredential(options, placeOf(app))
    return served(
      await crowd(() => client.post('/api/auth/passkeys/register/verify', { response })),
    )
  },

  async 'the link that makes a superuser'(app) {
    const token = new URL(app.service.superuserNotice!.link).searchParams.get('token')!
    return served(
      await crowd((index) => {
        const body = new URLSearchParams({
          token,
          email: `root${index}@example.com`,
          password: 'a good long one',
        })
        return app.request('POST', '/setup', { body })
      }),
    )
  },
}

test('of a crowd that shows one thing at once that is good for one use, one is served', async (t) => {
  const app = await testApp(t)
  for (const [what, use] of Object.entries(ONE_TIME)) {
    await t.test(what, async () => assert.equal(await use(app), 1))
  }
})

test('of several requested links, only the last works', async (t) => {
  const app = await testApp(t, { worker: true })
  const ada = await app.as('ada')
  await Promise.all(
    Array.from({ length: 5 }, () => app.post('/api/auth/forgot-password', { email: ada.email })),
  )
  await app.settle()
  const mails = (await app.mail(ada.email)).filter(({ subject }) => /reset/i.test(subject))
  assert.equal(mails.length, 5)
  const tokens = mails.map(({ links }) => tokenOf(links, '/reset-password'))
  const checks = await Promise.all(
    tokens.map((token) => app.post('/api/auth/verify-reset-token', { token })),
  )
  assert.equal(served(checks), 1)
})

/**
 * Every route that takes a guess, with a right one among the wrong to show that the route is the
 * right one.
 */
const GUESSES: Record<string, (app: TestApp, person: Person) => (index: number) => Promise<Reply>> =
  {
    'a password at sign-in':
      (app, { email }) =>
      (index) =>
        from(app, index, 'POST', '/api/auth/login', { email, password: `guess ${index}` }),
    "a password at the shop's sign-in":
      (app, { email }) =>
      (index) =>
        app.store('POST', '/api/session', {
          body: { email, password: `guess ${index}` },
          headers: { 'x-forwarded-for': `198.51.100.${index}` },
        }),
    'a code at sign-in':
      (app, { email }) =>
      (index) =>
        from(app, index, 'POST', '/api/auth/login', {
          email,
          password: PASSWORD,
          code: String(100_000 + index),
        }),
    'the password, with a stolen token, to change it':
      (app, { client }) =>
      (index) =>
        from(
          app,
          index,
          'POST',
          '/api/users/me/change-password',
          { current_password: `guess ${index}`, new_password: 'another good password' },
          client.token,
        ),
    'the password, with a stolen token, to change the address':
      (app, { client }) =>
      (index) =>
        from(
          app,
          index,
          'POST',
          '/api/users/me/change-email',
          { new_email: 'x@example.com', password: `guess ${index}` },
          client.token,
        ),
    'the password, with a stolen token, to delete the account':
      (app, { client }) =>
      (index) =>
        from(app, index, 'DELETE', '/api/users/me', { password: `guess ${index}` }, client.token),
    'a code, with a stolen token, to turn two-factor off':
      (app, { client }) =>
      (index) =>
        from(
          app,
          index,
          'DELETE',
          '/api/users/me/totp',
          { password: PASSWORD, code: String(100_000 + index) },
          client.token,
        ),
  }

test('simultaneous guesses from separate addresses never exceed ten, on any route', async (t) => {
  for (const [route, guessing] of Object.entries(GUESSES)) {
    await t.test(route, async (t) => {
      const app = await testApp(t, { env: { RATE_LIMIT_AUTH: '10/60', TRUST_PROXY: 'true' } })
      const person = await withTotp(app, 'ada')
      // The counts of the sign-up have expired.
      app.clock.advance(61_000)
      const replies = await crowd(guessing(app, person))
      const heard = replies.filter(({ status }) => status !== 429)
      assert.ok(heard.length <= 10, `${heard.length} were heard`)
      assert.ok(heard.length >= 4, `${heard.length} were heard`)
      assert.equal(served(replies), 0)
    })
  }
})

test('all routes into an account together are bounded, from any address', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_AUTH: '10/60', TRUST_PROXY: 'true' } })
  const person = await withTotp(app, 'ada')
  app.clock.advance(61_000)
  const guesses = Object.values(GUESSES).map((guessing) => guessing(app, person))
  const replies = await crowd((index) => guesses[index % guesses.length]!(index))
  // 30 an hour are free to strangers; a session has ten a minute for passwords and for codes, a
  // provider's word ten.
  assert.ok(replies.filter(({ status }) => status !== 429).length <= 60)
})

test('a replay after the grace ends the family every time, in any state of the token', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  for (let trial = 0; trial < TRIALS; trial++) {
    const login = (await app.post('/api/auth/login', { email: ada.email, password: PASSWORD })).body
    let newest = login
    for (let step = 0; step <= trial % 3; step++) {
      // Some tabs at once, as in a browser.
      const tabs = await Promise.all(
        Array.from({ length: 3 }, () =>
          app.post('/api/auth/refresh', { refresh_token: newest.refresh_token }),
        ),
      )
      newest = tabs[trial % 3]!.body
    }
    app.clock.advance(10_001 + trial * 100)
    // The thief and the owner refresh at the same time: in either order both are signed out at the
    // end.
    const [thief] = await Promise.all([
      app.post('/api/auth/refresh', { refresh_token: login.refresh_token }),
      ...(trial % 2
        ? [app.post('/api/auth/refresh', { refresh_token: newest.refresh_token })]
        : []),
    ])
    assert.equal(thief.status, 401, `trial ${trial}`)
    const left = await app.post('/api/auth/refresh', { refresh_token: newest.refresh_token })
    assert.equal(left.status, 401, `trial ${trial}: the newest token`)
    const bearer = { headers: { authorization: `Bearer ${newest.access_token}` } }
    assert.equal(
      (await app.get('/api/auth/me', bearer)).status,
      401,
      `trial ${trial}: the access token`,
    )
  }
  assert.equal((await ada.get('/api/auth/me')).status, 200, 'other sessions of the person stay')
})

type Person = { client: Client; email: string; secret: string; codes: string[] }

async function withTotp(app: TestApp, name: string): Promise<Person> {
  const client = await app.as(name)
  // To the start of a step, so that none ends between two lines.
  app.clock.advance(30_000 - (app.clock.ms() % 30_000))
  const { secret } = (await client.post('/api/users/me/totp')).body
  const confirmed = await client.post('/api/users/me/totp/confirm', { code: codeNow(app, secret) })
  assert.equal(confirmed.status, 200, confirmed.text)
  return { client, email: client.email, secret, codes: confirmed.body.recovery_codes }
}

const codeNow = (app: TestApp, secret: string) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.ms() })

function from(
  app: TestApp,
  index: number,
  method: string,
  path: string,
  body: object,
  token?: string,
) {
  const headers = {
    'x-forwarded-for': `198.51.100.${index}`,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  return app.request(method, path, { body, headers })
}

const crowd = (one: (index: number) => Promise<Reply>) =>
  Promise.all(Array.from({ length: CROWD }, (_, index) => one(index)))

const served = (replies: Reply[]) => replies.filter(({ status }) => status === 200).length

async function mailedToken(app: TestApp, email: string, path: string): Promise<string> {
  for (const { links } of await app.mail(email)) {
    if (links.some((link) => link.includes(path))) return tokenOf(links, path)
  }
  throw new Error(`no email with ${path}`)
}

function tokenOf(links: string[], path: string): string {
  const link = links.find((candidate) => candidate.includes(path)) ?? 'none:'
  return new URL(link).searchParams.get('token') ?? ''
}

const placeOf = (app: TestApp) => {
  const { origin, hostname } = new URL(app.config.urls.frontend)
  return { origin, rpId: hostname }
}

async function deviceOf(app: TestApp, client: Client) {
  const { options } = (await client.post('/api/auth/passkeys/register/options')).body
  const { device, response } = createCredential(options, placeOf(app))
  await createClient(app.url, client.token, client).post('/api/auth/passkeys/register/verify', {
    response,
  })
  return device
}

test('of several changes that show one code at once, one is made, and none fails for another reason', async (t) => {
  const app = await testApp(t)
  for (const name of ['ada', 'bea', 'cleo']) {
    const client = await app.as(name)
    const { secret } = (await client.post('/api/users/me/totp')).body
    const codeNow = () =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.ms() })
    assert.equal((await client.post('/api/users/me/totp/confirm', { code: codeNow() })).status, 200)
    app.clock.advance(60_000)
    const code = codeNow()
    const replies = await Promise.all([
      client.delete('/api/users/me/totp', { code, password: PASSWORD }),
      client.post('/api/users/me/change-email', {
        new_email: `${name}-new@example.com`,
        password: PASSWORD,
        code,
      }),
      client.delete('/api/users/me/totp', { code, password: PASSWORD }),
      client.post('/api/users/me/change-email', {
        new_email: `${name}-more@example.com`,
        password: PASSWORD,
        code,
      }),
      app.post('/api/auth/login', { email: client.email, password: PASSWORD, code }),
    ])
    const statuses = replies.map(({ status }) => status)
    assert.deepEqual(
      statuses.filter((status) => ![200, 400, 401].includes(status)),
      [],
      replies.map(({ text }) => text).join('\n'),
    )
    // With two-factor off, a change of address needs no code any more.
    const withCode = statuses[0] === 200 || statuses[2] === 200 ? 'off' : 'on'
    if (withCode === 'on') assert.equal(statuses.filter((status) => status === 200).length, 1)
  }
})
