import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { cuts, mockVendor, refuses, says, silent } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]

test('the metrics count calls, attempts, tokens, durations, breaker states and places', async (t) => {
  const first = await mockVendor(t)
  const second = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...first.env.openai,
      ...second.env.anthropic,
      LLM_FALLBACKS: 'anthropic',
      METRICS_TOKEN: 'for-metrics',
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const figures = async () => {
    const { text } = await app.get('/metrics', { headers: { authorization: 'Bearer for-metrics' } })
    const lines = text.split('\n').filter((line) => line.startsWith('latchkey_ai_'))
    const sums = new Map<string, number>()
    for (const line of lines) {
      // Whichever model it was.
      const name = line.slice(0, line.lastIndexOf(' ')).replace(/,model="[^"]*"/, '')
      sums.set(name, (sums.get(name) ?? 0) + Number(line.split(' ').at(-1)))
    }
    return sums
  }
  const chat = (more: object = {}) => ada.post('/api/ai/chat', { messages: HI, ...more })
  const breaker = 'latchkey_ai_breaker_state{vendor="openai"}'
  assert.equal((await figures()).get(breaker), 0)

  first.play(says('ok', { usage: { prompt: 100, completion: 20 } }))
  await chat()
  await chat({ stream: true })
  first.play(refuses(500), says('again', { usage: { prompt: 100, completion: 20 } }))
  await chat()
  first.play(cuts('Half an', 'ends'))
  await chat({ stream: true })
  first.play(refuses(503))
  second.play(says('other', { usage: { prompt: 7, completion: 3 } }))
  await chat()

  let seen = await figures()
  const has = (name: string, value: number) => assert.equal(seen.get(name), value, name)
  has('latchkey_ai_calls_total{vendor="openai",outcome="ok"}', 3)
  has('latchkey_ai_calls_total{vendor="openai",outcome="failed"}', 1)
  has('latchkey_ai_calls_total{vendor="anthropic",outcome="ok"}', 1)
  has('latchkey_ai_attempts_total{vendor="openai",result="ok"}', 4)
  has('latchkey_ai_attempts_total{vendor="openai",result="broken"}', 1)
  has('latchkey_ai_attempts_total{vendor="openai",result="limited"}', 3)
  has('latchkey_ai_attempts_total{vendor="anthropic",result="ok"}', 1)
  has('latchkey_ai_retries_total{vendor="openai"}', 3)
  has('latchkey_ai_failovers_total{from="openai",to="anthropic"}', 1)
  has('latchkey_ai_tokens_total{vendor="anthropic",kind="completion"}', 3)
  has('latchkey_ai_call_seconds_count{vendor="openai"}', 4)
  has('latchkey_ai_call_seconds_bucket{vendor="openai",le="+Inf"}', 4)
  has('latchkey_ai_first_token_seconds_count{vendor="openai"}', 2)
  assert.ok((seen.get('latchkey_ai_cost_usd_total{vendor="openai"}') ?? 0) > 0)

  for (let call = 0; call < 4; call++) await chat()
  assert.equal((await figures()).get(breaker), 2)
  app.clock.advance(10_000)
  assert.equal((await figures()).get(breaker), 1)

  first.play(silent)
  const leaving = new AbortController()
  const left = ada.request('POST', '/api/ai/chat', {
    body: { messages: HI },
    signal: leaving.signal,
  })
  while (first.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal((await figures()).get('latchkey_ai_calls_running'), 1)
  leaving.abort()
  await left.catch(() => {})
  const cancelled = 'latchkey_ai_calls_total{vendor="openai",outcome="cancelled"}'
  const isOver = () => seen.get(cancelled) === 1 && seen.get('latchkey_ai_calls_running') === 0
  for (seen = await figures(); !isOver(); seen = await figures())
    await new Promise((resolve) => setTimeout(resolve, 5))
  has('latchkey_ai_calls_running', 0)
  has('latchkey_ai_calls_waiting', 0)
})
