// Accounts in a browser: provider, second factor, passkey, lost password.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { Browser, Page } from 'playwright-core'
import { PASSWORD as APP_PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

const PASSWORD = 'seven blue lanterns'
const EMAIL = 'keeper@example.com'

test('a user signs in with a provider, a second factor and a passkey, and resets a lost password', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const home = app.config.urls.base
  const browser = await openBrowser(t)
  const { page, context, errors } = await visit(browser)
  let secret = ''

  await t.test("signs in with the sandbox's Google", async () => {
    const google = await signInWithGoogleAccount(browser, home, 'gwen@example.com')
    await google.page.goto(`${home}/account`)
    await google.page.getByText('gwen@example.com').first().waitFor()
    assert.equal(new URL(google.page.url()).search, '', 'no token stays in the address')
    assert.deepEqual(google.errors, [])
    await google.context.close()
  })

  await t.test('signs up and verifies', async () => {
    await page.goto(`${home}/register`)
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: /create|sign up/i }).click()
    await page.waitForURL(/home|login|verify/)
    await page.goto(await findMailedLink(app, '/verify-email'))
    await page
      .getByText(/verified/i)
      .first()
      .waitFor()
    const { db } = app.platform
    const row = await db
      .selectFrom('users')
      .select(['is_verified', 'verified_apart_at'])
      .where('email', '=', EMAIL)
      .executeTakeFirstOrThrow()
    assert.deepEqual(
      row,
      { is_verified: true, verified_apart_at: null },
      'the page shows whose session follows the link',
    )
  })

  await t.test('turns two-factor on with the code of an app', async () => {
    await page.goto(`${home}/account?tab=security`)
    await page.getByRole('button', { name: 'Set up two-factor' }).click()
    await page.getByAltText('QR code for your authenticator app').waitFor()
    secret = (await page.locator('code.mono').first().textContent()) ?? ''
    await page.getByLabel('Enter the code it shows').fill(generateCode(app, secret))
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByLabel('I’ve saved these codes').check()
    await page.getByRole('dialog').getByRole('button').last().click()
    await page.getByRole('button', { name: 'Turn off' }).waitFor()
  })

  await t.test('adds a passkey and signs in with it alone', async () => {
    await addAuthenticator(page)
    await page.getByRole('button', { name: /add .*passkey|make .*passkey/i }).click()
    await page.getByText('Passkey added').waitFor()
    await forgetSession(page)
    await page.goto(`${home}/login`)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL('**/home')
  })

  await t.test('signs in to the shop with the passkey in one click', async () => {
    await forgetSession(page)
    await page.goto(`${app.config.urls.storefront}/login?redirect=/contact`)
    await page.getByRole('link', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(`${app.config.urls.storefront}/contact`)
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.goto(`${home}/home`)
  })

  await t.test('recovers a lost password, and signs in with it and a code', async () => {
    await forgetSession(page)
    await page.goto(`${home}/forgot-password`)
    await page.getByLabel('Email').fill(EMAIL)
    await page.locator('button[type=submit]').click()
    await page.getByText('If your email is registered').waitFor()
    await page.goto(await findMailedLink(app, '/reset-password'))
    await page.getByLabel('New password').fill('eight green lanterns')
    await page.locator('button[type=submit]').click()
    await page.getByText('Your new password is set').waitFor()
    await page.getByRole('link', { name: 'Sign in' }).first().click()

    app.clock.advance(60_000)
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill('eight green lanterns')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByLabel('Code').fill(generateCode(app, secret))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/home')
  })

  assert.deepEqual(errors, [])
  await context.close()
})

