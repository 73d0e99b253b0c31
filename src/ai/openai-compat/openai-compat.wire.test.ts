import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testApp } from '#testing/app.ts'
import {
  babbles,
  breakStream,
  buildResponse,
  cuts,
  event,
  mockVendor,
  refuses,
  type Step,
  says,
  streams,
} from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const WEATHER = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
}

/** Reads chunks as OpenAI's clients do. */
function chunksOf(text: string) {
  const lines = text
    .split('\n\n')
    .filter((block) => block.startsWith('data: '))
    .map((block) => block.slice(6))
  return {
    // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a chunk by reading it.
    chunks: lines.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line) as any),
    isDone: lines.at(-1) === '[DONE]',
  }
}

async function setting(t: TestContext) {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...vendor.env.gemini },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'client' })
  const headers = { authorization: `Bearer ${body.key}` }
  return {
    app,
    vendor,
    ada,
    headers,
    post: (path: string, request: object) => app.post(path, request, { headers }),
  }
}

const MODELS = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']

test('returns a chat completion in OpenAI’s shape from every vendor', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(says('Good day'))

  for (const model of MODELS) {
    const { status, body, headers } = await post('/v1/chat/completions', { model, messages: HI })
    assert.equal(status, 200)
    assert.equal(body.object, 'chat.completion')
    assert.equal(body.model, model)
    assert.equal(body.choices[0].message.role, 'assistant')
    assert.equal(body.choices[0].message.content, 'Good day')
    assert.equal(body.choices[0].finish_reason, 'stop')
    assert.equal(body.usage.total_tokens, 15)
    assert.ok(headers.get('x-latchkey-vendor'))
  }
})

test('streams OpenAI’s chunks and, on request, the usage before [DONE]', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(says('Good day'))

  for (const model of MODELS) {
    for (const includeUsage of [true, false]) {
      const { text } = await post('/v1/chat/completions', {
        model,
        messages: HI,
        stream: true,
        ...(includeUsage ? { stream_options: { include_usage: true } } : {}),
      })
      const { chunks, isDone } = chunksOf(text)
      assert.equal(isDone, true)
      assert.equal(chunks[0].choices[0].delta.role, 'assistant')
      assert.equal(
        chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''),
        'Good day',
      )
      assert.equal(
        chunks.findLast((chunk) => chunk.choices.length > 0).choices[0].finish_reason,
        'stop',
      )
      const usages = chunks.filter((chunk) => chunk.choices.length === 0)
      assert.deepEqual(
        usages.map(({ usage }) => usage.total_tokens),
        includeUsage ? [15] : [],
      )
    }
  }
})

test('ends a cut stream with an error that OpenAI’s clients raise, and without [DONE]', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(breakStream('Half an'))

  for (const model of MODELS) {
    const { chunks, isDone } = chunksOf(
      (await post('/v1/chat/completions', { model, messages: HI, stream: true })).text,
    )
    assert.equal(isDone, false)
    assert.match(chunks.at(-1).error.message, /overloaded/)
  }
})

test('sends tools in every vendor’s form and returns calls in OpenAI’s', async (t) => {
  const { vendor, post } = await setting(t)
  const ask = (model: string, stream: boolean) =>
    post('/v1/chat/completions', {
      model,
      messages: HI,
      tools: [WEATHER],
      tool_choice: 'required',
      stream,
    })

  vendor.play((call, reply) => {
    reply.setHeader('content-type', 'application/json')
    if (call.path.endsWith('/messages')) {
      reply.end(
        JSON.stringify({
          model: 'claude-haiku-5-5',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Wien' } }],
          stop_reason: 'tool_use',
          usage: { input_tokens: 1, output_tokens: 1 },
        }),
      )
    } else {
      reply.end(
        JSON.stringify({
          candidates: [
            {
              content: { parts: [{ functionCall: { name: 'weather', args: { city: 'Wien' } } }] },
              finishReason: 'STOP',
            },
          ],
        }),
      )
    }
  })
  for (const model of ['claude-haiku-5-5', 'gemini-3.8-flash']) {
    const { body } = await ask(model, false)
    const choice = body.choices[0]
    assert.equal(choice.finish_reason, 'tool_calls')
    assert.equal(choice.message.content, null)
    assert.equal(choice.message.tool_calls[0].function.name, 'weather')
    assert.deepEqual(JSON.parse(choice.message.tool_calls[0].function.arguments), { city: 'Wien' })
  }
  const [anthropic, gemini] = vendor.calls.map(({ body }) => body)
  assert.deepEqual(anthropic.tools[0].input_schema, WEATHER.function.parameters)
  assert.deepEqual(anthropic.tool_choice, { type: 'any' })
  assert.equal(gemini.tools[0].functionDeclarations[0].name, 'weather')
  assert.equal(gemini.toolConfig.functionCallingConfig.mode, 'ANY')

  vendor.play(
    streams(
      event({
        type: 'message_start',
        message: { model: 'claude-haiku-5-5', usage: { input_tokens: 1, output_tokens: 1 } },
      }),
      event({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather' },
      }),
      event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"city":' },
      }),
      event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '"Wien"}' },
      }),
      event({
        type: 'message_delta',
        delta: { stop_reason: 'tool_use' },
        usage: { output_tokens: 9 },
      }),
      event({ type: 'message_stop' }),
    ),
  )
  const { chunks } = chunksOf((await ask('claude-haiku-5-5', true)).text)
  const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
  assert.equal(deltas[0].id, 'toolu_1')
  assert.equal(deltas.map((delta) => delta.function.arguments).join(''), '{"city":"Wien"}')
  assert.equal(chunks.at(-1).choices[0].finish_reason, 'tool_calls')
})

