// Broken and hostile requests get an answer or a 4xx with the reason, never a 500, and never affect
// other users.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { testApp } from '#testing/app.ts'
import { babbles, mockVendor, refuses, says } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const MODELS = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']

async function setting(t: TestContext, env: Record<string, string> = {}) {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...vendor.env.gemini, ...env },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  return { app, vendor, ada, chat: (body: object) => ada.post('/v1/chat/completions', body) }
}

test('answers every malformed body with a 4xx or a result, never a 500', async (t) => {
  const { chat } = await setting(t)
  const image = (image_url: unknown) => [
    { role: 'user', content: [{ type: 'image_url', image_url }] },
  ]
  const text = (value: unknown) => [{ role: 'user', content: [{ type: 'text', text: value }] }]
  const call = (more: object) => [{ role: 'assistant', tool_calls: [more] }]
  const bodies: object[] = [
    {},
    [],
    { messages: [] },
    { messages: 'Hi' },
    { messages: [null] },
    { messages: [{}] },
    { messages: [{ role: 'wizard', content: 'Hi' }] },
    { messages: [{ role: 'user', content: 5 }] },
    { messages: [{ role: 'user', content: null }] },
    { messages: [{ role: 'user' }] },
    { messages: [{ role: 'tool', content: 'alone' }] },
    {
      messages: [{ role: 'tool', content: [{ type: 'text', text: 'in parts' }], tool_call_id: 7 }],
    },
    { messages: [{ role: 'system', content: 'only' }] },
    { messages: [{ role: 'assistant', content: '' }] },
    { messages: [{ role: 'user', content: [] }] },
    { messages: [{ role: 'user', content: [{ type: 'hologram' }] }] },
    { messages: text(5) },
    { messages: text({ deep: [] }) },
    { messages: text(null) },
    { messages: text(undefined) },
    { messages: image(null) },
    { messages: image('https://example.com/a.png') },
    { messages: image({ url: 5 }) },
    { messages: image({ url: 'data:image/png;base64,' }) },
    { messages: call({}) },
    {
      messages: call({ id: 'a', type: 'function', function: { name: 'f', arguments: 'no json' } }),
    },
    { messages: call({ id: 'a', type: 'function', function: { name: 'f', arguments: '"text"' } }) },
    { messages: HI, stream: 'yes' },
    { messages: HI, stream: 1 },
    { messages: HI, stream_options: 'usage' },
    { messages: HI, n: 0 },
    { messages: HI, n: 1.5 },
    { messages: HI, max_tokens: -1 },
    { messages: HI, max_tokens: 1e300 },
    { messages: HI, max_completion_tokens: 'many' },
    { messages: HI, temperature: 'hot' },
    { messages: HI, temperature: 3 },
    { messages: HI, stop: ['a', 'b', 'c', 'd'] },
    { messages: HI, stop: 5 },
    { messages: HI, tools: [] },
    { messages: HI, tools: [{}] },
    { messages: HI, tools: [{ type: 'function', function: { name: 'f', parameters: null } }] },
    { messages: HI, tools: 'all', tool_choice: 5 },
    { messages: HI, tool_choice: { type: 'function' } },
    { messages: HI, response_format: 'json' },
    { messages: HI, response_format: { type: 'json_schema', json_schema: null } },
    { messages: HI, response_format: { type: 'json_schema', json_schema: { schema: 'none' } } },
    { messages: HI, reasoning_effort: 5 },
    { messages: HI, metadata: { a: 'b' }, user: 7, seed: 'x', logit_bias: [] },
    {
      messages: [
        { role: 'user', content: '\ud800 half a character, \u0000 none, \u202e turned, 👩‍👩‍👧‍👦' },
      ],
    },
  ]
  for (const model of MODELS) {
    for (const stream of [undefined, true]) {
      for (const body of bodies) {
        const { status, text } = await chat(Array.isArray(body) ? body : { model, stream, ...body })
        assert.ok(
          status === 200 || status === 400,
          `${status} for ${JSON.stringify(body)}: ${text}`,
        )
        if (status !== 200) assert.ok(JSON.parse(text).error.message, text)
      }
    }
  }
})

