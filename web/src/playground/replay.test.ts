import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Call } from '../api/types.ts'
import { findReplay, readBody, readCall, rememberRequest } from './replay.ts'
import { buildBody, type Message } from './request.ts'

const SETTINGS = {
  model: 'openai/gpt-6-luna',
  system: 'Be brief.',
  temperature: 0.2,
  topP: 0.9,
  maxTokens: 300,
  effort: 'low' as const,
  streams: false,
}
const MESSAGES: Message[] = [
  { role: 'user', content: 'When?' },
  { role: 'assistant', content: 'At nine.' },
  { role: 'user', content: 'Where?' },
]

test('a remembered request is sent again as it was', () => {
  for (const settings of [
    SETTINGS,
    { ...SETTINGS, system: '', temperature: null, effort: null, streams: true },
  ]) {
    const body = buildBody(settings, MESSAGES)
    const { model, settings: read, messages } = readBody(body)
    assert.deepEqual(buildBody({ ...read, model: model ?? '' }, messages), body)
  }
})

test('a call without its request gives its model and parameters', () => {
  const parameters = { messages: 3, stream: false, tools: 1, temperature: 0, max_tokens: 300 }
  const call = { vendor: 'openai', model: 'gpt-6-luna', parameters } as Call
  assert.deepEqual(readCall(call), {
    model: 'openai/gpt-6-luna',
    settings: {
      system: '',
      temperature: 0,
      topP: null,
      maxTokens: 300,
      effort: null,
      streams: false,
    },
    messages: [],
  })
  const unknown = { ...parameters, reasoning_effort: 'xhigh' }
  assert.equal(readCall({ ...call, parameters: unknown }).settings.effort, null)
  assert.equal(readCall({ ...call, parameters: null }).settings.streams, true)
})

test('the last 20 requests are remembered, apart from long ones', () => {
  const stored = new Map<string, string>()
  Object.defineProperty(globalThis, 'localStorage', {
    value: {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, text: string) => stored.set(key, text),
    },
  })
  const remember = (id: number, content: string) =>
    rememberRequest('ada', String(id), buildBody(SETTINGS, [{ role: 'user', content }]))
  for (let id = 0; id < 21; id++) remember(id, 'When?')
  remember(21, 'When? '.repeat(10_000))
  const isWhole = (id: number) =>
    findReplay('ada', { request_id: String(id), model: 'm' } as Call).isWhole
  assert.deepEqual([0, 1, 20, 21].map(isWhole), [false, true, true, false])
})