test('sends tool results, images and JSON schemas to the vendors', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(says('{}'))
  const schema = { type: 'object', properties: { a: { type: 'number' } } }
  const request = {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: { name: 'weather', arguments: '{"city":"Wien"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"celsius":9}' },
    ],
    response_format: { type: 'json_schema', json_schema: { name: 'out', schema, strict: true } },
  }
  for (const model of MODELS)
    assert.equal((await post('/v1/chat/completions', { model, ...request })).status, 200)

  const [openai, anthropic, gemini] = vendor.calls.map(({ body }) => body)
  assert.deepEqual(openai.messages, request.messages)
  assert.deepEqual(openai.response_format, request.response_format)
  assert.deepEqual(anthropic.messages[0].content[1].source, {
    type: 'base64',
    media_type: 'image/png',
    data: 'iVBORw0K',
  })
  assert.deepEqual(anthropic.messages[1].content, [
    { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Wien' } },
  ])
  assert.deepEqual(anthropic.messages[2].content, [
    { type: 'tool_result', tool_use_id: 'c1', content: '{"celsius":9}' },
  ])
  assert.deepEqual(anthropic.output_config.format.schema, {
    ...schema,
    additionalProperties: false,
  })
  assert.deepEqual(gemini.contents[0].parts[1], {
    inlineData: { mimeType: 'image/png', data: 'iVBORw0K' },
  })
  assert.equal(gemini.contents[1].parts[0].thoughtSignature, 'skip_thought_signature_validator')
  assert.deepEqual(gemini.contents[2].parts[0], {
    functionResponse: { name: 'weather', response: { celsius: 9 } },
  })
  assert.deepEqual(gemini.generationConfig.responseJsonSchema, schema)
})

test('returns the signature of a Gemini call and sends it back', async (t) => {
  const { vendor, post } = await setting(t)
  const part = { functionCall: { name: 'weather', args: {} }, thoughtSignature: 'c2lnbmVk' }
  const ask = (messages: object[], stream = false) =>
    post('/v1/chat/completions', { model: 'gemini-3.8-flash', messages, tools: [WEATHER], stream })
  vendor.play(
    streams(event({ candidates: [{ content: { parts: [part] }, finishReason: 'STOP' }] })),
  )
  const { chunks } = chunksOf((await ask(HI, true)).text)
  const call = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])[0]
  assert.equal(call.extra_content.google.thought_signature, 'c2lnbmVk')

  vendor.play(says('9 degrees'))
  await ask([
    ...HI,
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: call.id, content: '9' },
  ])
  assert.equal(vendor.calls[0]!.body.contents[1].parts[0].thoughtSignature, 'c2lnbmVk')
})

test('adds no effort and no limit that the caller did not set', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(says('ok'))
  const bodyFor = async (model: string, more: object) => {
    await post('/v1/chat/completions', { model, messages: HI, ...more })
    return vendor.calls.at(-1)!.body
  }

  const terra = await bodyFor('gpt-6.1-terra', {
    temperature: 0.7,
    max_tokens: 100,
    stop: 'x',
    presence_penalty: 1,
  })
  const sent = ['max_completion_tokens', 'messages', 'model', 'safety_identifier', 'stream']
  assert.deepEqual(Object.keys(terra).toSorted(), sent)
  assert.equal(
    (await bodyFor('gpt-6-luna', { temperature: 0.7, reasoning_effort: 'none' })).temperature,
    0.7,
  )
  assert.equal(
    'temperature' in (await bodyFor('gpt-6-luna', { temperature: 0.7, reasoning_effort: 'high' })),
    false,
  )
  assert.equal('temperature' in (await bodyFor('o3', { temperature: 0.7 })), false)
  const llama = await bodyFor('llama3', { temperature: 0.7, max_tokens: 9, stop: 'x' })
  assert.deepEqual([llama.temperature, llama.max_tokens, llama.stop], [0.7, 9, 'x'])

  const claude = await bodyFor('claude-sonnet-5-5', {})
  assert.deepEqual([claude.max_tokens, claude.output_config], [128_000, undefined])
  assert.equal('output_config' in (await bodyFor('claude-haiku-5-5', { max_tokens: 100 })), false)
  const high = await bodyFor('claude-haiku-5-5', { max_tokens: 100, reasoning_effort: 'high' })
  assert.equal(high.output_config.effort, 'high')
  assert.equal(
    'output_config' in (await bodyFor('claude-haiku-4-5', { max_tokens: 100, temperature: 0.5 })),
    false,
  )

  assert.deepEqual((await bodyFor('gemini-3.8-flash', { max_tokens: 100 })).generationConfig, {
    maxOutputTokens: 100,
    thinkingConfig: { includeThoughts: true },
  })
})

