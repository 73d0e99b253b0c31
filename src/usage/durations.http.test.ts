import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor, refuses, says } from '#testing/mock-vendor.ts'
import { readDurations } from './durations.ts'

const HI = [{ role: 'user', content: 'Hi' }]

test('a user reads the durations of their own answered calls', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body: key } = await ada.post('/api/api-keys', { name: 'laptop', scopes: ['ai', 'usage'] })
  assert.deepEqual((await ada.get('/api/usage/durations')).body, {
    latency_ms: null,
    first_token_ms: null,
  })

  vendor.play(says('ok'), says('ok'), says('ok'), refuses(400))
  await ada.post('/api/ai/chat', { messages: HI })
  await ada.post('/api/ai/chat', { messages: HI, stream: true })
  await app.post(
    '/api/ai/chat',
    { messages: HI },
    { headers: { authorization: `Bearer ${key.key}` } },
  )
  await ada.post('/api/ai/chat', { messages: HI })
  const { db } = app.platform
  const calls = (await ada.get('/api/usage/calls')).body.calls.toReversed()
  for (const [index, { id }] of calls.entries()) {
    const durations = { latency_ms: (index + 1) * 100 }
    await db.updateTable('usage_records').set(durations).where('id', '=', id).execute()
  }
  await db
    .updateTable('usage_records')
    .set({ first_token_ms: 40 })
    .where('first_token_ms', 'is not', null)
    .execute()

  const answered = { latency_ms: { p50: 200, p95: 300 }, first_token_ms: { p50: 40, p95: 40 } }
  assert.deepEqual((await ada.get('/api/usage/durations')).body, answered)
  // A key with other scopes besides reads only its own calls.
  const own = await app.get('/api/usage/durations', {
    headers: { authorization: `Bearer ${key.key}` },
  })
  assert.deepEqual(own.body, { latency_ms: { p50: 300, p95: 300 }, first_token_ms: null })
  const none = { latency_ms: null, first_token_ms: null }
  assert.deepEqual((await ada.get('/api/usage/durations?to=2020-01-01')).body, none)
  assert.deepEqual((await (await app.as('eve')).get('/api/usage/durations')).body, none)
  assert.equal((await app.get('/api/usage/durations')).status, 401)

  // The newest calls: the failed one, and the one of the key.
  const today = app.clock.now().slice(0, 10)
  const newest = await readDurations(
    db,
    { userId: ada.userId, keyId: null },
    { from: today, to: today },
    2,
  )
  assert.deepEqual(newest.latency_ms, { p50: 300, p95: 300 })
})
