import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testApp } from '#testing/app.ts'
import {
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
const MODELS = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']
const OTHERS = ['gpt-6-luna', 'gemini-3.8-flash']
const ASKED = { max_tokens: 500, messages: HI }
const WEATHER = {
  name: 'weather',
  description: 'Weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
}

async function setting(t: TestContext, env: Record<string, string> = {}) {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...vendor.env.gemini, ...env },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/api-keys', { name: 'client' })
  const headers = { authorization: `Bearer ${body.key}`, 'anthropic-version': '2023-06-01' }
  return {
    app,
    vendor,
    ada,
    headers,
    key: body.key as string,
    post: (request: object, more: Record<string, string> = {}) =>
      app.post('/v1/messages', request, { headers: { ...headers, ...more } }),
    stream: (request: object, signal: AbortSignal) =>
      fetch(`${app.url}/v1/messages`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(request),
        signal,
      }),
    count: (request: object) => app.post('/v1/messages/count_tokens', request, { headers }),
    chat: (request: object) => app.post('/v1/chat/completions', request, { headers }),
  }
}

/** Reads events as Anthropic's clients do: a name, and data that repeats it. */
function eventsOf(text: string) {
  const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'))
  const events = blocks.map((block) => {
    const [name, data] = block.split('\n')
    // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an event by reading it.
    const read = JSON.parse(data?.replace(/^data: /, '') ?? '') as any
    assert.equal(name, `event: ${read.type}`)
    return read
  })
  const ended = events.at(-1)?.type === 'message_stop'
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const content: any[] = []
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_start') {
      assert.equal(index, content.length, 'one block after the other')
      content.push({ ...block, ...(block.type === 'tool_use' ? { input: '' } : {}) })
    }
    if (type !== 'content_block_delta') continue
    content[index] ??= { type: 'text', text: '' }
    if (delta.type === 'text_delta') content[index].text += delta.text
    if (delta.type === 'thinking_delta') content[index].thinking += delta.thinking
    if (delta.type === 'signature_delta') content[index].signature += delta.signature
    if (delta.type === 'input_json_delta') content[index].input += delta.partial_json
  }
  for (const block of content)
    if (block.type === 'tool_use') block.input = JSON.parse(block.input || '{}')
  return { events, content, ended, last: events.findLast(({ type }) => type === 'message_delta') }
}

test('returns a message in Anthropic’s shape from every vendor', async (t) => {
  const { vendor, post, ada } = await setting(t)
  vendor.play(says('Good day'))
  for (const model of MODELS) {
    const { status, body, headers } = await post({ ...ASKED, model })
    assert.equal(status, 200)
    assert.equal(body.type, 'message')
    assert.equal(body.role, 'assistant')
    assert.deepEqual(
      body.content.map(({ type, text }: { type: string; text: string }) => [type, text]),
      [['text', 'Good day']],
    )
    assert.equal(body.stop_reason, 'end_turn')
    assert.equal(body.usage.input_tokens, 10)
    assert.equal(body.usage.output_tokens, 5)
    assert.ok(headers.get('x-latchkey-vendor'))
    assert.ok(headers.get('request-id'))
  }
  const { body } = await ada.get('/api/usage')
  assert.equal(body.totals.requests, 3)
  assert.equal(body.totals.total_tokens, 45)
})

test('streams Anthropic’s events, one block at a time, and ends with the usage', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(says('Good day to you'))
  for (const model of MODELS) {
    const { text, headers } = await post({ ...ASKED, model, stream: true })
    assert.match(headers.get('content-type') ?? '', /event-stream/)
    const { events, content, ended, last } = eventsOf(text)
    assert.equal(events[0].type, 'message_start')
    assert.equal(events[0].message.model.startsWith(model.slice(0, 3)), true)
    assert.ok(events[0].message.usage.input_tokens > 0)
    assert.equal(content[0].text, 'Good day to you')
    assert.equal(last.delta.stop_reason, 'end_turn')
    assert.equal(last.usage.output_tokens, 5)
    assert.equal(ended, true)
    assert.doesNotMatch(text, /\[DONE\]/)
  }
})

