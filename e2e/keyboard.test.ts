// A customer, a developer and a founder do their work by the keyboard alone: on a new service and in the seeded year, on a
// screen and on a phone, in light and dark.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { call, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createShop } from '#testing/shop.ts'
import { writeZip } from '#testing/zip.ts'
import { assertAccessible, assertContrast, ON_SQLITE_ONLY, openBrowser, visit } from './browser.ts'
import { uploadDocument } from './conversation.ts'
import { Keyboard } from './keyboard.ts'

const SCREEN = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

test('a new service is used by the keyboard alone', ON_SQLITE_ONLY, async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const ada = await app.as('ada', { tier: 'pro' })
  await uploadDocument(ada, 'lease.md', '# Lease\n\nThe deposit for the workshop is 3,450 euros.\n')
  const grace = await app.as('grace')
  await grace.patch('/api/users/me', { full_name: 'Grace Hopper' })
  await createShop(app).subscribe(grace)
  await app.settle()
  const root = await app.as('root', { superuser: true })
  const browser = await openBrowser(t)
  const walks = { app, browser }

  await t.test('a customer, on a screen', (t) =>
    walkCustomer(t, walks, ada.email, SCREEN, 'How much is the deposit for the workshop?'),
  )
  await t.test('a developer, on a phone', (t) => walkDeveloper(t, walks, ada.email, PHONE))
  await t.test('a founder, on a screen', (t) =>
    walkFounder(t, walks, root.email, SCREEN, 'Grace Hopper'),
  )
})

test('the seeded year is used by the keyboard alone', ON_SQLITE_ONLY, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-year-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const cli = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts')
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir }
  await promisify(execFile)(process.execPath, [cli, 'seed'], { cwd: tmpdir(), env })
  const onData = { dataDir, databaseUrl: null }
  const app = await testApp(t, { userApp: true, worker: true, onData })
  const browser = await openBrowser(t)
  const walks = { app, browser }

  await t.test('a customer, on a phone', (t) =>
    walkCustomer(t, walks, 'ada@example.com', PHONE, 'What is the notice period of the lease?'),
  )
  await t.test('a developer, on a screen', (t) =>
    walkDeveloper(t, walks, 'grace@example.com', SCREEN),
  )
  await t.test('a founder, on a phone', (t) =>
    walkFounder(t, walks, 'root@example.com', PHONE, 'Ada Lovelace'),
  )
})

type Walks = { app: TestApp; browser: Browser }
type Viewport = typeof SCREEN

async function walkCustomer(
  t: TestContext,
  walks: Walks,
  email: string,
  viewport: Viewport,
  question: string,
): Promise<void> {
  const { page, keyboard, end } = await signIn(t, walks, email, viewport)
  await page.locator('textarea:focus').waitFor()
  await pickModel(page, keyboard)
  await keyboard.reach(page.getByRole('textbox', { name: 'Message' }), 'Shift+Tab')
  await page.keyboard.type(question)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Answer again' }).waitFor()

  const mark = page.getByRole('button', { name: /^Source 1: / }).first()
  const source = page.getByRole(viewport === SCREEN ? 'complementary' : 'dialog', {
    name: 'Source',
  })
  await keyboard.open(mark, source, 'Shift+Tab')
  await inspect(page, 'a source')
  await page.keyboard.press('Escape')
  await source.waitFor({ state: 'detached' })
  await keyboard.reach(mark)

  await keyboard.go('Library', 'Library')
  const chooser = page.waitForEvent('filechooser')
  await keyboard.press(page.getByRole('button', { name: 'Upload', exact: true }))
  const note = { name: 'note.md', mimeType: 'text/markdown', buffer: Buffer.from('A quiet note.') }
  await (await chooser).setFiles(note)
  await page.getByText('Done: searchable in 1 passage').waitFor()
  await inspect(page, 'an uploaded file')

  await keyboard.go('Plan', 'Billing')
  await inspect(page, 'the plan')
  await end()
}

