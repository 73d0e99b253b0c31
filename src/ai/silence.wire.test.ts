// Models that think before they speak: who waits for them, what their clients hear meanwhile, and what is recorded when they never do.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readConfig } from '#src/config.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { blackHole } from '#testing/black-hole.ts'
import { after, cuts, mockVendor, refuses, says, silent, thinks } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const MODELS = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']

async function setting(t: TestContext, env: Record<string, string> = {}) {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...vendor.env.gemini, EMBEDDER: 'local', ...env },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  return { vendor, app, ada }
}

/** Streams are opened after a moment instead of ten seconds. */
function impatient(app: TestApp) {
  app.service.ai.gateway.silenceMs = 40
}

const lastRecord = async (app: TestApp) =>
  app.platform.db
    .selectFrom('usage_records')
    .select(['vendor', 'outcome', 'tried', 'prompt_tokens', 'cost_nanos', 'is_estimated'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()

test('the time-outs are five seconds to connect, ten minutes to think and two between the words', () => {
  const { ai } = readConfig({})
  assert.deepEqual([ai.connectTimeoutMs, ai.firstByteTimeoutMs, ai.idleTimeoutMs], [5_000, 600_000, 120_000])
})

test('silence before an answer is thinking, whatever came before: only between its words is it a broken line', async (t) => {
  const { vendor, ada } = await setting(t, { AI_FIRST_BYTE_TIMEOUT_MS: '20000', AI_IDLE_TIMEOUT_MS: '400' })
  for (const model of MODELS) {
    const ask = (stream: boolean) => ada.post('/v1/chat/completions', { model, messages: HI, stream })
    for (const step of [thinks(900, 'thought over'), after(900, says('thought over'))]) {
      vendor.play(step)
      const whole = await ask(false)
      assert.equal(whole.status, 200, whole.text)
      assert.equal(whole.body.choices[0].message.content, 'thought over')

      const streamed = await ask(true)
      assert.match(streamed.text, /over"[\s\S]*\[DONE\]\n\n$/, model)
    }
    vendor.play(cuts('Half an', 'stalls'))
    const stalled = await ask(true)
    assert.match(stalled.text, /"code":"vendor_timeout"/, model)
    assert.equal(stalled.text.includes('[DONE]'), false)
  }
})

type Ask = { name: string; ask(ada: Client, signal?: AbortSignal): Promise<Response>; failed: RegExp }

const post = (app: TestApp, ada: Client, path: string, body: object, signal?: AbortSignal) =>
  fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ stream: true, ...body }),
    ...(signal ? { signal } : {}),
  })

