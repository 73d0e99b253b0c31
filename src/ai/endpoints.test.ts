// The choice of a vendor's endpoint, and the effect of its failures on a call.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '#platform/clock.ts'
import { createAttemptLog } from './attempt-log.ts'
import { attempt } from './attempts.ts'
import { createBreaker, createModelBreakers } from './breaker.ts'
import { createAffinity, type EndpointHealth, orderEndpoints } from './endpoints.ts'
import { createRefusal, VendorError } from './vendors/vendor-error.ts'

const UNHURRIED = {
  deadlineMs: 60_000,
  attemptsMax: 100,
  computeLimits: () => ({ headMs: 60_000, answerMs: 60_000 }),
}

const patient = new AbortController().signal
const ROUTE = { vendor: 'openai', model: 'gpt-6-luna' }
const OTHER = { vendor: 'anthropic', model: 'claude-haiku-5-5' }

function setting(weights: number[] = [1, 1, 1]) {
  let ms = 1_000_000
  const clock: Clock = { ms: () => ms, now: () => new Date(ms).toISOString() }
  const openai = weights.map((weight, index) => ({
    name: `openai#${index + 1}`,
    weight,
    breaker: createBreaker(clock),
  }))
  const endpoints = {
    openai,
    anthropic: [{ name: 'anthropic', weight: 1, breaker: createBreaker(clock) }],
  }
  const modelBreakers = createModelBreakers(clock)
  const failures = new Map<string, () => VendorError>()
  const call = async (who = 0, routes = [ROUTE, OTHER]) => {
    const log = createAttemptLog()
    const ask = async (_route: unknown, { name }: EndpointHealth) => {
      const failure = failures.get(name)
      if (failure) throw failure()
      return name
    }
    const done = attempt(
      { endpoints, modelBreakers, clock },
      routes,
      patient,
      log,
      ask,
      UNHURRIED,
      () => conversation(who),
    )
    return done.then(
      ({ result }) => ({ answered: result, error: null, log }),
      (error) => ({ answered: null, error, log }),
    )
  }
  /** The order of endpoints for a conversation while all are healthy. */
  const orderOf = (who: number) =>
    orderEndpoints(openai, ROUTE.model, modelBreakers, () => conversation(who)).map(
      ({ name }) => name,
    )
  return { openai, modelBreakers, failures, call, orderOf, advance: (by: number) => (ms += by) }
}

const conversation = (who: number) => {
  const messages = [{ role: 'user' as const, content: `question ${who}` }]
  return createAffinity({ userId: 'ada', keyId: null }, messages)()
}

const limited = (retryAfterMs: number | null = null) => {
  return () => new VendorError('limited', 'answered 429', { status: 429, retryAfterMs })
}
const unauthorized = () => new VendorError('unauthorized', 'answered 401', { status: 401 })

test('distributes conversations by weight and sends none to a spare', () => {
  const { orderOf } = setting([3, 1, 0])
  const counts: Record<string, number> = {}
  for (let who = 0; who < 4_000; who++) {
    const [first = '', , last] = orderOf(who)
    counts[first] = (counts[first] ?? 0) + 1
    assert.equal(last, 'openai#3')
  }
  const share = (counts['openai#1'] ?? 0) / 4_000
  assert.ok(share > 0.72 && share < 0.78, `${share}`)
})

test('keeps a growing conversation at its endpoint, independent of other users and keys', () => {
  const { openai, modelBreakers } = setting([1, 1, 1, 1, 1, 1, 1, 1])
  const first = (userId: string, keyId: string | null, more: object[] = []) => {
    const messages = [
      { role: 'system', content: `now ${more.length}` },
      { role: 'user', content: 'Hi' },
      ...more,
    ]
    return orderEndpoints(
      openai,
      'm',
      modelBreakers,
      createAffinity({ userId, keyId }, messages),
    )[0]?.name
  }
  assert.equal(
    first('ada', 'k'),
    first('ada', 'k', [{ role: 'assistant', content: 'Hello' }, { role: 'user' }]),
  )
  const others = new Set(Array.from({ length: 40 }, (_, n) => first(`user-${n}`, null)))
  assert.ok(others.size > 4, `${others.size}`)
  const keys = new Set(Array.from({ length: 40 }, (_, n) => first('ada', `key-${n}`)))
  assert.ok(keys.size > 4, `${keys.size}`)
})

