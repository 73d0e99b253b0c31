// A superuser connects Stripe and a model on the setup page, and restarts the service with them.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor } from '#testing/mock-vendor.ts'
import { startStripeAccount, TEST_KEY } from '#testing/stripe-account.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

const PATIENCE = { timeout: 60_000 }

test('a superuser tests keys, saves them and restarts the service', async (t) => {
  const stripe = await startStripeAccount(t)
  const vendor = await mockVendor(t)
  // Always on SQLite, because a service on PostgreSQL stores no settings.
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-setup-'))
  const app = await testApp(t, {
    userApp: true,
    worker: true,
    onData: { dataDir, databaseUrl: null },
    env: { STRIPE_API_BASE: stripe.url, OPENAI_BASE_URL: `${vendor.url}/v1` },
  })
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const { base } = app.config.urls
  const root = await app.as('root', { superuser: true })
  const { page } = await visit(await openBrowser(t))
  await signInByForm(page, base, root.email)
  await page.goto(`${base}/run/setup`)
  await page.getByRole('heading', { name: 'Setup', exact: true }).waitFor(PATIENCE)
  await page.getByRole('form', { name: 'Payments' }).waitFor(PATIENCE)

  for (const width of [390, 820, 1440]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await assertAccessible(page, `the setup page at ${width} px, ${colorScheme}`)
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      assert.equal(overflow, 0, `${width} px scrolls sideways`)
      const folder = process.env.SCREENSHOTS
      if (folder)
        await page.screenshot({ path: `${folder}/${width}-${colorScheme}.png`, fullPage: true })
    }
  }

  const payments = page.getByRole('form', { name: 'Payments' })
  await payments.getByLabel('Stripe secret key').fill('sk_test_aKeyOfNobody')
  await payments.getByRole('button', { name: 'Test and save key' }).click()
  await payments.getByRole('alert').getByText('Stripe did not accept the key').waitFor(PATIENCE)
  await payments.getByLabel('Stripe secret key').fill(TEST_KEY)
  await page.keyboard.press('Enter')
  await page.getByText('Changed and not in use yet: STRIPE_SECRET_KEY').waitFor(PATIENCE)

  const plans = page.getByRole('form', { name: 'Plans' })
  await plans.getByLabel('Pro a month').fill('29')
  await plans.getByRole('button', { name: 'Create prices' }).click()
  await plans.getByText('For sale. A new price replaces it.').waitFor(PATIENCE)
  assert.equal(stripe.prices[0]?.unit_amount, '2900')

  const models = page.getByRole('form', { name: 'Models' })
  const removal = models.getByRole('button', { name: 'Remove openai key' })
  assert.equal(await removal.count(), 0)
  await models.getByLabel('API key').fill('sk-of-the-walk')
  await models.getByRole('button', { name: 'Test and save key' }).click()
  await page.getByText(/not in use yet: .*OPENAI_API_KEY/).waitFor(PATIENCE)
  await assertAccessible(page, 'the setup page with saved settings')

  await page.getByRole('button', { name: 'Restart now' }).click()
  await page.getByText('Restart to apply').waitFor({ state: 'detached', ...PATIENCE })
  await app.restarted()
  assert.equal(app.config.processor.secretKey, TEST_KEY)
  assert.equal(app.config.ai.vendors.openai?.apiKey, 'sk-of-the-walk')

  await removal.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('Changed and not in use yet: OPENAI_API_KEY').waitFor(PATIENCE)
})
