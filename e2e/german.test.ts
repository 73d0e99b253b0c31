// The app in German: no English sentence is left, and nothing is wider than a phone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { testApp } from '#testing/app.ts'
import { ON_SQLITE_ONLY, openBrowser, signInByForm, visit } from './browser.ts'
import { APP_PAGES, PUBLIC_PAGES, RESTRICTED_PAGES } from './page-list.ts'

const PHONE = { width: 390, height: 844 }

/** The API's documentation, the sandbox and the seller's own texts are in English. */
const IN_ENGLISH = /^\/(?:errors|reference|sandbox|shop\/products\/pro)/

const CODE = /^(?:from openai|curl |import )/
/** Words that every second English sentence has, and no German one. */
const ENGLISH = /\b(?:the|your|you|with|and|for|from|this|are|of|not|yet)\b/i

test('every page of the app is in German for a German browser', ON_SQLITE_ONLY, async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const { base } = app.config.urls
  const nora = await app.as('nora')
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const browser = await openBrowser(t)

  const stranger = await visit(browser, { viewport: PHONE, locale: 'de-DE' })
  for (const path of PUBLIC_PAGES.filter((path) => !IN_ENGLISH.test(path)))
    await inspect(stranger.page, base, path)
  await stranger.page.goto(`${base}/login`)
  await stranger.page.getByLabel('E-Mail').fill(nora.email)
  await stranger.page.getByRole('button', { name: 'Anmelden', exact: true }).click()
  assert.deepEqual(stranger.errors, [])
  await stranger.context.close()

  for (const [who, paths] of [
    [nora, RESTRICTED_PAGES],
    [root, APP_PAGES],
  ] as const) {
    const { page, context, errors } = await visit(browser, { viewport: PHONE })
    await signInByForm(page, base, who.email)
    await context.addCookies([{ name: 'lang', value: 'de', url: base }])
    for (const path of paths.filter((path) => !IN_ENGLISH.test(path)))
      await inspect(page, base, path)
    assert.deepEqual(errors, [])
    await context.close()
  }
})

test('the page is in German before the app starts', ON_SQLITE_ONLY, async (t) => {
  const app = await testApp(t, { userApp: true })
  const read = async (headers: Record<string, string>) =>
    (await fetch(app.url, { headers: { accept: 'text/html', ...headers } })).text()
  const page = await read({ 'accept-language': 'de-AT,en;q=0.5' })
  assert.match(page, /<html lang="de">/)
  assert.match(page, /Wird geladen….*braucht JavaScript/s)
  assert.match(page, /content="Ein Schlüssel/)
  assert.match(await read({ 'accept-language': 'de', cookie: 'a=b; lang=en' }), /<html lang="en">/)
})

async function inspect(page: Page, base: string, path: string): Promise<void> {
  await page.goto(`${base}${path}`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  assert.equal(await page.locator('html').getAttribute('lang'), 'de')
  const lines = (await page.locator('body').innerText()).split('\n')
  assert.deepEqual(
    lines.filter((line) => ENGLISH.test(line) && !CODE.test(line)),
    [],
    path,
  )
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  assert.ok(width <= PHONE.width, `${path} is ${width} px wide`)
}
