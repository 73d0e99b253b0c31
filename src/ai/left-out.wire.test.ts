// A response header names the members that a model cannot be given, at all three APIs; supported
// members reach the vendor.
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type TestApp, testApp } from '#testing/app.ts'
import { mockVendor, refuses, says } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const TERRA = 'gpt-6.1-terra'
const CLAUDE = 'claude-sonnet-5-5'
const GEMINI = 'gemini-3.8-flash'
const WISHES = {
  logprobs: true,
  top_logprobs: 2,
  seed: 7,
  presence_penalty: 0.5,
  logit_bias: { 5: 1 },
  top_k: 4,
}

suite('members that are dropped from a request', () => {
  const ends: (() => unknown)[] = []
  const t = { after: (end: () => unknown) => void ends.unshift(end) } as unknown as Parameters<
    typeof testApp
  >[0]
  let vendor: Awaited<ReturnType<typeof mockVendor>>
  let app: TestApp
  let headers: Record<string, string>

  before(async () => {
    vendor = await mockVendor(t)
    const env = {
      ...vendor.env.openai,
      ...vendor.env.anthropic,
      ...vendor.env.gemini,
      LLM_FALLBACKS: `anthropic/${CLAUDE}`,
    }
    app = await testApp(t, { env })
    const ada = await app.as('ada', { tier: 'enterprise' })
    const { key } = (await ada.post('/api/api-keys', { name: 'key' })).body
    headers = { authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' }
  })
  after(async () => {
    for (const end of ends) await end()
  })

  const leftOut = async (path: string, body: object) => {
    vendor.play(says('Hello'))
    const replies = await Promise.all(
      [false, true].map((stream) => app.post(path, { ...body, stream }, { headers })),
    )
    const [whole, streamed] = replies.map((reply) => {
      assert.equal(reply.status, 200, reply.text)
      return reply.headers.get('x-latchkey-left-out')
    })
    assert.equal(whole, streamed)
    return whole
  }
  const chat = (model: string, more: object) =>
    leftOut('/v1/chat/completions', { model, messages: HI, ...more })

  test('chat completions name the members that a model was not given, and send no header without any', async () => {
    assert.equal(await chat(TERRA, WISHES), 'logprobs,top_logprobs,presence_penalty,logit_bias')
    assert.equal(
      await chat(CLAUDE, { ...WISHES, temperature: 0.5 }),
      'logprobs,top_logprobs,seed,presence_penalty,logit_bias,top_k,temperature',
    )
    assert.equal(await chat(GEMINI, WISHES), 'logprobs,top_logprobs,logit_bias')
    assert.equal(await chat('gpt-4.1-mini', { ...WISHES, novelty: 1 }), 'novelty')
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
    for (const model of [TERRA, CLAUDE, GEMINI]) {
      const said = {
        tools,
        stop: ['x'],
        reasoning_effort: 'low',
        verbosity: 'low',
        metadata: { a: 'b' },
        user: 'u',
      }
      assert.equal(
        await chat(model, { ...said, n: 1, presence_penalty: 0, logprobs: false, seed: null }),
        null,
        model,
      )
    }
  })

  test('responses and messages name members without a translation; their own vendors get all members', async () => {
    const response = { input: 'Hi', truncation: 'auto', top_p: 0.5 }
    assert.equal(await leftOut('/v1/responses', { model: CLAUDE, ...response }), 'truncation,top_p')
    assert.equal(await leftOut('/v1/responses', { model: TERRA, ...response }), null)
    const message = {
      max_tokens: 50,
      messages: HI,
      top_k: 5,
      service_tier: 'auto',
      temperature: 0.5,
    }
    assert.equal(
      await leftOut('/v1/messages', { model: TERRA, ...message }),
      'top_k,service_tier,temperature',
    )
    assert.equal(await leftOut('/v1/messages', { model: CLAUDE, ...message }), null)
  })

  test('names the members of the model that answered, not of an earlier one that failed', async () => {
    vendor.play(refuses(401), says('Hello'))
    const body = { model: 'gpt-4.1-mini', messages: HI, seed: 7 }
    const reply = await app.post('/v1/chat/completions', body, { headers })
    assert.deepEqual([reply.status, reply.headers.get('x-latchkey-vendor')], [200, 'anthropic'])
    assert.equal(reply.headers.get('x-latchkey-left-out'), 'seed')
  })

  test('omits invalid names from the header', async () => {
    const odd = { 'a\r\nset-cookie: x=1': 1, ü: 1, ['x'.repeat(100)]: 1, plain: 1 }
    assert.equal(await chat(CLAUDE, odd), 'plain')
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`m${at}`, 1]))
    assert.equal((await chat(CLAUDE, many))?.split(',').length, 20)
  })

  test('sends Gemini penalties, top_k, image resolution and its own thinking settings', async () => {
    const image = (detail: string) => ({
      type: 'image_url',
      image_url: { url: 'https://example.com/a.png', detail },
    })
    const sent = async (more: object) => {
      vendor.play(says('Hello'))
      const reply = await app.post(
        '/v1/chat/completions',
        { model: GEMINI, messages: HI, ...more },
        { headers },
      )
      assert.equal(reply.status, 200, reply.text)
      return vendor.calls.at(-1)?.body.generationConfig ?? {}
    }
    const sampled = await sent({ top_k: 4, presence_penalty: 0.5, frequency_penalty: -1 })
    assert.deepEqual(
      [sampled.topK, sampled.presencePenalty, sampled.frequencyPenalty],
      [4, 0.5, -1],
    )
    assert.equal((await sent({ presence_penalty: 0 })).presencePenalty, undefined)
    for (const [details, expected] of [
      [['low'], 'MEDIA_RESOLUTION_LOW'],
      [['low', 'high'], 'MEDIA_RESOLUTION_HIGH'],
      [['low', 'auto'], undefined],
    ] as const) {
      const messages = [{ role: 'user', content: details.map(image) }]
      assert.equal((await sent({ messages })).mediaResolution, expected, details.join())
    }
    const google = {
      google: { thinking_config: { thinking_budget: 100, include_thoughts: false } },
    }
    const { thinkingConfig } = await sent({ extra_body: google, reasoning_effort: 'high' })
    assert.deepEqual(thinkingConfig, { includeThoughts: false, thinkingBudget: 100 })
  })
})
