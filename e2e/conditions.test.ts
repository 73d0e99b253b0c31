// The app on a slow connection, offline and with forced colors, and its description of the search.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { testApp } from '#testing/app.ts'
import { openBrowser, readStyle, signInByForm, visit } from './browser.ts'

test('the app works on a bad connection and describes plans and search correctly', async (t) => {
  const app = await testApp(t, { userApp: true })
  const { base } = app.config.urls
  const ada = await app.as('ada', { tier: 'pro' })
  const browser = await openBrowser(t)
  const { page, context, errors } = await visit(browser)
  await signInByForm(page, base, ada.email)

  await t.test('no page promises paid features to the free plan', async () => {
    const stranger = await visit(browser)
    for (const path of ['/', '/pricing', '/register']) {
      await stranger.page.goto(`${base}${path}`)
      await stranger.page
        .getByText(/API keys are part of Pro/)
        .first()
        .waitFor()
      assert.equal(await stranger.page.getByText(/free to start|start free/i).count(), 0, path)
    }
    await stranger.context.close()
  })

  await t.test('the loading screen shows before scripts and styles arrive', async () => {
    const slow = await visit(browser)
    const line = Promise.withResolvers<void>()
    await slow.page.route('**/assets/**', async (route) => {
      await line.promise
      await route.continue()
    })
    await slow.page.goto(base, { waitUntil: 'commit' })
    await slow.page.getByText('Loading…').waitFor()
    // Polled from outside, because the page's policy forbids waiting inside.
    const isPainted = () =>
      slow.page.evaluate('performance.getEntriesByName("first-contentful-paint").length === 1')
    while (!(await isPainted())) await wait(20)
    line.resolve()
    await slow.page.getByRole('heading', { level: 1 }).waitFor()
    await slow.page.getByText('Loading…').waitFor({ state: 'detached' })
    // The page's styles must override the library's.
    const title = slow.page.getByRole('heading', { level: 1 })
    assert.ok(
      Number.parseFloat(await readStyle(title, 'font-size')) > 40,
      'the title has the size of its own style',
    )
    await slow.context.close()
  })

  await t.test('a page that failed offline loads when the browser is online', async () => {
    await page.goto(`${base}/usage`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await context.setOffline(true)
    await page.getByRole('link', { name: 'API keys' }).first().click()
    await page.getByRole('heading', { name: 'Couldn’t load this page' }).waitFor()
    await context.setOffline(false)
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    await page.getByText('No API keys yet').waitFor()
  })

  await t.test('the offline bar covers neither the composer nor the account menu', async () => {
    await page.goto(`${base}/home`)
    const composer = page.getByRole('textbox', { name: 'Message' })
    await composer.waitFor()
    await context.setOffline(true)
    const bar = page.getByText('You’re offline.')
    await bar.waitFor()
    const top = (await bar.locator('..').boundingBox())?.y ?? 0
    for (const one of [composer, page.getByRole('navigation').getByText('Ada').last()]) {
      const box = await one.boundingBox()
      assert.ok(box && box.y + box.height <= top, `ends at ${box && box.y + box.height} of ${top}`)
    }
    await context.setOffline(false)
    await bar.waitFor({ state: 'detached' })
  })

  await t.test('data that failed offline loads when the browser is online', async () => {
    await page.goto(`${base}/billing`)
    await page.getByText('Free plan').or(page.getByText('Pro plan')).first().waitFor()
    await page.route('**/api/usage?**', (route) => route.abort('internetdisconnected'))
    await page.goto(`${base}/usage`)
    await page.getByText('Connection failed').waitFor()
    await page.unroute('**/api/usage?**')
    await context.setOffline(true)
    await context.setOffline(false)
    await page.getByText('No calls in this period').waitFor()
  })

  await t.test('forced colors mark the chosen segment', async () => {
    await page.emulateMedia({ forcedColors: 'active' })
    await page.goto(`${base}/usage?days=7`)
    const segment = (name: string) => page.locator('label', { hasText: name })
    await segment('7 days').waitFor()
    assert.equal(await readStyle(segment('7 days'), 'outline-style'), 'solid')
    assert.notEqual(await readStyle(segment('30 days'), 'outline-style'), 'solid')
    await page.emulateMedia({ forcedColors: 'none' })
  })

  await t.test('describes how the search compares', async () => {
    await ada.post('/api/rag/ingest/text', {
      content: 'The colony on the roof of the town hall made forty-one kilograms of honey.',
      metadata: { source: 'bees.md' },
    })
    await page.goto(`${base}/library`)
    const search = page.getByRole('searchbox', { name: 'Search your files' })
    await page.getByPlaceholder('Search by words').waitFor()
    assert.doesNotMatch((await search.getAttribute('placeholder')) ?? '', /meaning/)

    await search.fill('zxqv blorp wuggle')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'No results' }).waitFor()
    await page.getByText('No passage contains the words “zxqv blorp wuggle”.').waitFor()

    await page.goto(`${base}/usage?group_by=model&view=table`)
    await page.getByRole('cell', { name: 'Word search, no model' }).waitFor()
    assert.equal(await page.getByText('lexical-1').count(), 0)
  })
  assert.deepEqual(errors, [])
})
