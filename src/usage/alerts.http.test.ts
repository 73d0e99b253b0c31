// Alerts at 80 and 100 percent of a plan's monthly dollars: each once, by email and in the API, with
// one or several nodes.

import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { notifyAllowance } from '#identity/notify-owner.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { type MockVendor, mockVendor, says } from '#testing/mock-vendor.ts'
import { USAGE_NEEDS } from '#testing/spend.ts'
import { suiteContext } from '#testing/suite.ts'
import { findDueLevel, sendAlerts } from './alerts.ts'
import type { Reservation } from './ledger.ts'
import type { UsageRecord } from './record.ts'
import { createUsage } from './usage.ts'

test('reports the highest reached threshold once, and a larger plan has higher ones', () => {
  const cases: [limit: number, used: number, alerted: number, percent: number | null][] = [
    [100, 79, 0, null],
    [100, 80, 0, 80],
    [100, 99, 80, null],
    [100, 100, 80, 100],
    [100, 250, 0, 100],
    [100, 250, 100, null],
    [400, 250, 100, null],
    [400, 320, 100, 80],
    [50, 60, 100, null],
    [0, 0, 0, null],
  ]
  for (const [limit, used, alerted, percent] of cases) {
    assert.equal(
      findDueLevel(limit, used, alerted)?.percent ?? null,
      percent,
      `${used} of ${limit}, told ${alerted}`,
    )
  }
})

