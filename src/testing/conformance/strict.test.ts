import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anthropicMessages } from './strict-anthropic.ts'
import { geminiContent } from './strict-gemini.ts'
import { openAiChat } from './strict-openai-chat.ts'
import { openAiResponses } from './strict-openai-responses.ts'
import { type Json, Refused } from './words.ts'

const DIALECTS = {
  chat: {
    dialect: openAiChat,
    path: '/v1/chat/completions',
    body: { model: 'gpt-6-luna', messages: [user('Hi')] },
  },
  responses: {
    dialect: openAiResponses,
    path: '/v1/responses',
    body: { model: 'gpt-6-luna', input: 'Hi', store: false },
  },
  messages: {
    dialect: anthropicMessages,
    path: '/v1/messages',
    body: { model: 'claude-sonnet-5-5', max_tokens: 9, messages: [user('Hi')] },
  },
  gemini: {
    dialect: geminiContent,
    path: '/v1beta/models/gemini-3.8-flash:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  },
} as const

function user(content: unknown) {
  return { role: 'user', content }
}

function refusalOf(name: keyof typeof DIALECTS, more: Json): string | null {
  const { dialect, path, body } = DIALECTS[name]
  const headers = {
    authorization: 'Bearer k',
    'x-api-key': 'k',
    'anthropic-version': 'v',
    'x-goog-api-key': 'k',
  }
  try {
    dialect.hear({ body: { ...body, ...more }, headers, path })
    return null
  } catch (error) {
    assert.ok(error instanceof Refused, String(error))
    return error.message
  }
}

const FUNCTION = { type: 'function', function: { name: 'f' } }
const CLAUDE_TOOL = { name: 'f', input_schema: { type: 'object' } }
const use = (id: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'f', input: {} }],
})
const answer = (id: string) => user([{ type: 'tool_result', tool_use_id: id, content: '9' }])
const call = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] }
const signed = {
  role: 'model',
  parts: [{ functionCall: { name: 'f' }, thoughtSignature: 'skip_thought_signature_validator' }],
}
const result = { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] }
const hi = { role: 'user', parts: [{ text: 'Hi' }] }
const schema = (properties: Json, more: Json = {}) => ({
  output_config: {
    format: {
      type: 'json_schema',
      schema: { type: 'object', properties, additionalProperties: false, ...more },
    },
  },
})

test('the strict vendors reject what the real ones reject, in their words', () => {
  const cases: [keyof typeof DIALECTS, Json, RegExp][] = [
    ['chat', { cache_control: {} }, /Unrecognized request argument/],
    ['chat', { max_tokens: 9 }, /max_completion_tokens/],
    ['chat', { temperature: 0.5 }, /temperature/],
    ['chat', { stop: 'x' }, /stop/],
    ['chat', { tools: [FUNCTION] }, /use \/v1\/responses/],
    ['chat', { tool_choice: 'auto' }, /only allowed when 'tools'/],
    ['chat', { stream_options: { include_usage: true } }, /only allowed when 'stream'/],
    ['chat', { messages: [{ ...user('Hi'), reasoning_content: 'x' }] }, /reasoning_content/],
    [
      'chat',
      { messages: [user([{ type: 'text', text: 'Hi', cache_control: {} }])] },
      /cache_control/,
    ],
    [
      'chat',
      { messages: [{ role: 'tool', tool_call_id: 'a', content: '9' }] },
      /preceeding message/,
    ],
    ['responses', { messages: [] }, /Unknown parameter: 'messages'/],
    ['responses', { tools: [FUNCTION] }, /tools\[0\]\.function/],
    ['responses', { max_output_tokens: 5 }, /below minimum/],
    [
      'responses',
      { input: [{ type: 'function_call_output', call_id: 'a', output: '' }] },
      /No tool call found/,
    ],
    ['responses', { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }, /not persisted/],
    [
      'responses',
      { input: [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }] },
      /verified/,
    ],
    ['responses', { input: [user([{ type: 'text', text: 'Hi' }])] }, /Supported values/],
    ['messages', { stop: ['x'] }, /Extra inputs/],
    ['messages', { max_tokens: 200_000 }, /maximum allowed number/],
    ['messages', { temperature: 0.5 }, /temperature/],
    ['messages', { messages: [user('Hi'), user('Ho')] }, /alternate/],
    ['messages', { messages: [{ role: 'assistant', content: 'Hi' }] }, /first message/],
    ['messages', { messages: [user('')] }, /non-empty/],
    ['messages', { messages: [user([{ type: 'text', text: ' ' }])] }, /non-whitespace/],
    ['messages', { messages: [user('Hi'), { role: 'assistant', content: 'The' }] }, /prefill/],
    [
      'messages',
      { messages: [user('Hi'), use('a.b'), answer('a.b')], tools: [CLAUDE_TOOL] },
      /pattern/,
    ],
    [
      'messages',
      { messages: [user('Hi'), use('a'), answer('b')], tools: [CLAUDE_TOOL] },
      /immediately after/,
    ],
    ['messages', { messages: [user('Hi'), use('a'), answer('a')] }, /must define tools/],
    [
      'messages',
      { tools: [CLAUDE_TOOL], tool_choice: { type: 'any' } },
      /not supported for this model/,
    ],
    ['messages', { tools: [{ name: 'f', input_schema: {} }] }, /input_schema\.type/],
    ['messages', { context_management: {} }, /Extra inputs/],
    ['messages', schema({ n: { type: 'number', minimum: 1 } }), /'minimum' is not supported/],
    ['messages', schema({}, { additionalProperties: true }), /additionalProperties/],
    [
      'messages',
      {
        messages: [
          user('Hi'),
          { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 'y' }] },
          user('So?'),
        ],
      },
      /Invalid `signature`/,
    ],
    ['gemini', { messages: [] }, /Unknown name "messages"/],
    ['gemini', { contents: [] }, /contents is not specified/],
    ['gemini', { contents: [{ role: 'assistant', parts: [{ text: 'Hi' }] }] }, /valid role/],
    ['gemini', { contents: [{ role: 'user', parts: [{ text: '' }] }] }, /text parameter/],
    ['gemini', { contents: [hi, call, result] }, /thought_signature/],
    [
      'gemini',
      { contents: [hi, signed, { ...result, parts: [...result.parts, ...result.parts] }] },
      /is equal to/,
    ],
    ['gemini', { contents: [hi, result] }, /immediately after a function call/],
    ['gemini', { generationConfig: { responseJsonSchema: {} } }, /mime type/],
    [
      'gemini',
      {
        tools: [
          {
            functionDeclarations: [
              { name: 'f', parameters: { type: 'object', additionalProperties: false } },
            ],
          },
        ],
      },
      /Unknown name "additionalProperties"/,
    ],
  ]
  for (const [name, more, words] of cases)
    assert.match(refusalOf(name, more) ?? 'taken', words, `${name} ${JSON.stringify(more)}`)
})

test('the strict vendors accept what the real ones accept', () => {
  const cases: [keyof typeof DIALECTS, Json][] = [
    ['chat', {}],
    ['chat', { tools: [FUNCTION], reasoning_effort: 'none', temperature: 0.5 }],
    ['responses', { tools: [{ type: 'function', name: 'f', parameters: null, strict: false }] }],
    ['messages', { messages: [user('Hi'), use('a'), answer('a')], tools: [CLAUDE_TOOL] }],
    ['messages', schema({ n: { type: 'number' } })],
    ['gemini', { contents: [hi, signed, result] }],
  ]
  for (const [name, more] of cases)
    assert.equal(refusalOf(name, more), null, `${name} ${JSON.stringify(more)}`)
})
