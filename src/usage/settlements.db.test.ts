import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { settleBudgets } from '#usage/settlements.ts'

test('a call that used nothing and held nothing writes to no budget', async (t) => {
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
      written.push(sql)
      return { rows: [] }
    },
  }
  await settleBudgets(tx, 'node', [{ granted: null, record: of(0) }])
  assert.deepEqual(written, [])
  await settleBudgets(tx, 'node', [{ granted: null, record: of(5) }])
  assert.equal(written.length, 2, 'the user’s and the key’s')
})
