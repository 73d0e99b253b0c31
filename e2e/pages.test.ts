// Every page of both apps passes axe in both themes and fits a phone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { DAY_MS, plus } from '#platform/clock.ts'
import { testApp } from '#testing/app.ts'
import {
  assertAccessible,
  assertScrollable,
  ON_SQLITE_ONLY,
  openBrowser,
  signInByForm,
  visit,
} from './browser.ts'
import { ask } from './conversation.ts'
import { APP_PAGES, PUBLIC_PAGES, RESTRICTED_PAGES, STOREFRONT_PAGES } from './page-list.ts'

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

test(
  'every page is accessible in light and dark, on a desktop and on a phone',
  ON_SQLITE_ONLY,
  async (t) => {
    const app = await testApp(t, { userApp: true, worker: true })
    const { base, storefront } = app.config.urls
    const nora = await app.as('nora')
    const root = await app.as('root', { tier: 'pro', superuser: true })
    await root.post('/api/rag/ingest/text', {
      content: 'Two keys open the door.',
      metadata: { source: 'lease.md' },
    })
    await root.post('/api/ai/completions', { prompt: 'Good morning' })
    await root.post('/api/api-keys', { name: 'walk' })
    const browser = await openBrowser(t)

    await Promise.all([
      t.test('pages for anyone', async () => {
        const { page, errors, context } = await visit(browser)
        for (const path of PUBLIC_PAGES) await inspect(page, `${base}${path}`)
        for (const path of STOREFRONT_PAGES) await inspect(page, `${storefront}${path}`)
        assert.deepEqual(errors, [])
        await context.close()
      }),
      t.test('pages that need a sign-in', async () => {
        const free = await visit(browser)
        await signInByForm(free.page, base, nora.email)
        for (const path of RESTRICTED_PAGES) await inspect(free.page, `${base}${path}`)
        await free.context.close()

        const { page, errors, context } = await visit(browser)
        await signInByForm(page, base, root.email)
        for (const path of APP_PAGES) await inspect(page, `${base}${path}`)
        assert.deepEqual(errors, [])
        await context.close()
      }),
    ])
  },
)

