import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { computeCost } from '../cost.ts'
import type { ChatRequest } from './chat-request.ts'
import type { AnswerChunk } from './chunk.ts'
import { createOpenAi } from './openai.ts'
import { VendorError } from './vendor-error.ts'

const vendor = createOpenAi('k')
const HI: ChatRequest['messages'] = [{ role: 'user', content: 'Hi' }]
const TOOL = { type: 'function' as const, function: { name: 'f', parameters: { type: 'object' } } }
const keepsEffort = { wishes: { keepsEffort: true } }

function shaped(request: Partial<ChatRequest>, model = 'gpt-6.1-terra', from = vendor) {
  const { path, body } = from.shape(model, { messages: HI, ...keepsEffort, ...request }, false)
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body by reading it.
  return { path, body: JSON.parse(body) as any }
}

function refusalOf(request: Partial<ChatRequest>, model?: string): string {
  try {
    shaped(request, model)
  } catch (error) {
    assert.ok(error instanceof VendorError)
    assert.deepEqual([error.failure, error.status], ['refused', 400])
    return error.explanation ?? ''
  }
  return 'not refused'
}

test('counts and charges cache writes', () => {
  const { usage } = vendor.readAnswer({
    choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 100_000,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 20_000, cache_write_tokens: 70_000 },
      completion_tokens_details: { reasoning_tokens: 4 },
    },
  })
  assert.deepEqual(usage, {
    prompt: 100_000,
    completion: 10,
    cached: 20_000,
    cacheWrites: 70_000,
    reasoning: 4,
  })
  // Terra: a dollar a million in, 0.05 read, 1.25 written, 5 out.
  const dollars = (10_000 * 1 + 20_000 * 0.05 + 70_000 * 1.25 + 10 * 5) / 1e6
  assert.equal(
    computeCost(readConfig({}).ai, 'openai', ['gpt-6.1-terra'], usage!).usd.toFixed(9),
    dollars.toFixed(9),
  )

  const reader = vendor.createReader()
  const details = { cached_tokens: 0, cache_write_tokens: 90 }
  reader.read(
    JSON.stringify({
      choices: [],
      usage: { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: details },
    }),
    [],
  )
  assert.equal(reader.usage?.cacheWrites, 90)
})

test('uses /responses for tools with reasoning, only where a model needs it', () => {
  const pathOf = (model: string, request: Partial<ChatRequest>, from = vendor) =>
    shaped(request, model, from).path
  const tools = [TOOL]
  for (const [model, request, path] of [
    ['gpt-6.1-terra', { tools }, '/responses'],
    ['gpt-6.2-astra', { tools, reasoning_effort: 'high' }, '/responses'],
    ['gpt-5.6-luna', { tools }, '/responses'],
    ['gpt-6-luna-2026-09-22', { tools }, '/responses'],
    ['gpt-5.4', { tools, reasoning_effort: 'low' }, '/responses'],
    ['o3-pro', {}, '/responses'],
    ['gpt-5.1-codex', {}, '/responses'],
    // The caller's own value, which /chat/completions accepts.
    ['gpt-6.1-terra', { tools, reasoning_effort: 'none' }, '/chat/completions'],
    ['gpt-6.1-terra', { tools: [] }, '/chat/completions'],
    ['gpt-6.1-terra', {}, '/chat/completions'],
    ['gpt-5.4', { tools }, '/chat/completions'],
    ['gpt-5.1', { tools, reasoning_effort: 'high' }, '/chat/completions'],
    ['gpt-4.1-mini', { tools }, '/chat/completions'],
    ['o3', { tools, reasoning_effort: 'high' }, '/chat/completions'],
    // Servers that imitate OpenAI.
    ['gpt-oss:120b', { tools, reasoning_effort: 'high' }, '/chat/completions'],
    ['llama3.3:70b', { tools, reasoning_effort: 'high' }, '/chat/completions'],
    ['qwen3-coder', { tools }, '/chat/completions'],
  ] as [string, Partial<ChatRequest>, string][]) {
    assert.equal(pathOf(model, request), path, `${model} ${JSON.stringify(request)}`)
  }
  assert.equal(
    pathOf('gpt-6.1-terra', { tools }, createOpenAi('k', { isSandbox: true })),
    '/chat/completions',
  )
  assert.equal('reasoning_effort' in shaped({ tools }).body, false)
})

