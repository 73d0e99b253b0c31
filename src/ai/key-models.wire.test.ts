// An API key's own list of models: applied with the plan's on every route that calls a model, and
// shown in both lists.
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { mockVendor, refuses, says } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const FAST = 'llama-3.1-8b-instant'

/** The vendors of docs/models.json: Groq, which has the alias `fast`, and OpenAI. */
async function setting(
  t: TestContext,
  tier: string,
  models: string[],
  env: Record<string, string> = {},
) {
  const groq = await mockVendor(t)
  const openai = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...openai.env.openai,
      MODELS: resolve(import.meta.dirname, '../../docs/models.json'),
      GROQ_API_KEY: 'gsk-test',
      GROQ_BASE_URL: `${groq.url}/openai/v1`,
      ...env,
    },
  })
  groq.play(says('from Groq'))
  openai.play(says('from OpenAI'))
  const owner = app.as('ada', { tier })
  const { body: key } = await (await owner).post('/api/api-keys', { name: 'confined', models })
  const withKey = { headers: { authorization: `Bearer ${key.key}` } }
  return {
    groq,
    owner: await owner,
    key,
    get: (path: string) => app.get(path, withKey),
    post: (path: string, body: object) => app.post(path, body, withKey),
    chat: (body: object) =>
      app.post('/api/ai/chat', { messages: HI, stream: true, ...body }, withKey),
  }
}

const idsOf = (models: { id: string }[]) => models.map(({ id }) => id).sort()

test('allows a key the models of its list, by alias, name and pattern, and rejects all others', async (t) => {
  const { owner, key, chat, post } = await setting(t, 'enterprise', ['fast', 'gpt-6*'])
  assert.deepEqual(key.models, ['fast', 'gpt-6*'])
  assert.deepEqual((await owner.get('/api/api-keys')).body[0].models, ['fast', 'gpt-6*'])

  for (const model of ['fast', `groq/${FAST}`, 'gpt-6-luna', 'gpt-6-luna-2026-09-22']) {
    assert.equal(
      (await post('/v1/chat/completions', { model, messages: HI, stream: true })).status,
      200,
      model,
    )
  }
  assert.match((await chat({ provider: 'groq', model: FAST })).text, /Groq/)

  for (const model of [
    'groq/llama-3.3-70b-versatile',
    'gpt-4.1-mini',
    'claude-sonnet-5-5',
    'smart',
  ]) {
    const { status, body } = await post('/v1/chat/completions', { model, messages: HI })
    assert.deepEqual([status, body.error.code], [403, 'model_not_found'], model)
  }
  for (const refused of [
    await chat({ model: 'gpt-4.1-mini' }),
    await post('/api/ai/completions', { prompt: 'Hi', model: 'gpt-4.1-mini' }),
  ]) {
    assert.deepEqual([refused.status, refused.body.code], [403, 'model_not_allowed'])
    assert.equal(
      refused.body.detail,
      "The model 'gpt-4.1-mini' is not part of this API key's models",
    )
  }
  for (const model of ['text-embedding-3-small', 'local']) {
    assert.equal((await post('/v1/embeddings', { model, input: 'Hi' })).status, 403, model)
  }
  // A signed-in user has the plan's models.
  const unconfined = await owner.post('/api/ai/chat', {
    messages: HI,
    model: 'gpt-4.1-mini',
    stream: true,
  })
  assert.equal(unconfined.status, 200)
})

test('uses the first model of the key’s list when it excludes the default, and no fallback outside it', async (t) => {
  const { groq, chat, get } = await setting(t, 'enterprise', ['fast'], {
    LLM_FALLBACKS: 'openai/gpt-6-luna',
  })
  assert.match((await chat({})).text, /Groq/)

  const { body } = await get('/api/ai/models')
  assert.deepEqual([body.default_provider, body.default_model], ['groq', FAST])
  assert.deepEqual(idsOf(body.models), ['fast', FAST])
  assert.deepEqual(idsOf((await get('/v1/models')).body.data), ['fast', FAST])
  assert.equal((await get('/v1/models/gpt-6-luna')).status, 404)

  groq.play(refuses(400))
  assert.equal((await chat({})).status, 400)
  groq.play(refuses(401))
  assert.equal((await chat({})).status, 502, 'the fallback is not on the list')
})