test('routes by the model’s name or by a vendor prefix', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(says('ok'))
  const askedAt = async (model: string) => {
    await post('/v1/chat/completions', { model, messages: HI })
    const { path, body } = vendor.calls.at(-1)!
    return `${path.split('?')[0]} ${body.model ?? ''}`
  }

  assert.equal(await askedAt('gpt-6-luna'), '/v1/chat/completions gpt-6-luna')
  assert.equal(await askedAt('llama3.3:70b'), '/v1/chat/completions llama3.3:70b')
  assert.equal(await askedAt('openai/meta/llama-4'), '/v1/chat/completions meta/llama-4')
  assert.equal(await askedAt('claude-opus-5-5'), '/v1/messages claude-opus-5-5')
  assert.equal(await askedAt('anthropic/claude-x'), '/v1/messages claude-x')
  assert.equal(await askedAt('llm_vendor_2/claude-x'), '/v1/messages claude-x')
  assert.equal(
    await askedAt('google/gemini-3.8-flash'),
    '/v1beta/models/gemini-3.8-flash:generateContent ',
  )
})

test('returns errors under /v1 in OpenAI’s shape, with the contract’s statuses', async (t) => {
  const { app, ada, vendor, post, headers } = await setting(t)
  const shapeOf = (body: { error: object }) => Object.keys(body.error).sort()
  const shape = ['code', 'message', 'param', 'type']

  const invalid = await post('/v1/chat/completions', { model: 'gpt-6-luna' })
  assert.equal(invalid.status, 400)
  assert.deepEqual(shapeOf(invalid.body), shape)
  assert.equal(invalid.body.error.param, 'messages')

  const unknown = await app.get('/v1/nothing', { headers })
  assert.equal(unknown.status, 404)
  assert.deepEqual(shapeOf(unknown.body), shape)

  const stranger = await app.post('/v1/chat/completions', { model: 'x', messages: HI })
  assert.equal(stranger.status, 401)
  assert.deepEqual(shapeOf(stranger.body), shape)
  assert.equal(stranger.headers.get('www-authenticate'), 'Bearer')
  assert.deepEqual(
    [stranger.body.error.type, stranger.body.error.code],
    ['authentication_error', 'invalid_api_key'],
  )

  const askWith = async (settings: object) => {
    const { key } = (await ada.post('/api/api-keys', { name: 'confined', ...settings })).body
    const asked = { headers: { authorization: `Bearer ${key}` } }
    const ask = () => app.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI }, asked)
    const [{ status }, { body }] = [await ask(), await ask()]
    return [status, body.error.type, body.error.code]
  }
  const slow = { rate_limit: { requests: 1, seconds: 60 } }
  assert.deepEqual(await askWith(slow), [200, 'rate_limit_error', 'rate_limit_exceeded'])
  assert.deepEqual(await askWith({ monthly_token_limit: 1 }), [
    429,
    'rate_limit_error',
    'insufficient_quota',
  ])
  assert.deepEqual(await askWith({ models: ['claude-*'] }), [
    403,
    'permission_error',
    'model_not_found',
  ])

  vendor.play(refuses(500))
  const failed = await post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI })
  assert.equal(failed.status, 502)
  assert.deepEqual(shapeOf(failed.body), shape)
})

test('lists models in OpenAI’s shape', async (t) => {
  const { app, headers } = await setting(t)

  const { status, body } = await app.get('/v1/models', { headers })

  assert.equal(status, 200)
  assert.equal(body.object, 'list')
  assert.ok(
    MODELS.every((id) =>
      body.data.some(
        (model: { id: string; object: string }) => model.id === id && model.object === 'model',
      ),
    ),
  )
})

test('returns embeddings as numbers or, on request, as base64 floats', async (t) => {
  const { vendor, post, ada } = await setting(t)
  vendor.play((call, reply) => {
    reply.setHeader('content-type', 'application/json')
    if (call.path.includes('batchEmbedContents')) {
      reply.end(
        JSON.stringify({ embeddings: call.body.requests.map(() => ({ values: [0.5, -1] })) }),
      )
      return
    }
    const data = call.body.input.map((_: string, index: number) => ({
      object: 'embedding',
      index,
      embedding: [0.5, index],
    }))
    reply.end(
      JSON.stringify({
        data: data.toReversed(),
        model: call.body.model,
        usage: { prompt_tokens: 4, total_tokens: 4, cost_usd: 8e-8 },
      }),
    )
  })

  const floats = await post('/v1/embeddings', {
    model: 'text-embedding-3-small',
    input: ['a', 'b'],
  })
  assert.deepEqual(
    floats.body.data.map((row: { index: number; embedding: number[] }) => row.embedding),
    [
      [0.5, 0],
      [0.5, 1],
    ],
  )
  assert.deepEqual(floats.body.usage, { prompt_tokens: 4, total_tokens: 4, cost_usd: 8e-8 })

  const packed = await post('/v1/embeddings', {
    model: 'gemini-embedding-2',
    input: 'a',
    encoding_format: 'base64',
  })
  const bytes = Buffer.from(packed.body.data[0].embedding, 'base64')
  assert.deepEqual([bytes.readFloatLE(0), bytes.readFloatLE(4)], [0.5, -1])

  const { body } = await ada.get('/api/usage?group_by=model')
  assert.deepEqual(
    body.groups.map((group: { key: string }) => group.key),
    ['gemini-embedding-2', 'text-embedding-3-small'],
  )
  assert.equal(
    (await post('/v1/embeddings', { model: 'claude-haiku-5-5', input: 'a' })).status,
    400,
  )
})

