// A long conversation opens at its end, keeps the reader’s position and prints whole; and answers
// that fail say what to do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import {
  cuts,
  event,
  holds,
  mockVendor,
  refuses,
  type Step,
  says,
  streams,
} from '#testing/mock-vendor.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'
import { ask, send } from './conversation.ts'

const MESSAGES = 90

test('a long conversation opens at its end, keeps the position of its reader and prints whole', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const messages = Array.from({ length: MESSAGES }, (_, at) => ({
    id: `m${at}`,
    parent_id: at === 0 ? null : `m${at - 1}`,
    role: at % 2 === 0 ? 'user' : 'assistant',
    parts: [
      {
        type: 'text',
        text: at % 2 === 0 ? `Question ${at / 2}` : 'A **long** answer. '.repeat(60),
      },
    ],
  }))
  await ada.post('/api/conversations/import', {
    conversations: [{ id: 'long', title: 'Long', messages }],
  })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  await page.getByRole('region', { name: 'Conversations' }).getByRole('link').click()
  const log = page.getByRole('log', { name: 'Conversation' })
  const top = () => log.evaluate((box) => box.scrollTop)
  const waitForEnd = async () => {
    for (let tries = 0; ; tries++) {
      const left = await log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)
      if (left < 48) return
      assert.ok(tries < 200, `${left} px above the end`)
      await page.waitForTimeout(50)
    }
  }

  await t.test('opens at its end, and shows earlier messages on demand', async () => {
    await page.getByText('Question 44').waitFor()
    await waitForEnd()
    assert.equal(await page.getByText('Question 0', { exact: true }).count(), 0)
    await page.getByRole('button', { name: 'Show earlier messages' }).click()
    await page.getByText('Question 0', { exact: true }).waitFor({ state: 'attached' })
    assert.equal(await page.getByRole('article').count(), MESSAGES)
  })

  await t.test('follows a growing answer until the reader scrolls up', async () => {
    await page.getByRole('button', { name: 'Jump to latest' }).or(log).first().focus()
    const gate = Promise.withResolvers<void>()
    t.after(() => gate.resolve())
    vendor.play(holds('word '.repeat(900), 400, gate.promise))
    await send(page, 'And on')
    await log.getByText('word word').first().waitFor()
    await waitForEnd()
    await log.hover()
    await page.mouse.wheel(0, -1_500)
    const jump = page.getByRole('button', { name: 'Jump to latest' })
    await jump.waitFor()
    const before = await top()
    gate.resolve()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    assert.equal(await top(), before, 'the position of a reader above is kept')
    await jump.click()
    await waitForEnd()
  })

  await t.test('prints whole, without what only a screen needs', async () => {
    await page.emulateMedia({ media: 'print' })
    assert.equal(await log.evaluate((box) => box.scrollHeight - box.clientHeight), 0)
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).isVisible(), false)
    assert.equal(await page.getByRole('navigation').first().isVisible(), false)
    await page.emulateMedia({ media: 'screen' })
  })
  assert.deepEqual(errors, [])
})

test('an answer that fails says what to do', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { userApp: true, env: { ...vendor.env.openai, SANDBOX: 'off' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  vendor.play(refuses(500))
  await send(page, 'Hello?')
  const alert = page.getByRole('alert')
  await alert.getByText('The model did not respond. Try again, or choose another one.').waitFor()
  await assertAccessible(page, 'a failed answer')
  vendor.play(says('Hello!'))
  await alert.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('log').getByText('Hello!').waitFor()

  vendor.play(streamsPart('One, two, thr'), says('ee, four.'))
  await ask(page, 'Count to four')
  await page.getByText('Stopped at the length limit.').waitFor()
  await page.reload()
  await page.getByText('Stopped at the length limit.').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('log').getByText('ee, four.').waitFor()

  vendor.play(cuts('The first half'))
  await ask(page, 'And now?')
  await alert.getByText(/^The model stopped in the middle of its answer\./).waitFor()
  await page.getByText('The first half').waitFor()
  vendor.play(says('The second half'))
  await alert.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The second half').waitFor()

  // The connection is lost after the service has stored the question.
  vendor.play(says('It arrived.'))
  await page.route('**/messages', async (route) => {
    await route.fetch()
    await route.abort()
  })
  const log = page.getByRole('log')
  const alerts = await log.getByRole('alert').count()
  await send(page, 'Did it arrive?')
  await log.getByText('It arrived.').waitFor()
  assert.equal(await log.getByText('Did it arrive?').count(), 1)
  assert.equal(await log.getByRole('alert').count(), alerts)
  assert.deepEqual(errors, [])
})

/** Streams an answer as OpenAI does, up to its length limit. */
function streamsPart(text: string): Step {
  const chunk = (delta: object, finish_reason: string | null) =>
    event({
      id: 'c',
      object: 'chat.completion.chunk',
      model: 'gpt-6-luna',
      choices: [{ index: 0, delta, finish_reason }],
    })
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  return streams(
    chunk({ role: 'assistant', content: text }, null),
    chunk({}, 'length'),
    event({ id: 'c', choices: [], usage }),
    event('[DONE]'),
  )
}
