import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE_MS } from '#platform/clock.ts'
import { testApp } from '#testing/app.ts'
import { listOutages } from './outages.ts'
import type { UsageRecord } from './record.ts'
import { writeSettlements } from './settlements.ts'

const NOON_MS = Date.parse('2026-03-10T12:00:00.000Z')

test('finds the quarter hours in which a vendor failed many calls, and joins them', async (t) => {
  const app = await testApp(t)
  const { userId } = await app.as('ada')
  const { db } = app.platform
  let number = 0
  const call = async (
    count: number,
    minutesAgo: number,
    more: Partial<UsageRecord>,
  ): Promise<void> => {
    const records = Array.from({ length: count }, () => ({
      ...{ userId, keyId: null, tier: 'pro', route: '/v1', vendor: 'openai', model: 'm' },
      ...{ promptTokens: 1, completionTokens: 1, cachedTokens: 0, reasoningTokens: 0 },
      ...{ costUsd: 0, latencyMs: 1, firstTokenMs: null, attempts: 1, tried: '' },
      ...{ outcome: 'ok' as const, status: 200, errorCode: null, requestId: null },
      ...{ vendorRequestId: null, endUser: '', labels: '', isEstimated: false },
      startedAt: new Date(NOON_MS - minutesAgo * MINUTE_MS).toISOString(),
      ...more,
    }))
    const settled = records.map((record) => ({
      ...{ id: `call-${number++}`, userId, record, plan: null },
      ...{ isReserved: false, hasNote: false },
    }))
    await writeSettlements(db, settled, false)
  }
  const failed = { outcome: 'failed', status: 502 } as const
  const list = async () =>
    (await listOutages(db, NOON_MS + MINUTE_MS)).map(({ vendor, from, until, failedShare }) =>
      [vendor, from.slice(11, 16), until?.slice(11, 16), Math.round(100 * failedShare)].join(' '),
    )

  await call(30, 80, {})
  await call(5, 80, failed)
  await call(20, 80, { vendor: 'anthropic', outcome: 'failed', status: 400 })
  await call(20, 80, { vendor: 'mistral', outcome: 'cancelled', status: 499 })
  await call(9, 80, { vendor: 'groq', ...failed })
  assert.deepEqual(await list(), [], 'few failures, rejected requests and few calls are no outage')

  await call(10, 60, failed)
  await call(10, 45, { ...failed, status: 200 })
  await call(10, 45, {})
  await call(12, 10, { vendor: 'groq', ...failed })
  assert.deepEqual(await list(), ['groq 11:45  100', 'openai 11:00 11:30 67'])

  await call(10, 0, { vendor: 'groq' })
  assert.deepEqual(await list(), ['groq 11:45 12:00 100', 'openai 11:00 11:30 67'])

  await call(20, 24 * 60 + 5, { vendor: 'xai', ...failed })
  assert.equal((await list()).length, 2, 'older outages are not listed')
})
