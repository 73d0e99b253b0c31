import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '#platform/clock.ts'
import { testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { cuts, mockVendor, refuses, says, silent } from '#testing/mock-vendor.ts'
import { USAGE_NEEDS } from '#testing/spend.ts'
import { toBudgetTx } from './budgets.ts'
import { settleCalls } from './settlements.ts'
import { createUsage } from './usage.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

test('counts every call by day, model and key, with its cost', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...vendor.env.anthropic } })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body: key } = await ada.post('/api/api-keys', { name: 'laptop' })
  vendor.play(says('ok', { usage: { prompt: 1_000_000, completion: 200_000 } }))

  await ada.post('/api/ai/chat', { messages: HI })
  await app.post('/api/ai/chat', { messages: HI, stream: true }, bearer(key.key))
  await app.post(
    '/v1/chat/completions',
    { model: 'claude-haiku-5-5', messages: HI },
    bearer(key.key),
  )
  vendor.play(refuses(400))
  await ada.post('/api/ai/chat', { messages: HI })

  const today = app.clock.now().slice(0, 10)
  const byDay = (await ada.get('/api/usage')).body
  assert.equal(byDay.to, today)
  assert.equal(Date.parse(byDay.to) - Date.parse(byDay.from), 29 * 86_400_000)
  assert.deepEqual(
    byDay.groups.map((group: { key: string; requests: number }) => [group.key, group.requests]),
    [[today, 4]],
  )
  assert.equal(byDay.totals.requests, 4)
  assert.equal(byDay.totals.prompt_tokens, 3_000_000)
  assert.equal(byDay.totals.total_tokens, 3_600_000)

  const byModel = (await ada.get('/api/usage?group_by=model')).body.groups
  const luna = byModel.find((group: { key: string }) => group.key === 'gpt-6-luna')
  // Above 272,000 tokens: 1 M at $0.20 and 0.2 M at $0.75, twice.
  assert.equal(luna.cost_usd, 0.7)
  const haiku = byModel.find((group: { key: string }) => group.key === 'claude-haiku-5-5')
  // Above 100,000 tokens: 1 M at $0.50 and 0.2 M at $2.50.
  assert.equal(haiku.cost_usd, 1)

  const byKey = (await app.get('/api/usage?group_by=key', bearer(key.key))).body.groups
  assert.deepEqual(
    byKey.map((group: { key: string; requests: number }) => [group.key, group.requests]).sort(),
    [
      [key.id, 2],
      ['session', 2],
    ].sort(),
  )
})

test('both ends of a range of days are included, and other dates are rejected', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/ai/chat', { messages: HI })
  const today = app.clock.now().slice(0, 10)
  const day = (offset: number) =>
    new Date(app.clock.ms() + offset * 86_400_000).toISOString().slice(0, 10)
  const requests = async (query: string) =>
    (await ada.get(`/api/usage?${query}`)).body.totals.requests

  assert.equal(await requests(`from=${today}&to=${today}`), 1)
  assert.equal(await requests(`from=${day(-9)}&to=${day(-1)}`), 0)
  assert.equal(await requests(`from=${day(1)}&to=${day(2)}`), 0)
  for (const query of [
    'from=yesterday',
    'to=2026-13-01',
    'group_by=colour',
    `from=${day(1)}&to=${day(0)}`,
  ]) {
    assert.equal((await ada.get(`/api/usage?${query}`)).status, 422, query)
  }
  assert.equal((await app.get('/api/usage')).status, 401)
})

test('a user does not see the usage of others', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  await (await app.as('ada', { tier: 'pro' })).post('/api/ai/chat', { messages: HI })

  const eve = await app.as('eve')
  assert.deepEqual((await eve.get('/api/usage')).body.totals, {
    requests: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    cached_tokens: 0,
    cost_usd: 0,
  })
})