test('long names fit on a phone and hide no button', ON_SQLITE_ONLY, async (t) => {
  const name = 'wolfeschlegelsteinhausenbergerdorffwelchevoralternwaren'
  const app = await testApp(t, { userApp: true, worker: true })
  const { base } = app.config.urls
  const wolfe = await app.as(name, { tier: 'pro', superuser: true })
  await wolfe.post('/api/rag/ingest/text', {
    content: 'Two keys open the door.',
    metadata: { source: `${name}.md` },
  })
  await wolfe.post('/api/ai/completions', { prompt: 'Good morning' })
  await wolfe.post('/api/api-keys', { name })
  const { page, errors } = await visit(await openBrowser(t), { viewport: PHONE })
  await signInByForm(page, base, wolfe.email)

  for (const path of [
    '/dashboard',
    '/library',
    '/library?q=keys',
    '/api-keys',
    '/usage?view=table&group_by=key',
    '/calls',
    '/account',
    '/customers',
    `/customers/${wolfe.userId}`,
    '/run/activity',
  ]) {
    await page.goto(`${base}${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
    await assertNotWider(page, path)
  }

  const { db, clock } = app.platform
  const renews_at = plus(clock.now(), 7 * DAY_MS)
  const spent = {
    user_id: wolfe.userId,
    renews_at,
    percent: 80,
    limit_nanos: 20e9,
    used_nanos: 17e9,
    created_at: clock.now(),
  }
  await db
    .insertInto('usage_alerts')
    .values({ ...spent, period: `${clock.now().slice(0, 7)}-01/month`, sent_at: null })
    .execute()
  await db.updateTable('usage_budgets').set({ used_nanos: 17e9 }).where('scope', '=', '').execute()
  await page.goto(`${base}/usage`)
  await page.getByText('You have used $17 of $20 in this period.').waitFor()
  await page.getByText(/80 % used on .*; we emailed you/).waitFor()
  await assertNotWider(page, 'an alert of the allowance')
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await page.goto(`${base}/dashboard`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  assert.equal(await page.getByRole('region', { name: 'Your allowance' }).count(), 0)

  await page.goto(`${base}/home`)
  await ask(page, `What does ${name}${name} say?`)
  await assertNotWider(page, 'a long question')

  for (const [path, button] of [
    [`/customers/${wolfe.userId}`, 'More actions'],
    ['/api-keys', `Actions for ${name}`],
    ['/library', `Actions for ${name}.md`],
  ] as const) {
    await page.goto(`${base}${path}`)
    const box = await page.getByRole('button', { name: button }).boundingBox()
    assert.ok(
      box && box.x >= 0 && box.x + box.width <= PHONE.width,
      `“${button}” ends at ${box && box.x + box.width}`,
    )
  }

  await page.goto(`${base}/customers`)
  await page.getByRole('searchbox').fill(wolfe.email.slice(0, 6).toUpperCase())
  await page.getByText('1 customer', { exact: true }).waitFor()
  await page.getByRole('table').getByRole('link', { name, exact: true }).click()
  await page.getByText('Account created').waitFor()
  await page.goto(`${base}/customers?q=nobody-is-called-so`)
  await page.getByRole('heading', { name: 'No customers found' }).waitFor()
  assert.deepEqual(errors, [])
})

test('numbers fit their cards on a tablet', ON_SQLITE_ONLY, async (t) => {
  const app = await testApp(t, { userApp: true })
  const { base } = app.config.urls
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const { db } = app.platform
  await root.post('/api/ai/completions', { prompt: 'Good morning' })
  const much = {
    cost_nanos: 12_345_678_900_000,
    prompt_tokens: 226_745_123,
    completion_tokens: 98_765_432,
  }
  await db.updateTable('usage_records').set(much).execute()
  await db.updateTable('usage_days').set(much).execute()
  const { page } = await visit(await openBrowser(t))
  await signInByForm(page, base, root.email)
  for (const width of [390, 768, 820, 1024, 1440]) {
    await page.setViewportSize({ width, height: 1180 })
    for (const path of ['/usage', '/run/today', '/run/money?view=usage', '/dashboard']) {
      await page.goto(`${base}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
      await page.locator('.numbers').first().waitFor()
      await settled(async () =>
        assert.deepEqual(await page.evaluate(OUT_OF_CARD), [], `${path} at ${width} px`),
      )
    }
  }
})

/** Returns numbers that overflow their card. */
const OUT_OF_CARD = `[...document.querySelectorAll('main :is(.mantine-Paper-root, section) .numbers')]
  .filter((number) => !number.closest('.scroll-x') && number.scrollWidth > number.clientWidth + 1)
  .map((number) => number.textContent + ': ' + number.scrollWidth + ' px in ' + number.clientWidth)`

/** Returns how much wider than the window the page is, and which elements cause it. */
const TOO_WIDE = `({
  wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  widest: [...document.querySelectorAll('main *')]
    .filter((element) => element.getBoundingClientRect().right > innerWidth && !element.closest('.scroll-x'))
    .map((element) => element.tagName + ': ' + element.textContent.slice(0, 40))
    .slice(-3)
    .join(' | '),
})`

async function assertNotWider(page: Page, name: string): Promise<void> {
  await settled(async () => {
    const { wider, widest } = await page.evaluate<{ wider: number; widest: string }>(TOO_WIDE)
    assert.ok(wider <= 0, `${name} is ${wider} px wider than a phone, by ${widest}`)
  })
}

async function inspect(page: Page, address: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(DESKTOP)
  await page.goto(address)
  await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
  await assertAccessible(page, address)
  await page.emulateMedia({ colorScheme: 'dark' })
  await settled(() => assertAccessible(page, `${address} in the dark`))
  await page.setViewportSize(PHONE)
  await assertNotWider(page, address)
  await assertScrollable(page, `${address} on a phone`)
}

/** Retries a check, because a page needs a moment for another theme or size. */
async function settled(check: () => Promise<void>, tries = 8): Promise<void> {
  try {
    await check()
  } catch (error) {
    if (tries === 1) throw error
    await new Promise((resolve) => setTimeout(resolve, 100))
    await settled(check, tries - 1)
  }
}
