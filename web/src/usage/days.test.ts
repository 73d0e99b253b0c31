import assert from 'node:assert/strict'
import test from 'node:test'
import { fillDays, listDays } from './days.ts'

test('the last day is today in UTC', () => {
  assert.deepEqual(listDays(new Date('2026-03-01T23:59:59.999Z'), 3), [
    '2026-02-27',
    '2026-02-28',
    '2026-03-01',
  ])
  assert.deepEqual(listDays(new Date('2026-01-01T00:00:00.000Z'), 2), ['2025-12-31', '2026-01-01'])
})

test('days without a call have zeroes', () => {
  const busy = {
    key: '2026-01-02',
    requests: 3,
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    cached_tokens: 0,
    cost_usd: 0.1,
  }
  const days = fillDays([busy], ['2026-01-01', '2026-01-02', '2026-01-03'])
  assert.deepEqual(
    days.map((day) => day.requests),
    [0, 3, 0],
  )
})
