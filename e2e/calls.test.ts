// Failed calls, examples with an API key, and addresses without a page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor, refuses } from '#testing/mock-vendor.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

const DETAIL = 'temperature must be at most 1'

test('a failed call shows the vendor’s message and links to the error’s documentation', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: { ...vendor.env.openai, SANDBOX: 'off' } })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(refuses(400))
  await ada.post('/api/ai/completions', { prompt: 'Good morning' })
  const { page, context, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.route('**/api/usage/calls?**', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    for (const call of body.calls) call.error_detail = DETAIL
    await route.fulfill({ response, json: body })
  })
  await page.goto(`${app.url}/calls`)
  await page.getByRole('button', { name: /Details of the call/ }).click()
  const drawer = page.getByRole('dialog')
  await drawer.getByText(DETAIL).waitFor()
  await drawer.getByText('The vendor rejected the request.').waitFor()
  await assertAccessible(page, 'a failed call')

  const opened = context.waitForEvent('page')
  await drawer.getByRole('link', { name: 'About this error' }).click()
  const documentation = await opened
  assert.equal(new URL(documentation.url()).hash, '#vendor_refused')
  const entry = documentation.locator('#vendor_refused')
  await entry.getByRole('heading', { name: 'vendor_refused' }).waitFor()
  for (let tries = 0; ((await entry.boundingBox())?.y ?? 9_999) > 900; tries++) {
    assert.ok(tries < 100, 'the code is in view')
    await documentation.waitForTimeout(50)
  }
  assert.deepEqual(errors, [])
})

test('an example has the new key until its dialog closes, then says where to put a key', async (t) => {
  const app = await testApp(t, { userApp: true })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/api-keys`)
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('walk')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const key = await dialog.getByTestId('api-key').innerText()
  assert.match(await dialog.locator('pre').innerText(), new RegExp(`Bearer ${key}"`))
  await dialog.getByLabel('I’ve saved this key').check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'detached' })
  assert.match(await page.locator('pre').innerText(), /Bearer YOUR_API_KEY"/)
  await page.getByText('Replace YOUR_API_KEY with your API key before you run this.').waitFor()
  await assertAccessible(page, 'an example without a key')
  assert.deepEqual(errors, [])
})

test('an address without a page returns 404 with the app’s page', async (t) => {
  const app = await testApp(t, { userApp: true })
  const { page } = await visit(await openBrowser(t))
  for (const path of ['/terms', '/library/a/b', '/pricing/x']) {
    const response = await page.goto(`${app.url}${path}`)
    assert.equal(response?.status(), 404, path)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  }
  for (const path of ['/', '/pricing', '/dashboard', '/errors'])
    assert.equal((await page.goto(`${app.url}${path}`))?.status(), 200, path)
})
