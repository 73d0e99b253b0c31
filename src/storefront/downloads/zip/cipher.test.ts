import assert from 'node:assert/strict'
import { createCipheriv, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { BATCH_BYTES, entryCipher } from './cipher.ts'

test('counter blocks are little-endian from 1, also beyond 64 GB and after that', () => {
  const key = randomBytes(32)
  const last = 2 ** 32 * 16 - BATCH_BYTES
  for (const position of [0, BATCH_BYTES, last, last + BATCH_BYTES, 0]) {
    const data = randomBytes(BATCH_BYTES)
    const sent = entryCipher(key)(data, position)
    for (const at of [0, 16, BATCH_BYTES - 16]) {
      const counter = Buffer.alloc(16)
      counter.writeBigUInt64LE(BigInt((position + at) / 16 + 1))
      const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
      const stream = cipher.update(counter)
      const expected = stream.map((byte, index) => byte ^ (data[at + index] ?? 0))
      assert.deepEqual(sent.subarray(at, at + 16), Buffer.from(expected), `${position} ${at}`)
    }
  }
})