test('builds a complete request to /responses that stores nothing at OpenAI', () => {
  const schema = { type: 'object', properties: {}, additionalProperties: false }
  const { body } = shaped({
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          {
            type: 'file',
            file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' },
          },
        ],
      },
      {
        role: 'assistant',
        content: 'Looking.',
        tool_calls: [
          { id: 'a'.repeat(80), type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        ],
        reasoning_details: [
          {
            type: 'reasoning.summary',
            summary: 'Hm',
            id: 'rs_1',
            format: 'openai-responses-v1',
            index: 0,
          },
          {
            type: 'reasoning.encrypted',
            data: 'gAAA',
            id: 'rs_1',
            format: 'openai-responses-v1',
            index: 0,
          },
          {
            type: 'reasoning.encrypted',
            data: 'gBBB',
            id: 'rs_2',
            format: 'openai-responses-v1',
            index: 2,
          },
          {
            type: 'reasoning.summary',
            summary: 'lost',
            id: 'rs_3',
            format: 'openai-responses-v1',
            index: 4,
          },
          {
            type: 'reasoning.text',
            text: 'Claude’s',
            signature: 's',
            format: 'anthropic-claude-v1',
            index: 0,
          },
        ],
      },
      { role: 'tool', tool_call_id: 'a'.repeat(80), content: [{ type: 'text', text: 'done' }] },
      { role: 'user', content: 'And?' },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: 'F' } }],
    tool_choice: { type: 'function', function: { name: 'f' } },
    parallel_tool_calls: false,
    max_tokens: 9,
    temperature: 0.3,
    stop: ['x'],
    logprobs: true,
    reasoning_effort: 'high',
    verbosity: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'out', schema, strict: true } },
    prompt_cache_key: 'k1',
    store: true,
    user: 'u1',
    cache_control: { type: 'ephemeral' },
  })
  assert.deepEqual(body, {
    model: 'gpt-6.1-terra',
    input: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'See' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' },
          {
            type: 'input_file',
            filename: 'a.pdf',
            file_data: 'data:application/pdf;base64,JVBERi0x',
          },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm' }],
        encrypted_content: 'gAAA',
      },
      { role: 'assistant', content: 'Looking.' },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gBBB' },
      { type: 'function_call', call_id: 'a'.repeat(64), name: 'f', arguments: '{"x":1}' },
      {
        type: 'function_call_output',
        call_id: 'a'.repeat(64),
        output: [{ type: 'input_text', text: 'done' }],
      },
      { role: 'user', content: 'And?' },
    ],
    stream: false,
    store: false,
    include: ['reasoning.encrypted_content'],
    parallel_tool_calls: false,
    user: 'u1',
    prompt_cache_key: 'k1',
    max_output_tokens: 16,
    tools: [
      {
        type: 'function',
        name: 'f',
        description: 'F',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
    ],
    tool_choice: { type: 'function', name: 'f' },
    reasoning: { effort: 'high' },
    text: { format: { type: 'json_schema', name: 'out', schema, strict: true }, verbosity: 'low' },
  })
})

test('sends tools without a schema, their calls and results to /responses', () => {
  const custom = {
    name: 'sh',
    format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
  }
  const { body } = shaped({
    tools: [{ type: 'custom', custom }, TOOL] as unknown as ChatRequest['tools'],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [TOOL] },
    } as ChatRequest['tool_choice'],
    messages: [
      ...HI,
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'sh', input: 'a' } }] as never,
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
    ],
  })
  assert.deepEqual(body.tools[0], {
    type: 'custom',
    name: 'sh',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
  })
  assert.deepEqual(body.tool_choice, {
    type: 'allowed_tools',
    mode: 'required',
    tools: [{ type: 'function', name: 'f' }],
  })
  assert.deepEqual(body.input.slice(1), [
    { type: 'custom_tool_call', call_id: 'c1', name: 'sh', input: 'a' },
    { type: 'custom_tool_call_output', call_id: 'c1', output: 'ok' },
  ])
})