test('passes Anthropic’s requests and answers through, except for the credentials', async (t) => {
  const { vendor, post } = await setting(t)
  const lines = [
    `event: message_start\n${event({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 4, brand_new: 1 } } })}`,
    `event: ping\n${event({ type: 'ping' })}`,
    `event: content_block_start\n${event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } })}`,
    `event: content_block_delta\n${event({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm\n"…"' } })}`,
    `event: content_block_delta\n${event({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'U0lH' } })}`,
    `event: content_block_stop\n${event({ type: 'content_block_stop', index: 0 })}`,
    `event: something_new\n${event({ type: 'something_new', index: 1, of: 'later' })}`,
    `event: message_delta\n${event({ type: 'message_delta', delta: { stop_reason: 'pause_turn' }, usage: { output_tokens: 7 } })}`,
    `event: message_stop\n${event({ type: 'message_stop' })}`,
  ]
  vendor.play(streams(...lines))
  const body = {
    model: 'claude-sonnet-5-5',
    max_tokens: 64_000,
    stream: true,
    system: [{ type: 'text', text: 'Be kind', cache_control: { type: 'ephemeral' } }],
    messages: [...HI, { role: 'system', content: 'Mind the time' }],
    tools: [
      { ...WEATHER, defer_loading: true },
      { type: 'web_search_20260209', name: 'web_search', max_uses: 5 },
    ],
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: 'user_1' },
    diagnostics: { previous_message_id: null },
  }
  const beta = { 'anthropic-beta': 'claude-code-20250219,effort-2025-11-24', 'x-app': 'cli' }
  const { text } = await post(body, { ...beta, cookie: 'a=b', 'x-api-key': 'sk-of-the-client' })
  // The gateway adds the cost.
  assert.equal(
    text,
    lines.join('').replace('"output_tokens":7', '"output_tokens":7,"cost_usd":0.000078'),
  )
  const [call] = vendor.calls
  assert.deepEqual(call?.body, body)
  assert.equal(call?.headers['anthropic-beta'], beta['anthropic-beta'])
  assert.equal(call?.headers['x-api-key'], 'sk-ant-test-key')
  assert.equal(call?.headers.authorization, undefined)
  assert.equal(call?.headers.cookie, undefined)
})

test('translates an agent’s turn for other vendors and returns their tool calls', async (t) => {
  const { vendor, post } = await setting(t)
  const call: Step = (asked, reply) => {
    reply.setHeader('content-type', 'application/json')
    const gemini = {
      parts: [
        { functionCall: { name: 'weather', args: { city: 'Wien' } }, thoughtSignature: 'c2ln' },
      ],
    }
    const item = {
      type: 'function_call',
      call_id: 'call_1',
      name: 'weather',
      arguments: '{"city":"Wien"}',
    }
    const thought = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'c2VhbGVk',
    }
    reply.end(
      JSON.stringify(
        asked.path.includes('enerateContent')
          ? { candidates: [{ content: gemini, finishReason: 'STOP' }] }
          : buildResponse([thought, item]),
      ),
    )
  }
  const turn = {
    max_tokens: 64_000,
    system: [{ type: 'text', text: 'You are an agent', cache_control: { type: 'ephemeral' } }],
    tools: [WEATHER, { type: 'web_search_20260209', name: 'web_search' }],
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: 'user_1' },
  }
  for (const model of ['gpt-6.1-terra', 'gemini-3.8-flash']) {
    vendor.play(call)
    const first = await post({
      ...turn,
      model,
      messages: [...HI, { role: 'system', content: 'Mind the time' }],
    })
    assert.equal(first.status, 200)
    assert.equal(first.body.stop_reason, 'tool_use')
    const used = first.body.content.at(-1)
    assert.equal(used.type, 'tool_use')
    assert.deepEqual(used.input, { city: 'Wien' })

    vendor.play(says('Sunny'))
    const second = await post({
      ...turn,
      model,
      messages: [
        ...HI,
        { role: 'assistant', content: first.body.content },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And?' },
            { type: 'tool_result', tool_use_id: used.id, content: 'sunny' },
          ],
        },
      ],
    })
    assert.equal(second.body.content[0].text, 'Sunny')
    const sent = JSON.stringify(vendor.calls[0]?.body)
    // The model's reasoning goes back to it unchanged.
    assert.match(
      sent,
      model.startsWith('gpt') ? /"encrypted_content":"c2VhbGVk"/ : /"thoughtSignature":"c2ln"/,
    )
    assert.doesNotMatch(sent, /latchkey\.1\./)
    assert.match(sent, /sunny/)
    assert.doesNotMatch(sent, /web_search|context_management|cache_control/)
  }
})

