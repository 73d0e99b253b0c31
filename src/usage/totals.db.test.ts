import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { DAY_MS, plus } from '#platform/clock.ts'
import { type Db, findDialect } from '#platform/db/db.ts'
import { removeAged } from '#platform/retention.ts'
import { PASSWORD, testApp } from '#testing/app.ts'
import { readUsageTotal, sumAllUsage, sumUsersUsage } from './operator-sums.ts'
import type { UsageOutcome, UsageRecord } from './record.ts'
import { agedUsage } from './retention.ts'
import { type Settlement, writeSettlements } from './settlements.ts'

test('the sums of all users equal the calls, also late, repeated, spooled and removed ones', async (t) => {
  const app = await testApp(t, { env: { RETENTION_DAYS: 'usage=62' } })
  const { db, clock } = app.platform
  const people = await Promise.all(
    ['ada', 'bob', 'eve'].map((name) => app.as(name, { tier: 'pro' })),
  )
  const random = seeded(7_919)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  let number = 0
  const settle = (record: UsageRecord): Settlement => ({
    id: `id-${String(number++).padStart(6, '0')}`,
    userId: record.userId,
    record,
    plan: null,
    isReserved: false,
    hasNote: false,
  })
  const FREE = { promptTokens: 0, completionTokens: 0, costUsd: 0 }
  const called = (daysAgo: number): UsageRecord => ({
    userId: pick(people).userId,
    keyId: pick([null, 'key-1']),
    tier: pick(['pro', 'enterprise']),
    route: '/api/ai/chat',
    vendor: pick(['openai', 'anthropic']),
    model: pick(['m-1', 'm-2', 'ein “Modell”']),
    promptTokens: Math.floor(random() * 1_000),
    completionTokens: Math.floor(random() * 500),
    cachedTokens: 3,
    reasoningTokens: 0,
    costUsd: random() / 100,
    latencyMs: 10,
    firstTokenMs: null,
    attempts: 1,
    tried: 'x:ok',
    outcome: pick<UsageOutcome>(['ok', 'failed', 'cancelled']),
    status: 200,
    errorCode: null,
    requestId: null,
    vendorRequestId: null,
    endUser: pick(['', 'a', 'b']),
    labels: '',
    isEstimated: random() < 0.2,
    startedAt: plus(clock.now(), -daysAgo * DAY_MS),
  })

  for (let round = 0; round < 12; round++) {
    // Several batches at once, as from several nodes, with calls that began on earlier days.
    const batches = Array.from({ length: 3 }, () =>
      Array.from({ length: 1 + Math.floor(random() * 9) }, () =>
        settle(called(pick([0, 0, 0, 1, 2, 70]))),
      ),
    )
    // Free calls, such as keyword searches, write only records.
    batches.push([0, 0, 1].map((daysAgo) => settle({ ...called(daysAgo), ...FREE })))
    await Promise.all(batches.map((batch) => writeSettlements(db, batch, false)))
    // The spool repeats a batch whose commit was not confirmed, together with a new record.
    const repeated = [...(batches[0] ?? []), settle(called(1))]
    await writeSettlements(db, repeated, true)
    await assertSame(db)
  }

  const span = { from: clock.now().slice(0, 10), to: clock.now().slice(0, 10) }
  assert.ok((await readUsageTotal(db, span)).requests > 0, 'the sum includes today')
  const byUser = await sumUsersUsage(db, span, null, 10)
  const among = byUser.slice(1)
  assert.ok(among.length > 0)
  const keys = among.map(({ key }) => key)
  assert.deepEqual(await sumUsersUsage(db, span, keys, 10), among, 'only of the named users')
  for (const groupBy of ['day', 'vendor', 'model', 'plan', 'outcome'] as const) {
    const groups = await sumAllUsage(db, span, groupBy, 100)
    for (const unit of ['requests', 'cost_nanos', 'failed'] as const) {
      const of = (sums: { [unit: string]: unknown }[]) =>
        sums.reduce((sum, one) => sum + Number(one[unit]), 0)
      assert.equal(of(groups), of(byUser), `${groupBy}, ${unit}`)
    }
  }

  assert.equal((await people[0]?.delete('/api/users/me', { password: PASSWORD }))?.status, 200)
  await app.settle()
  await assertSame(db)
  await removeAged({ db, clock }, agedUsage(app.config))
  await assertSame(db)
  assert.equal(
    (
      await readUsageTotal(db, {
        from: '2000-01-01',
        to: plus(clock.now(), -65 * DAY_MS).slice(0, 10),
      })
    ).requests,
    0,
  )
})

/** Compares the sums with the days and with the single calls. */
async function assertSame(db: Db): Promise<void> {
  const sums = async (table: 'usage_totals' | 'usage_days') =>
    (
      await db
        .selectFrom(table)
        .select(['day', 'model', 'vendor', 'tier', 'outcome'])
        .select(({ fn }) =>
          (
            [
              'requests',
              'prompt_tokens',
              'completion_tokens',
              'cached_tokens',
              'cost_nanos',
            ] as const
          ).map((column) => fn.sum<number>(column).as(column)),
        )
        .groupBy(['day', 'model', 'vendor', 'tier', 'outcome'])
        .having(sql<boolean>`sum(requests) <> 0 or sum(cost_nanos) <> 0 or sum(prompt_tokens) <> 0`)
        .orderBy('day')
        .orderBy('model')
        .orderBy('vendor')
        .orderBy('tier')
        .orderBy('outcome')
        .execute()
    ).map((row) => Object.values(row).map(String))
  const totals = await sums('usage_totals')
  assert.deepEqual(totals, await sums('usage_days'))
  const day =
    findDialect(db) === 'sqlite'
      ? sql`substr(created_at, 1, 10)`
      : sql`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')`
  const { rows } = await sql<Record<string, unknown>>`
    select day, model, vendor, tier, outcome, count(*) as requests, sum(prompt_tokens) as prompt_tokens,
      sum(completion_tokens) as completion_tokens, sum(cached_tokens) as cached_tokens, sum(cost_nanos) as cost_nanos
    from (select *, ${day} as day from usage_records) as calls group by day, model, vendor, tier, outcome
    order by day, model, vendor, tier, outcome`.execute(db)
  assert.deepEqual(
    totals,
    rows.map((row) => Object.values(row).map(String)),
  )
}

/** Returns a generator of the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
