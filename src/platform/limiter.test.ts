import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { memoryLimiter, redisLimiter } from './limiter.ts'
import { openRedis } from './redis.ts'

function clockAt(ms: number) {
  let now = ms
  return {
    ms: () => now,
    now: () => new Date(now).toISOString(),
    advance(by: number) {
      now += by
    },
  }
}

const rate = { requests: 10, seconds: 60 }

async function behaves(limiter: ReturnType<typeof memoryLimiter>, clock: ReturnType<typeof clockAt>) {
  const key = crypto.randomUUID()
  const hits = await Promise.all(Array.from({ length: 100 }, () => limiter.hit('test', key, rate)))
  assert.equal(hits.filter((hit) => hit.allowed).length, 10)
  assert.equal(hits.at(-1)?.remaining, 0)
  assert.equal((await limiter.hit('test', `${key}-other`, rate)).allowed, true)

  clock.advance(59_000)
  const late = await limiter.hit('test', key, rate)
  assert.deepEqual([late.allowed, late.resetSeconds], [false, 1])
  clock.advance(1_000)
  assert.deepEqual(await limiter.hit('test', key, rate), { allowed: true, limit: 10, remaining: 9, resetSeconds: 60 })

  await limiter.clear('test', key)
  assert.equal((await limiter.hit('test', key, rate)).remaining, 9)
}

test('in memory, a hundred hits at once get ten through, and a new window opens after the old one', async () => {
  const clock = clockAt(1_000_000)
  await behaves(memoryLimiter(clock), clock)
})

test('in Redis it is the same', { skip: !process.env.TEST_REDIS_URL && 'no TEST_REDIS_URL' }, async (t) => {
  const clock = clockAt(Date.now())
  const warnings: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) })
  const redis = await openRedis(process.env.TEST_REDIS_URL ?? '', log)
  t.after(() => redis.disconnect())
  await behaves(redisLimiter({ redis, clock, log }), clock)
  assert.deepEqual(warnings, [], 'nothing fell back to memory')
})

test('while Redis is away, the node counts for itself', async (t) => {
  const clock = clockAt(Date.now())
  const log = pino({ level: 'silent' })
  const redis = await openRedis('redis://127.0.0.1:1', log)
  t.after(() => redis.disconnect())
  await behaves(redisLimiter({ redis, clock, log }), clock)
})
