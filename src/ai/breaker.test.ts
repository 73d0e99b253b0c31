import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '#models/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import { createAttemptLog } from './attempt-log.ts'
import { attempt } from './attempts.ts'
import { createBreaker, createModelBreakers } from './breaker.ts'
import { createRefusal, VendorError, type VendorFailure } from './vendors/vendor-error.ts'

function movable() {
  let ms = 1_000_000
  const clock: Clock = { ms: () => ms, now: () => new Date(ms).toISOString() }
  return { clock, advance: (by: number) => (ms += by) }
}

function healthBy(clock: Clock) {
  const breakers = {
    openai: createBreaker(clock),
    anthropic: createBreaker(clock),
    gemini: createBreaker(clock),
  }
  const endpoints = Object.fromEntries(
    Object.entries(breakers).map(([name, breaker]) => [name, [{ name, weight: 1, breaker }]]),
  )
  return { breakers, endpoints, modelBreakers: createModelBreakers(clock), clock }
}

const ROUTES: Route[] = [
  { vendor: 'openai', model: 'gpt-6-luna' },
  { vendor: 'anthropic', model: 'claude-haiku-5-5' },
]
const patient = new AbortController().signal
const UNHURRIED = {
  deadlineMs: 60_000,
  attemptsMax: 100,
  computeLimits: () => ({ headMs: 60_000, answerMs: 60_000 }),
}

function failing(failures: Record<string, VendorFailure>) {
  const asked: string[] = []
  const ask = async ({ vendor }: Route) => {
    asked.push(vendor)
    const failure = failures[vendor]
    if (failure) throw new VendorError(failure, 'as the test asked')
    return vendor
  }
  return { asked, ask }
}

test('opens after five failed calls in a row, allows a probe after ten seconds, and closes when it succeeds', () => {
  const { clock, advance } = movable()
  const breaker = createBreaker(clock)
  for (let call = 0; call < 5; call++) {
    assert.equal(breaker.allows(), true)
    breaker.recordFailure()
  }
  assert.deepEqual([breaker.allows(), breaker.state], [false, 'open'])

  advance(10_000)
  assert.equal(breaker.state, 'half-open')
  assert.deepEqual([breaker.allows(), breaker.allows()], [true, false])
  breaker.recordSuccess()
  assert.deepEqual([breaker.allows(), breaker.state], [true, 'closed'])
})

test('stays open for another ten seconds after a failed probe', () => {
  const { clock, advance } = movable()
  const breaker = createBreaker(clock)
  for (let call = 0; call < 5; call++) breaker.recordFailure()
  advance(10_000)
  assert.equal(breaker.allows(), true)
  breaker.recordFailure()
  assert.equal(breaker.allows(), false)
  advance(10_000)
  assert.equal(breaker.allows(), true)
})

test('allows another probe when the caller of a probe leaves', async () => {
  const { clock, advance } = movable()
  const deps = healthBy(clock)
  for (let call = 0; call < 5; call++) deps.breakers.openai.recordFailure()
  advance(10_000)
  const leaving = new AbortController()

  const ask = () => {
    leaving.abort()
    return Promise.reject(leaving.signal.reason)
  }
  await assert.rejects(attempt(deps, ROUTES, leaving.signal, createAttemptLog(), ask, UNHURRIED), {
    name: 'AbortError',
  })

  const { asked, ask: next } = failing({})
  await attempt(deps, ROUTES, patient, createAttemptLog(), next, UNHURRIED)
  assert.deepEqual(asked, ['openai'])
})

test('does not open for names of unknown models', async () => {
  const { clock } = movable()
  const deps = healthBy(clock)
  for (let call = 0; call < 50; call++)
    await attempt(
      deps,
      ROUTES,
      patient,
      createAttemptLog(),
      failing({ openai: 'unknown-model' }).ask,
      UNHURRIED,
    )
  assert.equal(deps.breakers.openai.state, 'closed')
})

test('reports the earlier failure when a fallback cannot serve the request', async () => {
  const { clock } = movable()
  const deps = healthBy(clock)
  const { asked, ask } = failing({ openai: 'unauthorized', anthropic: 'refused' })

  await assert.rejects(
    attempt(deps, ROUTES, patient, createAttemptLog(), ask, UNHURRIED),
    (error) => {
      return (
        error instanceof VendorError &&
        error.vendor === 'openai' &&
        error.failure === 'unauthorized'
      )
    },
  )
  assert.deepEqual(asked, ['openai', 'anthropic'])
})

