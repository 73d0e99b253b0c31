import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  formatChange,
  formatMetric,
  isImprovement,
  labelLine,
  METRIC_GROUPS,
  METRIC_WORDS,
} from './metric-words.ts'

const MONEY = { unit: 'money' as const, currency: 'usd' }
const PERCENT = { unit: 'percent' as const, currency: null }

test('money has the decimals of its currency, and an unknown value is a dash', () => {
  assert.equal(formatMetric(MONEY, 2_900), '$29.00')
  assert.equal(formatMetric({ unit: 'money', currency: 'jpy' }, 4_000), '¥4,000')
  assert.equal(formatMetric(PERCENT, null), '–')
})

test('a change is relative, in points for percentages, and absent without a base', () => {
  assert.equal(formatChange(MONEY, 150, 100), '+50 %')
  assert.equal(formatChange(MONEY, 50, 100), '−50 %')
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

test('less revenue is worse, and less churn is better', () => {
  assert.equal(isImprovement('revenue', 50, 100), false)
  assert.equal(isImprovement('churned_mrr', 50, 100), true)
  assert.equal(isImprovement('revenue', 100, 100), null)
  assert.equal(isImprovement('revenue', 100, null), null)
})

test('each metric is in one group', () => {
  const grouped = METRIC_GROUPS.flatMap(({ names }) => names)
  assert.deepEqual(grouped.toSorted(), Object.keys(METRIC_WORDS).toSorted())
})
