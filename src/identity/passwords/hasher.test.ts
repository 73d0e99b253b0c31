import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '#platform/problem.ts'
import { createHasher } from './hasher.ts'

/**
 * Of the reference implementation's own tests (argon2id, 64 MiB, 2 passes, `password`, `somesalt`).
 */
const REFERENCE =
  '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'

test('verify accepts the right password, rejects another, and rejects any for an unknown account', async (t) => {
  const hasher = createHasher({ workersMax: 1 })
  t.after(() => hasher.close())
  const stored = await hasher.hash('correct horse battery')
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.notEqual(await hasher.hash('correct horse battery'), stored, 'each has a salt of its own')
  assert.deepEqual(await hasher.verify('correct horse battery', stored), {
    right: true,
    outdated: false,
  })
  assert.equal((await hasher.verify('correct horse batterY', stored)).right, false)
  assert.equal((await hasher.verify('', null)).right, false)
})

test('hashes of other programs are read, and called outdated when their parameters differ', async (t) => {
  const hasher = createHasher({ workersMax: 1 })
  t.after(() => hasher.close())
  assert.deepEqual(await hasher.verify('password', REFERENCE), { right: true, outdated: true })
  assert.equal((await hasher.verify('passwore', REFERENCE)).right, false)
  await assert.rejects(hasher.verify('x', '$2b$12$abcdefghijklmnopqrstuv'), /not Argon2id/)
})

test('the same letters typed on another keyboard are the same password', async (t) => {
  const hasher = createHasher({ workersMax: 1 })
  t.after(() => hasher.close())
  const stored = await hasher.hash('caf\u00e9 au lait')
  assert.equal((await hasher.verify('cafe\u0301 au lait', stored)).right, true)
})

test('a full queue refuses at once, with a time to come back, and then drains', async (t) => {
  const hasher = createHasher({ workersMax: 1, queueMax: 3 })
  t.after(() => hasher.close())
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => hasher.hash('x')))
  const refused = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason] : [],
  )
  assert.equal(refused.length, 6)
  for (const reason of refused) {
    assert.ok(reason instanceof Problem)
    assert.deepEqual([reason.status, reason.headers], [503, { 'Retry-After': '3' }])
  }
  assert.match(await hasher.hash('x'), /^\$argon2id/)
})

test('an idle thread ends, and the next password starts a new one', async (t) => {
  const hasher = createHasher({ workersMax: 1, idleMs: 1 })
  t.after(() => hasher.close())
  await hasher.hash('x')
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.match(await hasher.hash('x'), /^\$argon2id/)
})

test('closing refuses what still waits', async () => {
  const hasher = createHasher({ workersMax: 1 })
  const waiting = [hasher.hash('x'), hasher.hash('x')]
  const outcomes = Promise.allSettled(waiting)
  await hasher.close()
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
})

test('a password that arrives while an idle thread ends is hashed by another thread', async (t) => {
  const idleMs = 5
  const hasher = createHasher({ workersMax: 1, idleMs })
  t.after(() => hasher.close())
  for (let round = 0; round < 10; round++) {
    const stored = await hasher.hash('first')
    // The request runs in the same turn in which the thread is stopped.
    await new Promise((resolve) => setTimeout(resolve, idleMs))
    assert.equal((await hasher.verify('first', stored)).right, true)
  }
})
