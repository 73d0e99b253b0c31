// Members of request bodies that change the model, the price or the region, and ids of objects in
// the operator's account.
import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import { type TestApp, testApp } from '#testing/app.ts'
import { buildResponse, mockVendor, type Step, says } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const GPT = 'gpt-6-luna'
const CLAUDE = 'claude-haiku-5-5'
const OPUS = 'claude-opus-5-5'

/** Every member of the vendors' public request schemas (openai-python and anthropic-sdk-python, August 2026), with a value. */
const RESPONSES_SCHEMA: Record<string, unknown> = {
  background: false,
  context_management: [{ type: 'compaction', compact_threshold: 1_000 }],
  conversation: 'conv_1',
  include: ['reasoning.encrypted_content'],
  instructions: 'Be brief',
  max_output_tokens: 100,
  max_tool_calls: 2,
  metadata: { team: 'blue' },
  moderation: { model: 'omni-moderation-latest' },
  parallel_tool_calls: true,
  previous_response_id: 'resp_1',
  prompt: { id: 'pmpt_1' },
  prompt_cache_key: 'k',
  prompt_cache_options: { mode: 'implicit', ttl: '30m', comparison_response_id: 'resp_1' },
  prompt_cache_retention: '24h',
  reasoning: { effort: 'low', summary: 'auto', context: 'auto' },
  safety_identifier: 's',
  service_tier: 'priority',
  store: false,
  stream_options: { include_obfuscation: false },
  temperature: 1,
  text: { verbosity: 'low' },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'auto',
  user: 'u',
}
const MESSAGES_SCHEMA: Record<string, unknown> = {
  cache_control: { type: 'ephemeral' },
  container: 'container_1',
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  diagnostics: { previous_message_id: null },
  fallback_credit_token: 'token',
  fallbacks: [{ model: OPUS }],
  inference_geo: 'eu',
  mcp_servers: [{ type: 'url', name: 'm', url: 'https://example.com' }],
  metadata: { user_id: 'u' },
  output_config: { effort: 'low' },
  output_format: { type: 'json_schema', schema: { type: 'object' } },
  service_tier: 'auto',
  speed: 'fast',
  stop_sequences: ['x'],
  system: 'Be brief',
  temperature: 1,
  thinking: { type: 'adaptive', display: 'summarized' },
  tool_choice: { type: 'auto' },
  tools: [],
  top_k: 5,
  top_p: 1,
}
const CHAT_SCHEMA: Record<string, unknown> = {
  fallback_credit_token: 'token',
  fallbacks: [{ model: OPUS }],
  moderation: { model: 'omni-moderation-latest' },
  service_tier: 'priority',
  speed: 'fast',
}

