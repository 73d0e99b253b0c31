// The founder sees revenue and margin, opens the rows behind them and refunds, each within four
// clicks from the app's first page of Run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordSubscriptionChanges } from '#billing/metrics/subscription-changes.ts'
import { testApp } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'
import { createShop } from '#testing/shop.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

const CONTENT = 'The lighthouse has forty-one lamps.'

test('a founder sees the margin in two clicks and refunds in four', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    userApp: true,
    worker: true,
    env: { ...vendor.env.openai, EMBEDDER: 'local' },
  })
  const { base } = app.config.urls
  const ada = await app.as('ada')
  await createShop(app).subscribe(ada)
  await app.settle()
  await recordSubscriptionChanges(app.platform)
  vendor.play(says('Yes', { usage: { prompt: 1_000, completion: 100 } }))
  await ada.post('/v1/chat/completions', {
    model: 'gpt-6-luna',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  await ada.post('/api/rag/ingest/text', { content: CONTENT })
  const root = await app.as('root', { superuser: true })

  const { page, errors } = await visit(await openBrowser(t))
  page.setDefaultTimeout(60_000)
  const loaded = () =>
    page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  let clicks = 0
  const click = async (locator: ReturnType<typeof page.getByRole>) => {
    await locator.click()
    clicks++
  }
  await signInByForm(page, base, root.email)
  await page.goto(`${base}/run/today`)
  await page.getByText('Revenue today', { exact: true }).waitFor()
  await page.getByText('$29.00', { exact: true }).first().waitFor()
  await page.getByRole('table').getByRole('link', { name: ada.email }).first().waitFor()
  await loaded()
  await assertAccessible(page, 'today')

  // The numbers of calls and documents open the rows of the day.
  for (const [number, shown] of [
    [/^2 calls$/, 'gpt-6-luna'],
    [/^1 document$/, String(CONTENT.length)],
  ] as const) {
    await page.getByRole('link', { name: number }).click()
    const row = page.getByRole('row').filter({ hasText: ada.email }).filter({ hasText: shown })
    await row.waitFor()
    assert.equal(new URL(page.url()).searchParams.get('days'), '1')
    await page.goBack()
  }
  await page.getByRole('link', { name: 'Details of Failed calls today', exact: true }).click()
  await page.getByText('No calls in this period').waitFor()
  await page.getByRole('combobox', { name: 'Status' }).selectOption('All calls')
  await page.getByRole('link', { name: ada.email }).first().waitFor()

  const menu = page.getByRole('navigation', { name: 'Main' })
  await click(menu.getByRole('link', { name: 'Money', exact: true }))
  await click(page.getByRole('button', { name: 'Gross margin', exact: true }))
  await page.getByRole('heading', { name: 'Gross margin', exact: true }).waitFor()
  assert.ok(clicks <= 4)
  await loaded()
  await assertAccessible(page, 'metrics')

  const views = page.getByRole('navigation', { name: 'Money', exact: true })
  for (const [view, shown] of [
    ['Invoices', 'Total'],
    ['Subscriptions', 'MRR after'],
    ['Usage', 'Requests'],
    ['Calls', 'Status'],
    ['Documents', 'Characters'],
    ['Payments', 'Amount'],
  ] as const) {
    await views.getByRole('link', { name: view, exact: true }).click()
    await page.getByText(shown, { exact: true }).first().waitFor()
    assert.deepEqual(await views.locator('[aria-current]').allTextContents(), [view])
    await loaded()
    await assertAccessible(page, view)
  }
  await views.getByRole('link', { name: 'Processor', exact: true }).click()
  await page.getByText('In sync with the payment processor').waitFor()

  await page.goto(`${base}/run/today`)
  clicks = 0
  await click(page.getByRole('table').getByRole('link', { name: ada.email }).first())
  await click(page.getByRole('button', { name: /^Refund \$/ }))
  const dialog = page.getByRole('dialog', { name: 'Refund' })
  await dialog.getByLabel('Reason').fill('Slow answers')
  await click(dialog.getByRole('button', { name: /^Refund \$/ }))
  await dialog.waitFor({ state: 'detached' })
  assert.ok(clicks <= 4)
  await page.getByText('Refunded', { exact: true }).first().waitFor()

  const day = app.clock.now().slice(0, 10)
  const { body } = await root.get(`/api/admin/metrics?from=${day}&names=revenue,refunds`)
  assert.deepEqual(
    body.totals.map(({ value }: { value: number }) => value),
    [0, 2_900],
  )
  assert.deepEqual(errors, [])
})
