// The billing page in each state of a subscription: text, first button, and the link from pages
// that need a plan.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { createShop, neverWritten } from '#testing/shop.ts'
import { SUBSCRIPTION_STATES } from '#testing/subscription-states.ts'
import { assertAccessible, ON_SQLITE_ONLY, openBrowser, signInByForm, visit } from './browser.ts'

const SHOTS = process.env.SHOTS

test('the billing page shows the text and action of each state', ON_SQLITE_ONLY, async (t) => {
  const app = await testApp(t, { userApp: true })
  neverWritten(app, 'stripe_settlements')
  const shop = createShop(app)
  const browser = await openBrowser(t)
  for (const [
    index,
    { name, bring, says, gate, badge, words, button },
  ] of SUBSCRIPTION_STATES.entries()) {
    const client = await app.as(`page-${index}`)
    await bring(shop, client)
    await app.settle()
    const { page, context, errors } = await visit(browser)
    await signInByForm(page, app.url, client.email)
    await page.goto(`${app.url}/billing`)
    const plan = page.locator('section[aria-labelledby=plan]')
    await plan.getByText(badge, { exact: true }).waitFor()
    assert.match((await plan.innerText()).replaceAll('\n', ' '), words, name)
    const buttons = plan.locator('button, a')
    const first = (await buttons.count()) === 0 ? null : await buttons.first().innerText()
    assert.equal(first, button, name)
    if (gate === 403) {
      await page.goto(`${app.url}/api-keys`)
      const way = says[0] === 'past_due' ? 'Go to billing' : 'See plans'
      await page.getByRole('main').getByRole('link', { name: way, exact: true }).waitFor()
      await page.goBack()
    }
    if (index % 5 === 1) await assertAccessible(page, name)
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/billing-${index}.png`, fullPage: true })
    assert.deepEqual(errors, [], name)
    await context.close()
  }
})
