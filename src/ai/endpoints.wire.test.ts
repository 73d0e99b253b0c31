// A vendor with several keys and addresses, from its settings to the ledger.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor, refuses, says } from '#testing/mock-vendor.ts'

test('several keys and addresses: distributes calls, fails over, records no key, and counts each endpoint', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-models-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [one, two, keys, spare] = [
    await mockVendor(t),
    await mockVendor(t),
    await mockVendor(t),
    await mockVendor(t),
  ]
  const groq = {
    name: 'groq',
    dialect: 'openai',
    base_url: `${one.url}/v1`,
    api_key_env: 'GROQ_API_KEY',
    endpoints: [
      { name: 'one', weight: 2 },
      { name: 'two', base_url: `${two.url}/v1`, api_key_env: 'GROQ_API_KEY_2' },
      { name: 'missing', base_url: `${two.url}/v1`, api_key_env: 'GROQ_API_KEY_3' },
    ],
    models: [{ id: 'llama', price: { input: 1, output: 1 } }],
  }
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ vendors: [groq] }))
  const app = await testApp(t, {
    env: {
      MODELS: join(folder, 'models.json'),
      GROQ_API_KEY: 'gsk-one-secret',
      GROQ_API_KEY_2: 'gsk-two-secret',
      OPENAI_BASE_URL: `${keys.url}/v1`,
      OPENAI_API_KEY: 'sk-first-secret, sk-second-secret',
      ...spare.env.anthropic,
      LLM_FALLBACKS: 'anthropic',
      METRICS_TOKEN: 'for-metrics',
      RATE_LIMIT_AI: 'off',
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const ask = (content: string, more: object = {}) =>
    ada.post('/api/ai/chat', { messages: [{ role: 'user', content }], provider: 'groq', ...more })
  const bearers = (vendor: typeof one) =>
    new Set(vendor.calls.map(({ headers }) => headers.authorization))

  for (const vendor of [one, two, keys]) vendor.play(says('well'))
  for (let n = 0; n < 12; n++) {
    assert.equal((await ask(`question ${n}`)).status, 200)
    assert.equal((await ask(`question ${n}`, { provider: 'openai' })).status, 200)
  }
  assert.deepEqual(
    [...bearers(one), ...bearers(two)],
    ['Bearer gsk-one-secret', 'Bearer gsk-two-secret'],
  )
  assert.equal(one.calls.length + two.calls.length, 12)
  assert.deepEqual([...bearers(keys)].sort(), ['Bearer sk-first-secret', 'Bearer sk-second-secret'])

  const isOfOne = async (content: string) => {
    const before = one.calls.length
    await ask(content)
    return one.calls.length > before
  }
  let mine = 0
  while (!(await isOfOne(`conversation ${mine}`))) mine++
  const conversation = `conversation ${mine}`
  assert.equal(await isOfOne(conversation), true, 'it comes back to the same endpoint')

  one.play(refuses(401, {}, { error: { message: 'Incorrect API key provided: gsk-one-secret' } }))
  const moved = await ask(conversation)
  assert.deepEqual(
    [
      moved.status,
      moved.headers.get('x-latchkey-vendor'),
      moved.headers.get('x-latchkey-attempts'),
    ],
    [200, 'groq', '2'],
  )
  await ask(conversation, { stream: true })
  assert.equal(one.calls.length, 1, 'a refused key is left alone')

  two.play(refuses(429, { 'retry-after': '30' }))
  spare.play(says('from the fallback'))
  const instead = await ask(conversation)
  assert.deepEqual(
    [instead.body.content, instead.headers.get('x-latchkey-vendor')],
    ['from the fallback', 'anthropic'],
  )

  const rows = await app.platform.db
    .selectFrom('usage_records')
    .select(['vendor', 'tried'])
    .execute()
  const tried = rows.map((row) => row.tried)
  assert.ok(tried.includes('groq#one:unauthorized,groq#two:ok'), tried.join(' '))
  assert.ok(
    tried.includes('groq#one:resting,groq#two:limited,anthropic:ok') ||
      tried.includes('groq#two:limited,groq#one:resting,anthropic:ok'),
    tried.join(' '),
  )
  assert.ok(rows.every((row) => !JSON.stringify(row).includes('secret')))
  assert.ok(rows.every(({ vendor }) => ['groq', 'openai', 'anthropic'].includes(vendor)))

  const { text } = await app.get('/metrics', { headers: { authorization: 'Bearer for-metrics' } })
  assert.match(text, /latchkey_ai_breaker_state\{vendor="groq#one"\} 0/)
  assert.match(text, /latchkey_ai_resting_models\{vendor="groq#two"\} 1/)
  assert.match(text, /latchkey_ai_failovers_total\{from="groq",to="anthropic"\} 1/)
  assert.match(text, /latchkey_ai_attempts_total\{vendor="groq",result="unauthorized"\} 1/)
  assert.doesNotMatch(text, /secret|groq#missing|from="groq#/)
})