test('rejects features that /responses does not support', () => {
  const tools = [TOOL]
  for (const [request, words] of [
    [{ tools, n: 2 }, /More than one choice/],
    [{ tools, functions: [{ name: 'f' }] }, /send 'tools'/],
    [{ tools, web_search_options: {} }, /'web_search_options' is not supported together/],
    [{ tools, audio: { voice: 'alloy' } }, /'audio' is not supported together/],
    [
      {
        tools,
        messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: '' } }] }],
      },
      /'input_audio' is not supported together/,
    ],
    [
      { tools, messages: [{ role: 'assistant', tool_calls: [{ id: 'c1' }] as never }] },
      /needs a 'function'/,
    ],
    [{ tools: [{ type: 'web_search' }] as never }, /'web_search' is not supported/],
  ] as [Partial<ChatRequest>, RegExp][]) {
    assert.match(refusalOf(request), words)
  }
})

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_795_000_000,
  status: 'completed',
  model: 'gpt-6.1-terra',
  output: [
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm' }],
      encrypted_content: 'gAAA',
    },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Looking.' }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"x":1}' },
    { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c2', name: 'sh', input: 'ls' },
  ],
  usage: {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 20, cache_write_tokens: 30 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 109,
  },
}

const DETAILS = [
  { type: 'reasoning.summary', summary: 'Hm', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
  {
    type: 'reasoning.encrypted',
    data: 'gAAA',
    id: 'rs_1',
    format: 'openai-responses-v1',
    index: 0,
  },
]

test('translates a response into a chat completion', () => {
  const answer = vendor.readAnswer(RESPONSE)
  assert.deepEqual(answer.body, {
    id: 'resp_1',
    created: 1_795_000_000,
    model: 'gpt-6.1-terra',
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Looking.',
          refusal: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
            { id: 'c2', type: 'custom', custom: { name: 'sh', input: 'ls' } },
          ],
          reasoning_content: 'Hm',
          reasoning_details: DETAILS,
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 9,
      total_tokens: 109,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 4 },
    },
  })
  assert.deepEqual(answer.usage, {
    prompt: 100,
    completion: 9,
    cached: 20,
    cacheWrites: 30,
    reasoning: 4,
  })
  const textOf = (more: object) => {
    const { text, finish } = vendor.readAnswer({
      ...RESPONSE,
      output: [RESPONSE.output[1]],
      ...more,
    })
    return [text, finish]
  }
  assert.deepEqual(textOf({}), ['Looking.', 'stop'])
  const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
  assert.deepEqual(textOf(cut), ['Looking.', 'length'])
  assert.deepEqual(textOf({ ...cut, incomplete_details: { reason: 'content_filter' } }), [
    'Looking.',
    'content_filter',
  ])
  const refused = { output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }] }
  const choices = vendor.readAnswer({ ...RESPONSE, ...refused }).body?.choices as
    | { message: object }[]
    | undefined
  assert.deepEqual(choices?.[0]?.message, { role: 'assistant', content: null, refusal: 'No.' })
})

test('reports a failed response with its kind, whole or in a stream', () => {
  for (const [error, failure, code] of [
    [{ code: 'server_error', message: 'Oh' }, 'broken', null],
    [{ code: 'rate_limit_exceeded', message: 'Oh' }, 'limited', null],
    [{ code: 'context_length_exceeded', message: 'Oh' }, 'refused', 'context_length_exceeded'],
    [{ code: 'invalid_image_url', message: 'Oh' }, 'refused', 'invalid_image_url'],
  ] as const) {
    const failed = { ...RESPONSE, status: 'failed', error, output: [] }
    for (const say of [
      () => vendor.readAnswer(failed),
      () =>
        vendor
          .createReader()
          .read(JSON.stringify({ type: 'response.failed', response: failed }), []),
      () => vendor.createReader().read(JSON.stringify({ type: 'error', ...error }), []),
      () => vendor.createReader().read(JSON.stringify({ type: 'error', error }), []),
    ]) {
      assert.throws(
        say,
        (thrown: VendorError) => thrown.failure === failure && thrown.code === code,
      )
    }
  }
  assert.throws(() => vendor.readAnswer({ ...RESPONSE, status: 'in_progress' }), VendorError)
})

