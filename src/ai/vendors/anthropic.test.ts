import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { computeCost } from '../cost.ts'
import { createAnthropic } from './anthropic.ts'
import type { ChatRequest } from './chat-request.ts'
import type { AnswerChunk } from './chunk.ts'
import { toClaudeSchema } from './claude-schema.ts'
import { VendorError } from './vendor-error.ts'

const vendor = createAnthropic('k')
const HI: ChatRequest['messages'] = [{ role: 'user', content: 'Hi' }]
const LONG = 'A rule that every answer shall follow. '.repeat(60)

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body by reading it.
function sent(request: Partial<ChatRequest>, model = 'claude-sonnet-5-5'): any {
  return JSON.parse(vendor.shape(model, { messages: HI, ...request }, false).body)
}

function refusalOf(request: Partial<ChatRequest>, model?: string): string {
  try {
    sent(request, model)
  } catch (error) {
    assert.ok(error instanceof VendorError)
    assert.equal(error.failure, 'refused')
    assert.equal(error.status, 400)
    return error.explanation ?? ''
  }
  return 'not refused'
}

const EPHEMERAL = { type: 'ephemeral' }

test('without a limit, allows the longest answer and default reasoning', () => {
  for (const [model, max] of [
    ['claude-sonnet-5-5', 128_000],
    ['claude-sonnet-5-5-20260928', 128_000],
    ['claude-opus-4-7', 128_000],
    ['claude-haiku-4-5-20251001', 64_000],
    ['claude-opus-4-1', 32_000],
    ['claude-x', 4_096],
  ] as const) {
    const body = sent({ wishes: { keepsEffort: true } }, model)
    assert.equal(body.max_tokens, max, model)
    assert.equal('output_config' in body, false, model)
  }
  assert.equal(sent({ max_tokens: 900_000 }).max_tokens, 128_000)
  assert.equal(sent({ max_completion_tokens: 5, max_tokens: 7 }).max_tokens, 5)
})

test('keeps the caller’s effort; only our own routes lower it for short answers', () => {
  const effort = (request: Partial<ChatRequest>, model?: string) =>
    sent(request, model).output_config?.effort
  assert.equal(effort({ max_tokens: 100, wishes: { keepsEffort: true } }), undefined)
  assert.equal(effort({ max_tokens: 100 }), 'low')
  assert.equal(effort({ max_tokens: 5_000 }), undefined)
  for (const [asked, given] of [
    ['minimal', 'low'],
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
    ['xhigh', 'xhigh'],
    ['max', 'max'],
  ] as const) {
    assert.equal(effort({ max_tokens: 100, reasoning_effort: asked }), given)
  }
  assert.equal(effort({ reasoning_effort: 'xhigh' }, 'claude-opus-4-6'), 'high')
  assert.equal(effort({ reasoning_effort: 'high' }, 'claude-haiku-4-5'), undefined)
})

test('requests visible reasoning when the caller wants it and the model reasons', () => {
  const thinking = (request: Partial<ChatRequest>, model?: string) => sent(request, model).thinking
  const wishes = { reasoning: true }
  const adaptive = { type: 'adaptive', display: 'summarized' }
  assert.deepEqual(thinking({ wishes }), adaptive)
  assert.deepEqual(thinking({ wishes }, 'claude-haiku-5-5'), adaptive)
  assert.equal(thinking({}), undefined)
  assert.equal(thinking({ wishes }, 'claude-haiku-4-5'), undefined)
  assert.equal(thinking({ wishes }, 'claude-opus-4-7'), undefined, 'thinks only when asked')
  assert.deepEqual(thinking({ wishes, reasoning_effort: 'high' }, 'claude-opus-4-7'), adaptive)
  const tools: ChatRequest['tools'] = [{ type: 'function', function: { name: 'f' } }]
  assert.equal(
    thinking({ wishes, tools, tool_choice: 'required' }, 'claude-opus-5'),
    undefined,
    'forced, it cannot think',
  )
  const older = sent({ wishes, reasoning_effort: 'high', temperature: 0.3 }, 'claude-opus-4-6')
  assert.equal(older.temperature, undefined, 'thinking, it takes no temperature')
  assert.equal(sent({ wishes, temperature: 0.3 }, 'claude-opus-4-6').temperature, 0.3)
})

