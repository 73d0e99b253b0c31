// The pages of the shop sell without JavaScript.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { assertAccessible, ON_SQLITE_ONLY, openBrowser, visit } from './browser.ts'

test(
  'a visitor without JavaScript reads about a product and buys it with a code',
  ON_SQLITE_ONLY,
  async (t) => {
    const app = await testApp(t, { worker: true })
    const { storefront } = app.config.urls
    const browser = await openBrowser(t)
    const { page, errors, context } = await visit(browser, { javaScriptEnabled: false })

    await page.goto(`${storefront}/pricing?code=MINUS20`)
    await page.getByRole('link', { name: 'Buy Pro', exact: true }).click()
    await page.getByRole('heading', { name: 'What’s in the ZIP' }).waitFor()
    await page.getByText('docker-compose.yml', { exact: true }).waitFor()
    await page.getByText('app/ 13 files').click()
    await page.getByText('retrieval.py', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'All releases', exact: true }).click()
    await page.getByRole('heading', { name: '1.1.0 17 November 2025' }).waitFor()
    await page.goBack()

    await page.getByRole('checkbox', { name: /I request immediate delivery/ }).check()
    await page.getByRole('button', { name: 'Buy Pro', exact: true }).click()
    assert.equal(await page.getByLabel('Promotion code (optional)').inputValue(), 'MINUS20')
    assert.ok(
      await page.getByRole('checkbox', { name: /I request immediate delivery/ }).isChecked(),
    )
    await page.getByLabel('Email').fill('guest@example.com')
    await page.getByRole('button', { name: 'Continue to payment', exact: true }).click()
    await page.getByText('$279.00').first().waitFor()
    assert.deepEqual(errors, [])
    await context.close()
  },
)

test(
  'a visitor gets a free product by email and downloads an older release',
  ON_SQLITE_ONLY,
  async (t) => {
    const app = await testApp(t, { worker: true })
    const { storefront } = app.config.urls
    const root = await app.as('root', { superuser: true })
    const basic = { name: 'Basic', currency: 'usd', price: 0, free: 'email' }
    await root.request('PUT', '/api/admin/products/basic', { body: basic })
    const { page, errors, context } = await visit(await openBrowser(t))

    await page.goto(`${storefront}/products/basic`)
    await page.getByRole('button', { name: 'Get Basic', exact: true }).click()
    await assertAccessible(page, 'free product')
    await page.getByLabel('Email').fill('guest@example.com')
    await page.getByRole('button', { name: 'Email me the link' }).click()
    await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
    await app.settle()
    const [email] = await app.mail('guest@example.com')
    await page.goto(/http\S+\/claim\?\S+/.exec(email?.text ?? '')?.[0] ?? '')
    await page.getByRole('button', { name: 'Open my purchase' }).click()

    await page.getByText('Releases', { exact: true }).click()
    await assertAccessible(page, 'free product')
    const older = page.getByRole('listitem').filter({ hasText: '1.0.0' })
    await older.getByText('5 of 5 left').waitFor()
    const download = page.waitForEvent('download')
    await older.getByRole('link', { name: 'Download 1.0.0' }).click()
    assert.match((await download).suggestedFilename(), /^latchkey-basic-1\.0\.0-\w{8}\.zip$/)
    await older.getByText('4 of 5 left').waitFor()
    assert.deepEqual(errors, [])
    await context.close()
  },
)

test('data for search engines breaks no content security policy', ON_SQLITE_ONLY, async (t) => {
  const app = await testApp(t)
  const { page, errors, context } = await visit(await openBrowser(t))
  await page.goto(`${app.config.urls.storefront}/products/pro`)
  await page.getByRole('heading', { level: 1, name: 'Pro', exact: true }).waitFor()
  const types = await page
    .locator('script[type="application/ld+json"]')
    .evaluateAll((scripts) => scripts.map((one) => JSON.parse(one.textContent ?? '')['@type']))
  assert.deepEqual(types, ['Product', 'BreadcrumbList'])
  assert.deepEqual(errors, [])
  await context.close()
})
