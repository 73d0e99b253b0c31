import assert from 'node:assert/strict'
import test from 'node:test'
import { priceEffect } from './price-effect.ts'

test('a price effect is a factor from 2 up, and a percentage below', () => {
  const effects = [null, 1, 1.002, 8, 2, 1.4, 0.37].map(priceEffect)
  assert.deepEqual(effects, [
    'at an unknown cost',
    'at the same cost',
    'at the same cost',
    'at 8 times the cost (+700 %)',
    'at 2 times the cost (+100 %)',
    'at 40 % more cost',
    'at 63 % less cost',
  ])
})
