// The user app under a brand that a superuser saved.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
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
  '/billing',
  '/account',
  '/account?tab=security',
  '/account?tab=data',
  '/admin',
  '/run/models',
]

test('every page of the app names only the operator’s product', ON_SQLITE_ONLY, async (t) => {
  const app = await testApp(t, { userApp: true })
  const { base } = app.config.urls
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const form = { name: 'Zebra', tagline: 'Stripes.', colours: { primary: '#1d4ed8' }, radius: 2 }
  assert.equal((await root.request('PUT', '/api/admin/brand', { body: form })).status, 200)
  const { page } = await visit(await openBrowser(t))
  await signInByForm(page, base, root.email)
  for (const path of PAGES) {
    await page.goto(`${base}${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
    await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
    const shown = `${await page.title()}\n${await page.locator('html').ariaSnapshot()}`
    assert.match(shown, /Zebra/, path)
    assert.doesNotMatch(shown.replaceAll(/x-latchkey-[a-z-]+/gi, ''), /latchkey/i, path)
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

  const robots = await app.get('/robots.txt')
  assert.deepEqual(
    [robots.headers.get('content-type'), /^User-agent: \*/.test(robots.text)],
    ['text/plain; charset=utf-8', true],
  )
  for (const path of ['/sitemap.xml', '/llms.txt'])
    assert.equal((await app.get(path)).status, 404, path)
})
