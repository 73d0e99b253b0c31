import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeRenewal } from './describe-renewal.ts'

const [MARCH, APRIL] = ['2027-03-10T12:00:00.000Z', '2027-04-10T12:00:00.000Z']

test('says that an allowance ends with its plan, and renews before', () => {
  assert.match(describeRenewal(MARCH, null), /^renews on .*Mar/)
  assert.equal(describeRenewal(null, null), 'renews with your next payment')
  assert.match(describeRenewal(MARCH, MARCH), /^ends on .*Mar/)
  assert.match(describeRenewal(null, MARCH), /^ends on .*Mar/)
  assert.match(describeRenewal(MARCH, APRIL), /^renews on .*Mar/, 'a month of a yearly plan')
})
