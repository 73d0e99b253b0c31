import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { settleCalls } from './settlements.ts'

test('a call without use and reservation writes to no budget', async (t) => {
  const { platform } = await testApp(t)
  const of = (promptTokens: number) => ({
    userId: 'ada',
    keyId: 'key',
    tier: 'pro',
    route: '/api/rag/search',
    vendor: 'local',
    model: 'lexical',
    promptTokens,
    completionTokens: 0,
    cachedTokens: 0,
    reasoningTokens: 0,
    costUsd: 0,
    latencyMs: 1,
    firstTokenMs: null,
    attempts: 1,
    tried: '',
    outcome: 'ok' as const,
    status: 200,
    errorCode: null,
    requestId: null,
    vendorRequestId: null,
    endUser: '',
    labels: '',
    isEstimated: false,
    startedAt: new Date(0).toISOString(),
  })
  const written: string[] = []
  const tx = {
    db: platform.db,
    run: async ({ sql }: { sql: string }) => {
      if (sql.includes('update "usage_budgets"')) written.push(sql)
      return { rows: [] }
    },
  }
  const settle = (promptTokens: number) => {
    const record = of(promptTokens)
    const call = { id: 'id', userId: 'ada', record, plan: null, isReserved: false, hasNote: false }
    return settleCalls(tx, [call], false)
  }
  await settle(0)
  assert.deepEqual(written, [])
  await settle(5)
  assert.equal(written.length, 2, 'the user’s and the key’s')
})
