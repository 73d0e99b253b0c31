// The founder finds a customer by surname, sees their margin and life, refunds and signs them out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'
import { createShop } from '#testing/shop.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

test('a founder finds a customer by surname, refunds, signs out and suspends', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, worker: true, env: vendor.env.openai })
  const { base } = app.config.urls
  const ada = await app.as('ada')
  await ada.patch('/api/users/me', { full_name: 'Ada King Lovelace' })
  await createShop(app).subscribe(ada)
  await app.settle()
  vendor.play(says('Yes', { usage: { prompt: 1_000, completion: 100 } }))
  await ada.post('/v1/chat/completions', {
    model: 'gpt-6-luna',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  const root = await app.as('root', { superuser: true })

  const { page, errors } = await visit(await openBrowser(t))
  page.setDefaultTimeout(60_000)
  await signInByForm(page, base, root.email)
  await page.goto(`${base}/customers`)
  await page.getByRole('link', { name: 'Ada King Lovelace' }).waitFor()
  await assertAccessible(page, 'customers')

  await page.getByRole('searchbox', { name: 'Search customers' }).fill('lovelace')
  await page.getByText('1 customer', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Ada King Lovelace' }).click()
  await page.getByRole('heading', { name: 'Ada King Lovelace', level: 1 }).waitFor()
  await page.getByText('Margin, 30 days').waitFor()
  await page.getByText('Subscription changed').first().waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  await assertAccessible(page, 'a customer')

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'View as customer' }).click()
  const start = page.getByRole('dialog', { name: 'View as customer' })
  await start.getByLabel('Reason').fill('They cannot find an invoice')
  await start.getByRole('button', { name: 'Start view' }).click()
  const bar = page.getByRole('region', { name: 'View of another account' })
  await bar.getByText('Viewing as Ada King Lovelace').waitFor()
  await page.getByRole('heading', { name: 'Hello, Ada' }).waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  await assertAccessible(page, 'the dashboard in a view')
  const conversations = page.getByRole('region', { name: 'Recent conversations' })
  await conversations.getByText('Private. Your view of this account').waitFor()
  await page.goto(`${base}/home`)
  await page.getByText('A view of an account can’t ask questions').waitFor()
  await page.goto(`${base}/billing`)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  const pause = page.getByRole('dialog', { name: 'Pause your plan?' })
  await pause.getByRole('button', { name: 'Pause', exact: true }).click()
  await pause.getByText('You are viewing this account read-only').waitFor()
  await page.goto(`${base}/customers`)
  await page.getByText('For superusers only').waitFor()
  await bar.getByRole('button', { name: 'End view' }).click()
  await page.getByRole('heading', { name: 'Ada King Lovelace', level: 1 }).waitFor()
  await page.getByText('View by support ended').first().waitFor()

  await page.getByRole('button', { name: 'Change plan' }).click()
  const subscription = page.getByRole('dialog', { name: 'Change plan' })
  const prices = subscription.getByRole('combobox', { name: 'New plan' })
  await prices.selectOption({ label: 'Enterprise, $99 a month' })
  await subscription.getByText('Due now', { exact: true }).waitFor()
  await assertAccessible(page, 'the price of a plan change')
  await subscription.getByRole('button', { name: /^Charge \$/ }).click()
  await subscription.waitFor({ state: 'detached' })
  await page.getByText('Plan changed by a superuser').first().waitFor()

  await page
    .getByRole('button', { name: /^Refund \$/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog', { name: 'Refund' })
  await dialog.getByLabel('Reason').fill('Slow answers')
  await dialog.getByRole('button', { name: /^Refund \$/ }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Refunded', { exact: true }).first().waitFor()

  const choose = async (item: string, button: string, done: string) => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: item }).click()
    await page.getByRole('dialog').getByRole('button', { name: button }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText(done, { exact: true }).first().waitFor()
  }
  await choose('Sign out everywhere', 'Sign out everywhere', 'Signed out everywhere')
  assert.equal((await ada.get('/api/users/me')).status, 401)
  await choose('Suspend', 'Suspend', 'Suspended')
  const find = async () => (await root.get(`/api/admin/users/${ada.userId}`)).body
  assert.equal((await find()).is_active, false)

  await page.getByRole('button', { name: 'Change plan' }).click()
  const plan = page.getByRole('dialog', { name: 'Change plan' })
  await plan.getByRole('combobox', { name: 'Plan' }).selectOption('Enterprise')
  await plan.getByRole('button', { name: 'Save' }).click()
  await plan.waitFor({ state: 'detached' })
  assert.equal((await find()).tier_override, 'enterprise')
  await page.getByText('Plan set to Enterprise').waitFor()
  await page.locator('html:not(:has([aria-busy=true]))').waitFor({ state: 'attached' })
  await assertAccessible(page, 'a suspended customer')
  assert.deepEqual(errors, [])
})