test('reads a streamed response whose items arrive only at their end', () => {
  const reader = vendor.createReader()
  const pieces: AnswerChunk[] = []
  const tell = (event: object) => reader.read(JSON.stringify(event), pieces)
  tell({ type: 'response.created', response: { ...RESPONSE, status: 'in_progress', usage: null } })
  for (const [output_index, item] of RESPONSE.output.entries())
    tell({ type: 'response.output_item.done', output_index, item })
  assert.equal(reader.isWhole, false)
  tell({ type: 'response.completed', response: RESPONSE })
  assert.equal(reader.isWhole, true)
  assert.equal(reader.model, 'gpt-6.1-terra')
  assert.deepEqual(reader.usage, {
    prompt: 100,
    completion: 9,
    cached: 20,
    cacheWrites: 30,
    reasoning: 4,
  })

  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a chunk by reading it.
  const deltas = pieces.map(({ event }) => (JSON.parse(event ?? '') as any).choices[0])
  assert.deepEqual(
    deltas.map(({ delta }) => delta),
    [
      { role: 'assistant', content: '' },
      { reasoning_content: 'Hm', reasoning_details: DETAILS },
      { content: 'Looking.' },
      {
        tool_calls: [
          { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] },
      { tool_calls: [{ index: 1, id: 'c2', type: 'custom', custom: { name: 'sh', input: '' } }] },
      { tool_calls: [{ index: 1, custom: { input: 'ls' } }] },
      {},
    ],
  )
  assert.equal(deltas.at(-1).finish_reason, 'tool_calls')
})

test('identifies the vendor in the first chunk of a reasoning block, and sends the block back as one', () => {
  const reader = vendor.createReader()
  const pieces: AnswerChunk[] = []
  for (const event of [
    {
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      item_id: 'rs_1',
      summary_index: 0,
      delta: 'H',
    },
    {
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      item_id: 'rs_1',
      summary_index: 0,
      delta: 'm',
    },
    { type: 'response.output_item.done', output_index: 0, item: RESPONSE.output[0] },
  ]) {
    reader.read(JSON.stringify(event), pieces)
  }
  const told = pieces.flatMap(({ details }) => details ?? [])
  assert.deepEqual(told, [
    {
      type: 'reasoning.summary',
      summary: 'H',
      format: 'openai-responses-v1',
      id: 'rs_1',
      index: 0,
    },
    { type: 'reasoning.summary', summary: 'm', index: 0 },
    { type: 'reasoning.encrypted', data: 'gAAA', index: 0 },
  ])
  const messages: ChatRequest['messages'] = [
    ...HI,
    { role: 'assistant', content: 'Yes', reasoning_details: told },
  ]
  assert.deepEqual(shaped({ messages, tools: [TOOL] }).body.input[1], RESPONSE.output[0])
})

test('drops members for OpenAI that only other servers support, and sends them to those', () => {
  const request: Partial<ChatRequest> = {
    messages: [
      {
        role: 'system',
        content: [{ type: 'text', text: 'Rules', cache_control: { type: 'ephemeral' } }],
      },
      {
        role: 'assistant',
        content: 'Yes',
        reasoning_details: DETAILS,
        reasoning_content: 'Hm',
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: { name: 'f', arguments: '{}' },
            extra_content: { google: { thought_signature: 's' } },
          },
        ],
      } as ChatRequest['messages'][number],
    ],
    tools: [{ ...TOOL, cache_control: { type: 'ephemeral' } }],
    cache_control: { type: 'ephemeral' },
    include_reasoning: true,
  }
  const own = shaped(request, 'gpt-4.1-mini').body
  assert.deepEqual(own, {
    model: 'gpt-4.1-mini',
    stream: false,
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Rules' }] },
      {
        role: 'assistant',
        content: 'Yes',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    ],
    tools: [TOOL],
  })
  const other = shaped(request, 'deepseek-v4').body
  assert.deepEqual(other, { ...request, model: 'deepseek-v4', stream: false })
})

test('drops sampling parameters while a model reasons, and sends them otherwise', () => {
  const all = {
    stop: 'x',
    logit_bias: { 1: 1 },
    temperature: 0.5,
    top_p: 0.9,
    presence_penalty: 1,
    frequency_penalty: 1,
    logprobs: true,
    top_logprobs: 2,
  }
  const sampling = (model: string, more: Partial<ChatRequest> = {}) =>
    Object.keys(all).filter((name) => name in shaped({ ...all, ...more }, model).body)
  assert.deepEqual(sampling('gpt-6.2-sol'), [])
  assert.deepEqual(sampling('o3'), [])
  assert.deepEqual(sampling('gpt-6.1-terra'), [])
  assert.deepEqual(
    sampling('gpt-6.1-terra', { reasoning_effort: 'none' }),
    Object.keys(all).slice(2),
  )
  assert.deepEqual(sampling('gpt-4.1-mini'), Object.keys(all))
  assert.deepEqual(sampling('llama3'), Object.keys(all))
  const played = shaped(
    { ...all, tools: [TOOL] },
    'gpt-6.1-terra',
    createOpenAi('k', { isSandbox: true }),
  ).body
  assert.deepEqual(
    [played.stop, played.temperature, played.reasoning_effort],
    ['x', 0.5, undefined],
  )
})
