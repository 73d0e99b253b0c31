import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Problem } from '#platform/problem.ts'
import { createTurnstile } from './concurrency-limiter.ts'

const patient = new AbortController().signal

/** Notes who gets in, in which order; everybody leaves when told. */
function door(limits: { runningMax: number; waitingMax: number }) {
  const turnstile = createTurnstile(limits)
  const admitted: string[] = []
  const ways: (() => void)[] = []
  const enter = (user: string, signal: AbortSignal = patient) => {
    const entered = turnstile.enter(user, signal)
    const settle = (leave: () => void) => {
      admitted.push(user)
      ways.push(leave)
    }
    if (entered instanceof Promise) return entered.then(settle)
    settle(entered)
    return Promise.resolve()
  }
  const oneLeaves = async () => {
    ways.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { turnstile, admitted, ways, enter, oneLeaves }
}

test('a user with a thousand calls waits behind himself: every other has the next turn', async () => {
  const { admitted, enter, oneLeaves } = door({ runningMax: 1, waitingMax: 2_000 })
  for (let call = 0; call < 1_000; call++) void enter('greedy')
  void enter('ada')
  void enter('bob')
  void enter('ada')

  for (let turn = 0; turn < 6; turn++) await oneLeaves()

  assert.deepEqual(admitted, ['greedy', 'greedy', 'ada', 'bob', 'greedy', 'ada', 'greedy'])
})

test('nobody passes who waits: what is free goes to the first in line', async () => {
  const { turnstile, admitted, enter, oneLeaves } = door({ runningMax: 2, waitingMax: 10 })
  await enter('a')
  await enter('b')
  void enter('c')
  assert.deepEqual([turnstile.running, turnstile.waiting], [2, 1])

  await oneLeaves()

  assert.deepEqual(admitted, ['a', 'b', 'c'])
  assert.deepEqual([turnstile.running, turnstile.waiting], [2, 0])
})

test('who leaves twice makes room once', async () => {
  const { turnstile, ways, enter } = door({ runningMax: 1, waitingMax: 10 })
  await enter('a')
  ways[0]!()
  ways[0]!()
  assert.equal(turnstile.running, 0)
})

test('a full queue refuses with 503 and when to come back', async () => {
  const { enter } = door({ runningMax: 1, waitingMax: 1 })
  await enter('a')
  void enter('b')
  await assert.rejects(
    async () => enter('c'),
    (error) => error instanceof Problem && error.status === 503 && error.headers['Retry-After'] === '1',
  )
})

test('who gives up waiting is forgotten, and who has given up before gets no place', async () => {
  const { turnstile, admitted, enter, oneLeaves } = door({ runningMax: 1, waitingMax: 10 })
  await enter('a')
  const gone = new AbortController()
  const waiting = enter('b', gone.signal)
  void enter('c')
  gone.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  await assert.rejects(async () => enter('b', gone.signal), { name: 'AbortError' })
  assert.equal(turnstile.waiting, 1)

  await oneLeaves()
  assert.deepEqual(admitted, ['a', 'c'])
})

test('whatever comes, goes and gives up: the bound holds, none is lost and none waits while there is room', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('enter' as const), user: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ do: fc.constant('leave' as const) }),
    fc.record({ do: fc.constant('give up' as const), nth: fc.nat(5) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { turnstile, ways, enter, oneLeaves } = door({ runningMax: 3, waitingMax: 100 })
      const hopeful: AbortController[] = []
      for (const one of steps) {
        if (one.do === 'enter') {
          const controller = new AbortController()
          hopeful.push(controller)
          enter(one.user, controller.signal).catch(() => {})
        } else if (one.do === 'leave') await oneLeaves()
        else hopeful[one.nth]?.abort()
        await new Promise((resolve) => setImmediate(resolve))
        assert.ok(turnstile.running <= 3)
        assert.equal(turnstile.running, ways.length)
        assert.ok(turnstile.waiting === 0 || turnstile.running === 3)
      }
      while (ways.length > 0) await oneLeaves()
      assert.deepEqual([turnstile.running, turnstile.waiting], [0, 0])
    }),
    { numRuns: 200 },
  )
})
