import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeLabelStep, computeRangeTicks, computeTicks } from './chart-scale.ts'

test('grid lines are round numbers from 0 to at least the highest value', () => {
  assert.deepEqual(computeTicks(100), [0, 25, 50, 75, 100])
  assert.deepEqual(computeTicks(0.37), [0, 0.1, 0.2, 0.3, 0.4])
  assert.deepEqual(computeTicks(3), [0, 1, 2, 3])
  assert.deepEqual(computeTicks(0), [0, 1])
  for (const highest of [1, 7, 1_234, 226_745_123, 0.000_012]) {
    const ticks = computeTicks(highest)
    assert.ok((ticks.at(-1) ?? 0) >= highest, `${highest}`)
    assert.ok(ticks.length <= 6, `${highest}`)
  }
})

test('only as many bars are named as there is room for', () => {
  assert.equal(computeLabelStep(7, 12), 1)
  assert.equal(computeLabelStep(30, 12), 3)
  assert.equal(computeLabelStep(0, 0), 1)
})

test('negative values get grid lines below 0', () => {
  assert.deepEqual(computeRangeTicks(0, 100), [0, 25, 50, 75, 100])
  assert.deepEqual(computeRangeTicks(-30, 100), [-50, -25, 0, 25, 50, 75, 100])
  assert.deepEqual(computeRangeTicks(-3, 0), [-3, -2, -1, 0])
  assert.deepEqual(computeRangeTicks(0, 0), [0, 1])
})