suite('members of request bodies', () => {
  const ends: (() => unknown)[] = []
  const t = { after: (end: () => unknown) => void ends.unshift(end) } as unknown as Parameters<
    typeof testApp
  >[0]
  let app: TestApp
  let openai: Awaited<ReturnType<typeof mockVendor>>
  let anthropic: Awaited<ReturnType<typeof mockVendor>>
  let gemini: Awaited<ReturnType<typeof mockVendor>>
  let headers: Record<string, string>

  before(async () => {
    openai = await mockVendor(t)
    anthropic = await mockVendor(t)
    gemini = await mockVendor(t)
    app = await testApp(t, {
      env: { ...openai.env.openai, ...anthropic.env.anthropic, ...gemini.env.gemini },
    })
    const ada = await app.as('ada', { tier: 'enterprise' })
    const { body } = await ada.post('/api/api-keys', { name: 'members' })
    headers = { authorization: `Bearer ${body.key}`, 'anthropic-version': '2023-06-01' }
  })
  after(async () => {
    for (const end of ends) await end()
  })
  beforeEach(() => {
    openai.play(says('Hello'))
    anthropic.play(says('Hello'))
    gemini.play(says('Hello'))
  })

  const respond = (more: object) =>
    app.post('/v1/responses', { model: GPT, input: 'Hi', ...more }, { headers })
  const message = (more: object) =>
    app.post('/v1/messages', { model: CLAUDE, max_tokens: 100, messages: HI, ...more }, { headers })
  const chat = (more: object) =>
    app.post('/v1/chat/completions', { model: GPT, messages: HI, ...more }, { headers })
  const asked = () => openai.calls.length + anthropic.calls.length + gemini.calls.length
  const messageOf = ({ body }: { body: { error: { message: string } } }) => body.error.message

  test("rejects Anthropic's own fallbacks to other models by name, in any form", async () => {
    for (const fallbacks of [
      [{ model: OPUS }],
      [{ model: OPUS, speed: 'fast', max_tokens: 100_000 }],
      'default',
    ]) {
      for (const stream of [false, true]) {
        const reply = await message({ fallbacks, stream })
        assert.deepEqual([reply.status, reply.body.error.type], [400, 'invalid_request_error'])
        assert.match(messageOf(reply), /'fallbacks'/)
      }
    }
    assert.match(
      messageOf(await message({ fallback_credit_token: 'x' })),
      /'fallback_credit_token'/,
    )
    assert.equal(asked(), 0)
  })

  test('passes or rejects each member of the public schemas, as listed', async () => {
    const outcome = async (
      ask: typeof chat,
      vendor: typeof openai,
      schema: Record<string, unknown>,
    ) => {
      const passed: string[] = []
      for (const [name, value] of Object.entries(schema)) {
        vendor.calls.length = 0
        const reply = await ask({ [name]: value })
        if (reply.status === 200) {
          if (vendor.calls.at(-1)?.body[name] !== undefined) passed.push(name)
          continue
        }
        assert.equal(reply.status, 400, `${name}: ${JSON.stringify(reply.body)}`)
        assert.ok(messageOf(reply).includes(`'${name}'`), `${name}: ${messageOf(reply)}`)
        assert.equal(vendor.calls.length, 0, name)
      }
      return passed
    }
    const rejected = (schema: object, passed: string[]) =>
      Object.keys(schema).filter((name) => !passed.includes(name))
    assert.deepEqual(rejected(RESPONSES_SCHEMA, await outcome(respond, openai, RESPONSES_SCHEMA)), [
      'conversation',
      'moderation',
      'previous_response_id',
      'prompt',
      'service_tier',
    ])
    assert.deepEqual(
      rejected(MESSAGES_SCHEMA, await outcome(message, anthropic, MESSAGES_SCHEMA)),
      ['container', 'fallback_credit_token', 'fallbacks', 'inference_geo', 'mcp_servers', 'speed'],
    )
    assert.deepEqual(await outcome(chat, openai, CHAT_SCHEMA), [])
  })

  test('rejects unknown members, spellings and inner members at the native APIs', async () => {
    const novelties = [
      'novelty',
      'Model',
      'MODEL',
      'models',
      'route',
      'provider',
      'api_base',
      'extra_body',
      'betas',
      '__proto__x',
      'anthropic_beta',
      'anthropic_version',
      'constructor',
      'toString',
    ]
    for (const name of novelties) {
      for (const ask of [respond, message]) {
        const reply = await ask({ [name]: [{ model: OPUS }] })
        assert.equal(reply.status, 400, name)
        assert.ok(messageOf(reply).includes(`'${name}'`), messageOf(reply))
      }
    }
    const inner: [typeof chat, object, string][] = [
      [respond, { reasoning: { effort: 'low', mode: 'pro' } }, 'reasoning.mode'],
      [respond, { reasoning: { model: 'gpt-6.2-astra' } }, 'reasoning.model'],
      [
        respond,
        { context_management: [{ type: 'compaction', model: 'x' }] },
        'context_management.model',
      ],
      [message, { output_config: { effort: 'low', speed: 'fast' } }, 'output_config.speed'],
      [message, { thinking: { type: 'adaptive', model: OPUS } }, 'thinking.model'],
    ]
    for (const [ask, more, name] of inner) {
      const reply = await ask(more)
      assert.equal(reply.status, 400, name)
      assert.ok(messageOf(reply).includes(`'${name}'`), messageOf(reply))
    }
    assert.equal(asked(), 0)
    assert.equal((await respond({ reasoning: { mode: 'standard' } })).status, 200)
    assert.equal(
      (await message({ fallbacks: null, novelty: null })).status,
      200,
      'null means that it is left out',
    )
  })

  test('rejects a stored conversation with the code that makes Anthropic’s SDKs resend it', async () => {
    for (const model of [CLAUDE, GPT]) {
      for (const thread of [
        { type: 'create' },
        { type: 'continue', previous_message_id: 'msg_of_another' },
      ]) {
        const { status, body } = await message({ model, thread })
        const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
        assert.deepEqual([status, body.error.details], [400, details])
      }
    }
    assert.equal(asked(), 0)
  })

  test('finds a tool without a known price in the output of a tool search', async () => {
    const found = {
      type: 'tool_search_output',
      call_id: 'c',
      tools: [{ type: 'code_interpreter', container: {} }],
    }
    const reply = await respond({ input: [...HI, found] })
    assert.deepEqual([reply.status, reply.body.error.param], [400, 'tools'])
  })

  const objects: [name: string, ask: typeof chat, more: object][] = [
    ['prompt', respond, { prompt: { id: 'pmpt_1' } }],
    [
      'file_id',
      respond,
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
    ],
    [
      'file_id',
      respond,
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] },
    ],
    [
      'file_id',
      respond,
      {
        input: [
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [{ type: 'input_file', file_id: 'file-1' }],
          },
        ],
      },
    ],
    ['vector_store_ids', respond, { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
    [
      'mcp',
      respond,
      { tools: [{ type: 'mcp', server_label: 'm', server_url: 'https://example.com' }] },
    ],
    ['mcp', respond, { tools: [{ type: 'mcp', server_label: 'm', tunnel_id: 'tunnel_1' }] }],
    ['container', message, { container: 'container_1' }],
    ['container', message, { container: { skills: [{ type: 'custom', skill_id: 'skill_1' }] } }],
    [
      'mcp_servers',
      message,
      { mcp_servers: [{ type: 'url', name: 'm', url: 'https://example.com' }] },
    ],
    ...['image', 'document'].map((type): [string, typeof chat, object] => [
      'file_id',
      message,
      {
        messages: [
          { role: 'user', content: [{ type, source: { type: 'file', file_id: 'file_1' } }] },
        ],
      },
    ]),
    [
      'file_id',
      message,
      { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'file_1' }] }] },
    ],
    [
      'file_id',
      chat,
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
    ],
    [
      'files/abc',
      chat,
      {
        model: 'gemini-3.8-flash',
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'image_url',
                image_url: { url: 'https://generativelanguage.googleapis.com/v1beta/files/abc' },
              },
            ],
          },
        ],
      },
    ],
    [
      'gs://',
      chat,
      {
        model: 'gemini-3.8-flash',
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'gs://bucket/one.png' } }],
          },
        ],
      },
    ],
  ]

  test("rejects ids of objects in the operator's vendor account by member", async () => {
    for (const [name, ask, more] of objects) {
      const reply = await ask(more)
      assert.equal(reply.status, 400, `${name}: ${JSON.stringify(reply.body).slice(0, 200)}`)
      assert.ok(messageOf(reply).includes(name), `${name}: ${messageOf(reply)}`)
    }
    const counted = await app.post(
      '/v1/messages/count_tokens',
      {
        model: CLAUDE,
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] },
        ],
      },
      { headers },
    )
    assert.equal(counted.status, 400)
    assert.equal(asked(), 0)
  })

  test('accepts the same names in a tool’s schema, a call’s input and an answer’s annotations', async () => {
    const schema = {
      type: 'object',
      properties: { file_id: { type: 'string' } },
      required: ['file_id'],
    }
    const use = {
      type: 'tool_use',
      id: 't',
      name: 'open',
      input: { file_id: 'mine', container_id: 'c' },
    }
    const result = { type: 'tool_result', tool_use_id: 't', content: 'done' }
    const messages = [
      ...HI,
      { role: 'assistant', content: [use] },
      { role: 'user', content: [result] },
    ]
    const own = await message({ messages, tools: [{ name: 'open', input_schema: schema }] })
    assert.equal(own.status, 200, JSON.stringify(own.body))
    const annotations = [{ type: 'file_citation', file_id: 'file-1', index: 0, filename: 'a' }]
    const said = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hi', annotations }],
    }
    openai.play(json(buildResponse([])))
    const tools = [{ type: 'function', name: 'open', parameters: schema }]
    const response = await respond({ input: [...HI, said, ...HI], tools })
    assert.equal(response.status, 200, JSON.stringify(response.body))
    const given = { name: 'open', parameters: schema }
    assert.equal((await chat({ tools: [{ type: 'function', function: given }] })).status, 200)
  })

  test('passes ids of the operator’s account when it is configured', async (t) => {
    const env = { ...openai.env.openai, ...anthropic.env.anthropic, ...gemini.env.gemini }
    const open = await testApp(t, { env: { ...env, ALLOW: 'vendor_objects' } })
    const bob = await open.as('bob', { tier: 'enterprise' })
    const { key } = (await bob.post('/api/api-keys', { name: 'open' })).body
    for (const [name, ask, more] of objects) {
      const path =
        ask === respond
          ? '/v1/responses'
          : ask === message
            ? '/v1/messages'
            : '/v1/chat/completions'
      const usual =
        ask === respond
          ? { model: GPT, input: 'Hi' }
          : { model: ask === chat ? GPT : CLAUDE, messages: HI }
      const body = { ...usual, ...(ask === message ? { max_tokens: 10 } : {}), ...more }
      const reply = await open.post(path, body, { headers: { authorization: `Bearer ${key}` } })
      assert.equal(reply.status, 200, `${name}: ${JSON.stringify(reply.body)}`)
    }
  })

  test('lowers a limit to the model’s longest answer', async () => {
    const limits = async (vendor: typeof openai, ask: typeof chat, more: object, name: string) => {
      const reply = await ask(more)
      assert.equal(reply.status, 200, JSON.stringify(reply.body))
      return vendor.calls.at(-1)?.body[name]
    }
    const most = await limits(anthropic, message, { max_tokens: 1e9 }, 'max_tokens')
    assert.ok(most >= 1_000 && most <= 128_000, `${most}`)
    const longest = await limits(openai, respond, { max_output_tokens: 1e9 }, 'max_output_tokens')
    assert.ok(longest >= 1_000 && longest <= 256_000, `${longest}`)
    assert.equal(await limits(openai, chat, { max_tokens: 1e9 }, 'max_completion_tokens'), longest)
    assert.equal(
      await limits(openai, chat, { model: 'openai/unheard-of', max_tokens: 1e9 }, 'max_tokens'),
      Math.max(longest, 128_000),
    )
    assert.equal(await limits(anthropic, message, { max_tokens: 100 }, 'max_tokens'), 100)
  })

  test('charges a fallback inside Anthropic at its own model’s price, whole and streamed', async () => {
    const iterations = [
      { type: 'message', model: CLAUDE, input_tokens: 1_000, output_tokens: 10 },
      { type: 'fallback_message', model: OPUS, input_tokens: 1_000, output_tokens: 200 },
    ]
    const usage = { input_tokens: 1_000, output_tokens: 200, iterations }
    const answer = {
      type: 'message',
      role: 'assistant',
      model: OPUS,
      content: [],
      stop_reason: 'end_turn',
    }
    const cost = async (step: Step, more: object = {}) => {
      anthropic.play(step)
      const reply = await message(more)
      assert.equal(reply.status, 200, JSON.stringify(reply.body))
      const { body } = await app.get('/api/usage/calls?limit=1', { headers })
      const { cost_usd: usd, prompt_tokens: prompt, completion_tokens: completion } = body.calls[0]
      return [Math.round(usd * 1e9), prompt, completion]
    }
    const plain = async (model: string, prompt: number, completion: number) => {
      const own = { ...answer, model, usage: { input_tokens: prompt, output_tokens: completion } }
      return (await cost(json(own), { model }))[0] as number
    }
    const expected = (await plain(CLAUDE, 1_000, 10)) + (await plain(OPUS, 1_000, 200))
    assert.deepEqual(await cost(json({ ...answer, usage })), [expected, 2_000, 210])
    const events = [
      {
        type: 'message_start',
        message: { ...answer, usage: { input_tokens: 1_000, output_tokens: 1 } },
      },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ]
    const streamed: Step = (_call, reply) => {
      reply.setHeader('content-type', 'text/event-stream')
      reply.end(
        events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
      )
    }
    assert.deepEqual(await cost(streamed, { stream: true }), [expected, 2_000, 210])
  })
})

const json =
  (body: object): Step =>
  (_call, reply) => {
    reply.setHeader('content-type', 'application/json')
    reply.end(JSON.stringify(body))
  }
