// From an answer to its source: a PDF page with the passage highlighted, and a text with it marked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildPdf, drawLines } from '#rag/ingest/parsers/samples.ts'
import { type Client, testApp } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'

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
  const { top, bottom } = document.querySelector('[data-lit]').getBoundingClientRect()
  return top >= 0 && bottom <= window.innerHeight
})()`

test('an upload replaces a document of the same name on request', async (t) => {
  const app = await testApp(t, { userApp: true, worker: true })
  const ada = await app.as('ada', { tier: 'pro' })
  const browser = await openBrowser(t)
  const { page } = await visit(browser)
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/documents`)
  await page.getByText('Drop files here, or click to choose').waitFor()
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

  await page.getByRole('switch', { name: 'Replace documents with the same name' }).click()
  await send('The price is twelve euros.', 2)
  assert.deepEqual(await searchPrices(), ['The price is twelve euros.'])
  await assertAccessible(page, 'documents')
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
  await page.goto(`${app.url}/documents?q=electric%20lamp%20of%20the%20lighthouse`)
  await page
    .getByText(/^p\. (3|2–3|3–4)$/)
    .first()
    .waitFor()
  await page.getByRole('main').getByRole('link', { name: 'harbour.pdf' }).first().click()
  await page.waitForURL(/\/documents\/[0-9a-f]{12}\?chunk=\d+/)
  await page.getByRole('heading', { name: 'harbour.pdf' }).waitFor()
  const shown = page.getByText(/Page \d of 4/)
  await shown.waitFor()
  // The chunk may start on the previous page.
  if ((await shown.textContent()) === 'Page 2 of 4')
    await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByText('Page 3 of 4').waitFor()
  await page.getByRole('img', { name: 'Page 3 of harbour.pdf' }).waitFor()
  const lit = page.locator('[data-lit]')
  await lit.first().waitFor()
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
  assert.ok((await lit.count()) >= 2)
  await assertAccessible(page, 'a document')

  await page.getByText('Text', { exact: true }).click()
  const mark = page.locator('mark')
  await mark.waitFor()
  assert.match((await mark.textContent()) ?? '', /electric/)

  await page.goto(`${app.url}/documents?q=ferry%20island`)
  await page
    .getByText('Notes › Boats')
    .or(page.getByText('Notes', { exact: true }))
    .first()
    .waitFor()
  await page.getByRole('main').getByRole('link', { name: 'notes.md' }).first().click()
  await mark.waitFor()
  assert.match((await mark.textContent()) ?? '', /sails at nine/)
  assert.equal(await page.evaluate('window.hacked'), undefined)

  // The file's address needs a token, because no cookie signs anybody in.
  const { id } = (await ada.get('/api/rag/documents')).body[0]
  const bare = await page.goto(`${app.url}/api/rag/documents/${id}/file`)
  assert.equal(bare?.status(), 401)
  assert.deepEqual(errors, [])
})

async function uploadDocument(
  client: Client,
  name: string,
  bytes: Uint8Array | string,
): Promise<void> {
  const form = new FormData()
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name)
  const reply = await client.post('/api/rag/ingest/file', form)
  assert.equal(reply.status, 200, reply.text)
}

