// The founder moves the clock of a sandboxed service, and follows its effects to a customer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { createShop, FAILS_AT_RENEWAL } from '#testing/shop.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

test('a founder moves a month on, and opens an email and a customer whose payment failed', async (t) => {
  const app = await testApp(t, { userApp: true })
  const { base } = app.config.urls
  const shop = createShop(app)
  const tony = await app.as('tony')
  await shop.subscribe(await app.as('ada'))
  await shop.subscribe(tony, { card: FAILS_AT_RENEWAL })
  await app.settle()
  const root = await app.as('root', { superuser: true })
  const startedMs = app.clock.ms()

  const { page, context, errors } = await visit(await openBrowser(t))
  page.setDefaultTimeout(90_000)
  await signInByForm(page, base, root.email)
  await page.goto(`${base}/run/time-machine`)
  await page.getByText('The same as real time').waitFor()
  await page.getByText('The period ends').first().waitFor()
  await assertAccessible(page, 'the time machine before a move')

  await page.getByRole('button', { name: 'A week on' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('7 days ahead of real time').waitFor()
  await page.getByText('The clock cannot move back.').waitFor()
  assert.ok(app.clock.ms() - startedMs >= 7 * 24 * 3_600_000)
  const isFocused = (name: string) =>
    page.getByRole('button', { name }).and(page.locator(':focus')).count()
  assert.equal(await isFocused('A week on'), 1)

  await page.getByRole('button', { name: 'A month on' }).click()
  await page.getByText('Moving the clock…').waitFor({ state: 'detached' })
  await page
    .getByText(/^Payment of \$\S+ failed$/)
    .first()
    .waitFor()
  await page
    .getByText(/^Paid \$/)
    .first()
    .waitFor()
  await assertAccessible(page, 'the time machine after a move')

  await page.getByRole('radiogroup', { name: 'Show' }).getByText('Emails', { exact: true }).click()
  await page
    .getByText(/^Paid \$/)
    .first()
    .waitFor({ state: 'detached' })
  const mail = page.locator('a[href^="/sandbox/mail/"]').first()
  const [opened] = await Promise.all([context.waitForEvent('page'), mail.click()])
  await opened.getByRole('heading', { level: 1 }).first().waitFor()
  await opened.close()

  await page.getByRole('link', { name: tony.email }).first().click()
  await page.waitForURL(`**/customers/${tony.userId}`)
  await page.getByText('Past due').first().waitFor()
  assert.deepEqual(errors, [])
})

test('a stopped move ends after the running day, and the page says when the clock is fixed', async (t) => {
  const app = await testApp(t, { userApp: true })
  const { base } = app.config.urls
  const root = await app.as('root', { superuser: true })
  const { page } = await visit(await openBrowser(t))
  page.setDefaultTimeout(90_000)
  await signInByForm(page, base, root.email)
  await page.goto(`${base}/run/time-machine`)
  await page.getByText('No plan is running, so nothing is due.').waitFor()

  const startedMs = app.clock.ms()
  // Holds the second request back until the founder has pressed Stop.
  let requests = 0
  let release = () => {}
  const pressed = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/api/admin/time-machine', async (route) => {
    if (route.request().method() === 'POST' && ++requests === 2) await pressed
    await route.continue()
  })
  await page.getByRole('button', { name: 'A month on' }).click()
  await page.getByRole('button', { name: 'Stop' }).click()
  release()
  await page.getByText('Moving the clock…').waitFor({ state: 'detached' })
  assert.ok(app.clock.ms() - startedMs < 3 * 24 * 3_600_000)

  await page.route('**/api/admin/time-machine', (route) =>
    route.fulfill({ status: 409, json: { detail: 'Fixed', code: 'clock_fixed' } }),
  )
  await page.reload()
  await page.getByRole('heading', { name: 'Only for sandboxed payments' }).waitFor()
})