test('a sensitive request asks to sign in again and continues; signing out ends the session', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const home = app.config.urls.base
  const browser = await openBrowser(t)
  const { page, context, errors } = await visit(browser)
  const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' })
  const refreshToken = () => readRefreshToken(page)

  await t.test('a download waits for the password', async () => {
    await page.goto(`${home}/register`)
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: /create|sign up/i }).click()
    await page.waitForURL(/home/)
    const before = await refreshToken()
    await page.goto(`${home}/account?tab=data`)
    app.clock.advance(11 * 60_000)
    await page.getByRole('button', { name: 'Everything' }).click()
    await dialog.waitFor()
    await assertAccessible(page, 'the dialog that asks to sign in again')
    await dialog.getByLabel('Your password').fill('not this one')
    await dialog.getByRole('button', { name: 'Sign in again' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Your password').fill(PASSWORD)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Sign in again' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'account-export.zip')
    await dialog.waitFor({ state: 'hidden' })
    assert.notEqual(await refreshToken(), before)
    await page.goto(`${home}/account?tab=sessions`)
    await page.getByText('This device').waitFor()
    assert.equal(
      await page.getByRole('button', { name: /^End the session/ }).count(),
      0,
      'the earlier session has ended',
    )
  })

  await t.test('cancelling the dialog changes nothing', async () => {
    app.clock.advance(11 * 60_000)
    await page.goto(`${home}/account?tab=security`)
    await page.getByRole('button', { name: 'Set up two-factor' }).click()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Nothing was changed').waitFor()
  })

  await t.test('signing out ends the session at the service', async () => {
    const token = await refreshToken()
    await signOutByMenu(page)
    await page.waitForURL(`${home}/`)
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
    assert.equal(await refreshToken(), null)
    const refreshed = await app.post('/api/auth/refresh', { refresh_token: token })
    assert.equal(refreshed.status, 401)
  })

  await t.test('an offline sign-out deletes the session here', async () => {
    await page.goto(`${home}/login`)
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL('**/home')
    await page.getByRole('button', { name: /^Account of/ }).waitFor()
    await page.route('**/api/**', (route) => route.abort())
    await signOutByMenu(page)
    await page.waitForURL(`${home}/`)
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
    assert.equal(await refreshToken(), null)
  })

  assert.deepEqual(errors, [])
  await context.close()
})

