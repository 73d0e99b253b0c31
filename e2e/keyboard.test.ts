// A customer, a developer and a founder do their work by the keyboard alone, on a new service and in the seeded year. They
// use a screen and a phone, in light and dark.
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

/** How the three people look at a service, and what they do. The person is its customer and its developer. */
type Round = {
  look: string
  viewport: typeof SCREEN
  colorScheme: 'light' | 'dark'
  email: string
  question: string
  plan: string
  /** The text on Billing after the change of plan. */
  effect: RegExp
  /** The founder changes the plan of this customer and refunds their payment. */
  customer: string
  product: string
}
type Walk = { app: TestApp; browser: Browser; round: Round }

// The two services together show each width in each theme.
const NEW_SERVICE: readonly Round[] = [
  {
    look: 'on a light screen',
    viewport: SCREEN,
    colorScheme: 'light',
    email: 'ada@example.com',
    question: 'How much is the deposit for the workshop?',
    plan: 'Enterprise',
    effect: /^Enterprise plan$/,
    customer: 'Grace Hopper',
    product: 'Field guide',
  },
  {
    look: 'on a dark phone',
    viewport: PHONE,
    colorScheme: 'dark',
    email: 'alan@example.com',
    question: 'How much is the deposit for the workshop?',
    plan: 'Enterprise',
    effect: /^Enterprise plan$/,
    customer: 'Mary Jackson',
    product: 'Atlas',
  },
]
const SEEDED_YEAR: readonly Round[] = [
  {
    look: 'on a light phone',
    viewport: PHONE,
    colorScheme: 'light',
    email: 'ada@example.com',
    question: 'What is the notice period of the lease?',
    plan: 'Pro',
    effect: /^Becomes Pro on /,
    customer: 'Alan Turing',
    product: 'Field guide',
  },
  {
    look: 'on a dark screen',
    viewport: SCREEN,
    colorScheme: 'dark',
    email: 'radia@example.com',
    question: 'What is the notice period of the lease?',
    plan: 'Enterprise',
    effect: /^Enterprise plan$/,
    customer: 'Barbara Liskov',
    product: 'Atlas',
  },
]
const FOUNDER = 'root@example.com'

test('a new service is used by the keyboard alone', ON_SQLITE_ONLY, async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const shop = createShop(app)
  const people = { ada: '', alan: '', grace: 'Grace Hopper', mary: 'Mary Jackson' }
  for (const [name, full_name] of Object.entries(people)) {
    const person = await app.as(name)
    await shop.subscribe(person)
    if (full_name) await person.patch('/api/users/me', { full_name })
    else await uploadDocument(person, 'lease.md', '# Lease\n\nThe deposit is 3,450 euros.\n')
  }
  await app.settle()
  await app.as('root', { superuser: true })
  await walkAll(t, app, NEW_SERVICE)
})

test('the seeded year is used by the keyboard alone', ON_SQLITE_ONLY, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-year-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const cli = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts')
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir }
  await promisify(execFile)(process.execPath, [cli, 'seed'], { cwd: tmpdir(), env })
  const onData = { dataDir, databaseUrl: null }
  const app = await testApp(t, { userApp: true, worker: true, onData })
  await walkAll(t, app, SEEDED_YEAR)
})

async function walkAll(t: TestContext, app: TestApp, rounds: readonly Round[]): Promise<void> {
  const browser = await openBrowser(t)
  for (const round of rounds) {
    const walk = { app, browser, round }
    await t.test(`a customer, ${round.look}`, (t) => walkCustomer(t, walk))
    await t.test(`a developer, ${round.look}`, (t) => walkDeveloper(t, walk))
    await t.test(`a founder, ${round.look}`, (t) => walkFounder(t, walk))
  }
}

async function walkCustomer(t: TestContext, walk: Walk): Promise<void> {
  const { question, viewport } = walk.round
  const { page, keyboard, inspect, end } = await signIn(t, walk)
  await page.locator('textarea:focus').waitFor()
  await pickModel(page, keyboard, inspect)
  await keyboard.reach(page.getByRole('textbox', { name: 'Message' }), 'Shift+Tab')
  await page.keyboard.type(question)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Answer again' }).waitFor()

  const mark = page.getByRole('button', { name: /^Source 1: / }).first()
  const source = page.getByRole(viewport === SCREEN ? 'complementary' : 'dialog', {
    name: 'Source',
  })
  await keyboard.open(mark, source, 'Shift+Tab')
  await inspect('a source')
  await page.keyboard.press('Escape')
  await source.waitFor({ state: 'detached' })
  await keyboard.reach(mark)

  await keyboard.go('Library', 'Library')
  const chooser = page.waitForEvent('filechooser')
  await keyboard.press(page.getByRole('button', { name: 'Upload', exact: true }))
  const note = { name: 'note.md', mimeType: 'text/markdown', buffer: Buffer.from('A quiet note.') }
  await (await chooser).setFiles(note)
  await page.getByText('Done: searchable in 1 passage').waitFor()
  await inspect('an uploaded file')

  await keyboard.go('Plan', 'Billing')
  await inspect('the plan')
  await changeOwnPlan(page, keyboard, inspect, walk.round)
  await end()
}

