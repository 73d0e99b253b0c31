// Every way in which a vendor fails, and the caller's result: each scenario whole, and streamed
// where that differs.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { freePorts, type Reply, testApp } from '#testing/app.ts'
import {
  babbles,
  breaksOff,
  cuts,
  event,
  mockVendor,
  refuses,
  resets,
  says,
  silent,
  silentAfterHead,
  streams,
} from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const QUICK = {
  AI_CONNECT_TIMEOUT_MS: '500',
  AI_DEADLINE_MS: '4000',
  AI_HEADERS_TIMEOUT_MS: '800',
  AI_IDLE_TIMEOUT_MS: '500',
}

/** OpenAI first and, with `fallback`, Anthropic after it: two servers that fail independently. */
async function setting(t: TestContext, { fallback = true }: { fallback?: boolean } = {}) {
  const first = await mockVendor(t)
  const second = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...QUICK,
      ...first.env.openai,
      ...second.env.anthropic,
      ...(fallback ? { LLM_FALLBACKS: 'anthropic/claude-haiku-5-5' } : {}),
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  second.play(says('from the second'))
  return {
    app,
    first,
    second,
    chat: () => ada.post('/api/ai/chat', { messages: HI }),
    stream: () => ada.post('/api/ai/chat', { messages: HI, stream: true }),
    usage: async () => (await ada.get('/api/usage?group_by=model')).body,
  }
}

function answeredBy(reply: Reply, vendor: string, attempts: number) {
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.headers.get('x-latchkey-vendor'), vendor)
  assert.equal(reply.headers.get('x-latchkey-attempts'), String(attempts))
}

test('1: a rate limit with a short Retry-After is waited out, not less', async (t) => {
  const { first, chat } = await setting(t, { fallback: false })
  first.play(refuses(429, { 'retry-after': '1' }), says('later'))
  const started = performance.now()

  const reply = await chat()

  answeredBy(reply, 'openai', 2)
  assert.ok(performance.now() - started >= 1_000)
})

test('2: a rate limit with a long Retry-After goes to the other vendor at once', async (t) => {
  const { first, chat } = await setting(t)
  first.play(refuses(429, { 'retry-after': '30' }))

  const reply = await chat()

  answeredBy(reply, 'anthropic', 2)
  assert.equal(reply.body.content, 'from the second')
  assert.equal(reply.body.model, 'claude-haiku-5-5')
})

test('3: without another vendor a long Retry-After reaches the caller', async (t) => {
  const { first, chat } = await setting(t, { fallback: false })
  first.play(refuses(429, { 'retry-after': '30' }))

  const reply = await chat()

  assert.equal(reply.status, 503)
  assert.equal(reply.headers.get('retry-after'), '30')
  assert.match(reply.body.detail, /'openai'.*retry/)
  assert.equal(first.calls.length, 1)
})

test('4: a rate limit without Retry-After is retried with a pause', async (t) => {
  const { first, chat } = await setting(t, { fallback: false })
  first.play(refuses(429), refuses(429), says('third time'))

  answeredBy(await chat(), 'openai', 3)
})

test('5: a server error that passes is retried', async (t) => {
  const { first, chat, stream } = await setting(t)
  first.play(refuses(500), says('again'))
  answeredBy(await chat(), 'openai', 2)

  first.play(refuses(502), says('again'))
  answeredBy(await stream(), 'openai', 2)
})

test('6: a server error that stays goes to the other vendor', async (t) => {
  const { first, chat, stream } = await setting(t)
  first.play(refuses(503))

  answeredBy(await chat(), 'anthropic', 4)
  const streamed = await stream()
  answeredBy(streamed, 'anthropic', 4)
  assert.match(streamed.text, /"second"\}\n\ndata: \[DONE\]\n\n$/)
})

test('7: an overloaded vendor (529) is a limited one', async (t) => {
  const { first, chat } = await setting(t, { fallback: false })
  first.play(refuses(529))

  const reply = await chat()

  assert.equal(reply.status, 503)
  assert.ok(Number(reply.headers.get('retry-after')) >= 1)
})