test('streams tool calls block by block, with reasoning and parallel calls', async (t) => {
  const { vendor, post } = await setting(t)
  const chunk = (delta: object, finish: string | null = null) =>
    event({ id: 'c', model: 'gpt-4.1-mini', choices: [{ index: 0, delta, finish_reason: finish }] })
  const piece = (index: number, id: string | undefined, args: string) =>
    chunk({
      tool_calls: [
        {
          index,
          ...(id ? { id, type: 'function' } : {}),
          function: { ...(id ? { name: 'weather' } : {}), arguments: args },
        },
      ],
    })
  vendor.play(
    streams(
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'Two ' }),
      chunk({ reasoning_content: 'cities' }),
      chunk({ content: 'I look.' }),
      piece(0, 'call_1', '{"city"'),
      piece(0, undefined, ':"Wien"}'),
      piece(1, 'call_2', '{"city":"Graz"}'),
      chunk({}, 'tool_calls'),
      event({
        choices: [],
        usage: {
          prompt_tokens: 9,
          completion_tokens: 4,
          prompt_tokens_details: { cached_tokens: 6 },
        },
      }),
      event('[DONE]'),
    ),
  )
  const { text } = await post({ ...ASKED, model: 'gpt-4.1-mini', tools: [WEATHER], stream: true })
  const { content, last, ended } = eventsOf(text)
  assert.deepEqual(
    content.map(({ type, thinking, text, input }) => [type, thinking ?? text ?? input]),
    [
      ['thinking', 'Two cities'],
      ['text', 'I look.'],
      ['tool_use', { city: 'Wien' }],
      ['tool_use', { city: 'Graz' }],
    ],
  )
  assert.equal(last.delta.stop_reason, 'tool_use')
  assert.deepEqual(
    [last.usage.input_tokens, last.usage.cache_read_input_tokens, last.usage.output_tokens],
    [3, 6, 4],
  )
  assert.equal(ended, true)
})

test('streams and counts tokens for any spacing of the vendor’s events', async (t) => {
  const { vendor, stream, ada } = await setting(t)
  const start = {
    type: 'message_start',
    message: { id: 'm', model: 'claude-haiku-5-5', usage: { input_tokens: 4 } },
  }
  const delta = {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: 'w'.repeat(400) },
  }
  // Anthropic pads its events with blanks; proxies write a blank after each colon, or the type
  // last.
  const padded = JSON.stringify(delta).replace(/}$/, '          }')
  const spaced = JSON.stringify(delta).replaceAll(':', ': ').replaceAll(',', ', ')
  const turned = JSON.stringify({ index: 0, delta: delta.delta, type: delta.type })
  for (const data of [JSON.stringify(delta), padded, spaced, turned]) {
    const arrived = Promise.withResolvers<void>()
    vendor.play(async (_call, reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' })
      reply.write(`${event(start)}data: ${data}\n\n`)
      // The rest follows only when the first words have reached the client, so holding them back
      // would block forever.
      await arrived.promise
      reply.socket?.resetAndDestroy()
    })
    const leaving = new AbortController()
    const timer = setTimeout(
      () => leaving.abort(new Error(`held back: ${data.slice(0, 60)}`)),
      5_000,
    )
    const reply = await stream(
      { ...ASKED, model: 'claude-haiku-5-5', stream: true },
      leaving.signal,
    )
    let text = ''
    for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString('utf8')
      if (text.includes('wwww')) arrived.resolve()
    }
    clearTimeout(timer)
    assert.match(text, /event: error/)
    const { calls } = (await ada.get('/api/usage/calls?limit=1')).body
    assert.deepEqual(
      [calls[0].outcome, calls[0].completion_tokens],
      ['failed', 100],
      data.slice(0, 60),
    )
  }
})

test('streams tool calls one after the other when their deltas are interleaved or lack ids', async (t) => {
  const { vendor, post } = await setting(t)
  const chunk = (delta: object, finish: string | null = null) =>
    event({ id: 'c', model: 'gpt-4.1-mini', choices: [{ index: 0, delta, finish_reason: finish }] })
  const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] })
  const named = (id?: string) => ({
    ...(id ? { id } : {}),
    type: 'function',
    function: { name: 'weather', arguments: '' },
  })
  const args = (text: string) => ({ function: { arguments: text } })
  vendor.play(
    streams(
      call(0, named('call_1')),
      call(1, named()),
      call(0, args('{"city":')),
      call(1, args('{"city":"Gr')),
      call(0, args('"Wien"}')),
      call(1, args('az"}')),
      chunk({}, 'tool_calls'),
      event('[DONE]'),
    ),
  )
  const { text } = await post({ ...ASKED, model: 'gpt-4.1-mini', tools: [WEATHER], stream: true })
  const { content, ended } = eventsOf(text)
  assert.deepEqual(
    content.map(({ input }) => input),
    [{ city: 'Wien' }, { city: 'Graz' }],
  )
  assert.match(content[1].id, /^toolu_/)
  assert.equal(ended, true)
})

