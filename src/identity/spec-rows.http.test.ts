// SPEC.md's Auth and Users groups, row by row: the name of each check is the row.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addSuperuser } from '#identity/admin/superuser.ts'
import { createClient, PASSWORD, type Reply, type TestApp, testApp } from '#testing/app.ts'
import { chooseAccount, startAtProvider, throughProvider } from '#testing/provider.ts'

const SPEC_ROWS = [
  'POST /api/auth/register',
  'POST /api/auth/login',
  'POST /api/auth/refresh',
  'POST /api/auth/logout',
  'GET /api/auth/me',
  'POST /api/auth/verify-email',
  'POST /api/auth/resend-verification',
  'POST /api/auth/forgot-password',
  'POST /api/auth/verify-reset-token',
  'POST /api/auth/reset-password',
  'GET /api/auth/oauth/{provider}',
  'GET /api/auth/callback/{provider}',
  'GET /api/users/me',
  'PATCH /api/users/me',
  'POST /api/users/me/change-password',
  'POST /api/users/me/change-email',
  'GET /api/users/me/export',
  'DELETE /api/users/me',
] as const

const CHECKS: Record<(typeof SPEC_ROWS)[number], (app: TestApp) => Promise<void>> = {
  async 'POST /api/auth/register'(app) {
    const body = { email: 'Grace@Example.com', password: PASSWORD, full_name: 'Grace' }
    const reply = await app.post('/api/auth/register', body)
    says(reply, 201)
    const { id, created_at, ...rest } = reply.body
    assert.match(id, UUID)
    assert.match(created_at, INSTANT)
    assert.deepEqual(rest, {
      email: 'Grace@Example.com',
      full_name: 'Grace',
      avatar_url: null,
      locale: null,
      is_active: true,
      is_verified: false,
      oauth_provider: null,
      subscription_status: 'free',
      subscription_tier: 'free',
      is_superuser: false,
      has_password: true,
      totp_enabled: false,
      entitlements: ['home', 'library'],
    })
    assert.match((await app.mail('Grace@Example.com'))[0]!.subject, /verify/i)

    says(
      await app.post('/api/auth/register', { ...body, email: 'grace@example.COM' }),
      400,
      'Email already registered',
      'email_taken',
    )
    const weak = [
      ['short', 'seven77'],
      ['long', 'x'.repeat(129)],
      ['common', 'Password123'],
      ['the email', 'weak@Example.com'],
      ['the name of the product', 'Latchkey2026!'],
    ] as const
    for (const [why, password] of weak) {
      const refused = await app.post('/api/auth/register', { email: 'weak@example.com', password })
      assert.equal(refused.status, 422, why)
      assert.deepEqual(refused.body.detail[0].loc, ['body', 'password'], why)
    }
    const bad = await app.post('/api/auth/register', { email: 'no address', password: PASSWORD })
    assert.deepEqual([bad.status, bad.body.detail[0].loc], [422, ['body', 'email']])
    const missing = await app.post('/api/auth/register', { email: 'x@example.com' })
    assert.deepEqual([missing.status, missing.body.detail[0].loc], [422, ['body', 'password']])
  },

  async 'POST /api/auth/login'(app) {
    const ada = await app.as('ada')
    const reply = await app.post('/api/auth/login', {
      email: 'ADA@example.com',
      password: PASSWORD,
    })
    says(reply, 200)
    assert.equal(reply.body.token_type, 'bearer')
    assert.deepEqual(Object.keys(reply.body.user).sort(), [
      'created_at',
      'email',
      'full_name',
      'id',
      'is_verified',
      'subscription_status',
      'subscription_tier',
    ])
    assert.equal(reply.body.user.id, ada.userId)

    const wrong = await app.post('/api/auth/login', {
      email: ada.email,
      password: 'wrong password',
    })
    const unknown = await app.post('/api/auth/login', {
      email: 'nobody@example.com',
      password: 'wrong password',
    })
    says(wrong, 401, 'Incorrect email or password', 'credentials_wrong')
    assert.deepEqual([unknown.status, unknown.text], [wrong.status, wrong.text])

    const root = await superuser(app)
    const idle = await app.as('idle')
    await app.service.identity.changeUser(root.userId, idle.userId, { is_active: false })
    says(
      await app.post('/api/auth/login', { email: idle.email, password: PASSWORD }),
      403,
      'Inactive account',
      'inactive_account',
    )
    says(await idle.get('/api/auth/me'), 401, 'Could not validate credentials', 'unauthenticated')
  },

  async 'POST /api/auth/refresh'(app) {
    const ada = await freshSignIn(app, 'ada')
    const first = await app.post('/api/auth/refresh', { refresh_token: ada.refresh_token })
    says(first, 200)
    assert.equal(first.body.user, null)
    assert.notEqual(first.body.refresh_token, ada.refresh_token)
    says(
      await app.post('/api/auth/refresh', { refresh_token: ada.access_token }),
      401,
      'Invalid refresh token',
      'refresh_token_invalid',
    )
    says(
      await app.post('/api/auth/refresh', { refresh_token: 'nonsense' }),
      401,
      'Invalid refresh token',
      'refresh_token_invalid',
    )
    says(
      await app.get('/api/auth/me', bearer(ada.refresh_token)),
      401,
      'Could not validate credentials',
      'unauthenticated',
    )
    assert.equal((await app.get('/api/auth/me', bearer(first.body.access_token))).status, 200)
  },

  async 'POST /api/auth/logout'(app) {
    const ada = await app.as('ada')
    const reply = await app.post('/api/auth/logout')
    assert.deepEqual([reply.status, reply.body], [200, { message: 'Successfully logged out' }])
    assert.equal((await ada.post('/api/auth/logout')).status, 200)
    assert.equal((await ada.get('/api/auth/me')).status, 200, 'tokens are not invalidated')
  },

  async 'GET /api/auth/me'(app) {
    const ada = await app.as('ada')
    assert.equal((await ada.get('/api/auth/me')).body.email, ada.email)
    const refused = await app.get('/api/auth/me')
    says(refused, 401, 'Could not validate credentials', 'unauthenticated')
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer')
  },

  async 'POST /api/auth/verify-email'(app) {
    const email = 'vera@example.com'
    await app.post('/api/auth/register', { email, password: PASSWORD })
    const mail = (await app.mail(email))[0]!
    const token = linkToken(mail.links, '/verify-email?token=')
    assert.ok(
      mail.links.some((link) => link.startsWith(`${app.config.urls.frontend}/verify-email?token=`)),
    )
    says(
      await app.post('/api/auth/verify-email', { token: 'wrong' }),
      400,
      'Invalid or expired verification token',
      'verification_token_invalid',
    )
    assert.equal(await isVerified(app, email), false)
    says(await app.post('/api/auth/verify-email', { token }), 200, 'Email verified successfully')
    assert.equal(await isVerified(app, email), true)
    says(await app.post('/api/auth/verify-email', { token }), 200, 'Email already verified')
  },

  async 'POST /api/auth/resend-verification'(app) {
    const email = 'rosa@example.com'
    await app.post('/api/auth/register', { email, password: PASSWORD })
    const old = linkToken((await app.mail(email))[0]!.links, '/verify-email?token=')
    const sent = 'If your email is registered, a verification link has been sent'
    says(await app.post('/api/auth/resend-verification', { email }), 200, sent)
    says(
      await app.post('/api/auth/resend-verification', { email: 'nobody@example.com' }),
      200,
      sent,
    )
    says(await app.post('/api/auth/resend-verification', { email: 'no address' }), 200, sent)
    const mails = await app.mail(email)
    assert.equal(mails.length, 2)
    assert.equal((await app.mail('nobody@example.com')).length, 0)

    says(
      await app.post('/api/auth/verify-email', { token: old }),
      400,
      'Invalid or expired verification token',
      'verification_token_invalid',
    )
    app.clock.advance(25 * HOUR)
    const late = linkToken(mails[0]!.links, '/verify-email?token=')
    says(
      await app.post('/api/auth/verify-email', { token: late }),
      400,
      'Invalid or expired verification token',
      'verification_token_invalid',
    )
    await app.post('/api/auth/resend-verification', { email })
    const token = linkToken((await app.mail(email))[0]!.links, '/verify-email?token=')
    says(await app.post('/api/auth/verify-email', { token }), 200, 'Email verified successfully')
    await app.post('/api/auth/resend-verification', { email })
    assert.equal((await app.mail(email)).length, 3, 'a verified address gets no more emails')
  },

  async 'POST /api/auth/forgot-password'(app) {
    const email = 'fred@example.com'
    await app.post('/api/auth/register', { email, password: PASSWORD })
    const sent = 'If your email is registered, a password reset link has been sent'
    says(await app.post('/api/auth/forgot-password', { email }), 200, sent)
    says(await app.post('/api/auth/forgot-password', { email: 'nobody@example.com' }), 200, sent)
    const mail = (await app.mail(email))[0]!
    assert.match(mail.subject, /password/i)
    assert.ok(
      mail.links.some((link) =>
        link.startsWith(`${app.config.urls.frontend}/reset-password?token=`),
      ),
    )

    for (let time = 0; time < 8; time++) await app.post('/api/auth/forgot-password', { email })
    const resets = (await app.mail(email)).filter(({ subject }) => /reset/i.test(subject))
    assert.equal(resets.length, 5, 'nobody can flood a mailbox')
  },

  async 'POST /api/auth/verify-reset-token'(app) {
    const token = await resetToken(app, 'rita')
    const good = await app.post('/api/auth/verify-reset-token', { token })
    assert.deepEqual([good.status, good.body], [200, { valid: true }])
    assert.equal(
      (await app.post('/api/auth/verify-reset-token', { token })).status,
      200,
      'looking does not spend',
    )
    says(
      await app.post('/api/auth/verify-reset-token', { token: 'x' }),
      400,
      'Invalid or expired reset token',
      'reset_token_invalid',
    )
    app.clock.advance(61 * MINUTE)
    says(
      await app.post('/api/auth/verify-reset-token', { token }),
      400,
      'Invalid or expired reset token',
      'reset_token_invalid',
    )
  },

  async 'POST /api/auth/reset-password'(app) {
    const before = await freshSignIn(app, 'rolf')
    const voided = await resetToken(app, 'rolf')
    const token = await resetToken(app, 'rolf')
    const reset = (body: object) => app.post('/api/auth/reset-password', body)
    says(
      await reset({ token: voided, new_password: 'a new long one' }),
      400,
      'Invalid or expired reset token',
      'reset_token_invalid',
    )
    const weak = await reset({ token, new_password: 'password1' })
    assert.deepEqual([weak.status, weak.body.detail[0].loc], [422, ['body', 'new_password']])
    says(await reset({ token, new_password: 'a new long one' }), 200, 'Password reset successfully')
    says(
      await reset({ token, new_password: 'a new long two' }),
      400,
      'Invalid or expired reset token',
      'reset_token_invalid',
    )

    says(
      await app.get('/api/auth/me', bearer(before.access_token)),
      401,
      'Could not validate credentials',
      'unauthenticated',
    )
    says(
      await app.post('/api/auth/refresh', { refresh_token: before.refresh_token }),
      401,
      'Invalid refresh token',
      'refresh_token_invalid',
    )
    const email = 'rolf@example.com'
    assert.equal((await app.post('/api/auth/login', { email, password: PASSWORD })).status, 401)
    assert.equal(
      (await app.post('/api/auth/login', { email, password: 'a new long one' })).status,
      200,
    )
  },

  async 'GET /api/auth/oauth/{provider}'(app) {
    for (const [name, provider] of [
      ['google', 'google'],
      ['github', 'github'],
      ['oauth_vendor_1', 'google'],
      ['oauth_vendor_2', 'github'],
    ]) {
      const { authorization, state } = await startAtProvider(app, name!)
      assert.equal(authorization.searchParams.get('state'), state)
      assert.equal(authorization.searchParams.get('code_challenge_method'), 'S256')
      assert.equal(
        authorization.searchParams.get('redirect_uri'),
        `${app.config.urls.base}/api/auth/callback/${provider}`,
      )
      assert.equal(authorization.searchParams.has('nonce'), provider === 'google')
    }
    assert.equal((await app.get('/api/auth/oauth/myspace')).status, 404)
    assert.equal((await app.get('/api/auth/oauth/constructor')).status, 404)
  },

  async 'GET /api/auth/callback/{provider}'(app) {
    for (const provider of ['google', 'github']) {
      const email = `olga-${provider}@example.com`
      const { reply, target } = await throughProvider(app, provider, { email, name: 'Olga' })
      assert.equal(reply.status, 302)
      assert.equal(target.origin + target.pathname, `${app.config.urls.frontend}/auth/callback`)
      const me = await app.get('/api/auth/me', bearer(target.searchParams.get('access_token')!))
      assert.deepEqual(
        [
          me.body.email,
          me.body.full_name,
          me.body.oauth_provider,
          me.body.is_verified,
          me.body.has_password,
        ],
        [email, 'Olga', provider, true, false],
      )
      const refresh_token = target.searchParams.get('refresh_token')
      assert.equal((await app.post('/api/auth/refresh', { refresh_token })).status, 200)
      const again = await throughProvider(app, provider, { email })
      const same = await app.get(
        '/api/auth/me',
        bearer(again.target.searchParams.get('access_token')!),
      )
      assert.equal(same.body.id, me.body.id)
    }
    const refused = await throughProvider(app, 'google', { email: 'no@example.com', refuse: true })
    assert.equal(refused.target.href, `${app.config.urls.frontend}/login?error=access_denied`)
    const unproven = await throughProvider(app, 'github', {
      email: 'maybe@example.com',
      verified: false,
    })
    assert.equal(unproven.target.href, `${app.config.urls.frontend}/login?error=email_not_verified`)
    const walk = await startAtProvider(app, 'google')
    const back = await chooseAccount(app, walk, { email: 'cross@example.com' })
    const stranger = await app.get(back.pathname + back.search)
    assert.equal(
      stranger.headers.get('location'),
      `${app.config.urls.frontend}/login?error=invalid_state`,
    )
  },

  async 'GET /api/users/me'(app) {
    const ada = await app.as('ada')
    assert.deepEqual((await ada.get('/api/users/me')).body, (await ada.get('/api/auth/me')).body)
    says(await app.get('/api/users/me'), 401, 'Could not validate credentials', 'unauthenticated')
  },

  async 'PATCH /api/users/me'(app) {
    const pat = await app.as('pat')
    const avatar_url = 'https://example.com/pat.png'
    const named = await pat.patch('/api/users/me', { full_name: 'Pat P.' })
    assert.deepEqual(
      [named.status, named.body.full_name, named.body.avatar_url],
      [200, 'Pat P.', null],
    )
    const both = await pat.patch('/api/users/me', { avatar_url })
    assert.deepEqual([both.body.full_name, both.body.avatar_url], ['Pat P.', avatar_url])
    assert.equal((await pat.patch('/api/users/me', { full_name: null })).body.full_name, null)
    assert.equal((await pat.patch('/api/users/me', {})).body.avatar_url, avatar_url)
    for (const [field, value] of [
      ['avatar_url', 'javascript:alert(1)'],
      ['full_name', 'two\nlines'],
      ['full_name', 7],
    ] as const) {
      const refused = await pat.patch('/api/users/me', { [field]: value })
      assert.deepEqual([refused.status, refused.body.detail[0].loc], [422, ['body', field]])
    }
    const ignored = await pat.patch('/api/users/me', {
      is_superuser: true,
      subscription_tier: 'pro',
      email: 'x@y.zz',
    })
    assert.deepEqual(
      [ignored.body.is_superuser, ignored.body.subscription_tier, ignored.body.email],
      [false, 'free', pat.email],
    )
  },

  async 'POST /api/users/me/change-password'(app) {
    const carl = await app.as('carl')
    const other = await freshSignIn(app, 'carl')
    const change = (body: object) => carl.post('/api/users/me/change-password', body)
    const wrong = await change({ current_password: 'wrong', new_password: 'a new long one' })
    says(wrong, 400, 'Incorrect current password', 'current_password_wrong')
    const weak = await change({ current_password: PASSWORD, new_password: 'Carl@example.com' })
    assert.deepEqual([weak.status, weak.body.detail[0].loc], [422, ['body', 'new_password']])
    const done = await change({ current_password: PASSWORD, new_password: 'a new long one' })
    says(done, 200, 'Password changed successfully')
    assert.equal((await carl.get('/api/auth/me')).status, 200, 'the session that asked stays')
    assert.equal((await app.get('/api/auth/me', bearer(other.access_token))).status, 401)
    assert.match((await app.mail(carl.email))[0]!.subject, /password was changed/i)

    const olga = await viaProvider(app, 'nopass@example.com')
    const none = await olga.post('/api/users/me/change-password', {
      current_password: 'x',
      new_password: 'a new long one',
    })
    says(none, 400, 'No password set for this account', 'password_not_set')
  },

  async 'POST /api/users/me/change-email'(app) {
    const emma = await app.as('emma')
    await app.as('taken')
    const change = (body: object) => emma.post('/api/users/me/change-email', body)
    says(
      await change({ new_email: 'emma2@example.com' }),
      400,
      'Incorrect password',
      'password_wrong',
    )
    says(
      await change({ new_email: 'emma2@example.com', password: 'wrong' }),
      400,
      'Incorrect password',
      'password_wrong',
    )
    says(
      await change({ new_email: 'Taken@example.com', password: PASSWORD }),
      400,
      'Email already in use',
      'email_in_use',
    )
    assert.equal((await change({ new_email: 'no address', password: PASSWORD })).status, 422)
    const done = await change({ new_email: 'Emma2@example.com', password: PASSWORD })
    says(done, 200, 'Verification email sent to your new address')

    const me = await emma.get('/api/auth/me')
    assert.deepEqual([me.body.email, me.body.is_verified], ['Emma2@example.com', false])
    const token = linkToken((await app.mail('Emma2@example.com'))[0]!.links, '/verify-email?token=')
    says(await app.post('/api/auth/verify-email', { token }), 200, 'Email verified successfully')
    assert.ok(
      (await app.mail(emma.email)).some((mail) => /undo-email-change\?token=/.test(mail.text)),
    )

    const olga = await viaProvider(app, 'olga-mail@example.com')
    says(
      await olga.post('/api/users/me/change-email', { new_email: 'olga-new@example.com' }),
      200,
      'Verification email sent to your new address',
    )
  },

  async 'GET /api/users/me/export'(app) {
    const xena = await app.as('xena')
    const reply = await xena.get('/api/users/me/export')
    says(reply, 200)
    assert.match(
      reply.headers.get('content-disposition') ?? '',
      /^attachment; filename=".+\.json"$/,
    )
    assert.deepEqual(Object.keys(reply.body).sort(), [
      'avatar_url',
      'created_at',
      'email',
      'exported_at',
      'full_name',
      'id',
      'is_verified',
      'last_login_at',
      'locale',
      'oauth_provider',
      'subscription_status',
      'subscription_tier',
      'updated_at',
    ])
    const full = await xena.get('/api/users/me/export?full=true')
    assert.equal(full.headers.get('content-type'), 'application/zip')
  },

  async 'DELETE /api/users/me'(app) {
    const dora = await app.as('dora')
    says(await dora.delete('/api/users/me'), 400, 'Incorrect password', 'password_wrong')
    says(
      await dora.delete('/api/users/me', { confirm: 'DELETE' }),
      400,
      'Incorrect password',
      'password_wrong',
    )
    says(
      await dora.delete('/api/users/me', { password: 'wrong' }),
      400,
      'Incorrect password',
      'password_wrong',
    )
    says(
      await dora.delete('/api/users/me', { password: PASSWORD }),
      200,
      'User deleted successfully',
    )
    says(await dora.get('/api/auth/me'), 401, 'Could not validate credentials', 'unauthenticated')
    says(
      await app.post('/api/auth/login', { email: dora.email, password: PASSWORD }),
      401,
      'Incorrect email or password',
      'credentials_wrong',
    )
    assert.equal(
      (await app.post('/api/auth/register', { email: dora.email, password: PASSWORD })).status,
      201,
    )

    const olga = await viaProvider(app, 'olga-gone@example.com')
    says(
      await olga.delete('/api/users/me', {}),
      400,
      'Type DELETE to confirm',
      'confirmation_missing',
    )
    says(
      await olga.delete('/api/users/me', { confirm: 'delete' }),
      400,
      'Type DELETE to confirm',
      'confirmation_missing',
    )
    says(
      await olga.delete('/api/users/me', { confirm: 'DELETE' }),
      200,
      'User deleted successfully',
    )
  },
}

