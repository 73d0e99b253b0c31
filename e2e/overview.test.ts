// The overview shows what is the user's own, and the menu leads everywhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor, refuses, says } from '#testing/mock-vendor.ts'
import { assertAccessible, assertContrast, openBrowser, signInByForm, visit } from './browser.ts'
import { storeConversation, uploadDocument } from './conversation.ts'

test('the overview shows conversations, files, the allowance and failures', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: { ...vendor.env.openai, EMBEDDER: 'local' } })
  const ada = await app.as('ada', { tier: 'pro' })
  await uploadDocument(ada, 'boats.md', 'The ferry sails at nine.')
  vendor.play(says('At nine.'))
  const id = await storeConversation(ada, 'When does the ferry sail?', { title: 'Ferries' })
  vendor.play(refuses(400))
  await ada.post('/api/ai/completions', { prompt: 'Good morning' })

  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/dashboard`)
  const region = (name: string) => page.getByRole('main').getByRole('region', { name })
  await region('Files').getByRole('link', { name: 'boats.md' }).waitFor()
  await region('Failed calls, last 7 days').getByText('The vendor rejected the request.').waitFor()
  await page.getByRole('meter', { name: 'Allowance left' }).waitFor()
  await assertAccessible(page, 'the overview')
  await page.setViewportSize({ width: 390, height: 844 })
  await assertAccessible(page, 'the overview on a phone')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
  await assertContrast(page, 'the overview in the dark')
  await region('Recent conversations').getByRole('link', { name: 'Ferries' }).click()
  await page.waitForURL(`**/c/${id}`)
  assert.deepEqual(errors, [])
})

test('a new user sees next steps, which get done', async (t) => {
  const app = await testApp(t, { userApp: true })
  const nora = await app.as('nora')
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, nora.email)
  await page.goto(`${app.url}/dashboard`)
  const steps = page.getByRole('region', { name: 'Next steps' })
  await steps.getByText('0 of 4 done').waitFor()
  await uploadDocument(nora, 'boats.md', 'The ferry sails at nine.', '/api/library')
  await page.reload()
  await steps.getByText('1 of 4 done').waitFor()
  await assertAccessible(page, 'next steps')
  await steps.getByRole('link', { name: /^Choose a plan/ }).click()
  await page.waitForURL('**/pricing')
  assert.deepEqual(errors, [])
})

test('a feature outside the plan says what it does and costs', async (t) => {
  const app = await testApp(t, { userApp: true })
  const nora = await app.as('nora')
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, nora.email)
  await page.getByRole('link', { name: 'Build', exact: true }).click()
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('heading', { name: 'API keys with Pro' }).waitFor()
  await page.getByText('Call every model from your programs').waitFor()
  await page.getByText(/^\$\d+ per month, cancel anytime\. You are on the Free plan\.$/).waitFor()
  await assertAccessible(page, 'a feature outside the plan')
  await page.getByRole('main').getByRole('link', { name: 'See plans' }).click()
  await page.waitForURL('**/pricing')
  assert.deepEqual(errors, [])
})

test('the menu works by the keyboard, and lies over the page on a phone', async (t) => {
  const app = await testApp(t, { userApp: true })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t), {
    viewport: { width: 390, height: 844 },
  })
  await signInByForm(page, app.url, ada.email)
  const focused = (name: string) => page.locator(':focus').and(page.getByRole('button', { name }))

  await t.test('Escape closes it and returns the focus', async () => {
    await page.getByRole('button', { name: 'Open menu' }).press('Enter')
    await page.getByRole('link', { name: 'Library' }).waitFor()
    await assertAccessible(page, 'the menu on a phone')
    await page.keyboard.press('Escape')
    await focused('Open menu').waitFor()
    await page.getByRole('link', { name: 'Library' }).waitFor({ state: 'hidden' })
  })

  await t.test('it closes when a page opens, but not when the place changes', async () => {
    await page.getByRole('button', { name: 'Open menu' }).click()
    await page.getByRole('link', { name: 'Build', exact: true }).click()
    await page.waitForURL('**/playground')
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
    await page.getByRole('link', { name: 'Calls', exact: true }).waitFor({ state: 'hidden' })
  })

  await t.test('arrows move through the account menu', async () => {
    await page.setViewportSize({ width: 1280, height: 900 })
    const account = page.getByRole('button', { name: /^Account of/ })
    await account.press('Enter')
    const current = (role: 'menuitem' | 'menuitemradio', name: string) =>
      page.locator(':focus').and(page.getByRole(role, { name }))
    await current('menuitem', 'Account').waitFor()
    await page.keyboard.press('ArrowDown')
    await current('menuitemradio', 'Light').waitFor()
    await assertAccessible(page, 'the account menu')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
    await focused('Account of').waitFor()
    await account.press('Enter')
    await current('menuitem', 'Account').waitFor()
    await page.keyboard.press('End')
    await current('menuitem', 'Sign out').waitFor()
    await page.keyboard.press('Escape')
    await focused('Account of').waitFor()
  })
  assert.deepEqual(errors, [])
})
