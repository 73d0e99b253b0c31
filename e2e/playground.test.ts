// The developer's desk: the playground, its request as code, the first call of a new key, and the
// API reference.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { testApp } from '#testing/app.ts'
import { holds, mockVendor, refuses, says } from '#testing/mock-vendor.ts'
import { assertAccessible, assertContrast, openBrowser, signInByForm, visit } from './browser.ts'

test('the playground streams an answer, and its code sends the same request', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: { ...vendor.env.openai, SANDBOX: 'off' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const { key } = (await ada.post('/api/api-keys', { name: 'terminal' })).body
  vendor.play(says('**At nine**, from the north quay.'))
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/playground`)

  await page.getByLabel('System message').fill("It's a ferry's desk.")
  await page.getByLabel('Max tokens').fill('300')
  await page.getByLabel('Message', { exact: true }).fill('When does the "Adler" sail?')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  const answer = page.getByRole('article', { name: 'Assistant' })
  await answer.getByText('At nine, from the north quay.').waitFor()
  const facts = page.getByLabel('Measurements')
  for (const fact of ['First token', 'Latency', 'Cost']) await facts.getByText(fact).waitFor()
  await facts.getByText('10 tokens').waitFor()
  assert.equal(vendor.calls.length, 1)

  await page.getByText('Events', { exact: true }).click()
  await page.getByLabel('Raw events').getByText('[DONE]').waitFor()
  await assertAccessible(page, 'raw events')
  await page.getByText('Code', { exact: true }).click()
  await page.getByText('The last request, as sent').waitFor()
  await assertAccessible(page, 'the code of a request')
  await assertContrast(page, 'the code of a request')

  const code = await page.locator('pre').innerText()
  await promisify(execFile)('sh', ['-c', code.replace('YOUR_API_KEY', key)])
  const [sent, copied] = vendor.calls.map(({ body }) => ({ ...body, safety_identifier: undefined }))
  assert.deepEqual(copied, sent)
  assert.equal(vendor.calls.length, 2)

  // The newer call is that of the program, whose messages this browser does not know.
  const [programs, own] = (await ada.get('/api/usage/calls')).body.calls
  vendor.play(says('At ten.'))
  await page.goto(`${app.url}/playground?call=${own.id}`)
  await page.getByText('This browser kept your request.').waitFor()
  await page.getByRole('article', { name: 'User' }).getByText('When does the "Adler"').waitFor()
  await page.getByRole('button', { name: 'Send again' }).click()
  await answer.getByText('At ten.').waitFor()
  assert.deepEqual({ ...vendor.calls[0]?.body, safety_identifier: undefined }, sent)

  await page.goto(`${app.url}/playground?call=${programs.id}`)
  await page.getByText('It had 2 messages.').waitFor()
  await assertAccessible(page, 'a replay without its messages')
  assert.equal(await page.getByLabel('Max tokens').inputValue(), '300')
  await page.getByRole('button', { name: 'Start over' }).click()
  await page.waitForURL((url) => !url.searchParams.has('call'))
  await page.locator('textarea:focus').waitFor()
  assert.equal(await page.getByLabel('Max tokens').inputValue(), '')
  assert.deepEqual(errors, [])
})

test('a sign-out in another tab leaves no prompt in the browser', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: { ...vendor.env.openai, SANDBOX: 'off' } })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(holds('At nine, from the quay.', 2, new Promise(() => undefined)))
  const { page, context, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/playground`)
  await page.getByLabel('Message', { exact: true }).fill('A secret question')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('article', { name: 'Assistant' }).getByText('At').waitFor()

  const other = await context.newPage()
  await other.goto(`${app.url}/home`)
  await other.getByRole('button', { name: /^Account of/ }).click()
  await other.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
  await vendor.calls[0]?.gone
  assert.doesNotMatch(await page.evaluate('JSON.stringify({ ...localStorage })'), /secret/)
  assert.deepEqual(errors, [])
})

test('a rejected request shows the vendor’s reason and can be sent again', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: { ...vendor.env.openai, SANDBOX: 'off' } })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(refuses(400), says('At nine.'))
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/playground`)
  await page.getByLabel('Message', { exact: true }).fill('Hello')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  const alert = page.getByRole('alert')
  await alert.waitFor()
  assert.match(await alert.innerText(), /^400/)
  await assertAccessible(page, 'a rejected request')
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByRole('article', { name: 'Assistant' }).getByText('At nine.').waitFor()
  await alert.waitFor({ state: 'detached' })
  assert.deepEqual(vendor.calls[1]?.body.messages, vendor.calls[0]?.body.messages)
  assert.deepEqual(errors, [])
})

test('the overview leads to a key and its first call, which opens in the playground', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: { ...vendor.env.openai, SANDBOX: 'off' } })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(says('Hello'))
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/build`)
  const steps = page.getByRole('region', { name: 'Make your first call' })
  await steps.getByText('0 of 2 done').waitFor()
  await steps.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('laptop')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('Waiting for the first call…').waitFor()
  await assertAccessible(page, 'a key without calls')

  await promisify(execFile)('sh', ['-c', await dialog.locator('pre').innerText()])
  await dialog.getByText('First call received', { exact: true }).waitFor()
  await dialog.getByText('15 tokens').waitFor()
  await assertContrast(page, 'a key with its first call')
  await dialog.getByLabel('I’ve saved this key').check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await steps.getByText('2 of 2 done').waitFor()
  await steps.getByText('First call received', { exact: true }).waitFor()
  await assertAccessible(page, 'the overview with the first call')
  await page.reload()
  await page.getByRole('heading', { name: 'Calls by day' }).waitFor()
  assert.equal(await steps.count(), 0)
  await page.getByRole('region', { name: 'Top models' }).getByText('1 call · $').waitFor()

  await page.getByRole('link', { name: 'View calls' }).first().click()
  await page.getByRole('button', { name: /Details of the call/ }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'Replay in playground' }).click()
  await page.getByText('We never store prompts, so write the messages again.').waitFor()
  const [{ model }] = (await ada.get('/api/usage/calls')).body.calls
  await page.locator(`input[role=combobox][value="${model}"]`).waitFor()
  await assertAccessible(page, 'a replay without its messages')
  assert.deepEqual(errors, [])
})

test('a production service shows the API reference, and its example works', async (t) => {
  const app = await testApp(t, { userApp: true, env: { DEBUG: 'false' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const { key } = (await ada.post('/api/api-keys', { name: 'terminal' })).body
  const { page, errors } = await visit(await openBrowser(t))
  await page.goto(`${app.url}/reference`)
  await page.getByRole('link', { name: 'POST /api/rag/ingest/text' }).click()
  await page.getByRole('heading', { name: 'Store a text' }).waitFor()
  const code = await page.locator('pre').first().innerText()
  const call = code.replace('YOUR_API_KEY', key).replace('curl', 'curl --fail')
  await promisify(execFile)('sh', ['-c', call])
  assert.equal((await ada.get('/api/rag/documents')).body.length, 1)
  assert.equal((await page.goto(`${app.url}/reference/none`))?.status(), 200)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  assert.deepEqual(errors, [])
})