test('tokens in an address work only in the tab that started the sign-in', async (t) => {
  const app = await testApp(t, { userApp: true })
  const home = app.config.urls.base
  const browser = await openBrowser(t)
  await app.as('eve')
  const ada = await app.as('ada')

  /** Opens a link with a session of Eve; returns the status of that session's next refresh. */
  async function openEvesLink(page: Page): Promise<number> {
    const { body: pair } = await app.post('/api/auth/login', {
      email: 'eve@example.com',
      password: APP_PASSWORD,
    })
    const turnedAway = page.waitForResponse((response) => response.request().method() === 'DELETE')
    await page.goto(`${home}/auth/callback?${new URLSearchParams(pair)}`)
    await turnedAway
    return (await app.post('/api/auth/refresh', { refresh_token: pair.refresh_token })).status
  }

  await t.test('an attacker’s link signs nobody in, and its session ends', async () => {
    const { page, context, errors } = await visit(browser)
    assert.equal(await openEvesLink(page), 401)
    await page.getByText('This sign-in was started in another window or has expired.').waitFor()
    assert.equal(new URL(page.url()).search, '?error=invalid_state')
    assert.equal(await readRefreshToken(page), null)
    assert.deepEqual(errors, [])
    await context.close()
  })

  await t.test('a signed-in user stays signed in and sees the error', async () => {
    const { page, context, errors } = await visit(browser)
    await signInByForm(page, home, ada.email)
    const before = await readRefreshToken(page)
    assert.equal(await openEvesLink(page), 401)
    await page.getByRole('alert').getByText('This sign-in was started in another window').waitFor()
    await assertAccessible(page, 'a sign-in that was refused')
    await page.setViewportSize({ width: 320, height: 640 })
    assert.equal(
      await page.evaluate('document.documentElement.scrollWidth'),
      320,
      'it fits the narrowest window',
    )
    await page.setViewportSize({ width: 1280, height: 900 })
    assert.equal(await readRefreshToken(page), before)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/home')
    await page.getByRole('button', { name: /^Account of/ }).waitFor()
    await page.goto(`${home}/auth/callback`)
    await page.waitForURL('**/home')
    assert.deepEqual(errors, [])
    await context.close()
  })

  await t.test('a password works without browser storage', async () => {
    const { page, context, errors } = await visit(browser)
    await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(window, name, { get() { throw new DOMException('closed', 'SecurityError') } })
    }`)
    await page.goto(`${home}/login?redirect=/account`)
    await page.getByLabel('Email').fill(ada.email)
    await page.getByLabel('Password', { exact: true }).fill(APP_PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL('**/account')
    assert.deepEqual(errors, [])
    await context.close()
  })

  await t.test('an unexpected challenge is not shown', async () => {
    const { page, context } = await visit(browser)
    await page.goto(`${home}/login?challenge=of-eves`)
    await page.getByText('This sign-in was started in another window or has expired.').waitFor()
    assert.equal(await page.getByLabel('Code').count(), 0)
    await signInByForm(page, home, ada.email)
    await page.goto(`${home}/login?challenge=of-eves`)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/home')
    await context.close()
  })

  await t.test('a completed sign-in is no longer pending', async () => {
    const { page, context } = await signInWithGoogleAccount(browser, home, 'greta@example.com')
    const before = await readRefreshToken(page)
    assert.equal(await openEvesLink(page), 401)
    await page.getByRole('button', { name: 'Continue' }).waitFor()
    assert.equal(await readRefreshToken(page), before)
    await context.close()
  })
})

test('a confirmation by a provider counts only for the same account', async (t) => {
  const app = await testApp(t, { userApp: true })
  const home = app.config.urls.base
  const browser = await openBrowser(t)
  const { page, context, errors } = await signInWithGoogleAccount(browser, home, 'gwen@example.com')
  const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' })

  /** Stops at the provider's page; returns the earlier refresh token. */
  async function askForEverything(): Promise<string | null> {
    app.clock.advance(11 * 60_000)
    await page.goto(`${home}/account?tab=data`)
    await page.getByRole('button', { name: 'Everything' }).click()
    await dialog.getByRole('button', { name: 'Google' }).waitFor()
    const before = await readRefreshToken(page)
    await dialog.getByRole('button', { name: 'Google' }).click()
    await page.waitForURL('**/sandbox/oauth/google/**')
    return before
  }
  async function staysAsBefore(before: string | null, words: string): Promise<void> {
    await page.getByRole('alert').getByText(words).waitFor()
    assert.equal(await readRefreshToken(page), before)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/account?tab=data')
    await page.getByRole('button', { name: /^Account of/ }).waitFor()
  }
  async function downloadsEverything(): Promise<void> {
    await page.waitForURL('**/account?tab=data')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Everything' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'account-export.zip')
  }

  await t.test(
    'another account is rejected, its session ends, and the first one stays',
    async () => {
      const before = await askForEverything()
      const turnedAway = page.waitForResponse(
        (response) => response.request().method() === 'DELETE',
      )
      await chooseAtGoogle(page, 'other@example.com')
      assert.equal((await turnedAway).status(), 200)
      await staysAsBefore(before, 'You signed in to another account.')
      assert.deepEqual(await findOpenSessions(app, 'other@example.com'), [])
    },
  )

  await t.test('a cancelled sign-in keeps the session', async () => {
    const before = await askForEverything()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await staysAsBefore(before, 'You cancelled the sign-in')
  })

  await t.test('the same account replaces the earlier session', async () => {
    await askForEverything()
    await page.getByRole('button', { name: /gwen@example\.com/ }).click()
    await downloadsEverything()
    assert.equal((await findOpenSessions(app, 'gwen@example.com')).length, 1)
  })

  await t.test('a sign-out in another tab turns the confirmation into a sign-in', async () => {
    await askForEverything()
    const other = await context.newPage()
    await other.goto(`${home}/dashboard`)
    await signOutByMenu(other)
    await other.getByRole('link', { name: 'Sign in' }).first().waitFor()
    assert.equal(await readRefreshToken(other), null)
    await other.close()
    await page.getByRole('button', { name: /gwen@example\.com/ }).click()
    await downloadsEverything()
    assert.equal((await findOpenSessions(app, 'gwen@example.com')).length, 1)
  })

  await t.test('the same holds with a second factor', async () => {
    await page.goto(`${home}/account?tab=security`)
    await page.getByRole('button', { name: 'Set up two-factor' }).click()
    await page.getByAltText('QR code for your authenticator app').waitFor()
    const secret = (await page.locator('code.mono').first().textContent()) ?? ''
    await page.getByLabel('Enter the code it shows').fill(generateCode(app, secret))
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByLabel('I’ve saved these codes').check()
    await page.getByRole('dialog').getByRole('button').last().click()

    await askForEverything()
    await page.getByRole('button', { name: /gwen@example\.com/ }).click()
    await page.getByLabel('Code').fill(generateCode(app, secret))
    await page.getByRole('button', { name: 'Continue' }).click()
    await downloadsEverything()
    assert.equal((await findOpenSessions(app, 'gwen@example.com')).length, 1)

    app.clock.advance(60_000)
    await forgetSession(page)
    await openGoogle(page, home)
    await page.getByRole('button', { name: /gwen@example\.com/ }).click()
    await page.getByLabel('Code').fill(generateCode(app, secret))
    await page.reload()
    await page.getByLabel('Code').fill(generateCode(app, secret))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/home')
  })

  assert.deepEqual(errors, [])
  await context.close()
})

test('a user without a password signs in to the shop with Google and returns to their page', async (t) => {
  const app = await testApp(t, { userApp: true })
  const shop = app.config.urls.storefront
  const { page, errors } = await visit(await openBrowser(t))
  await page.goto(`${shop}/login?redirect=/contact`)
  await assertAccessible(page, 'the sign-in page of the shop')
  await page.getByRole('link', { name: 'Sign in with Google' }).click()
  await page.waitForURL('**/sandbox/oauth/google/**')
  await page.goBack()
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
  assert.doesNotMatch(page.url(), /google/, 'Back does not start the sign-in again')
  await page.goForward()
  await chooseAtGoogle(page, 'olga@example.com')
  await page.waitForURL(`${shop}/contact`)
  await page.getByRole('button', { name: 'Sign out' }).click()

  // A user who is signed in to the app sees the account's address and continues with one click.
  await page.goto(`${shop}/login?redirect=/contact`)
  await page.getByRole('link', { name: 'Sign in with GitHub' }).click()
  await page.getByText('You are signed in as olga@example.com.').waitFor()
  await assertAccessible(page, 'on the way to the shop')
  await page.getByRole('button', { name: 'Continue to the shop' }).click()
  await page.waitForURL(`${shop}/contact`)
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  assert.deepEqual(errors, [])
})

test('after failed sign-ins of others both apps solve the proof of work without a click', async (t) => {
  const app = await testApp(t, {
    userApp: true,
    env: { RATE_LIMIT_AUTH: '10/60', TRUST_PROXY: '1' },
  })
  const body = { email: 'owner@example.com', password: APP_PASSWORD }
  await app.post('/api/auth/register', body)
  const guess = (index: number) =>
    app.post(
      '/api/auth/login',
      { ...body, password: 'a guess' },
      { headers: { 'x-forwarded-for': `10.4.${index}.1` } },
    )
  await Promise.all(Array.from({ length: 30 }, (_, index) => guess(index)))
  assert.equal((await guess(31)).body.code, 'proof_required')

  const browser = await openBrowser(t)
  const { page } = await visit(browser)
  await page.goto(`${app.storefrontUrl}/login?redirect=/contact`)
  await page.getByLabel('Email').fill(body.email)
  await page.getByLabel('Password').fill('not this one')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Incorrect email or password').waitFor()
  await page.getByLabel('Password').fill(APP_PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${app.storefrontUrl}/contact`)
  await page.getByRole('button', { name: 'Sign out' }).waitFor()

  // The first network is known by now, so use another.
  const away = await visit(browser, { extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.7' } })
  await signInByForm(away.page, app.config.urls.base, body.email, APP_PASSWORD)
  const { details } = await app.platform.db
    .selectFrom('audit_log')
    .select('details')
    .where('action', '=', 'sign-in')
    .orderBy('at', 'desc')
    .executeTakeFirstOrThrow()
  assert.equal(JSON.parse(details ?? '').address, '203.0.113.7')
})

async function signInWithGoogleAccount(browser: Browser, home: string, email: string) {
  const visitor = await visit(browser)
  await openGoogle(visitor.page, home)
  await chooseAtGoogle(visitor.page, email)
  await visitor.page.waitForURL('**/home')
  return visitor
}

async function openGoogle(page: Page, home: string): Promise<void> {
  await page.goto(`${home}/login`)
  await page.getByRole('button', { name: 'Google' }).click()
  await page.waitForURL('**/sandbox/oauth/google/**')
}

async function chooseAtGoogle(page: Page, email: string): Promise<void> {
  await page.getByText('Use another account').click()
  await page.getByLabel('Email').fill(email)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

function readRefreshToken(page: Page): Promise<string | null> {
  return page.evaluate('localStorage.getItem("latchkey.refresh")')
}

/** Returns the open sessions of an account. */
function findOpenSessions(app: TestApp, email: string) {
  return app.platform.db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select('sessions.id')
    .where('users.email', '=', email)
    .where('sessions.revoked_at', 'is', null)
    .execute()
}

async function signOutByMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
}

const generateCode = (app: TestApp, secret: string) =>
  new TOTP({ secret: Secret.fromBase32(secret.trim()) }).generate({ timestamp: app.clock.ms() })

async function findMailedLink(app: TestApp, path: string): Promise<string> {
  for (const email of await app.mail(EMAIL)) {
    const link = email.links.find((candidate) => candidate.includes(path))
    if (link) return link
  }
  throw new Error(`no email with ${path}`)
}

/** Adds Chromium's virtual authenticator, which confirms every request. */
async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

/** Deletes the browser's session. */
async function forgetSession(page: Page): Promise<void> {
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  await page.context().clearCookies()
}
