import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Problem } from '#platform/problem.ts'
import { createConcurrencyLimiter } from './concurrency-limiter.ts'

const patient = new AbortController().signal

/** Records the order of the starts; each call ends when the test releases it. */
function limited(limits: { runningMax: number; waitingMax: number }) {
  const limiter = createConcurrencyLimiter(limits)
  const started: string[] = []
  const releases: (() => void)[] = []
  const acquire = (user: string, signal: AbortSignal = patient) => {
    const acquired = limiter.acquire(user, signal)
    const settle = (release: () => void) => {
      started.push(user)
      releases.push(release)
    }
    if (acquired instanceof Promise) return acquired.then(settle)
    settle(acquired)
    return Promise.resolve()
  }
  const oneEnds = async () => {
    releases.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { limiter, started, releases, acquire, oneEnds }
}

test('serves other users before the next of a user’s thousand calls', async () => {
  const { started, acquire, oneEnds } = limited({ runningMax: 1, waitingMax: 2_000 })
  for (let call = 0; call < 1_000; call++) void acquire('greedy')
  void acquire('ada')
  void acquire('bob')
  void acquire('ada')

  for (let turn = 0; turn < 6; turn++) await oneEnds()

  assert.deepEqual(started, ['greedy', 'greedy', 'ada', 'bob', 'greedy', 'ada', 'greedy'])
})

test('gives a free place to the first in line', async () => {
  const { limiter, started, acquire, oneEnds } = limited({ runningMax: 2, waitingMax: 10 })
  await acquire('a')
  await acquire('b')
  void acquire('c')
  assert.deepEqual([limiter.running, limiter.waiting], [2, 1])

  await oneEnds()

  assert.deepEqual(started, ['a', 'b', 'c'])
  assert.deepEqual([limiter.running, limiter.waiting], [2, 0])
})

test('frees one place when a release is called twice', async () => {
  const { limiter, releases, acquire } = limited({ runningMax: 1, waitingMax: 10 })
  await acquire('a')
  releases[0]!()
  releases[0]!()
  assert.equal(limiter.running, 0)
})

test('returns 503 with Retry-After when the queue is full', async () => {
  const { acquire } = limited({ runningMax: 1, waitingMax: 1 })
  await acquire('a')
  void acquire('b')
  await assert.rejects(
    async () => acquire('c'),
    (error) =>
      error instanceof Problem && error.status === 503 && error.headers['Retry-After'] === '1',
  )
})

test('removes callers who leave the queue, and rejects callers who have already left', async () => {
  const { limiter, started, acquire, oneEnds } = limited({ runningMax: 1, waitingMax: 10 })
  await acquire('a')
  const gone = new AbortController()
  const waiting = acquire('b', gone.signal)
  void acquire('c')
  gone.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  await assert.rejects(async () => acquire('b', gone.signal), { name: 'AbortError' })
  assert.equal(limiter.waiting, 1)

  await oneEnds()
  assert.deepEqual(started, ['a', 'c'])
})

test('property: respects the limit, loses no call, and starts waiting calls when a place is free', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('acquire' as const), user: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ do: fc.constant('end' as const) }),
    fc.record({ do: fc.constant('give up' as const), nth: fc.nat(5) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { limiter, releases, acquire, oneEnds } = limited({ runningMax: 3, waitingMax: 100 })
      const hopeful: AbortController[] = []
      for (const one of steps) {
        if (one.do === 'acquire') {
          const controller = new AbortController()
          hopeful.push(controller)
          acquire(one.user, controller.signal).catch(() => {})
        } else if (one.do === 'end') await oneEnds()
        else hopeful[one.nth]?.abort()
        await new Promise((resolve) => setImmediate(resolve))
        assert.ok(limiter.running <= 3)
        assert.equal(limiter.running, releases.length)
        assert.ok(limiter.waiting === 0 || limiter.running === 3)
      }
      while (releases.length > 0) await oneEnds()
      assert.deepEqual([limiter.running, limiter.waiting], [0, 0])
    }),
    { numRuns: 200 },
  )
})
