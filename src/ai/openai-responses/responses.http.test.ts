// The cost of responses, and access to them: the same ledger, budgets and keys as on every other
// route.
import assert from 'node:assert/strict'
import { before, beforeEach, suite, test } from 'node:test'
import { type TestApp, testApp } from '#testing/app.ts'
import {
  buildResponse,
  claudeSays,
  cuts,
  event,
  type MockVendor,
  mockVendor,
  refuses,
  says,
  silent,
  streams,
} from '#testing/mock-vendor.ts'
import { suiteContext } from '#testing/suite.ts'

// The service belongs to this suite: hooks outside a suite would run for every file in the process.
suite('responses and the ledger', () => {
  const MODELS = ['gpt-6-luna', 'claude-haiku-5-5', 'gemini-3.8-flash']

  /** One service and three vendors for all tests of this file; Anthropic answers where another fails. */
  const t = suiteContext()
  let app: TestApp
  let headers: Record<string, string>
  /** For a key that allows only OpenAI's models. */
  let confined: { headers: Record<string, string> }
  let openai: MockVendor
  let anthropic: MockVendor
  let gemini: MockVendor

  before(async () => {
    openai = await mockVendor(t)
    anthropic = await mockVendor(t)
    gemini = await mockVendor(t)
    app = await testApp(t, {
      env: {
        ...openai.env.openai,
        ...anthropic.env.anthropic,
        ...gemini.env.gemini,
        BUDGET_PRO_TOKENS: '100',
        LLM_FALLBACKS: 'anthropic/claude-haiku-5-5',
      },
    })
    const ada = await app.as('ada', { tier: 'enterprise' })
    const { body } = await ada.post('/api/api-keys', { name: 'client' })
    headers = { authorization: `Bearer ${body.key}` }
    const { body: key } = await ada.post('/api/api-keys', { name: 'confined', models: ['gpt-6*'] })
    confined = { headers: { authorization: `Bearer ${key.key}` } }
  })
  beforeEach(() => {
    // Circuits that an earlier test has opened are closed again.
    app.clock.advance(120_000)
    for (const vendor of [openai, anthropic, gemini]) vendor.play(says('Good day'))
  })

  const vendorOf = (model: string) =>
    model.startsWith('gpt') ? openai : model.startsWith('claude') ? anthropic : gemini

  /** The response at the end of a stream. */
  async function streamed(model: string) {
    const { text } = await app.post(
      '/v1/responses',
      { model, input: 'Hi', stream: true },
      { headers },
    )
    const last = text.split('\n').findLast((line) => line.startsWith('data: ')) ?? ''
    return JSON.parse(last.slice('data: '.length)).response
  }

  async function lastRecord() {
    return app.platform.db
      .selectFrom('usage_records')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
  }

  test('records every token as the vendor counted it', async () => {
    const counts = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      output_tokens: 40,
      output_tokens_details: { reasoning_tokens: 25 },
      total_tokens: 140,
    }
    openai.play(
      streams(
        event({
          type: 'response.completed',
          response: buildResponse([], undefined, { usage: counts }),
        }),
      ),
    )
    const claudeUsage = {
      input_tokens: 30,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 10,
      output_tokens: 40,
      output_tokens_details: { thinking_tokens: 25 },
    }
    anthropic.play(claudeSays([{ type: 'text', text: 'Hi' }], claudeUsage))
    for (const model of ['gpt-6-luna', 'claude-haiku-5-5']) {
      const { usage } = await streamed(model)
      const record = await lastRecord()
      assert.deepEqual(usage, { ...counts, cost_usd: Number(record.cost_nanos) / 1e9 }, model)
      assert.deepEqual(
        [
          record.prompt_tokens,
          record.cached_tokens,
          record.completion_tokens,
          Boolean(record.is_estimated),
        ],
        [100, 60, 40, false],
        model,
      )
      assert.ok(Number(record.cost_nanos) > 0)
    }
  })

  test('records a cut response as failed, and a fallback as the model that answered', async () => {
    for (const model of MODELS) {
      vendorOf(model).play(cuts('Half an'))
      await streamed(model)
      const { outcome, is_estimated: isEstimated } = await lastRecord()
      assert.deepEqual([outcome, Boolean(isEstimated)], ['failed', true], model)
    }
    app.clock.advance(120_000)
    openai.play(refuses(401))
    anthropic.play(says('from Claude'))
    await streamed('gpt-6-luna')
    const { model, vendor, route } = await lastRecord()
    assert.deepEqual([model, vendor, route], ['claude-haiku-5-5', 'anthropic', '/v1/responses'])
  })

  test('closes the vendor’s connection and records the call when a client leaves', async () => {
    let left = await cancelled()
    for (const model of MODELS) {
      for (const step of [silent, says('word '.repeat(500), { gapMs: 5 })]) {
        vendorOf(model).play(step)
        const controller = new AbortController()
        const asked = fetch(`${app.url}/v1/responses`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ model, input: 'Hi', stream: true }),
          signal: controller.signal,
        })
        asked.catch(() => {})
        if (step === silent) await until(() => vendorOf(model).calls.length === 1)
        else await (await asked).body?.getReader().read()
        controller.abort()
        await vendorOf(model).calls[0]!.gone
        left++
        await until(async () => (await cancelled()) === left)
      }
    }
  })

  test('applies a key’s models, a plan’s budget and its grants to responses', async () => {
    assert.equal(
      (await app.post('/v1/responses', { model: 'gpt-6-luna', input: 'Hi' }, confined)).status,
      200,
    )
    const refused = await app.post(
      '/v1/responses',
      { model: 'claude-haiku-5-5', input: 'Hi' },
      confined,
    )
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'model_not_found'])

    const unknown = await app.post('/v1/responses', { model: 'gpt-6-luna', input: 'Hi' })
    assert.deepEqual([unknown.status, unknown.body.error.type], [401, 'authentication_error'])

    const carl = await app.as('carl', { tier: 'pro' })
    const spend = () => carl.post('/v1/responses', { model: 'gpt-6-luna', input: 'Hi' })
    openai.play(says('Good day', { usage: { prompt: 60, completion: 40 } }))
    assert.equal((await spend()).status, 200)
    const { max_output_tokens: limit } = openai.calls.at(-1)!.body
    assert.ok(limit >= 16 && limit <= 100, `${limit}`)
    const spent = await spend()
    assert.deepEqual([spent.status, spent.body.error.code], [429, 'insufficient_quota'])
    const poor = await app.as('bob', { tier: 'free' })
    assert.equal(
      (await poor.post('/v1/responses', { model: 'gpt-6-luna', input: 'Hi' })).status,
      403,
    )
  })

  async function cancelled(): Promise<number> {
    const records = app.platform.db.selectFrom('usage_records').where('outcome', '=', 'cancelled')
    return (await records.select('id').execute()).length
  }

  async function until(isTrue: () => boolean | Promise<boolean>) {
    for (let left = 400; left > 0; left--) {
      if (await isTrue()) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.fail('not reached')
  }
})