/** Leaves the costs once, then takes the plan, and looks at it on Billing. */
async function changeOwnPlan(
  page: Page,
  keyboard: Keyboard,
  inspect: Inspect,
  { plan, effect }: Round,
): Promise<void> {
  await keyboard.press(page.getByRole('link', { name: 'Change plan', exact: true }))
  const button = page.getByRole('button', { name: `Change to ${plan}`, exact: true })
  const dialog = page.getByRole('dialog', { name: `Change to ${plan}` })
  await keyboard.open(button, dialog)
  await dialog.getByText('Due now', { exact: true }).waitFor()
  await inspect('the costs of the plan')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await button.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await keyboard.waitForFocus(dialog)
  await keyboard.press(dialog.getByRole('button', { name: /^(Pay \$.* and change|Change) plan$/ }))
  await dialog.waitFor({ state: 'detached' })
  await inspect('the plans')
  // The focus stays in the page, although a link replaces the button of the chosen plan.
  await page.locator('main:focus-within').waitFor()
  await keyboard.press(page.getByRole('banner').getByRole('link', { name: 'Open the app' }), {
    direction: 'Shift+Tab',
  })
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await keyboard.go('Plan', 'Billing')
  await page.getByText(effect).waitFor()
}

/** Finds the first model by its name and chooses it. */
async function pickModel(page: Page, keyboard: Keyboard, inspect: Inspect): Promise<void> {
  const button = page.getByRole('button', { name: /^Model: / })
  const models = page.getByRole('dialog', { name: 'Model' })
  await keyboard.open(button, models)
  const name = (await models.getByRole('option').first().innerText()).split('\n')[0] ?? ''
  await page.keyboard.type(name)
  await inspect('the list of models')
  await page.keyboard.press('Enter')
  await models.waitFor({ state: 'hidden' })
  await page
    .getByRole('button', { name: `Model: ${name}` })
    .and(page.locator(':focus'))
    .waitFor()
}

async function walkDeveloper(t: TestContext, walk: Walk): Promise<void> {
  const { page, keyboard, inspect, end } = await signIn(t, walk)
  await keyboard.go('Build', 'Overview')
  await keyboard.go('API keys', 'API keys')
  const dialog = page.getByRole('dialog')
  await keyboard.open(page.getByRole('button', { name: 'Create key' }), dialog)
  await keyboard.fill(dialog.getByLabel('Name'), 'walk')
  await keyboard.press(dialog.getByRole('button', { name: 'Create key' }))
  await dialog.getByText('Waiting for the first call…').waitFor()
  const key = await dialog.getByTestId('api-key').innerText()
  await call(walk.app.url, 'POST', '/api/ai/completions', {
    headers: { authorization: `Bearer ${key}` },
    body: { prompt: 'Good morning' },
  })
  await dialog.getByText('First call received', { exact: true }).waitFor()
  await inspect('the first call')
  await keyboard.press(dialog.getByLabel('I’ve saved this key'), { key: 'Space' })
  await keyboard.press(dialog.getByRole('button', { name: 'Done' }))
  await dialog.waitFor({ state: 'detached' })

  await keyboard.go('Playground', 'Playground')
  await keyboard.fill(page.getByLabel('Message', { exact: true }), 'Good evening')
  await page.keyboard.press('Control+Enter')
  const facts = page.getByLabel('Measurements')
  await facts.waitFor()
  await inspect('an answer of the playground')

  await keyboard.go('Calls', 'Calls')
  await keyboard.open(page.getByRole('button', { name: /Details of the call/ }).first(), dialog)
  await inspect('the details of a call')
  await keyboard.press(dialog.getByRole('link', { name: 'Replay in playground' }))
  await page.getByText('This browser kept your request.').waitFor()
  await keyboard.press(page.getByRole('button', { name: 'Send again' }))
  await facts.waitFor()
  await end()
}

