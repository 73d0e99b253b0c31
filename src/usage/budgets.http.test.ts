// Budgets in dollars: a plan's per month, a key's per day, week or month. No budget is overspent, and
// no call is rejected while it fits.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { type MockVendor, mockVendor, refuses, says, silent } from '#testing/mock-vendor.ts'
import { USAGE_NEEDS } from '#testing/spend.ts'
import type { Ledger, ReserveCall } from './ledger.ts'
import { computeSpan, namePeriods } from './periods.ts'
import type { UsageRecord } from './record.ts'
import { createUsage } from './usage.ts'

const HI = [{ role: 'user', content: 'Hi' }]
/** Per million tokens: $0.10 input, $0.50 output; beyond 272,000 prompt tokens $0.20 and $0.75. */
const MODEL = 'gpt-6-luna'
const MONDAY = Date.parse('2030-03-04T10:00:00Z')

async function setting(
  t: TestContext,
  { tier = 'pro', env = {} }: { tier?: string; env?: Record<string, string> } = {},
) {
  const vendor = await mockVendor(t)
  // Serves all parts, as most installations do.
  const app = await testApp(t, {
    worker: !ON_POSTGRES,
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...env },
  })
  app.clock.advance(MONDAY - app.clock.ms())
  const ada = await app.as('ada', { tier })
  const makeKey = async (settings: object = {}) => {
    const { body, status } = await ada.post('/api/api-keys', { name: 'k', ...settings })
    assert.equal(status, 201, JSON.stringify(body))
    const withKey = { headers: { authorization: `Bearer ${body.key}` } }
    return {
      id: body.id as string,
      ask: (more: object = {}) =>
        app.post(
          '/v1/chat/completions',
          { model: MODEL, messages: HI, max_tokens: 1_000, ...more },
          withKey,
        ),
      allowance: async () => (await app.get('/api/usage/allowance', withKey)).body,
      self: async () => (await app.get('/api/api-keys/self', withKey)).body,
      change: (settings: object) => ada.patch(`/api/api-keys/${body.id}`, settings),
    }
  }
  const allowance = async () => (await ada.get('/api/usage/allowance')).body
  return { app, vendor, ada, makeKey, allowance }
}

/** Sets the usage that the vendor reports, and so the cost of the call. */
const costs = (vendor: MockVendor, prompt: number, completion: number) =>
  vendor.play(says('ok', { usage: { prompt, completion } }))

test('a plan has dollars by default, spends all of them but not more, and renews each month', async (t) => {
  const { app, vendor, ada, makeKey, allowance } = await setting(t)
  const told = await allowance()
  assert.deepEqual(told, {
    period_start: '2030-03-01T00:00:00.000Z',
    period_end: '2030-04-01T00:00:00.000Z',
    renews_at: '2030-04-01T00:00:00.000Z',
    limit_usd: 20,
    used_usd: 0,
    reserved_usd: 0,
    keys: [],
    alerts: [],
  })
  const key = await makeKey()
  const ask = () => key.ask({ max_tokens: 128_000 })
  // Uses all but $0.10 of the month, which pays for 199,998 answer tokens.
  costs(vendor, 200_000, 39_760_000)
  assert.equal((await ask()).status, 200)
  assert.equal((await allowance()).used_usd, 19.9)
  costs(vendor, 10, 128_000)
  assert.equal((await ask()).status, 200)
  assert.equal(vendor.calls[0]!.body.max_completion_tokens, 128_000)
  // Each answer is as long as its limit allows.
  vendor.play((call, reply) =>
    says('ok', { usage: { prompt: 9, completion: call.body.max_completion_tokens } })(call, reply),
  )
  let refused = await ask()
  for (; refused.status === 200; refused = await ask()) {
    assert.ok(vendor.calls[0]!.body.max_completion_tokens < 72_000)
    assert.ok(vendor.calls.length < 5)
  }
  assert.deepEqual([refused.status, refused.body.error.message], [429, 'Monthly budget exhausted'])
  assert.equal(refused.headers.get('x-should-retry'), 'false')
  const own = await ada.post('/api/ai/chat', { messages: HI, model: MODEL, provider: 'openai' })
  assert.deepEqual(
    [own.status, own.body],
    [429, { detail: 'Monthly budget exhausted', code: 'budget_exhausted' }],
  )
  const { used_usd, reserved_usd } = await allowance()
  assert.ok(used_usd <= 20 && used_usd > 19.99999, String(used_usd))
  assert.equal(reserved_usd, 0)

  app.clock.advance(Date.parse('2030-04-01T00:00:01Z') - app.clock.ms())
  costs(vendor, 10, 10)
  assert.equal((await key.ask()).status, 200)
  const renewed = await key.allowance()
  assert.deepEqual(
    [renewed.period_start, renewed.used_usd],
    ['2030-04-01T00:00:00.000Z', 0.000_006],
  )
})

