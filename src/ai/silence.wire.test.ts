// Models that reason before they answer: how long they may be silent, and what their clients
// receive meanwhile.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { after, cuts, mockVendor, refuses, says, thinks } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const MODELS = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']

async function setting(t: TestContext, env: Record<string, string> = {}) {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...vendor.env.openai,
      ...vendor.env.anthropic,
      ...vendor.env.gemini,
      EMBEDDER: 'local',
      ...env,
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  return { vendor, app, ada }
}

/** Streams open after a moment instead of ten seconds. */
function impatient(app: TestApp) {
  app.service.ai.gateway.silenceMs = 40
}

test('the limits are 5 s to connect, 30 s to a stream’s head, 10 minutes to reason and 2 minutes between chunks', () => {
  const { ai } = readConfig({})
  assert.deepEqual(
    [ai.connectTimeoutMs, ai.headersTimeoutMs, ai.deadlineMs, ai.idleTimeoutMs, ai.attemptsMax],
    [5_000, 30_000, 600_000, 120_000, 10],
  )
})

test('allows silence before an answer as reasoning, and treats silence within it as a broken connection', async (t) => {
  const thinking = async (model: string) => {
    const { vendor, ada } = await setting(t, { AI_DEADLINE_MS: '20000', AI_IDLE_TIMEOUT_MS: '400' })
    const ask = (stream: boolean) =>
      ada.post('/v1/chat/completions', { model, messages: HI, stream })
    for (const step of [thinks(900, 'thought over'), after(900, says('thought over'))]) {
      vendor.play(step)
      const [whole, streamed] = await Promise.all([ask(false), ask(true)])
      assert.equal(whole.status, 200, whole.text)
      assert.equal(whole.body.choices[0].message.content, 'thought over')
      assert.match(streamed.text, /over"[\s\S]*\[DONE\]\n\n$/, model)
    }
    vendor.play(cuts('Half an', 'stalls'))
    const stalled = await ask(true)
    assert.match(stalled.text, /"code":"vendor_timeout"/, model)
    assert.equal(stalled.text.includes('[DONE]'), false)
  }
  await Promise.all(MODELS.map(thinking))
})

type Ask = {
  name: string
  ask(ada: Client, signal?: AbortSignal): Promise<Response>
  failed: RegExp
}

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
    ask: (ada, signal) =>
      post(app, ada, '/v1/chat/completions', { model: 'gpt-6-luna', messages: HI }, signal),
    failed: /^data: \{"error":\{"message":"Vendor 'openai' failed[^\n]*"code":"vendor_failed"/m,
  },
  {
    name: 'retrieval',
    ask: (ada, signal) =>
      post(
        app,
        ada,
        '/api/rag/query',
        { question: 'Who built it?', min_score: 0, include_sources: true },
        signal,
      ),
    failed:
      /^event: error\ndata: \{"detail":"Vendor 'openai' failed to answer; you may retry","code":"vendor_failed"\}\n\n$/m,
  },
]

test('opens a silent model’s stream, sends pings, and then streams as usual', async (t) => {
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

test('reports a failure in an open stream as an error event, and an earlier one as a reply with a status', async (t) => {
  const { vendor, app, ada } = await setting(t)
  await ada.post('/api/rag/ingest/text', { content: 'The lighthouse was built by Amélie Duroc.' })
  vendor.play(refuses(500))
  const askEarly = async ({ ask, name }: Ask) => {
    const early = await ask(ada)
    assert.deepEqual(
      [early.status, early.headers.get('content-type')?.split(';')[0]],
      [502, 'application/json'],
      name,
    )
  }
  await Promise.all(addresses(app).map(askEarly))

  impatient(app)
  vendor.play(after(300, refuses(500)))
  const askLate = async ({ ask, name, failed }: Ask) => {
    const late = await ask(ada)
    const text = await late.text()
    assert.equal(late.status, 200)
    assert.match(text, /^: ping\n\n/)
    assert.match(text, failed, name)
    assert.equal(text.includes('[DONE]'), false)
  }
  await Promise.all(addresses(app).map(askLate))
})
