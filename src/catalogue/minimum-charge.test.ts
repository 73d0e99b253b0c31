import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waiveSmallAmount } from './minimum-charge.ts'

for (const [cents, currency, charged] of [
  [0, 'usd', 0],
  [1, 'usd', 0],
  [49, 'usd', 0],
  [50, 'usd', 50],
  [29, 'gbp', 0],
  [30, 'gbp', 30],
  [49, 'jpy', 0],
  [17_499, 'huf', 0],
  [17_500, 'huf', 17_500],
  [1, 'xxx', 1],
] as const) {
  test(`charges ${charged} for a difference of ${cents} ${currency}`, () => {
    assert.equal(waiveSmallAmount(cents, currency), charged)
  })
}
