// A vendor that hangs: the time until the next request, and the caller's error when none answers in
// time.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor, refuses, type Step, says, silent } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]

async function setting(t: TestContext, env: Record<string, string>, models?: object) {
  const slow = await mockVendor(t)
  const quick = await mockVendor(t)
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-patience-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const MODELS = join(folder, 'models.json')
  if (models !== undefined) writeFileSync(MODELS, JSON.stringify(models))
  const vendors = {
    ...slow.env.openai,
    ...quick.env.anthropic,
    LLM_FALLBACKS: 'anthropic/claude-haiku-5-5',
  }
  const app = await testApp(t, {
    env: { ...vendors, ...(models && { MODELS }), EMBEDDER: 'local', ...env },
  })
  const ada = await app.as('ada', { tier: 'enterprise' })
  const { key } = (await ada.post('/api/api-keys', { name: 'key' })).body
  const ask = async (more: object = {}, headers: Record<string, string> = {}) => {
    const startedMs = performance.now()
    const body = { model: 'gpt-6-luna', messages: HI, ...more }
    const reply = await app.post('/v1/chat/completions', body, {
      headers: { authorization: `Bearer ${key}`, ...headers },
    })
    return { ...reply, ms: performance.now() - startedMs }
  }
  slow.play(silent)
  quick.play(says('from the second'))
  return { slow, quick, ask, ada, app, key }
}

/** A head and pings, but never an answer. */
const pings: Step = (_call, reply) => {
  reply.writeHead(200, { 'content-type': 'text/event-stream' })
  const timer = setInterval(() => reply.write(': ping\n\n'), 20)
  reply.on('close', () => clearInterval(timer))
}

test('fails over when a stream’s head is late, but not while a model reasons after it', async (t) => {
  const { ask, slow } = await setting(t, { AI_HEADERS_TIMEOUT_MS: '150' })
  const { status, text, ms } = await ask({ stream: true })
  assert.equal(status, 200)
  assert.match(text, /second/)
  assert.ok(ms < 3_000, `${ms}`)
  slow.play(async (_call, reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.flushHeaders()
    await new Promise((resolve) => setTimeout(resolve, 500))
    reply.end(
      'data: {"choices":[{"index":0,"delta":{"content":"thought"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    )
  })
  assert.match(
    (await ask({ stream: true, messages: [{ role: 'user', content: 'again' }] })).text,
    /thought/,
  )
})

test('leaves half of the time to a fallback, and uses all of it without one', async (t) => {
  const { ask, quick, slow } = await setting(t, { AI_DEADLINE_MS: '1000' })
  const stoodIn = await ask()
  assert.equal(stoodIn.status, 200, stoodIn.text)
  assert.ok(stoodIn.ms > 400 && stoodIn.ms < 950, `${stoodIn.ms}`)
  quick.play(silent)
  const none = await ask()
  assert.equal(none.status, 504)
  assert.ok(none.ms > 900 && none.ms < 2_500, `${none.ms}`)
  assert.match(
    none.body.error.message,
    /did not answer in time; you may retry\. Tried: openai:timeout,anthropic:timeout/,
  )
  assert.equal(none.body.error.code, 'vendor_timeout')
  assert.equal(slow.calls.length + quick.calls.length, 3)
})

test('applies the deadline to a stream that sends only pings', async (t) => {
  const { ask, slow, quick } = await setting(t, {
    AI_DEADLINE_MS: '500',
    AI_IDLE_TIMEOUT_MS: '60000',
  })
  slow.play(pings)
  quick.play(pings)
  const { status, ms } = await ask({ stream: true })
  assert.equal(status, 504)
  assert.ok(ms < 2_000, `${ms}`)
})

test('shortens the operator’s deadline to the caller’s, and never extends it', async (t) => {
  const { ask, quick, app, key } = await setting(t, { AI_DEADLINE_MS: '1500' })
  quick.play(silent)
  for (const [given, most] of [
    ['300', 1_200],
    ['999999999', 2_800],
  ] as const) {
    for (const stream of [false, true]) {
      const { status, ms } = await ask({ stream }, { 'x-latchkey-timeout': given })
      assert.equal(status, 504, given)
      assert.ok(ms >= Math.min(Number(given), 1_500) - 20 && ms < most, `${given}: ${ms}`)
    }
  }
  const headers = {
    authorization: `Bearer ${key}`,
    'x-latchkey-timeout': '200',
    'anthropic-version': '2023-06-01',
  }
  const doors: [string, object][] = [
    ['/v1/messages', { model: 'gpt-6-luna', max_tokens: 10, messages: HI }],
    ['/v1/responses', { model: 'gpt-6-luna', input: 'Hi' }],
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }],
    ['/api/ai/chat', { messages: HI }],
  ]
  for (const [path, body] of doors)
    assert.equal((await app.post(path, body, { headers })).status, 504, path)
  for (const wrong of ['0', '-5', '1.5', '1e3', 'soon', '', '99999999999']) {
    assert.ok([400, 422].includes((await ask({}, { 'x-latchkey-timeout': wrong })).status), wrong)
  }
})

test('applies the limits of a vendor and of a model', async (t) => {
  const models = {
    vendors: [
      { name: 'openai', timeout_ms: 5_000, models: [{ id: 'gpt-6-luna', timeout_ms: 150 }] },
    ],
  }
  const { ask } = await setting(t, { AI_HEADERS_TIMEOUT_MS: '20' }, models)
  for (const stream of [false, true]) {
    const { status, ms } = await ask({ stream })
    assert.equal(status, 200)
    assert.ok(ms > 140 && ms < 2_500, `${ms}`)
  }
})

test('limits the requests of a call to vendors for every kind of failure', async (t) => {
  const { ask, slow, quick } = await setting(t, { AI_ATTEMPTS_MAX: '4' })
  slow.play(refuses(500))
  quick.play(refuses(500))
  const { status, headers } = await ask()
  assert.equal(status, 502)
  assert.deepEqual(
    [slow.calls.length, quick.calls.length, headers.get('x-latchkey-attempts')],
    [3, 1, '4'],
  )
})