test('returns a refusal of the model as its answer', async (t) => {
  const { vendor, post } = await setting(t)
  const message = { role: 'assistant', content: null, refusal: 'I cannot.' }
  vendor.play((call, reply) => {
    const isStream = call.body.stream === true
    reply.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
    const one = (what: object, finish: string | null) => ({
      id: 'c',
      model: 'gpt-4.1-mini',
      choices: [{ index: 0, ...what, finish_reason: finish }],
    })
    if (!isStream) reply.end(JSON.stringify(one({ message }, 'stop')))
    else
      reply.end(
        event(one({ delta: { refusal: 'I cannot.' } }, null)) +
          event(one({ delta: {} }, 'stop')) +
          event('[DONE]'),
      )
  })
  const asked = { ...ASKED, model: 'gpt-4.1-mini' }
  assert.equal((await post(asked)).body.content[0].text, 'I cannot.')
  assert.equal(eventsOf((await post({ ...asked, stream: true })).text).content[0].text, 'I cannot.')
})

test('ends a cut stream with an error and without message_stop', async (t) => {
  const { vendor, post } = await setting(t)
  for (const step of [breakStream('Half an'), cuts('Half an'), cuts('Half an', 'resets')]) {
    for (const model of MODELS) {
      vendor.play(step)
      const { events, ended } = eventsOf((await post({ ...ASKED, model, stream: true })).text)
      assert.equal(ended, false)
      assert.equal(events.at(-1).type, 'error')
      assert.match(events.at(-1).error.type, /overloaded_error|api_error/)
    }
  }
})

test('returns errors in Anthropic’s shape', async (t) => {
  const { app, vendor, post } = await setting(t)
  const stranger = await app.post('/v1/messages', { ...ASKED, model: 'claude-haiku-5-5' })
  assert.equal(stranger.status, 401)
  assert.equal(stranger.body.type, 'error')
  assert.equal(stranger.body.error.type, 'authentication_error')

  const invalid = await post({ model: 'claude-haiku-5-5', messages: HI })
  assert.equal(invalid.status, 400)
  assert.equal(invalid.body.error.type, 'invalid_request_error')
  assert.match(invalid.body.error.message, /max_tokens/)

  vendor.play(
    refuses(
      400,
      {},
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 9 tokens > 8 maximum',
        },
      },
    ),
  )
  const long = await post({ ...ASKED, model: 'claude-haiku-5-5' })
  assert.match(long.body.error.message, /^prompt is too long/)

  vendor.play(refuses(529))
  const full = await post({ ...ASKED, model: 'claude-haiku-5-5' })
  assert.equal(full.status, 503)
  assert.equal(full.body.error.type, 'overloaded_error')
})

test('rejects features that other vendors do not support', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(says('Good day'))
  const refused: [object, RegExp][] = [
    [{ mcp_servers: [{ type: 'url', url: 'https://example.com' }] }, /mcp_servers/],
    [{ tools: [{ type: 'web_search_20260209', name: 'web_search' }] }, /web_search_20260209/],
    [
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }],
          },
        ],
      },
      /file_id/,
    ],
    [{ messages: [{ role: 'user', content: [{ type: 'hologram' }] }] }, /hologram/],
  ]
  for (const model of OTHERS) {
    for (const [more, words] of refused) {
      const { status, body } = await post({ ...ASKED, model, ...more })
      assert.equal(status, 400)
      assert.match(body.error.message, words)
    }
  }
  assert.equal(vendor.calls.length, 0)
})

test('falls back from Anthropic to another vendor in Anthropic’s format', async (t) => {
  const { vendor, post } = await setting(t, { LLM_FALLBACKS: 'openai/gpt-6-luna' })
  const calm: Step = (call, reply) =>
    call.path.endsWith('/messages') ? refuses(500)(call, reply) : says('Instead')(call, reply)
  vendor.play(calm)
  const whole = await post({ ...ASKED, model: 'claude-haiku-5-5' })
  assert.equal(whole.body.content[0].text, 'Instead')
  const { content, ended } = eventsOf(
    (await post({ ...ASKED, model: 'claude-haiku-5-5', stream: true })).text,
  )
  assert.equal(content[0].text, 'Instead')
  assert.equal(ended, true)
})

