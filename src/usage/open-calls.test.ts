import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getHeapSpaceStatistics } from 'node:v8'
import { type OpenCall, OpenCalls, type OpenHandle } from './open-calls.ts'

test('calls that have ended are garbage of the young kind', (t) => {
  // No call runs for a second: neither dependency is used.
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
  // Objects that survive a few young collections become old.
  for (let n = 0; n < 50_000; n++) aCall()

  const before = oldBytes()
  turnOver(40_000)

  // They held 160 MB; what runs now is a quarter of one.
  assert.ok(oldBytes() - before < 16e6, `${oldBytes() - before} bytes more in the old generation`)
})

/** With the objects that a real call references: its request and its reply. */
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
    // Never asked; it holds on to them.
    soFar: () => hanging && null,
  }
}

function oldBytes(): number {
  return (
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')
      ?.space_used_size ?? 0
  )
}
