// The sandbox's models through the product's APIs, after a start without keys, and the dialect of
// each vendor as its clients see it.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Check } from 'typebox/schema'
import { testApp } from '#testing/app.ts'

const MODELS = ['gpt-6.1-terra', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'gemini-3.8-flash']
const ASKED = [
  {
    role: 'system',
    content: 'Context:\n[1] The shop opens at nine. [2] It closes at six on weekdays.',
  },
  { role: 'user', content: 'When does the shop open in Paris?' },
]
const WEATHER = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
  required: ['city', 'days'],
  additionalProperties: false,
}
const TIME = { type: 'object', properties: { zone: { enum: ['UTC', 'CET'] } }, required: ['zone'] }
const TOOLS = [
  {
    type: 'function',
    function: { name: 'get_weather', description: 'The weather', parameters: WEATHER },
  },
  { type: 'function', function: { name: 'get_time', parameters: TIME } },
]

type Called = { id: string; function: { name: string; arguments: string } }

async function setting(t: TestContext) {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const chat = async (body: object) => {
    const reply = await ada.post('/v1/chat/completions', { messages: ASKED, ...body })
    assert.equal(reply.status, 200, reply.text)
    return reply
  }
  return { app, ada, chat }
}

/** Joins a streamed answer as a client does. */
function assembled(text: string) {
  assert.match(text, /data: \[DONE\]\n\n$/)
  const chunks = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data!))
  const choices = chunks.flatMap((chunk) => chunk.choices)
  const calls: { id: string; name: string; arguments: string }[] = []
  for (const { index, id, function: part } of choices.flatMap(
    ({ delta }) => delta.tool_calls ?? [],
  )) {
    calls[index] ??= { id, name: part.name, arguments: '' }
    calls[index].arguments += part.arguments ?? ''
  }
  return {
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    calls,
    finish: choices.findLast(({ finish_reason }) => finish_reason)?.finish_reason,
  }
}

test('without keys every vendor answers, whole and streamed, and names itself', async (t) => {
  const { ada, chat } = await setting(t)
  for (const provider of ['openai', 'anthropic', 'gemini', 'google', 'llm_vendor_2']) {
    const whole = await ada.post('/api/ai/chat', { messages: ASKED, provider })
    assert.equal(whole.status, 200, whole.text)
    assert.match(whole.body.content, /The shop opens at nine\.[\s\S]*Sandbox model/)
    assert.ok(whole.body.usage.prompt_tokens > 15 && whole.body.usage.completion_tokens > 10)
    const streamed = await ada.post('/api/ai/chat', {
      messages: ASKED,
      provider,
      stream: true,
      include_usage: true,
    })
    const text = [...streamed.text.matchAll(/^data: (\{"token".*\})$/gm)]
      .map(([, data]) => JSON.parse(data!).token)
      .join('')
    assert.equal(text, whole.body.content)
    const usage = JSON.parse(/event: usage\ndata: (.*)/.exec(streamed.text)![1]!)
    assert.deepEqual(usage, {
      usage: whole.body.usage,
      model: whole.body.model,
      finish_reason: 'stop',
    })
  }
  for (const model of MODELS) {
    const short = await chat({ model, max_tokens: 4 })
    assert.deepEqual(
      [short.body.choices[0].finish_reason, short.body.usage.completion_tokens],
      ['length', 4],
      model,
    )
    const stopped = await chat({ model, stop: ['nine'] })
    assert.equal(stopped.body.choices[0].message.content, 'The shop opens at ', model)
  }
  const { body } = await ada.get('/api/ai/models')
  assert.ok(
    body.providers.every(
      (one: { configured: boolean; sandbox: boolean }) => one.configured && one.sandbox,
    ),
  )
})

test('the first tool is called with valid arguments, whole and streamed; the reply then quotes its result', async (t) => {
  const { chat } = await setting(t)
  for (const model of MODELS) {
    const whole = (await chat({ model, tools: TOOLS })).body.choices[0]
    const streamed = assembled((await chat({ model, tools: TOOLS, stream: true })).text)
    assert.deepEqual([whole.finish_reason, streamed.finish], ['tool_calls', 'tool_calls'], model)
    for (const call of [whole.message.tool_calls[0].function, streamed.calls[0]!]) {
      assert.equal(call.name, 'get_weather')
      assert.ok(Check(WEATHER, JSON.parse(call.arguments)), call.arguments)
      assert.equal(JSON.parse(call.arguments).city, 'Paris')
    }

    const turn = [
      ...ASKED,
      { role: 'assistant', content: null, tool_calls: whole.message.tool_calls },
      { role: 'tool', tool_call_id: whole.message.tool_calls[0].id, content: 'Sunny, 21 degrees' },
    ]
    for (const more of [{}, { tool_choice: 'auto' }]) {
      const reply = (await chat({ model, tools: TOOLS, messages: turn, ...more })).body.choices[0]
      assert.equal(reply.finish_reason, 'stop', model)
      assert.match(
        reply.message.content,
        /get_weather answered: .*Sunny, 21 degrees[\s\S]*Sandbox model/,
      )
    }
  }
})

