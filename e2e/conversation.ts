// What the tests of conversations share: sending a message, and waiting for its answer.
import type { Page } from 'playwright-core'
import type { Client } from '#testing/app.ts'

/** Types a message and sends it with Enter. */
export async function send(page: Page, text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill(text)
  await field.press('Enter')
}

/** Sends a message and waits until its answer has ended. */
export async function ask(page: Page, text: string): Promise<void> {
  const answers = page.getByRole('button', { name: 'Answer again' })
  const before = await answers.count()
  await send(page, text)
  await answers.nth(before).waitFor()
}

/** Stores a finished conversation through the API. Returns its id. */
export async function storeConversation(
  client: Client,
  question: string,
  more: object = {},
): Promise<string> {
  const { id } = (await client.post('/api/conversations', more)).body as { id: string }
  const parts = [{ type: 'text', text: question }]
  await client.post(`/api/conversations/${id}/messages`, { parts, documents: 'off' })
  return id
}

export async function uploadDocument(
  client: Client,
  name: string,
  bytes: Uint8Array | string,
  prefix: '/api/rag' | '/api/library' = '/api/rag',
): Promise<void> {
  const form = new FormData()
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name)
  const reply = await client.post(`${prefix}/ingest/file`, form)
  if (reply.status !== 200) throw new Error(reply.text)
}

/** Waits until a document with its form lights these words, in view. */
export async function waitForCited(page: Page, words: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const cited = await page.evaluate<{ text: string; isInView: boolean }>(CITED)
    if (cited.isInView && cited.text.includes(words)) return
    if (tries >= 200) throw new Error(`“${words}” is not highlighted: ${JSON.stringify(cited)}`)
    await page.waitForTimeout(50)
  }
}

const CITED = `(() => {
  const ranges = [...(CSS.highlights.get('cited') ?? [])]
  const box = ranges[0]?.getBoundingClientRect()
  return {
    text: ranges.map(String).join(' '),
    isInView: box !== undefined && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight,
  }
})()`