async function walkFounder(t: TestContext, walk: Walk): Promise<void> {
  const { customer, product } = walk.round
  const { page, keyboard, inspect, end } = await signIn(t, walk, FOUNDER)
  await keyboard.go('Run', 'Today')
  await inspect('today')

  await keyboard.go('Customers', 'Customers')
  const [, surname = ''] = customer.split(' ')
  await keyboard.fill(page.getByRole('searchbox', { name: 'Search customers' }), surname)
  await page.getByText('1 customer', { exact: true }).waitFor()
  await keyboard.press(page.getByRole('link', { name: customer }))
  await page.getByRole('heading', { level: 1, name: customer }).waitFor()
  await changePlan(page, keyboard, inspect)
  const refund = page.getByRole('dialog', { name: 'Refund' })
  await keyboard.open(page.getByRole('button', { name: /^Refund \$/ }).first(), refund)
  await inspect('a refund')
  await keyboard.fill(refund.getByLabel('Reason'), 'Slow answers')
  await keyboard.press(refund.getByRole('button', { name: /^Refund \$/ }))
  await refund.waitFor({ state: 'detached' })
  await page.getByText('Refunded', { exact: true }).first().waitFor()

  await keyboard.go('Catalogue', 'Catalogue')
  await keyboard.go('Models', 'Models')
  await switchModel(page, keyboard, inspect)
  await publishProduct(page, keyboard, inspect, product)
  await end()
}

/** Charges the customer for the last plan of the list, after its costs are shown. */
async function changePlan(page: Page, keyboard: Keyboard, inspect: Inspect): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Change plan' })
  await keyboard.open(page.getByRole('button', { name: 'Change plan' }), dialog)
  await keyboard.press(dialog.getByRole('combobox', { name: 'New plan' }), { key: 'End' })
  await dialog.getByText('Due now', { exact: true }).waitFor()
  await inspect('the costs of a plan change')
  await keyboard.press(dialog.getByRole('button', { name: /^(Charge \$.*|Change plan)$/ }))
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Plan changed by a superuser').first().waitFor()
}

/** Switches off the first model, after its effect is shown, and on again. */
async function switchModel(page: Page, keyboard: Keyboard, inspect: Inspect): Promise<void> {
  const button = page.getByRole('button', { name: /^Switch off \S+\/\S+$/ }).first()
  const name = (await button.getAttribute('aria-label')) ?? ''
  const dialog = page.getByRole('dialog', { name: `${name}?` })
  await keyboard.open(button, dialog)
  await dialog
    .getByText(/will go to|will be refused/)
    .first()
    .waitFor()
  await inspect('the effect of a switch')
  await keyboard.fill(dialog.getByLabel('Reason'), 'An incident')
  await keyboard.press(dialog.getByRole('button', { name: 'Switch off', exact: true }))
  await dialog.waitFor({ state: 'detached' })
  const list = page.getByRole('region', { name: 'Switched off' })
  await keyboard.press(list.getByRole('button', { name: name.replace('off', 'on') }), {
    direction: 'Shift+Tab',
  })
  await list.waitFor({ state: 'detached' })
}

async function publishProduct(
  page: Page,
  keyboard: Keyboard,
  inspect: Inspect,
  product: string,
): Promise<void> {
  await keyboard.go('Shop', 'Orders')
  const shop = page.getByRole('navigation', { name: 'Shop' })
  await keyboard.press(shop.getByRole('link', { name: 'Products' }))
  await keyboard.press(page.getByRole('link', { name: 'New product' }))
  await keyboard.fill(page.getByLabel('Name', { exact: true }), product)
  await keyboard.fill(page.getByLabel('Price', { exact: true }), '49')
  await keyboard.press(page.getByRole('button', { name: 'Create product' }))
  await page.getByRole('heading', { level: 1, name: product, exact: true }).waitFor()

  const chooser = page.waitForEvent('filechooser')
  await keyboard.press(page.getByRole('button', { name: 'Choose ZIP' }))
  const buffer = writeZip([{ name: 'guide.md', content: `# ${product}` }])
  await (await chooser).setFiles({ name: 'guide-1.0.0.zip', mimeType: 'application/zip', buffer })
  const form = page.getByRole('form', { name: 'New release' })
  await keyboard.press(form.getByRole('button', { name: 'Upload draft' }))
  const release = page.getByRole('listitem', { name: 'Release 1.0.0' })
  await keyboard.press(release.getByRole('button', { name: 'Publish', exact: true }))
  await release.getByText('Published', { exact: true }).waitFor()
  await inspect('a published release')
}

async function signIn(t: TestContext, { app, browser, round }: Walk, email = round.email) {
  const { viewport, colorScheme } = round
  const { page, context, errors } = await visit(browser, { viewport, colorScheme })
  t.after(() => context.close())
  context.setDefaultTimeout(60_000)
  const keyboard = new Keyboard(page)
  await page.goto(`${app.url}/login`)
  await keyboard.fill(page.getByLabel('Email'), email)
  await keyboard.fill(page.getByLabel('Password', { exact: true }), PASSWORD)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/home')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  const end = async () => assert.deepEqual(errors, [])
  /** Checks all rules in the theme of the walk, and the colors of the other. */
  const inspect = async (name: string) => {
    await assertAccessible(page, name)
    await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' })
    await assertContrast(page, `${name} in the other theme`)
    await page.emulateMedia({ colorScheme })
  }
  return { page, keyboard, inspect, end }
}
type Inspect = (name: string) => Promise<void>
