// Two users whose calls have the same id and whose budgets have the same names: what happens to the
// rows of one changes no row of the other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, plus } from '#platform/clock.ts'
import { testApp } from '#testing/app.ts'
import { listAlerts } from './alerts.ts'
import { toBudgetTx } from './budgets.ts'
import { type PlanBudget, subtractOveruse } from './plan-budgets.ts'
import type { UsageRecord } from './record.ts'
import { writeSettlements } from './settlements.ts'
import { listRecords } from './store.ts'

const DOLLAR = 1e9
const ID = 'call'
const USERS = ['ada', 'eve'] as const
type UserId = (typeof USERS)[number]

test('the end of a call removes, records and alerts only for its user', async (t) => {
  const { db, clock } = (await testApp(t)).platform
  const end = plus(clock.now(), 30 * DAY_MS)
  const plan = { name: 'slice', end, nanos: 10 * DOLLAR }
  for (const userId of USERS) {
    const record = createRecord(userId, clock.now())
    const note = { user_id: userId, id: ID, node_id: 'node', plan_json: plan, record_json: record }
    await db.insertInto('usage_open_calls').values(note).execute()
    await db
      .insertInto('usage_budgets')
      .values(createBudget(userId, 'slice', 0))
      .execute()
  }
  const settle = (userId: UserId) => {
    const record = createRecord(userId, clock.now())
    const settlement = { id: ID, userId, record, plan, isReserved: false, hasNote: true }
    return writeSettlements(db, [settlement], true)
  }
  const readUser = async (userId: UserId) => {
    const notes = await db
      .selectFrom('usage_open_calls')
      .select('id')
      .where('user_id', '=', userId)
      .execute()
    const alerts = await listAlerts(db, userId, 'slice')
    const records = await listRecords(db, userId)
    return { notes: notes.length, alerts: alerts.length, records: records.length }
  }

  await settle('ada')
  assert.deepEqual(await readUser('ada'), { notes: 0, alerts: 1, records: 1 })
  assert.deepEqual(await readUser('eve'), { notes: 1, alerts: 0, records: 0 })
  await settle('eve')
  assert.deepEqual(await readUser('eve'), { notes: 0, alerts: 1, records: 1 })
})

test('the overuse of a refunded period reduces the budget of its user alone', async (t) => {
  const { db, clock } = (await testApp(t)).platform
  await db
    .insertInto('usage_budgets')
    .values([createBudget('ada', 'refunded', 3 * DOLLAR), createBudget('eve', 'refunded', 0)])
    .execute()
  const plan: PlanBudget = {
    name: 'current',
    start: clock.now(),
    end: plus(clock.now(), DAY_MS),
    isPaid: true,
    isFree: false,
    tokens: null,
    nanos: 10 * DOLLAR,
    earlier: [{ name: 'refunded', tokens: null, nanos: DOLLAR }],
  }
  const readNanos = async (userId: UserId) =>
    (await subtractOveruse(toBudgetTx(db), userId, plan)).nanos
  assert.deepEqual([await readNanos('ada'), await readNanos('eve')], [8 * DOLLAR, 10 * DOLLAR])
})

function createBudget(user_id: UserId, period: string, used_nanos: number) {
  return {
    user_id,
    scope: '',
    period,
    used_tokens: 0,
    used_nanos,
    reserved_tokens: 0,
    reserved_nanos: 0,
    alerted_nanos: 0,
    alerted_limit_nanos: 0,
  }
}

/** Costs nine dollars. */
function createRecord(userId: UserId, startedAt: string): UsageRecord {
  return {
    userId,
    keyId: null,
    tier: 'pro',
    route: '/api/ai/chat',
    vendor: 'openai',
    model: 'gpt-6-luna',
    promptTokens: 10,
    completionTokens: 10,
    cachedTokens: 0,
    reasoningTokens: 0,
    costUsd: 9,
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
