// The seller's walk: from nothing to a paid, downloaded and refunded order, without editing a file.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { PASSWORD, testApp } from '#testing/app.ts'
import { openShop } from '#testing/buyer.ts'
import { createShop } from '#testing/shop.ts'
import { writeZip } from '#testing/zip.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

const ZIP = writeZip([
  { name: 'guide.md', content: '# Field guide' },
  { name: 'birds/heron.md', content: 'Stands in water.' },
  { name: '.DS_Store', content: 'a file of the system' },
])

test('a seller makes a product with two tiers, sells one, and refunds it', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  const browser = await openBrowser(t)
  const seller = await visit(browser)
  const { page } = seller
  const shopUrl = app.config.urls.storefront

  await signInByForm(page, app.config.urls.base, root.email)
  const menu = page.getByRole('navigation', { name: 'Main' })
  await menu.getByRole('link', { name: 'Run', exact: true }).click()
  await menu.getByRole('link', { name: 'Shop' }).click()
  await page.getByRole('heading', { name: 'No orders yet' }).waitFor()
  await createProduct(page, { name: 'Field guide', price: '49' })
  await publishRelease(page, 'field-guide-1.0.0.zip')
  await createProduct(page, { name: 'Field guide plus', price: '89', upgradesFrom: 'Field guide' })
  await page
    .getByRole('navigation', { name: 'Shop' })
    .getByRole('link', { name: 'Products' })
    .click()
  const rows = page.getByRole('row').filter({ hasText: 'Field guide' })
  await rows
    .filter({ hasText: 'Coming soon' })
    .getByRole('link', { name: 'Field guide plus' })
    .waitFor()
  await moveProducts(page)
  await page.getByRole('link', { name: 'Field guide plus' }).click()
  await publishRelease(page, 'field-guide-plus-1.0.0.zip')

  const buyer = await visit(browser)
  await buyFieldGuide(buyer.page, shopUrl, ada.email)
  await buyer.page.getByRole('link', { name: 'Upgrade to Field guide plus for $40' }).waitFor()
  const [download] = await Promise.all([
    buyer.page.waitForEvent('download'),
    buyer.page.getByRole('link', { name: 'Download 1.0.0' }).click(),
  ])
  assert.equal(await download.failure(), null)
  await app.settle()

  await page.getByRole('navigation', { name: 'Shop' }).getByRole('link', { name: 'Orders' }).click()
  await page.getByRole('link', { name: ada.email }).click()
  await page.getByRole('heading', { level: 1, name: `Field guide for ${ada.email}` }).waitFor()
  await page.getByRole('listitem').filter({ hasText: 'Downloaded 1.0.0' }).waitFor()
  const license_key = await buyer.page.locator('.reveal .key').first().textContent()
  const machine = { license_key: license_key?.trim(), fingerprint: 'laptop', name: 'Laptop' }
  await app.store('POST', '/api/license/activate', { body: machine })
  await page.reload()
  await page.getByRole('button', { name: 'Release Laptop' }).waitFor()
  await assertAccessible(page, 'an order')
  await page.getByRole('button', { name: 'Release Laptop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Release', exact: true }).click()
  await page.getByRole('listitem').filter({ hasText: 'Machine released' }).waitFor()
  await page.locator('main:focus').waitFor()
  await refund(page, { amount: '9', label: 'Refund $9.00', reason: 'A page is missing' })
  await page.getByText('A page is missing').waitFor()
  await refund(page, { amount: '40', label: 'Refund $40.00', reason: 'Changed their mind' })
  await page.getByRole('main').getByText('Refunded', { exact: true }).first().waitFor()
  await page.getByText('License ended by the refund').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Refund', exact: true }).count(), 0)

  await buyer.page.reload()
  await buyer.page.getByText('Refunded', { exact: true }).waitFor()
  assert.equal(await buyer.page.getByRole('link', { name: 'Download 1.0.0' }).count(), 0)
  assert.deepEqual([...seller.errors, ...buyer.errors], [])
})

