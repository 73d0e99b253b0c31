import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodePhc, encodePhc } from './phc.ts'

test('a hash in the PHC form survives writing and reading', () => {
  const bytes = (min: number, max: number) =>
    fc.uint8Array({ minLength: min, maxLength: max }).map((array) => Buffer.from(array))
  fc.assert(
    fc.property(
      fc.record({
        memory: fc.integer({ min: 8, max: 9_999_999 }),
        passes: fc.integer({ min: 1, max: 999 }),
        parallelism: fc.integer({ min: 1, max: 99 }),
        salt: bytes(9, 64),
        hash: bytes(17, 64),
      }),
      (stored) => assert.deepEqual(decodePhc(encodePhc(stored)), { ...stored }),
    ),
  )
  fc.assert(fc.property(fc.string(), (text) => assert.equal(decodePhc(text), null)))
})
