import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { cuts, event, mockVendor, refuses, says, streams } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]

test('answers a conversation with its text, the model and its usage', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(says('Good day'))

  const reply = await ada.post('/api/ai/chat', { messages: HI })

  assert.equal(reply.status, 200)
  assert.deepEqual(reply.body, {
    content: 'Good day',
    model: 'gpt-6-luna',
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  })
  assert.equal(reply.headers.get('x-latchkey-vendor'), 'openai')
  assert.equal(reply.headers.get('x-latchkey-attempts'), '1')
  assert.equal(vendor.calls[0]!.headers.authorization, 'Bearer sk-test-openai-key')
  assert.equal(vendor.calls[0]!.body.max_completion_tokens, 1_000)
  assert.equal(vendor.calls[0]!.body.temperature, 0.7)
})

test('completes a prompt, with the system prompt in each vendor’s form', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...vendor.env.gemini },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const ask = (provider: string) =>
    ada.post('/api/ai/completions', {
      prompt: 'Hi',
      system_prompt: 'Be brief',
      provider,
      max_tokens: 50,
    })

  vendor.play(says('Hello there'))
  for (const provider of ['openai', 'anthropic', 'gemini', 'google']) {
    const reply = await ask(provider)
    assert.equal(reply.status, 200)
    assert.equal(reply.body.completion, 'Hello there')
    assert.deepEqual(reply.body.usage, {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
    })
  }

  const [openai, anthropic, gemini, google] = vendor.calls.map(({ body }) => body)
  assert.deepEqual(openai.messages[0], { role: 'system', content: 'Be brief' })
  assert.equal(anthropic.system, 'Be brief')
  assert.equal(anthropic.max_tokens, 50)
  assert.equal('temperature' in anthropic, false)
  assert.deepEqual(gemini.systemInstruction, { parts: [{ text: 'Be brief' }] })
  assert.equal(gemini.generationConfig.maxOutputTokens, 50)
  assert.deepEqual(google, gemini)
  assert.equal(vendor.calls[2]!.headers['x-goog-api-key'], 'AIza-test-key')
  assert.equal(vendor.calls[2]!.path.includes('AIza'), false)
})

test('sends several system messages and consecutive messages of one role in each vendor’s form', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.anthropic, ...vendor.env.gemini } })
  const ada = await app.as('ada', { tier: 'pro' })
  const messages = [
    { role: 'system', content: 'One' },
    { role: 'user', content: 'a' },
    { role: 'user', content: 'b' },
    { role: 'assistant', content: 'c' },
    { role: 'system', content: 'Two' },
    { role: 'user', content: 'd' },
  ]
  vendor.play(says('ok'))

  await ada.post('/api/ai/chat', { messages, provider: 'anthropic' })
  await ada.post('/api/ai/chat', { messages, provider: 'gemini' })

  const [anthropic, gemini] = vendor.calls.map(({ body }) => body)
  assert.equal(anthropic.system, 'One\n\nTwo')
  assert.deepEqual(
    anthropic.messages.map((turn: { role: string; content: unknown[] }) => [
      turn.role,
      turn.content.length,
    ]),
    [
      ['user', 2],
      ['assistant', 1],
      ['user', 1],
    ],
  )
  assert.deepEqual(
    gemini.contents.map((turn: { role: string; parts: { text: string }[] }) => [
      turn.role,
      turn.parts.map((part) => part.text),
    ]),
    [
      ['user', ['a', 'b']],
      ['model', ['c']],
      ['user', ['d']],
    ],
  )
})

test('streams tokens and [DONE] for every vendor', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...vendor.env.gemini },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(says('Grüß dich, 世界 🚀'))

  for (const provider of ['openai', 'anthropic', 'gemini']) {
    const reply = await ada.post('/api/ai/chat', { messages: HI, provider, stream: true })
    assert.equal(reply.status, 200)
    assert.match(reply.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.equal(reply.headers.get('x-latchkey-vendor'), provider)
    assert.deepEqual(reply.text.split('\n\n').filter(Boolean), [
      'data: {"token":"Grüß "}',
      'data: {"token":"dich, "}',
      'data: {"token":"世界 "}',
      'data: {"token":"🚀"}',
      'data: [DONE]',
    ])
  }
})

test('ends a broken stream with an error event and without [DONE]', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...vendor.env.gemini },
  })
  const ada = await app.as('ada', { tier: 'pro' })

  for (const provider of ['openai', 'anthropic', 'gemini']) {
    for (const how of ['ends', 'resets'] as const) {
      vendor.play(cuts('Half an', how))
      const { text } = await ada.post('/api/ai/chat', { messages: HI, provider, stream: true })
      assert.match(
        text,
        /data: \{"token":"an"\}\n\nevent: error\ndata: \{"detail":"[^"]*","code":"vendor_failed"\}\n\n$/,
      )
      assert.equal(text.includes('[DONE]'), false)
      assert.equal(vendor.calls.length, 1)
    }
  }
})

