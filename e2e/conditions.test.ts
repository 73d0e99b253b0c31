// The app in hard conditions: a slow line, no line, forced colours; and what it promises of search, which must be so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { testApp } from '#testing/app.ts'
import { assertAccessible, openBrowser, readStyle, signInByForm, visit } from './browser.ts'

test('the app stands by its reader on a bad line and says only what is so', async (t) => {
  const app = await testApp(t, { userApp: true })
  const { base } = app.config.urls
  const ada = await app.as('ada', { tier: 'pro' })
  const browser = await openBrowser(t)
  const { page, context, errors } = await visit(browser)
  await signInByForm(page, base, ada.email)

  await t.test('nobody is promised that the free plan opens what it does not', async () => {
    const stranger = await visit(browser)
    for (const path of ['/', '/pricing', '/register']) {
      await stranger.page.goto(`${base}${path}`)
      await stranger.page
        .getByText(/API keys (come|open) with Pro/)
        .first()
        .waitFor()
      assert.equal(await stranger.page.getByText(/free to start|start free/i).count(), 0, path)
    }
    await stranger.context.close()
  })

  await t.test('something is painted before scripts and styles have come', async () => {
    const slow = await visit(browser)
    const line = Promise.withResolvers<void>()
    await slow.page.route('**/assets/**', async (route) => {
      await line.promise
      await route.continue()
    })
    await slow.page.goto(base, { waitUntil: 'commit' })
    await slow.page.getByText('Loading…').waitFor()
    // Asked again and again from outside: what waits inside the page is stopped by the page's own policy.
    const isPainted = () =>
      slow.page.evaluate('performance.getEntriesByName("first-contentful-paint").length === 1')
    while (!(await isPainted())) await wait(20)
    line.resolve()
    await slow.page.getByRole('heading', { level: 1 }).waitFor()
    await slow.page.getByText('Loading…').waitFor({ state: 'detached' })
    // Wherever the sheets stand, a page's own styles win over the library's.
    const title = slow.page.getByRole('heading', { level: 1 })
    assert.ok(
      Number.parseFloat(await readStyle(title, 'font-size')) > 40,
      'the hero is as large as it is meant',
    )
    await slow.context.close()
  })

  await t.test(
    'a page that failed for want of a connection comes by itself when there is one',
    async () => {
      await page.goto(`${base}/dashboard`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await context.setOffline(true)
      await page.getByRole('link', { name: 'API keys' }).first().click()
      await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
      await context.setOffline(false)
      await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
      await page.getByText('No keys yet').waitFor()
    },
  )

  await t.test('data that failed for want of a connection comes by itself, too', async () => {
    await page.goto(`${base}/billing`)
    await page.getByText('Free plan').or(page.getByText('Pro plan')).first().waitFor()
    await page.route('**/api/usage?**', (route) => route.abort('internetdisconnected'))
    await page.goto(`${base}/usage`)
    await page.getByText('No answer from the service').waitFor()
    await page.unroute('**/api/usage?**')
    await context.setOffline(true)
    await context.setOffline(false)
    await page.getByText('No calls in this time').waitFor()
  })

  await t.test('with forced colours the chosen segment is marked', async () => {
    await page.emulateMedia({ forcedColors: 'active' })
    await page.goto(`${base}/usage?days=7`)
    const segment = (name: string) => page.locator('label', { hasText: name })
    await segment('7 days').waitFor()
    assert.equal(await readStyle(segment('7 days'), 'outline-style'), 'solid')
    assert.notEqual(await readStyle(segment('30 days'), 'outline-style'), 'solid')
    await page.emulateMedia({ forcedColors: 'none' })
  })

  await t.test(
    'search says what it goes by, and an empty answer offers what came nearest',
    async () => {
      await ada.post('/api/rag/ingest/text', {
        content: 'The colony on the roof of the town hall made forty-one kilograms of honey.',
        metadata: { source: 'bees.md' },
      })
      await page.goto(`${base}/documents`)
      const search = page.getByRole('searchbox', { name: 'Search your documents' })
      await page.getByPlaceholder('By the words in them').waitFor()
      assert.doesNotMatch((await search.getAttribute('placeholder')) ?? '', /meaning/)

      await search.fill('zxqv blorp wuggle')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
      await page.getByText('No passage of yours has the words of “zxqv blorp wuggle”.').waitFor()

      await page.goto(`${base}/ask?min_score=0.99`)
      await page
        .getByRole('textbox', { name: 'Question' })
        .fill('How much honey was made on the roof last year?')
      await page.keyboard.press('Enter')
      const nearest = page.getByRole('region', { name: 'The nearest passages' })
      await nearest.getByText('bees.md').waitFor()
      await nearest.getByText('forty-one kilograms').waitFor()
      await assertAccessible(page, 'an empty answer')

      // Read on the way: a browser does not keep what it has streamed.
      const looked = Promise.withResolvers<string>()
      await page.route(
        '**/api/rag/query',
        async (route) => {
          const response = await route.fetch()
          looked.resolve(await response.text())
          await route.fulfill({ response })
        },
        { times: 1 },
      )
      await page.getByRole('textbox', { name: 'Question' }).fill('Zxqv blorp wuggle?')
      await page.keyboard.press('Enter')
      assert.match(await looked.promise, /^event: sources\ndata: \{"sources":\[\],"nearest":\[\]/)
      await page.getByText('No passage came as near as 0.99').last().waitFor()
      assert.equal(await nearest.count(), 1, 'that of the question before')

      await page.goto(`${base}/usage?group_by=model&view=table`)
      await page.getByRole('cell', { name: 'Word search, no model' }).waitFor()
      assert.equal(await page.getByText('lexical-1').count(), 0)
    },
  )
  assert.deepEqual(errors, [])
})