test('marks a long prompt for the cache by default, but not a short one', () => {
  assert.deepEqual(sent({ messages: [{ role: 'user', content: LONG }] }).cache_control, EPHEMERAL)
  assert.equal(sent({}).cache_control, undefined)
  assert.equal(
    sent({ messages: [{ role: 'user', content: LONG }] }, 'claude-haiku-4-5').cache_control,
    undefined,
  )
  assert.equal(
    sent({ messages: [{ role: 'user', content: LONG }] }, 'glm-6').cache_control,
    undefined,
  )
  const explicit = { prompt_cache_options: { mode: 'explicit' } }
  assert.equal(
    sent({ messages: [{ role: 'user', content: LONG }], ...explicit }).cache_control,
    undefined,
  )
})

test('passes the caller’s own cache marks to Claude, and then adds none', () => {
  const hour = { type: 'ephemeral', ttl: '1h' }
  assert.deepEqual(sent({ cache_control: hour }).cache_control, hour)

  const body = sent({
    messages: [
      {
        role: 'system',
        content: [
          { type: 'text', text: LONG, cache_control: hour },
          { type: 'text', text: 'Today is Monday.' },
        ],
      },
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [{ type: 'text', text: LONG, prompt_cache_breakpoint: { mode: 'explicit' } }],
      },
      { role: 'assistant', content: 'Yes', cache_control: EPHEMERAL },
      { role: 'user', content: 'And now?' },
    ],
    tools: [
      { type: 'function', function: { name: 'a' }, cache_control: EPHEMERAL },
      { type: 'function', function: { name: 'b', cache_control: hour } },
    ],
  })
  assert.equal(body.cache_control, undefined)
  assert.deepEqual(body.system, [
    { type: 'text', text: LONG, cache_control: hour },
    { type: 'text', text: 'Today is Monday.' },
    { type: 'text', text: 'Be brief.' },
  ])
  assert.deepEqual(
    body.messages.map(
      (turn: { content: { cache_control?: object }[] }) => turn.content[0]?.cache_control,
    ),
    [EPHEMERAL, EPHEMERAL, undefined],
  )
  assert.deepEqual(
    body.tools.map((tool: { cache_control?: object }) => tool.cache_control),
    [EPHEMERAL, hour],
  )
})

test('counts tokens cached for an hour separately, at twice the input price', () => {
  const answer = vendor.readAnswer({
    content: [],
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: 1_000,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      output_tokens: 50,
      output_tokens_details: { thinking_tokens: 20 },
    },
  })
  assert.deepEqual(answer.usage, {
    prompt: 1_310,
    completion: 50,
    cached: 1_000,
    cacheWrites: 300,
    cacheWritesHour: 200,
    reasoning: 20,
  })
  // Sonnet 5.5: 2 dollars a million in, 0.10 read, 2.50 and 4 written, 10 out.
  assert.equal(
    computeCost(readConfig({}).ai, 'anthropic', ['claude-sonnet-5-5'], answer.usage!).usd.toFixed(
      9,
    ),
    ((10 * 2 + 1_000 * 0.1 + 100 * 2.5 + 200 * 4 + 50 * 10) / 1e6).toFixed(9),
  )
})

test('keeps the cache counts of a stream’s first usage report in its last', () => {
  const reader = vendor.createReader()
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 200,
    cache_creation: { ephemeral_1h_input_tokens: 200 },
    output_tokens: 1,
  }
  reader.read(JSON.stringify({ type: 'message_start', message: { usage } }), [])
  const last = {
    input_tokens: 10,
    cache_creation_input_tokens: 200,
    cache_read_input_tokens: 0,
    output_tokens: 9,
  }
  reader.read(
    JSON.stringify({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: last }),
    [],
  )
  assert.deepEqual(reader.usage, {
    prompt: 210,
    completion: 9,
    cached: 0,
    cacheWrites: 200,
    cacheWritesHour: 200,
  })
})

test('drops empty texts, alone, in a list and in a tool result', () => {
  const body = sent({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'Hi' },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'text', text: ' ' }],
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: '' }] },
    ],
  })
  assert.deepEqual(body.messages, [
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [] }] },
  ])
})