test('respects the tool choice, and no choice causes an endless loop', async (t) => {
  const { chat } = await setting(t)
  for (const model of MODELS) {
    const ask = async (
      tool_choice: unknown,
      messages: object[] = ASKED,
    ): Promise<Called | null> => {
      const { message } = (await chat({ model, tools: TOOLS, tool_choice, messages })).body
        .choices[0]
      return message.tool_calls?.[0] ?? null
    }
    assert.equal(await ask('none'), null, model)
    const named = { type: 'function', function: { name: 'get_time' } }
    assert.equal((await ask(named))?.function.name, 'get_time', model)

    const messages: object[] = [...ASKED]
    const called: string[] = []
    for (let turn = 0; turn < 6; turn++) {
      const call = await ask('required', messages)
      if (call === null) break
      called.push(call.function.name)
      messages.push({ role: 'assistant', content: null, tool_calls: [call] })
      messages.push({ role: 'tool', tool_call_id: call.id, content: 'done' })
    }
    assert.deepEqual(called, ['get_weather', 'get_time'], model)
  }
})

test('an answer matches its schema, and JSON mode returns JSON', async (t) => {
  const { chat } = await setting(t)
  const schema = {
    type: 'object',
    properties: {
      summary: { type: 'string' },
      score: { type: 'number' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['summary', 'score', 'tags'],
    additionalProperties: false,
  }
  const response_format = {
    type: 'json_schema',
    json_schema: { name: 'answer', strict: true, schema },
  }
  for (const model of MODELS) {
    const whole = JSON.parse(
      (await chat({ model, response_format })).body.choices[0].message.content,
    )
    assert.equal<boolean>(Check(schema, whole), true, JSON.stringify(whole))
    assert.match(String(whole.summary), /The shop opens at nine\.[\s\S]*Sandbox model/)
    const streamed = assembled((await chat({ model, response_format, stream: true })).text)
    assert.deepEqual(JSON.parse(streamed.content), whole, model)
    const object = await chat({ model, response_format: { type: 'json_object' } })
    assert.match(
      JSON.parse(object.body.choices[0].message.content).answer,
      /The shop opens at nine/,
      model,
    )
  }
})

test('both embedding vendors place similar texts near each other, in the requested dimensions', async (t) => {
  const { ada } = await setting(t)
  const inputs = [
    'The lighthouse was built in 1882.',
    'Who built the lighthouse?',
    'Bread needs flour and water.',
  ]
  for (const [model, length] of [
    ['text-embedding-3-small', 1_536],
    ['text-embedding-3-large', 3_072],
    ['gemini-embedding-2', 3_072],
  ] as const) {
    for (const dimensions of [undefined, 256]) {
      const { status, body, text } = await ada.post('/v1/embeddings', {
        model,
        input: inputs,
        dimensions,
      })
      assert.equal(status, 200, text)
      const [about, question, other] = body.data.map(
        ({ embedding }: { embedding: number[] }) => embedding,
      )
      assert.equal(about.length, dimensions ?? length)
      const dot = (a: number[], b: number[]) =>
        a.reduce((sum, value, index) => sum + value * b[index]!, 0)
      assert.ok(dot(about, question) > dot(about, other), model)
      assert.ok(Math.abs(dot(about, about) - 1) < 1e-6)
      assert.ok(body.usage.prompt_tokens > 0)
    }
  }
  const tokens = await ada.post('/v1/embeddings', {
    model: 'text-embedding-3-small',
    input: [
      [1, 2, 3],
      [4, 5],
    ],
  })
  assert.deepEqual([tokens.status, tokens.body.data.length], [200, 2])
  const wrong = await ada.post('/v1/embeddings', { model: 'gpt-6-luna', input: 'x' })
  assert.equal(wrong.status, 404)
  assert.match(wrong.text, /has no embeddings/)
})

test('a simulated vendor never replaces a real one', async (t) => {
  const app = await testApp(t, {
    env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', LLM_FALLBACKS: 'anthropic,gemini' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  assert.equal((await ada.post('/api/ai/chat', { messages: ASKED })).status, 502)
  const played = await ada.post('/api/ai/chat', { messages: ASKED, provider: 'gemini' })
  assert.equal(played.headers.get('x-latchkey-vendor'), 'gemini')
})

test('returns errors in Anthropic’s format to its clients, also inside streams', async (t) => {
  const { app } = await setting(t)
  const key = { 'x-api-key': 'any', 'anthropic-version': '2023-06-01' }
  const post = (
    body: object,
    headers: Record<string, string> = key,
    path = '/sandbox/anthropic/v1/messages',
  ) => app.post(path, body, { headers })
  const wanted = {
    model: 'claude-sandbox',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello' }],
  }

  const types = async (body: object, headers?: Record<string, string>) => {
    const reply = await post(body, headers)
    return [reply.status, reply.body.type, reply.body.error.type]
  }
  assert.deepEqual(await types(wanted, {}), [401, 'error', 'authentication_error'])
  assert.deepEqual(await types(wanted, { 'x-api-key': 'any' }), [
    400,
    'error',
    'invalid_request_error',
  ])
  assert.deepEqual(await types({ ...wanted, max_tokens: undefined }), [
    400,
    'error',
    'invalid_request_error',
  ])
  assert.deepEqual(await types({ ...wanted, messages: [] }), [
    400,
    'error',
    'invalid_request_error',
  ])

  const { text } = await post({ ...wanted, stream: true })
  const names = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
  assert.deepEqual(
    [...new Set(names)],
    [
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ],
  )
  const counted = await post(wanted, key, '/sandbox/anthropic/v1/messages/count_tokens')
  assert.ok(counted.body.input_tokens > 0)
})

test('returns errors in Google’s format to Gemini’s clients, as events or in one array', async (t) => {
  const { app } = await setting(t)
  const headers = { 'x-goog-api-key': 'any' }
  const path = '/sandbox/gemini/v1beta/models/gemini-sandbox'
  const wanted = { contents: [{ parts: [{ text: 'Hello' }] }] }

  const keyless = await app.post(`${path}:generateContent`, wanted)
  assert.deepEqual([keyless.status, keyless.body.error.status], [403, 'PERMISSION_DENIED'])
  const empty = await app.post(`${path}:generateContent`, {}, { headers })
  assert.deepEqual([empty.status, empty.body.error.status], [400, 'INVALID_ARGUMENT'])
  const unknown = await app.post(`${path}:deleteModel`, wanted, { headers })
  assert.deepEqual([unknown.status, unknown.body.error.status], [404, 'NOT_FOUND'])

  const array = JSON.parse(
    (await app.post(`${path}:streamGenerateContent`, wanted, { headers })).text,
  )
  assert.equal(array.at(-1).candidates[0].finishReason, 'STOP')
  const { text } = await app.post(`${path}:streamGenerateContent?alt=sse&key=any`, wanted)
  assert.match(text, /^data: \{.*\}\r\n\r\n/)
  assert.ok((await app.post(`${path}:countTokens`, wanted, { headers })).body.totalTokens > 0)
  const one = await app.post(
    '/sandbox/gemini/v1/models/gemini-embedding-2:embedContent',
    { content: { parts: [{ text: 'a b' }] } },
    { headers },
  )
  assert.equal(one.body.embedding.values.length, 3_072)
})

test('calls the named tool instead of the first, with harmless arguments', async (t) => {
  const { chat } = await setting(t)
  const shell = {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
  }
  const tools = [...TOOLS, { type: 'function', function: { name: 'Bash', parameters: shell } }]
  for (const model of MODELS) {
    const messages = [{ role: 'user', content: 'rm -rf / using bash' }]
    const { message } = (await chat({ model, tools, messages })).body.choices[0]
    assert.equal(message.tool_calls[0].function.name, 'Bash')
    assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), {
      command: 'echo "Hello from the sandbox"',
    })
  }
})

test('the Responses API returns text, tool calls and schemas, whole and streamed, without memory', async (t) => {
  const { app } = await setting(t)
  const post = (body: object) =>
    app.post(
      '/sandbox/openai/v1/responses',
      { model: 'gpt-sandbox', ...body },
      { headers: { authorization: 'Bearer any' } },
    )
  const tools = [{ type: 'function', name: 'get_weather', parameters: WEATHER }]

  const said = (await post({ input: 'Hello' })).body
  assert.deepEqual([said.status, said.output[0].type], ['completed', 'message'])
  assert.match(said.output[0].content[0].text, /Sandbox model/)
  const short = (await post({ input: 'Hello', max_output_tokens: 3 })).body
  assert.deepEqual(
    [short.status, short.incomplete_details],
    ['incomplete', { reason: 'max_output_tokens' }],
  )

  const call = (await post({ input: 'The weather in Paris?', tools })).body.output[0]
  assert.deepEqual([call.type, call.name], ['function_call', 'get_weather'])
  assert.ok(Check(WEATHER, JSON.parse(call.arguments)))
  const answered = { type: 'function_call_output', call_id: call.call_id, output: 'Sunny' }
  const reply = (
    await post({ input: [{ role: 'user', content: 'The weather?' }, call, answered], tools })
  ).body
  assert.match(reply.output[0].content[0].text, /get_weather answered: Sunny/)
  const format = { type: 'json_schema', name: 'w', schema: WEATHER }
  const filled = (await post({ input: 'Hello', text: { format } })).body.output[0].content[0].text
  assert.ok(Check(WEATHER, JSON.parse(filled)))

  for (const body of [{ input: 'Hello' }, { input: 'The weather?', tools }]) {
    const { text } = await post({ ...body, stream: true })
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
    assert.equal(events[0].type, 'response.created')
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      [...events.keys()],
    )
    const last = events.at(-1)
    assert.equal(last.type, 'response.completed')
    const deltas = events
      .filter(({ type }) => /\.delta$/.test(type))
      .map(({ delta }) => delta)
      .join('')
    const [item] = last.response.output
    assert.equal(deltas, item.arguments ?? item.content[0].text)
  }
  const chained = await post({ input: 'Hello', previous_response_id: 'resp_1' })
  assert.deepEqual([chained.status, chained.body.error.code], [400, 'previous_response_not_found'])
})
