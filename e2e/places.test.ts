// Home, Build and Run: each has its own menu, and people see the places that they may enter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { testApp } from '#testing/app.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'
import { uploadDocument } from './conversation.ts'

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

test('a plan with documents and without conversations searches on Home', async (t) => {
  const app = await testApp(t, { userApp: true })
  const nora = await app.as('nora')
  await uploadDocument(nora, 'lease.md', '# Lease\n\nThe deposit is 3,450 euros.\n', '/api/library')
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, nora.email)
  await page.route('**/api/auth/me', async (route) => {
    const reply = await route.fetch()
    const json = { ...(await reply.json()), entitlements: ['rag', 'library'] }
    await route.fulfill({ response: reply, json })
  })
  await page.goto(`${app.url}/home`)
  await page.getByText('It does not include written answers. See plans').waitFor()
  await page
    .getByRole('region', { name: 'Files' })
    .getByRole('link', { name: 'lease.md' })
    .waitFor()
  await assertAccessible(page, 'Home without conversations')
  const field = page.getByRole('searchbox', { name: 'Search your files' })
  await field.fill('deposit')
  await field.press('Enter')
  await page.waitForURL('**/home?q=deposit')
  await page.getByRole('main').locator('mark', { hasText: 'deposit' }).waitFor()
  await assertAccessible(page, 'passages on Home')

  await menuOf(page).getByRole('link', { name: 'Search your files' }).click()
  await page.waitForURL('**/home')
  assert.equal(await field.inputValue(), '')
  assert.equal(await menuOf(page).getByRole('link', { name: 'New conversation' }).count(), 0)
  assert.equal(await page.getByRole('region', { name: 'Conversations' }).count(), 0)
  await menuOf(page).getByRole('link', { name: 'Library' }).click()
  await page.getByRole('heading', { level: 1, name: 'Library' }).waitFor()
  assert.deepEqual(errors, [])
})

test('the menu collapses to icons on a large screen, and stays so', async (t) => {
  const app = await testApp(t, { userApp: true })
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, root.email)
  const waitForWidth = async (least: number, most: number) => {
    let width = 0
    for (let look = 0; look < 100; look++) {
      width = (await menuOf(page).boundingBox())?.width ?? 0
      if (least <= width && width <= most) return
      await page.waitForTimeout(50)
    }
    assert.fail(`the menu is ${width} px wide`)
  }
  await menuOf(page).getByRole('button', { name: 'Collapse menu' }).click()
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

const paletteOf = (page: Page) => page.getByRole('dialog', { name: 'Search' })

/** Opens the palette and waits until it has the focus, so that no key is lost. */
async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+K')
  await page
    .locator('input:focus')
    .and(page.getByRole('combobox', { name: 'Search' }))
    .waitFor()
}

/** A closed dialog is hidden at once, and leaves the page with its event, which would close the next one. */
const waitForClosing = (page: Page) =>
  page.locator('dialog[aria-label=Search]').waitFor({ state: 'detached' })

const activeOption = (page: Page, name: string) =>
  paletteOf(page).locator('[role=option][aria-selected=true]').filter({ hasText: name })

test('the palette finds pages, files and customers by the keyboard alone', async (t) => {
  const app = await testApp(t, { userApp: true })
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.patch('/api/users/me', { full_name: 'Ada King Lovelace' })
  await uploadDocument(root, 'Lease of the house.md', 'The deposit is 3,450 euros.')
  await uploadDocument(ada, 'Lease of Ada.md', 'Nobody else reads this.')
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, root.email)
  await placesOf(page).getByText('Run').waitFor()

  await openPalette(page)
  await assertAccessible(page, 'the palette')
  await page.keyboard.type('lovel')
  await activeOption(page, 'Ada King Lovelace').waitFor()
  await assertAccessible(page, 'the palette with a customer')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/customers/${ada.userId}`)

  await openPalette(page)
  await page.keyboard.type('lease')
  await paletteOf(page).getByRole('option', { name: 'Lease of the house.md' }).waitFor()
  await paletteOf(page)
    .getByText(/^\d+ results?$/)
    .waitFor({ state: 'attached' })
  assert.equal(await paletteOf(page).getByText('Lease of Ada').count(), 0)
  await page.keyboard.press('Escape')
  await waitForClosing(page)

  await openPalette(page)
  await activeOption(page, 'Ada King Lovelace').waitFor()
  assert.equal(await paletteOf(page).getByRole('group', { name: 'Recent' }).count(), 1)
  await page.keyboard.type('usage')
  await activeOption(page, 'Usage').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
  assert.deepEqual(errors, [])
})

test('the palette shows nothing of the user before, and nothing of operators', async (t) => {
  const app = await testApp(t, { userApp: true })
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const ada = await app.as('ada', { tier: 'pro' })
  await uploadDocument(root, 'Secret plan.md', 'The plan is secret.')
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, root.email)
  await openPalette(page)
  await page.keyboard.type('secret')
  await activeOption(page, 'Secret plan.md').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Secret plan.md' }).waitFor()
  await openPalette(page)
  await page.keyboard.type('sign out')
  await activeOption(page, 'Sign out').waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${app.url}/`)

  const admin: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/admin/')) admin.push(request.url())
  })
  await signInByForm(page, app.url, ada.email)
  await placesOf(page).getByText('Build').waitFor()
  await openPalette(page)
  assert.equal(await paletteOf(page).getByRole('group', { name: 'Recent' }).count(), 0)
  assert.equal(await paletteOf(page).getByRole('group', { name: 'Run' }).count(), 0)
  await page.keyboard.type('secret')
  await paletteOf(page).getByText('No results').waitFor()
  assert.deepEqual(admin, [])
  assert.deepEqual(errors, [])
})

test('? shows the keys, G and a letter change the place, and both can be turned off', async (t) => {
  const app = await testApp(t, { userApp: true })
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, root.email)
  await placesOf(page).getByText('Run').waitFor()
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })

  // The field of the conversation has the focus, and takes the keys itself.
  const field = page.getByRole('main').getByRole('textbox')
  await field.focus()
  await page.keyboard.type('g?')
  assert.equal(await field.inputValue(), 'g?')
  assert.equal(await keys.count(), 0)

  await menuOf(page).getByRole('link', { name: 'Library' }).focus()
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await menuOf(page).getByRole('link', { name: 'Customers' }).waitFor()
  await page.keyboard.press('Control+B')
  await menuOf(page).getByRole('button', { name: 'Expand menu' }).waitFor()
  await page.keyboard.press('?')
  await keys.getByText('Go to Run').waitFor()
  await assertAccessible(page, 'the keyboard shortcuts')
  await keys.getByRole('checkbox').uncheck()
  await page.keyboard.press('Escape')
  await keys.waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.keyboard.press('Control+B')
  await menuOf(page).getByRole('button', { name: 'Collapse menu' }).waitFor()
  assert.equal(await keys.count(), 0)
  await menuOf(page).getByRole('link', { name: 'Customers' }).waitFor()
  assert.deepEqual(errors, [])
})