test('a seller answers a message and makes a promotion code', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const root = await app.as('root', { superuser: true })
  await app.store('POST', '/api/contact', {
    body: { name: 'Ben', email: 'ben@example.com', subject: 'support', message: 'It stops.' },
  })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.config.urls.base, root.email)

  await page.goto(`${app.config.urls.base}/shop/inbox`)
  await page.getByRole('link', { name: /^Ben/ }).click()
  const message = page.getByRole('article', { name: 'Message of Ben' })
  await message.getByLabel('Answer', { exact: true }).fill('Please try again.')
  await message.getByRole('button', { name: 'Send answer' }).click()
  await message.getByRole('region', { name: 'Answer' }).getByText('Please try again.').waitFor()
  await assertAccessible(page, 'a message')
  const emails = await app.mail('ben@example.com')
  assert.ok(emails.some(({ text }) => text.includes('Please try again.')))
  await message.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByRole('heading', { name: 'No open messages' }).waitFor()

  await page.goto(`${app.config.urls.base}/shop/discounts`)
  await page.getByRole('heading', { name: 'No promotion codes' }).waitFor()
  await page.getByRole('button', { name: 'Create code' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create promotion code' })
  await dialog.getByLabel('Code', { exact: true }).fill('SUMMER')
  await dialog.getByLabel('Discount', { exact: true }).fill('20')
  await dialog.getByLabel('Pro', { exact: true }).check()
  await assertAccessible(page, 'the dialog of a code')
  await dialog.getByRole('button', { name: 'Create code' }).click()
  await page.getByRole('row', { name: /^SUMMER .*20 % For Pro/ }).waitFor()
  await page.getByRole('button', { name: 'Delete SUMMER' }).click()
  const confirm = page.getByRole('dialog', { name: 'Delete SUMMER?' })
  await confirm.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('heading', { name: 'No promotion codes' }).waitFor()
  assert.deepEqual(errors, [])
})

test('a seller shows the bank what was delivered to which address', async (t) => {
  const shop = await openShop(t, {}, { userApp: true })
  const root = await shop.app.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'pro')
  await ada.download('/api/download', { 'user-agent': 'Firefox/130.0 (Linux)' })
  const { processor, press } = createShop(shop.app)
  const { data } = await processor.charges.list({ limit: 1 })
  await press(`/sandbox/processor/charges/${data[0]?.id}/dispute`)
  await shop.settle()

  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, shop.config.urls.base, root.email)
  await page.goto(`${shop.config.urls.base}/shop/disputes?open=true`)
  await page.getByRole('row', { name: /Needs response/ }).waitFor()
  await page.getByRole('button', { name: `Evidence for ${ada.email}` }).click()
  const dialog = page.getByRole('dialog', { name: 'Evidence' })
  await dialog.getByText(/version \d\S* to 127\.0\.0\.1, Firefox on Linux/).waitFor()
  await assertAccessible(page, 'the evidence')
  assert.deepEqual(errors, [])
})

test('a refund long after the sign-in asks for it again, and then continues', async (t) => {
  const shop = await openShop(t, {}, { userApp: true })
  const root = await shop.app.as('root', { superuser: true })
  const ada = await shop.buyer('ada')
  await shop.buy(ada, 'pro')
  const [{ id }] = (await root.get('/api/admin/purchases')).body.purchases
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, shop.config.urls.base, root.email)
  await page.goto(`${shop.config.urls.base}/shop/orders/${id}`)
  await page.getByRole('heading', { level: 1, name: `Pro for ${ada.email}` }).waitFor()
  shop.clock.advance(11 * 60_000)

  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund' })
  await dialog.getByLabel('Reason').fill('Changed their mind')
  await dialog.getByRole('button', { name: 'Refund $299.00' }).click()
  const confirm = page.getByRole('dialog', { name: 'Confirm it’s you' })
  await confirm.getByLabel('Your password').fill(PASSWORD)
  await confirm.getByRole('button', { name: 'Sign in again' }).click()
  await page.getByText('License ended by the refund').waitFor()
  assert.equal(await dialog.count(), 0)
  assert.deepEqual(errors, [])
})

