// Home, Build and Run: each has its own menu, and people see the places that they may enter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { testApp } from '#testing/app.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

const menuOf = (page: Page) => page.getByRole('navigation', { name: 'Main' })
const placesOf = (page: Page) => menuOf(page).getByRole('list', { name: 'Places' })

test('only superusers see Run, and each place has its own menu', async (t) => {
  const app = await testApp(t, { userApp: true })
  const ada = await app.as('ada', { tier: 'pro' })
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const browser = await openBrowser(t)

  const { page, context } = await visit(browser)
  await signInByForm(page, app.url, ada.email)
  await placesOf(page).getByText('Build').waitFor()
  assert.deepEqual(await placesOf(page).getByRole('link').allInnerTexts(), ['Home', 'Build'])
  await context.close()

  const founder = await visit(browser)
  await signInByForm(founder.page, app.url, root.email)
  const menu = menuOf(founder.page)
  await menu.getByRole('link', { name: 'Library' }).waitFor()
  await placesOf(founder.page).getByRole('link', { name: 'Build' }).click()
  await menu.getByRole('link', { name: 'API keys' }).waitFor()
  assert.equal(await menu.getByRole('link', { name: 'Library' }).count(), 0)
  await placesOf(founder.page).getByRole('link', { name: 'Run' }).click()
  await menu.getByRole('link', { name: 'Customers' }).waitFor()
  assert.equal(await menu.getByRole('link', { name: 'API keys' }).count(), 0)
  await assertAccessible(founder.page, 'Run')

  // The account belongs to every place, so it leaves the menu as it is.
  await menu.getByRole('button', { name: /^Account of/ }).click()
  await founder.page.getByRole('menuitem', { name: 'Account', exact: true }).click()
  await founder.page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
  await menu.getByRole('link', { name: 'Customers' }).waitFor()
  assert.deepEqual(founder.errors, [])
})

test('Build is missing when no plan sells it', async (t) => {
  const app = await testApp(t, { userApp: true })
  const nora = await app.as('nora')
  const { page, errors } = await visit(await openBrowser(t))
  const plans = page.waitForResponse('**/api/billing/plans')
  await page.route('**/api/billing/plans', async (route) => {
    const reply = await route.fetch()
    const body = await reply.json()
    for (const plan of body.plans) plan.grants = ['home', 'library']
    await route.fulfill({ response: reply, json: body })
  })
  await signInByForm(page, app.url, nora.email)
  await plans
  await menuOf(page).getByRole('link', { name: 'Library' }).waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  assert.equal(await placesOf(page).count(), 0)
  assert.deepEqual(errors, [])
})

test('the menu collapses to icons on a large screen, and stays so', async (t) => {
  const app = await testApp(t, { userApp: true })
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, root.email)
  const waitForWidth = (least: number, most: number) =>
    page.waitForFunction(`(() => {
      const { width } = document.querySelector('nav[aria-label=Main]').getBoundingClientRect()
      return ${least} <= width && width <= ${most}
    })()`)
  await menuOf(page).getByRole('button', { name: 'Collapse menu' }).press('Enter')
  await menuOf(page).getByRole('button', { name: 'Expand menu' }).waitFor()
  await waitForWidth(40, 64)
  await page.reload()
  await menuOf(page).getByRole('button', { name: 'Expand menu' }).waitFor()
  await waitForWidth(40, 64)
  await placesOf(page).getByRole('link', { name: 'Run' }).click()
  await menuOf(page).getByRole('link', { name: 'Shop' }).waitFor()
  await assertAccessible(page, 'the collapsed menu')
  await menuOf(page).getByRole('button', { name: 'Expand menu' }).press('Enter')
  await menuOf(page).getByRole('button', { name: 'Collapse menu' }).waitFor()
  await waitForWidth(200, 300)

  // A phone has no room for icons beside the page: its menu lies over the page, with words.
  await menuOf(page).getByRole('button', { name: 'Collapse menu' }).press('Enter')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Open menu' }).click()
  await menuOf(page).getByText('Customers').waitFor()
  await waitForWidth(200, 300)
  assert.deepEqual(errors, [])
})
