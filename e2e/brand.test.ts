// The user app under a brand that a superuser saved.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openShop } from '#testing/buyer.ts'
import { createShop } from '#testing/shop.ts'
import { ON_SQLITE_ONLY, openBrowser, signInByForm, visit } from './browser.ts'

const PAGES = [
  '/',
  '/pricing',
  '/register',
  '/login',
  '/no-such-page',
  '/dashboard',
  '/home',
  '/library',
  '/api-keys',
  '/usage',
  '/calls',
  '/playground',
  '/reference',
  '/errors',
  '/billing',
  '/account',
  '/account?tab=security',
  '/account?tab=data',
  '/run/today',
  '/run/money',
  '/run/catalogue',
  '/run/activity',
  '/run/health',
  '/customers',
  '/shop/orders',
  '/shop/products/pro',
  '/shop/discounts',
  '/run/models',
  '/run/brand',
  '/run/setup',
]

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'

/** Headers of the protocol, the default name in an empty field, and paths of the operator's files. */
const ALLOWED = /x-latchkey-[a-z-]+|placeholder: Latchkey|\/latchkey-[\w-]+|\/latchkey\.db/gi

test('every page of the app names only the operator’s product', ON_SQLITE_ONLY, async (t) => {
  const store = await openShop(t, {}, { userApp: true })
  const { app } = store
  const { base } = app.config.urls
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const legal = join(app.dataDir, 'products/_legal')
  mkdirSync(legal, { recursive: true })
  writeFileSync(join(legal, 'terms.md'), '# Terms of use')
  const browser = await openBrowser(t)
  const { page, context } = await visit(browser)
  await signInByForm(page, base, root.email)
  await saveBrand(page, base)
  for (const path of PAGES) {
    await page.goto(`${base}${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
    await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
    const folder = process.env.SCREENSHOTS
    const picture = `${folder}/${path.replaceAll(/\W+/g, '-')}.png`
    if (folder) await page.screenshot({ path: picture, fullPage: true })
    const shown = `${await page.title()}\n${await page.locator('html').ariaSnapshot()}`
    assert.match(shown, /Zebra/, path)
    assert.doesNotMatch(shown.replaceAll(ALLOWED, ''), /latchkey/i, path)
  }

  await page.goto(`${base}/api-keys`)
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name').fill('walk')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /make|create/i })
    .click()
  await page.getByText('I’ve saved this key').waitFor()
  assert.doesNotMatch(await page.getByRole('dialog').innerText(), /latchkey/i)

  const stranger = await visit(browser)
  await stranger.page.goto(`${base}/register`)
  const consent = stranger.page.getByRole('main').getByText('By creating an account')
  await consent.waitFor()
  const links = await consent.getByRole('link').all()
  const { storefront } = app.config.urls
  assert.deepEqual(await Promise.all(links.map((link) => link.getAttribute('href'))), [
    `${storefront}/legal/terms`,
    'https://zebra.example/privacy',
  ])
  await stranger.context.close()

  // The setup ends with a purchase on the operator's own home page.
  await page.goto(`${base}/run/setup`)
  const opened = context.waitForEvent('page')
  await page.getByRole('link', { name: 'Open your home page' }).click()
  await (await opened).getByRole('link', { name: 'Zebra' }).first().waitFor()
  await page.getByText('Waiting for your purchase').waitFor()
  const buyer = await store.buyer('ada')
  const checkout = await buyer.get('/api/checkout?tier=basic')
  await createShop(app).pay(checkout.headers.get('location') ?? '')
  await app.settle()
  await page.getByText('ada@example.com bought Basic').waitFor()

  const robots = await app.get('/robots.txt')
  assert.deepEqual(
    [robots.headers.get('content-type'), /^User-agent: \*/.test(robots.text)],
    ['text/plain; charset=utf-8', true],
  )
  assert.equal((await app.get('/sitemap.xml')).status, 404)
  assert.doesNotMatch((await app.get('/llms.txt')).text, /latchkey/i)
})

/** Saves a brand on its page, which previews it and refuses a pale color. */
async function saveBrand(page: Page, base: string): Promise<void> {
  await page.goto(`${base}/run/brand`)
  const field = (name: string) => page.getByRole('textbox', { name, exact: true })
  const shop = page.frameLocator('iframe[title="Your shop"]')
  await shop.getByText('Latchkey starter kits').waitFor()
  await field('Name').fill('Zebra')
  await field('Tagline').fill('Stripes.')
  await page.getByLabel('Icon', { exact: true }).setInputFiles({
    name: 'icon.svg',
    mimeType: 'image/svg+xml',
    buffer: Buffer.from(LOGO),
  })
  await field('Privacy').fill('https://zebra.example/privacy')
  await field('Buttons and links').fill('#facc15')
  await page.getByText('must be at least 4.5 : 1').waitFor()
  await shop.getByText('Latchkey starter kits').waitFor()
  await field('Buttons and links').fill('#1d4ed8')
  await shop.getByText('Zebra starter kits').waitFor()
  await page.getByRole('radiogroup', { name: 'Preview of' }).getByText('Email').click()
  const email = page.frameLocator('iframe[title="An email"]')
  await email.getByText('Welcome to Zebra').first().waitFor()
  await page.getByRole('button', { name: 'Save brand' }).click()
  await page.getByRole('link', { name: 'Zebra, home' }).waitFor()
}
