import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delayAfter } from './sign-in-limits.ts'

test('the wait grows with failures and has an end', () => {
  assert.deepEqual(
    [0, 9, 10, 11, 12, 13, 14, 15, 1_000].map(delayAfter),
    [0, 0, 250, 500, 1_000, 2_000, 4_000, 4_000, 4_000],
  )
})
