import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readParameters } from './call-parameters.ts'
import type { ModelRequest } from './model-request.ts'

const QUESTION = { role: 'user' as const, content: 'a secret question' }
const readNative = (body: object) =>
  readParameters({ native: { body } } as unknown as ModelRequest, true)

test('reads the parameters of each API', () => {
  const request = {
    messages: [QUESTION, QUESTION],
    temperature: 0.2,
    top_p: null,
    max_tokens: 100,
    max_completion_tokens: 300,
    reasoning_effort: 'low',
    tools: [{ type: 'function' as const, function: { name: 'secret_tool' } }],
  }
  assert.deepEqual(readParameters({ request }, false), {
    messages: 2,
    stream: false,
    tools: 1,
    temperature: 0.2,
    max_tokens: 300,
    reasoning_effort: 'low',
  })
  assert.deepEqual(
    readNative({
      input: 'a secret question',
      top_p: 0.5,
      max_output_tokens: 50,
      reasoning: { effort: 'high' },
    }),
    { messages: 1, stream: true, top_p: 0.5, max_tokens: 50, reasoning_effort: 'high' },
  )
  assert.deepEqual(
    readNative({ messages: [QUESTION], max_tokens: 9, output_config: { effort: 'max' } }),
    { messages: 1, stream: true, max_tokens: 9, reasoning_effort: 'max' },
  )
})

test('stores no text of a request, wherever the caller puts it', () => {
  const body = {
    messages: [QUESTION],
    temperature: 'a secret question',
    top_p: ['a secret question'],
    max_tokens: { secret: true },
    tools: 'a secret question',
    reasoning: { effort: 'a secret question' },
  }
  const text = JSON.stringify(readNative(body))
  assert.doesNotMatch(text, /secret/)
})
