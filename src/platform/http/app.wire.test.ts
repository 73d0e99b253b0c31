import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'

test('an unknown address of the API answers 404 with detail and a request id', async (t) => {
  const app = await testApp(t)
  const reply = await app.get('/api/nothing')
  assert.equal(reply.status, 404)
  assert.deepEqual(reply.body, { detail: 'Not Found', code: 'not_found' })
  assert.match(reply.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
})

test('an unknown address of the storefront answers with its own shape', async (t) => {
  const app = await testApp(t)
  const reply = await app.store('GET', '/api/nothing')
  assert.equal(reply.status, 404)
  assert.deepEqual(reply.body, { error: 'Not Found', code: 'not_found' })
})

test('an unknown address under /v1 answers in the shape of OpenAI', async (t) => {
  const app = await testApp(t)
  const reply = await app.get('/v1/nothing')
  assert.equal(reply.status, 404)
  assert.deepEqual(reply.body, {
    error: { message: 'Not Found', type: 'not_found_error', code: 'not_found', param: null },
  })
})

test('the general limit counts, announces itself and ends in 429 with Retry-After', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_GENERAL: '3/60' } })
  for (const remaining of ['2', '1', '0']) {
    const reply = await app.get('/api/nothing')
    assert.equal(reply.status, 404)
    assert.equal(reply.headers.get('ratelimit-remaining'), remaining)
    assert.equal(reply.headers.get('ratelimit-limit'), '3')
  }
  const refused = await app.get('/api/nothing')
  assert.equal(refused.status, 429)
  assert.deepEqual(refused.body, { detail: 'Rate limit exceeded', code: 'rate_limited' })
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
  app.clock.advance(61_000)
})

test('health and readiness are free of limits and say what is configured', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_GENERAL: '1/60' } })
  for (let call = 0; call < 5; call++) assert.equal((await app.get('/healthz')).status, 200)
  const ready = await app.get('/readyz')
  assert.equal(ready.status, 200)
  assert.equal(ready.body.configured.billing, 'sandbox')
})

test('the metrics need their token and count requests', async (t) => {
  const app = await testApp(t, { env: { METRICS_TOKEN: 'a-token-for-metrics' } })
  assert.equal((await app.get('/metrics')).status, 401)
  assert.equal(
    (await app.get('/metrics', { headers: { authorization: 'Bearer wrong' } })).status,
    401,
  )
  await app.get('/healthz')
  const reply = await app.get('/metrics', {
    headers: { authorization: 'Bearer a-token-for-metrics' },
  })
  assert.equal(reply.status, 200)
  assert.match(
    reply.text,
    /latchkey_http_request_seconds_bucket\{method="GET",route="\/healthz",status="200",le="\+Inf"\} 1/,
  )
  assert.match(reply.text, /latchkey_jobs\{status="dead"\} 0/)
  assert.match(reply.text, /process_resident_memory_bytes/)
})