test('8: a vendor that cannot be reached gives way to the other', async (t) => {
  const second = await mockVendor(t)
  const [port] = await freePorts(1)
  const app = await testApp(t, {
    env: {
      ...QUICK,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      ...second.env.anthropic,
      LLM_FALLBACKS: 'anthropic',
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })

  answeredBy(await ada.post('/api/ai/chat', { messages: HI }), 'anthropic', 4)
})

test('9: a vendor that takes the connection and never answers is a timeout', async (t) => {
  const { first, second, chat } = await setting(t)
  first.play(silent)
  answeredBy(await chat(), 'anthropic', 2)

  second.play(silent)
  const reply = await chat()
  assert.equal(reply.status, 504)
  assert.match(reply.body.detail, /'anthropic' did not answer in time/)
})

test('10: a vendor that says 200 and falls silent is a timeout before the first byte', async (t) => {
  const { first, stream } = await setting(t)
  first.play(silentAfterHead)

  const reply = await stream()

  answeredBy(reply, 'anthropic', 2)
  assert.match(reply.text, /\[DONE\]/)
})

test('11: a connection reset before the answer is retried', async (t) => {
  const { first, chat, stream } = await setting(t)
  first.play(resets, says('again'))
  answeredBy(await chat(), 'openai', 2)

  first.play(resets, says('again'))
  answeredBy(await stream(), 'openai', 2)
})

test('12: a connection that breaks mid-stream is an error, and nothing is tried anew', async (t) => {
  const { first, second, stream } = await setting(t)
  first.play(cuts('Half an', 'resets'))

  const { text } = await stream()

  assert.match(
    text,
    /event: error\ndata: \{"detail":"Vendor 'openai' failed to answer; you may retry","code":"vendor_failed"\}\n\n$/,
  )
  assert.equal(text.includes('[DONE]'), false)
  assert.equal(first.calls.length + second.calls.length, 1)
})

test('13: a stream that ends politely without its end mark is an error', async (t) => {
  const { first, stream } = await setting(t)
  first.play(cuts('Half an', 'ends'))

  const { text } = await stream()

  assert.match(text, /event: error/)
  assert.equal(text.includes('[DONE]'), false)
})

test('14: a stream that stalls is an error after the idle time', async (t) => {
  const { first, stream } = await setting(t)
  first.play(cuts('Half an', 'stalls'))

  const { text } = await stream()

  assert.match(text, /event: error\ndata: \{"detail":"Vendor 'openai' did not answer in time/)
})

test('15: a body that is no JSON, empty, HTML or of another shape is retried and then given up', async (t) => {
  const { first, chat } = await setting(t)
  for (const body of [
    '{"choices": [',
    '',
    '<html>Welcome</html>',
    '{}',
    'null',
    '{"choices":[]}',
  ]) {
    first.play(babbles(body), says('sense'))
    answeredBy(await chat(), 'openai', 2)
  }
  first.play(babbles('<html>Sign in</html>', 'text/html'))
  answeredBy(await chat(), 'anthropic', 4)
})

test('16: a stream of nonsense is an error before its first piece, and a cut after it', async (t) => {
  const { first, stream } = await setting(t)
  const hello = event({ choices: [{ index: 0, delta: { content: 'Hello' } }] })

  first.play(streams('data: {"choices": [\n\n'))
  answeredBy(await stream(), 'anthropic', 4)

  first.play(streams(hello, 'data: {oops\n\n', event('[DONE]')))
  const { text } = await stream()
  assert.match(text, /"Hello"/)
  assert.match(text, /event: error/)
  assert.equal(text.includes('[DONE]'), false)
})

test('17: a failure reported inside a stream is one, first or later', async (t) => {
  const { first, stream } = await setting(t)
  first.play(breaksOff(''))
  answeredBy(await stream(), 'anthropic', 4)

  first.play(breaksOff('Half an'))
  const { text } = await stream()
  assert.match(text, /event: error\ndata: \{"detail":"Vendor 'openai' is overloaded/)
})

test('18: a key that the vendor refuses is not tried again, and the caller does not read about it', async (t) => {
  const { first, second, chat } = await setting(t)
  first.play(refuses(401))
  answeredBy(await chat(), 'anthropic', 2)

  second.play(refuses(403))
  const reply = await chat()
  assert.equal(reply.status, 502)
  assert.match(reply.body.detail, /a retry will not help/)
})

test('19: a request that the vendor refuses is the caller’s, and no other vendor is asked', async (t) => {
  const { first, second, chat } = await setting(t)
  first.play(
    refuses(400, {}, { error: { message: 'Too many tokens', type: 'invalid_request_error' } }),
  )

  const reply = await chat()

  assert.equal(reply.status, 400)
  assert.match(reply.body.detail, /'openai'.*Too many tokens/)
  assert.equal(first.calls.length, 1)
  assert.equal(second.calls.length, 0)
})

test('records why a vendor refused a request, without secrets and the ids of the operator', async (t) => {
  const { app, first, chat } = await setting(t, { fallback: false })
  const ada = await app.as('ada')
  const words = 'Too long for org-a1B2c3D4e5 with sk-a1b2c3d4e5 in project_number:123456789'
  first.play(refuses(400, {}, { error: { message: `${words} ${'x'.repeat(600)}` } }))
  await chat()
  first.play(refuses(401, {}, { error: { message: 'The account of Acme is closed' } }))
  await chat()
  first.play(says('well'))
  await chat()

  const { calls } = (await ada.get('/api/usage/calls')).body
  const details = calls.map((call: { error_detail: string | null }) => call.error_detail)
  const [answered, unauthorized, refused] = details
  assert.equal(answered, null)
  assert.equal(unauthorized, null)
  assert.equal(refused.length, 500)
  assert.match(
    refused,
    /^answered 400: Too long for \[id\] with \[secret\] in project_number:\[id\] x+$/,
  )
})

test('20: when all fail, the last failure is told, and everything tried stands in the ledger', async (t) => {
  const { app, first, second, chat, usage } = await setting(t)
  first.play(refuses(500))
  second.play(refuses(500))

  const reply = await chat()

  assert.equal(reply.status, 502)
  assert.equal(reply.headers.get('x-latchkey-attempts'), '6')
  assert.equal(reply.headers.get('x-latchkey-vendor'), 'anthropic')
  const { totals } = await usage()
  assert.equal(totals.requests, 1)
  assert.equal(totals.total_tokens, 0)
  const rows = await app.platform.db
    .selectFrom('usage_records')
    .select(['tried', 'outcome'])
    .execute()
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      {
        tried:
          'openai:broken,openai:broken,openai:broken,anthropic:broken,anthropic:broken,anthropic:broken',
        outcome: 'failed',
      },
    ],
  )
})

test('five failed calls in a row open a vendor’s breaker, and it is asked again after ten seconds', async (t) => {
  const { app, first, chat } = await setting(t)
  first.play(refuses(500))
  for (let call = 0; call < 5; call++) answeredBy(await chat(), 'anthropic', 4)

  first.play(says('well again'))
  answeredBy(await chat(), 'anthropic', 1)
  assert.equal(first.calls.length, 0)

  app.clock.advance(10_000)
  answeredBy(await chat(), 'openai', 1)
})

test('a vendor whose breaker is open is still asked where there is no other, once', async (t) => {
  const { first, chat } = await setting(t, { fallback: false })
  first.play(refuses(500))
  for (let call = 0; call < 5; call++) assert.equal((await chat()).status, 502)

  first.play(refuses(500), says('well again'))
  assert.equal((await chat()).status, 502)
  assert.equal(first.calls.length, 1)
  answeredBy(await chat(), 'openai', 1)
})

test('a fallback may be another model of the same vendor', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, LLM_FALLBACKS: 'openai/gpt-4.1-mini' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(
    refuses(404, {}, { error: { message: 'No such model', code: 'model_not_found' } }),
    says('from the other'),
  )

  const reply = await ada.post('/api/ai/chat', { messages: HI, model: 'gpt-9' })

  answeredBy(reply, 'openai', 2)
  assert.deepEqual(
    vendor.calls.map(({ body }) => body.model),
    ['gpt-9', 'gpt-4.1-mini'],
  )
})

test('one model’s rate limit opens the breaker of that model alone: its siblings are asked as ever, and repeated as ever', async (t) => {
  const { app, first, second, chat } = await setting(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const luna = () => ada.post('/api/ai/chat', { messages: HI, model: 'gpt-6-luna' })
  const stateOf = () => app.service.ai.gateway.breakers.openai!.state
  first.play(refuses(429, { 'retry-after': '30' }))
  answeredBy(await chat(), 'anthropic', 2)
  answeredBy(await chat(), 'anthropic', 1)
  assert.equal(first.calls.length, 1, 'the limited model is left alone')

  first.play(says('luna is well'))
  answeredBy(await luna(), 'openai', 1)
  first.play(refuses(500), says('luna is well again'))
  answeredBy(await luna(), 'openai', 2)
  answeredBy(await chat(), 'anthropic', 1)
  assert.equal(stateOf(), 'closed')

  app.clock.advance(30_000)
  first.play(says('terra is back'))
  answeredBy(await chat(), 'openai', 1)
  assert.equal(second.calls.length, 3)
})

test('five limits in a row open a model’s breaker without a Retry-After, and one call tries it again', async (t) => {
  const { app, first, chat } = await setting(t)
  const ada = await app.as('ada', { tier: 'pro' })
  first.play(refuses(429))
  for (let call = 0; call < 5; call++) answeredBy(await chat(), 'anthropic', 4)
  first.play(says('well again'))
  answeredBy(await chat(), 'anthropic', 1)
  answeredBy(await ada.post('/api/ai/chat', { messages: HI, model: 'gpt-6-luna' }), 'openai', 1)

  app.clock.advance(10_000)
  answeredBy(await chat(), 'openai', 1)
  assert.deepEqual(app.service.ai.gateway.modelBreakers.open, [])
})

test('what breaks all of a vendor’s models opens its breaker for all of them', async (t) => {
  const { app, first, chat } = await setting(t)
  const ada = await app.as('ada', { tier: 'pro' })
  first.play(refuses(500))
  for (let call = 0; call < 5; call++) answeredBy(await chat(), 'anthropic', 4)
  first.play(says('never asked'))
  answeredBy(await ada.post('/api/ai/chat', { messages: HI, model: 'gpt-6-luna' }), 'anthropic', 1)
  assert.equal(first.calls.length, 0)
})

test('a connection that broke while it was kept open is replaced at once, however many there are', async (t) => {
  const { app, first, stream, chat } = await setting(t, { fallback: false })
  const used = new WeakSet<object>()
  let kills = 0
  /** Serves every connection once, and breaks it on reuse. */
  first.play(async (call, reply) => {
    const { socket } = reply
    if (socket !== null && used.has(socket)) {
      kills++
      socket.resetAndDestroy()
      return
    }
    if (socket !== null) used.add(socket)
    await says('hello', { gapMs: 40 })(call, reply)
  })
  // Four connections, all about to break.
  for (const reply of await Promise.all([chat(), chat(), chat(), stream()]))
    assert.equal(reply.status, 200)
  const pauses = t.mock.method(Math, 'random')

  for (const ask of [chat, stream]) {
    const reply = await ask()
    assert.equal(reply.status, 200, reply.text)
  }
  assert.ok(kills >= 2, `${kills}`)
  assert.equal(pauses.mock.callCount(), 0, 'every pause before an attempt draws lots')
  const rows = await app.platform.db
    .selectFrom('usage_records')
    .select(['attempts', 'tried'])
    .execute()
  assert.ok(
    rows.some(({ attempts, tried }) => attempts > 1 && tried.startsWith('openai:unreachable')),
  )
})

test('where a limited model is left alone, a fallback of the same vendor is asked', async (t) => {
  const vendor = await mockVendor(t)
  const env = {
    ...vendor.env.openai,
    LLM_FALLBACKS: 'openai/gpt-4.1-mini',
    METRICS_TOKEN: 'for-metrics',
  }
  const app = await testApp(t, { env })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(refuses(429, { 'retry-after': '30' }), says('from the other'))

  answeredBy(await ada.post('/api/ai/chat', { messages: HI }), 'openai', 2)
  answeredBy(await ada.post('/api/ai/chat', { messages: HI }), 'openai', 1)

  assert.deepEqual(
    vendor.calls.map(({ body }) => body.model),
    ['gpt-6.1-terra', 'gpt-4.1-mini', 'gpt-4.1-mini'],
  )
  const { text } = await app.get('/metrics', { headers: { authorization: 'Bearer for-metrics' } })
  assert.match(text, /^latchkey_ai_retries_total\{vendor="openai"\} 1$/m)
  assert.match(text, /^latchkey_ai_resting_models\{vendor="openai"\} 1$/m)
  assert.match(text, /^latchkey_ai_breaker_state\{vendor="openai"\} 0$/m)
})
