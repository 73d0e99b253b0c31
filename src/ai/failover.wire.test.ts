// Every way in which a vendor fails, and the caller's result: each scenario whole, and streamed
// where that differs.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { freePorts, type Reply, testApp } from '#testing/app.ts'
import {
  babbles,
  breakStream,
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

test('1: waits for a short Retry-After before it retries', async (t) => {
  const { first, chat } = await setting(t, { fallback: false })
  first.play(refuses(429, { 'retry-after': '1' }), says('later'))
  const started = performance.now()

  const reply = await chat()

  answeredBy(reply, 'openai', 2)
  assert.ok(performance.now() - started >= 1_000)
})

test('2: uses the other vendor at once after a long Retry-After', async (t) => {
  const { first, chat } = await setting(t)
  first.play(refuses(429, { 'retry-after': '30' }))

  const reply = await chat()

  answeredBy(reply, 'anthropic', 2)
  assert.equal(reply.body.content, 'from the second')
  assert.equal(reply.body.model, 'claude-haiku-5-5')
})

test('3: returns a long Retry-After to the caller without another vendor', async (t) => {
  const { first, chat } = await setting(t, { fallback: false })
  first.play(refuses(429, { 'retry-after': '30' }))

  const reply = await chat()

  assert.equal(reply.status, 503)
  assert.equal(reply.headers.get('retry-after'), '30')
  assert.match(reply.body.detail, /'openai'.*retry/)
  assert.equal(first.calls.length, 1)
})

test('4: retries a rate limit without Retry-After after a delay', async (t) => {
  const { first, chat } = await setting(t, { fallback: false })
  first.play(refuses(429), refuses(429), says('third time'))

  answeredBy(await chat(), 'openai', 3)
})

test('5: retries a temporary server error', async (t) => {
  const { first, chat, stream } = await setting(t)
  first.play(refuses(500), says('again'))
  answeredBy(await chat(), 'openai', 2)

  first.play(refuses(502), says('again'))
  answeredBy(await stream(), 'openai', 2)
})

test('6: uses the other vendor after a permanent server error', async (t) => {
  const { first, chat, stream } = await setting(t)
  first.play(refuses(503))

  answeredBy(await chat(), 'anthropic', 4)
  const streamed = await stream()
  answeredBy(streamed, 'anthropic', 4)
  assert.match(streamed.text, /"second"\}\n\ndata: \[DONE\]\n\n$/)
})

test('7: treats an overloaded vendor (529) as rate-limited', async (t) => {
  const { first, chat } = await setting(t, { fallback: false })
  first.play(refuses(529))

  const reply = await chat()

  assert.equal(reply.status, 503)
  assert.ok(Number(reply.headers.get('retry-after')) >= 1)
})

test('8: uses the other vendor when one is unreachable', async (t) => {
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

test('9: times out a vendor that accepts the connection and never answers', async (t) => {
  const { first, second, chat } = await setting(t)
  first.play(silent)
  answeredBy(await chat(), 'anthropic', 2)

  second.play(silent)
  const reply = await chat()
  assert.equal(reply.status, 504)
  assert.match(reply.body.detail, /'anthropic' did not answer in time/)
})

test('10: times out a vendor that sends 200 and no first byte', async (t) => {
  const { first, stream } = await setting(t)
  first.play(silentAfterHead)

  const reply = await stream()

  answeredBy(reply, 'anthropic', 2)
  assert.match(reply.text, /\[DONE\]/)
})

test('11: retries a connection reset before the answer', async (t) => {
  const { first, chat, stream } = await setting(t)
  first.play(resets, says('again'))
  answeredBy(await chat(), 'openai', 2)

  first.play(resets, says('again'))
  answeredBy(await stream(), 'openai', 2)
})

test('12: reports a connection that breaks mid-stream, and does not retry', async (t) => {
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

test('13: reports a stream that closes without its end mark', async (t) => {
  const { first, stream } = await setting(t)
  first.play(cuts('Half an', 'ends'))

  const { text } = await stream()

  assert.match(text, /event: error/)
  assert.equal(text.includes('[DONE]'), false)
})

test('14: reports a stream that stalls for longer than the idle timeout', async (t) => {
  const { first, stream } = await setting(t)
  first.play(cuts('Half an', 'stalls'))

  const { text } = await stream()

  assert.match(text, /event: error\ndata: \{"detail":"Vendor 'openai' did not answer in time/)
})

test('15: retries a body that is empty, HTML or of a wrong shape, and then gives up', async (t) => {
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

test('16: reports an unreadable stream before its first chunk, and a cut after it', async (t) => {
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

test('17: reports a failure inside a stream, first or later', async (t) => {
  const { first, stream } = await setting(t)
  first.play(breakStream(''))
  answeredBy(await stream(), 'anthropic', 4)

  first.play(breakStream('Half an'))
  const { text } = await stream()
  assert.match(text, /event: error\ndata: \{"detail":"Vendor 'openai' is overloaded/)
})

test('18: does not retry a rejected key, and hides it from the caller', async (t) => {
  const { first, second, chat } = await setting(t)
  first.play(refuses(401))
  answeredBy(await chat(), 'anthropic', 2)

  second.play(refuses(403))
  const reply = await chat()
  assert.equal(reply.status, 502)
  assert.match(reply.body.detail, /a retry will not help/)
})

test('19: reports a rejected request to the caller without another vendor', async (t) => {
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

test('20: reports the last failure when all fail, and records every attempt', async (t) => {
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

test('opens a vendor’s breaker after five failed calls in a row, and probes it after ten seconds', async (t) => {
  const { app, first, chat } = await setting(t)
  first.play(refuses(500))
  for (let call = 0; call < 5; call++) answeredBy(await chat(), 'anthropic', 4)

  first.play(says('well again'))
  answeredBy(await chat(), 'anthropic', 1)
  assert.equal(first.calls.length, 0)

  app.clock.advance(10_000)
  answeredBy(await chat(), 'openai', 1)
})

test('makes one attempt at a vendor with an open breaker when there is no other', async (t) => {
  const { first, chat } = await setting(t, { fallback: false })
  first.play(refuses(500))
  for (let call = 0; call < 5; call++) assert.equal((await chat()).status, 502)

  first.play(refuses(500), says('well again'))
  assert.equal((await chat()).status, 502)
  assert.equal(first.calls.length, 1)
  answeredBy(await chat(), 'openai', 1)
})

test('falls back to another model of the same vendor', async (t) => {
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

test('opens only the breaker of a rate-limited model: other models keep their requests and retries', async (t) => {
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

test('opens a model’s breaker after five rate limits without a Retry-After, and allows one probe', async (t) => {
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

test('opens a vendor’s breaker for all models after a failure that affects all', async (t) => {
  const { app, first, chat } = await setting(t)
  const ada = await app.as('ada', { tier: 'pro' })
  first.play(refuses(500))
  for (let call = 0; call < 5; call++) answeredBy(await chat(), 'anthropic', 4)
  first.play(says('never asked'))
  answeredBy(await ada.post('/api/ai/chat', { messages: HI, model: 'gpt-6-luna' }), 'anthropic', 1)
  assert.equal(first.calls.length, 0)
})

test('replaces any number of stale connections at once', async (t) => {
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

test('falls back to another model of the same vendor while one is rate-limited', async (t) => {
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