test('does not extend the plan by a key’s list', async (t) => {
  const { chat, get, post } = await setting(t, 'pro', ['*'])
  assert.equal((await chat({ model: 'gpt-6-luna' })).status, 200)
  const { status, body } = await chat({ model: 'claude-sonnet-5-5' })
  assert.deepEqual(
    [status, body.detail],
    [403, "The model 'claude-sonnet-5-5' is not part of your plan"],
  )
  const ids = idsOf((await get('/v1/models')).body.data)
  assert.ok(ids.includes('gpt-6-luna') && !ids.includes('gpt-4.1-mini'))
  assert.equal(
    (await post('/v1/embeddings', { model: 'local', input: 'Hi' })).status,
    200,
    'is part of every plan',
  )
})

test('changes and removes a key’s list by PATCH at once, and keeps its name', async (t) => {
  const { owner, key, chat } = await setting(t, 'enterprise', ['fast'])
  const patch = (body: object) => owner.patch(`/api/api-keys/${key.id}`, body)
  assert.equal((await chat({ model: 'gpt-6-luna' })).status, 403)

  const widened = await patch({ models: ['gpt-*'] })
  assert.deepEqual(
    [widened.status, widened.body.models, widened.body.name],
    [200, ['gpt-*'], 'confined'],
  )
  assert.equal((await chat({ model: 'gpt-6-luna' })).status, 200)
  assert.equal((await chat({ model: 'fast' })).status, 403)

  const renamed = await patch({ name: 'free' })
  assert.deepEqual([renamed.body.models, renamed.body.name], [['gpt-*'], 'free'])
  const cleared = await patch({ models: null })
  assert.deepEqual(
    [cleared.status, 'models' in cleared.body, cleared.body.name],
    [200, false, 'free'],
  )
  assert.equal((await chat({ model: 'fast' })).status, 200)

  for (const wrong of [{}, { models: [] }, { models: ['a b'] }, { models: 'fast' }]) {
    assert.equal((await patch(wrong)).status, 422, JSON.stringify(wrong))
  }
})

test('answers questions about documents only with the key’s models', async (t) => {
  const ask = async (models: string[]) => {
    const { post } = await setting(t, 'enterprise', models, { EMBEDDER: 'local' })
    const content = 'Parental leave is sixteen weeks for every parent.'
    assert.equal((await post('/api/rag/ingest/text', { content })).status, 200)
    return post('/api/rag/query', { question: 'How long is parental leave?', stream: true })
  }
  const answered = await ask(['fast'])
  assert.deepEqual([answered.status, /Groq/.test(answered.text)], [200, true])
  const refused = await ask(['text-embedding-*'])
  assert.deepEqual([refused.status, refused.body.code], [403, 'model_not_allowed'])
})

test('matches a pattern with many stars without extra time', async (t) => {
  const { post } = await setting(t, 'enterprise', [`${'a*'.repeat(50)}b`, 'gpt*-6*-l*a'])
  const begun = performance.now()
  const refused = await post('/v1/chat/completions', { model: 'a'.repeat(200), messages: HI })
  assert.equal(refused.body.error.code, 'model_not_found')
  // As a regular expression it would run longer than this process lives.
  assert.ok(performance.now() - begun < 10_000)
  for (const model of ['gpt-6-luna', 'gpt-6-luna-2026-09-22']) {
    assert.equal(
      (await post('/v1/chat/completions', { model, messages: HI, stream: true })).status,
      200,
      model,
    )
  }
})