test('handles JSON that exploits parsers', async (t) => {
  const { app, ada, vendor } = await setting(t)
  const raw = async (body: string) => {
    const reply = await fetch(`${app.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
      body,
    })
    return reply.status
  }
  const messages = JSON.stringify(HI)

  assert.equal(await raw(`{"model":"gpt-6-luna","messages":${messages},"messages":[]}`), 400)
  assert.equal(await raw(`{"model":"gpt-6-luna","messages":[],"messages":${messages}}`), 200)
  assert.equal(await raw(`{"model":"gpt-6-luna","messages":${messages},"__proto__":{"n":9}}`), 400)
  assert.equal(
    await raw(`{"model":"gpt-6-luna","messages":${messages},"constructor":{"prototype":{"n":9}}}`),
    400,
  )
  assert.equal(await raw(`{"model":"gpt-6-luna","messages":${messages}`), 400)
  assert.equal(await raw(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), 400)
  assert.equal(await raw(''), 400)
  assert.equal(vendor.calls.length, 1)

  // Integers with all their digits are objects inside the service, and plain numbers for its
  // clients.
  const long = '12345678901234567890'
  assert.equal(
    await raw(`{"model":"gpt-6-luna","messages":${messages},"seed":${long},"__proto__":{"n":9}}`),
    400,
  )
  for (const name of ['max_tokens', 'temperature', 'n', 'stream', 'model', 'messages', 'tools'])
    assert.equal(
      await raw(`{"model":"gpt-6-luna","messages":${messages},"${name}":${long}}`),
      400,
      name,
    )
  for (const name of [
    'seed',
    'stop',
    'tool_choice',
    'response_format',
    'reasoning_effort',
    'metadata',
    'reasoning',
  ])
    assert.ok(
      (await raw(`{"model":"claude-haiku-5-5","messages":${messages},"${name}":${long}}`)) < 500,
      name,
    )
})

test('answers a text of millions of digits', async (t) => {
  const { chat } = await setting(t)
  const { status } = await chat({
    model: 'gpt-6-luna',
    messages: [{ role: 'user', content: `x ${'1'.repeat(6_000_000)}` }],
  })
  assert.equal(status, 200)
})

test('rejects a small compressed list of a million wrong items at once', async (t) => {
  const { app, ada } = await setting(t)
  for (const [path, open, close] of [
    ['/v1/embeddings', '{"model":"text-embedding-3-small","input":[', ']}'],
    ['/v1/chat/completions', '{"model":"gpt-6-luna","messages":[', ']}'],
    ['/v1/messages', '{"model":"claude-haiku-5-5","max_tokens":9,"messages":[', ']}'],
    ['/v1/responses', '{"model":"gpt-6-luna","input":[', ']}'],
    ['/api/ai/chat', '{"messages":[', ']}'],
  ]) {
    for (const [count, item, statuses] of [
      [395_000, 'null', [400, 422]],
      [95_000, '"a"', [400, 422]],
      [990_000, 'null', [413]],
    ] as const) {
      const body = gzipSync(`${open}${Array(count).fill(item)}${close}`)
      const before = process.cpuUsage()
      const reply = await fetch(`${app.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${ada.token}`,
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        },
        body,
      })
      const { user, system } = process.cpuUsage(before)
      assert.ok(
        (statuses as readonly number[]).includes(reply.status),
        `${path} ${count} ${item}: ${reply.status}`,
      )
      // It took up to 5 s; the first requests of a route compile its schema.
      assert.ok(
        user + system < 500_000,
        `${path} ${count} ${item}: ${(user + system) / 1_000} ms of CPU`,
      )
    }
  }
})

test('rejects deeply nested JSON on every route without much work', async (t) => {
  const { ada, vendor } = await setting(t)
  const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  const doors: [string, string][] = [
    ...MODELS.flatMap((model): [string, string][] => [
      [
        '/v1/chat/completions',
        `{"model":"${model}","messages":[{"role":"user","content":"Hi"}],"metadata":DEEP}`,
      ],
      [
        '/v1/messages',
        `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"x":DEEP}`,
      ],
      [
        '/v1/messages/count_tokens',
        `{"model":"${model}","messages":[{"role":"user","content":"Hi"}],"x":DEEP}`,
      ],
      [
        '/v1/responses',
        `{"model":"${model}","input":"Hi","tools":[{"type":"function","name":"f","parameters":DEEP}]}`,
      ],
    ]),
    ['/v1/embeddings', '{"model":"text-embedding-3-small","input":"x","y":DEEP}'],
    ['/api/ai/chat', '{"messages":[{"role":"user","content":"Hi"}],"metadata":DEEP}'],
    ['/api/rag/search', '{"query":"x","filter":{"a":DEEP}}'],
    ['/api/rag/ingest/text', '{"content":"x","metadata":{"a":DEEP}}'],
    ['/mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":DEEP}'],
  ]
  for (const [path, body] of doors) {
    for (const deep of [lists(1_000), lists(400_000), objects(100_000)]) {
      const headers = { 'content-type': 'application/json' }
      const { status, text } = await ada.post(path, body.replace('DEEP', deep), { headers })
      assert.ok(status === 400 || status === 422, `${path}: ${status} ${text}`)
      assert.ok(text.length < 1_000)
    }
  }
  assert.equal(vendor.calls.length, 0)

  // Inside a text it is plain text, and unreadable parts of it are dropped.
  const call = {
    id: 'a',
    type: 'function',
    function: { name: 'f', arguments: `{"x":${lists(300_000)}}` },
  }
  const sealed = `latchkey.1.${Buffer.from(`{"details":[],"calls":{"a":${objects(100_000)}}}`).toString('base64url')}`
  for (const model of MODELS) {
    const talk = [
      ...HI,
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]
    const chat = await ada.post('/v1/chat/completions', { model, messages: talk })
    assert.equal(chat.status, 200, chat.text)
    const thinking = [{ type: 'thinking', thinking: 'x', signature: sealed }]
    const message = {
      model,
      max_tokens: 9,
      system: null,
      messages: [...HI, { role: 'assistant', content: thinking }, ...HI],
    }
    const messages = await ada.post('/v1/messages', message)
    assert.equal(messages.status, 200, messages.text)
  }
})

test('treats names of built-in properties, lone surrogates and line ends as plain text', async (t) => {
  const { app, ada, vendor } = await setting(t)
  vendor.play(says('ok'))
  const names = ['__proto__', 'constructor', 'toString', '\ud800', 'a\u0000b', 'x\r\nX-Evil: 1']
  for (const name of names) {
    // Parsed from JSON: as a literal, `__proto__` would set the prototype.
    const named = Object.fromEntries([[name, name]])
    const labels = { metadata: named, user: name, prompt_cache_key: name }
    const call = {
      id: name,
      type: 'function',
      function: { name, arguments: JSON.stringify(named) },
    }
    const details = ['anthropic-claude-v1', 'google-gemini-v1', 'openai-responses-v1'].map(
      (format) => {
        return { type: 'reasoning.encrypted', format, index: 1e308, id: name, data: name }
      },
    )
    const talk = [
      ...HI,
      { role: 'assistant', content: name, tool_calls: [call, call], reasoning_details: details },
      { role: 'tool', tool_call_id: name, content: name },
    ]
    const used = [
      { role: 'assistant', content: [{ type: 'tool_use', id: name, name, input: named }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: name, content: name }] },
    ]
    const items = [
      { type: 'function_call', call_id: name, name, namespace: name, arguments: name },
      { type: 'function_call_output', call_id: name, output: name },
    ]
    const tools = [{ type: 'function', name, parameters: { properties: named, required: [name] } }]
    for (const model of MODELS) {
      const asked: [string, object][] = [
        [
          '/v1/chat/completions',
          { messages: talk, tools: tools.map((own) => ({ type: 'function', function: own })) },
        ],
        [
          '/v1/messages',
          {
            max_tokens: 9,
            messages: [...HI, ...used],
            tools: [{ name, input_schema: named }],
            tool_choice: { type: 'tool', name },
          },
        ],
        [
          '/v1/responses',
          { input: [...HI, ...items], tools: [...tools, { type: 'namespace', name, tools }] },
        ],
      ]
      for (const [path, body] of asked) {
        for (const stream of [false, true]) {
          const { status, text } = await ada.post(path, { model, stream, ...labels, ...body })
          assert.ok(
            status === 200 || status === 400,
            `${status} for ${JSON.stringify(name)} at ${path}: ${text}`,
          )
        }
      }
    }
    const input = {
      jsonrpc: '2.0',
      id: name,
      method: 'tools/call',
      params: { name, arguments: named, _meta: named },
    }
    const refused = await ada.post('/mcp', input)
    assert.ok(refused.status < 500, refused.text)
    const found = await ada.get(
      `/api/usage/calls?end_user=${encodeURIComponent(name.toWellFormed())}`,
    )
    assert.equal(found.status, 200, found.text)
  }
  for (const { headers } of vendor.calls) assert.equal(headers['x-evil'], undefined)
  assert.deepEqual(Object.keys(Object.prototype), [])
  const rows = await app.platform.db.selectFrom('usage_records').select('outcome').execute()
  assert.ok(rows.length > names.length * MODELS.length)
})

test('accepts a large message, and returns 413 beyond the limit', async (t) => {
  const { chat, vendor } = await setting(t)
  const megabytes = (count: number) => [{ role: 'user', content: 'x'.repeat(count * 1024 * 1024) }]

  assert.equal((await chat({ model: 'gpt-6-luna', messages: megabytes(15) })).status, 200)
  assert.equal(vendor.calls[0]!.body.messages[0].content.length, 15 * 1024 * 1024)
  const reply = await chat({ model: 'gpt-6-luna', messages: megabytes(33) })
  assert.equal(reply.status, 413)
  assert.equal(reply.body.error.code, 'body_too_large')
})

test('treats null like an omitted member, even for an enumeration', async (t) => {
  const { ada } = await setting(t)
  const chat = await ada.post('/api/ai/chat', {
    messages: HI,
    provider: null,
    user: null,
    metadata: null,
  })
  assert.equal(chat.status, 200, chat.text)
  const refused = await ada.post('/api/ai/chat', { messages: HI, provider: 'nobody' })
  assert.equal(refused.status, 422)
  assert.doesNotMatch(refused.text, /null/)
  // The vendor of these tests has no embeddings.
  const embedded = await ada.post('/v1/embeddings', {
    model: 'text-embedding-3-small',
    input: 'x',
    encoding_format: null,
  })
  assert.equal(embedded.status, 502, embedded.text)
})

test('sends a model’s name to its vendor only as a name', async (t) => {
  const { chat, ada, vendor } = await setting(t)
  const refused = [
    '',
    ' \u0000',
    'gpt-\u0000',
    'gpt-6\r\nX-Evil: 1',
    'gemini-\ud800',
    'gpt-é',
    'x'.repeat(201),
  ]
  for (const model of refused) {
    assert.equal((await chat({ model, messages: HI })).status, 400, JSON.stringify(model))
    assert.equal(
      (await ada.post('/api/ai/chat', { messages: HI, model })).status,
      422,
      JSON.stringify(model),
    )
    assert.equal(
      (await ada.post('/v1/embeddings', { model, input: 'x' })).status,
      400,
      JSON.stringify(model),
    )
  }

  for (const model of [
    'gemini/../../../etc/passwd',
    'gemini/x?key=stolen#',
    'gemini/x:deleteModel',
    'gemini/..%2f..',
    'gemini/@evil.example',
  ]) {
    vendor.play(says('ok'))
    await chat({ model, messages: HI })
    const { path } = vendor.calls[0]!
    assert.match(path, /^\/v1beta\/models\/[^/?#:@]+:generateContent$/)
    assert.equal(
      decodeURIComponent(path.slice('/v1beta/models/'.length, -':generateContent'.length)),
      model.slice(7),
    )
  }
  vendor.play(says('ok'))
  await chat({ model: 'models/gemini-3.8-flash', messages: HI })
  assert.equal(vendor.calls[0]!.path, '/v1beta/models/gemini-3.8-flash:generateContent')
})

test('lets no caller choose a request’s address or credentials', async (t) => {
  const { chat, vendor } = await setting(t)
  vendor.play(says('ok'))
  const elsewhere = {
    base_url: 'http://169.254.169.254',
    api_key: 'sk-stolen',
    extra_headers: { authorization: 'Bearer stolen', 'x-evil': '1' },
  }
  for (const [name, value] of Object.entries(elsewhere)) {
    const { status, body } = await chat({ model: 'gpt-6-luna', messages: HI, [name]: value })
    assert.deepEqual([status, body.error.param], [400, name])
  }
  assert.equal(vendor.calls.length, 0)
  await chat({ model: 'gpt-6-luna', messages: HI, baseUrl: elsewhere.base_url, stream: false })
  assert.ok(!('baseUrl' in vendor.calls[0]!.body))
  const { headers } = vendor.calls[0]!
  assert.equal(headers.authorization, 'Bearer sk-test-openai-key')
  assert.equal(headers['x-evil'], undefined)
  for (const name of Object.keys(headers))
    assert.doesNotMatch(name, /cookie|forwarded|x-request-id/)
})

test('keeps the ledger intact when a vendor reports a malformed model name', async (t) => {
  const { app, ada, vendor } = await setting(t)
  // One call each: the reported tokens use up a whole allowance.
  const others = await Promise.all(
    ['bob', 'cleo', 'dora'].map((name) => app.as(name, { tier: 'pro' })),
  )
  const answer = (model: string, prompt: number) =>
    babbles(
      JSON.stringify({
        model,
        choices: [
          { index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: prompt, completion_tokens: 1 },
      }),
    )
  vendor.play(answer(`gpt\u0000${'x'.repeat(500)}`, 1e300), answer('gpt-6-luna', 1))
  const replies = await Promise.all(
    [ada, ...others].map((user) => user.post('/api/ai/chat', { messages: HI })),
  )

  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  const rows = await app.platform.db
    .selectFrom('usage_records')
    .select(['model', 'prompt_tokens'])
    .execute()
  assert.equal(rows.length, 4)
  assert.ok(
    rows.every(({ model, prompt_tokens }) => model.length <= 200 && prompt_tokens <= 1_000_000_000),
  )
})

test('does not close a vendor to others because of a user’s wrong model names', async (t) => {
  const { app, ada, vendor } = await setting(t, { LLM_FALLBACKS: 'anthropic' })
  vendor.play(
    refuses(404, {}, { error: { message: 'No such model', code: 'model_not_found' } }),
    says('other'),
  )
  for (let call = 0; call < 8; call++) {
    vendor.play(
      refuses(404, {}, { error: { message: 'No such model', code: 'model_not_found' } }),
      says('other'),
    )
    assert.equal(
      (await ada.post('/api/ai/chat', { messages: HI, model: `gpt-none-${call}` })).status,
      200,
    )
  }
  vendor.play(says('ok'))
  const bob = await app.as('bob', { tier: 'pro' })
  const reply = await bob.post('/api/ai/chat', { messages: HI })
  assert.equal(reply.headers.get('x-latchkey-vendor'), 'openai')
})
