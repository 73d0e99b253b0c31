import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatChange, formatMetric, labelLine } from './metric-words.ts'

const MONEY = { unit: 'money' as const, currency: 'usd' }
const PERCENT = { unit: 'percent' as const, currency: null }

test('money has the decimals of its currency, and an unknown value is a dash', () => {
  assert.equal(formatMetric(MONEY, 2_900), '$29.00')
  assert.equal(formatMetric({ unit: 'money', currency: 'jpy' }, 4_000), '¥4,000')
  assert.equal(formatMetric(PERCENT, null), '–')
})

test('a change is relative, in points for percentages, and absent without a base', () => {
  assert.equal(formatChange(MONEY, 150, 100), '+50 %')
  assert.equal(formatChange(MONEY, 50, 100), '-50 %')
  assert.equal(formatChange(PERCENT, 12.5, 10), '+2.5 points')
  for (const [value, before] of [
    [100, 0],
    [100, -50],
    [null, 10],
    [10, 10],
  ] as const)
    assert.equal(formatChange(MONEY, value, before), null)
})

test('a line names its currency only beside others', () => {
  const [usd, eur] = [
    { name: 'mrr' as const, currency: 'usd' },
    { name: 'mrr' as const, currency: 'eur' },
  ]
  assert.equal(labelLine(usd, [usd]), 'MRR')
  assert.equal(labelLine(eur, [usd, eur]), 'MRR, EUR')
})
