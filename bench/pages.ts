// Measures how smoothly a conversation runs while a fast model writes into it.
// Limit: no task above 50 ms of the main thread's CPU time.
import type { Page } from 'playwright-core'
import { openBrowser, signInByForm, visit } from '../e2e/browser.ts'
import { payingUser, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'
import { LONG_MS, measureTasks, type Tasks } from './pages/tasks.ts'
import { MARKDOWN, steadyVendor } from './pages/vendor.ts'

export const description =
  'long tasks of a conversation at 250 tokens per second, while it is empty and with 300 messages'

const MESSAGES = 300
const TOKENS = 2_500
const PER_SECOND = 250
const AFTERWARDS_MS = 1_500

/**
 * Opening renders the visible part and lays out the rest once, so it may take longer than a step of
 * a stream.
 */
const OPENING_LONGEST_MS = 150

export async function run(): Promise<void> {
  const vendor = await steadyVendor({ tokens: TOKENS, perSecond: PER_SECOND })
  const service = await startService({
    OPENAI_BASE_URL: vendor.url,
    OPENAI_API_KEY: 'sk-bench',
    RATE_LIMIT_AI: 'off',
    RATE_LIMIT_GENERAL: 'off',
  })
  const closing: (() => unknown)[] = []
  try {
    const user = await payingUser(service)
    const { page } = await visit(
      await openBrowser({ after: (close: () => unknown) => closing.push(close) }),
    )
    page.setDefaultTimeout(120_000)
    await signInByForm(page, service.url, user.email, user.password)
    await storeConversations(page)

    // During a trace the bench only types: searching for elements would use the measured thread.
    const box = page.getByRole('textbox', { name: 'Message' })
    const answered = async () => {
      await page.keyboard.insertText('How does a lock work?')
      const finished = vendor.finished()
      await page.keyboard.press('Enter')
      await finished
      await page.waitForTimeout(AFTERWARDS_MS)
    }
    const rows: [string, Tasks, number][] = []

    const list = page.getByRole('region', { name: 'Conversations' })
    await list.getByRole('link', { name: EMPTY }).click()
    await box.focus()
    rows.push([
      `${TOKENS} tokens into an empty conversation`,
      await measureTasks(page, answered),
      LONG_MS,
    ])

    const long = await list.getByRole('link', { name: LONG }).elementHandle()
    const opened = async () => {
      await long?.evaluate((link) => (link as unknown as { click(): void }).click())
      for (let drawn = 0; drawn < MESSAGES; ) {
        await page.waitForTimeout(250)
        drawn = await page.evaluate<number>(SHOW_EARLIER)
      }
    }
    rows.push([
      `opening ${MESSAGES} messages`,
      await measureTasks(page, opened),
      OPENING_LONGEST_MS,
    ])

    await box.focus()
    rows.push([
      `${TOKENS} tokens into ${MESSAGES} messages`,
      await measureTasks(page, answered),
      LONG_MS,
    ])
    const typed = async () => {
      for (const letter of 'a word and another') await page.keyboard.type(letter)
    }
    rows.push([`typing into ${MESSAGES} messages`, await measureTasks(page, typed), LONG_MS])

    printTable(
      `CPU time of the main thread at ${PER_SECOND} tokens per second`,
      ['during', 'tasks', 'total', `above ${LONG_MS} ms`, 'longest', 'limit', ''],
      rows.map(([name, { tasks, cpuMs, long, longest }, limit]) => [
        name,
        tasks,
        `${Math.round(cpuMs)} ms`,
        long,
        `${Math.round(longest)} ms`,
        `${limit} ms`,
        longest <= limit ? 'ok' : 'FAILED',
      ]),
    )
  } finally {
    for (const close of closing) await close()
    await service.stop()
    vendor.close()
  }
}

const EMPTY = 'An empty conversation'
const LONG = 'A long conversation'

/** Presses the button above the messages, if it is there, and returns the number of messages. */
const SHOW_EARLIER = `(() => {
  const buttons = [...document.querySelectorAll('[role=log] button')]
  buttons.find((button) => button.textContent === 'Show earlier messages')?.click()
  return document.getElementsByTagName('article').length
})()`

/** Stores both conversations through the API, with the token of the page’s own requests. */
async function storeConversations(page: Page): Promise<void> {
  const request = await page.waitForRequest(
    (one) => one.url().includes('/api/conversations') && one.headers().authorization !== undefined,
  )
  const headers = { authorization: request.headers().authorization ?? '' }
  const messages = Array.from({ length: MESSAGES }, (_, index) => ({
    id: `m${index}`,
    parent_id: index === 0 ? null : `m${index - 1}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    parts: [
      {
        type: 'text',
        text: index % 2 === 0 ? `Question ${index / 2}: how does a lock work?` : MARKDOWN,
      },
    ],
  }))
  const { origin } = new URL(page.url())
  const post = (path: string, data: object) =>
    page.request.post(`${origin}/api/conversations${path}`, { headers, data })
  await post('/import', { conversations: [{ id: 'long', title: LONG, messages }] })
  await post('', { title: EMPTY })
  await page.reload()
}
