// The page's policy must allow the redirect from the login form to the processor's checkout.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { PASSWORD, testApp } from '#testing/app.ts'
import { openBrowser, visit } from './browser.ts'

for (const where of ['http', 'https'] as const) {
  test(`the storefront's login redirects to a checkout on ${where}`, async (t) => {
    const processor = await standIn(t)
    const target = where === 'http' ? `${processor.url}/pay` : 'https://checkout.invalid/pay'
    processor.leadTo(target)
    const env = {
      STRIPE_SECRET_KEY: 'sk_test_x',
      STRIPE_WEBHOOK_SECRET: 'whsec_x',
      STRIPE_API_BASE: processor.url,
    }
    const app = await testApp(t, { env })
    const { email } = await app.as('ada')
    const { page, errors } = await visit(await openBrowser(t))

    await page.goto(`${app.config.urls.storefront}/login?redirect=/api/checkout?tier=pro`)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    // Nothing listens on https: the request itself shows that the policy allows it.
    await Promise.all([
      page.waitForRequest(target),
      page.getByRole('main').getByRole('button', { name: 'Sign in' }).click(),
    ])
    if (where === 'http') await page.getByText('Pay here').waitFor()
    assert.deepEqual(errors, [])
  })
}

/** Starts a fake processor with one checkout address. */
async function standIn(t: TestContext) {
  let target = ''
  const server = createServer((request, response) => {
    if (request.url === '/pay')
      return response.setHeader('content-type', 'text/html').end('<p>Pay here</p>')
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'cs_test_1', object: 'checkout.session', url: target }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo(url: string) {
      target = url
    },
  }
}
