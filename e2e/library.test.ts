// The library: files and collections of files, and a file's page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { testApp } from '#testing/app.ts'
import { assertAccessible, assertContrast, openBrowser, signInByForm, visit } from './browser.ts'
import { uploadDocument, waitForCited } from './conversation.ts'

const PHONE = { width: 390, height: 844 }

test('files are uploaded, sorted, moved between collections, replaced and deleted', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const ada = await app.as('ada', { tier: 'pro' })
  await uploadDocument(ada, 'boats.md', '# Boats\n\nThe ferry sails at nine. It takes an hour.\n')
  await uploadDocument(ada, 'anchors.md', 'Iron.\n')
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/library`)
  await page.getByText('2 files', { exact: true }).waitFor()

  await t.test('the address holds the order', async () => {
    await assertNames(page, ['anchors.md', 'boats.md'])
    await page.getByRole('combobox', { name: 'Sort by' }).selectOption('Largest')
    await page.waitForURL('**/library?sort=size')
    await assertNames(page, ['boats.md', 'anchors.md'])
    await page.reload()
    await assertNames(page, ['boats.md', 'anchors.md'])
  })

  await t.test('a collection has a name, a color and instructions', async () => {
    await page.getByRole('button', { name: 'New collection' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Harbour')
    await page.getByRole('radio', { name: 'blue' }).check({ force: true })
    await page.getByRole('textbox', { name: 'Instructions' }).fill('Answer like a pilot.')
    await assertAccessible(page, 'a new collection')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Harbour' }).waitFor()
    await page.getByText('Answer like a pilot.').waitFor()
    await page.getByRole('heading', { name: 'This collection is empty' }).waitFor()
  })

  await t.test('an uploaded file joins the opened collection', async () => {
    await choose(page, 'Choose files to upload', 'quays.md', 'The north quay is closed.')
    await page.getByText('Done: searchable in 1 passage').waitFor()
    await assertNames(page, ['quays.md'])
  })

  await t.test('selected files join a collection, and leave it', async () => {
    await page.getByRole('link', { name: 'All files' }).click()
    await page.getByRole('checkbox', { name: 'Select boats.md' }).check()
    await page.getByRole('checkbox', { name: 'Select anchors.md' }).check()
    await page.getByText('2 files selected').waitFor()
    await assertAccessible(page, 'selected files')
    await page.getByRole('button', { name: 'Add to' }).click()
    await page.getByRole('menuitem', { name: 'Harbour', exact: true }).click()
    await page.getByText('Added 2 files to Harbour').waitFor()
    await page.getByRole('link', { name: /^Harbour/ }).click()
    await assertNames(page, ['quays.md', 'anchors.md', 'boats.md'])
    await page.getByRole('checkbox', { name: 'Select anchors.md' }).check()
    await page.getByRole('button', { name: 'Remove from Harbour' }).click()
    await page.getByText('Removed 1 file from Harbour').waitFor()
    await assertNames(page, ['quays.md', 'boats.md'])
  })

  await t.test('a new version of a file keeps its name', async () => {
    await page.getByRole('button', { name: 'Actions for boats.md' }).click()
    await page.getByRole('menuitem', { name: 'Replace…' }).click()
    await choose(page, 'Choose the new version', 'other-name.md', 'The ferry sails at ten.')
    await page.getByText('Done: searchable in 1 passage').nth(1).waitFor()
    const { results } = (await ada.post('/api/library/search', { query: 'ferry' })).body
    assert.equal(results[0].content, 'The ferry sails at ten.')
    assert.ok(!results.some(({ content }: { content: string }) => content.includes('at nine')))
  })

  await t.test('a deleted collection leaves its files', async () => {
    await page.getByRole('button', { name: 'Delete collection' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('3 files', { exact: true }).waitFor()
    await page.getByRole('link', { name: /^Harbour/ }).waitFor({ state: 'detached' })
  })

  await t.test(
    'files are deleted by the keyboard alone, one of them elsewhere before',
    async () => {
      // The list must show the new version, which has its own id.
      await page.reload()
      await page.getByText('3 files', { exact: true }).waitFor()
      const [{ id }] = (await ada.get('/api/library/documents')).body
      await ada.delete(`/api/library/documents/${id}`)
      await page.getByRole('checkbox', { name: 'Select all' }).focus()
      await page.keyboard.press('Space')
      await page.getByText('3 files selected').waitFor()
      await page.getByRole('button', { name: 'Delete', exact: true }).focus()
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: 'Delete 3 files?' })
      await dialog.getByRole('button', { name: 'Delete' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'No files yet' }).waitFor()
    },
  )
  assert.deepEqual(errors, [])
})

test('a file shows its text and starts a conversation about it, also on a phone', async (t) => {
  const app = await testApp(t, { userApp: true })
  const ada = await app.as('ada', { tier: 'pro' })
  await uploadDocument(ada, 'boats.md', '# Boats\n\nThe ferry sails at nine.\n')
  const { id } = (await ada.get('/api/library/documents')).body[0]
  const { page, errors } = await visit(await openBrowser(t), { viewport: PHONE })
  await signInByForm(page, app.url, ada.email)

  await t.test('earlier addresses lead to the library', async () => {
    await page.goto(`${app.url}/documents?q=ferry`)
    await page.waitForURL('**/library?q=ferry')
    await page.getByText('The ferry sails at nine.').first().waitFor()
    await page.goto(`${app.url}/documents/${id}?chunk=0#sails%20at%20nine`)
    await page.waitForURL(`**/library/${id}?chunk=0#*`)
    await waitForCited(page, 'sails at nine')
    await page.getByText('Text', { exact: true }).click()
    await page.locator('mark', { hasText: 'sails at nine' }).waitFor()
  })

  await t.test('the list and the file are accessible in both themes', async () => {
    await assertAccessible(page, 'a file on a phone')
    await page.goto(`${app.url}/library`)
    await page.getByRole('link', { name: 'boats.md' }).waitFor()
    await assertAccessible(page, 'the library on a phone')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor({ state: 'attached' })
    await assertContrast(page, 'the library in the dark')
  })

  await t.test('a question about the file has it chosen', async () => {
    await page.getByRole('button', { name: 'Actions for boats.md' }).click()
    await page.getByRole('menuitem', { name: 'Ask about this' }).click()
    await page.waitForURL(`**/home?document=${id}`)
    await page.getByRole('list', { name: 'Searched documents' }).getByText('boats.md').waitFor()
  })
  assert.deepEqual(errors, [])
})

async function choose(page: Page, label: string, name: string, text: string): Promise<void> {
  await page
    .getByLabel(label)
    .setInputFiles({ name, mimeType: 'text/markdown', buffer: Buffer.from(text) })
}

/** Waits until the table has these files in this order. */
async function assertNames(page: Page, names: string[]): Promise<void> {
  const rows = page.getByRole('table').getByRole('link')
  for (let tries = 0; ; tries++) {
    const shown = await rows.allTextContents()
    if (shown.join() === names.join()) return
    assert.ok(tries < 150, `shows ${shown}, not ${names}`)
    await page.waitForTimeout(100)
  }
}