test('an answer survives a click on its source and a reload, until the user signs out', async (t) => {
  const app = await testApp(t, { userApp: true })
  const ada = await app.as('ada', { tier: 'pro' })
  const bob = await app.as('bob', { tier: 'pro' })
  await uploadDocument(
    ada,
    'lease.md',
    '# Lease\n\nThe deposit for the workshop is 3,450 euros, due in March.\n',
  )
  const { page, errors } = await visit(await openBrowser(t))
  const question = page.getByRole('heading', { name: 'How much is the deposit for the workshop?' })
  const answer = page.getByRole('log').getByText(/3,450 euros/)
  const composer = page.getByRole('textbox', { name: 'Question' })
  const copyButton = page.getByRole('button', { name: 'Copy answer' })

  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/ask`)
  await composer.fill('How much is the deposit for the workshop?')
  await page.keyboard.press('Enter')
  await copyButton.waitFor()
  await answer.first().waitFor()
  await page.getByRole('main').getByRole('link', { name: 'lease.md' }).click()
  await page.getByRole('heading', { level: 1, name: 'lease.md' }).waitFor()

  await page.goBack()
  for (const after of ['Back', 'reload']) {
    await question.waitFor()
    await answer.first().waitFor()
    assert.equal(await composer.inputValue(), '', `after ${after} the question is not asked again`)
    if (after === 'Back') await page.reload()
  }
  await assertAccessible(page, 'a kept answer')

  // Another user of the same browser, after the first session expired.
  const storedFor = (id: string) =>
    page.evaluate(`localStorage.getItem('latchkey.questions.${id}') !== null`)
  await page.evaluate("localStorage.removeItem('latchkey.refresh')")
  await signInByForm(page, app.url, bob.email)
  await page.goto(`${app.url}/ask`)
  await page.getByRole('heading', { name: 'Ask your documents' }).waitFor()
  assert.equal(await question.count(), 0)
  assert.equal(await storedFor(ada.userId), true)

  await page.evaluate("localStorage.removeItem('latchkey.refresh')")
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/ask`)
  await question.waitFor()
  await page.getByRole('button', { name: 'Clear all questions' }).click()
  await page.getByRole('heading', { name: 'Ask your documents' }).waitFor()
  await composer.fill('How much is the deposit for the workshop?')
  await page.keyboard.press('Enter')
  await copyButton.waitFor()
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
  assert.equal(await storedFor(ada.userId), false)
  assert.deepEqual(errors, [])
})

test('a citation links to its sentence in the card, on the PDF page and in the text', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    userApp: true,
    env: { ...vendor.env.openai, SANDBOX: 'off', EMBEDDER: 'local' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const sentence = 'The deposit for the east quay is 3,450 euros (100 % due at once).'
  const lines = (page: number) => [
    ...filler(page).slice(0, 24),
    page === 7 ? sentence : `The deposit for quay number ${page} is not known yet.`,
    ...filler(page).slice(24),
  ]
  await uploadDocument(
    ada,
    'quays.pdf',
    buildPdf(Array.from({ length: 12 }, (_, i) => drawLines(lines(i + 1)))),
  )
  vendor.play(says('The deposit for the east quay is 3,450 euros, due at once [1].'))

  const { page, errors } = await visit(await openBrowser(t), {
    viewport: { width: 1280, height: 600 },
  })
  await signInByForm(page, app.url, ada.email)
  await page.goto(`${app.url}/ask`)
  await page
    .getByRole('textbox', { name: 'Question' })
    .fill('How much is the deposit for the east quay?')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Copy answer' }).waitFor()
  const card = page.getByRole('complementary').locator('blockquote')
  await card.getByText(sentence).waitFor()
  assert.equal(await card.count(), 1)
  await card.getByText('p. 7').waitFor()
  await assertAccessible(page, 'a quoted sentence')

  await card.getByRole('link', { name: sentence }).click()
  for (const how of ['click', 'reload']) {
    await page.getByText('Page 7 of 12').waitFor()
    const lit = page.locator('[data-lit]')
    await lit.first().waitFor()
    assert.equal(await lit.count(), 1, `only the sentence is lit, after ${how}`)
    for (let tries = 0; !(await page.evaluate(IN_VIEW)); tries++) {
      assert.ok(tries < 100, 'the sentence is in view')
      await page.waitForTimeout(50)
    }
    if (how === 'click') await page.reload()
  }
  await page.getByText('Text', { exact: true }).click()
  const mark = page.locator('mark')
  await mark.waitFor()
  assert.equal(await mark.textContent(), sentence)
  assert.equal(
    await mark.evaluate((node) => {
      const { top, bottom } = (
        node as unknown as { getBoundingClientRect(): { top: number; bottom: number } }
      ).getBoundingClientRect()
      return top >= 0 && bottom <= 600
    }),
    true,
  )

  // A fragment without a match leaves the passage marked.
  await page.goto(`${page.url().split('#')[0]}#${encodeURIComponent('<b>100 %')}`)
  await page.reload()
  await page.getByText('Page 7 of 12').waitFor()
  assert.deepEqual(errors, [])
})