test('two hundred calls at once use a budget to its last token and do not overspend it', async (t) => {
  const vendor = await mockVendor(t)
  const budget = 1_000
  const app = await testApp(t, {
    worker: !ON_POSTGRES,
    env: { ...vendor.env.openai, BUDGET_PRO_TOKENS: String(budget) },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  // Each call reserves an estimated 11 prompt tokens and 9 answer tokens, so fifty calls fit exactly.
  vendor.play(says('ok', { usage: { prompt: 9, completion: 11 } }))

  const replies = await Promise.all(
    Array.from({ length: 200 }, () => ada.post('/api/ai/chat', { messages: HI, max_tokens: 100 })),
  )

  const answered = replies.filter(({ status }) => status === 200).length
  const refused = replies.filter(({ status }) => status === 429)
  assert.equal(answered + refused.length, 200)
  assert.equal(answered, 50)
  const exhausted = { detail: 'Monthly token budget exhausted', code: 'token_budget_exhausted' }
  for (const { body } of refused) assert.deepEqual(body, exhausted)
  assert.equal((await ada.get('/api/usage')).body.totals.total_tokens, budget)

  // Another plan, another user or another month has a separate budget.
  assert.equal(
    (await (await app.as('bob', { tier: 'pro' })).post('/api/ai/chat', { messages: HI })).status,
    200,
  )
  app.clock.advance(32 * 86_400_000)
  const again = await app.as('ada', { tier: 'enterprise' })
  assert.equal((await again.post('/api/ai/chat', { messages: HI })).status, 200)
})

/** Fewer on the embedded PostgreSQL: it has one connection, for which a thousand calls would wait too long. */
const CLAIMS = process.env.TEST_ENGINE === 'pglite' ? 250 : 1_000
/** The calls that fit into each user's budget; both users make more. */
const PAID = Math.floor(CLAIMS * 0.412)

test('a thousand concurrent reservations use a budget to its last token', async (t) => {
  const app = await testApp(t, {
    worker: !ON_POSTGRES,
    env: { BUDGET_PRO_TOKENS: String(PAID * 17 + 3) },
  })
  const { ledger } = app.service.usage
  const record = (userId: string, tokens: number) => ({
    userId,
    keyId: null,
    tier: 'pro',
    reasoningTokens: 0,
    firstTokenMs: null,
    status: 200,
    errorCode: null,
    requestId: null,
    vendorRequestId: null,
    endUser: '',
    labels: '',
    route: '/test',
    vendor: 'openai',
    model: 'gpt-6-luna',
    promptTokens: 10,
    completionTokens: tokens - 10,
    cachedTokens: 0,
    costUsd: 0.000_001,
    latencyMs: 1,
    attempts: 1,
    tried: 'openai:ok',
    outcome: 'ok' as const,
    isEstimated: false,
    startedAt: app.clock.now(),
  })
  let most = 0
  let running = 0

  const results = await Promise.allSettled(
    Array.from({ length: CLAIMS }, async (_, index) => {
      const userId = index % 2 === 0 ? 'ada' : 'bob'
      const reservation = await ledger.reserve({
        userId,
        keyId: null,
        tier: 'pro',
        slices: null,
        promptTokens: 10,
        completionTokens: 90,
        promptNanos: 0,
        tokenNanos: 0,
      })
      running++
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, index % 7))
      running--
      // Uses 17 of the 100 reserved tokens.
      await ledger.settle(reservation, record(userId, 17))
    }),
  )

  // Each call uses 17 tokens; the remaining three fit no prompt.
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 2 * PAID)
  assert.ok(most > 20, `only ${most} ran at once`)
  const budgets = await app.platform.db
    .selectFrom('usage_budgets')
    .selectAll()
    .orderBy('user_id')
    .execute()
  assert.deepEqual(
    budgets.map(({ user_id, used_tokens, reserved_tokens }) => [
      user_id,
      used_tokens,
      reserved_tokens,
    ]),
    [
      ['ada', PAID * 17, 0],
      ['bob', PAID * 17, 0],
    ],
  )
  const days = await app.platform.db.selectFrom('usage_days').selectAll().execute()
  assert.deepEqual(
    days.map(({ requests, cost_nanos }) => [requests, cost_nanos]),
    [
      [PAID, PAID * 1_000],
      [PAID, PAID * 1_000],
    ],
  )
})

