// The first model of an alias.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '#config/config.ts'
import type { Alias, Route, Strategy } from '#models/catalogue.ts'
import { createAffinity } from './endpoints.ts'
import { createLatencies } from './latencies.ts'
import { orderRoutes } from './strategies.ts'
import { VendorError } from './vendors/vendor-error.ts'

const HAIKU: Route = { vendor: 'anthropic', model: 'claude-haiku-5-5' }
const LUNA: Route = { vendor: 'openai', model: 'gpt-6-luna' }
const FLASH: Route = { vendor: 'gemini', model: 'gemini-3.8-flash' }
const NOBODY_KNOWS: Route = { vendor: 'openai', model: 'gpt-nobody-knows' }

const config = readConfig({}).ai
const unmeasured = { find: () => null }
const affinity = () => 7

function aliasBy(by: Strategy, routes: [Route, ...Route[]], weights = routes.map(() => 1)): Alias {
  return { routes, by, weights }
}

const namesOf = (routes: readonly Route[]) => routes.map(({ model }) => model)

test('by price: puts the cheapest model for this request first, including long-prompt prices', () => {
  const alias = aliasBy('price', [NOBODY_KNOWS, FLASH, LUNA, HAIKU])
  const order = (promptTokens: number, completionTokens = 500) => {
    const choice = { affinity, isStream: false, size: { promptTokens, completionTokens } }
    return namesOf(orderRoutes({ config, latencies: unmeasured }, alias, alias.routes, choice))
  }
  // Haiku and Luna both take 0.1 and 0.5; Haiku five times as much above 100,000 tokens, Luna twice above 272,000.
  assert.deepEqual(order(1_000), [LUNA.model, HAIKU.model, FLASH.model, NOBODY_KNOWS.model])
  assert.deepEqual(order(150_000), [LUNA.model, HAIKU.model, FLASH.model, NOBODY_KNOWS.model])
  assert.deepEqual(
    order(1_049_000).at(-1),
    HAIKU.model,
    'what cannot read so much is last, with what has no price',
  )
  assert.deepEqual(order(1_000, Number.POSITIVE_INFINITY)[0], LUNA.model)
})

test('by weight: distributes conversations, keeps each at its model, and puts a spare last', () => {
  const alias = aliasBy('weight', [LUNA, FLASH, HAIKU], [1, 3, 0])
  const firsts: Record<string, number> = {}
  for (let who = 0; who < 4_000; who++) {
    const choice = {
      affinity: createAffinity({ userId: `user-${who}`, keyId: null }, 'Hi'),
      isStream: true,
      size: { promptTokens: 10, completionTokens: 10 },
    }
    const order = orderRoutes({ config, latencies: unmeasured }, alias, alias.routes, choice)
    assert.deepEqual(
      order,
      orderRoutes({ config, latencies: unmeasured }, alias, alias.routes, choice),
    )
    assert.equal(order[2], HAIKU)
    const first = order[0]!.model
    firsts[first] = (firsts[first] ?? 0) + 1
  }
  const share = firsts[FLASH.model]! / 4_000
  assert.ok(share > 0.72 && share < 0.78, `${share}`)
})

test('by latency: measures each model once, prefers the fastest or nearly fastest, and sometimes tries others', (t) => {
  const alias = aliasBy('latency', [LUNA, FLASH, HAIKU])
  const times = new Map<string, number>()
  const latencies = {
    find: ({ model }: Route, isStream: boolean) => (isStream ? (times.get(model) ?? null) : null),
  }
  let lot = 0.5
  t.mock.method(Math, 'random', () => lot)
  const order = (isStream = true) => {
    const choice = { affinity, isStream, size: { promptTokens: 10, completionTokens: 10 } }
    return namesOf(orderRoutes({ config, latencies }, alias, alias.routes, choice))
  }
  assert.deepEqual(order(), namesOf(alias.routes))
  times.set(LUNA.model, 500)
  assert.deepEqual(order(), [FLASH.model, HAIKU.model, LUNA.model])
  times.set(FLASH.model, 300).set(HAIKU.model, 350)
  assert.deepEqual(order(), [FLASH.model, HAIKU.model, LUNA.model])
  times.set(HAIKU.model, 250)
  assert.deepEqual(order(), [FLASH.model, HAIKU.model, LUNA.model], 'a fifth slower is as quick')
  times.set(HAIKU.model, 249)
  assert.deepEqual(order(), [HAIKU.model, FLASH.model, LUNA.model])
  assert.deepEqual(order(false), namesOf(alias.routes), 'whole answers are measured apart')
  lot = 0.01
  assert.deepEqual(order(), [FLASH.model, HAIKU.model, LUNA.model])
})

test('measures only models of aliases by latency; a timeout counts as slow, other failures do not count', async (t) => {
  const aliases = new Map([
    ['quick', aliasBy('latency', [LUNA, FLASH])],
    ['cheap', aliasBy('price', [HAIKU, FLASH])],
  ])
  const latencies = createLatencies(aliases)
  let ms = 0
  t.mock.method(performance, 'now', () => ms)
  const asks = async (route: Route, took: number, failure: VendorError | null = null) => {
    const answer = Promise.withResolvers<string>()
    const timed = latencies.measure(route, true, answer.promise)
    ms += took
    if (failure === null) answer.resolve('well')
    else answer.reject(failure)
    return { timed, isWatched: timed !== answer.promise, done: await timed.catch(() => 'failed') }
  }
  assert.equal((await asks(HAIKU, 100)).isWatched, false)
  assert.equal(latencies.find(HAIKU, true), null)
  assert.equal((await asks(LUNA, 100)).isWatched, true)
  await asks(LUNA, 200)
  assert.deepEqual([latencies.find(LUNA, true), latencies.find(LUNA, false)], [120, null])
  await asks(LUNA, 1, new VendorError('limited', 'no'))
  assert.equal(latencies.find(LUNA, true), 120)
  await asks(FLASH, 5_000, new VendorError('timeout', 'no'))
  assert.equal(latencies.find(FLASH, true), 5_000)
})