const addresses = (app: TestApp): Ask[] => [
  {
    name: 'chat',
    ask: (ada, signal) => post(app, ada, '/api/ai/chat', { messages: HI }, signal),
    failed:
      /^event: error\ndata: \{"detail":"Vendor 'openai' failed to answer; you may retry","code":"vendor_failed"\}\n\n$/m,
  },
  {
    name: '/v1',
    ask: (ada, signal) => post(app, ada, '/v1/chat/completions', { model: 'gpt-6-luna', messages: HI }, signal),
    failed: /^data: \{"error":\{"message":"Vendor 'openai' failed[^\n]*"code":"vendor_failed"/m,
  },
  {
    name: 'retrieval',
    ask: (ada, signal) =>
      post(app, ada, '/api/rag/query', { question: 'Who built it?', min_score: 0, include_sources: true }, signal),
    failed:
      /^event: error\ndata: \{"detail":"Vendor 'openai' failed to answer; you may retry","code":"vendor_failed"\}\n\n$/m,
  },
]

test('a stream whose model is silent is opened and kept awake; what comes then comes as ever', async (t) => {
  const { vendor, app, ada } = await setting(t)
  await ada.post('/api/rag/ingest/text', { content: 'The lighthouse was built by Amélie Duroc.' })
  impatient(app)
  const waiting = Promise.withResolvers<void>()
  vendor.play(async (call, reply) => {
    await waiting.promise
    await says('Duroc did')(call, reply)
  })
  const opened = await Promise.all(
    addresses(app).map(async ({ ask, name }) => {
      const reply = await ask(ada)
      assert.equal(reply.status, 200)
      assert.match(reply.headers.get('content-type') ?? '', /event-stream/)
      const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader()
      assert.equal((await reader.read()).value, ': ping\n\n', name)
      return { name, reader }
    }),
  )

  waiting.resolve()
  for (const { name, reader } of opened) {
    let text = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value
    assert.match(text, /Duroc[\s\S]*did[\s\S]*data: \[DONE\]\n\n$/, name)
    if (name === 'retrieval') assert.match(text, /^event: sources[\s\S]*event: usage/)
  }
})

test('a failure after that is an error event without an end; before it a reply with a status', async (t) => {
  const { vendor, app, ada } = await setting(t)
  await ada.post('/api/rag/ingest/text', { content: 'The lighthouse was built by Amélie Duroc.' })
  for (const { ask, name } of addresses(app)) {
    vendor.play(refuses(500))
    const early = await ask(ada)
    assert.deepEqual([early.status, early.headers.get('content-type')?.split(';')[0]], [502, 'application/json'], name)
  }

  impatient(app)
  for (const { ask, name, failed } of addresses(app)) {
    vendor.play(after(300, refuses(500)))
    const late = await ask(ada)
    const text = await late.text()
    assert.equal(late.status, 200)
    assert.match(text, /^: ping\n\n/)
    assert.match(text, failed, name)
    assert.equal(text.includes('[DONE]'), false)
  }
})

test('another vendor may still answer after that, and a client may leave', async (t) => {
  const first = await mockVendor(t)
  const second = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...first.env.openai, ...second.env.anthropic, LLM_FALLBACKS: 'anthropic', EMBEDDER: 'local' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  impatient(app)
  first.play(after(300, refuses(401)))
  second.play(says('from the second'))
  const reply = await post(app, ada, '/api/ai/chat', { messages: HI })
  assert.match(await reply.text(), /^: ping\n\n[\s\S]*"second"\}\n\ndata: \[DONE\]\n\n$/)
  assert.equal((await lastRecord(app)).tried, 'openai:unauthorized,anthropic:ok')

  first.play(silent)
  const leaving = new AbortController()
  const left = await post(app, ada, '/api/ai/chat', { messages: HI }, leaving.signal)
  await left.body!.getReader().read()
  leaving.abort()
  await first.calls[0]!.gone
  for (let left = 200; (await lastRecord(app)).outcome !== 'cancelled' && left > 0; left--) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { outcome, prompt_tokens, is_estimated } = await lastRecord(app)
  assert.equal(outcome, 'cancelled')
  assert.ok(prompt_tokens > 0 && is_estimated)
})

test('a vendor that took the prompt and never answered bills it: the guess is recorded', async (t) => {
  const { vendor, app, ada } = await setting(t, { AI_FIRST_BYTE_TIMEOUT_MS: '400', AI_IDLE_TIMEOUT_MS: '400' })
  vendor.play(silent)
  for (const stream of [false, true]) {
    assert.equal((await ada.post('/api/ai/chat', { messages: HI, stream })).status, 504)
    const record = await lastRecord(app)
    assert.deepEqual([record.outcome, record.tried, !!record.is_estimated], ['failed', 'openai:timeout', true])
    assert.ok(record.prompt_tokens >= 2 && record.cost_nanos > 0, JSON.stringify(record))
  }

  const nowhere = await testApp(t, {
    env: { OPENAI_BASE_URL: (await blackHole(t)).url, AI_CONNECT_TIMEOUT_MS: '300' },
  })
  const bob = await nowhere.as('bob', { tier: 'pro' })
  assert.equal((await bob.post('/api/ai/chat', { messages: HI })).status, 504)
  const record = await lastRecord(nowhere)
  assert.deepEqual([record.tried, record.prompt_tokens], ['openai:timeout', 0], 'nobody has read it')
})

test('where another answers instead, its tokens are told and both are paid', async (t) => {
  const first = await mockVendor(t)
  const second = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...first.env.openai,
      ...second.env.anthropic,
      LLM_FALLBACKS: 'anthropic/claude-haiku-5-5',
      AI_FIRST_BYTE_TIMEOUT_MS: '400',
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const cost = async (messages: object[]) => {
    await ada.post('/api/ai/chat', { messages })
    return lastRecord(app)
  }
  const messages = [{ role: 'user', content: 'word '.repeat(30_000) }]
  first.play(refuses(401))
  const alone = await cost(messages)
  first.play(silent)
  const both = await cost(messages)

  assert.equal(both.prompt_tokens, alone.prompt_tokens)
  assert.ok(both.cost_nanos > alone.cost_nanos + 20_000_000, `${both.cost_nanos} over ${alone.cost_nanos}`)
  assert.deepEqual([!!alone.is_estimated, !!both.is_estimated], [false, true])
})