test('accepts a JWT', async (t) => {
  const { ada, vendor } = await setting(t)
  vendor.play(says('ok'))

  assert.equal(
    (await ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI })).status,
    200,
  )
})

test('finds a model by any of its names, and returns 404 for an unlisted one', async (t) => {
  const { app, ada, headers } = await setting(t)
  const found = await app.get('/v1/models/claude-haiku-5-5', { headers })
  assert.equal(found.status, 200)
  const { created, ...body } = found.body
  assert.ok(Math.abs(created - Date.now() / 1_000) < 10 * 365 * 86_400, 'a time in seconds')
  assert.deepEqual(body, {
    id: 'claude-haiku-5-5',
    object: 'model',
    owned_by: 'anthropic',
    context_tokens: 1_000_000,
    output_tokens_max: 128_000,
    price: { input: 0.1, output: 0.5, cached: 0.01 },
    capabilities: {
      temperature: 'refused',
      thinking: true,
      forced_tools: true,
      vision: true,
      pdf: true,
      audio: false,
      tools: true,
      json_schema: true,
    },
  })
  for (const id of [
    'anthropic%2Fclaude-haiku-5-5',
    'anthropic/claude-haiku-5-5',
    'llm_vendor_2/claude-haiku-5-5',
    'claude-haiku-5-5-20261001',
    'anthropic/claude-haiku-5-5-20261001',
  ]) {
    const named = await app.get(`/v1/models/${id}`, { headers })
    assert.deepEqual(
      [named.status, named.body],
      [200, { ...found.body, id: decodeURIComponent(id) }],
      id,
    )
  }
  assert.equal(
    (await app.get('/v1/models/google/gemini-3.8-flash', { headers })).body.capabilities.audio,
    true,
  )
  for (const id of [
    'gpt-none',
    'anthropic%2Fgpt-6-luna',
    'nobody/gpt-6-luna',
    'openai/gpt-none',
    'a/b/c/d',
    'constructor',
    '..%2F..',
    '%00',
    '',
    '/',
    '*',
    'x'.repeat(600),
  ]) {
    const { status, body } = await app.get(`/v1/models/${id}`, { headers })
    assert.equal(status, 404, id)
    assert.ok(body.error.message)
  }
  assert.equal((await app.get('/v1/models/claude-haiku-5-5')).status, 401)
  assert.equal((await app.get('/v1/models/anthropic/claude-haiku-5-5')).status, 401)

  const { key } = (await ada.post('/api/api-keys', { name: 'narrow', models: ['gpt-*'] })).body
  const narrow = { authorization: `Bearer ${key}` }
  for (const [id, status] of [
    ['openai/gpt-6-luna', 200],
    ['anthropic/claude-haiku-5-5', 404],
    ['claude-haiku-5-5-20261001', 404],
  ] as const) {
    assert.equal((await app.get(`/v1/models/${id}`, { headers: narrow })).status, status, id)
  }
})

test('returns 404 for a model that the vendor does not have', async (t) => {
  const { vendor, post } = await setting(t)
  const words = { error: { message: 'The model does not exist', code: 'model_not_found' } }
  for (const stream of [false, true]) {
    vendor.play(refuses(404, {}, words))
    const { status, body } = await post('/v1/chat/completions', {
      model: 'gpt-none',
      messages: HI,
      stream,
    })
    assert.equal(status, 404)
    assert.equal(body.error.code, 'model_not_found')
    assert.equal(body.error.type, 'not_found_error')
    assert.match(body.error.message, /'openai' has no such model: The model does not exist/)
  }
})

