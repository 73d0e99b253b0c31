// From a mark in an answer to the highlighted sentence in its document, and back to the answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { buildPdf, drawLines } from '#rag/ingest/parsers/samples.ts'
import { type Client, testApp } from '#testing/app.ts'
import { assertAccessible, assertContrast, openBrowser, signInByForm, visit } from './browser.ts'
import { ask, uploadDocument, waitForCited } from './conversation.ts'

const SENTENCE = 'The deposit for the east quay is 3,450 euros (100 % due at once).'
const NOTE = 'The ferry to the island sails at nine in the morning.'
const QUESTION = 'How much is the deposit for the east quay?'

/** Twelve pages of thirty lines, with the sentence in the middle of page 7. */
function buildQuays(): Uint8Array {
  const filler = (page: number, from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, i) =>
        `Line ${from + i} of page ${page} tells of the harbour, its cranes and its weather.`,
    )
  const pages = Array.from({ length: 12 }, (_, i) => [
    ...filler(i + 1, 0, 18),
    i + 1 === 7 ? SENTENCE : `The deposit for quay number ${i + 1} is not known yet.`,
    ...filler(i + 1, 18, 30),
  ])
  return buildPdf(pages.map((lines) => drawLines(lines)))
}

async function storeDocuments(client: Client): Promise<void> {
  await uploadDocument(client, 'quays.pdf', buildQuays())
  await uploadDocument(client, 'notes.md', `# Boats\n\n${NOTE}\n`)
}

for (const [place, viewport] of [
  ['beside the answer', { width: 1440, height: 700 }],
  ['in a sheet on a phone', { width: 390, height: 844 }],
] as const) {
  test(`a citation opens its sentence on the page ${place}`, async (t) => {
    const app = await testApp(t, { userApp: true })
    const ada = await app.as('ada', { tier: 'pro' })
    await storeDocuments(ada)
    const { page, errors } = await visit(await openBrowser(t), { viewport })
    await signInByForm(page, app.url, ada.email)
    await ask(page, QUESTION)
    const mark = await findMark(page, SENTENCE)
    const source =
      viewport.width > 960
        ? page.getByRole('complementary', { name: 'Source' })
        : page.getByRole('dialog', { name: 'Source' })

    await t.test('a click lights the sentence, in view', async () => {
      await mark.click()
      await source.getByText('Page 7 of 12').waitFor()
      await waitForHighlight(page, source)
      assert.ok(
        await hasHighlightedInk(source),
        'the highlighted part of the page shows words on yellow',
      )
      await source.locator('blockquote').getByText(SENTENCE).waitFor()
      await assertAccessible(page, `a source ${place}`)
    })

    await t.test('Escape returns to the mark', async () => {
      await page.keyboard.press('Escape')
      await source.waitFor({ state: 'detached' })
      assert.equal(await mark.evaluate((node) => node.matches(':focus')), true)
      assert.ok(await isInView(mark))
    })

    await t.test('Back returns to the answer, and Forward to the sentence', async () => {
      await page.keyboard.press('Enter')
      await waitForHighlight(page, source)
      const address = page.url()
      await page.goBack()
      await source.waitFor({ state: 'detached' })
      assert.ok(await isInView(mark))
      assert.match(page.url(), /\/c\/[0-9a-f-]+$/)
      await page.goForward()
      await waitForHighlight(page, source)
      await page.reload()
      await waitForHighlight(page, source)
      assert.equal(page.url(), address)
      await source.getByRole('button', { name: 'Close source' }).click()
      await source.waitFor({ state: 'detached' })
    })

    await t.test('the theme keeps marks and sources readable', async () => {
      await page.emulateMedia({ colorScheme: 'dark' })
      await mark.click()
      await waitForHighlight(page, source)
      await assertContrast(page, `a source ${place} in the dark`)
      await page.keyboard.press('Escape')
    })
    assert.deepEqual(errors, [])
  })
}