test('the last tokens of a budget go to a shorter answer', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    worker: !ON_POSTGRES,
    env: { ...vendor.env.openai, BUDGET_PRO_TOKENS: '60' },
  })
  const ada = await app.as('ada', { tier: 'pro' })

  assert.equal((await ada.post('/api/ai/chat', { messages: HI, max_tokens: 1_000 })).status, 200)
  const limit = vendor.calls[0]!.body.max_completion_tokens
  assert.ok(limit > 0 && limit < 60, String(limit))
})

test('an answer without a limit has room for reasoning, and less while other calls have reserved the rest', async (t) => {
  const vendor = await mockVendor(t)
  const env = { ...vendor.env.openai, ...vendor.env.anthropic, BUDGET_PRO_TOKENS: '50000' }
  const app = await testApp(t, { env })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body: key } = await ada.post('/api/api-keys', { name: 'agent' })
  const ask = (model: string, more: object = {}) =>
    app.post('/v1/chat/completions', { model, messages: HI, ...more }, bearer(key.key))

  vendor.play(says('ok', { usage: { prompt: 10, completion: 30_000 } }))
  assert.equal((await ask('claude-sonnet-5-5')).status, 200)
  // A call without a limit gets half of the rest, so that the next call fits, too.
  assert.deepEqual(
    [vendor.calls[0]!.body.max_tokens, vendor.calls[0]!.body.output_config],
    [24_995, undefined],
  )

  // 20,000 tokens are left; the first call reserves half of them while the next two run.
  const held = Promise.withResolvers<void>()
  const arrived = [1, 2, 3].map(() => Promise.withResolvers<void>())
  vendor.play(async (call, reply) => {
    arrived[vendor.calls.length - 1]?.resolve()
    await held.promise
    await says('ok', { usage: { prompt: 10, completion: 20 } })(call, reply)
  })
  const holder = ask('gpt-6-luna', { max_tokens: 10_000 })
  await arrived[0]?.promise
  const second = ask('gpt-6-luna')
  await arrived[1]?.promise
  const third = ask('claude-sonnet-5-5')
  await arrived[2]?.promise
  held.resolve()
  assert.deepEqual(
    (await Promise.all([holder, second, third])).map(({ status }) => status),
    [200, 200, 200],
  )
  const [, gpt, claude] = vendor.calls
  assert.deepEqual([gpt!.body.max_completion_tokens, claude!.body.max_tokens], [4_986, 4_096])
  assert.deepEqual(
    claude!.body.output_config,
    { effort: 'low' },
    'what is short is not thought away',
  )
})

test('failed and abandoned calls release their reservation', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    worker: !ON_POSTGRES,
    env: { ...vendor.env.openai, BUDGET_PRO_TOKENS: '1200' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(refuses(400))
  for (let call = 0; call < 5; call++)
    assert.equal((await ada.post('/api/ai/chat', { messages: HI })).status, 400)

  const { reserved } = await app.platform.db
    .selectFrom('usage_budgets')
    .select('reserved_tokens as reserved')
    .executeTakeFirstOrThrow()
  assert.equal(reserved, 0)
  vendor.play(says('ok'))
  assert.equal((await ada.post('/api/ai/chat', { messages: HI })).status, 200)
})

test('the reservations of a crashed process are released', {
  skip: !ON_POSTGRES && 'an embedded database has one node, which holds it in memory',
}, async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, BUDGET_PRO_TOKENS: '1200' } })
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/ai/chat', { messages: HI })
  const { db, clock } = app.platform
  const month = clock.now().slice(0, 7)
  await db.insertInto('usage_nodes').values({ node_id: 'dead', seen_at: clock.now() }).execute()
  await db
    .insertInto('usage_reservations')
    .values({
      node_id: 'dead',
      user_id: ada.userId,
      id: 'dead-call',
      budgets_json: [{ scope: '', period: `${month}-01/month` }],
      tokens: 1_000,
      nanos: 0,
    })
    .execute()
  await db.updateTable('usage_budgets').set({ reserved_tokens: 1_000 }).execute()

  app.clock.advance(61_000)
  await app.restart()

  const row = await db
    .selectFrom('usage_budgets')
    .selectAll()
    .executeTakeFirst()
    .catch(() => undefined)
  assert.equal(row, undefined)
  const after = await app.platform.db
    .selectFrom('usage_budgets')
    .selectAll()
    .executeTakeFirstOrThrow()
  assert.equal(after.reserved_tokens, 0)
  assert.equal(after.used_tokens, 15)
})