/** Finds the first model by its name and chooses it. */
async function pickModel(page: Page, keyboard: Keyboard): Promise<void> {
  const button = page.getByRole('button', { name: /^Model: / })
  const models = page.getByRole('dialog', { name: 'Model' })
  await keyboard.open(button, models)
  const name = (await models.getByRole('option').first().innerText()).split('\n')[0] ?? ''
  await page.keyboard.type(name)
  await inspect(page, 'the list of models')
  await page.keyboard.press('Enter')
  await models.waitFor({ state: 'hidden' })
  await page
    .getByRole('button', { name: `Model: ${name}` })
    .and(page.locator(':focus'))
    .waitFor()
}

async function walkDeveloper(
  t: TestContext,
  walks: Walks,
  email: string,
  viewport: Viewport,
): Promise<void> {
  const { page, keyboard, end } = await signIn(t, walks, email, viewport)
  await keyboard.go('Build', 'Overview')
  await keyboard.go('API keys', 'API keys')
  const dialog = page.getByRole('dialog')
  await keyboard.open(page.getByRole('button', { name: 'Create key' }), dialog)
  await keyboard.fill(dialog.getByLabel('Name'), 'walk')
  await keyboard.press(dialog.getByRole('button', { name: 'Create key' }))
  await dialog.getByText('Waiting for the first call…').waitFor()
  const key = await dialog.getByTestId('api-key').innerText()
  await call(walks.app.url, 'POST', '/api/ai/completions', {
    headers: { authorization: `Bearer ${key}` },
    body: { prompt: 'Good morning' },
  })
  await dialog.getByText('First call received', { exact: true }).waitFor()
  await inspect(page, 'the first call')
  await keyboard.press(dialog.getByLabel('I’ve saved this key'), { key: 'Space' })
  await keyboard.press(dialog.getByRole('button', { name: 'Done' }))
  await dialog.waitFor({ state: 'detached' })

  await keyboard.go('Playground', 'Playground')
  await keyboard.fill(page.getByLabel('Message', { exact: true }), 'Good evening')
  await page.keyboard.press('Control+Enter')
  const facts = page.getByLabel('Measurements')
  await facts.waitFor()
  await inspect(page, 'an answer of the playground')

  await keyboard.go('Calls', 'Calls')
  await keyboard.open(page.getByRole('button', { name: /Details of the call/ }).first(), dialog)
  await inspect(page, 'the details of a call')
  await keyboard.press(dialog.getByRole('link', { name: 'Replay in playground' }))
  await page.getByText('This browser kept your request.').waitFor()
  await keyboard.press(page.getByRole('button', { name: 'Send again' }))
  await facts.waitFor()
  await end()
}

async function walkFounder(
  t: TestContext,
  walks: Walks,
  email: string,
  viewport: Viewport,
  customer: string,
): Promise<void> {
  const { page, keyboard, end } = await signIn(t, walks, email, viewport)
  await keyboard.go('Run', 'Today')
  await inspect(page, 'today')

  await keyboard.go('Customers', 'Customers')
  const [, surname = ''] = customer.split(' ')
  await keyboard.fill(page.getByRole('searchbox', { name: 'Search customers' }), surname)
  await page.getByText('1 customer', { exact: true }).waitFor()
  await keyboard.press(page.getByRole('link', { name: customer }))
  await page.getByRole('heading', { level: 1, name: customer }).waitFor()
  await changePlan(page, keyboard)
  const refund = page.getByRole('dialog', { name: 'Refund' })
  await keyboard.open(page.getByRole('button', { name: /^Refund \$/ }).first(), refund)
  await inspect(page, 'a refund')
  await keyboard.fill(refund.getByLabel('Reason'), 'Slow answers')
  await keyboard.press(refund.getByRole('button', { name: /^Refund \$/ }))
  await refund.waitFor({ state: 'detached' })
  await page.getByText('Refunded', { exact: true }).first().waitFor()

  await keyboard.go('Catalogue', 'Catalogue')
  await keyboard.go('Models', 'Models')
  await switchModel(page, keyboard)
  await publishProduct(page, keyboard)
  await end()
}