test('accepts tokens for embeddings where the vendor does, as LangChain sends them', async (t) => {
  const { vendor, post } = await setting(t)
  const answer = (count: number) =>
    babbles(
      JSON.stringify({
        data: Array.from({ length: count }, (_, index) => ({ index, embedding: [index, 1] })),
        usage: { prompt_tokens: 3, total_tokens: 3 },
      }),
    )
  for (const [input, sent] of [
    [[1, 2, 3], [[1, 2, 3]]],
    [
      [
        [1, 2],
        [3, 4],
      ],
      [
        [1, 2],
        [3, 4],
      ],
    ],
  ] as const) {
    vendor.play(answer(sent.length))
    const { status } = await post('/v1/embeddings', { model: 'text-embedding-3-small', input })
    assert.equal(status, 200)
    assert.deepEqual(vendor.calls[0]!.body.input, sent)
  }
  vendor.play(answer(1))
  const other = await post('/v1/embeddings', { model: 'gemini-embedding-2', input: [1, 2, 3] })
  assert.equal(other.status, 400)
  assert.match(other.body.error.message, /Tokens instead of text/)
  for (const input of [[], [[]], ['a', 1], [1, 'a'], [-1], [1.5], '', 5, {}]) {
    const { status } = await post('/v1/embeddings', { model: 'text-embedding-3-small', input })
    assert.equal(status, 400, JSON.stringify(input))
  }
})

test('describes a required tool in words where a model cannot be forced', async (t) => {
  const { vendor, post } = await setting(t)
  const sent = async (model: string, tool_choice: unknown) => {
    vendor.play(says('ok'))
    await post('/v1/chat/completions', { model, messages: HI, tools: [WEATHER], tool_choice })
    return vendor.calls[0]!.body
  }
  const named = { type: 'function', function: { name: 'weather' } }

  const words = await sent('claude-sonnet-5-5', named)
  assert.equal(words.tool_choice, undefined)
  assert.equal(words.system, 'Answer by calling the tool `weather`.')
  assert.match((await sent('claude-opus-5-5', 'required')).system, /calling one of the tools/)
  assert.equal((await sent('claude-sonnet-5-5', 'auto')).system, undefined)
  assert.deepEqual((await sent('claude-haiku-4-5', named)).tool_choice, {
    type: 'tool',
    name: 'weather',
  })
  assert.deepEqual((await sent('claude-haiku-4-5', 'required')).tool_choice, { type: 'any' })
})

test('sends OpenAI’s own features only to OpenAI, and rejects them for others, also in a fallback', async (t) => {
  const vendor = await mockVendor(t)
  const other = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...other.env.anthropic, LLM_FALLBACKS: 'anthropic' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const custom = { type: 'custom', custom: { name: 'shell' } }
  const post = (more: object) =>
    ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI, ...more })

  assert.equal((await post({ tools: [custom] })).status, 200)
  assert.equal(vendor.calls[0]!.path, '/v1/responses')
  assert.deepEqual(vendor.calls[0]!.body.tools, [{ type: 'custom', name: 'shell' }])
  assert.equal((await post({ model: 'claude-haiku-5-5', tools: [custom] })).status, 400)

  for (const more of [{ tools: [custom] }, { n: 2 }]) {
    vendor.play(refuses(429, { 'retry-after': '30' }))
    const reply = await post(more)
    assert.equal(reply.status, 503, 'the failure of the vendor that was asked')
    assert.match(reply.body.error.message, /'openai' is overloaded/)
    assert.equal(other.calls.length, 0)
    app.clock.advance(61_000)
  }
})

test('sends OpenAI’s clients x-should-retry for errors that a retry cannot fix', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, BUDGET_PRO_TOKENS: '12' } })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(refuses(401))
  const post = () => ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI })
  const refused = await post()
  assert.deepEqual([refused.status, refused.headers.get('x-should-retry')], [502, 'false'])
  vendor.play(says('ok'))
  assert.equal((await post()).status, 200)
  const exhausted = await post()
  assert.deepEqual([exhausted.status, exhausted.headers.get('x-should-retry')], [429, 'false'])
  assert.equal(exhausted.body.error.code, 'insufficient_quota')
})

test('sends no temperature and no replacement effort to models that always reason', async (t) => {
  const { vendor, post } = await setting(t)
  for (const model of [
    'gpt-6.2-astra',
    'gpt-6.2-sol',
    'gpt-6.1-sol',
    'gpt-6-astra',
    'gpt-6.3-astra',
    'gpt-6.3-sol',
  ]) {
    vendor.play(says('ok'))
    await post('/v1/chat/completions', {
      model,
      messages: HI,
      temperature: 0.7,
      top_p: 0.9,
      tools: [WEATHER],
    })
    const { body } = vendor.calls[0]!
    assert.deepEqual(
      [body.temperature, body.top_p, body.reasoning_effort],
      [undefined, undefined, undefined],
      model,
    )
  }
})