test('does not send another vendor’s reasoning to Anthropic', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(says('Good day'))
  const wrapped = `latchkey.1.${Buffer.from('{"details":[]}').toString('base64url')}`
  const own = { type: 'thinking', thinking: 'Hm', signature: 'U0lH' }
  const content = [
    own,
    { type: 'thinking', thinking: 'Ha', signature: wrapped },
    { type: 'redacted_thinking', data: wrapped },
    { type: 'text', text: 'Yes' },
  ]
  await post({
    ...ASKED,
    model: 'claude-haiku-5-5',
    messages: [...HI, { role: 'assistant', content }, ...HI],
  })
  assert.deepEqual(vendor.calls[0]?.body.messages[1].content, [own, { type: 'text', text: 'Yes' }])

  // A message with only reasoning was cut, and would be an empty message.
  const messages = [...HI, { role: 'assistant', content: content.slice(1, 3) }, ...HI]
  await post({ ...ASKED, model: 'claude-haiku-5-5', messages })
  assert.deepEqual(vendor.calls[1]?.body.messages, [...HI, ...HI])
  await post({ ...ASKED, model: 'gpt-4.1-mini', messages })
  assert.deepEqual(vendor.calls[2]?.body.messages, [...HI, ...HI])
})

test('ignores a forged reasoning envelope', async (t) => {
  const { vendor, post } = await setting(t)
  vendor.play(says('Good day'))
  const made = [
    '{"details":[{"type":"reasoning.encrypted","data":{"toString":1},"format":"openai-responses-v1","index":-1}]}',
    '{"details":[null,1,[],{"index":"x"}],"calls":{"__proto__":{"google":1},"call_1":5}}',
    '[[[[',
    '{"details":5}',
  ].map((words) => `latchkey.1.${Buffer.from(words).toString('base64url')}`)
  for (const model of OTHERS) {
    for (const signature of made) {
      const content = [
        { type: 'thinking', thinking: 'Ha', signature },
        { type: 'tool_use', id: 'call_1', name: 'weather', input: {} },
      ]
      const answer = {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' }],
      }
      const { status } = await post({
        ...ASKED,
        model,
        tools: [WEATHER],
        messages: [...HI, { role: 'assistant', content }, answer],
      })
      assert.equal(status, 200)
    }
  }
})

test('counts tokens with Anthropic for its models and estimates them for others, without recording a call', async (t) => {
  const { vendor, count, ada } = await setting(t)
  vendor.play((_call, reply) => {
    reply.setHeader('content-type', 'application/json')
    reply.end('{"input_tokens":42}')
  })
  const own = await count({ model: 'claude-haiku-5-5', messages: HI, tools: [WEATHER] })
  assert.deepEqual(own.body, { input_tokens: 42 })
  assert.equal(vendor.calls[0]?.path, '/v1/messages/count_tokens')
  const guess = await count({ model: 'gpt-6-luna', messages: HI })
  assert.ok(guess.body.input_tokens > 1 && guess.body.input_tokens < 50)
  assert.equal(vendor.calls.length, 1)
  assert.equal((await ada.get('/api/usage')).body.totals.requests, 0)
})

test('charges web searches at the vendor’s price', async (t) => {
  const { app, vendor, post, headers } = await setting(t)
  const searched = {
    input_tokens: 10,
    output_tokens: 5,
    server_tool_use: { web_search_requests: 2 },
  }
  const message = {
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-5-5',
    stop_reason: 'end_turn',
  }
  const search = (status: string) => ({ type: 'web_search_call', id: 'ws_1', status })
  const costs: number[] = []
  for (const usage of [{ ...searched, server_tool_use: null }, searched]) {
    vendor.play((_call, reply) => {
      reply.setHeader('content-type', 'application/json')
      reply.end(JSON.stringify({ ...message, content: [], usage }))
    })
    costs.push((await post({ ...ASKED, model: 'claude-haiku-5-5' })).body.usage.cost_usd)
  }
  for (const output of [[search('failed')], [search('completed'), search('completed')]]) {
    vendor.play((_call, reply) => {
      reply.setHeader('content-type', 'application/json')
      reply.end(JSON.stringify(buildResponse(output)))
    })
    const asked = { model: 'gpt-6-luna', input: 'News?', tools: [{ type: 'web_search' }] }
    costs.push((await app.post('/v1/responses', asked, { headers })).body.usage.cost_usd)
  }
  const [plain = 0, claude = 0, none = 0, openai = 0] = costs.map((usd) => Math.round(usd * 1e9))
  assert.ok(plain > 0 && none > 0)
  assert.deepEqual([claude - plain, openai - none], [20_000_000, 20_000_000])
})

