// From an answer to its source: a PDF page with the passage highlighted, and a text with it marked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildPdf, drawLines } from '#rag/ingest/parsers/samples.ts'
import { testApp } from '#testing/app.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'
import { uploadDocument, waitForCited } from './conversation.ts'

const filler = (page: number) =>
  Array.from(
    { length: 30 },
    (_, i) => `Line ${i} of page ${page} tells of the harbour, its cranes and its weather.`,
  )
const LINES = [
  'The lamp of the lighthouse was replaced in 1931 by an electric',
  'one, which the engineer Amelie Duroc had brought from Paris.',
]

const IN_VIEW = `(() => {
  const { top, bottom } = document.querySelector('[data-highlight]').getBoundingClientRect()
  return top >= 0 && bottom <= window.innerHeight
})()`

test('an upload replaces a document of the same name on request', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const ada = await app.as('ada', { tier: 'pro' })
  const browser = await openBrowser(t)
  const { page } = await visit(browser)
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/library`)
  await page.getByRole('heading', { name: 'No files yet' }).waitFor()
  const send = async (text: string, nth: number) => {
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'price.md', mimeType: 'text/markdown', buffer: Buffer.from(text) })
    await page.getByText('Done: searchable in 1 passage').nth(nth).waitFor()
  }
  const searchPrices = async () => {
    const { results } = (await ada.post('/api/rag/search', { query: 'price' })).body as {
      results: { content: string }[]
    }
    return results.map(({ content }) => content).sort()
  }

  await send('The price is ten euros.', 0)
  await send('The price is eleven euros.', 1)
  assert.deepEqual(await searchPrices(), ['The price is eleven euros.', 'The price is ten euros.'])

  await page.getByRole('checkbox', { name: 'Replace files with the same name' }).check()
  await send('The price is twelve euros.', 2)
  assert.deepEqual(await searchPrices(), ['The price is twelve euros.'])
  await assertAccessible(page, 'the library')
})

test('a passage links to its highlighted place in a PDF and in a text', async (t) => {
  const app = await testApp(t, { userApp: true })
  const ada = await app.as('ada', { tier: 'pro' })
  const pages = [filler(1), filler(2), [...LINES, ...filler(3).slice(0, 25)], filler(4)]
  await uploadDocument(ada, 'harbour.pdf', buildPdf(pages.map((lines) => drawLines(lines))))
  const script = '<script>window.hacked = true</script><img src=x onerror="window.hacked = true">'
  await uploadDocument(
    ada,
    'notes.md',
    `# Notes\n\n${script}\n\n## Boats\n\nThe ferry to the island sails at nine.\n`,
  )

  const browser = await openBrowser(t)
  const { page, errors } = await visit(browser, { viewport: { width: 1280, height: 480 } })
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/library?q=electric%20lamp%20of%20the%20lighthouse`)
  await page
    .getByText(/^p\. (3|2–3|3–4)$/)
    .first()
    .waitFor()
  await page.getByRole('main').getByRole('link', { name: 'harbour.pdf' }).first().click()
  await page.waitForURL(/\/library\/[0-9a-f]{12}\?chunk=\d+/)
  await page.getByRole('heading', { name: 'harbour.pdf' }).waitFor()
  const shown = page.getByText(/Page \d of 4/)
  await shown.waitFor()
  // The chunk may start on the previous page.
  if ((await shown.textContent()) === 'Page 2 of 4')
    await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByText('Page 3 of 4').waitFor()
  await page.getByRole('img', { name: 'Page 3 of harbour.pdf' }).waitFor()
  const highlight = page.locator('[data-highlight]')
  await highlight.first().waitFor()
  assert.ok(
    ((await page.locator('canvas').boundingBox())?.width ?? 0) > 600,
    'the page can be read',
  )
  for (let tries = 0; !(await page.evaluate(IN_VIEW)); tries++) {
    assert.ok(tries < 100, 'the passage is in view')
    await page.waitForTimeout(50)
  }
  const drawnInk = await page.locator('canvas').evaluate((node) => {
    const canvas = node as unknown as {
      width: number
      height: number
      getContext(kind: '2d'): { getImageData(...at: number[]): { data: Uint8Array } }
    }
    return canvas
      .getContext('2d')
      .getImageData(0, 0, canvas.width, canvas.height / 2)
      .data.some((value, i) => i % 4 < 3 && value < 100)
  })
  assert.ok(drawnInk, 'the page is drawn')
  assert.ok((await highlight.count()) >= 2)
  await assertAccessible(page, 'a document')

  await page.getByText('Text', { exact: true }).click()
  const mark = page.locator('mark')
  await mark.waitFor()
  assert.match((await mark.textContent()) ?? '', /electric/)

  await page.goto(`${app.url}/library?q=ferry%20island`)
  await page
    .getByText('Notes › Boats')
    .or(page.getByText('Notes', { exact: true }))
    .first()
    .waitFor()
  await page.getByRole('main').getByRole('link', { name: 'notes.md' }).first().click()
  await waitForCited(page, 'sails at nine')
  assert.equal(await page.evaluate('window.hacked'), undefined)

  // The file's address needs a token, because no cookie signs anybody in.
  const { id } = (await ada.get('/api/rag/documents')).body[0]
  const bare = await page.goto(`${app.url}/api/rag/documents/${id}/file`)
  assert.equal(bare?.status(), 401)
  assert.deepEqual(errors, [])
})