/** Each vendor's words for a prompt that is too long. */
const TOO_LONG: [string, number, unknown][] = [
  [
    'gpt-6-luna',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 1050000 tokens. However, your messages resulted in 1200000 tokens.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  ],
  // vLLM reports it without a code.
  [
    'llama3',
    400,
    {
      error: {
        message: "This model's maximum context length is 8192 tokens.",
        type: 'BadRequestError',
        code: 400,
      },
    },
  ],
  [
    'claude-haiku-5-5',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 1204525 tokens > 1000000 maximum',
      },
    },
  ],
  [
    'gemini-3.8-flash',
    400,
    {
      error: {
        code: 400,
        message:
          'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    },
  ],
]

test('reports a prompt that is too long with OpenAI’s code for every vendor, so that agents can shorten it', async (t) => {
  const { vendor, ada, post } = await setting(t)
  for (const [model, status, body] of TOO_LONG) {
    for (const stream of [false, true]) {
      vendor.play(refuses(status, {}, body))
      const reply = await post('/v1/chat/completions', { model, messages: HI, stream })
      assert.equal(reply.status, 400, model)
      assert.equal(reply.body.error.code, 'context_length_exceeded', model)
      assert.equal(reply.body.error.type, 'invalid_request_error')
      assert.equal(reply.body.error.param, model === 'gpt-6-luna' ? 'messages' : null)
      assert.equal(vendor.calls.length, 1, 'it is not asked again')
    }
  }
  vendor.play(
    streams(event({ type: 'error', code: 'context_length_exceeded', message: 'Too long' })),
  )
  const inside = await post('/v1/chat/completions', {
    model: 'gpt-6-luna',
    messages: HI,
    tools: [WEATHER],
    stream: true,
  })
  assert.deepEqual([inside.status, inside.body.error.code], [400, 'context_length_exceeded'])

  vendor.play(refuses(400, {}, TOO_LONG[0]![2]))
  const ours = await ada.post('/api/ai/chat', { messages: HI, provider: 'openai' })
  assert.deepEqual([ours.status, ours.body.code], [400, 'context_length_exceeded'])
  assert.match(ours.body.reason, /^This model's maximum context length/)
  // Other refusals keep their words, too.
  const error = {
    message: 'Invalid image',
    type: 'invalid_request_error',
    param: 'messages.0',
    code: 'invalid_image_url',
  }
  vendor.play(refuses(400, {}, { error }))
  const refused = await post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI })
  assert.deepEqual(
    [refused.body.error.code, refused.body.error.param],
    ['invalid_image_url', 'messages.0'],
  )
  // Under /api it is one of the service's own codes.
  vendor.play(refuses(400, {}, { error }))
  const { body } = await ada.post('/api/ai/chat', { messages: HI, provider: 'openai' })
  assert.deepEqual([body.code, body.reason], ['vendor_refused', 'Invalid image'])
})

test('reports that a prompt is too long for the fallback, despite an earlier failure', async (t) => {
  const first = await mockVendor(t)
  const second = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...first.env.openai, ...second.env.anthropic, LLM_FALLBACKS: 'anthropic' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const ask = () => ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI })
  first.play(refuses(503, { 'retry-after': '30' }))
  second.play(refuses(400, {}, TOO_LONG[2]![2]))
  const reply = await ask()
  assert.deepEqual([reply.status, reply.body.error.code], [400, 'context_length_exceeded'])

  app.clock.advance(61_000)
  first.play(refuses(400, {}, TOO_LONG[0]![2]))
  second.play(says('never asked'))
  const direct = await ask()
  assert.deepEqual(
    [direct.status, direct.body.error.code, second.calls.length],
    [400, 'context_length_exceeded', 0],
  )
})

const WEATHER_CALL = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'weather',
  arguments: '{"city":"Wien"}',
}
const SEALED = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }

test('uses /responses for tools with reasoning, invisible to the client', async (t) => {
  const { vendor, post, ada } = await setting(t)
  const ask = (messages: object[], more: object = {}) =>
    post('/v1/chat/completions', { model: 'gpt-6.1-terra', messages, tools: [WEATHER], ...more })
  const usage = { input_tokens: 1_000, output_tokens: 50, total_tokens: 1_050 }
  const details = {
    input_tokens_details: { cached_tokens: 200, cache_write_tokens: 700 },
    output_tokens_details: { reasoning_tokens: 40 },
  }
  const response = buildResponse([SEALED, WEATHER_CALL], undefined, {
    model: 'gpt-6.1-terra',
    usage: { ...usage, ...details },
  })
  vendor.play((_call, reply) => {
    reply.setHeader('content-type', 'application/json')
    reply.end(JSON.stringify(response))
  })

  const { status, body } = await ask(HI, { reasoning_effort: 'high' })
  assert.equal(status, 200)
  assert.equal(vendor.calls[0]!.path, '/v1/responses')
  assert.deepEqual(
    [vendor.calls[0]!.body.store, vendor.calls[0]!.body.include, vendor.calls[0]!.body.reasoning],
    [false, ['reasoning.encrypted_content'], { effort: 'high' }],
  )
  assert.equal(body.object, 'chat.completion')
  const { message, finish_reason } = body.choices[0]
  assert.equal(finish_reason, 'tool_calls')
  assert.deepEqual(message.tool_calls[0].function, {
    name: 'weather',
    arguments: '{"city":"Wien"}',
  })
  assert.equal(message.reasoning_details[0].data, 'gAAA')
  assert.deepEqual(body.usage.prompt_tokens_details, {
    cached_tokens: 200,
    cache_write_tokens: 700,
  })
  assert.deepEqual(body.usage.completion_tokens_details, { reasoning_tokens: 40 })
  // 100 fresh, 200 read, 700 written, 50 out.
  const { body: used } = await ada.get('/api/usage?group_by=model')
  assert.equal(
    used.totals.cost_usd.toFixed(9),
    ((100 + 200 * 0.05 + 700 * 1.25 + 50 * 5) / 1e6).toFixed(9),
  )

  vendor.play(says('9 degrees'))
  const answer = { role: 'tool', tool_call_id: 'call_1', content: '9' }
  const { chunks, isDone } = chunksOf(
    (await ask([...HI, message, answer], { stream: true, stream_options: { include_usage: true } }))
      .text,
  )
  assert.equal(isDone, true)
  assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), '9 degrees')
  assert.equal(
    chunks.findLast((chunk) => chunk.choices.length > 0).choices[0].finish_reason,
    'stop',
  )
  assert.equal(chunks.at(-1).usage.total_tokens, 15)
  assert.deepEqual(vendor.calls[0]!.body.input.slice(1), [
    SEALED,
    { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Wien"}' },
    { type: 'function_call_output', call_id: 'call_1', output: '9' },
  ])
})

