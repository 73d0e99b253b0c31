// Run → Models: vendors, models and switches. A switch shows its effect before anything changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { testApp } from '#testing/app.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

test('a model is switched off within four clicks, after its price effect is shown', async (t) => {
  const app = await testApp(t, { userApp: true, env: { LLM_FALLBACKS: 'openai/gpt-6.2-astra' } })
  const { base } = app.config.urls
  const root = await app.as('root', { tier: 'pro', superuser: true })
  await root.post('/api/ai/completions', { prompt: 'Good morning' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, base, root.email)
  const listOff = async () => (await root.get('/api/admin/switches')).body.switches
  const { default_model, default_provider } = (await root.get('/api/ai/models')).body
  const model = `${default_provider}/${default_model}`
  let clicks = 0
  const click = async (target: Locator) => {
    await target.click()
    clicks++
  }

  const menu = page.getByRole('navigation', { name: 'Main' })
  await click(menu.getByRole('link', { name: 'Run', exact: true }))
  await click(menu.getByRole('link', { name: 'Models', exact: true }))
  await click(page.getByRole('button', { name: `Switch off ${model}`, exact: true }))
  const dialog = page.getByRole('dialog', { name: `Switch off ${model}?` })
  await dialog.getByText(/The default model/).waitFor()
  assert.match(
    await dialog.innerText(),
    /The default model, which the app’s chat uses, is openai\/\S+\. Its calls will go to openai\/gpt-6\.2-astra, at [\d.]+ times the cost \(\+\d+ %\)\./,
  )
  await assertAccessible(page, 'the dialog')
  assert.deepEqual(await listOff(), [], 'nothing is switched yet')
  await dialog.getByLabel('Reason').fill('An incident')
  await click(dialog.getByRole('button', { name: 'Switch off', exact: true }))
  await page.getByRole('region', { name: 'Switched off' }).getByText(`Model: ${model}`).waitFor()
  assert.deepEqual(
    (await listOff()).map(({ subject }: { subject: string }) => subject),
    [model],
  )
  assert.ok(clicks <= 4, `${clicks} clicks`)

  await page
    .getByRole('button', { name: `Switch on ${model}`, exact: true })
    .first()
    .click()
  await page.getByRole('region', { name: 'Switched off' }).waitFor({ state: 'detached' })
  assert.deepEqual(await listOff(), [])
  assert.deepEqual(errors, [])
})

test('the dialog switches off what is named: not before its effect is known, and no unknown vendor', async (t) => {
  const app = await testApp(t, { userApp: true })
  const { base } = app.config.urls
  const root = await app.as('root', { tier: 'pro', superuser: true })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, base, root.email)
  await page.goto(`${base}/run/models`)

  await page.getByRole('button', { name: 'Switch off…', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Switch off', exact: true })
  await dialog.getByLabel('What').selectOption('vendor')
  await dialog.getByLabel('Vendor name').fill('nobody')
  await dialog.getByText('There is no vendor of this name').waitFor()
  await dialog.getByLabel('What').selectOption('model')
  await dialog.getByLabel('Model name, alias or pattern').fill('openai/*')
  await dialog.getByLabel('Reason').fill('An incident')
  await dialog.getByText('will be refused').first().waitFor()
  await dialog.getByRole('button', { name: 'Switch off', exact: true }).click()
  await page.getByRole('button', { name: 'Switch on openai/*', exact: true }).waitFor()
  assert.deepEqual(
    (await root.get('/api/admin/switches')).body.switches.map(
      ({ kind, subject }: { kind: string; subject: string }) => [kind, subject],
    ),
    [['model', 'openai/*']],
  )

  await page.getByLabel('Search models').fill('no-such-model')
  await page.getByRole('heading', { name: 'No models match' }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('q'), 'no-such-model')
  assert.deepEqual(errors, [])
})