test('does not accept a native request inside a chat completion', async (t) => {
  const { vendor, chat } = await setting(t)
  vendor.play(says('Good day'))
  const native = {
    api: 'messages',
    body: { system: 'smuggled' },
    headers: { 'x-api-key': 'k' },
    limit: 1,
  }
  const { status } = await chat({ model: 'claude-haiku-5-5', messages: HI, native, request: null })
  assert.equal(status, 200)
  assert.doesNotMatch(JSON.stringify(vendor.calls[0]?.body), /smuggled/)
})

test('lists the models of all vendors in pages of Anthropic’s shape', async (t) => {
  const { app, key } = await setting(t)
  const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  const list = async (query = '') => app.get(`/v1/models${query}`, { headers })
  const idsOf = ({ body }: Awaited<ReturnType<typeof list>>): string[] =>
    body.data.map(({ id }: { id: string }) => id)

  const whole = await list('?limit=1000')
  const all = idsOf(whole)
  assert.equal(whole.status, 200)
  assert.ok(MODELS.every((id) => all.includes(id)))
  assert.ok(!all.includes('text-embedding-3-small'), 'what answers no messages')
  assert.deepEqual(Object.keys(whole.body).sort(), ['data', 'first_id', 'has_more', 'last_id'])
  assert.deepEqual(
    [whole.body.first_id, whole.body.last_id, whole.body.has_more],
    [all[0], all.at(-1), false],
  )
  const haiku = whole.body.data.find(({ id }: { id: string }) => id === 'claude-haiku-5-5')
  assert.ok(
    Date.parse(haiku.created_at) > Date.parse('2025-01-01') && haiku.created_at.endsWith('Z'),
  )
  assert.deepEqual(haiku, {
    type: 'model',
    id: 'claude-haiku-5-5',
    display_name: 'claude-haiku-5-5',
    created_at: haiku.created_at,
    max_input_tokens: 1_000_000,
    max_tokens: 128_000,
  })

  const forwards: string[] = []
  for (let after = ''; ; ) {
    const page = await list(`?limit=4${after}`)
    forwards.push(...idsOf(page))
    if (!page.body.has_more) break
    assert.equal(idsOf(page).length, 4)
    after = `&after_id=${page.body.last_id}`
  }
  assert.deepEqual(forwards, all)
  const backwards: string[] = []
  for (let before = `&before_id=${all.at(-1)}`; ; ) {
    const page = await list(`?limit=4${before}`)
    backwards.unshift(...idsOf(page))
    if (!page.body.has_more) break
    before = `&before_id=${page.body.first_id}`
  }
  assert.deepEqual(backwards, all.slice(0, -1))
  assert.equal(idsOf(await list()).length, Math.min(20, all.length))

  const beyond = await list(`?after_id=${all.at(-1)}`)
  assert.deepEqual(beyond.body, { data: [], has_more: false, first_id: null, last_id: null })
  for (const query of [
    '?limit=0',
    '?limit=1001',
    '?limit=many',
    '?after_id=gpt-none',
    '?before_id=__proto__',
  ]) {
    const { status, body, headers } = await list(query)
    assert.deepEqual(
      [status, body.type, body.error.type],
      [400, 'error', 'invalid_request_error'],
      query,
    )
    assert.equal(headers.get('request-id'), headers.get('x-request-id'))
  }
  const stranger = await app.get('/v1/models', { headers: { 'anthropic-version': '2023-06-01' } })
  assert.deepEqual([stranger.status, stranger.body.error.type], [401, 'authentication_error'])
  assert.deepEqual((await app.get('/v1/models/claude-haiku-5-5', { headers })).body, haiku)
  const prefixed = await app.get('/v1/models/anthropic/claude-haiku-5-5', { headers })
  assert.equal(prefixed.body.id, 'anthropic/claude-haiku-5-5')
  assert.equal((await app.get('/v1/models/gpt-none', { headers })).status, 404)
  // Without the header the list is OpenAI's.
  assert.equal((await app.get('/v1/models', { headers: { 'x-api-key': key } })).body.object, 'list')
})
