import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChatRequest } from './chat-request.ts'
import type { AnswerChunk } from './chunk.ts'
import { createGemini } from './gemini.ts'
import { VendorError } from './vendor-error.ts'

const vendor = createGemini('k')
const HI: ChatRequest['messages'] = [{ role: 'user', content: 'Hi' }]

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body by reading it.
function sent(request: Partial<ChatRequest>, model = 'gemini-3.8-flash'): any {
  return JSON.parse(vendor.shape(model, { messages: HI, ...request }, false).body)
}

const call = (id: string, signature?: string) => ({
  id,
  type: 'function' as const,
  function: { name: 'f', arguments: '{}' },
  ...(signature === undefined
    ? {}
    : { extra_content: { google: { thought_signature: signature } } }),
})

test('sends images, PDF and audio to Gemini, also in a tool result', () => {
  const content = [
    { type: 'text', text: 'See' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K' } },
    {
      type: 'file',
      file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' },
    },
    { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
    { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
  ]
  const inline = [
    { inlineData: { mimeType: 'image/png', data: 'iVBORw0K' } },
    { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0x' } },
    { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
  ]
  const linked = { fileData: { fileUri: 'https://example.com/a.png' } }
  const messages: ChatRequest['messages'] = [
    { role: 'user', content },
    { role: 'assistant', tool_calls: [call('c1')] },
    { role: 'tool', tool_call_id: 'c1', content },
  ]
  const three = sent({ messages }).contents
  assert.deepEqual(three[0].parts, [{ text: 'See' }, ...inline, linked])
  assert.deepEqual(three[2].parts, [
    { functionResponse: { name: 'f', response: { result: 'See' }, parts: inline } },
    linked,
  ])
  // Before Gemini 3, signatures follow the answer.
  assert.deepEqual(sent({ messages }, 'gemini-2.5-pro').contents[2].parts, [
    { functionResponse: { name: 'f', response: { result: 'See' } } },
    ...inline,
    linked,
  ])
})

test('rejects content that Gemini does not support, and never drops it', () => {
  for (const [request, words] of [
    [
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
      /send its bytes/,
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'video_url' }] }] },
      /'video_url' is not supported/,
    ],
    [
      { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
      /system message/,
    ],
    [{ functions: [{ name: 'f' }] }, /send 'tools'/],
  ] as [Partial<ChatRequest>, RegExp][]) {
    assert.throws(
      () => sent(request),
      (error: VendorError) =>
        error instanceof VendorError && error.status === 400 && words.test(error.explanation ?? ''),
    )
  }
})

test('requests visible reasoning when the caller wants it and the model supports it', () => {
  const thinking = (model: string, request: Partial<ChatRequest> = {}) =>
    sent({ wishes: { reasoning: true, keepsEffort: true }, ...request }, model).generationConfig
      ?.thinkingConfig
  assert.deepEqual(thinking('gemini-3.8-flash'), { includeThoughts: true })
  assert.deepEqual(thinking('gemini-2.5-pro'), { includeThoughts: true })
  assert.deepEqual(thinking('gemini-3.8-flash', { reasoning_effort: 'high' }), {
    thinkingLevel: 'high',
    includeThoughts: true,
  })
  assert.equal(thinking('gemini-2.5-flash-lite'), undefined)
  assert.equal(thinking('gemini-2.0-flash'), undefined)
  assert.equal(
    thinking('gemini-3.8-flash', { wishes: { keepsEffort: true }, max_tokens: 10 }),
    undefined,
  )
  assert.deepEqual(thinking('gemini-3.8-flash', { wishes: {}, max_tokens: 10 }), {
    thinkingLevel: 'low',
  })
})

test('returns reasoning and signatures of texts and calls, and sends them back to their positions', () => {
  const parts = [
    { text: 'Let me think', thought: true },
    { text: 'Looking.', thoughtSignature: 'd29yZHM=' },
    { functionCall: { id: 'a', name: 'f', args: {} }, thoughtSignature: 'c2ln' },
    { functionCall: { id: 'b', name: 'f', args: {} } },
  ]
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, thoughtsTokenCount: 2 }
  const body = { candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata }
  const whole = vendor.readAnswer(body)
  assert.deepEqual(whole.usage, {
    prompt: 5,
    completion: 5,
    cached: 0,
    cacheWrites: 0,
    reasoning: 2,
  })

  const pieces: AnswerChunk[] = []
  const reader = vendor.createReader()
  for (const text of ['Let me ', 'think'])
    reader.read(
      JSON.stringify({ candidates: [{ content: { parts: [{ text, thought: true }] } }] }),
      pieces,
    )
  reader.read(
    JSON.stringify({
      ...body,
      candidates: [{ content: { parts: parts.slice(1) }, finishReason: 'STOP' }],
    }),
    pieces,
  )
  assert.equal(pieces.map(({ reasoning }) => reasoning).join(''), 'Let me think')
  const streamed = pieces.flatMap(({ details }) => details ?? [])

  for (const reasoning_details of [whole.details, streamed]) {
    const { contents } = sent({
      messages: [
        ...HI,
        { role: 'assistant', content: whole.text, tool_calls: whole.toolCalls, reasoning_details },
      ],
    })
    const withoutIds = parts.map((part) =>
      part.functionCall === undefined ? part : { ...part, functionCall: { name: 'f', args: {} } },
    )
    assert.deepEqual(contents[1].parts, withoutIds)
  }
  const foreign = [
    { type: 'reasoning.text', text: 'Hm', signature: 's', format: 'anthropic-claude-v1', index: 0 },
  ]
  const { contents } = sent({
    messages: [...HI, { role: 'assistant', content: 'Yes', reasoning_details: foreign }],
  })
  assert.deepEqual(contents[1].parts, [{ text: 'Yes' }])
})

test('gives calls without ids distinct ones over all turns', () => {
  const body = {
    candidates: [
      { content: { parts: [{ functionCall: { name: 'f' } }, { functionCall: { name: 'f' } }] } },
    ],
  }
  const ids = [vendor.readAnswer(body), vendor.readAnswer(body)].flatMap(({ toolCalls }) =>
    toolCalls.map(({ id }) => id),
  )
  assert.equal(new Set(ids).size, 4)
})