/** Charges the customer for the last plan of the list, after its costs are shown. */
async function changePlan(page: Page, keyboard: Keyboard): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Change plan' })
  await keyboard.open(page.getByRole('button', { name: 'Change plan' }), dialog)
  await keyboard.press(dialog.getByRole('combobox', { name: 'New plan' }), { key: 'End' })
  await dialog.getByText('Due now', { exact: true }).waitFor()
  await inspect(page, 'the costs of a plan change')
  await keyboard.press(dialog.getByRole('button', { name: /^(Charge \$.*|Change plan)$/ }))
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Plan changed by a superuser').first().waitFor()
}

/** Switches off the first model, after its effect is shown, and on again. */
async function switchModel(page: Page, keyboard: Keyboard): Promise<void> {
  const button = page.getByRole('button', { name: /^Switch off \S+\/\S+$/ }).first()
  const name = (await button.getAttribute('aria-label')) ?? ''
  const dialog = page.getByRole('dialog', { name: `${name}?` })
  await keyboard.open(button, dialog)
  await dialog
    .getByText(/will go to|will be refused/)
    .first()
    .waitFor()
  await inspect(page, 'the effect of a switch')
  await keyboard.fill(dialog.getByLabel('Reason'), 'An incident')
  await keyboard.press(dialog.getByRole('button', { name: 'Switch off', exact: true }))
  await dialog.waitFor({ state: 'detached' })
  const list = page.getByRole('region', { name: 'Switched off' })
  await keyboard.press(list.getByRole('button', { name: name.replace('off', 'on') }), {
    direction: 'Shift+Tab',
  })
  await list.waitFor({ state: 'detached' })
}

async function publishProduct(page: Page, keyboard: Keyboard): Promise<void> {
  await keyboard.go('Shop', 'Orders')
  const shop = page.getByRole('navigation', { name: 'Shop' })
  await keyboard.press(shop.getByRole('link', { name: 'Products' }))
  await keyboard.press(page.getByRole('link', { name: 'New product' }))
  await keyboard.fill(page.getByLabel('Name', { exact: true }), 'Field guide')
  await keyboard.fill(page.getByLabel('Price', { exact: true }), '49')
  await keyboard.press(page.getByRole('button', { name: 'Create product' }))
  await page.getByRole('heading', { level: 1, name: 'Field guide', exact: true }).waitFor()

  const chooser = page.waitForEvent('filechooser')
  await keyboard.press(page.getByRole('button', { name: 'Choose ZIP' }))
  const buffer = writeZip([{ name: 'guide.md', content: '# Field guide' }])
  await (await chooser).setFiles({ name: 'guide-1.0.0.zip', mimeType: 'application/zip', buffer })
  const form = page.getByRole('form', { name: 'New release' })
  await keyboard.press(form.getByRole('button', { name: 'Upload draft' }))
  const release = page.getByRole('listitem', { name: 'Release 1.0.0' })
  await keyboard.press(release.getByRole('button', { name: 'Publish', exact: true }))
  await release.getByText('Published', { exact: true }).waitFor()
  await inspect(page, 'a published release')
}

async function signIn(t: TestContext, { app, browser }: Walks, email: string, viewport: Viewport) {
  const { page, context, errors } = await visit(browser, { viewport })
  t.after(() => context.close())
  const keyboard = new Keyboard(page)
  await page.goto(`${app.url}/login`)
  await keyboard.fill(page.getByLabel('Email'), email)
  await keyboard.fill(page.getByLabel('Password', { exact: true }), PASSWORD)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/home')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  const end = async () => assert.deepEqual(errors, [])
  return { page, keyboard, end }
}

/** Checks the page in both themes. */
async function inspect(page: Page, name: string): Promise<void> {
  await assertAccessible(page, name)
  await page.emulateMedia({ colorScheme: 'dark' })
  await assertContrast(page, `${name} in the dark`)
  await page.emulateMedia({ colorScheme: 'light' })
}