test('caps a vendor’s Retry-After at one minute', () => {
  const { clock, advance } = movable()
  const breaker = createBreaker(clock)
  breaker.openUntil(clock.ms() + 3_600_000)
  assert.deepEqual([breaker.allows(), breaker.state], [false, 'open'])
  advance(60_000)
  assert.deepEqual([breaker.allows(), breaker.state], [true, 'closed'])
})

test('replaces stale connections without a delay and without using one of the three attempts', async (t) => {
  const { clock } = movable()
  const health = healthBy(clock)
  const pauses = t.mock.method(Math, 'random')
  const isStale = true
  let asked = 0
  const ask = async () => {
    asked++
    if (asked <= 3) throw new VendorError('unreachable', 'as the test asked', { isStale })
    return 'well'
  }
  const attemptLog = createAttemptLog()

  assert.equal(
    (await attempt(health, ROUTES.slice(0, 1), patient, attemptLog, ask, UNHURRIED)).result,
    'well',
  )
  assert.equal(pauses.mock.callCount(), 0)
  assert.deepEqual(attemptLog.steps, [...Array(3).fill('openai:unreachable'), 'openai:ok'])
})

test('counts a rate limit against the model and closes a half-open breaker of the vendor', async () => {
  const { clock, advance } = movable()
  const health = healthBy(clock)
  for (let call = 0; call < 5; call++) health.breakers.openai.recordFailure()
  advance(10_000)
  const limits = async () => {
    throw new VendorError('limited', 'as the test asked', { status: 429, retryAfterMs: 30_000 })
  }
  await assert.rejects(
    attempt(health, ROUTES.slice(0, 1), patient, createAttemptLog(), limits, UNHURRIED),
  )

  assert.equal(health.breakers.openai.state, 'closed')
  assert.deepEqual(health.modelBreakers.open, [ROUTES[0]])
  const sibling = [{ vendor: 'openai', model: 'gpt-6.1-terra' }, ROUTES[1]] as Route[]
  const { asked, ask } = failing({})
  await attempt(health, sibling, patient, createAttemptLog(), ask, UNHURRIED)
  await attempt(health, ROUTES, patient, createAttemptLog(), ask, UNHURRIED)
  assert.deepEqual(asked, ['openai', 'anthropic'])
})

test('does not count a request that was rejected before it was sent', async () => {
  const { clock, advance } = movable()
  const health = healthBy(clock)
  for (let call = 0; call < 5; call++) health.breakers.openai.recordFailure()
  advance(10_000)
  const attemptLog = createAttemptLog()
  const refuse = async () => {
    throw createRefusal('Answers other than text are not supported by this model')
  }
  await assert.rejects(
    attempt(health, ROUTES.slice(0, 1), patient, attemptLog, refuse, UNHURRIED),
    /other than text/,
  )

  assert.deepEqual([health.breakers.openai.state, attemptLog.attempts], ['half-open', 0])
  assert.equal(health.breakers.openai.allows(), true, 'the one try is still to be had')
})

test('stays open when a request from before the rate limit succeeds', () => {
  const { clock, advance } = movable()
  const { modelBreakers } = healthBy(clock)
  const [model] = ROUTES as [Route]
  modelBreakers.openUntil(model, clock.ms() + 30_000)
  modelBreakers.recordAnswer(model)
  assert.equal(modelBreakers.allows(model), false)
  advance(30_000)
  modelBreakers.recordAnswer(model)
  assert.deepEqual([modelBreakers.allows(model), modelBreakers.open], [true, []])
})

test('bounds the memory for names that callers invent', () => {
  const { clock } = movable()
  const { modelBreakers } = healthBy(clock)
  for (let made = 0; made < 1_500; made++)
    modelBreakers.openUntil({ vendor: 'openai', model: `made-${made}` }, clock.ms() + 1_000)
  assert.equal(modelBreakers.open.length, 1_000)
  assert.equal(modelBreakers.allows({ vendor: 'openai', model: 'made-1499' }), false)
})