test('the allowance shows what a running call has reserved, until the call ends', async (t) => {
  const { vendor, ada, allowance } = await setting(t)
  vendor.play(silent)
  const leaving = new AbortController()
  const body = { messages: HI, model: MODEL, provider: 'openai', max_tokens: 1_000 }
  const running = ada.request('POST', '/api/ai/chat', { body, signal: leaving.signal })
  const untilReserved = async (isReserved: boolean) => {
    for (;;) {
      const { reserved_usd } = await allowance()
      if (reserved_usd > 0 === isReserved) return reserved_usd
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  // 1,000 output tokens cost $0.0005, and the prompt less than a tenth of that.
  const reserved = await untilReserved(true)
  assert.ok(reserved >= 0.000_5 && reserved < 0.000_55, String(reserved))
  leaving.abort()
  await assert.rejects(running)
  await untilReserved(false)
})

test('a key’s budget renews with the day, the ISO week or the month, and its error names the period', async (t) => {
  const { app, vendor, makeKey, allowance } = await setting(t, { tier: 'enterprise' })
  const limit_usd = 0.000_1
  const keys = {
    day: await makeKey({ budget: { limit_usd, period: 'day' } }),
    week: await makeKey({ budget: { limit_usd, period: 'week' } }),
    month: await makeKey({ budget: { limit_usd, period: 'month' } }),
  }
  // 10 input and 198 output tokens cost $0.0001.
  costs(vendor, 10, 198)
  const statuses = () =>
    Promise.all(Object.values(keys).map(async ({ ask }) => (await ask()).status))
  assert.deepEqual(await statuses(), [200, 200, 200])
  for (const [key, word] of [
    [keys.day, 'Daily'],
    [keys.week, 'Weekly'],
    [keys.month, 'Monthly'],
  ] as const) {
    const { status, body } = await key.ask()
    assert.deepEqual([status, body.error.message], [429, `${word} budget of this key exhausted`])
    assert.equal(body.error.code, 'insufficient_quota')
  }
  assert.deepEqual((await keys.week.self()).left, {
    budget: { used_usd: 0.000_1, left_usd: 0, renews_at: '2030-03-11T00:00:00.000Z' },
  })
  assert.deepEqual(
    (await allowance()).keys.map(
      (key: { period: string; period_end: string; used_usd: number }) => [
        key.period,
        key.period_end.slice(0, 10),
        key.used_usd,
      ],
    ),
    [
      ['month', '2030-04-01', limit_usd],
      ['week', '2030-03-11', limit_usd],
      ['day', '2030-03-05', limit_usd],
    ],
  )

  const turn = async (to: string) => {
    app.clock.advance(Date.parse(to) - app.clock.ms())
    return statuses()
  }
  assert.deepEqual(await turn('2030-03-04T23:59:30Z'), [429, 429, 429])
  assert.deepEqual(await turn('2030-03-05T00:00:00Z'), [200, 429, 429])
  assert.deepEqual(await turn('2030-03-10T23:59:30Z'), [200, 429, 429])
  assert.deepEqual(await turn('2030-03-11T00:00:00Z'), [200, 200, 429])
  assert.deepEqual(await turn('2030-04-01T00:00:00Z'), [200, 200, 200])
})

test('a raised, lowered or removed budget applies from the next call on and includes earlier use', async (t) => {
  const { vendor, makeKey } = await setting(t)
  const key = await makeKey()
  costs(vendor, 10, 198)
  assert.equal((await key.ask()).status, 200)
  assert.equal((await key.change({ budget: { limit_usd: 0.000_1, period: 'day' } })).status, 200)
  assert.equal((await key.ask()).status, 429)
  await key.change({ budget: { limit_usd: 0.000_2, period: 'month' } })
  assert.equal((await key.ask()).status, 200)
  assert.equal((await key.ask()).status, 429)
  await key.change({ budget: null })
  assert.equal((await key.ask()).status, 200)
  // Use without a budget counts when the key has a budget again.
  await key.change({ budget: { limit_usd: 0.000_3, period: 'day' } })
  assert.equal((await key.ask()).status, 429)
  // 624 tokens are used so far.
  await key.change({ budget: null, monthly_token_limit: 674 })
  costs(vendor, 10, 40)
  assert.equal((await key.ask()).status, 200)
  const { status, body } = await key.ask()
  assert.deepEqual([status, body.error.message], [429, 'Monthly token budget exhausted'])
})

test('reserves for the most expensive model that may answer: fallbacks, unknown models, long prompts, the cache, choices', async (t) => {
  const { vendor, makeKey } = await setting(t, {
    env: { LLM_FALLBACKS: 'anthropic/claude-fable-5-1' },
  })
  /** Returns the longest answer in tokens for a key with this budget. */
  const fit = async (limit_usd: number, more: object) => {
    const key = await makeKey({ budget: { limit_usd, period: 'day' } })
    vendor.play(refuses(400))
    await key.ask({ max_tokens: 128_000, ...more })
    const [call] = vendor.calls
    return call === undefined ? null : (call.body.max_completion_tokens ?? call.body.max_tokens)
  }
  // The fallback's prices: $50 per million output tokens, $12.50 per million cache writes (9 prompt tokens).
  assert.equal(await fit(0.5, {}), Math.floor((0.5e9 - 9 * 12_500) / 50_000))
  const alone = { model: 'claude-haiku-5-5' }
  const ofFallback = Math.floor((0.5e9 - 9 * 12_500) / 50_000)
  assert.equal(await fit(0.5, alone), ofFallback)
  const hour = {
    role: 'user',
    content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  }
  assert.equal(
    await fit(0.5, { ...alone, messages: [hour] }),
    Math.floor((0.5e9 - 9 * 20_000) / 50_000),
  )
  // 900 kB may be 300,000 tokens, which cost more than $0.50 at the fallback's price.
  assert.equal(await fit(0.5, { messages: [{ role: 'user', content: 'x'.repeat(900_000) }] }), null)
  assert.equal(await fit(0.5, { n: 8 }), Math.floor(ofFallback / 8))
})

test('reserves the vendor’s highest price for a model without a price, and the long price for a long prompt', async (t) => {
  const { vendor, makeKey } = await setting(t)
  const fit = async (limit_usd: number, more: object) => {
    const key = await makeKey({ budget: { limit_usd, period: 'day' } })
    costs(vendor, 10, 10)
    const { status } = await key.ask({ max_tokens: 32_000, ...more })
    return status === 200 ? vendor.calls[0]!.body.max_completion_tokens : status
  }
  assert.equal(await fit(0.01, {}), Math.floor((0.01e9 - 9 * 125) / 500))
  assert.equal(await fit(0.05, { model: 'gpt-7-nova' }), Math.floor((0.05e9 - 9 * 12_500) / 50_000))
  // 300,008 tokens as cache writes at twice the price, and output at 1.5 times the price.
  const long = [{ role: 'user', content: 'x'.repeat(900_000) }]
  assert.equal(await fit(0.08, { messages: long }), Math.floor((0.08e9 - 300_008 * 250) / 750))
  assert.equal(await fit(0.07, { messages: long }), 429)
})

test('a request without a limit stays unlimited while the budget is large, and gets the rest of a short budget', async (t) => {
  const { vendor, makeKey } = await setting(t)
  const rich = await makeKey()
  costs(vendor, 10, 10)
  await rich.ask({ max_tokens: undefined })
  assert.equal(vendor.calls[0]!.body.max_completion_tokens, undefined)
  const poor = await makeKey({ budget: { limit_usd: 0.01, period: 'day' } })
  await poor.ask({ max_tokens: undefined })
  assert.equal(
    vendor.calls[1]!.body.max_completion_tokens,
    Math.floor(Math.floor((0.01e9 - 9 * 125) / 500) / 2),
  )
  // A higher limit than the model's longest answer reserves only that answer.
  const large = await makeKey({ budget: { limit_usd: 0.07, period: 'day' } })
  assert.equal((await large.ask({ max_tokens: 100_000_000 })).status, 200)
  assert.equal(vendor.calls[2]!.body.max_completion_tokens, 128_000)
})

test('a budget in dollars never rejects a free call', async (t) => {
  const { vendor, ada } = await setting(t)
  costs(vendor, 200_000, 40_000_000)
  assert.equal(
    (await ada.post('/api/ai/chat', { messages: HI, model: MODEL, provider: 'openai' })).status,
    200,
  )
  assert.equal(
    (await ada.post('/api/ai/chat', { messages: HI, model: MODEL, provider: 'openai' })).status,
    429,
  )
  assert.equal((await ada.post('/v1/embeddings', { model: 'local', input: 'Hi' })).status, 200)
})

test('a plan without an allowance has no limit, and a plan with zero rejects every call', async (t) => {
  const { app } = await setting(t)
  const budgets = { ...app.platform.config.catalogue }
  const plans = budgets.plans.map((plan) => ({
    ...plan,
    allowanceUsd: plan.tier === 'pro' ? null : 0,
  }))
  const config = { ...app.platform.config, catalogue: { ...budgets, plans } }
  const usage = createUsage({ ...app.platform, config }, USAGE_NEEDS)
  t.after(() => usage.close())
  const call = callOf('ada', null)
  assert.equal((await usage.ledger.reserve(call)).held, null)
  await assert.rejects(usage.ledger.reserve({ ...call, tier: 'enterprise' }), {
    code: 'budget_exhausted',
  })
})

const callOf = (userId: string, keyId: string | null): ReserveCall => ({
  userId,
  keyId,
  tier: 'pro',
  slices: null,
  promptTokens: 10,
  completionTokens: 90,
  promptNanos: 100_000,
  tokenNanos: 10_000,
})

const recordOf = (
  userId: string,
  keyId: string | null,
  startedAt: string,
  nanos: number,
): UsageRecord => ({
  userId,
  keyId,
  route: '/test',
  vendor: 'openai',
  model: MODEL,
  promptTokens: 10,
  completionTokens: 10,
  cachedTokens: 0,
  costUsd: nanos / 1e9,
  latencyMs: 1,
  attempts: 1,
  tried: 'openai:ok',
  outcome: 'ok',
  isEstimated: false,
  startedAt,
  tier: 'pro',
  reasoningTokens: 0,
  firstTokenMs: null,
  status: 200,
  errorCode: null,
  requestId: null,
  vendorRequestId: null,
  endUser: '',
  labels: '',
})

/** Fewer on the embedded PostgreSQL: it has one connection, for which a thousand calls would wait too long. */
const CLAIMS = process.env.TEST_ENGINE === 'pglite' ? 24 : 1_000
/** An embedded database serves one process. */
const SERVICES = ON_POSTGRES ? 2 : 1

test('a thousand calls at once over many keys and services overspend neither the plan’s dollars nor a key’s', async (t) => {
  const { app } = await setting(t)
  // Each call reserves $0.001 and uses 170,000 nanodollars.
  const used = 170_000
  const paid = Math.floor(CLAIMS * 0.5)
  const { catalogue } = app.platform.config
  const plans = catalogue.plans.map((plan) => ({
    ...plan,
    allowanceUsd: (paid * used + 100_000 - 1) / 1e9,
  }))
  const config = { ...app.platform.config, catalogue: { ...catalogue, plans } }
  const services = Array.from({ length: SERVICES }, () =>
    createUsage({ ...app.platform, config }, USAGE_NEEDS),
  )
  t.after(() => Promise.all(services.map((service) => service.close())))
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
  /** The first key's budget is far smaller than the plan's. */
  const dollars = { limitNanos: 2 * used + 99_999, period: 'day' } as const

  const run = async (ledger: Ledger, keyId: string) => {
    const budget = keyId === 'a' ? { monthlyTokens: null, dollars } : null
    const reservation = await ledger.reserve({ ...callOf('ada', keyId), budget })
    await new Promise((resolve) => setImmediate(resolve))
    await ledger.settle(reservation, recordOf('ada', keyId, reservation.at, used))
  }
  const crowd = (from: number, to: number, keyAt: (index: number) => string) =>
    Promise.allSettled(
      Array.from({ length: to - from }, (_, index) =>
        run(services[index % SERVICES]!.ledger, keyAt(from + index)),
      ),
    )
  // The first key's calls run first: after the others, the plan's dollars might be used up.
  const own = await crowd(0, 4, () => 'a')
  assert.equal(own.filter(({ status }) => status === 'fulfilled').length, 2)
  const results = [...own, ...(await crowd(4, CLAIMS, (index) => keys[index % keys.length] ?? ''))]

  const answered = results.filter(({ status }) => status === 'fulfilled').length
  assert.equal(answered, paid, 'rejects only calls that do not fit')
  const codes = new Map<string, number>()
  for (const result of results) {
    if (result.status === 'fulfilled') continue
    const { code } = result.reason as { code: string }
    codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  assert.ok(
    [...codes.keys()].every(
      (code) => code === 'budget_exhausted' || code === 'key_budget_exhausted',
    ),
  )
  const rows = await app.platform.db
    .selectFrom('usage_budgets')
    .selectAll()
    .orderBy('scope')
    .execute()
  assert.deepEqual(
    rows.map(({ scope, period, used_nanos, reserved_nanos, reserved_tokens }) => [
      scope,
      period,
      used_nanos,
      reserved_nanos,
      reserved_tokens,
    ]),
    [
      ['', '2030-03-01/month', paid * used, 0, 0],
      ['a', '2030-03-04/day', 2 * used, 0, 0],
    ],
  )
  const held = await app.platform.db
    .selectFrom('usage_reservations')
    .select(['tokens', 'nanos'])
    .execute()
  assert.ok(held.every(({ tokens, nanos }) => tokens === 0 && nanos === 0))
})

test('a reservation of a fraction of a nanodollar is rounded up and does not retry forever', async (t) => {
  const { app } = await setting(t)
  const usage = createUsage(app.platform, USAGE_NEEDS)
  t.after(() => usage.close())
  for (let left = 180; left < 195; left++) {
    const dollars = { limitNanos: left, period: 'day' as const }
    const claim = {
      ...callOf('ada', `key-${left}`),
      promptNanos: 0,
      tokenNanos: 1.1,
      completionTokens: 170,
    }
    const { completionTokens } = await usage.ledger.reserve({
      ...claim,
      completionTokensMin: 1,
      budget: { monthlyTokens: null, dollars },
    })
    assert.ok(
      completionTokens >= 1 && Math.ceil(completionTokens * 1.1) <= left,
      `${completionTokens} of ${left}`,
    )
  }
})

test('a request for an answer of absurd length is rejected alone and fails no other request', async (t) => {
  const { app, makeKey } = await setting(t, { tier: 'enterprise' })
  const key = await makeKey()
  const model = 'gpt-of-an-unknown-length'
  const asked = [1e18, 1e300, 1_000].flatMap((max_tokens) => [
    key.ask({ model, max_tokens }),
    key.ask(),
  ])
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  assert.ok(
    statuses.every((status) => status === 200 || status === 400 || status === 429),
    String(statuses),
  )
  assert.deepEqual([statuses[1], statuses[3], statuses[5]], [200, 200, 200])
  assert.equal((await app.get('/healthz')).status, 200)
})

test('a call that waits over midnight counts on the day of its reservation', async (t) => {
  const { app } = await setting(t)
  const { ledger } = app.service.usage
  const dollars = { limitNanos: 1_000_000, period: 'day' } as const
  const call = { ...callOf('ada', 'a'), budget: { monthlyTokens: null, dollars } }
  const first = await ledger.reserve(call)
  const second = ledger.reserve(call)
  app.clock.advance(DAY_MS)
  const { at } = await second
  assert.equal(at.slice(0, 10), '2030-03-05')
  await ledger.settle(first, recordOf('ada', 'a', first.at, 1_000_000))
  await ledger.settle(await second, recordOf('ada', 'a', at, 400_000))
  const rows = await app.platform.db
    .selectFrom('usage_budgets')
    .select(['period', 'used_nanos', 'reserved_nanos'])
    .where('scope', '=', 'a')
    .orderBy('period')
    .execute()
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { period: '2030-03-04/day', used_nanos: 1_000_000, reserved_nanos: 0 },
      { period: '2030-03-05/day', used_nanos: 400_000, reserved_nanos: 0 },
    ],
  )
})

test('periods begin with UTC days, ISO weeks and months, also at the end of a year', () => {
  for (const [at, day, week, month] of [
    ['2030-03-04T00:00:00.000Z', '2030-03-04', '2030-03-04', '2030-03-01'],
    ['2030-03-03T23:59:59.999Z', '2030-03-03', '2030-02-25', '2030-03-01'],
    ['2027-01-01T12:00:00.000Z', '2027-01-01', '2026-12-28', '2027-01-01'],
    ['2028-02-29T12:00:00.000Z', '2028-02-29', '2028-02-28', '2028-02-01'],
  ] as const) {
    assert.deepEqual(
      namePeriods(at),
      { day: `${day}/day`, week: `${week}/week`, month: `${month}/month` },
      at,
    )
  }
  assert.deepEqual(computeSpan('month', '2030-12-31T23:00:00.000Z'), {
    start: '2030-12-01T00:00:00.000Z',
    end: '2031-01-01T00:00:00.000Z',
  })
})

test('another process’s change of a budget’s row applies from the next call on', async (t) => {
  const { app } = await setting(t)
  const config = { ...app.config, serve: new Set(['api'] as const) }
  const usage = createUsage({ ...app.platform, config }, USAGE_NEEDS)
  t.after(() => usage.close())
  const { ledger } = usage
  const dollars = { limitNanos: 2_000_000, period: 'day' } as const
  const call = { ...callOf('ada', 'a'), budget: { monthlyTokens: null, dollars }, isTrial: true }
  const spend = async (nanos: number) => {
    const reservation = await ledger.reserve(call)
    await ledger.settle(reservation, recordOf('ada', 'a', reservation.at, nanos))
  }
  const setUsed = (nanos: number) =>
    app.platform.db
      .updateTable('usage_budgets')
      .set({ used_nanos: nanos })
      .where('scope', '=', 'a')
      .execute()

  await spend(900_000)
  await spend(900_000)
  await assert.rejects(spend(1), { code: 'key_budget_exhausted' })
  await setUsed(0)
  await spend(100_000)
  await setUsed(1_500_000)
  const { now } = performance
  t.mock.method(performance, 'now', () => now.call(performance) + 1_000)
  await assert.rejects(spend(1), { code: 'key_budget_exhausted' })
  // An unlimited call counts toward a budget that was used before.
  await setUsed(0)
  await spend(0)
  await ledger.settle(null, recordOf('ada', 'a', app.clock.now(), 1_500_000))
  await assert.rejects(spend(1), { code: 'key_budget_exhausted' })
})

test('reservations of one process count for the others of the service', async (t) => {
  const { app } = await setting(t)
  const config = { ...app.platform.config, serve: new Set(['api'] as const) }
  const [one, other] = [0, 1].map(() => createUsage({ ...app.platform, config }, USAGE_NEEDS))
  t.after(() => Promise.all([one?.close(), other?.close()]))
  const dollars = { limitNanos: 1_000_000, period: 'day' } as const
  const call = { ...callOf('ada', 'a'), budget: { monthlyTokens: null, dollars }, isTrial: true }
  const held = await one!.ledger.reserve(call)
  await assert.rejects(other!.ledger.reserve(call), { code: 'key_budget_exhausted' })
  await one!.ledger.release(held)
  await other!.ledger.release(await other!.ledger.reserve(call))
})