test('renames invalid ids of calls and results alike, and keeps them distinct', () => {
  const call = (id: string) => ({
    id,
    type: 'function' as const,
    function: { name: 'f', arguments: '{}' },
  })
  const answer = (id: string) => ({ role: 'tool' as const, tool_call_id: id, content: id })
  const { messages } = sent({
    messages: [
      ...HI,
      { role: 'assistant', tool_calls: [call('call|1.a/b'), call('call_1_a/b'), call('')] },
      answer('call_1_a/b'),
      answer('call|1.a/b'),
      answer(''),
      // The same id again, a turn later.
      { role: 'assistant', tool_calls: [call('call|1.a/b')] },
      answer('call|1.a/b'),
    ],
  })
  const idsOf = (turn: { content: { id?: string; tool_use_id?: string }[] }) =>
    turn.content.map((block) => block.id ?? block.tool_use_id)
  assert.deepEqual(messages.slice(1).map(idsOf), [
    ['call_1_a_b', 'call_1_a_b_2', 'call'],
    ['call_1_a_b_2', 'call_1_a_b', 'call'],
    ['call_1_a_b_3'],
    ['call_1_a_b_3'],
  ])
})

test('accepts tools without parameters, and keeps as many strict ones as Claude allows', () => {
  const tool = (name: string, more: object = {}) => ({
    type: 'function' as const,
    function: { name, ...more },
  })
  const { tools } = sent({
    tools: [
      tool('none'),
      tool('empty', { parameters: {} }),
      tool('untyped', { parameters: { properties: { a: { type: 'string' } } } }),
      tool('loose', {
        parameters: { type: 'object', properties: { n: { type: 'number', minimum: 0 } } },
        strict: false,
      }),
      tool('strict', {
        parameters: { type: 'object', properties: { n: { type: 'number', minimum: 0 } } },
        strict: true,
      }),
    ],
  })
  assert.deepEqual(
    tools.map((one: { input_schema: object }) => one.input_schema),
    [
      { type: 'object', properties: {} },
      { type: 'object', properties: {} },
      { type: 'object', properties: { a: { type: 'string' } } },
      { type: 'object', properties: { n: { type: 'number', minimum: 0 } } },
      {
        type: 'object',
        properties: { n: { type: 'number', description: '{minimum: 0}' } },
        additionalProperties: false,
      },
    ],
  )
  assert.deepEqual(
    tools.map((one: { strict?: boolean }) => one.strict),
    [undefined, undefined, undefined, undefined, true],
  )
  const many = sent({
    tools: Array.from({ length: 25 }, (_, index) => tool(`t${index}`, { strict: true })),
  })
  assert.equal(many.tools.filter((one: { strict?: boolean }) => one.strict).length, 20)
})

test('moves schema keywords that Claude rejects into the description', () => {
  for (const [given, taken] of [
    [
      { type: 'integer', minimum: 1, description: 'How many' },
      { type: 'integer', description: 'How many\n\n{minimum: 1}' },
    ],
    [
      { type: 'string', format: 'uri', minLength: 2, maxLength: 9, pattern: '^a' },
      { type: 'string', format: 'uri', description: '{minLength: 2, maxLength: 9, pattern: "^a"}' },
    ],
    [
      { type: 'string', format: 'credit-card' },
      { type: 'string', description: '{format: "credit-card"}' },
    ],
    [
      { type: 'array', items: { type: 'string', maxLength: 3 }, minItems: 1 },
      { type: 'array', items: { type: 'string', description: '{maxLength: 3}' }, minItems: 1 },
    ],
    [
      { type: 'array', items: { type: 'string' }, minItems: 2, uniqueItems: true },
      { type: 'array', items: { type: 'string' }, description: '{minItems: 2, uniqueItems: true}' },
    ],
    [
      { oneOf: [{ type: 'object', properties: {} }, { type: 'null' }] },
      {
        anyOf: [{ type: 'object', properties: {}, additionalProperties: false }, { type: 'null' }],
      },
    ],
    [
      { type: ['object', 'null'], properties: { a: { const: 1 } }, required: ['a'] },
      {
        type: ['object', 'null'],
        properties: { a: { const: 1 } },
        required: ['a'],
        additionalProperties: false,
      },
    ],
    [
      { type: ['string', 'null'], enum: ['a', null], description: 'One' },
      { enum: ['a', null], description: 'One' },
    ],
    [
      { type: 'object', additionalProperties: { type: 'number' } },
      {
        type: 'object',
        additionalProperties: false,
        description: '{additionalProperties: {"type":"number"}}',
      },
    ],
    [
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $ref: '#/$defs/a',
        $defs: { a: { type: 'number', maximum: 3 } },
      },
      { $defs: { a: { type: 'number', description: '{maximum: 3}' } }, $ref: '#/$defs/a' },
    ],
    [
      // Names of properties are not keywords.
      {
        type: 'object',
        properties: { minimum: { type: 'number' }, pattern: { enum: ['a', null] } },
      },
      {
        type: 'object',
        properties: { minimum: { type: 'number' }, pattern: { enum: ['a', null] } },
        additionalProperties: false,
      },
    ],
  ] as [Record<string, unknown>, object][]) {
    assert.deepEqual(toClaudeSchema(given), taken)
    const format = { type: 'json_schema', json_schema: { name: 'x', schema: given } }
    assert.deepEqual(sent({ response_format: format }).output_config.format.schema, taken)
  }
  let deep: Record<string, unknown> = { type: 'string' }
  for (let level = 0; level < 5_000; level++) deep = { type: 'array', items: deep }
  assert.match(
    refusalOf({ response_format: { type: 'json_schema', json_schema: { schema: deep } } }),
    /too deeply/,
  )
})

