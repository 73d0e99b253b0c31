import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addInterval, remainingShare } from './periods.ts'

const at = (iso: string) => Date.parse(iso) / 1000
const after = (iso: string, interval: string, count = 1) =>
  new Date(addInterval(at(iso), { interval, interval_count: count }) * 1000)
    .toISOString()
    .slice(0, 16)

test('uses the last day of a month when the day does not exist', () => {
  assert.equal(after('2026-01-31T10:30:00Z', 'month'), '2026-02-28T10:30')
  assert.equal(after('2028-01-31T10:30:00Z', 'month'), '2028-02-29T10:30')
  assert.equal(after('2026-12-15T00:00:00Z', 'month'), '2027-01-15T00:00')
  assert.equal(after('2028-02-29T00:00:00Z', 'year'), '2029-02-28T00:00')
  assert.equal(after('2026-03-15T00:00:00Z', 'month', 3), '2026-06-15T00:00')
})

test('the remaining share is between 0 and 1', () => {
  assert.equal(remainingShare(0, 100, 25), 0.75)
  assert.equal(remainingShare(0, 100, -5), 1)
  assert.equal(remainingShare(0, 100, 500), 0)
  assert.equal(remainingShare(100, 100, 100), 0)
})
