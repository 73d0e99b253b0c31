// The reasoning of a model, folded above its answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { event, mockVendor, type Step } from '#testing/mock-vendor.ts'
import { assertAccessible, openBrowser, signInByForm, visit } from './browser.ts'
import { send } from './conversation.ts'

test('reasoning shows folded while it streams, and after a reload', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    userApp: true,
    env: { ...vendor.env.anthropic, LLM_VENDORS: 'anthropic/claude-sonnet-5-5', SANDBOX: 'off' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { page, errors } = await visit(await openBrowser(t))
  await signInByForm(page, app.url, ada.email)
  const [thought, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  vendor.play(
    claudeWrites(
      [
        start(0, { type: 'thinking', thinking: '', signature: '' }),
        write(0, { type: 'thinking_delta', thinking: 'The timetable **says** nine.' }),
      ],
      thought.promise,
      [
        write(0, { type: 'signature_delta', signature: 's' }),
        event({ type: 'content_block_stop', index: 0 }),
        start(1, { type: 'text', text: '' }),
        write(1, { type: 'text_delta', text: 'At nine' }),
      ],
      written.promise,
      [
        write(1, { type: 'text_delta', text: ', from the quay.' }),
        event({ type: 'content_block_stop', index: 1 }),
      ],
    ),
  )

  await send(page, 'When does the ferry sail?')
  const answer = page.getByRole('log').getByRole('article').last()
  const reasoning = answer.getByText('The timetable says nine.')
  const summary = answer.locator('summary')
  await summary.getByText('Thinking…').waitFor()
  assert.equal(await reasoning.count(), 0, 'folded')
  await summary.press('Enter')
  await reasoning.waitFor()
  await summary.press('Enter')
  await reasoning.waitFor({ state: 'detached' })

  thought.resolve()
  await answer.getByText('At nine').waitFor()
  await summary.getByText(/^Thought for \d+ s$/).waitFor()
  assert.equal(await reasoning.count(), 0, 'folded while the answer is written')
  written.resolve()
  await page.getByRole('button', { name: 'Answer again' }).waitFor()

  await page.reload()
  await answer.getByText('At nine, from the quay.').waitFor()
  await summary.getByText(/^Thought for \d+ s$/).waitFor()
  assert.equal(await reasoning.count(), 0, 'folded after a reload')
  await summary.click()
  await reasoning.waitFor()
  assert.equal(await answer.locator('strong').innerText(), 'says')
  await assertAccessible(page, 'unfolded reasoning')
  assert.deepEqual(errors, [])
})

const start = (index: number, content_block: object) =>
  event({ type: 'content_block_start', index, content_block })
const write = (index: number, delta: object) => event({ type: 'content_block_delta', index, delta })

/** Claude's events in parts, with promises to wait for between them. */
function claudeWrites(...parts: (string[] | Promise<void>)[]): Step {
  return async (_call, reply) => {
    const usage = { input_tokens: 10, output_tokens: 5 }
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.write(event({ type: 'message_start', message: { model: 'claude-sonnet-5-5', usage } }))
    for (const part of parts) {
      if (part instanceof Promise) await part
      else reply.write(part.join(''))
    }
    reply.write(event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }))
    reply.end(event({ type: 'message_stop' }))
  }
}
