// The dialog that switches a model off shows the effect before anything changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

test('switching a model off first shows where its calls go and at what cost', async (t) => {
  const app = await testApp(t, { userApp: true, env: { LLM_FALLBACKS: 'openai/gpt-6.2-astra' } })
  const { base } = app.config.urls
  const root = await app.as('root', { tier: 'pro', superuser: true })
  await root.post('/api/ai/completions', { prompt: 'Good morning' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, base, root.email)
  await page.goto(`${base}/admin?tab=switches`)
  const isOff = async () => (await root.get('/api/admin/switches')).body.switches.length === 1
  const defaultModel = async () => (await root.get('/api/ai/models')).body.default_model
  const before = await defaultModel()

  const form = page.getByRole('form', { name: 'Switch off' })
  await form.getByLabel('Switch off').selectOption('model')
  await form.getByLabel('Model name, alias or pattern').fill(before)
  await form.getByLabel('Reason').fill('An incident')
  await form.getByRole('button', { name: 'Switch off' }).click()
  const dialog = page.getByRole('dialog', { name: `Switch off ${before}?` })
  await dialog.getByText(/The default model/).waitFor()
  assert.match(
    await dialog.innerText(),
    /The default model, which the app’s chat uses, is openai\/\S+\. Its calls will go to openai\/gpt-6\.2-astra, at [\d.]+ times the cost \(\+\d+ %\)\./,
  )
  await assertAccessible(page, 'the dialog')
  assert.equal(await isOff(), false, 'nothing is switched yet')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await isOff(), false)

  await form.getByRole('button', { name: 'Switch off' }).click()
  await dialog.getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('article').getByText(`Model: ${before}`).waitFor()
  assert.equal(await isOff(), true)

  await form.getByLabel('Switch off').selectOption('vendor')
  await form.getByLabel('Vendor name').fill('nobody')
  await form.getByLabel('Reason').fill('An incident')
  await form.getByRole('button', { name: 'Switch off' }).click()
  await page.getByText('There is no vendor of this name').waitFor()
  assert.equal(await dialog.count(), 0)
  assert.deepEqual(errors, [])
})
