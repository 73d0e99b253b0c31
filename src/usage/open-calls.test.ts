import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getHeapSpaceStatistics } from 'node:v8'
import { type OpenCall, OpenCalls, type OpenHandle } from './open-calls.ts'

test('ended calls are collected in the young generation', (t) => {
  // No call runs for a second, so neither dependency is used.
  const calls = new OpenCalls({ db: null as never, log: { warn() {} } as never }, 'node')
  calls.start()
  t.after(() => calls.stop())
  const running: OpenHandle[] = Array.from({ length: 64 }, () => calls.open(aCall()))
  const turnOver = (times: number) => {
    for (let n = 0; n < times; n++) {
      calls.close(running[n % running.length] as OpenHandle)
      running[n % running.length] = calls.open(aCall())
    }
  }
  // Objects that survive several young collections move to the old generation.
  for (let n = 0; n < 50_000; n++) aCall()

  const before = oldBytes()
  turnOver(40_000)

  // With a Set, the calls retained 160 MB; the running calls need a quarter of a megabyte.
  assert.ok(oldBytes() - before < 16e6, `${oldBytes() - before} bytes more in the old generation`)
})

/** Creates a call that references objects, as a real call references its request and its reply. */
function aCall(): OpenCall {
  const hanging = new Array<number>(500).fill(1)
  return {
    id: 'id',
    userId: 'ada',
    keyId: null,
    tier: 'pro',
    route: '/v1/chat/completions',
    vendor: 'openai',
    model: 'm',
    promptTokens: 1,
    costUsd: 0,
    requestId: null,
    endUser: '',
    labels: '',
    startedAt: '2026-11-20T09:00:00.000Z',
    plan: { name: '2026-11-01/month', end: '2026-12-01T00:00:00.000Z', nanos: null },
    // Never called; only retains the objects.
    soFar: () => hanging && null,
  }
}

function oldBytes(): number {
  return (
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')
      ?.space_used_size ?? 0
  )
}
