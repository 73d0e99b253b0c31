// A person's account in a browser: a provider, a second factor, a passkey, and a lost password.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { type TestApp, testApp } from '#testing/app.ts'
import { assertAccessible, openBrowser, visit } from './browser.ts'

const PASSWORD = 'seven blue lanterns'
const EMAIL = 'keeper@example.com'

test('a person keeps an account: provider, second factor, passkey, and a password lost and found', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const home = app.config.urls.base
  const browser = await openBrowser(t)
  const { page, context, errors } = await visit(browser)
  let secret = ''

  await t.test("signs in with the sandbox's Google", async () => {
    const google = await visit(browser)
    await google.page.goto(`${home}/login`)
    await google.page.getByRole('button', { name: 'Google' }).click()
    await google.page.waitForURL('**/sandbox/oauth/google/**')
    await google.page.getByText('Use another account').click()
    await google.page.getByLabel('Email').fill('gwen@example.com')
    await google.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await google.page.waitForURL('**/dashboard')
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
    await page.waitForURL(/dashboard|login|verify/)
    await page.goto(await mailedLink(app, '/verify-email'))
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
    await page.getByLabel('Enter the code it shows').fill(codeOf(app, secret))
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByLabel('I have stored these codes').check()
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
    await page.waitForURL('**/dashboard')
  })

  await t.test('recovers a lost password, and signs in with it and a code', async () => {
    await forgetSession(page)
    await page.goto(`${home}/forgot-password`)
    await page.getByLabel('Email').fill(EMAIL)
    await page.locator('button[type=submit]').click()
    await page.getByText('If your email is registered').waitFor()
    await page.goto(await mailedLink(app, '/reset-password'))
    await page.getByLabel('New password').fill('eight green lanterns')
    await page.locator('button[type=submit]').click()
    await page.getByText('Your new password is set').waitFor()
    await page.getByRole('link', { name: 'Sign in' }).first().click()

    app.clock.advance(60_000)
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill('eight green lanterns')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByLabel('Code').fill(codeOf(app, secret))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/dashboard')
  })

  assert.deepEqual(errors, [])
  await context.close()
})

test('what a session alone is not enough for asks to sign in again, and goes on; signing out ends the session', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const home = app.config.urls.base
  const browser = await openBrowser(t)
  const { page, context, errors } = await visit(browser)
  const dialog = page.getByRole('dialog', { name: 'Is it you?' })
  const refreshToken = () => page.evaluate('localStorage.getItem("latchkey.refresh")') as Promise<string | null>

  await t.test('a download waits for the password and comes then', async () => {
    await page.goto(`${home}/register`)
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: /create|sign up/i }).click()
    await page.waitForURL(/dashboard/)
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
    await page.getByText('This one').waitFor()
    assert.equal(await page.getByRole('button', { name: /^End the session/ }).count(), 0, 'the one before has ended')
  })

  await t.test('who would rather not is told that nothing was changed', async () => {
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

  await t.test('without a way to the service it is forgotten here all the same', async () => {
    await page.goto(`${home}/login`)
    await page.getByLabel('Email').fill(EMAIL)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL('**/dashboard')
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

async function signOutByMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
}

const codeOf = (app: TestApp, secret: string) =>
  new TOTP({ secret: Secret.fromBase32(secret.trim()) }).generate({ timestamp: app.clock.ms() })

async function mailedLink(app: TestApp, path: string): Promise<string> {
  for (const letter of await app.mail(EMAIL)) {
    const link = letter.links.find((candidate) => candidate.includes(path))
    if (link) return link
  }
  throw new Error(`no letter with ${path}`)
}

/** Chromium's own virtual authenticator: a device with a fingerprint reader that always agrees. */
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

/** As on another day: what the browser had stored of the session is gone. */
async function forgetSession(page: Page): Promise<void> {
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  await page.context().clearCookies()
}