test('returns the plain status when a vendor fails before the first chunk, even for a stream', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(refuses(429, { 'retry-after': '17' }))

  const reply = await ada.post('/api/ai/chat', { messages: HI, stream: true })

  assert.equal(reply.status, 503)
  assert.equal(reply.headers.get('retry-after'), '17')
  assert.match(reply.headers.get('content-type') ?? '', /json/)
  assert.match(reply.body.detail, /openai/)
})

test('assigns slots to vendors in the order of LLM_VENDORS', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...vendor.env.openai,
      ...vendor.env.anthropic,
      ...vendor.env.gemini,
      LLM_VENDORS: 'gemini,openai',
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })

  const answeredBy = async (provider: string | undefined) =>
    (await ada.post('/api/ai/chat', { messages: HI, provider })).headers.get('x-latchkey-vendor')

  assert.equal(await answeredBy(undefined), 'gemini')
  assert.equal(await answeredBy('llm_vendor_1'), 'gemini')
  assert.equal(await answeredBy('llm_vendor_2'), 'openai')
  assert.equal(await answeredBy('llm_vendor_3'), 'anthropic')
})

test('answers from the sandbox when no vendor has a key, through the same code', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })

  const whole = await ada.post('/api/ai/chat', { messages: HI })
  const stream = await ada.post('/api/ai/chat', { messages: HI, stream: true })

  assert.equal(whole.status, 200)
  assert.ok(whole.body.content.length > 0)
  assert.ok(whole.body.usage.total_tokens > 0)
  assert.match(stream.text, /^data: \{"token":/)
  assert.match(stream.text, /data: \[DONE\]\n\n$/)
})

test('validates requests, and distinguishes unknown from unconfigured vendors', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, SANDBOX: 'off' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const chat = (body: object) => ada.post('/api/ai/chat', { messages: HI, ...body })

  const wrong: [object, string][] = [
    [{ messages: undefined }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages'],
    [{ messages: [{ role: 'user' }] }, 'messages'],
    [{ provider: 'mistral' }, 'provider'],
    [{ temperature: 2.1 }, 'temperature'],
    [{ temperature: -0.1 }, 'temperature'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: 16_385 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ stream: 'yes' }, 'stream'],
  ]
  for (const [body, field] of wrong) {
    const reply = await chat(body)
    assert.equal(reply.status, 422, JSON.stringify(body))
    assert.deepEqual(reply.body.detail[0].loc.slice(0, 2), ['body', field])
  }
  assert.equal((await ada.post('/api/ai/completions', {})).status, 422)

  const unconfigured = await chat({ provider: 'anthropic' })
  assert.equal(unconfigured.status, 400)
  assert.equal(unconfigured.body.detail, "Provider 'anthropic' is not configured")
})

test('refuses free users, strangers and anonymous callers', async (t) => {
  const app = await testApp(t)
  const free = await app.as('eve')

  for (const path of [
    '/api/ai/chat',
    '/api/ai/completions',
    '/v1/chat/completions',
    '/v1/embeddings',
  ]) {
    const refused = await free.post(path, {
      messages: HI,
      prompt: 'x',
      model: 'gpt-6-luna',
      input: 'x',
    })
    assert.equal(refused.status, 403, path)
    assert.match(refused.text, /This feature requires a Pro or Enterprise subscription/)
    assert.equal((await app.post(path, { messages: HI })).status, 401)
  }
})

test('counts the AI routes in a separate rate limit bucket', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_AI: '2/60', RATE_LIMIT_GENERAL: '100/60' } })
  const ada = await app.as('ada', { tier: 'pro' })

  const first = await ada.post('/api/ai/chat', { messages: HI })
  await ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI })
  const third = await ada.post('/api/ai/completions', { prompt: 'Hi' })

  assert.equal(first.headers.get('ratelimit-limit'), '2')
  assert.equal(third.status, 429)
  assert.equal(third.body.detail, 'Rate limit exceeded')
  assert.ok(Number(third.headers.get('retry-after')) > 0)
})

test('lists models with their prices and the date of the prices', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.anthropic, ANTHROPIC_MODEL: 'claude-haiku-5-5' },
  })
  const ada = await app.as('ada', { tier: 'pro' })

  const { status, body } = await ada.get('/api/ai/models')

  assert.equal(status, 200)
  assert.match(body.prices_as_of, /^\d{4}-\d{2}-\d{2}$/)
  const haiku = body.models.find((model: { id: string }) => model.id === 'claude-haiku-5-5')
  assert.equal(haiku.default, true)
  assert.equal(haiku.available, true)
  assert.equal(haiku.output_usd_per_million, 0.5)
  assert.deepEqual(
    body.providers.map((provider: { provider: string; configured: boolean }) => [
      provider.provider,
      provider.configured,
    ]),
    [
      ['openai', true],
      ['anthropic', true],
      ['gemini', true],
    ],
  )
})

