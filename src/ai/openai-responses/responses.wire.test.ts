// OpenAI's responses for the models of all three vendors: the vendor's request, the client's reply,
// and its end.
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { before, beforeEach, suite, test } from 'node:test'
import { type TestApp, testApp } from '#testing/app.ts'
import {
  breakStream,
  buildResponse,
  claudeSays,
  cuts,
  event,
  type MockVendor,
  mockVendor,
  refuses,
  type Step,
  says,
  streams,
} from '#testing/mock-vendor.ts'
import { suiteContext } from '#testing/suite.ts'
import { wrapReasoning } from '../reasoning-envelope.ts'

// The service belongs to this suite: hooks outside a suite would run for every file in the process.
suite('responses on the wire', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an event by reading it.
  type Event = any

  const MODELS = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']
  const GROQ = 'groq/llama-3.3-70b-versatile'
  /** Models that get a translation. */
  const OTHERS = [...MODELS.slice(1), GROQ]
  const WEATHER = {
    type: 'function',
    name: 'weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    strict: false,
  }

  /** One service and three vendors for all tests of this file: OpenAI falls back on Anthropic, and Anthropic on OpenAI. */
  const t = suiteContext()
  let app: TestApp
  let headers: Record<string, string>
  let openai: MockVendor
  let anthropic: MockVendor
  let gemini: MockVendor

  before(async () => {
    openai = await mockVendor(t)
    anthropic = await mockVendor(t)
    gemini = await mockVendor(t)
    app = await testApp(t, {
      env: {
        ...openai.env.openai,
        ...anthropic.env.anthropic,
        ...gemini.env.gemini,
        MODELS: resolve(import.meta.dirname, '../../../docs/models.json'),
        GROQ_API_KEY: 'gsk-test',
        GROQ_BASE_URL: `${openai.url}/groq/v1`,
        LLM_FALLBACKS: 'anthropic/claude-haiku-5-5,openai/gpt-6-luna',
      },
    })
    const ada = await app.as('ada', { tier: 'enterprise' })
    const { body } = await ada.post('/api/api-keys', { name: 'client' })
    headers = { authorization: `Bearer ${body.key}` }
  })
  beforeEach(() => {
    // Circuits that an earlier test has opened are closed again.
    app.clock.advance(120_000)
    play(says('Good day'))
  })

  function play(...steps: [Step, ...Step[]]) {
    for (const vendor of [openai, anthropic, gemini]) vendor.play(...steps)
  }

  const vendorOf = (model: string) =>
    model.startsWith('gpt') || model === GROQ
      ? openai
      : model.startsWith('claude')
        ? anthropic
        : gemini
  /** The latest request to the model's vendor. */
  const toldTo = (model: string) => vendorOf(model).calls.at(-1)!
  const ask = (body: object, more: Record<string, string> = {}) =>
    app.post('/v1/responses', body, { headers: { ...headers, ...more } })

  /**
   * Reads events as OpenAI's clients do: each repeats its name in its data, and there is no final
   * `[DONE]`.
   */
  function eventsOf(text: string): Event[] {
    const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'))
    return blocks.map((block) => {
      const [first = '', second = ''] = block.split('\n')
      const data = JSON.parse(second.replace(/^data: /, ''))
      assert.equal(first, `event: ${data.type}`)
      return data
    })
  }

  async function streamed(body: object): Promise<Event[]> {
    return eventsOf((await ask({ ...body, stream: true })).text)
  }

  const typesOf = (events: Event[]) => events.map(({ type }) => type.replace(/^response\./, ''))

  /** The members that Open Responses requires of every response object. */
  const REQUIRED = [
    'id',
    'object',
    'created_at',
    'completed_at',
    'status',
    'incomplete_details',
    'model',
    'previous_response_id',
    'instructions',
    'output',
    'error',
    'tools',
    'tool_choice',
    'truncation',
    'parallel_tool_calls',
    'text',
    'top_p',
    'presence_penalty',
    'frequency_penalty',
    'top_logprobs',
    'temperature',
    'reasoning',
    'user',
    'usage',
    'max_output_tokens',
    'max_tool_calls',
    'store',
    'background',
    'service_tier',
    'metadata',
    'safety_identifier',
    'prompt_cache_key',
  ]

  test('returns every member that Open Responses requires, with its type', async () => {
    for (const model of OTHERS) {
      const { body } = await ask({
        model,
        input: 'Hi',
        tools: [{ type: 'function', name: 'weather' }],
      })
      const events = await streamed({ model, input: 'Hi' })
      play(breakStream('Half an'))
      const cut = await streamed({ model, input: 'Hi' })
      assert.ok(cut.some(({ type }) => type === 'response.failed'))
      play(says('Good day'))
      const responses = [...events, ...cut].flatMap(({ response }) => response ?? [])
      for (const response of [body, ...responses]) {
        const missing = REQUIRED.filter((name) => response[name] === undefined)
        assert.deepEqual(missing, [], `${model}, ${response.status}`)
        for (const name of [
          'top_p',
          'temperature',
          'presence_penalty',
          'frequency_penalty',
          'top_logprobs',
        ])
          assert.equal(typeof response[name], 'number', name)
        assert.equal(
          typeof response.completed_at,
          response.status === 'completed' ? 'number' : 'object',
        )
      }
      assert.deepEqual(body.tools, [
        { type: 'function', name: 'weather', description: null, parameters: null, strict: false },
      ])
    }
  })

  test('returns a response in OpenAI’s shape from every vendor', async () => {
    for (const model of [...MODELS, GROQ]) {
      const { status, body, headers } = await ask({ model, input: 'Hi', instructions: 'Be brief' })
      assert.equal(status, 200, model)
      assert.deepEqual([body.object, body.status], ['response', 'completed'])
      assert.equal(body.model, model === GROQ ? 'gpt-6-luna' : model)
      const [item] = body.output
      assert.deepEqual(
        [item.type, item.role, item.content[0].type],
        ['message', 'assistant', 'output_text'],
      )
      assert.equal(item.content[0].text, 'Good day')
      assert.deepEqual(
        [body.usage.input_tokens, body.usage.output_tokens, body.usage.total_tokens],
        [10, 5, 15],
      )
      assert.ok(headers.get('x-latchkey-vendor'))
    }
    const groq = toldTo(GROQ)
    assert.deepEqual(
      [groq.path, groq.body.messages[0].role],
      ['/groq/v1/chat/completions', 'system'],
    )
    assert.equal(toldTo('claude').body.system, 'Be brief')
    assert.equal(toldTo('gemini').body.systemInstruction.parts[0].text, 'Be brief')
  })

  test('streams numbered items like OpenAI, and ends without [DONE]', async () => {
    for (const model of OTHERS) {
      const events = await streamed({ model, input: 'Hi' })
      assert.deepEqual(typesOf(events), [
        'created',
        'in_progress',
        'output_item.added',
        'content_part.added',
        'output_text.delta',
        'output_text.delta',
        'output_text.done',
        'content_part.done',
        'output_item.done',
        'completed',
      ])
      assert.deepEqual(
        events.map(({ sequence_number: number }) => number),
        events.map((_, index) => index),
      )
      const ids = new Set(events.flatMap(({ item_id, item }) => item_id ?? item?.id ?? []))
      assert.equal(ids.size, 1)
      assert.equal(
        events.map(({ type, delta }) => (type.endsWith('text.delta') ? delta : '')).join(''),
        'Good day',
      )
      const { response } = events.at(-1)
      assert.equal(response.id, events[0].response.id)
      assert.equal(response.output[0].content[0].text, 'Good day')
      assert.equal(response.usage.total_tokens, 15)
    }
  })

  test('passes requests to OpenAI and its events back unchanged, including unknown members', async () => {
    const delta =
      '{"type":"response.output_text.delta","output_index":0,"delta":"Hi\\u0021","obfuscation":"xYz"}'
    const novel = '{"type":"response.novelty.done","sequence_number":7,"thing":{"a":[1, 2]}}'
    const end = JSON.stringify({
      type: 'response.completed',
      response: buildResponse([], { prompt: 21, completion: 8 }),
    })
    openai.play(streams(...[delta, novel, end].map((data) => event(data))))
    const request = {
      model: 'openai/gpt-6-luna',
      input: [{ type: 'novel_item', content: [{ type: 'novel_part' }] }],
      tools: [{ type: 'web_search', novelty: true }],
      max_tool_calls: 3,
      store: true,
      stream: true,
      client_metadata: { a: 1 },
      include: ['web_search_call.results'],
    }
    const { text } = await ask(request)

    const names = ['response.output_text.delta', 'response.novelty.done', 'response.completed']
    const used = { input_tokens: 21, output_tokens: 8, total_tokens: 29 }
    // The gateway adds the cost.
    const priced = end.replace(
      JSON.stringify(used),
      JSON.stringify({ ...used, cost_usd: 0.000_006_1 }),
    )
    assert.notEqual(priced, end)
    const lines = [delta, novel, priced].map(
      (data, index) => `event: ${names[index]}\ndata: ${data}\n\n`,
    )
    assert.equal(text, lines.join(''))
    const { safety_identifier: identifier, ...sent } = toldTo('gpt').body
    assert.match(identifier, /^[0-9a-f-]{36}/)
    assert.deepEqual(sent, {
      ...request,
      model: 'gpt-6-luna',
      store: false,
      include: ['web_search_call.results', 'reasoning.encrypted_content'],
    })
  })

  test('forwards only OpenAI’s own headers, never credentials or the address', async () => {
    await ask(
      { model: 'gpt-6-luna', input: 'Hi' },
      {
        'openai-beta': 'responses=v1',
        'x-openai-internal-codex-responses-lite': 'true',
        'x-codex-window-id': 'w1',
        'session-id': 's1',
        originator: 'codex_exec',
        'openai-organization': 'org-of-hers',
        'openai-project': 'proj-of-hers',
        cookie: 'a=b',
        'x-api-key': 'no',
        'x-forwarded-for': '10.0.0.1',
        'x-codex-host': 'kept',
      },
    )
    const told = toldTo('gpt').headers
    assert.equal(told.authorization, 'Bearer sk-test-openai-key')
    const passed = [
      'openai-beta',
      'x-openai-internal-codex-responses-lite',
      'x-codex-window-id',
      'session-id',
    ]
    assert.deepEqual(
      passed.map((name) => told[name]),
      ['responses=v1', 'true', 'w1', 's1'],
    )
    for (const name of [
      'openai-organization',
      'openai-project',
      'cookie',
      'x-api-key',
      'x-forwarded-for',
    ])
      assert.equal(told[name], undefined, name)
  })

  test('translates a conversation with tools for each vendor, and returns calls under the client’s names', async () => {
    const request = {
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'Use tools' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'c1',
          name: 'look',
          namespace: 'mcp__docs__',
          arguments: '{"q":1}',
        },
        {
          type: 'custom_tool_call',
          id: 'ctc_1',
          call_id: 'c2',
          name: 'exec',
          namespace: 'functions',
          input: 'ls "a"',
        },
        { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
        {
          type: 'custom_tool_call_output',
          call_id: 'c2',
          output: [
            { type: 'input_text', text: 'file' },
            { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
          ],
        },
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [
            {
              type: 'namespace',
              name: 'functions',
              tools: [
                {
                  type: 'custom',
                  name: 'exec',
                  description: 'Runs',
                  format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
                },
              ],
            },
          ],
        },
      ],
      tools: [
        WEATHER,
        {
          type: 'namespace',
          name: 'mcp__docs__',
          description: 'Docs',
          tools: [{ ...WEATHER, name: 'look' }],
        },
        { type: 'web_search' },
      ],
      tool_choice: { type: 'custom', name: 'exec' },
      parallel_tool_calls: false,
    }
    await ask({ model: 'claude-haiku-5-5', ...request })
    const claude = toldTo('claude').body
    assert.equal(
      claude.system,
      'Use tools\n\nAnswer by calling the tool `exec`.'.slice(0, claude.system.length),
    )
    assert.deepEqual(
      claude.tools.map(({ name }: { name: string }) => name),
      ['weather', 'mcp__docs__look', 'exec'],
    )
    assert.match(claude.tools[1].description, /^Docs\n\nWeather/)
    assert.match(claude.tools[2].description, /^Runs\n\n.*grammar \(lark\):\nstart/)
    assert.deepEqual(claude.tools[2].input_schema.required, ['input'])
    assert.deepEqual(claude.messages[1].content, [
      { type: 'tool_use', id: 'c1', name: 'mcp__docs__look', input: { q: 1 } },
      { type: 'tool_use', id: 'c2', name: 'exec', input: { input: 'ls "a"' } },
    ])
    const [first, second] = claude.messages[2].content
    assert.deepEqual(
      [first.tool_use_id, second.tool_use_id, second.content[1].type],
      ['c1', 'c2', 'image'],
    )

    await ask({ model: 'gemini-3.8-flash', ...request })
    const { contents, toolConfig } = toldTo('gemini').body
    assert.equal(contents[1].parts[0].functionCall.name, 'mcp__docs__look')
    assert.deepEqual(contents[2].parts[0].functionResponse, {
      name: 'mcp__docs__look',
      response: { result: 'sunny' },
    })
    assert.deepEqual(toolConfig.functionCallingConfig.allowedFunctionNames, ['exec'])

    const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
    const content = [
      use('t1', 'mcp__docs__look', { q: 2 }),
      use('t2', 'exec', { input: 'pwd' }),
      use('t3', 'weather', {}),
    ]
    play(claudeSays(content))
    for (const events of [null, await streamed({ model: 'claude-haiku-5-5', ...request })]) {
      const { output } =
        events?.at(-1).response ?? (await ask({ model: 'claude-haiku-5-5', ...request })).body
      assert.deepEqual(
        output.map(({ id, ...item }: { id: string }) => item),
        [
          {
            type: 'function_call',
            status: 'completed',
            call_id: 't1',
            name: 'look',
            namespace: 'mcp__docs__',
            arguments: '{"q":2}',
          },
          {
            type: 'custom_tool_call',
            status: 'completed',
            call_id: 't2',
            name: 'exec',
            namespace: 'functions',
            input: 'pwd',
          },
          {
            type: 'function_call',
            status: 'completed',
            call_id: 't3',
            name: 'weather',
            arguments: '{}',
          },
        ],
      )
      if (events === null) continue
      const args = events.filter(
        ({ type, output_index: index }) => type.endsWith('arguments.delta') && index === 0,
      )
      assert.ok(args.length > 1)
      assert.equal(args.map(({ delta }) => delta).join(''), '{"q":2}')
      assert.ok(
        events.some(
          ({ type, input }) => type === 'response.custom_tool_call_input.done' && input === 'pwd',
        ),
      )
    }
  })

  test('returns reasoning, and sends it back only to its own vendor', async () => {
    const model = 'claude-haiku-5-5'
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'text', text: 'Let me see.' },
      { type: 'redacted_thinking', data: 'c2VjcmV0' },
      { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Wien' } },
    ]
    const request = {
      input: 'Weather?',
      tools: [WEATHER],
      reasoning: { effort: 'high', summary: 'auto' },
    }
    anthropic.play(claudeSays(content))
    const whole = (await ask({ model, ...request })).body.output
    const events = await streamed({ model, ...request })
    const { thinking, output_config } = toldTo('claude').body
    assert.deepEqual([thinking.display, output_config.effort], ['summarized', 'high'])
    assert.deepEqual(typesOf(events).slice(2, 8), [
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
    ])

    for (const output of [whole, events.at(-1).response.output]) {
      assert.deepEqual(output[0].summary, [{ type: 'summary_text', text: 'Hm.' }])
      assert.deepEqual(
        output.map(({ type }: { type: string }) => type),
        ['reasoning', 'message', 'reasoning', 'function_call'],
      )
      assert.deepEqual(output[2].summary, [])
      const input = [
        { role: 'user', content: 'Weather?' },
        ...output,
        { type: 'function_call_output', call_id: 't1', output: 'sunny' },
      ]
      await ask({ ...request, model, input })
      assert.deepEqual(toldTo('claude').body.messages[1].content, content)

      // Other vendors never receive them: OpenAI rejects reasoning that it has not encrypted, and
      // Gemini signatures that it has not made.
      for (const other of ['gpt-6-luna', 'gemini-3.8-flash']) {
        await ask({ ...request, model: other, input })
        assert.doesNotMatch(JSON.stringify(toldTo(other).body), /c2ln|latchkey\.1/)
      }
    }
  })

  test('returns plain-text reasoning as a summary, and sends it back as text', async () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      event({ choices: [{ index: 0, delta, finish_reason }] })
    openai.play(
      streams(
        chunk({ reasoning_content: 'Hm.' }),
        chunk({ content: 'Yes' }),
        chunk({}, 'stop'),
        event('[DONE]'),
      ),
    )
    const events = await streamed({ model: GROQ, input: 'Hi' })
    const { output } = events.at(-1).response
    const [thought, said] = output
    assert.deepEqual(
      [thought.summary, thought.encrypted_content],
      [[{ type: 'summary_text', text: 'Hm.' }], undefined],
    )
    assert.equal(said.content[0].text, 'Yes')
    await ask({ model: 'claude-haiku-5-5', input: [...output, { role: 'user', content: 'Sure?' }] })
    assert.doesNotMatch(JSON.stringify(toldTo('claude').body), /Hm\./)
  })

  test('drops a reference to stored reasoning and keeps the rest of the conversation', async () => {
    for (const model of MODELS) {
      const input = [
        { role: 'user', content: 'Hi' },
        { type: 'item_reference', id: 'rs_1' },
        { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'sunny' },
      ]
      const { status, text } = await ask({ model, input, tools: [WEATHER] })
      assert.equal(status, 200, text)
      assert.doesNotMatch(JSON.stringify(toldTo(model).body), /rs_1/)
    }
  })

  test('sends Gemini’s signatures back with their calls', async () => {
    const model = 'gemini-3.8-flash'
    const parts = [
      { text: 'Hm.', thought: true },
      { functionCall: { name: 'weather', args: { city: 'Wien' } }, thoughtSignature: 'c2ln' },
    ]
    const answer = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }
    play((call, reply) => {
      reply.writeHead(200, {
        'content-type': call.path.includes('stream') ? 'text/event-stream' : 'application/json',
      })
      reply.end(call.path.includes('stream') ? event(answer) : JSON.stringify(answer))
    })
    const request = { input: 'Weather?', tools: [WEATHER] }
    for (const output of [
      (await ask({ model, ...request })).body.output,
      (await streamed({ model, ...request })).at(-1).response.output,
    ]) {
      const types = output.map(({ type }: { type: string }) => type)
      assert.deepEqual([types[0], types.at(-1)], ['reasoning', 'function_call'])
      const call = output.at(-1)
      const result = { type: 'function_call_output', call_id: call.call_id, output: 'sunny' }
      await ask({
        ...request,
        model,
        input: [{ role: 'user', content: 'Weather?' }, ...output, result],
      })
      const told = toldTo('gemini').body.contents[1].parts
      assert.deepEqual(told[0], { text: 'Hm.', thought: true })
      assert.equal(told[1].thoughtSignature, 'c2ln')
    }
  })

  test('ignores a forged, damaged or foreign envelope', async () => {
    const sealed = [
      'gAAAAABk-of-OpenAI',
      'latchkey.1.',
      'latchkey.1.!!!',
      `latchkey.1.${Buffer.from('{"details":[null,7,"x",{"type":"reasoning.text"},{"__proto__":{"a":1}}],"calls":{"c1":"x","__proto__":{"google":1}}}').toString('base64url')}`,
      `latchkey.1.${Buffer.from('[1').toString('base64url')}`,
      wrapReasoning({ details: [], calls: { c1: { google: { thought_signature: 'forged' } } } }),
      `latchkey.9.${'A'.repeat(100_000)}`,
      42,
      { a: 1 },
    ]
    for (const encrypted_content of sealed) {
      const input = [
        { role: 'user', content: 'Hi' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'ok' },
      ]
      for (const model of MODELS) {
        const { status, body } = await ask({ model, input, tools: [WEATHER] })
        assert.deepEqual(
          [status, body.output?.[0]?.content[0].text],
          [200, 'Good day'],
          `${model} ${encrypted_content}`,
        )
      }
      assert.deepEqual(toldTo('claude').body.messages[1].content, [
        { type: 'tool_use', id: 'c1', name: 'weather', input: {} },
      ])
    }
    assert.equal(({} as { a?: number }).a, undefined)
  })

  test('sends settings in each vendor’s form, and reports a short limit like OpenAI', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    }
    const request = {
      input: 'Hi',
      max_output_tokens: 64,
      temperature: 0.5,
      text: { format: { type: 'json_schema', name: 'a', schema, strict: true }, verbosity: 'low' },
      metadata: { a: 'b' },
    }
    await ask({ model: 'claude-haiku-5-5', ...request })
    const claude = toldTo('claude').body
    assert.deepEqual([claude.max_tokens, claude.output_config.format.schema], [64, schema])
    assert.equal(claude.system, 'Answer briefly.')
    play(
      streams(
        event({
          candidates: [{ content: { parts: [{ text: '{"a' }] }, finishReason: 'MAX_TOKENS' }],
        }),
      ),
    )
    const events = await streamed({ model: 'gemini-3.8-flash', ...request })
    const { generationConfig, systemInstruction } = toldTo('gemini').body
    assert.deepEqual(systemInstruction.parts, [{ text: 'Answer briefly.' }])
    assert.deepEqual(
      [
        generationConfig.maxOutputTokens,
        generationConfig.temperature,
        generationConfig.responseJsonSchema,
      ],
      [64, 0.5, schema],
    )
    const { type, response } = events.at(-1)
    assert.deepEqual(
      [type, response.incomplete_details.reason],
      ['response.incomplete', 'max_output_tokens'],
    )
    assert.deepEqual([response.output[0].status, response.metadata], ['incomplete', { a: 'b' }])
  })

  test('rejects requests that need a stored response, and finds none', async () => {
    const model = 'gpt-6-luna'
    for (const [param, more] of Object.entries({
      previous_response_id: { previous_response_id: 'resp_1' },
      conversation: { conversation: 'conv_1' },
      background: { background: true },
      input: { input: [{ type: 'item_reference', id: 'msg_1' }] },
    })) {
      const { status, body } = await ask({ model, input: 'Hi', ...more })
      assert.deepEqual(
        [status, body.error.code, body.error.param],
        [400, 'responses_not_kept', param],
      )
    }
    assert.equal(openai.calls.length, 0)
    for (const [method, path] of [
      ['GET', '/v1/responses/resp_1'],
      ['GET', '/v1/responses/resp_1/input_items'],
      ['DELETE', '/v1/responses/resp_1'],
    ] as const) {
      const { status, body } = await app.request(method, path, { headers })
      assert.deepEqual([status, body.error.code], [404, 'response_not_found'])
    }
    const { status, body } = await ask({ model })
    assert.deepEqual([status, body.error.param], [400, 'input'])
  })

  test('drops OpenAI’s own tools next to others, and rejects a request with nothing else', async () => {
    const model = 'claude-haiku-5-5'
    await ask({ model, input: 'Hi', tools: [{ type: 'web_search' }, WEATHER] })
    assert.deepEqual(
      toldTo('claude').body.tools.map(({ name }: { name: string }) => name),
      ['weather'],
    )
    // Search results are skipped: the text after them repeats what they found.
    const searched = [
      { role: 'user', content: 'Hi' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    ]
    assert.equal((await ask({ model, input: searched })).status, 200)

    for (const more of [
      { tools: [{ type: 'web_search' }] },
      {
        tools: [{ type: 'mcp', server_url: 'https://example.com' }, WEATHER],
        tool_choice: { type: 'mcp' },
      },
      { input: [{ type: 'compaction', encrypted_content: 'x' }] },
      { input: [{ type: 'function_call', name: 'x', arguments: '{}' }] },
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] },
      { input: [{ role: 'wizard', content: 'x' }] },
      { input: [] },
      { prompt: { id: 'pmpt_1' } },
      { text: { format: { type: 'grammar', definition: 'start: /a/' } } },
      { top_logprobs: 3 },
    ]) {
      const { status, body } = await ask({ model, input: 'Hi', ...more })
      assert.equal(status, 400, JSON.stringify(more))
      assert.ok(body.error.message.length > 20, body.error.message)
    }
  })

  test('does not request reasoning from a model without it', async () => {
    for (const [model, include] of [
      ['gpt-6-luna', ['reasoning.encrypted_content']],
      ['gpt-4.1-mini', undefined],
      ['gpt-4o', undefined],
    ] as const) {
      await ask({ model, input: 'Hi' })
      assert.deepEqual(toldTo(model).body.include, include, model)
    }
  })

  test('reports a truncated call as incomplete and adds no arguments', async () => {
    const named = (data: { type: string; [name: string]: unknown }) =>
      `event: ${data.type}\n${event(data)}`
    anthropic.play(
      streams(
        named({
          type: 'message_start',
          message: { id: 'm', model: 'claude-haiku-5-5', usage: { input_tokens: 4 } },
        }),
        named({
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 't', name: 'weather' },
        }),
        named({
          type: 'message_delta',
          delta: { stop_reason: 'max_tokens' },
          usage: { output_tokens: 9 },
        }),
        named({ type: 'message_stop' }),
      ),
    )
    const events = await streamed({
      model: 'claude-haiku-5-5',
      input: 'Weather?',
      tools: [WEATHER],
    })
    const done = events.find(({ type }) => type === 'response.output_item.done')
    assert.deepEqual([done.item.status, done.item.arguments], ['incomplete', ''])
    assert.equal(events.at(-1).type, 'response.incomplete')
  })

  test('never makes a cut stream look complete', async () => {
    for (const step of [cuts('Half an'), cuts('Half an', 'resets'), breakStream('Half an')]) {
      for (const model of MODELS) {
        play(step)
        const events = await streamed({ model, input: 'Hi' })
        const types = typesOf(events)
        assert.deepEqual(types.slice(-2), ['failed', 'error'], model)
        assert.equal(types.includes('completed'), false)
        const [failed, error] = events.slice(-2)
        assert.equal(failed.response.status, 'failed')
        assert.match(failed.response.error.code, /^vendor_/)
        assert.equal(failed.response.error.message, error.error.message)
        app.clock.advance(120_000)
      }
    }
  })

  test('continues the numbering of the passed events when a stream is cut', async () => {
    const delta = (number: number) =>
      event(
        `{"type":"response.output_text.delta","sequence_number":${number},"output_index":0,"delta":"Hi"}`,
      )
    openai.play(streams(delta(4), delta(5), delta(6)))

    const numbers = (await streamed({ model: 'openai/gpt-6-luna', input: 'Hi' })).map(
      (one) => one.sequence_number,
    )

    assert.deepEqual(numbers, [4, 5, 6, 7, 8])
  })

  test('returns a plain reply for a failure before the first chunk, streamed or not', async () => {
    play(refuses(400))
    for (const model of MODELS) {
      for (const stream of [true, false]) {
        const { status, body, headers } = await ask({ model, input: 'Hi', stream })
        assert.equal(status, 400)
        assert.match(headers.get('content-type') ?? '', /json/)
        assert.deepEqual(Object.keys(body.error), ['message', 'type', 'code', 'param'])
      }
    }
  })

  test('translates for fallbacks: from OpenAI to Claude, and from Claude to OpenAI', async () => {
    const request = { input: 'Hi', tools: [WEATHER], reasoning: { effort: 'low' } }
    for (const stream of [true, false]) {
      openai.play(refuses(401))
      anthropic.play(says('from Claude'))
      const reply = await ask({ model: 'gpt-6-luna', ...request, stream })
      assert.equal(reply.headers.get('x-latchkey-vendor'), 'anthropic')
      const response = stream ? eventsOf(reply.text).at(-1).response : reply.body
      assert.deepEqual(
        [response.model, response.output[0].content[0].text],
        ['claude-haiku-5-5', 'from Claude'],
      )
      assert.equal(toldTo('claude').body.tools[0].name, 'weather')
      app.clock.advance(120_000)

      anthropic.play(refuses(401))
      openai.play(says('from OpenAI'))
      const back = await ask({ model: 'claude-haiku-5-5', ...request, stream })
      assert.equal(back.headers.get('x-latchkey-vendor'), 'openai')
      const passed = stream ? eventsOf(back.text).at(-1).response : back.body
      assert.deepEqual([passed.id, passed.output[0].content[0].text], ['resp_mock', 'from OpenAI'])
      assert.deepEqual(toldTo('gpt').body.tools, [WEATHER])
      app.clock.advance(120_000)
    }
    // The other vendor is not asked for features that only OpenAI has, so OpenAI's own failure is
    // reported.
    play(refuses(401))
    const { status, body } = await ask({
      model: 'gpt-6-luna',
      input: 'Hi',
      tools: [{ type: 'web_search' }],
    })
    assert.deepEqual(
      [status, body.error.code, anthropic.calls.length],
      [502, 'vendor_unauthorized', 0],
    )
  })

  test('counts tokens with OpenAI for its models, and estimates them for others', async () => {
    const count = (model: string, more: object = {}) =>
      app.post(
        '/v1/responses/input_tokens',
        { model, input: 'How long is this?', ...more },
        { headers },
      )
    openai.play((_call, reply) => {
      reply.writeHead(200, { 'content-type': 'application/json' })
      reply.end('{"object":"response.input_tokens","input_tokens":11}')
    })
    const { body } = await count('gpt-6-luna', {
      tools: [WEATHER],
      store: true,
      metadata: { a: 'b' },
      include: [],
    })
    assert.deepEqual(body, { object: 'response.input_tokens', input_tokens: 11 })
    const { path, body: told } = toldTo('gpt')
    assert.equal(path, '/v1/responses/input_tokens')
    assert.deepEqual(told, { model: 'gpt-6-luna', input: 'How long is this?', tools: [WEATHER] })
    for (const model of OTHERS) {
      const { body: guessed } = await count(model)
      assert.ok(
        guessed.input_tokens >= 4 && guessed.input_tokens < 100,
        `${model} ${guessed.input_tokens}`,
      )
    }
    assert.equal(anthropic.calls.length + gemini.calls.length, 0)
    assert.equal((await count('gpt-6-luna', { previous_response_id: 'resp_1' })).status, 400)
  })

  test('the sandbox plays all three vendors for a turn with a tool, as Codex and LangChain request it', async (t) => {
    const sandbox = await testApp(t)
    const { body: key } = await (await sandbox.as('ada', { tier: 'pro' })).post('/api/api-keys', {
      name: 'client',
    })
    const post = (body: object) =>
      sandbox.post('/v1/responses', body, { headers: { authorization: `Bearer ${key.key}` } })
    const developer = {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: 'You are an agent' }],
    }
    const user = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'Look around' }],
    }
    const exec = {
      type: 'custom',
      name: 'exec',
      description: 'Runs',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
    }
    const tools = [{ type: 'namespace', name: 'functions', description: '', tools: [exec] }]
    const codex = {
      input: [{ type: 'additional_tools', role: 'developer', tools }, developer, user],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning: { effort: 'medium', context: 'all_turns' },
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'k',
      text: { verbosity: 'low' },
      client_metadata: { session_id: 's' },
    }
    for (const model of ['gpt-6.1-terra', 'claude-sonnet-5-5', 'gemini-3.8-flash']) {
      const [call] = eventsOf((await post({ ...codex, model })).text).at(-1).response.output
      assert.deepEqual(
        [call.type, call.name, call.namespace],
        ['custom_tool_call', 'exec', 'functions'],
        model,
      )
      const output = [{ type: 'input_text', text: 'four files' }]
      const result = { type: 'custom_tool_call_output', call_id: call.call_id, output }
      const events = eventsOf(
        (await post({ ...codex, model, input: [...codex.input, call, result] })).text,
      )
      assert.match(events.at(-1).response.output[0].content[0].text, /four files/, model)

      const counted = await sandbox.post(
        '/v1/responses/input_tokens',
        { model, input: 'How long?' },
        { headers: { authorization: `Bearer ${key.key}` } },
      )
      assert.ok(counted.body.input_tokens > 0, counted.text)

      const langchain = {
        model,
        stream: false,
        input: [{ content: 'Weather?', role: 'user', type: 'message' }],
      }
      const { body } = await post({ ...langchain, tools: [WEATHER] })
      assert.deepEqual(
        [body.output[0].type, body.output[0].name],
        ['function_call', 'weather'],
        model,
      )
    }
  })
})
