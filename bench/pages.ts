// Measures how smoothly the chat page runs while a fast model writes into a long conversation.
// Limit: no task above 50 ms of the main thread's CPU time.
import type { Page } from 'playwright-core'
import { openBrowser, signInByForm, visit } from '../e2e/browser.ts'
import { payingUser, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'
import { LONG_MS, measureTasks, type Tasks } from './pages/tasks.ts'
import { MARKDOWN, steadyVendor } from './pages/vendor.ts'

export const description =
  'long tasks of the chat page at 250 tokens per second, in an empty chat and in one with 300 messages'

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
    await keepLongConversation(page, user.userId)

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

    await page.goto(`${service.url}/chat`)
    await box.focus()
    rows.push([`${TOKENS} tokens into an empty chat`, await measureTasks(page, answered), LONG_MS])

    // Navigates inside the app, to exclude the loading of its scripts.
    await page.getByRole('link', { name: 'Documents' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Documents' }).waitFor()
    const opened = async () => {
      await page.evaluate(`history.pushState({}, '', '/chat?c=long')`)
      for (let drawn = 0; drawn < MESSAGES; ) {
        await page.waitForTimeout(250)
        drawn = await page.evaluate<number>(`document.getElementsByTagName('article').length`)
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

/** Stores a conversation in the app's format under the id `long`. */
async function keepLongConversation(page: Page, userId: string): Promise<void> {
  const turns = Array.from({ length: MESSAGES }, (_, index) =>
    index % 2 === 0
      ? { id: `t${index}`, role: 'user', content: `Question ${index / 2}: how does a lock work?` }
      : { id: `t${index}`, role: 'assistant', content: MARKDOWN, ending: { kind: 'complete' } },
  )
  const conversations = [{ id: 'long', updatedAt: new Date().toISOString(), turns }]
  await page.evaluate(
    `localStorage.setItem('latchkey.conversations.${userId}', ${JSON.stringify(JSON.stringify(conversations))})`,
  )
}