test('a node that counted as dead releases later reservations, in any order of its calls', {
  skip: !ON_POSTGRES && 'an embedded database has one node',
}, async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { db } = app.platform
  const node = createUsage(app.platform, USAGE_NEEDS)
  await node.open()
  t.after(() => node.close())
  const reserve = (completionTokens: number) =>
    node.ledger.reserve({
      userId: ada.userId,
      keyId: null,
      tier: 'pro',
      slices: null,
      promptTokens: 1,
      promptNanos: 7,
      tokenNanos: 2,
      completionTokens,
    })
  const reserved = async () => {
    const row = await db.selectFrom('usage_budgets').selectAll().executeTakeFirstOrThrow()
    return [Number(row.reserved_tokens), Number(row.reserved_nanos)]
  }
  /** Settles this node as dead, as another node does after a minute without a heartbeat. */
  const takeForDead = async () => {
    const rows = await db.selectFrom('usage_reservations').select(['user_id', 'id']).execute()
    const calls = rows.map(({ user_id: userId, id }) => ({
      id,
      userId,
      record: null,
      plan: null,
      isReserved: true,
      hasNote: false,
    }))
    await settleCalls(toBudgetTx(db), calls, true)
    assert.deepEqual(await reserved(), [0, 0])
  }

  for (const [before, after] of [
    [100, 50],
    [50, 100],
  ] as const) {
    for (const order of ['together', 'in turn', 'the later first']) {
      const early = await reserve(before)
      await takeForDead()
      const late = await reserve(after)
      assert.deepEqual(await reserved(), [after + 1, after * 2 + 7])
      const both = order === 'the later first' ? [late, early] : [early, late]
      if (order === 'together') await Promise.all(both.map((one) => node.ledger.release(one)))
      else for (const one of both) await node.ledger.release(one)
      assert.deepEqual(await reserved(), [0, 0], `${before}, ${after}, ${order}`)
    }
  }
})

test('the next process records a call that ran when its process was killed', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const openCalls = () => app.platform.db.selectFrom('usage_open_calls').selectAll().execute()
  const records = () =>
    app.platform.db
      .selectFrom('usage_records')
      .select([
        'id',
        'route',
        'vendor',
        'model',
        'outcome',
        'tried',
        'is_estimated',
        'completion_tokens',
        'latency_ms',
      ])
      .execute()
  await ada.post('/api/ai/chat', { messages: HI })
  assert.deepEqual(await openCalls(), [], 'a short call has no note')

  vendor.play(silent)
  const leaving = new AbortController()
  const running = ada.request('POST', '/api/ai/chat', {
    body: { messages: HI },
    signal: leaving.signal,
  })
  let noted = await openCalls()
  for (; noted.length === 0; noted = await openCalls())
    await new Promise((resolve) => setTimeout(resolve, 50))
  leaving.abort()
  await running.catch(() => {})
  while ((await records()).length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(await openCalls(), [], 'the settlement removes the note')

  // The note of a killed process that was last seen four seconds after the call began.
  const orphan = { ...noted[0]!, id: `${noted[0]!.id}-dead`, node_id: 'dead' }
  const seenAt = new Date(Date.parse(orphan.record_json.startedAt) + 4_000).toISOString()
  await app.platform.db.insertInto('usage_open_calls').values(orphan).execute()
  await app.platform.db
    .insertInto('usage_nodes')
    .values({ node_id: 'dead', seen_at: seenAt })
    .execute()
  app.clock.advance(120_000)
  await app.restart()

  assert.deepEqual(await openCalls(), [])
  const record = (await records()).find(({ id }) => id === orphan.id)
  assert.deepEqual(
    { ...record },
    {
      id: orphan.id,
      route: '/api/ai/chat',
      vendor: 'openai',
      model: 'gpt-6.1-terra',
      outcome: 'failed',
      tried: 'crash',
      is_estimated: true,
      completion_tokens: 0,
      latency_ms: 4_000,
    },
  )
  const { totals } = (await ada.get('/api/usage')).body
  assert.equal(totals.requests, 3)
  assert.equal(totals.prompt_tokens, 10 + 2 * orphan.record_json.promptTokens)
})

