import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LiveAnswer } from './live-answer.ts'

const events = (...lines: string[]) => new Response(lines.map((line) => `${line}\n\n`).join(''))

test('an answer that begins again is no longer thinking', async () => {
  Object.assign(globalThis, { requestAnimationFrame: () => 1, cancelAnimationFrame() {} })
  const live = new LiveAnswer(
    { key: 'k', afterId: null, question: null },
    async () =>
      events(
        'event: reasoning\ndata: {"token":"Perhaps"}',
        'data: {"id":"a","parent_id":"q"}',
        'data: {"token":"At nine."}',
        'data: [DONE]',
      ),
    () => undefined,
  )
  await live.follow()
  const { text, reasoning, isThinking, outcome } = live.state
  assert.deepEqual([text, reasoning, isThinking, outcome], ['At nine.', null, false, 'ok'])
})