suite('alerts of allowances', () => {
  const t = suiteContext()
  const HI = [{ role: 'user', content: 'Hi' }]
  let app: TestApp
  let vendor: MockVendor
  before(async () => {
    vendor = await mockVendor(t)
    app = await testApp(t, { worker: !ON_POSTGRES, env: vendor.env.openai })
  })

  const send = () =>
    sendAlerts(app.platform, (tx, userId, alert) =>
      notifyAllowance(app.platform, tx, userId, alert),
    )
  const letters = async (name: string) =>
    (await app.mail(`${name}@example.com`))
      .filter(({ subject }) => /allowance/.test(subject))
      .map(({ subject }) => subject)
  const alertsOf = async (who: Pick<Client, 'get'>) =>
    (await who.get('/api/usage/allowance')).body.alerts.map(
      ({ percent }: { percent: number }) => percent,
    )
  /** Each call costs six dollars: 30 million prompt tokens at $0.20 per million (above 272,000). */
  const dear = says('ok', { usage: { prompt: 30_000_000, completion: 0 } })
  const MOST = 'Most of your allowance is used'
  const ALL = 'Your allowance is used up'

  test('sends two alerts a month, and none to other users', async () => {
    const ada = await app.as('ada', { tier: 'pro' })
    const ask = () => ada.post('/api/ai/chat', { messages: HI, model: 'gpt-6-luna' })
    vendor.play(dear)
    for (const expected of [[], [], [80], [80, 100]]) {
      assert.equal((await ask()).status, 200)
      assert.deepEqual(await alertsOf(ada), expected)
      await send()
      assert.equal(await send(), 0)
      assert.equal((await letters('ada')).length, expected.length)
    }
    assert.equal((await ask()).status, 429)
    assert.equal(await send(), 0)
    assert.deepEqual(await letters('ada'), [ALL, MOST])
    const [letter] = await app.mail('ada@example.com')
    assert.match(letter?.text ?? '', /Used: \$24\.00 of \$20\.00/)

    const later = await app.as('bob', { tier: 'pro' })
    vendor.play(says('ok', { usage: { prompt: 85_000_000, completion: 0 } }))
    assert.equal(
      (await later.post('/api/ai/chat', { messages: HI, model: 'gpt-6-luna' })).status,
      200,
    )
    assert.equal(await send(), 1)
    assert.deepEqual(
      [await letters('bob'), await alertsOf(later)],
      [[MOST], [80]],
      'alerts no other user',
    )
  })

  test('the first call that does not fit counts as 100 percent; a long call at the start does not', async () => {
    const { reserve, settle } = ledgerOf('carla')
    await app.as('carla', { tier: 'pro' })
    const nanos = 1e9
    await assert.rejects(reserve(30 * nanos), { code: 'budget_exhausted' })
    assert.deepEqual(await alerts('carla'), [])
    await settle(19 * nanos)
    assert.deepEqual(await alerts('carla'), [80])
    for (let index = 0; index < 3; index++)
      await assert.rejects(reserve(2 * nanos), { code: 'budget_exhausted' })
    assert.deepEqual(await alerts('carla'), [80, 100])
  })

  test('a call that gets fewer searches than requested writes no alert and does not wait', async () => {
    vendor.play(says('ok'))
    const frida = await app.as('frida', { tier: 'pro' })
    ids.set('frida', frida.userId)
    const { reserve, settle, release } = ledgerOf('frida')
    await settle(16.5e9)
    const { body } = await frida.post('/api/api-keys', { name: 'searches' })
    const headers = { authorization: `Bearer ${body.key}` }
    const asked = {
      model: 'gpt-6-luna',
      input: 'Hi',
      max_output_tokens: 100,
      max_tool_calls: 1_000,
    }
    const search = () =>
      app.post('/v1/responses', { ...asked, tools: [{ type: 'web_search' }] }, { headers })
    assert.equal((await search()).status, 200)
    assert.equal(vendor.calls.at(-1)?.body.max_tool_calls, 1)
    assert.deepEqual(await alerts('frida'), [80])

    const held = await reserve(3e9)
    await assert.rejects(
      reserve(2e9, true),
      { code: 'budget_exhausted' },
      'not after a wait for what another holds',
    )
    assert.deepEqual(await alerts('frida'), [80])
    await release(held)
    await assert.rejects(reserve(4e9), { code: 'budget_exhausted' })
    assert.deepEqual(await alerts('frida'), [80, 100])
  })

  test('concurrent calls on two nodes send one alert, and a failed email is sent again', async () => {
    const dora = await app.as('dora', { tier: 'pro' })
    const [one, two] = [ledgerOf('dora'), ledgerOf('dora')]
    const crowd = (calls: number) =>
      Promise.all(
        Array.from({ length: calls }, (_, index) => (index % 2 ? one : two).settle(0.1e9)),
      )
    await crowd(170)
    assert.deepEqual(await alerts('dora'), [80])
    await crowd(40)
    assert.deepEqual(await alerts('dora'), [80, 100])
    const failing = () => Promise.reject(new Error('the mail is full'))
    await assert.rejects(sendAlerts(app.platform, failing), /mail is full/)
    assert.deepEqual(await letters('dora'), [])
    const [first, second] = await Promise.all([send(), send()])
    assert.equal(first + second >= 2, true)
    assert.deepEqual((await letters('dora')).sort(), [MOST, ALL].sort())

    await app.as('dora', { tier: 'enterprise' })
    await one.settle(50e9, 'enterprise')
    assert.deepEqual(await alerts('dora'), [80, 100, 80], 'of the larger plan’s dollars')
    assert.equal(
      (await dora.delete('/api/users/me', { password: 'correct horse battery' })).status,
      200,
    )
    assert.deepEqual(await alerts('dora'), [])
  })

  test('sends an alert for the smaller plan after one for the larger, each once', async () => {
    const { reserve, settle } = ledgerOf('gina')
    await settle(71e9, 'enterprise')
    assert.deepEqual(await alerts('gina'), [80])
    for (let index = 0; index < 2; index++)
      await assert.rejects(reserve(1e9), { code: 'budget_exhausted' })
    assert.deepEqual(await alerts('gina'), [100, 80])
    await settle(1e9, 'enterprise')
    assert.deepEqual(await alerts('gina'), [100, 80])
  })

  test('a new month starts without alerts, and drops unsent ones of the last', async () => {
    const { settle } = ledgerOf('erik')
    await settle(17e9)
    app.clock.advance(32 * 86_400_000)
    await settle(1e9)
    assert.deepEqual(await alerts('erik'), [80])
    await settle(17e9)
    assert.deepEqual(await alerts('erik'), [80, 80])
    assert.equal(await send(), 1)
    assert.deepEqual(await letters('erik'), [MOST])
  })

  const ids = new Map<string, string>()
  async function idOf(name: string): Promise<string> {
    const known = ids.get(name) ?? (await app.as(name)).userId
    ids.set(name, known)
    return known
  }

  async function alerts(name: string): Promise<number[]> {
    const rows = await app.platform.db
      .selectFrom('usage_alerts')
      .select(['percent', 'limit_nanos'])
      .where('user_id', '=', await idOf(name))
      .orderBy('limit_nanos')
      .orderBy('percent')
      .execute()
    return rows.map(({ percent }) => Number(percent))
  }

  /** The ledger of a separate node. */
  function ledgerOf(name: string) {
    const usage = createUsage(app.platform, USAGE_NEEDS)
    t.after(() => usage.close())
    return {
      reserve: async (promptNanos: number, isTrial = false) =>
        usage.ledger.reserve({
          userId: await idOf(name),
          keyId: null,
          tier: 'pro',
          slices: null,
          promptTokens: 1,
          promptNanos,
          tokenNanos: 0,
          completionTokens: 0,
          isTrial,
        }),
      release: (reservation: Reservation) => usage.ledger.release(reservation),
      settle: async (nanos: number, tier = 'pro') => {
        const userId = await idOf(name)
        const claim = { promptTokens: 1, promptNanos: 1, tokenNanos: 0, completionTokens: 0 }
        const reservation = await usage.ledger.reserve({
          userId,
          keyId: null,
          tier,
          slices: null,
          ...claim,
        })
        await usage.ledger.settle(reservation, recordOf(userId, tier, reservation.at, nanos / 1e9))
      },
    }
  }
})

function recordOf(userId: string, tier: string, startedAt: string, costUsd: number): UsageRecord {
  return {
    userId,
    keyId: null,
    tier,
    route: '/api/ai/chat',
    vendor: 'openai',
    model: 'gpt-6-luna',
    promptTokens: 1,
    completionTokens: 1,
    cachedTokens: 0,
    reasoningTokens: 0,
    costUsd,
    latencyMs: 1,
    firstTokenMs: null,
    attempts: 1,
    tried: 'openai:ok',
    outcome: 'ok',
    status: 200,
    errorCode: null,
    requestId: null,
    vendorRequestId: null,
    endUser: '',
    labels: '',
    isEstimated: false,
    startedAt,
  }
}
