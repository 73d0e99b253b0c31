import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { memoryLimiter, redisLimiter } from './rate-limiter.ts'
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

async function behaves(
  limiter: ReturnType<typeof memoryLimiter>,
  clock: ReturnType<typeof clockAt>,
) {
  const key = crypto.randomUUID()
  const hits = await Promise.all(Array.from({ length: 100 }, () => limiter.hit('test', key, rate)))
  assert.equal(hits.filter((hit) => hit.allowed).length, 10)
  assert.equal(hits.at(-1)?.remaining, 0)
  assert.equal((await limiter.hit('test', `${key}-other`, rate)).allowed, true)

  clock.advance(59_000)
  const late = await limiter.hit('test', key, rate)
  assert.deepEqual([late.allowed, late.resetSeconds], [false, 1])
  clock.advance(1_000)
  assert.deepEqual(await limiter.hit('test', key, rate), {
    allowed: true,
    limit: 10,
    remaining: 9,
    resetSeconds: 60,
  })

  await limiter.takeBack('test', key)
  assert.equal((await limiter.hit('test', key, rate)).remaining, 9)
  await limiter.takeBack('test', `${key}-never`)
  assert.equal(
    (await limiter.hit('test', `${key}-never`, rate)).remaining,
    9,
    'nothing is given that was not taken',
  )
}

test('in memory, a hundred hits at once get ten through, and a new window opens after the old one', async () => {
  const clock = clockAt(1_000_000)
  await behaves(memoryLimiter(clock), clock)
})

test('in Redis it is the same', {
  skip: !process.env.TEST_REDIS_URL && 'no TEST_REDIS_URL',
}, async (t) => {
  const clock = clockAt(Date.now())
  const warnings: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) })
  const redis = await openRedis(process.env.TEST_REDIS_URL ?? '', log)
  t.after(() => redis.close())
  await behaves(redisLimiter({ redis, clock }), clock)
  assert.deepEqual(warnings, [], 'nothing fell back to memory')
})

test('while Redis is away, the node counts for itself', async (t) => {
  const clock = clockAt(Date.now())
  const log = pino({ level: 'silent' })
  const redis = await openRedis('redis://127.0.0.1:1', log)
  t.after(() => redis.close())
  await behaves(redisLimiter({ redis, clock }), clock)
})

const ANSWERS: Record<string, string> = {
  eval: '*3\r\n:1\r\n:1\r\n:60000\r\n',
  info: '$19\r\nredis_version:7.0.0\r\n',
}

/**
 * Speaks enough of Redis's protocol to count hits, until it stands still with its connections open.
 */
async function standIn(t: TestContext) {
  const sockets = new Set<Socket>()
  const seen = { hits: 0 }
  const unanswered: (() => void)[] = []
  let standsStill = false
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.on('data', (bytes) => {
      for (const command of String(bytes).split(/^(?=\*\d+\r\n)/m)) {
        const name = command.split('\r\n')[2]?.toLowerCase() ?? ''
        if (name === 'eval') seen.hits++
        const reply = () => void socket.write(ANSWERS[name] ?? '+OK\r\n')
        if (standsStill) unanswered.push(reply)
        else reply()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: `redis://127.0.0.1:${(server.address() as { port: number }).port}`,
    seen,
    stand: (still: boolean) => {
      standsStill = still
      if (!still) for (const reply of unanswered.splice(0)) reply()
    },
  }
}

test('while Redis hangs, no request waits for it, the node counts separately, and logs one line', async (t) => {
  const server = await standIn(t)
  const clock = clockAt(Date.now())
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const redis = await openRedis(server.url, log)
  t.after(() => redis.close())
  const limiter = redisLimiter({ redis, clock })
  assert.equal((await limiter.hit('test', 'a', rate)).remaining, 9)
  assert.equal(redis.isWell(), true)

  server.stand(true)
  const before = server.seen.hits
  for (let hit = 1; hit <= 30; hit++) {
    assert.equal((await limiter.hit('test', 'b', rate)).allowed, hit <= 10, `hit ${hit}`)
  }
  assert.ok(server.seen.hits - before <= 3, `${server.seen.hits - before} of 30 asked it`)
  assert.equal(redis.isWell(), false)
  assert.equal(lines.length, 1, lines.join(''))

  server.stand(false)
  while (!redis.isWell()) {
    await limiter.hit('test', 'c', rate)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.equal((await limiter.hit('test', 'd', rate)).remaining, 9, 'it is asked again')
})