test('moves only an endpoint’s own conversations when it is removed', async () => {
  const { orderOf, modelBreakers, openai } = setting()
  const before = Array.from({ length: 300 }, (_, who) => orderOf(who))
  modelBreakers.openUntil({ vendor: 'openai#2', model: ROUTE.model }, 1_030_000)
  for (const [who, was] of before.entries()) {
    const [first, , last] = orderOf(who)
    assert.equal(last, 'openai#2', 'what rests is asked last')
    assert.equal(first, was[0] === 'openai#2' ? was[1] : was[0])
  }
  assert.equal(openai.length, 3)
})

test('moves a rate-limited call to the next endpoint without a delay, and rests the limited endpoint for that model', async (t) => {
  const { orderOf, failures, call, advance, modelBreakers } = setting()
  const [first = '', second = ''] = orderOf(7)
  failures.set(first, limited())
  const pauses = t.mock.method(Math, 'random')

  const moved = await call(7)
  assert.deepEqual(
    [moved.answered, moved.log.steps],
    [second, [`${first}:limited`, `${second}:ok`]],
  )
  assert.equal(moved.log.vendor, 'openai')
  assert.deepEqual((await call(7)).log.steps, [`${second}:ok`], 'it is left alone')
  assert.deepEqual((await call(7, [{ ...ROUTE, model: 'other' }])).log.steps[0], `${first}:limited`)
  assert.equal(pauses.mock.callCount(), 0)

  failures.clear()
  advance(5_000)
  assert.equal(modelBreakers.isOpen({ vendor: first, model: ROUTE.model }), false)
  assert.equal((await call(7)).answered, first, 'the conversation comes back to where its cache is')
})

test('rests a rejected key for a minute, and does not hide a temporary rate limit behind it', async () => {
  const { orderOf, failures, call, advance } = setting()
  const [first = '', second = '', third = ''] = orderOf(3)
  failures.set(first, unauthorized)
  assert.equal((await call(3)).answered, second)
  advance(59_000)
  assert.deepEqual((await call(3)).log.steps, [`${second}:ok`])
  advance(1_000)
  assert.deepEqual((await call(3)).log.steps, [`${first}:unauthorized`, `${second}:ok`])

  failures.set(second, limited(30_000)).set(third, unauthorized)
  const { error } = await call(3, [ROUTE])
  assert.deepEqual([error.failure, error.retryAfterMs, error.vendor], ['limited', 30_000, 'openai'])
})

test('uses all endpoints of a vendor before a fallback, and retries only at the last', async () => {
  const { orderOf, failures, call } = setting()
  for (const name of orderOf(1))
    failures.set(name, () => new VendorError('broken', 'answered 500', { status: 500 }))
  const { answered, log } = await call(1)
  const [first, second, third] = orderOf(1)
  assert.equal(answered, 'anthropic')
  assert.deepEqual(log.steps, [
    `${first}:broken`,
    `${second}:broken`,
    `${third}:broken`,
    `${third}:broken`,
    `${third}:broken`,
    'anthropic:ok',
  ])
})

test('does not send a rejected request to the next endpoint', async () => {
  const { orderOf, failures, call } = setting()
  const [first = '', second = ''] = orderOf(2)
  failures.set(
    first,
    () => new VendorError('refused', 'answered 400', { status: 400, explanation: 'Too odd' }),
  )
  const refused = await call(2)
  assert.deepEqual(
    [refused.error.explanation, refused.log.steps],
    ['Too odd', [`${first}:refused`]],
  )

  failures.set(first, limited()).set(second, () => createRefusal('cannot'))
  const after = await call(2)
  assert.deepEqual([after.error.explanation, after.log.attempts], ['cannot', 1])
})

test('opens the breaker of a broken endpoint, uses the others, and probes it later', async () => {
  const { orderOf, failures, call, advance, openai } = setting()
  const [first = '', second = ''] = orderOf(4)
  failures.set(first, () => new VendorError('unreachable', 'no'))
  for (let n = 0; n < 5; n++) assert.equal((await call(4)).log.steps.length, 2)
  assert.deepEqual((await call(4)).log.steps, [`${second}:ok`])
  assert.equal(openai.find(({ name }) => name === second)?.breaker.state, 'closed')
  failures.clear()
  advance(10_000)
  assert.equal((await call(4)).answered, first)
})

test('uses one endpoint when all of them rest', async () => {
  const { orderOf, failures, call } = setting()
  for (const name of orderOf(5)) failures.set(name, limited(30_000))
  await call(5, [ROUTE])
  const { log, error } = await call(5, [ROUTE])
  assert.deepEqual([log.attempts, log.steps.length, error.failure], [1, 3, 'limited'])
})