test('reports failures of /responses like those of chat completions', async (t) => {
  const { vendor, post } = await setting(t)
  const ask = (stream: boolean) =>
    post('/v1/chat/completions', { model: 'gpt-6.1-terra', messages: HI, tools: [WEATHER], stream })
  for (const how of [cuts('Half an'), cuts('Half an', 'resets'), breakStream('Half an')]) {
    vendor.play(how)
    const { chunks, isDone } = chunksOf((await ask(true)).text)
    assert.equal(isDone, false)
    assert.ok(chunks.at(-1).error.message)
    assert.equal(
      chunks.some((chunk) => chunk.choices?.[0]?.finish_reason),
      false,
    )
  }
  for (const stream of [false, true]) {
    vendor.play(refuses(500), says('Good day'))
    const again = await ask(stream)
    assert.equal(again.status, 200)
    assert.match(again.text, /Good/)
    vendor.play(
      refuses(404, {}, { error: { message: 'The model does not exist', code: 'model_not_found' } }),
    )
    assert.equal((await ask(stream)).status, 404)
    vendor.play(refuses(400))
    assert.equal((await ask(stream)).body.error.code, 'vendor_refused')
  }
  const failed = buildResponse([], undefined, {
    status: 'failed',
    error: { code: 'server_error', message: 'Oh' },
  })
  vendor.play(babbles(JSON.stringify(failed)))
  assert.equal((await ask(false)).status, 502)
})

test('uses chat completions for servers that imitate OpenAI, and returns their reasoning unchanged', async (t) => {
  const { vendor, post } = await setting(t)
  const delta = {
    reasoning_content: 'Hm',
    reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }],
  }
  vendor.play(
    streams(
      event({ choices: [{ index: 0, delta }] }),
      event({ choices: [{ index: 0, delta: { content: 'Yes' }, finish_reason: 'stop' }] }),
      event('[DONE]'),
    ),
  )
  const messages = [...HI, { role: 'assistant', content: 'So', reasoning_content: 'Before' }, ...HI]
  const { text } = await post('/v1/chat/completions', {
    model: 'deepseek-r2',
    messages,
    tools: [WEATHER],
    reasoning_effort: 'high',
    stream: true,
  })
  assert.deepEqual(chunksOf(text).chunks[0].choices[0].delta, delta)
  const { path, body } = vendor.calls[0]!
  assert.deepEqual(
    [path, body.messages, body.reasoning_effort],
    ['/v1/chat/completions', messages, 'high'],
  )
  assert.equal('wishes' in body, false)
})

/** Reasons, answers and calls a tool, as Claude streams it. */
const claudeThinks: Step = streams(
  event({
    type: 'message_start',
    message: {
      model: 'claude-sonnet-5-5',
      usage: { input_tokens: 5, cache_creation_input_tokens: 900, output_tokens: 1 },
    },
  }),
  event({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  }),
  event({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'thinking_delta', thinking: 'Hm. ' },
  }),
  event({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'thinking_delta', thinking: 'Vienna.' },
  }),
  event({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'signature_delta', signature: 'c2ln' },
  }),
  event({ type: 'content_block_stop', index: 0 }),
  event({
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather' },
  }),
  event({
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'input_json_delta', partial_json: '{"city":"Wien"}' },
  }),
  event({
    type: 'message_delta',
    delta: { stop_reason: 'tool_use' },
    usage: { output_tokens: 30, output_tokens_details: { thinking_tokens: 20 } },
  }),
  event({ type: 'message_stop' }),
)

