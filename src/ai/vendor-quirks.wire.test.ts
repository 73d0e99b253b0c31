// The vendors of docs/vendors.json, each played by a server with the real one's answers and
// rejections.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { before, suite, test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { testApp } from '#testing/app.ts'
import { type MockCall, mockVendor, type Step } from '#testing/mock-vendor.ts'
import { suiteContext } from '#testing/suite.ts'
import { computeCost } from './cost.ts'

// The service belongs to this suite: hooks outside a suite would run for every file in the process.
suite('quirks of vendors', () => {
  const MODELS = resolve(import.meta.dirname, '../../docs/vendors.json')
  const KEYS = ['GROQ', 'MISTRAL', 'DEEPSEEK', 'XAI', 'OPENROUTER', 'CEREBRAS']

  type Body = Record<string, unknown> & { messages: (Record<string, unknown> & { role: string })[] }
  type Refusal = { status: number; body: unknown } | null

  const openAiError = (message: string, status = 400): Refusal => ({
    status,
    body: { error: { message } },
  })
  const firstOf = (body: object, names: readonly string[]) => names.find((name) => name in body)

  /** Each vendor's rejections, in its own words. */
  const REFUSALS: Record<string, (body: Body, call: MockCall) => Refusal> = {
    groq(body) {
      const names = [
        'store',
        'logprobs',
        'top_logprobs',
        'logit_bias',
        'prompt_cache_key',
        'verbosity',
        'cache_control',
      ]
      const wrong = firstOf(body, names)
      if (wrong) return openAiError(`property '${wrong}' is unsupported`)
      for (const [index, message] of body.messages.entries()) {
        const names = [
          'reasoning',
          'reasoning_content',
          'reasoning_details',
          'refusal',
          'annotations',
        ]
        const found = firstOf(message, message.role === 'tool' ? names : [...names, 'name'])
        if (found) return openAiError(`'messages.${index}' : property '${found}' is unsupported`)
      }
      const isRaw =
        String(body.model).startsWith('qwen/') &&
        !['parsed', 'hidden'].includes(String(body.reasoning_format))
      return isRaw && body.tools
        ? openAiError('reasoning_format `raw` is not allowed with tools')
        : null
    },
    mistral(body) {
      const known = [
        'model',
        'messages',
        'stream',
        'temperature',
        'top_p',
        'max_tokens',
        'stop',
        'random_seed',
        'tools',
      ]
      const more = [
        'tool_choice',
        'presence_penalty',
        'frequency_penalty',
        'n',
        'parallel_tool_calls',
        'response_format',
      ]
      const extra = (loc: (string | number)[]): Refusal => ({
        status: 422,
        body: {
          object: 'error',
          message: {
            detail: [
              {
                type: 'extra_forbidden',
                loc: ['body', ...loc],
                msg: 'Extra inputs are not permitted',
              },
            ],
          },
          type: 'invalid_request_error',
        },
      })
      const wrong = Object.keys(body).find(
        (name) => ![...known, ...more, 'reasoning_effort'].includes(name),
      )
      if (wrong) return extra([wrong])
      for (const [index, message] of body.messages.entries()) {
        const own: Record<string, string[]> = {
          assistant: ['tool_calls', 'prefix'],
          tool: ['tool_call_id', 'name'],
        }
        const names = ['role', 'content', ...(own[message.role] ?? [])]
        const found = Object.keys(message).find((name) => !names.includes(name))
        if (found) return extra(['messages', index, message.role, found])
        const ids = [
          message.tool_call_id,
          ...((message.tool_calls ?? []) as { id: string }[]).map(({ id }) => id),
        ]
        const bad = ids.find((id) => id !== undefined && !/^[a-zA-Z0-9]{9}$/.test(String(id)))
        if (bad)
          return {
            status: 400,
            body: { object: 'error', message: `Tool call id was ${bad} but must be a-z…` },
          }
      }
      return null
    },
    deepseek(body) {
      const roles = ['system', 'user', 'assistant', 'tool']
      const odd = body.messages.findIndex(({ role }) => !roles.includes(role))
      if (odd !== -1)
        return { status: 422, body: `messages[${odd}].role: unknown variant \`developer\`` }
      const isAgent = body.tools !== undefined
      const lacks = body.messages.some(
        (one) => one.role === 'assistant' && one.tool_calls && !('reasoning_content' in one),
      )
      if (lacks && isAgent)
        return openAiError(
          'The `reasoning_content` in the thinking mode must be passed back to the API.',
        )
      const brings = body.messages.some((message) => 'reasoning_content' in message)
      return brings && !isAgent ? openAiError('reasoning_content is not taken here') : null
    },
    xai(body, { headers }) {
      if (headers.authorization !== 'Bearer xai-good-key') {
        return {
          status: 400,
          body: {
            code: 'Client specified an invalid argument',
            error: 'Incorrect API key provided: xa***ey',
          },
        }
      }
      const wrong = firstOf(body, ['stop', 'presence_penalty', 'frequency_penalty'])
      if (wrong)
        return {
          status: 400,
          body: {
            code: 'invalid-argument',
            error: `Argument not supported on this model: ${wrong}`,
          },
        }
      if (body.model === 'grok-build-0.1' && 'reasoning_effort' in body) {
        return {
          status: 400,
          body: {
            code: 'x',
            error: 'Model grok-build-0.1 does not support parameter reasoningEffort.',
          },
        }
      }
      return null
    },
    cerebras(body) {
      const names = [
        'frequency_penalty',
        'presence_penalty',
        'logit_bias',
        'service_tier',
        'store',
        'metadata',
        'verbosity',
      ]
      const wrong = firstOf(body, names)
      return wrong ? openAiError(`body.${wrong}: property is not supported`) : null
    },
    openrouter: () => null,
    ollama: () => null,
    vllm: () => null,
  }

  type Answer = (call: MockCall, reply: ServerResponse) => void

  const vendorOf = (call: MockCall) => call.path.split('/')[1] ?? ''

  /** Rejects like the vendor, or answers. */
  const strictly =
    (answer: Answer): Step =>
    (call, reply) => {
      const refusal = REFUSALS[vendorOf(call)]?.(call.body, call) ?? null
      if (refusal === null) return answer(call, reply)
      reply.writeHead(refusal.status, { 'content-type': 'application/json' })
      reply.end(typeof refusal.body === 'string' ? refusal.body : JSON.stringify(refusal.body))
    }

  const whole =
    (message: object, usage: object = {}): Answer =>
    (call, reply) => {
      const choices = [
        { index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' },
      ]
      reply.writeHead(200, { 'content-type': 'application/json' })
      reply.end(
        JSON.stringify({
          id: 'x',
          object: 'chat.completion',
          model: call.body.model,
          choices,
          usage,
        }),
      )
    }

  const lines =
    (...events: (string | object)[]): Answer =>
    (_call, reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' })
      reply.end(
        events
          .map((one) =>
            typeof one === 'string' ? `${one}\n\n` : `data: ${JSON.stringify(one)}\n\n`,
          )
          .join(''),
      )
    }

  const delta = (more: object, rest: object = {}) => ({
    id: 'x',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: more, finish_reason: null }],
    ...rest,
  })
  const end = (rest: object = {}) => ({
    id: 'x',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    ...rest,
  })
  const DONE = 'data: [DONE]'

  let vendors: Awaited<ReturnType<typeof mockVendor>>
  let app: Awaited<ReturnType<typeof testApp>>
  let eve: Awaited<ReturnType<Awaited<ReturnType<typeof testApp>>['as']>>
  const t = suiteContext()

  before(async () => {
    vendors = await mockVendor(t)
    const names = ['groq', 'mistral', 'deepseek', 'xai', 'openrouter', 'cerebras', 'ollama', 'vllm']
    const addresses = names.map((name) => [
      `${name.toUpperCase()}_BASE_URL`,
      `${vendors.url}/${name}/v1`,
    ])
    const keys = KEYS.map((name) => [
      `${name}_API_KEY`,
      name === 'XAI' ? 'xai-good-key' : `${name}-key`,
    ])
    app = await testApp(t, {
      env: { MODELS, RATE_LIMIT_AI: 'off', ...Object.fromEntries([...addresses, ...keys]) },
    })
    eve = await app.as('eve', { tier: 'enterprise' })
  })

  const ask = (model: string, more: object = {}) =>
    eve.post('/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      ...more,
    })

  const seen = new Set<string>()

  /** The call since the last check; the service's clock stands still. */
  const lastRecord = async () => {
    const rows = await app.platform.db.selectFrom('usage_records').selectAll().execute()
    const fresh = rows.filter(({ id }) => !seen.has(id))
    for (const { id } of fresh) seen.add(id)
    assert.equal(fresh.length, 1)
    return { ...fresh[0]!, cost_usd: Number(fresh[0]!.cost_nanos) / 1e9 }
  }

  /** Sends a request, and returns its reply and its record. */
  const recordOf = async (...asked: Parameters<typeof ask>) => {
    const rows = await app.platform.db.selectFrom('usage_records').select('id').execute()
    for (const { id } of rows) seen.add(id)
    const reply = await ask(...asked)
    return { reply, record: await lastRecord() }
  }

  const CALL = {
    id: 'call_of_another_vendor',
    type: 'function',
    function: { name: 'look', arguments: '{}' },
  }
  const TOOLS = [
    {
      type: 'function',
      function: { name: 'look', parameters: { type: 'object', properties: {} } },
    },
  ]

  /**
   * An agent's conversation that began with another vendor, with every member that OpenAI's clients
   * send.
   */
  const AGENT = {
    messages: [
      { role: 'developer', content: 'Be short.' },
      { role: 'user', name: 'ada', content: 'What is there?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [CALL],
        refusal: null,
        annotations: [],
        reasoning_details: [{ type: 'reasoning.text', text: 'I look first', index: 0 }],
      },
      { role: 'tool', tool_call_id: CALL.id, content: 'a lighthouse' },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: CALL.id, content: 'a lighthouse' },
    ],
    tools: TOOLS,
    max_completion_tokens: 50,
    temperature: 0.5,
    stop: ['END'],
    seed: 7,
    logprobs: true,
    top_logprobs: 2,
    presence_penalty: 0.1,
    frequency_penalty: 0.1,
    logit_bias: { 50: 1 },
    reasoning_effort: 'low',
    store: true,
    metadata: { of: 'ada' },
    service_tier: 'auto',
    prompt_cache_key: 'a',
    verbosity: 'low',
    user: 'a',
  }

  for (const model of [
    'groq/llama-3.3-70b-versatile',
    'groq/qwen/qwen3-32b',
    'mistral/mistral-small-latest',
    'deepseek/deepseek-v4-pro',
    'xai/grok-4.7',
    'xai/grok-build-0.1',
    'openrouter/moonshotai/kimi-k3',
    'cerebras/gpt-oss-120b',
    'ollama/llama3.2',
    'vllm/Qwen/Qwen3-32B',
  ]) {
    test(`${model}: accepts every member that an OpenAI client may send, whole and streamed`, async () => {
      vendors.play(
        strictly(whole({ content: 'A lighthouse.' }, { prompt_tokens: 3, completion_tokens: 2 })),
      )
      const reply = await ask(model, AGENT)
      assert.equal(reply.status, 200, reply.text)
      vendors.play(
        strictly(
          lines(delta({ content: 'A lighthouse.' }), end({ usage: { prompt_tokens: 3 } }), DONE),
        ),
      )
      const streamed = await ask(model, { ...AGENT, stream: true })
      assert.match(streamed.text, /A lighthouse\..*\[DONE\]/s)
    })
  }

  test('each strict server rejects the same request that OpenAI accepts', () => {
    for (const name of ['groq', 'mistral', 'deepseek', 'xai', 'cerebras']) {
      const call = { headers: { authorization: 'Bearer xai-good-key' } } as never
      assert.notEqual(REFUSALS[name]!(AGENT as never, call), null, name)
    }
  })

  test('DeepSeek: sends reasoning back only with tools, even empty; reads its cache hits and comments', async () => {
    vendors.play(
      strictly(
        whole(
          { content: 'Yes.' },
          { prompt_tokens: 100, prompt_cache_hit_tokens: 60, completion_tokens: 1 },
        ),
      ),
    )
    const { record } = await recordOf('deepseek/deepseek-v4-pro', AGENT)
    const [, , first, , second] = vendors.calls[0]!.body.messages
    assert.deepEqual([first.reasoning_content, second.reasoning_content], ['I look first', ''])
    assert.equal(record.cached_tokens, 60)
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello', reasoning_content: 'A greeting' },
      { role: 'user', content: 'Well?' },
    ]
    assert.equal((await ask('deepseek/deepseek-v4-pro', { messages })).status, 200)

    vendors.play(
      strictly(
        lines(
          ': keep-alive',
          delta({ reasoning_content: 'Hm' }),
          ': keep-alive',
          delta({ content: 'Yes' }),
          end(),
          DONE,
        ),
      ),
    )
    const { text } = await ask('deepseek/deepseek-v4-pro', { stream: true })
    assert.match(text, /"reasoning_content":"Hm".*"content":"Yes".*\[DONE\]/s)
  })

  test('Mistral: reports the wrong member of a 422, and separates text and reasoning in parts', async () => {
    vendors.play(strictly(whole({})))
    const refused = await ask('mistral/mistral-small-latest', { typical_p: 1 })
    assert.equal(refused.status, 400)
    assert.match(
      refused.body.error.message,
      /'mistral' refused the request: typical_p: Extra inputs are not permitted/,
    )

    const parts = [
      {
        type: 'thinking',
        thinking: [
          { type: 'text', text: 'Hm, ' },
          { type: 'text', text: 'yes' },
        ],
      },
      { type: 'text', text: 'Yes.' },
    ]
    vendors.play(strictly(whole({ content: parts }, { prompt_tokens: 1, completion_tokens: 9 })))
    const { message } = (await ask('mistral/mistral-medium-latest')).body.choices[0]
    assert.deepEqual([message.content, message.reasoning_content], ['Yes.', 'Hm, yes'])
    vendors.play(
      strictly(
        lines(
          delta({ content: [parts[0]] }),
          delta({ content: 'Yes.' }),
          end({ usage: { completion_tokens: 9 } }),
          DONE,
        ),
      ),
    )
    const { reply, record } = await recordOf('mistral/mistral-medium-latest', { stream: true })
    assert.match(reply.text, /"content":"","reasoning_content":"Hm, yes".*"content":"Yes\."/s)
    assert.equal(record.completion_tokens, 9)
    vendors.play(
      strictly(lines(delta({ content: [parts[0]] }), delta({ content: [parts[1]] }), end(), DONE)),
    )
    const own = await eve.post('/api/ai/chat', {
      provider: 'mistral',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      include_reasoning: true,
    })
    assert.match(own.text, /event: reasoning\ndata: \{"token":"Hm, yes"\}.*"Yes\."/s)
  })

  test('Groq: counts usage that appears only in x_groq', async () => {
    const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }
    vendors.play(
      strictly(
        lines(
          delta({ content: 'Yes' }, { x_groq: { id: 'req' } }),
          end({ x_groq: { id: 'req', usage } }),
          DONE,
        ),
      ),
    )
    const { record } = await recordOf('groq/llama-3.3-70b-versatile', { stream: true })
    const {
      prompt_tokens: prompt,
      completion_tokens: completion,
      is_estimated: isEstimated,
    } = record
    assert.deepEqual([prompt, completion, isEstimated], [12, 7, false])
  })

  test('xAI: charges reasoning outside the completion, and treats a key rejected with 400 as the operator’s fault', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 50,
      total_tokens: 560,
      completion_tokens_details: { reasoning_tokens: 500 },
    }
    vendors.play(strictly(whole({ content: 'Yes' }, usage)))
    assert.equal((await recordOf('xai/grok-4.7')).record.completion_tokens, 550)

    vendors.play((_call, reply) => {
      reply.writeHead(400, { 'content-type': 'application/json' })
      reply.end(
        JSON.stringify(REFUSALS.xai!({ messages: [] } as never, { headers: {} } as never)!.body),
      )
    })
    const refused = await ask('xai/grok-4.7')
    assert.equal(refused.status, 502)
    assert.doesNotMatch(refused.text, /API key|xa\*/)
    const tooLong =
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens."
    vendors.play((_call, reply) => {
      reply.writeHead(400, { 'content-type': 'application/json' })
      reply.end(JSON.stringify({ code: 'Client specified an invalid argument', error: tooLong }))
    })
    assert.equal((await ask('xai/grok-4.7')).body.error.code, 'context_length_exceeded')
  })

  test('OpenRouter: charges the reported cost, and reports failures in the middle of an answer', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 0.0123 }
    const processing = ': OPENROUTER PROCESSING'
    vendors.play(
      strictly(
        lines(
          processing,
          processing,
          delta({ content: 'Yes' }),
          processing,
          end(),
          { choices: [], usage },
          DONE,
        ),
      ),
    )
    const { reply, record } = await recordOf('openrouter/auto', { stream: true })
    assert.match(reply.text, /"Yes".*\[DONE\]/s)
    assert.deepEqual([record.cost_usd, record.is_estimated], [0.0123, false])
    const byok = {
      ...usage,
      cost: 0.001,
      is_byok: true,
      cost_details: { upstream_inference_cost: 0.02 },
    }
    vendors.play(strictly(whole({ content: 'Yes' }, byok)))
    assert.equal((await recordOf('openrouter/auto')).record.cost_usd.toFixed(3), '0.021')
    vendors.play(strictly(whole({ content: 'Yes' }, { ...usage, cost: -5 })))
    const { cost_usd: listed } = (await recordOf('openrouter/moonshotai/kimi-k3')).record
    assert.ok(listed > 0, 'a sum that is none does not count')

    const error = { code: 502, message: 'Provider disconnected' }
    const broken = {
      id: 'x',
      error,
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    }
    vendors.play(strictly(lines(delta({ content: 'Half an' }), broken)))
    const { text } = await ask('openrouter/auto', { stream: true })
    assert.match(text, /Half an.*"error"/s)
    assert.doesNotMatch(text, /\[DONE\]/)
    vendors.play(
      strictly(lines(delta({ content: 'Half an' }), { ...broken, error: undefined }, DONE)),
    )
    assert.doesNotMatch((await ask('openrouter/auto', { stream: true })).text, /\[DONE\]/)
    vendors.play((_call, reply) => {
      reply.writeHead(200, { 'content-type': 'application/json' })
      const choices = [
        {
          index: 0,
          error,
          message: { role: 'assistant', content: 'Half' },
          finish_reason: 'error',
        },
      ]
      reply.end(JSON.stringify({ id: 'x', choices }))
    })
    assert.equal((await ask('openrouter/auto')).status, 502)
    vendors.play((_call, reply) => {
      reply.writeHead(403, { 'content-type': 'application/json' })
      const metadata = { reasons: ['violence'], flagged_input: 'Hi' }
      reply.end(
        JSON.stringify({ error: { code: 403, message: 'Your input was flagged', metadata } }),
      )
    })
    assert.equal(
      (await ask('openrouter/auto')).status,
      400,
      'the prompt was at fault, and not the key',
    )
  })

  test('Ollama and vLLM: read reasoning by either name, need no key, and report a missing model and a long prompt', async () => {
    const usage = { prompt_tokens: 4, completion_tokens: 6 }
    vendors.play(
      lines(
        delta({ reasoning: 'Hm' }),
        delta({ content: 'Yes' }),
        end(),
        { choices: [], usage },
        DONE,
      ),
    )
    const own = (provider: string) => ({
      provider,
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      include_reasoning: true,
    })
    assert.match(
      (await eve.post('/api/ai/chat', own('ollama'))).text,
      /event: reasoning\ndata: \{"token":"Hm"\}/,
    )
    assert.deepEqual(vendors.calls[0]!.body.stream_options, { include_usage: true })
    const { record } = await recordOf('ollama/llama3.2', { stream: true })
    assert.deepEqual([record.cost_usd, record.completion_tokens], [0, 6])

    const refuse = (status: number, body: object) =>
      vendors.play((_call, reply) => {
        reply.writeHead(status, { 'content-type': 'application/json' })
        reply.end(JSON.stringify(body))
      })
    refuse(404, {
      error: { message: 'model "llama9" not found, try pulling it first', type: 'api_error' },
    })
    const missing = await ask('ollama/llama9')
    assert.equal(missing.status, 404)
    assert.match(missing.body.error.message, /try pulling it first/)
    for (const message of [
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
      "You passed 5000 input tokens and requested 10 output tokens. However, the model's context length is only 4096 tokens",
    ]) {
      refuse(400, { object: 'error', message, type: 'BadRequestError', param: null, code: 400 })
      const { status, body } = await ask('vllm/Qwen/Qwen3-32B')
      assert.deepEqual([status, body.error.code], [400, 'context_length_exceeded'], message)
    }
  })

  test('every model of docs/vendors.json has a price and a context, from the file or the list', () => {
    const { ai } = readConfig({ MODELS })
    const file = Object.values(ai.vendors).filter(
      ({ name }) => !['openai', 'anthropic', 'gemini'].includes(name),
    )
    assert.equal(file.length, 10)
    const usage = { prompt: 1_000, completion: 10, cached: 0, cacheWrites: 0 }
    for (const { name, models } of file) {
      for (const { id } of models)
        assert.equal(computeCost(ai, name, [id], usage).isListed, true, `${name}/${id}`)
    }
  })
})
