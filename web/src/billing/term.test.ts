import assert from 'node:assert/strict'
import { test } from 'node:test'
import { termOf } from './term.ts'

const end = '2027-03-14T12:00:00.000Z'

test('a running plan says when it renews, a cancelled one when it ends', () => {
  const renews = termOf({ status: 'active', current_period_end: end, cancel_at_period_end: false })
  assert.match(renews ?? '', /^Renews on .*2027.*\.$/)
  const ends = termOf({ status: 'active', current_period_end: end, cancel_at_period_end: true })
  assert.match(ends ?? '', /^Ends on .*2027/)
})

test('nothing is promised while a payment is missing, or nothing runs', () => {
  assert.equal(termOf({ status: 'past_due', current_period_end: end, cancel_at_period_end: false }), null)
  assert.equal(termOf({ status: 'free', current_period_end: null, cancel_at_period_end: false }), null)
})