test('every row of the Auth and Users groups', async (t) => {
  const app = await testApp(t)
  for (const row of SPEC_ROWS) await t.test(row, () => CHECKS[row](app))
})

test('a provider that is not configured returns an error with the reason', async (t) => {
  const app = await testApp(t, { env: { SANDBOX: 'off' } })
  says(
    await app.get('/api/auth/oauth/github'),
    400,
    "OAuth provider 'github' is not configured",
    'oauth_provider_not_configured',
  )
})

test('a reset sets the first password of an account without one', async (t) => {
  const app = await testApp(t)
  const olga = await viaProvider(app, 'olga@example.com')
  await app.post('/api/auth/forgot-password', { email: 'olga@example.com' })
  const token = linkToken((await app.mail('olga@example.com'))[0]!.links, '/reset-password?token=')
  says(
    await app.post('/api/auth/reset-password', { token, new_password: PASSWORD }),
    200,
    'Password reset successfully',
  )
  const login = await app.post('/api/auth/login', { email: 'olga@example.com', password: PASSWORD })
  const me = await app.get('/api/auth/me', bearer(login.body.access_token))
  assert.deepEqual(
    [me.body.id, me.body.oauth_provider, me.body.has_password],
    [olga.userId, null, true],
  )
})

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function says(reply: Reply, status: number, text?: string, code?: string) {
  assert.equal(reply.status, status, reply.text)
  if (text !== undefined)
    assert.deepEqual(reply.body, status < 400 ? { message: text } : { detail: text, code })
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

function linkToken(links: string[], path: string): string {
  const link = links.find((candidate) => candidate.includes(path))
  assert.ok(link, `no link with ${path} in ${links}`)
  return new URL(link).searchParams.get('token') ?? ''
}

async function freshSignIn(app: TestApp, name: string) {
  const { email } = await app.as(name)
  const reply = await app.post('/api/auth/login', { email, password: PASSWORD })
  return reply.body as { access_token: string; refresh_token: string }
}

async function resetToken(app: TestApp, name: string): Promise<string> {
  const { email } = await app.as(name)
  await app.post('/api/auth/forgot-password', { email })
  return linkToken((await app.mail(email))[0]!.links, '/reset-password?token=')
}

async function isVerified(app: TestApp, email: string): Promise<boolean> {
  const login = await app.post('/api/auth/login', { email, password: PASSWORD })
  return login.body.user.is_verified
}

async function viaProvider(app: TestApp, email: string) {
  const { target } = await throughProvider(app, 'google', { email })
  const token = target.searchParams.get('access_token')!
  const { body } = await app.get('/api/auth/me', bearer(token))
  return createClient(app.url, token, {
    email,
    userId: body.id,
    refreshToken: target.searchParams.get('refresh_token')!,
  })
}

async function superuser(app: TestApp) {
  const root = await app.as('root')
  await addSuperuser(app.platform, root.email, { allowUnverified: true })
  return root
}
