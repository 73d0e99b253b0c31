import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { type TestApp, testApp } from '#testing/app.ts'

const REDIRECT = 'http://localhost:1/api/auth/callback/google'

/** Opens an authorization request and chooses an account; returns the redirect. */
async function choose(
  app: TestApp,
  authorization: URL,
  choice: Record<string, string>,
): Promise<URL> {
  const page = await app.get(authorization.pathname + authorization.search)
  assert.equal(page.status, 200)
  assert.match(page.text, /Choose an account/)
  const form = new URLSearchParams(choice)
  for (const [name, value] of authorization.searchParams) form.set(name, value)
  const reply = await app.request('POST', authorization.pathname, { body: form })
  assert.equal(reply.status, 303, reply.text)
  return new URL(reply.headers.get('location') ?? '')
}

async function google(app: TestApp) {
  const config = await client.discovery(
    new URL(`${app.url}/sandbox/oauth/google`),
    'sandbox',
    'sandbox-secret',
    undefined,
    { execute: [client.allowInsecureRequests] },
  )
  const verifier = client.randomPKCECodeVerifier()
  const nonce = client.randomNonce()
  const state = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'openid email profile',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  })
  const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state }
  return { config, url, checks }
}

test('openid-client signs in with Google: discovery, PKCE, nonce, signed id_token, userinfo', async (t) => {
  const app = await testApp(t)
  const { config, url, checks } = await google(app)
  const back = await choose(app, url, {
    email: 'new@example.com',
    name: 'New Person',
    verified: 'yes',
  })
  const tokens = await client.authorizationCodeGrant(config, back, checks)
  const claims = tokens.claims()
  assert.deepEqual(
    [claims?.email, claims?.email_verified, claims?.name],
    ['new@example.com', true, 'New Person'],
  )
  const info = await client.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '')
  assert.equal(info.email, 'new@example.com')
  assert.match((await fetch(info.picture ?? '')).headers.get('content-type') ?? '', /svg/)
  const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ''))
  await jwtVerify(tokens.id_token ?? '', keys, {
    issuer: `${app.url}/sandbox/oauth/google`,
    audience: 'sandbox',
  })
  const jwks = await app.get('/sandbox/oauth/google/jwks')
  assert.equal(jwks.body.keys[0].d, undefined)

  await assert.rejects(client.authorizationCodeGrant(config, back, checks), {
    error: 'invalid_grant',
  })
})

test('Google rejects a wrong verifier, and returns access_denied when the user cancels', async (t) => {
  const app = await testApp(t)
  const { config, url, checks } = await google(app)
  const back = await choose(app, url, { email: 'a@example.com' })
  const wrong = { ...checks, pkceCodeVerifier: client.randomPKCECodeVerifier() }
  await assert.rejects(client.authorizationCodeGrant(config, back, wrong), {
    error: 'invalid_grant',
  })

  const refused = await choose(app, url, { refuse: 'yes' })
  assert.deepEqual(
    [refused.searchParams.get('error'), refused.searchParams.get('state')],
    ['access_denied', checks.expectedState],
  )
})

test('returns that an address is unverified', async (t) => {
  const app = await testApp(t)
  const { config, url, checks } = await google(app)
  const tokens = await client.authorizationCodeGrant(
    config,
    await choose(app, url, { email: 'm@example.com' }),
    checks,
  )
  assert.equal(tokens.claims()?.email_verified, false)
})

test("GitHub's endpoints: code, token in two formats, user, emails", async (t) => {
  const app = await testApp(t)
  const base = '/sandbox/oauth/github'
  const ask = new URL(
    `${app.url}${base}/login/oauth/authorize?client_id=sandbox&redirect_uri=${encodeURIComponent(REDIRECT)}&scope=user:email&state=s`,
  )
  const code = async () =>
    (await choose(app, ask, { email: 'octo@example.com', verified: 'yes' })).searchParams.get(
      'code',
    ) ?? ''
  const exchange = (form: Record<string, string>, accept?: string) =>
    app.request('POST', `${base}/login/oauth/access_token`, {
      body: new URLSearchParams({ client_id: 'sandbox', client_secret: 'x', ...form }),
      headers: accept ? { accept } : {},
    })

  const first = await code()
  const json = await exchange({ code: first }, 'application/json')
  assert.deepEqual(
    [json.status, json.body.token_type, json.body.scope],
    [200, 'bearer', 'user:email'],
  )
  const again = await exchange({ code: first }, 'application/json')
  assert.deepEqual([again.status, again.body.error], [200, 'bad_verification_code'])
  assert.match((await exchange({ code: await code() })).text, /^access_token=gho_/)

  const headers = { authorization: `Bearer ${json.body.access_token}` }
  const user = await app.get(`${base}/user`, { headers })
  assert.deepEqual(
    [user.body.login, typeof user.body.id, user.body.email],
    ['octo', 'number', null],
  )
  const emails = await app.get(`${base}/user/emails`, { headers })
  assert.deepEqual(emails.body[0], {
    email: 'octo@example.com',
    primary: true,
    verified: true,
    visibility: 'private',
  })
  assert.equal((await app.get(`${base}/user`)).status, 401)
})

test('shows an error for a request without a redirect address', async (t) => {
  const app = await testApp(t)
  const page = await app.get(
    '/sandbox/oauth/github/login/oauth/authorize?client_id=x&redirect_uri=javascript:alert(1)',
  )
  assert.equal(page.status, 400)
})