test('streams Claude’s reasoning, sends it back with the tool’s result, and counts it', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(claudeThinks)
  const ask = (messages: object[], more: object = {}) =>
    post('/v1/chat/completions', {
      model: 'claude-sonnet-5-5',
      messages,
      tools: [WEATHER],
      ...more,
    })
  const { chunks } = chunksOf(
    (await ask(HI, { stream: true, stream_options: { include_usage: true } })).text,
  )
  assert.deepEqual(vendor.calls[0]!.body.thinking, { type: 'adaptive', display: 'summarized' })
  const deltas = chunks.flatMap((chunk) =>
    chunk.choices.map((choice: { delta: object }) => choice.delta),
  )
  assert.equal(deltas.map((delta) => delta.reasoning_content ?? '').join(''), 'Hm. Vienna.')
  const { usage } = chunks.at(-1)
  assert.deepEqual(usage.prompt_tokens_details, { cached_tokens: 0, cache_write_tokens: 900 })
  assert.deepEqual(usage.completion_tokens_details, { reasoning_tokens: 20 })

  vendor.play(says('9 degrees'))
  const calls = [
    {
      id: 'toolu_1',
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Wien"}' },
    },
  ]
  const reasoning_details = deltas.flatMap((delta) => delta.reasoning_details ?? [])
  await ask([
    ...HI,
    { role: 'assistant', content: null, tool_calls: calls, reasoning_details },
    { role: 'tool', tool_call_id: 'toolu_1', content: '9' },
  ])
  assert.deepEqual(vendor.calls[0]!.body.messages[1].content, [
    { type: 'thinking', thinking: 'Hm. Vienna.', signature: 'c2ln' },
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Wien' } },
  ])

  vendor.play(claudeThinks)
  await ask(HI, { stream: true, include_reasoning: false })
  assert.equal(vendor.calls[0]!.body.thinking, undefined, 'omits the reasoning on request')
})

test('returns the reasoning of a whole answer in separate members', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(
    babbles(
      JSON.stringify({
        candidates: [
          {
            content: {
              parts: [
                { text: 'Hm', thought: true },
                { text: 'Yes', thoughtSignature: 'c2ln' },
              ],
            },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, thoughtsTokenCount: 2 },
      }),
    ),
  )
  const ask = (messages: object[]) =>
    post('/v1/chat/completions', { model: 'gemini-3.8-flash', messages })
  const { body } = await ask(HI)
  const { message } = body.choices[0]
  assert.equal(message.reasoning_content, 'Hm')
  assert.deepEqual(body.usage.completion_tokens_details, { reasoning_tokens: 2 })
  await ask([...HI, message, ...HI])
  assert.deepEqual(vendor.calls[1]!.body.contents[1].parts, [
    { text: 'Hm', thought: true },
    { text: 'Yes', thoughtSignature: 'c2ln' },
  ])
})

test('returns 400 for content that a vendor does not support, without a request to it', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(says('never asked'))
  const audio = { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } }
  for (const [model, more, words] of [
    [
      'claude-haiku-5-5',
      { messages: [{ role: 'user', content: [audio] }] },
      /'audio\/wav' is not supported/,
    ],
    ['claude-haiku-5-5', { functions: [{ name: 'f' }] }, /send 'tools'/],
    ['gemini-3.8-flash', { function_call: 'auto' }, /send 'tools'/],
    ['gpt-6.1-terra', { tools: [WEATHER], n: 2 }, /More than one choice/],
  ] as const) {
    const { status, body } = await post('/v1/chat/completions', { model, messages: HI, ...more })
    assert.equal(status, 400, model)
    assert.match(body.error.message, words)
  }
  assert.equal(vendor.calls.length, 0)
})

test('uses Claude’s cache for an ordinary OpenAI client, at Claude’s cache prices', async (t) => {
  const { vendor, post, ada } = await setting(t)
  vendor.play(
    babbles(
      JSON.stringify({
        model: 'claude-sonnet-5-5',
        content: [{ type: 'text', text: 'ok' }],
        stop_reason: 'end_turn',
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 0,
          cache_creation_input_tokens: 3_000,
          cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 2_000 },
          output_tokens: 5,
        },
      }),
    ),
  )
  const rules = 'A rule that every answer shall follow. '.repeat(100)
  const ask = (content: unknown) =>
    post('/v1/chat/completions', {
      model: 'claude-sonnet-5-5',
      messages: [{ role: 'system', content }, ...HI],
    })
  const { body } = await ask(rules)
  assert.deepEqual(vendor.calls[0]!.body.cache_control, { type: 'ephemeral' })
  assert.deepEqual(body.usage.prompt_tokens_details, {
    cached_tokens: 0,
    cache_write_tokens: 3_000,
  })
  const { body: used } = await ada.get('/api/usage?group_by=model')
  assert.equal(
    used.totals.cost_usd.toFixed(9),
    ((10 * 2 + 1_000 * 2.5 + 2_000 * 4 + 5 * 10) / 1e6).toFixed(9),
  )

  const hour = { type: 'ephemeral', ttl: '1h' }
  await ask([{ type: 'text', text: rules, cache_control: hour }])
  assert.deepEqual(vendor.calls[1]!.body.system, [
    { type: 'text', text: rules, cache_control: hour },
  ])
  assert.equal(vendor.calls[1]!.body.cache_control, undefined)
})
