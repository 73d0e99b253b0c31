// Attacks a user's budget through many keys at once, with files, long prompts and 128 choices, over
// three nodes, one of which dies during calls. The budget is never overspent, and no call is rejected
// while it fits.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { mockVendor, type Step, says } from '#testing/mock-vendor.ts'
import { USAGE_NEEDS } from '#testing/spend.ts'
import type { Reservation, ReserveCall } from './ledger.ts'
import type { UsageRecord } from './record.ts'
import { createUsage } from './usage.ts'

/** Per million tokens: $0.10 input, $0.125 cache writes, $0.50 output. */
const MODEL = 'gpt-6-luna'
const HI = [{ role: 'user', content: 'Hi' }]
const PAGES = 10
const PDF = Buffer.from(`%PDF-1.4\n${'<< /Type /Page /Parent 2 0 R >>\n'.repeat(PAGES)}`).toString(
  'base64',
)
const FILE = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` }

/** The kinds cost 0.06, 0.4, 0.7 and 1.3 percent of $0.10. */
const KINDS = [
  { messages: HI, max_tokens: 1_000 },
  { messages: [{ role: 'user', content: [{ type: 'file', file: FILE }] }], max_tokens: 1_000 },
  { messages: [{ role: 'user', content: 'x'.repeat(150_000) }], max_tokens: 1_000 },
  { messages: HI, max_tokens: 200, n: 128 },
]

/** Creates a plan with this allowance and without a limit on choices. */
function catalogueOf(t: TestContext, allowance_usd: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-overspend-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'catalogue.json')
  const plan = { tier: 'pro', name: 'Pro', prices: {}, grants: ['ai', 'api_keys'], allowance_usd }
  writeFileSync(path, JSON.stringify({ plans: [plan] }))
  return path
}

/** Reports the highest usage that the reservation allows: all pages, a token per three bytes, full answers. */
const answerAtHighestCost: Step = (call, reply) => {
  const { messages, max_completion_tokens: most, n } = call.body
  const [{ content }] = messages
  const prompt = typeof content === 'string' ? Math.floor(content.length / 3) : PAGES * 3_000
  return says('ok', { usage: { prompt, completion: most * (n ?? 1) } })(call, reply)
}

test('forty keys at once, with files, long prompts and 128 choices, do not overspend a plan’s dollars', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    worker: !ON_POSTGRES,
    env: { ...vendor.env.openai, CATALOGUE: catalogueOf(t, 0.1) },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const createKey = async (settings: object = {}) => {
    const { body, status } = await ada.post('/api/api-keys', { name: 'k', ...settings })
    assert.equal(status, 201, JSON.stringify(body))
    return { authorization: `Bearer ${body.key}` }
  }
  const ask = (headers: Record<string, string>, more: object) =>
    app.post('/v1/chat/completions', { model: MODEL, ...more }, { headers })
  const allowance = async () => (await ada.get('/api/usage/allowance')).body
  const keys: Record<string, string>[] = []
  for (let n = 0; n < 40; n++) keys.push(await createKey())

  // The key's budget pays for the prompt and one token in half of the choices, so no vendor is called.
  const lowBudgetKey = await createKey({
    budget: { limit_usd: (9 * 125 + 64 * 500) / 1e9, period: 'day' },
  })
  vendor.play(answerAtHighestCost)
  const { status, body } = await ask(lowBudgetKey, { messages: HI, max_tokens: 200, n: 128 })
  assert.deepEqual([status, body.error?.message], [429, 'Daily budget of this key exhausted'])
  assert.equal(vendor.calls.length, 0)
  assert.equal((await ask(lowBudgetKey, { messages: HI, max_tokens: 200, n: 64 })).status, 200)
  assert.equal(vendor.calls[0]!.body.max_completion_tokens, 1)

  const replies = await Promise.all(
    keys.map((key, index) => ask(key, KINDS[index % KINDS.length]!)),
  )
  const refused = replies.filter((reply) => reply.status !== 200)
  for (const reply of refused)
    assert.deepEqual([reply.status, reply.body.error.message], [429, 'Monthly budget exhausted'])
  assert.ok(
    refused.length > 0 && refused.length < keys.length,
    `${refused.length} of ${keys.length} refused`,
  )
  const { used_usd, reserved_usd } = await allowance()
  assert.ok(used_usd <= 0.1, String(used_usd))
  assert.equal(reserved_usd, 0)

  // Small requests use the budget to its last token.
  let last = await ask(keys[0]!, KINDS[0]!)
  for (let asked = 0; last.status === 200 && asked < 200; asked++)
    last = await ask(keys[0]!, KINDS[0]!)
  assert.equal(last.body.error.message, 'Monthly budget exhausted')
  const { used_usd: spent } = await allowance()
  assert.ok(spent <= 0.1 && spent > 0.099_998, String(spent))
})

/** The embedded PostgreSQL has one connection. */
const CROWD = process.env.TEST_ENGINE === 'pglite' ? 20 : 200
const [HELD, USED, PROMPT] = [1_000_000, 170_000, 100_000]
const KEYS = Array.from({ length: 50 }, (_, index) => `key-${index}`)
const OPEN = 5
const TERMS = {
  route: '/test',
  vendor: 'openai',
  model: MODEL,
  requestId: null,
  endUser: '',
  labels: '',
}

const callOf = (keyId: string): ReserveCall => ({
  userId: 'ada',
  keyId,
  tier: 'pro',
  slices: null,
  promptTokens: 10,
  completionTokens: 90,
  promptNanos: PROMPT,
  tokenNanos: (HELD - PROMPT) / 90,
  call: { ...TERMS, tier: 'pro', costUsd: PROMPT / 1e9 },
})

const recordOf = (keyId: string, startedAt: string): UsageRecord => ({
  userId: 'ada',
  keyId,
  ...TERMS,
  promptTokens: 10,
  completionTokens: 7,
  cachedTokens: 0,
  reasoningTokens: 0,
  costUsd: USED / 1e9,
  latencyMs: 1,
  firstTokenMs: null,
  attempts: 1,
  tried: 'openai:ok',
  outcome: 'ok',
  status: 200,
  errorCode: null,
  vendorRequestId: null,
  isEstimated: false,
  startedAt,
  tier: 'pro',
})

test('three nodes share a plan’s dollars, and the reservations of one that died are released once', async (t) => {
  const app = await testApp(t)
  const { db, config } = app.platform
  const { catalogue } = config
  // Covers the dying node's reservations, the other calls' use, and one more reservation.
  const limit = OPEN * HELD + (CROWD - 1) * USED + HELD
  const plans = catalogue.plans.map((plan) => ({ ...plan, allowanceUsd: limit / 1e9 }))
  // Processes that share an embedded database behave like nodes that share a server.
  const shared = { ...config, serve: new Set(['api'] as const), catalogue: { ...catalogue, plans } }
  const nodeOf = (name: string) => {
    const platform = {
      ...app.platform,
      config: { ...shared, dataDir: `${config.dataDir}/${name}` },
    }
    const node = createUsage(platform, USAGE_NEEDS)
    t.after(() => node.close())
    return node
  }
  const [one, two, dying] = [nodeOf('one'), nodeOf('two'), nodeOf('dying')]
  const survivors = [one, two]
  const budget = async () => {
    const row = await db
      .selectFrom('usage_budgets')
      .selectAll()
      .where('scope', '=', '')
      .executeTakeFirstOrThrow()
    return { used: Number(row.used_nanos), held: Number(row.reserved_nanos) }
  }
  const crowd = (count: number, prefix = '') =>
    Promise.allSettled(
      Array.from({ length: count }, async (_, index) => {
        const keyId = prefix + KEYS[index % KEYS.length]
        const { ledger } = survivors[index % 2]!
        const reservation = await ledger.reserve(callOf(keyId))
        await new Promise((resolve) => setImmediate(resolve))
        await ledger.settle(reservation, recordOf(keyId, reservation.at))
      }),
    )
  const answered = (results: PromiseSettledResult<void>[]) =>
    results.filter(({ status }) => status === 'fulfilled')

  await dying.open()
  const open: Reservation[] = []
  for (let n = 0; n < OPEN; n++) open.push(await dying.ledger.reserve(callOf('dying')))
  const notes = () => db.selectFrom('usage_open_calls').select('id').execute()
  while ((await notes()).length < OPEN) await wait(50)

  // Their reservations exceed the budget by far, but their use fits, so no call is rejected.
  assert.equal(answered(await crowd(CROWD)).length, CROWD, 'rejects no call that fits')
  assert.deepEqual(await budget(), { used: CROWD * USED, held: OPEN * HELD })
  for (const { ledger } of survivors) {
    await assert.rejects(ledger.reserve({ ...callOf('a'), isTrial: true }), {
      code: 'budget_exhausted',
    })
  }

  // The node was last seen a minute ago: its calls cost their prompts, and the rest is released.
  app.clock.advance(61_000)
  await one.open()
  await two.open()
  const used = CROWD * USED + OPEN * PROMPT
  assert.deepEqual(await budget(), { used, held: 0 })
  const fit = Math.floor((limit - used) / USED)
  const results = await crowd(fit + 20, 'late-')
  assert.equal(answered(results).length, fit, 'exactly the released amount can be used')
  for (const result of results) {
    if (result.status === 'rejected')
      assert.equal((result.reason as { code: string }).code, 'budget_exhausted')
  }

  // The node was only suspended: the ends of its calls neither count twice nor release amounts twice.
  await Promise.all(open.map((one) => dying.ledger.settle(one, recordOf('dying', one.at))))
  const after = await budget()
  assert.deepEqual(after, { used: used + fit * USED, held: 0 })
  assert.ok(after.used <= limit)
  const { length } = await db.selectFrom('usage_records').select('id').execute()
  assert.equal(length, CROWD + OPEN + fit)
})

test('concurrent users on two nodes each reserve their whole budget and nothing else', async (t) => {
  const app = await testApp(t)
  const { config } = app.platform
  const plans = config.catalogue.plans.map((plan) => ({
    ...plan,
    allowanceUsd: (2 * HELD + 1) / 1e9,
  }))
  const shared = {
    ...config,
    serve: new Set(['api'] as const),
    catalogue: { ...config.catalogue, plans },
  }
  const nodes = [0, 1].map(() => {
    const node = createUsage({ ...app.platform, config: shared }, USAGE_NEEDS)
    t.after(() => node.close())
    return node
  })
  const users = Array.from({ length: CROWD / 5 }, (_, index) => `user-${index}`)
  const held: { ledger: (typeof nodes)[number]['ledger']; reservation: Reservation }[] = []
  const claim = async (round: number) => {
    const granted = new Map<string, number>()
    const ask = async (userId: string, index: number) => {
      const { ledger } = nodes[(index + round) % 2]!
      const reservation = await ledger
        .reserve({ ...callOf('k'), call: undefined, userId, isTrial: true })
        .catch(() => null)
      if (reservation === null) return
      held.push({ ledger, reservation })
      granted.set(userId, (granted.get(userId) ?? 0) + 1)
    }
    // Concurrent requests share a transaction: some fit, some do not, and some are their user's first.
    const late = round === 0 ? users.slice(1) : users
    await Promise.all([...late, ...late, ...late].map(ask))
    return late.map((userId) => granted.get(userId) ?? 0)
  }
  const budgets = () =>
    app.platform.db.selectFrom('usage_budgets').select(['user_id', 'reserved_nanos']).execute()
  for (const round of [0, 1, 2]) {
    const granted = await claim(round)
    assert.ok(
      granted.every((count) => count === 2),
      granted.join(' '),
    )
    assert.ok((await budgets()).every(({ reserved_nanos }) => Number(reserved_nanos) === 2 * HELD))
    await Promise.all(held.splice(0).map(({ ledger, reservation }) => ledger.release(reservation)))
    assert.ok((await budgets()).every(({ reserved_nanos }) => Number(reserved_nanos) === 0))
  }
})