test('products of a catalogue file are shown, and their releases alone can change', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-desk-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const CATALOGUE = join(folder, 'catalogue.json')
  const products = [{ tier: 'guide', name: 'Field guide', price: 49, currency: 'usd' }]
  writeFileSync(CATALOGUE, JSON.stringify({ products }))
  const app = await testApp(t, { userApp: true, env: { CATALOGUE } })
  const root = await app.as('root', { superuser: true })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.config.urls.base, root.email)

  await page.goto(`${app.config.urls.base}/shop/products`)
  await page.getByText(/defines the products, so they can’t be changed here/).waitFor()
  assert.equal(await page.getByRole('link', { name: 'New product' }).count(), 0)
  await page.getByRole('link', { name: 'Field guide' }).click()
  await page.getByRole('heading', { level: 1, name: 'Field guide' }).waitFor()
  assert.equal(await page.getByLabel('Price', { exact: true }).isDisabled(), true)
  assert.equal(await page.getByRole('button', { name: 'Save', exact: true }).count(), 0)
  await assertAccessible(page, 'a product of the file')
  await publishRelease(page, 'guide-1.0.0.zip')
  assert.deepEqual(errors, [])
})

/** By keyboard: the pressed button keeps the focus, or its neighbour at the end of the list. */
async function moveProducts(page: Page): Promise<void> {
  const rows = page.getByRole('row').filter({ hasText: 'Field guide' })
  const button = (direction: string) =>
    page.getByRole('button', { name: `Move Field guide plus ${direction}`, exact: true })
  assert.equal(await button('down').isDisabled(), true)
  await button('up').focus()
  await page.keyboard.press('Enter')
  await rows.first().filter({ hasText: 'Coming soon' }).waitFor()
  await page.getByText('Field guide plus is now in place 4').waitFor()
  await waitForFocus(button('up'))
  await button('down').focus()
  await page.keyboard.press('Enter')
  await rows.last().filter({ hasText: 'Coming soon' }).waitFor()
  await waitForFocus(button('up'))
}

/** Waits until the element has the focus. */
async function waitForFocus(element: Locator): Promise<void> {
  await element.and(element.page().locator(':focus')).waitFor()
}

type NewProduct = { name: string; price: string; upgradesFrom?: string }

async function createProduct(page: Page, { name, price, upgradesFrom }: NewProduct): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Shop' })
    .getByRole('link', { name: 'Products' })
    .click()
  await page.getByRole('link', { name: 'New product' }).click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Price', { exact: true }).fill(price)
  await page.getByLabel('Features').fill('Every heron\nEvery grebe')
  if (upgradesFrom)
    await page.getByLabel(`From ${upgradesFrom}`, { exact: true }).selectOption('difference')
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText(`$${price}`, { exact: true }).waitFor()
  await preview.getByText('Every grebe').waitFor()
  await page.getByRole('button', { name: 'Create product' }).click()
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  await page.getByText('No releases yet.').waitFor()
}

async function publishRelease(page: Page, fileName: string): Promise<void> {
  await page
    .getByLabel('ZIP of the release')
    .setInputFiles({ name: fileName, mimeType: 'application/zip', buffer: ZIP })
  const form = page.getByRole('form', { name: 'New release' })
  assert.equal(await form.getByLabel('Version').inputValue(), '1.0.0')
  await form.getByLabel('What is new').fill('- **First** release')
  await form.getByRole('button', { name: 'Upload draft' }).click()
  const release = page.getByRole('listitem', { name: 'Release 1.0.0' })
  await release.getByText('Draft', { exact: true }).waitFor()
  await release.getByText('1 file left out').click()
  await release.getByText('.DS_Store').waitFor()
  await assertAccessible(page, 'a draft')
  await release.getByRole('button', { name: 'Publish', exact: true }).click()
  await release.getByText('Published', { exact: true }).waitFor()
}

async function buyFieldGuide(page: Page, shopUrl: string, email: string): Promise<void> {
  await page.goto(`${shopUrl}/login?redirect=/products/field-guide`)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Field guide' }).waitFor()
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Buy Field guide' }).click()
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.waitForURL(/\/dashboard/)
}

type Refund = { amount: string; label: string; reason: string }

async function refund(page: Page, { amount, label, reason }: Refund): Promise<void> {
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund' })
  await dialog.getByLabel('Amount in USD').fill(amount)
  await dialog.getByLabel('Reason').fill(reason)
  await dialog.getByRole('button', { name: label }).click()
  await dialog.waitFor({ state: 'detached' })
}