test('records and prices the part of a stream that a killed process had sent', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, BUDGET_PRO_TOKENS: '100000' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const words = 'word '.repeat(120)
  const tokens = Math.ceil(words.length / 4)
  vendor.play(cuts(words, 'stalls'))
  const leaving = new AbortController()
  const running = fetch(`${app.url}/api/ai/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: HI, stream: true }),
    signal: leaving.signal,
  })
  const noted = () => app.platform.db.selectFrom('usage_open_calls').selectAll().executeTakeFirst()
  const counts: (number | undefined)[] = []
  // The first estimate assumes as many tokens again; a later one finds no new tokens.
  for (
    let note = await noted();
    note?.record_json.completionTokens !== tokens;
    note = await noted()
  ) {
    if (note) counts.push(note.record_json.completionTokens)
    await wait(50)
  }
  assert.ok(counts.includes(2 * tokens), `noted as ${counts}`)
  const orphan = { ...(await noted())!, id: 'dead', node_id: 'dead' }
  leaving.abort()
  await running.then((reply) => reply.text()).catch(() => {})
  const records = () =>
    app.platform.db.selectFrom('usage_records').selectAll().orderBy('id').execute()
  while ((await records()).length < 1) await wait(20)
  assert.equal(await noted(), undefined, 'the settlement removes the note')

  await app.platform.db.insertInto('usage_open_calls').values(orphan).execute()
  await app.platform.db
    .insertInto('usage_nodes')
    .values({ node_id: 'dead', seen_at: orphan.record_json.startedAt })
    .execute()
  app.clock.advance(120_000)
  await app.restart()

  const [left, killed] = await records()
  const told = ({
    error_code,
    outcome,
    prompt_tokens,
    completion_tokens,
    cost_nanos,
    is_estimated,
  }: typeof left & {}) => [
    error_code,
    outcome,
    prompt_tokens,
    completion_tokens,
    cost_nanos,
    Boolean(is_estimated),
  ]
  assert.deepEqual(
    told(killed!),
    ['crashed', 'failed', ...told(left!).slice(2)],
    'as much as of one whose caller left',
  )
  assert.ok(killed!.completion_tokens === tokens && killed!.is_estimated)
  const budget = await app.platform.db
    .selectFrom('usage_budgets')
    .selectAll()
    .executeTakeFirstOrThrow()
  assert.deepEqual(
    [budget.used_tokens, budget.used_nanos, budget.reserved_tokens],
    [2 * (killed!.prompt_tokens + tokens), 2 * killed!.cost_nanos, 0],
  )
})

test('use before a budget existed counts toward it', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    worker: !ON_POSTGRES,
    env: { ...vendor.env.openai, BUDGET_ENTERPRISE_TOKENS: '1000' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(says('ok', { usage: { prompt: 900, completion: 100 } }))
  assert.equal((await ada.post('/api/ai/chat', { messages: HI })).status, 200)

  const richer = await app.as('ada', { tier: 'enterprise' })

  assert.equal((await richer.post('/api/ai/chat', { messages: HI })).status, 429)
})

test('a key’s monthly limit applies only to the key', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body: key } = await ada.post('/api/api-keys', { name: 'small', monthly_token_limit: 40 })
  vendor.play(says('ok', { usage: { prompt: 9, completion: 11 } }))
  const ask = async () =>
    (await app.post('/api/ai/chat', { messages: HI, max_tokens: 10 }, bearer(key.key))).status

  assert.deepEqual([await ask(), await ask(), await ask()], [200, 200, 429])
  assert.equal((await ada.post('/api/ai/chat', { messages: HI })).status, 200)
})

test('a deleted user leaves only anonymous sums', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/ai/chat', { messages: HI })

  const reply = await ada.delete('/api/users/me', { password: 'correct horse battery' })

  assert.equal(reply.status, 200)
  await app.settle()
  const { db } = app.platform
  assert.deepEqual(await db.selectFrom('usage_records').selectAll().execute(), [])
  assert.deepEqual(await db.selectFrom('usage_days').selectAll().execute(), [])
  const [sum] = await db.selectFrom('usage_archive').selectAll().execute()
  assert.equal(sum!.requests, 1)
  assert.equal(sum!.prompt_tokens, 10)
})

test('nodes whose clocks differ by 100 s treat each other as alive, and a call is recorded once', {
  skip: !ON_POSTGRES && 'an embedded database has one node',
}, async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, BUDGET_PRO_TOKENS: '5000' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const { db, clock } = app.platform
  vendor.play(silent)
  const leaving = new AbortController()
  const running = ada.request('POST', '/api/ai/chat', {
    body: { messages: HI },
    signal: leaving.signal,
  })
  const noted = () => db.selectFrom('usage_open_calls').selectAll().execute()
  while ((await noted()).length === 0) await new Promise((resolve) => setTimeout(resolve, 50))
  const reserved = async () =>
    (await db.selectFrom('usage_budgets').select('reserved_tokens').executeTakeFirstOrThrow())
      .reserved_tokens
  const before = await reserved()
  assert.ok(before > 0)

  const nodeAt = (skewMs: number) => {
    const wrong: Clock = {
      ms: () => clock.ms() + skewMs,
      now: () => new Date(clock.ms() + skewMs).toISOString(),
    }
    const node = createUsage({ ...app.platform, clock: wrong }, USAGE_NEEDS)
    t.after(() => node.close())
    return node.open()
  }
  for (const skewMs of [100_000, -100_000, 0]) await nodeAt(skewMs)
  assert.equal((await noted()).length, 1)
  assert.equal(await reserved(), before)
  assert.equal(
    (await db.selectFrom('usage_nodes').select('node_id').execute()).length,
    4,
    'no node counts as dead',
  )

  leaving.abort()
  await running.catch(() => {})
  const outcomes = () => db.selectFrom('usage_records').select('tried').execute()
  while ((await outcomes()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal((await outcomes()).length, 1)
  assert.equal(await reserved(), 0)
})

test('reserves for files: a PDF does not overspend a budget, and small files are accepted', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body: key } = await ada.post('/api/api-keys', {
    name: 'small',
    monthly_token_limit: 10_000,
  })
  const ask = async (pages: number) => {
    const pdf = Buffer.from(`%PDF-1.4\n${'<< /Type /Page /Parent 2 0 R >>\n'.repeat(pages)}`)
    const url = `data:application/pdf;base64,${pdf.toString('base64')}`
    const content = [
      { type: 'text', text: 'What does it say?' },
      { type: 'file', file: { filename: 'a.pdf', file_data: url } },
    ]
    // The vendor counts 2,400 tokens per page.
    vendor.play(says('Nothing.', { usage: { prompt: 2_400 * pages, completion: 20 } }))
    const body = { model: 'gpt-6-luna', messages: [{ role: 'user', content }], max_tokens: 50 }
    return (await app.post('/v1/chat/completions', body, bearer(key.key))).status
  }

  assert.equal(await ask(100), 429)
  assert.equal(vendor.calls.length, 0, 'calls no vendor')
  assert.deepEqual([await ask(1), await ask(2)], [200, 200])
  assert.equal(await ask(1), 429)
  const { totals } = (await ada.get('/api/usage')).body
  assert.ok(totals.total_tokens <= 10_000, String(totals.total_tokens))
})
