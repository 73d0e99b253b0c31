// Attacks on accounts, and the service's answers.
import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { createKeyring } from '#identity/sessions/keyring.ts'
import { createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { chooseAccount, startAtProvider, throughProvider } from '#testing/provider.ts'

const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
const status = async (app: TestApp, token: string) =>
  (await app.get('/api/auth/me', { headers: { authorization: `Bearer ${token}` } })).status

test('access tokens are what a standard library expects of the published keys', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const jwks = (await app.get('/.well-known/jwks.json')).body
  const { payload, protectedHeader } = await jwtVerify(ada.token, createLocalJWKSet(jwks), {
    issuer: app.config.urls.base,
    algorithms: ['EdDSA'],
  })
  assert.equal(protectedHeader.alg, 'EdDSA')
  assert.deepEqual(Object.keys(payload).sort(), [
    'aud',
    'exp',
    'iat',
    'iss',
    'jti',
    'sid',
    'sub',
    'type',
  ])
  assert.equal(payload.sub, ada.userId)
  assert.equal(payload.type, 'access')
  assert.equal(payload.exp! - payload.iat!, 30 * 60)
  assert.equal(JSON.stringify(jwks).includes('"d"'), false)
})

test('forged tokens are refused with any header', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const [header = '', payload = '', signature = ''] = ada.token.split('.')
  const { kid } = decode(header)
  const jwk = (await app.get('/.well-known/jwks.json')).body.keys[0]
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  const own = generateKeyPairSync('ed25519')
  const withHeader = (value: object, key: KeyObject = own.privateKey) => {
    const input = `${b64(value)}.${payload}`
    return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`
  }
  const hmac = (value: object, secret: string | Buffer) => {
    const input = `${b64(value)}.${payload}`
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  }
  const ownJwk = own.publicKey.export({ format: 'jwk' })
  const forged: Record<string, string> = {
    'alg none': `${b64({ alg: 'none', typ: 'JWT' })}.${payload}.`,
    'alg none with a signature': `${b64({ alg: 'none', typ: 'JWT', kid })}.${payload}.${signature}`,
    'alg nOnE': `${b64({ alg: 'nOnE', typ: 'JWT', kid })}.${payload}.`,
    'HS256 with the public key as PEM': hmac(
      { alg: 'HS256', typ: 'JWT', kid },
      publicKey.export({ format: 'pem', type: 'spki' }) as string,
    ),
    'HS256 with the public key as bytes': hmac(
      { alg: 'HS256', typ: 'JWT', kid },
      Buffer.from(jwk.x, 'base64url'),
    ),
    'HS256 with an empty key': hmac({ alg: 'HS256', typ: 'JWT', kid }, ''),
    'another key under our kid': withHeader({ alg: 'EdDSA', typ: 'JWT', kid }),
    'an embedded jwk': withHeader({ alg: 'EdDSA', typ: 'JWT', kid, jwk: ownJwk }),
    'a jku of the attacker': withHeader({
      alg: 'EdDSA',
      typ: 'JWT',
      kid,
      jku: `${app.url}/evil.json`,
    }),
    'an x5u of the attacker': withHeader({
      alg: 'EdDSA',
      typ: 'JWT',
      kid,
      x5u: `${app.url}/evil.pem`,
    }),
    'a kid that walks the file system': withHeader({
      alg: 'EdDSA',
      typ: 'JWT',
      kid: '../../../../dev/null',
    }),
    'a kid that speaks SQL': withHeader({ alg: 'EdDSA', typ: 'JWT', kid: "' or '1'='1" }),
    'a kid of the prototype': withHeader({ alg: 'EdDSA', typ: 'JWT', kid: '__proto__' }),
    'a critical extension': withHeader({
      alg: 'EdDSA',
      typ: 'JWT',
      kid,
      crit: ['b64'],
      b64: false,
    }),
    'no signature': `${header}.${payload}.`,
    'no payload': `${header}..${signature}`,
    'the payload of another': `${header}.${b64({ ...decode(payload), sub: crypto.randomUUID() })}.${signature}`,
    'four parts': `${ada.token}.x`,
    'a space inside': `${header}. ${payload}.${signature}`,
  }
  for (const [name, token] of Object.entries(forged))
    assert.equal(await status(app, token), 401, name)
  assert.equal(await status(app, ada.token), 200)
})

test('every changed byte of a token makes it worthless', async (t) => {
  const app = await testApp(t)
  const { token } = await app.as('ada')
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (let at = 0; at < token.length; at++) {
    const known = token.charAt(at)
    if (known === '.') continue
    // The next letter of the alphabet differs in the lowest bit too, which spare bits of base64
    // would forgive.
    const changed = alphabet.charAt((alphabet.indexOf(known) + 1) % 64)
    assert.equal(
      await status(app, token.slice(0, at) + changed + token.slice(at + 1)),
      401,
      `at ${at}`,
    )
  }
})

test('a token of the right key with wrong claims is refused', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const key = await createKeyring(app.platform).current()
  const claims = decode(ada.token.split('.')[1]!)
  const forge = (changes: object) => {
    const input = `${key.header}.${b64({ ...claims, ...changes })}`
    return `${input}.${sign(null, Buffer.from(input), key.privateKey).toString('base64url')}`
  }
  assert.equal(await status(app, forge({})), 200, 'the forge itself works')
  const wrong: Record<string, object> = {
    'another audience': { aud: 'https://elsewhere.example' },
    'another issuer': { iss: 'https://elsewhere.example' },
    'no audience': { aud: undefined },
    'a list of audiences': { aud: [claims.aud] },
    'a refresh token': { type: 'refresh' },
    'no type': { type: undefined },
    expired: { exp: claims.iat - 1 },
    'no end': { exp: undefined },
    'an end in words': { exp: '2099-01-01' },
    'a session of nobody': { sid: crypto.randomUUID() },
    'another user with this session': { sub: crypto.randomUUID() },
    'a user that is no text': { sub: { toString: 'x' } },
  }
  for (const [name, changes] of Object.entries(wrong))
    assert.equal(await status(app, forge(changes)), 401, name)
})

test('an access token ends after 30 minutes', async (t) => {
  const app = await testApp(t)
  const { token } = await app.as('ada')
  app.clock.advance(29 * 60_000)
  assert.equal(await status(app, token), 200)
  app.clock.advance(61_000)
  assert.equal(await status(app, token), 401)
})

test('keys rotate; the next one is published before it signs, and old tokens outlive the change', async (t) => {
  const app = await testApp(t)
  const login = await app.as('ada')
  const published = async () =>
    (await app.get('/.well-known/jwks.json')).body.keys as { kid: string }[]
  const kidOf = (token: string) => decode(token.split('.')[0]!).kid
  const first = kidOf(login.token)

  let refreshToken = login.refreshToken
  let current = login.token
  for (let day = 0; day < 65; day += 5) {
    app.clock.advance(5 * 86_400_000)
    const reply = await app.post('/api/auth/refresh', { refresh_token: refreshToken })
    assert.equal(reply.status, 200, `day ${day}`)
    refreshToken = reply.body.refresh_token
    current = reply.body.access_token
    assert.ok((await published()).some(({ kid }) => kid === kidOf(current)))
  }
  assert.notEqual(kidOf(current), first)
  app.clock.advance(35 * 86_400_000)
  assert.equal(
    (await published()).some(({ kid }) => kid === first),
    false,
    'and are taken down at last',
  )
})

test('of 100 simultaneous uses of one reset token, one succeeds', async (t) => {
  const app = await testApp(t)
  const { email } = await app.as('ada')
  await app.post('/api/auth/forgot-password', { email })
  const token = tokenIn((await app.mail(email))[0]!.text)
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      app.post('/api/auth/reset-password', { token, new_password: `new password ${index}` }),
    ),
  )
  const winners = replies.flatMap((reply, index) => (reply.status === 200 ? [index] : []))
  assert.equal(winners.length, 1)
  assert.ok(replies.every((reply) => [200, 400].includes(reply.status)))
  const login = await app.post('/api/auth/login', { email, password: `new password ${winners[0]}` })
  assert.equal(login.status, 200)
})

test('of 100 requests with one verification token, one verifies and the others get a clear error', async (t) => {
  const app = await testApp(t)
  await app.post('/api/auth/register', { email: 'ada@example.com', password: PASSWORD })
  const token = tokenIn((await app.mail('ada@example.com'))[0]!.text)
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => app.post('/api/auth/verify-email', { token })),
  )
  const said = (message: string) => replies.filter((reply) => reply.body.message === message).length
  assert.deepEqual([said('Email verified successfully'), said('Email already verified')], [1, 99])
})

const TRIALS = 20

test('100 parallel refreshes from one browser never end the session', async (t) => {
  const app = await testApp(t)
  let { refreshToken } = await app.as('ada')
  for (let trial = 0; trial < TRIALS; trial++) {
    const token = refreshToken
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => app.post('/api/auth/refresh', { refresh_token: token })),
    )
    assert.ok(
      replies.every((reply) => reply.status === 200),
      `trial ${trial}`,
    )
    const successors = new Set(replies.map((reply) => reply.body.refresh_token))
    assert.equal(successors.size, 1, 'all tabs hold the same successor')
    refreshToken = replies[0]!.body.refresh_token
  }
  assert.equal((await app.post('/api/auth/refresh', { refresh_token: refreshToken })).status, 200)
})

test('a refresh token shown again after the grace ends the whole family, also its newest member', async (t) => {
  const app = await testApp(t)
  for (const steps of [1, 2, 5]) {
    const login = (
      await app.post('/api/auth/login', { email: (await app.as('ada')).email, password: PASSWORD })
    ).body
    let newest = login
    for (let step = 0; step < steps; step++) {
      newest = (await app.post('/api/auth/refresh', { refresh_token: newest.refresh_token })).body
    }
    app.clock.advance(10_500)
    assert.equal(
      (await app.post('/api/auth/refresh', { refresh_token: login.refresh_token })).status,
      401,
    )
    assert.equal(
      (await app.post('/api/auth/refresh', { refresh_token: newest.refresh_token })).status,
      401,
    )
    assert.equal(await status(app, newest.access_token), 401, 'access tokens of the family end too')
  }
})

test('a replay in the middle of a crowd of refreshes still ends the family', async (t) => {
  const app = await testApp(t)
  const { refreshToken: stolen } = await app.as('ada')
  const next = (await app.post('/api/auth/refresh', { refresh_token: stolen })).body
  app.clock.advance(11_000)
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      app.post('/api/auth/refresh', { refresh_token: index === 10 ? stolen : next.refresh_token }),
    ),
  )
  const last = await app.post('/api/auth/refresh', { refresh_token: next.refresh_token })
  assert.equal(last.status, 401)
})

test('a sign-in never takes over a session that was there before', async (t) => {
  const app = await testApp(t)
  const eve = await app.as('eve')
  const login = await app.post(
    '/api/auth/login',
    { email: (await app.as('ada')).email, password: PASSWORD },
    {
      headers: {
        cookie: 'session=fixed; store_session=fixed',
        authorization: `Bearer ${eve.token}`,
      },
    },
  )
  const sid = (token: string) => decode(token.split('.')[1]!).sid
  assert.notEqual(sid(login.body.access_token), sid(eve.token))
  assert.match(
    login.headers.get('set-cookie') ?? '',
    /^device=[\w-]{22};[^,]*$/,
    'the device alone, and no session',
  )
  const again = await app.post('/api/auth/login', {
    email: (await app.as('ada')).email,
    password: PASSWORD,
  })
  assert.notEqual(sid(again.body.access_token), sid(login.body.access_token))
})

test('the callback redirects only to our own pages', async (t) => {
  const app = await testApp(t)
  const frontend = new URL(app.config.urls.frontend).origin
  const evil = 'https://evil.example/'
  const queries = [
    `redirect_uri=${evil}&state=x&code=y`,
    `state=${encodeURIComponent(evil)}&code=y`,
    `error=${encodeURIComponent(`x&next=${evil}`)}`,
    `error=access_denied%0d%0aLocation:%20${evil}`,
    'state=a&state=b&code=c',
    '',
  ]
  for (const query of queries) {
    const reply = await app.get(`/api/auth/callback/google?${query}`)
    assert.equal(reply.status, 302)
    const target = new URL(reply.headers.get('location')!)
    assert.equal(target.origin, frontend, query)
    assert.deepEqual([...target.searchParams], [['error', 'invalid_state']], query)
  }
  const started = await app.get(`/api/auth/oauth/google?redirect_uri=${evil}&next=${evil}`)
  const asked = new URL(started.body.authorization_url).searchParams.get('redirect_uri')
  assert.equal(asked, `${app.config.urls.base}/api/auth/callback/google`)
})

test('a provider flow belongs to the browser that began it, and is used once', async (t) => {
  const app = await testApp(t)
  const eve = await startAtProvider(app, 'google')
  const back = await chooseAccount(app, eve, { email: 'eve@example.com' })
  const victim = await startAtProvider(app, 'google')
  const path = back.pathname + back.search
  const forced = await app.get(path, { headers: { cookie: victim.cookie } })
  assert.match(
    forced.headers.get('location')!,
    /error=invalid_state/,
    'login CSRF: the victim stays out of the account of eve',
  )

  const own = await startAtProvider(app, 'google')
  const ownBack = await chooseAccount(app, own, { email: 'eve@example.com' })
  const ownPath = ownBack.pathname + ownBack.search
  const [first, second] = await Promise.all([
    app.get(ownPath, { headers: { cookie: own.cookie } }),
    app.get(ownPath, { headers: { cookie: own.cookie } }),
  ])
  const targets = [first, second].map((reply) => reply.headers.get('location')!)
  assert.equal(targets.filter((target) => target.includes('access_token=')).length, 1)
  assert.equal(targets.filter((target) => target.includes('error=invalid_state')).length, 1)

  const mixed = await startAtProvider(app, 'google')
  const mixedBack = await chooseAccount(app, mixed, { email: 'eve@example.com' })
  const mixUp = await app.get(mixedBack.pathname.replace('google', 'github') + mixedBack.search, {
    headers: { cookie: mixed.cookie },
  })
  assert.match(
    mixUp.headers.get('location')!,
    /error=invalid_state/,
    'the answer of one provider is none of another',
  )

  const late = await startAtProvider(app, 'google')
  const lateBack = await chooseAccount(app, late, { email: 'eve@example.com' })
  app.clock.advance(11 * 60_000)
  const tooLate = await app.get(lateBack.pathname + lateBack.search, {
    headers: { cookie: late.cookie },
  })
  assert.match(tooLate.headers.get('location')!, /error=invalid_state/)
})

test('a provider cannot sign in by an address that is unverified here or at the provider', async (t) => {
  const app = await testApp(t)
  // Eve registers the address of a victim and waits for the victim to come with Google.
  const eve = await app.as('victim')
  const hijack = await throughProvider(app, 'google', { email: 'victim@example.com' })
  assert.match(hijack.target.href, /\/login\?error=account_exists$/)
  assert.deepEqual((await eve.get('/api/users/me/oauth')).body, [])

  // Eve claims a verified victim's address at a provider that has not checked it.
  const ada = await app.as('ada')
  const token = tokenIn((await app.mail(ada.email)).at(-1)!.text)
  await ada.post('/api/auth/verify-email', { token })
  const unproven = await throughProvider(app, 'github', { email: ada.email, verified: false })
  assert.match(unproven.target.href, /error=email_not_verified$/)

  // Both sides have verified it: linked.
  const linked = await throughProvider(app, 'github', { email: ada.email.toUpperCase() })
  const me = await app.get('/api/auth/me', {
    headers: { authorization: `Bearer ${linked.target.searchParams.get('access_token')}` },
  })
  assert.equal(me.body.id, ada.userId)
  assert.equal(me.body.oauth_provider, null, 'it stays a password account')
})

test('names and addresses inject nothing into emails', async (t) => {
  const app = await testApp(t)
  const full_name = '<img src=x onerror=alert(1)> "Ada" & Co'
  await app.post('/api/auth/register', { email: 'ada@example.com', password: PASSWORD, full_name })
  const [mail] = await app.mail('ada@example.com')
  assert.equal(mail!.html.includes('<img'), false)
  assert.ok(mail!.html.includes('&lt;img src=x'))
  assert.ok(mail!.text.includes('Hello <img src=x'))

  for (const name of ['a\r\nBcc: eve@example.com', 'a\u0000b', 'a\u2028b']) {
    const reply = await app.post('/api/auth/register', {
      email: 'bob@example.com',
      password: PASSWORD,
      full_name: name,
    })
    assert.equal(reply.status, 422)
  }
  for (const email of [
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com, eve@example.com',
    '"<script>"@example.com',
    'ada@example.com\u0000',
    'ada@-example.com',
    'ada@example',
  ]) {
    const reply = await app.post('/api/auth/register', { email, password: PASSWORD })
    assert.equal(reply.status, 422, JSON.stringify(email))
  }
})

test('answers do not reveal who has an account', async (t) => {
  const app = await testApp(t)
  const { email } = await app.as('ada')
  const strip = (reply: Awaited<ReturnType<typeof app.post>>) => {
    const headers = [...reply.headers].filter(([name]) => !['date', 'x-request-id'].includes(name))
    return { status: reply.status, text: reply.text, headers }
  }
  for (const [path, body] of [
    ['/api/auth/login', { password: 'a wrong password' }],
    ['/api/auth/forgot-password', {}],
    ['/api/auth/resend-verification', {}],
  ] as const) {
    const known = await app.post(path, { ...body, email })
    const unknown = await app.post(path, { ...body, email: 'eve@example.com' })
    assert.deepEqual(strip(unknown), strip(known), path)
  }
})

test('a user cannot use another user’s session', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const eve = await app.as('eve')
  const [session] = (await ada.get('/api/users/me/sessions')).body
  assert.equal((await eve.delete(`/api/users/me/sessions/${session.id}`)).status, 404)
  assert.equal((await ada.get('/api/auth/me')).status, 200)
})

test('an email change by an intruder is undone from the old mailbox, with every sign-in method they added', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  await app.post('/api/auth/verify-email', {
    token: tokenIn((await app.mail(ada.email)).at(-1)!.text),
  })
  const eve = createClient(app.url, ada.token, { ...ada })

  app.clock.advance(1_000)
  await eve.post('/api/users/me/change-email', { new_email: 'eve@example.com', password: PASSWORD })
  const undo = tokenIn((await app.mail(ada.email))[0]!.text)
  app.clock.advance(1_000)
  await throughProvider(app, 'google', { email: 'eve-google@example.com' }, eve)
  assert.equal((await eve.get('/api/users/me/oauth')).body.length, 1)
  await eve.post('/api/users/me/change-email', {
    new_email: 'eve2@example.com',
    password: PASSWORD,
  })
  const undoOfEve = tokenIn((await app.mail('eve@example.com'))[0]!.text)

  app.clock.advance(6 * 86_400_000)
  const restored = await app.post('/api/auth/undo-email-change', { token: undo })
  assert.deepEqual([restored.status, restored.body.message], [200, 'Email address restored'])
  assert.equal((await eve.get('/api/auth/me')).status, 401)
  const linked = await throughProvider(app, 'google', { email: 'eve-google@example.com' })
  const other = await app.get('/api/auth/me', {
    headers: { authorization: `Bearer ${linked.target.searchParams.get('access_token')}` },
  })
  assert.notEqual(other.body.id, ada.userId, 'the link of eve is gone')
  for (const token of [undo, undoOfEve]) {
    const again = await app.post('/api/auth/undo-email-change', { token })
    assert.deepEqual([again.status, again.body.detail], [400, 'Invalid or expired undo token'])
  }
  const reset = tokenIn((await app.mail(ada.email))[0]!.text)
  assert.equal(
    (await app.post('/api/auth/reset-password', { token: reset, new_password: 'mine again now' }))
      .status,
    200,
  )
  const login = await app.post('/api/auth/login', { email: ada.email, password: 'mine again now' })
  assert.equal(login.body.user.is_verified, true)
})

test('the link that makes a superuser works once, and a guess does not', async (t) => {
  const app = await testApp(t)
  const link = new URL(app.service.superuserNotice!.link)
  const token = link.searchParams.get('token')!
  const form = (changes: object) =>
    new URLSearchParams({
      token,
      email: 'root@example.com',
      password: 'a good long one',
      ...changes,
    })
  assert.equal((await app.get('/setup?token=guess')).status, 400)
  assert.equal(
    (await app.request('POST', '/setup', { body: form({ token: 'guess' }) })).status,
    400,
  )
  assert.equal(
    (await app.request('POST', '/setup', { body: form({ password: 'password1' }) })).status,
    422,
  )
  const ada = await app.as('ada')
  const stolen = await app.request('POST', '/setup', {
    body: form({ email: ada.email, password: 'not hers' }),
  })
  assert.equal(stolen.status, 401)

  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      app.request('POST', '/setup', { body: form({ email: `root${index}@example.com` }) }),
    ),
  )
  assert.equal(replies.filter((reply) => reply.status === 200).length, 1)
  assert.equal((await app.get(link.pathname + link.search)).status, 400)
  const script = await app.get(`/setup?token=${encodeURIComponent('"><script>alert(1)</script>')}`)
  assert.equal(script.text.includes('<script>'), false)
  assert.match(
    script.headers.get('content-security-policy') ?? '',
    /script-src 'self';.* form-action 'self';/,
  )
})

test('pages load pictures from here and the sign-in providers, and from no other address', async (t) => {
  const app = await testApp(t)
  const policy = (await app.get('/setup?token=guess')).headers.get('content-security-policy') ?? ''
  assert.match(
    policy,
    /(?:^|; )img-src 'self' data: https:\/\/lh3\.googleusercontent\.com https:\/\/avatars\.githubusercontent\.com(?:;|$)/,
  )
  assert.match(policy, /(?:^|; )default-src 'self'(?:;|$)/)
})

function tokenIn(text: string): string {
  const match = /[?&]token=([\w-]+)/.exec(text)
  assert.ok(match, text)
  return match[1]!
}
