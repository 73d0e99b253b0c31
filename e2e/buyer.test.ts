// A guest buys, opens the purchase with the mailed link, and uses every part of the buyer's page.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { type TestApp, testApp } from '#testing/app.ts'
import { assertAccessible, assertContrast, openBrowser, visit } from './browser.ts'

const EMAIL = 'guest@example.com'
/** A folder for pictures of every page, to look at. */
const SHOTS = process.env.SHOTS
const MAILED_WITHIN_MS = 30_000

test('a guest buys and gets at everything they bought', async (t) => {
  const app = await testApp(t, { worker: true })
  const { storefront } = app.config.urls
  const { page, errors, context } = await visit(await openBrowser(t))
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: storefront })

  await page.goto(`${storefront}/checkout?tier=pro`)
  await look(page, 'checkout')
  await page.getByLabel('Email', { exact: true }).fill(EMAIL)
  await page.getByRole('button', { name: 'Continue to payment', exact: true }).click()
  await page.waitForURL('**/sandbox/pay/**')
  await page.getByRole('button', { name: /^Pay / }).click()
  await page.getByRole('heading', { name: 'Thank you. Check your inbox', exact: true }).waitFor()
  await look(page, 'purchased')

  await page.goto(await readLink(app))
  await look(page, 'claim')
  await page.getByRole('button', { name: 'Open my purchase', exact: true }).click()
  await page.waitForURL('**/dashboard')
  const machine = { license_key: await readKey(page), fingerprint: 'one', name: 'Build server' }
  const activated = await app.store('POST', '/api/license/activate', { body: machine })
  assert.equal(activated.status, 201, activated.text)
  await page.reload()
  for (const name of ['Machines (1 of 3)', 'Download tokens (0)', 'Replace the license key'])
    await page.getByText(name, { exact: true }).click()
  await look(page, 'dashboard')

  await page.getByText('Show key', { exact: true }).click()
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByRole('button', { name: 'Copied', exact: true }).waitFor()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), machine.license_key)

  await page.getByLabel('Name', { exact: true }).fill('CI')
  await page.getByRole('button', { name: 'Create token', exact: true }).click()
  await page.getByText('Token “CI” created.', { exact: true }).waitFor()
  await look(page, 'token')

  await page.getByText('Machines (1 of 3)', { exact: true }).click()
  await page.getByRole('button', { name: 'Release Build server', exact: true }).click()
  await page.getByText('Machines (0 of 3)', { exact: true }).waitFor()
  await page.getByText('Replace the license key', { exact: true }).click()
  await page.getByRole('button', { name: 'Replace key', exact: true }).click()
  await page.waitForURL('**/dashboard#purchase-*')
  await page.waitForFunction(
    `!document.body.textContent.includes(${JSON.stringify(machine.license_key)})`,
  )
  assert.notEqual(await readKey(page), machine.license_key)

  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByRole('link', { name: 'Sign in', exact: true }).click()
  await look(page, 'login')
  await page.getByRole('link', { name: 'Sign in with a code by email', exact: true }).click()
  await page.getByLabel('Email', { exact: true }).fill(EMAIL)
  await page.getByRole('button', { name: 'Email me a code', exact: true }).click()
  await page.getByRole('heading', { name: 'Check your inbox', exact: true }).waitFor()
  await look(page, 'code')
  await page.getByLabel('Code from the email', { exact: true }).fill(await readCode(app))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL('**/dashboard')
  await page.getByRole('heading', { name: 'Your purchases', exact: true }).waitFor()
  assert.deepEqual(errors, [])
  await context.close()
})

async function look(page: Page, name: string): Promise<void> {
  await assertAccessible(page, name)
  await page.emulateMedia({ colorScheme: 'dark' })
  await assertContrast(page, `${name}, dark`)
  await page.emulateMedia({ colorScheme: 'light' })
  if (!SHOTS) return
  mkdirSync(SHOTS, { recursive: true })
  for (const width of [390, 820, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const path = join(SHOTS, `${name}-${width}-${colorScheme}.png`)
      await page.screenshot({ path, fullPage: true })
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 900 })
}

async function readKey(page: Page): Promise<string> {
  const key = page.locator('.reveal [data-copy]')
  await key.waitFor({ state: 'attached' })
  return ((await key.textContent()) ?? '').trim()
}

const readLink = (app: TestApp) => untilMailed(app, /https?:\/\/\S+\/claim\?token=[\w-]+/)
const readCode = (app: TestApp) => untilMailed(app, /\b\d{4} \d{4}\b/)

/** Waits for the worker, which sends the emails. */
async function untilMailed(app: TestApp, pattern: RegExp): Promise<string> {
  const deadline = Date.now() + MAILED_WITHIN_MS
  for (;;) {
    const texts = (await app.mail(EMAIL)).map(({ text }) => text)
    const found = texts.map((text) => pattern.exec(text)?.[0]).find(Boolean)
    if (found) return found
    assert.ok(Date.now() < deadline, `${pattern} was not mailed`)
    await sleep(100)
  }
}