test('sends images, PDF and texts to Claude, also in a tool result', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K' } }
  const pdf = {
    type: 'file',
    file: { filename: 'terms.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' },
  }
  const bare = { type: 'file', file: { file_data: 'JVBERi0x' } }
  const linked = { type: 'file', file: { file_data: 'https://example.com/a.pdf' } }
  const text = {
    type: 'file',
    file: { filename: 'a.txt', file_data: 'data:text/plain;base64,R3LDvMOf' },
  }
  const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' }
  const blocks = [
    { type: 'text', text: 'See' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0K' } },
    { type: 'document', source, title: 'terms.pdf' },
    { type: 'document', source },
    { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Grüß' },
      title: 'a.txt',
    },
  ]
  const content = [{ type: 'text', text: 'See' }, image, pdf, bare, linked, text]
  const { messages } = sent({
    messages: [
      { role: 'user', content },
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content },
    ],
  })
  assert.deepEqual(messages[0].content, blocks)
  assert.deepEqual(messages[2].content, [
    { type: 'tool_result', tool_use_id: 'c1', content: blocks },
  ])
})

test('rejects content that Claude does not support, and never drops it', () => {
  const part = (content: object) =>
    ({ messages: [{ role: 'user', content: [content] }] }) as Partial<ChatRequest>
  for (const [request, words] of [
    [
      part({ type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } }),
      /'audio\/wav' is not supported/,
    ],
    [
      part({ type: 'video_url', video_url: { url: 'https://example.com' } }),
      /'video_url' is not supported/,
    ],
    [part({ type: 'image_url' }), /'image_url' is not supported/],
    [part({ type: 'file', file: { file_id: 'file-1' } }), /send its bytes as 'file_data'/],
    [part({ type: 'file', file: {} }), /needs 'file_data'/],
    [
      part({ type: 'file', file: { file_data: 'data:application/zip;base64,UEs=' } }),
      /'application\/zip' is not supported/,
    ],
    [
      {
        messages: [
          {
            role: 'system',
            content: [{ type: 'image_url', image_url: { url: 'https://example.com' } }],
          },
        ],
      },
      /A system message with 'image'/,
    ],
    [{ functions: [{ name: 'f' }] }, /send 'tools'/],
    [{ function_call: 'auto' }, /send 'tools'/],
    [{ tool_choice: { type: 'allowed_tools' } }, /'allowed_tools' is not supported/],
    [{ modalities: ['text', 'audio'] }, /other than text/],
    [{ n: 2 }, /More than one choice/],
  ] as [Partial<ChatRequest>, RegExp][]) {
    assert.match(refusalOf(request), words)
  }
})

const SIGNED = { format: 'anthropic-claude-v1', index: 0 }

