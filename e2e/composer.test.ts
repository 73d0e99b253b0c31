// The message field: pictures, files, `@`, the documents to search, models, drafts and the keyboard.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { testApp } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'
import { ask, send, uploadDocument, waitForCited } from './conversation.ts'

/** One red pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const PHONE = { width: 390, height: 844 }

test('pictures, models and drafts', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    userApp: true,
    env: { ...vendor.env.openai, ...vendor.env.anthropic, SANDBOX: 'off' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  const field = page.getByRole('textbox', { name: 'Message' })
  await signInByForm(page, app.url, ada.email)

  await t.test('the field has the focus on arrival and fits its text', async () => {
    await page.locator('textarea:focus').waitFor()
    const heightOf = async () => (await field.boundingBox())?.height ?? 0
    for (const size of [PHONE, { width: PHONE.height, height: PHONE.width }, PHONE]) {
      await page.setViewportSize(size)
      assert.ok((await heightOf()) < 60, `${await heightOf()} px at ${size.width} px`)
    }
    await field.fill('line\n'.repeat(5))
    assert.ok((await heightOf()) > 120, 'grows with its lines')
    await field.fill('line\n'.repeat(40))
    assert.ok((await heightOf()) < 270, 'scrolls beyond nine lines')
    await field.fill('')
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  await t.test('a picture is shown, sent and kept', async () => {
    vendor.play(says('A red dot.'))
    await page.locator('input[type=file]').setInputFiles({
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: Buffer.from(PIXEL, 'base64'),
    })
    await page.getByRole('img', { name: 'dot.png' }).waitFor()
    await assertAccessible(page, 'a picture in the message field')
    await send(page, 'What is this?')
    await page.getByRole('log').getByText('A red dot.').waitFor()
    assert.ok(JSON.stringify(vendor.calls[0]?.body).includes(PIXEL), 'the vendor gets the picture')
    await page.reload()
    await page.getByRole('img', { name: 'Attached' }).waitFor()
  })

  await t.test('a model is found by words, and the conversation keeps it', async () => {
    const picker = page.getByRole('button', { name: /^Model: / })
    await picker.click()
    const search = page.getByRole('combobox', { name: 'Model' })
    await search.fill('anthropic')
    const option = page.getByRole('option').first()
    await option.getByText(/\$[\d.]+ in, \$[\d.]+ out · [\d.]+[MK] context/).waitFor()
    await assertAccessible(page, 'the list of models')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await search.waitFor({ state: 'detached' })
    const chosen = (await picker.getAttribute('aria-label')) ?? ''
    assert.match(chosen, /claude/)
    vendor.play(says('Still red.'))
    await ask(page, 'And now?')
    assert.match(vendor.calls[0]?.path ?? '', /messages/)
    await page.reload()
    await page.getByRole('button', { name: chosen }).waitFor()
  })

  await t.test('drafts are kept per conversation', async () => {
    const address = page.url()
    await field.fill('Half a thought')
    await page.goto(`${app.url}/home`)
    await field.fill('Another thought')
    await page.goto(address)
    await page.getByRole('log').getByText('Still red.').waitFor()
    assert.equal(await field.inputValue(), 'Half a thought')
    await page.goto(`${app.url}/home`)
    await field.waitFor()
    assert.equal(await field.inputValue(), 'Another thought')
    vendor.play(says('A whole one.'))
    await ask(page, 'A whole thought')
    await page.goto(`${app.url}/home`)
    await field.waitFor()
    assert.equal(await field.inputValue(), '')
  })
  assert.deepEqual(errors, [])
})

test('a question searches the documents that its reader chooses', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const ada = await app.as('ada', { tier: 'pro' })
  await uploadDocument(ada, 'lease.md', '# Lease\n\nThe deposit for the workshop is 3,450 euros.\n')
  await uploadDocument(ada, 'boats.md', '# Boats\n\nThe deposit for a rowing boat is 40 euros.\n')
  const { page, errors } = await visit(await openBrowser(t))
  const field = page.getByRole('textbox', { name: 'Message' })
  const answer = page.getByRole('article').last()
  await signInByForm(page, app.url, ada.email)

  await t.test('`@` names a document', async () => {
    await field.pressSequentially('What is the deposit in @boa')
    const list = page.getByRole('listbox', { name: 'Documents and collections' })
    await list.getByRole('option', { name: 'boats.md' }).waitFor()
    await assertAccessible(page, 'the list behind @')
    await page.keyboard.press('Enter')
    await list.waitFor({ state: 'detached' })
    assert.equal(await field.inputValue(), 'What is the deposit in boats.md ')
    await page.getByRole('button', { name: 'Documents: 1 chosen' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Answer again' }).waitFor()
    await answer.getByText(/40 euros/).waitFor()
    assert.equal(await answer.getByText(/3,450 euros/).count(), 0)
  })

  await t.test('the control switches documents off, and chooses some', async () => {
    await page.getByRole('button', { name: 'Documents: 1 chosen' }).click()
    await page.getByRole('radio', { name: /^Off/ }).check()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Documents: Off' }).waitFor()
    const asked = page.waitForRequest((request) => request.url().endsWith('/messages'))
    await ask(page, 'What is the deposit for the workshop?')
    assert.equal((await asked).postDataJSON().documents, 'off')
    assert.equal(await answer.getByRole('button', { name: /^Source/ }).count(), 0)

    await page.getByRole('button', { name: 'Documents: Off' }).click()
    await page.getByRole('combobox', { name: 'Choose documents' }).fill('lease')
    await page.getByRole('option', { name: 'lease.md' }).waitFor()
    await page.keyboard.press('Enter')
    await assertAccessible(page, 'the choice of documents')
    await page.keyboard.press('Escape')
    await page.getByRole('list', { name: 'Searched documents' }).getByText('lease.md').waitFor()
    await ask(page, 'How much is the deposit for the workshop?')
    await answer.getByText(/3,450 euros/).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Documents: 1 chosen' }).waitFor()
  })

  await t.test('an added file is read before the question is sent', async () => {
    await page.goto(`${app.url}/home`)
    await page.locator('input[type=file]').setInputFiles({
      name: 'prices.md',
      mimeType: 'text/markdown',
      buffer: Buffer.from('# Prices\n\nA new string for a cello costs 62 euros.\n'),
    })
    const attachments = page.getByRole('list', { name: 'Attachments' })
    await attachments.getByText('prices.md').waitFor()
    await field.fill('How much is a new cello string?')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('button', { name: 'Answer again' }).waitFor()
    await answer.getByText(/62 euros/).waitFor()
    await page.getByRole('article').first().getByText('prices.md').waitFor()
  })
  assert.deepEqual(errors, [])
})

test('a conversation works with the keyboard alone', async (t) => {
  const app = await testApp(t, { userApp: true })
  const ada = await app.as('ada', { tier: 'pro' })
  await uploadDocument(ada, 'lease.md', '# Lease\n\nThe deposit for the workshop is 3,450 euros.\n')
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.locator('textarea:focus').waitFor()
  await page.keyboard.type('How much is the deposit for the workshop?')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Answer again' }).waitFor()

  await tabTo(page, 'Source 1: lease.md', 'Shift+Tab')
  await page.getByRole('tooltip').getByText('3,450 euros').waitFor()
  await page.keyboard.press('Enter')
  const source = page.getByRole('complementary', { name: 'Source' })
  await waitForCited(page, '3,450 euros')
  assert.equal(await readFocused(page), 'Close source')
  await page.keyboard.press('Escape')
  await source.waitFor({ state: 'detached' })
  assert.equal(await readFocused(page), 'Source 1: lease.md')

  await tabTo(page, 'Answer with another model', 'Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('option').first().waitFor({ state: 'detached' })
  assert.equal(await readFocused(page), 'Answer with another model')

  await tabTo(page, 'Share', 'Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: /^Share/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: /^Share/ }).waitFor({ state: 'detached' })
  assert.equal(await readFocused(page), 'Share')

  await page.keyboard.press('Control+K')
  await page.locator('input:focus').waitFor()
  await page.keyboard.type('deposit')
  await page
    .getByRole('dialog')
    .getByText(/^How much is the deposit/)
    .first()
    .waitFor()
  await page.keyboard.press('Escape')
  assert.deepEqual(errors, [])
})

/** Moves the focus until the element with the label has it. */
async function tabTo(page: Page, label: string, key: 'Tab' | 'Shift+Tab'): Promise<void> {
  for (let steps = 0; steps < 60; steps++) {
    if ((await readFocused(page)) === label) return
    await page.keyboard.press(key)
  }
  throw new Error(`“${label}” cannot be reached with ${key}`)
}

function readFocused(page: Page): Promise<string | null> {
  return page.evaluate('document.activeElement?.getAttribute("aria-label")')
}
