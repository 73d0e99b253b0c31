// The ledger after a vendor's silence, with and without a later answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { blackHole } from '#testing/black-hole.ts'
import { after, mockVendor, refuses, says, silent } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]

const lastRecord = async (app: TestApp) =>
  app.platform.db
    .selectFrom('usage_records')
    .select(['vendor', 'outcome', 'tried', 'prompt_tokens', 'cost_nanos', 'is_estimated'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()

const stream = (app: TestApp, ada: Client, signal?: AbortSignal) =>
  fetch(`${app.url}/api/ai/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: HI, stream: true }),
    ...(signal ? { signal } : {}),
  })

test('falls back after a silence, and records a client that leaves during it', async (t) => {
  const first = await mockVendor(t)
  const second = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...first.env.openai,
      ...second.env.anthropic,
      LLM_FALLBACKS: 'anthropic',
      EMBEDDER: 'local',
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  // Streams open after a moment instead of ten seconds.
  app.service.ai.gateway.silenceMs = 40
  first.play(after(300, refuses(401)))
  second.play(says('from the second'))
  const reply = await stream(app, ada)
  assert.match(await reply.text(), /^: ping\n\n[\s\S]*"second"\}\n\ndata: \[DONE\]\n\n$/)
  assert.equal((await lastRecord(app)).tried, 'openai:unauthorized,anthropic:ok')

  first.play(silent)
  const leaving = new AbortController()
  const left = await stream(app, ada, leaving.signal)
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

test('charges the estimated prompt of a vendor that accepted it and never answered', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, AI_DEADLINE_MS: '400', AI_IDLE_TIMEOUT_MS: '400' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(silent)
  for (const stream of [false, true]) {
    assert.equal((await ada.post('/api/ai/chat', { messages: HI, stream })).status, 504)
    const record = await lastRecord(app)
    assert.deepEqual(
      [record.outcome, record.tried, !!record.is_estimated],
      ['failed', 'openai:timeout', true],
    )
    assert.ok(record.prompt_tokens >= 2 && record.cost_nanos > 0, JSON.stringify(record))
  }

  const nowhere = await testApp(t, {
    env: { OPENAI_BASE_URL: (await blackHole(t)).url, AI_CONNECT_TIMEOUT_MS: '300' },
  })
  const bob = await nowhere.as('bob', { tier: 'pro' })
  assert.equal((await bob.post('/api/ai/chat', { messages: HI })).status, 504)
  const record = await lastRecord(nowhere)
  assert.deepEqual(
    [record.tried, record.prompt_tokens],
    ['openai:timeout', 0],
    'no vendor has read the prompt',
  )
})

test('reports the tokens of the fallback, and charges both vendors', async (t) => {
  const first = await mockVendor(t)
  const second = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...first.env.openai,
      ...second.env.anthropic,
      LLM_FALLBACKS: 'anthropic/claude-haiku-5-5',
      AI_DEADLINE_MS: '400',
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
  assert.ok(
    both.cost_nanos > alone.cost_nanos + 20_000_000,
    `${both.cost_nanos} over ${alone.cost_nanos}`,
  )
  assert.deepEqual([!!alone.is_estimated, !!both.is_estimated], [false, true])
})
