import assert from 'node:assert/strict'
import { pbkdf2Sync } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { keyThreads } from './key-threads.ts'
import { Pbkdf2Lanes } from './pbkdf2-lanes.ts'

test('keys are those of node:crypto, for any password and salt', () => {
  const lanes = new Pbkdf2Lanes()
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 })
  fc.assert(
    fc.property(
      fc.string({ maxLength: 100, unit: 'binary' }),
      bytes,
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 80 }),
      (password, salt, rounds, size) => {
        const key = lanes.derive(password, salt, rounds, size)
        assert.deepEqual(key, pbkdf2Sync(password, salt, rounds, size, 'sha1'))
        assert.deepEqual(lanes.derive(password, salt, rounds, size), key)
      },
    ),
    { numRuns: 300 },
  )
})

test('a salt of another length is refused', () => {
  assert.throws(() => new Pbkdf2Lanes().derive('key', new Uint8Array(8), 1, 66), /16 bytes/)
})

test('threads derive many keys at once, each for its own password and salt', async () => {
  const tasks = Array.from({ length: 200 }, (_, index) => ({
    password: `LK-${index % 3}`,
    salt: Buffer.alloc(16, index),
    rounds: 10,
    sizeBytes: 66,
  }))
  const keys = await Promise.all(tasks.map((task) => keyThreads.derive(task)))
  for (const [index, { password, salt, rounds, sizeBytes }] of tasks.entries())
    assert.deepEqual(keys[index], pbkdf2Sync(password, salt, rounds, sizeBytes, 'sha1'))
})

test('a task that fails is rejected, and the next one works', async () => {
  const task = { password: 'key', salt: Buffer.alloc(16), rounds: 1, sizeBytes: 66 }
  await assert.rejects(keyThreads.derive({ ...task, salt: Buffer.alloc(3) }), /16 bytes/)
  assert.equal((await keyThreads.derive(task)).length, 66)
})