test('never shows or logs a vendor’s key', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const lines: string[] = []
  const { log } = app.platform
  log.warn = ((fields: unknown, words: string) => {
    lines.push(
      `${words} ${JSON.stringify(fields, (_key, value) => (value instanceof Error ? { ...value, message: value.message, cause: value.cause } : value))}`,
    )
  }) as typeof log.warn

  vendor.play(
    refuses(
      401,
      {},
      { error: { message: 'Incorrect API key provided: sk-test-openai-key', type: 'auth' } },
    ),
  )
  const reply = await ada.post('/api/ai/chat', { messages: HI })

  assert.equal(reply.status, 502)
  assert.equal(reply.text.includes('sk-test'), false)
  assert.ok(lines.length > 0)
  assert.equal(lines.join('').includes('sk-test'), false)
})

test('ends a stream on request with its usage, model and finish reason', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...vendor.env.gemini },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const ask = async (provider: string, more: object = {}) =>
    (await ada.post('/api/ai/chat', { messages: HI, provider, stream: true, ...more })).text
  const told = (text: string) =>
    JSON.parse(/event: usage\ndata: (.*)\n\ndata: \[DONE\]\n\n$/.exec(text)?.[1] ?? 'null')
  const models = { openai: 'gpt-6-luna', anthropic: 'claude-haiku-5-5', gemini: 'gemini-3.8-flash' }
  for (const [provider, model] of Object.entries(models)) {
    vendor.play(says('All said'))
    assert.deepEqual(told(await ask(provider, { include_usage: true })), {
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      model: provider === 'gemini' ? 'gemini-3.8-flash' : model,
      finish_reason: 'stop',
    })
    assert.doesNotMatch(await ask(provider), /event: usage/)
    assert.doesNotMatch(await ask(provider, { include_usage: null }), /event: usage/)
  }

  const choices = [{ index: 0, delta: { content: 'Cut sh' }, finish_reason: null }]
  const end = [{ index: 0, delta: {}, finish_reason: 'length' }]
  vendor.play(streams(event({ choices }), event({ choices: end }), event('[DONE]')))
  assert.equal(told(await ask('openai', { include_usage: true })).finish_reason, 'length')
  vendor.play(
    streams(
      event({
        type: 'message_start',
        message: { model: 'claude-haiku-5-5', usage: { input_tokens: 3 } },
      }),
      event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'Cut sh' },
      }),
      event({
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens' },
        usage: { output_tokens: 2 },
      }),
      event({ type: 'message_stop' }),
    ),
  )
  assert.equal(told(await ask('anthropic', { include_usage: true })).finish_reason, 'length')
  vendor.play(
    streams(
      event({
        candidates: [{ content: { parts: [{ text: 'Cut sh' }] }, finishReason: 'MAX_TOKENS' }],
      }),
    ),
  )
  assert.equal(told(await ask('gemini', { include_usage: true })).finish_reason, 'length')

  vendor.play(cuts('Half an'))
  const cut = await ask('openai', { include_usage: true })
  assert.match(cut, /event: error/)
  assert.doesNotMatch(cut, /event: usage/)
  assert.equal(
    (await ada.post('/api/ai/chat', { messages: HI, stream: true, include_usage: 'yes' })).status,
    422,
  )
})

test('lists each provider’s default, its label and the longest answers', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...vendor.env.openai,
      ...vendor.env.anthropic,
      LLM_VENDORS: 'anthropic,openai',
      OPENAI_MODEL: 'llama3',
      SANDBOX: 'off',
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.get('/api/ai/models')

  assert.deepEqual([body.default_provider, body.default_model], ['anthropic', 'claude-sonnet-5-5'])
  assert.deepEqual(body.providers, [
    {
      provider: 'anthropic',
      label: 'Anthropic',
      configured: true,
      sandbox: false,
      default_model: 'claude-sonnet-5-5',
    },
    {
      provider: 'openai',
      label: 'OpenAI',
      configured: true,
      sandbox: false,
      default_model: 'llama3',
    },
    {
      provider: 'gemini',
      label: 'Gemini',
      configured: false,
      sandbox: false,
      default_model: 'gemini-3.8-flash',
    },
  ])
  const find = (id: string) => body.models.find((model: { id: string }) => model.id === id)
  assert.equal(find('claude-sonnet-5-5').output_tokens_max, 128_000)
  assert.equal(find('text-embedding-3-small').output_tokens_max, null)
  const {
    provider,
    context_tokens,
    output_tokens_max,
    price_estimated,
    default: isDefault,
  } = find('llama3')
  assert.deepEqual(
    [provider, context_tokens, output_tokens_max, price_estimated, isDefault],
    ['openai', null, null, true, true],
  )
  assert.deepEqual(
    ['claude-sonnet-5-5', 'text-embedding-3-small', 'llama3'].map((id) => find(id).vision),
    [true, false, false],
    'unknown models are not said to see',
  )
  for (const { provider: name, default_model: model } of body.providers)
    assert.equal(find(model).provider, name)
})