test('sources are listed, stepped through and shown as text', async (t) => {
  const app = await testApp(t, { userApp: true })
  const ada = await app.as('ada', { tier: 'pro' })
  await storeDocuments(ada)
  const { page, errors } = await visit(await openBrowser(t), {
    viewport: { width: 1440, height: 900 },
  })
  await signInByForm(page, app.url, ada.email)
  await ask(page, 'When does the ferry to the island sail?')

  const mark = await findMark(page, NOTE)
  await mark.focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Shift+Tab')
  await page.getByRole('tooltip').getByText(NOTE).waitFor()
  await page.keyboard.press('Enter')
  const source = page.getByRole('complementary', { name: 'Source' })
  await source.getByRole('heading', { name: 'Boats' }).waitFor()
  await waitForCited(page, NOTE)
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: /^\d+ sources?$/ }).click()
  const list = page.getByRole('list', { name: 'Sources' })
  await list.getByText(NOTE).waitFor()
  await list.getByRole('button', { name: /notes\.md/ }).click()
  await waitForCited(page, NOTE)
  await assertAccessible(page, 'the list of sources')

  const [stored] = (await ada.get('/api/rag/documents')).body.filter(
    ({ source }: { source: string }) => source === 'notes.md',
  )
  await ada.delete(`/api/rag/documents/${stored.id}`)
  await page.reload()
  await source.getByText('This document was deleted.').waitFor()
  await source.getByText(NOTE).first().waitFor()
  assert.deepEqual(errors, [])
})

/** Returns the mark whose tooltip shows the sentence. */
async function findMark(page: Page, sentence: string): Promise<Locator> {
  const marks = page.getByRole('button', { name: /^Source \d/ })
  await marks.first().waitFor()
  for (let at = 0; at < (await marks.count()); at++) {
    await marks.nth(at).hover()
    const text = await page.getByRole('tooltip').textContent()
    if (text?.includes(sentence)) return marks.nth(at)
  }
  throw new Error(`no mark quotes “${sentence}”`)
}

async function waitForHighlight(page: Page, source: Locator): Promise<void> {
  const highlight = source.locator('[data-highlight]').first()
  await highlight.waitFor()
  for (let tries = 0; !(await isInView(highlight)); tries++) {
    assert.ok(tries < 200, 'the sentence is in view')
    await page.waitForTimeout(50)
  }
}

type Box = {
  left: number
  top: number
  right: number
  bottom: number
  width: number
  height: number
}
type Element = { getBoundingClientRect(): Box; parentElement: Element | null }

/** Returns whether the window, and every box that scrolls around the element, shows its middle. */
function isInView(element: Locator): Promise<boolean> {
  return element.evaluate((node) => {
    const { innerWidth, innerHeight, getComputedStyle } = globalThis as unknown as {
      innerWidth: number
      innerHeight: number
      getComputedStyle(node: unknown): { overflowY: string }
    }
    const own = (node as unknown as Element).getBoundingClientRect()
    const y = own.top + own.height / 2
    const x = own.left + Math.min(own.width, innerWidth) / 4
    if (y < 0 || y > innerHeight || x < 0 || x > innerWidth) return false
    for (let at = (node as unknown as Element).parentElement; at; at = at.parentElement) {
      if (getComputedStyle(at).overflowY === 'visible') continue
      const { top, bottom } = at.getBoundingClientRect()
      if (y < top || y > bottom) return false
    }
    return true
  })
}

/** Returns whether the page of the PDF has dark letters inside the highlight. */
function hasHighlightedInk(source: Locator): Promise<boolean> {
  return source.locator('canvas').evaluate((node) => {
    type Canvas = Element & {
      width: number
      height: number
      parentElement: Element & { querySelector(selector: string): Element | null }
      getContext(kind: '2d'): { getImageData(...at: number[]): { data: Uint8ClampedArray } }
    }
    const canvas = node as unknown as Canvas
    const page = canvas.getBoundingClientRect()
    const highlight = canvas.parentElement
      .querySelector('[data-highlight]')
      ?.getBoundingClientRect()
    if (!highlight) return false
    const scale = canvas.width / page.width
    const { data } = canvas
      .getContext('2d')
      .getImageData(
        Math.round((highlight.left - page.left) * scale),
        Math.round((highlight.top - page.top) * scale),
        Math.round(highlight.width * scale),
        Math.round(highlight.height * scale),
      )
    let dark = 0
    for (let at = 0; at < data.length; at += 4)
      if ((data[at] ?? 255) + (data[at + 1] ?? 255) + (data[at + 2] ?? 255) < 300) dark++
    const share = dark / (data.length / 4)
    return share > 0.02 && share < 0.6
  })
}