test('sends reasoning back into its own blocks and positions, whole or from a stream', () => {
  const call = (id: string) => ({
    id,
    type: 'function' as const,
    function: { name: 'f', arguments: '{}' },
  })
  const blocks = [
    { type: 'thinking', thinking: 'First, the weather.', signature: 'c2ln' },
    { type: 'text', text: 'Looking.' },
    { type: 'tool_use', id: 'a', name: 'f', input: {} },
    { type: 'thinking', thinking: '', signature: 'b21pdHRlZA' },
    { type: 'redacted_thinking', data: 'c2VjcmV0' },
    { type: 'tool_use', id: 'b', name: 'f', input: {} },
  ]
  const answer = vendor.readAnswer({ content: blocks, stop_reason: 'tool_use' })
  const streamed: AnswerChunk[] = []
  const reader = vendor.createReader()
  const tell = (event: object) => reader.read(JSON.stringify(event), streamed)
  for (const [index, block] of blocks.entries()) {
    const { thinking, signature, ...start } = block
    const isThinking = block.type === 'thinking'
    tell({
      type: 'content_block_start',
      index,
      content_block: isThinking ? { ...start, thinking: '', signature: '' } : start,
    })
    for (const letter of thinking ?? '')
      tell({
        type: 'content_block_delta',
        index,
        delta: { type: 'thinking_delta', thinking: letter },
      })
    if (isThinking)
      tell({ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } })
  }

  const inPieces = streamed.flatMap(({ details }) => details ?? [])
  assert.equal(streamed.map(({ reasoning }) => reasoning).join(''), 'First, the weather.')
  assert.ok(inPieces.length > 10)
  for (const details of [
    answer.details,
    inPieces,
    JSON.parse(JSON.stringify(inPieces)),
    joined(inPieces),
  ]) {
    const body = sent({
      messages: [
        ...HI,
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [call('a'), call('b')],
          reasoning_details: details,
        },
      ],
    })
    assert.deepEqual(body.messages[1].content, blocks)
  }
})

/** As OpenAI's Python client joins a stream: by index, string to string. */
function joined(details: Record<string, unknown>[]): Record<string, unknown>[] {
  const byIndex = new Map<unknown, Record<string, unknown>>()
  for (const detail of details) {
    const whole = byIndex.get(detail.index)
    if (whole === undefined) byIndex.set(detail.index, { ...detail })
    else
      for (const [key, value] of Object.entries(detail)) {
        const isReplaced = key === 'index' || key === 'type' || whole[key] === undefined
        whole[key] = isReplaced ? value : `${whole[key]}${value}`
      }
  }
  return [...byIndex.values()]
}

test('drops reasoning that is not Claude’s or has lost its signature', () => {
  for (const details of [
    'text',
    [null, 7],
    [{ type: 'reasoning.text', text: 'unsigned', ...SIGNED }],
    // As a client stores them that replaces each chunk by the next.
    [{ type: 'reasoning.text', text: '', signature: 's', index: 0 }],
    [{ type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1', index: 0 }],
    [{ type: 'reasoning.text', text: 'Hm', signature: 's', format: 'google-gemini-v1', index: 0 }],
  ]) {
    const body = sent({
      messages: [...HI, { role: 'assistant', content: 'Yes', reasoning_details: details }],
    })
    assert.deepEqual(body.messages[1].content, [{ type: 'text', text: 'Yes' }])
  }
})

test('lets a model that checks earlier reasoning drop reasoning that no longer fits', () => {
  const details = [{ type: 'reasoning.text', text: 'Hm', signature: 's', ...SIGNED }]
  const request = {
    messages: [
      ...HI,
      { role: 'assistant' as const, content: 'Yes', reasoning_details: details },
      ...HI,
    ],
  }
  const bound = vendor.shape('claude-sonnet-5-5', request, true)
  assert.equal(bound.headers['anthropic-beta'], 'thinking-binding-controls-2026-08-01')
  assert.deepEqual(JSON.parse(bound.body).thinking, {
    type: 'adaptive',
    block_binding: { prefix_mismatch_behavior: 'drop_block' },
  })
  for (const [model, messages] of [
    ['claude-sonnet-5', request.messages],
    ['claude-haiku-4-5', request.messages],
    ['claude-sonnet-5-5', HI],
  ] as const) {
    const free = vendor.shape(model, { messages: [...messages] }, true)
    assert.equal('anthropic-beta' in free.headers, false)
    assert.equal(JSON.parse(free.body).thinking, undefined)
  }
})
