// An alias of several models, at every route that accepts a model's name.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { after, mockVendor, refuses, says } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]

test('an alias of several models routes to one, uses the rest as fallbacks, obeys lists, and appears in model lists', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-models-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [one, two] = [await mockVendor(t), await mockVendor(t)]
  const entry = (name: string, url: string, input: number, context: number) => ({
    name,
    dialect: 'openai',
    base_url: `${url}/v1`,
    models: [{ id: 'm', context_tokens: context, price: { input, output: input } }],
  })
  const models = ['one/m', 'two/m']
  writeFileSync(
    join(folder, 'models.json'),
    JSON.stringify({
      vendors: [entry('one', one.url, 2, 8_000), entry('two', two.url, 1, 64_000)],
      aliases: {
        listed: { models },
        cheap: { models, by: 'price' },
        quick: { models, by: 'latency' },
        shared: { models, by: 'weight', weights: [1, 1] },
      },
      allow: { free: ['one/*', 'listed'], pro: ['one/*'] },
    }),
  )
  const app = await testApp(t, {
    env: { MODELS: join(folder, 'models.json'), RATE_LIMIT_AI: 'off' },
  })
  const eve = await app.as('eve', { tier: 'enterprise' })
  const ada = await app.as('ada', { tier: 'pro' })
  const ask = (model: string, who = eve, more: object = {}) =>
    who.post('/v1/chat/completions', { model, messages: HI, ...more })
  const answeredBy = async (...asked: Parameters<typeof ask>) => {
    const reply = await ask(...asked)
    assert.equal(reply.status, 200, reply.text)
    return `${reply.headers.get('x-latchkey-vendor')} ${reply.headers.get('x-latchkey-attempts')}`
  }
  for (const vendor of [one, two]) vendor.play(says('well'))

  assert.equal(await answeredBy('listed'), 'one 1')
  assert.equal(await answeredBy('cheap'), 'two 1')
  assert.equal(await answeredBy('cheap', eve, { stream: true }), 'two 1')
  const own = await eve.post('/api/ai/chat', { messages: HI, model: 'cheap', provider: 'one' })
  assert.equal(
    own.headers.get('x-latchkey-vendor'),
    'two',
    'a provider beside its alias changes nothing',
  )
  const first = await answeredBy('shared')
  for (let n = 0; n < 3; n++) assert.equal(await answeredBy('shared'), first)

  one.play(after(60, says('late')))
  for (let n = 0; n < 2; n++) await answeredBy('quick', eve, { stream: true })
  t.mock.method(Math, 'random', () => 0.5)
  for (let n = 0; n < 3; n++)
    assert.equal(await answeredBy('quick', eve, { stream: true }), 'two 1')
  t.mock.restoreAll()

  one.play(refuses(429, { 'retry-after': '30' }))
  assert.equal(await answeredBy('listed'), 'two 2')
  assert.equal(await answeredBy('listed'), 'two 1')

  one.play(says('well'))
  assert.equal(await answeredBy('cheap', ada), 'one 1', 'what the plan leaves out does not answer')
  const { key } = (await eve.post('/api/api-keys', { name: 'app', models: ['two/*'] })).body
  const byKey = await app.get('/v1/models', { headers: { authorization: `Bearer ${key}` } })
  const found = byKey.body.data.find(({ id }: { id: string }) => id === 'listed')
  assert.deepEqual([found.routes, found.owned_by], [['two/m'], 'two'])

  const view = (await eve.get('/v1/models/cheap')).body
  assert.deepEqual(
    [view.routes, view.routed_by, view.price, view.context_tokens, view.capabilities.temperature],
    [models, 'price', { input: 2, output: 2, cached: 2 }, 8_000, 'taken'],
  )
  const listed = (await ada.get('/api/ai/models')).body.models.find(
    ({ id }: { id: string }) => id === 'cheap',
  )
  assert.deepEqual(
    [listed.alias_of, listed.routes, listed.routed_by],
    ['one/m', ['one/m'], 'price'],
  )

  const rows = await app.platform.db
    .selectFrom('usage_records')
    .select(['vendor', 'tried'])
    .execute()
  assert.ok(rows.some(({ vendor, tried }) => vendor === 'two' && tried === 'one:limited,two:ok'))
  assert.equal((await eve.post('/v1/embeddings', { model: 'listed', input: 'a' })).status, 502)
})
