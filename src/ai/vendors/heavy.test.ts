// Deliberately long conversations: the work of each translation grows linearly, and none overflows
// the stack.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toChatRequest } from '../anthropic-messages/to-chat.ts'
import { translate } from '../openai-responses/translation.ts'
import { createAnthropic } from './anthropic.ts'
import type { ChatRequest } from './chat-request.ts'
import { createGemini } from './gemini.ts'
import { createOpenAi } from './openai.ts'

const VENDORS = [createOpenAi('key'), createAnthropic('key'), createGemini('key')]
const MODELS = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']
const MANY = 150_000
const CPU_MS_MAX = 4_000

/** CPU time of other programs does not count. */
function cheap(name: string, work: () => unknown): void {
  const before = process.cpuUsage()
  work()
  const { user } = process.cpuUsage(before)
  assert.ok(user / 1_000 < CPU_MS_MAX, `${name} took ${Math.round(user / 1_000)} ms`)
}

function toAll(name: string, request: ChatRequest): void {
  for (const [index, vendor] of VENDORS.entries()) {
    cheap(`${vendor.dialect}: ${name}`, () => vendor.shape(MODELS[index] ?? '', request, false))
  }
}

const many = <T>(make: (index: number) => T, count = MANY) =>
  Array.from({ length: count }, (_, index) => make(index))
const HI = { role: 'user', content: 'Hi' } as const
const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } } as const
const call = (id: string) => ({
  id,
  type: 'function' as const,
  function: { name: 'f', arguments: '{}' },
})

test('a turn with very many parts', () => {
  toAll('parts', {
    messages: [HI, { role: 'user', content: many(() => ({ type: 'text', text: 'x' })) }],
  })
  toAll('parts of a system message', {
    messages: [
      {
        role: 'system',
        content: many(() => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } })),
      },
      HI,
    ],
  })
  toAll('thoughts', {
    messages: [
      HI,
      {
        role: 'assistant',
        content: 'Well.',
        reasoning_details: many((index) => {
          const format = index % 2 ? 'anthropic-claude-v1' : 'google-gemini-v1'
          return { type: 'reasoning.text', text: 'x', signature: 's', format, index }
        }),
      },
      HI,
    ],
  })
})

test('very many tool calls with results in reverse order', () => {
  const ids = many((index) => `call_${index}`, 20_000)
  toAll('answers', {
    messages: [
      HI,
      { role: 'assistant', tool_calls: ids.map(call) },
      ...ids.toReversed().map((id) => ({ role: 'tool' as const, tool_call_id: id, content: 'x' })),
    ],
    tools: [TOOL],
  })
})

test('very many ids and names that collide after truncation', () => {
  const alike = many((index) => 'x'.repeat(120) + String(index).padStart(8, '0'), 12_000)
  const short = alike.map((id) => id.slice(-60))
  for (const ids of [alike, short]) {
    toAll('ids', {
      messages: [HI, { role: 'assistant', tool_calls: [...ids, ...ids, ...ids].map(call) }, HI],
      tools: [TOOL],
      reasoning_effort: 'high',
    })
  }
  const tools = short.map((name) => ({ type: 'function', name }))
  cheap('responses: names', () =>
    translate({
      model: 'm',
      input: 'Hi',
      tools: [...tools, { type: 'namespace', name: 'n', tools }],
    }),
  )
})

test('very many of each kind of content in Anthropic’s messages', () => {
  const of = (params: object) => () =>
    toChatRequest({ model: 'm', messages: [HI], ...params } as Parameters<typeof toChatRequest>[0])
  cheap('tools', of({ tools: many((index) => ({ name: `t${index}`, input_schema: {} })) }))
  cheap(
    'parts',
    of({ messages: [{ role: 'user', content: many(() => ({ type: 'text', text: 'x' })) }] }),
  )
  const details = many((index) => ({ type: 'reasoning.text', text: 'x', index }))
  const signature = `latchkey.1.${Buffer.from(JSON.stringify({ details: details.slice(0, 60_000) })).toString('base64url')}`
  cheap('a forged envelope', () => {
    const thinking = { type: 'thinking', thinking: '', signature }
    return of({
      messages: [HI, { role: 'assistant', content: [thinking, thinking, thinking] }, HI],
    })()
  })
})
