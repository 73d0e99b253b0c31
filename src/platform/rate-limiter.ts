/**
 * Fixed-window rate limiter, in memory or in Redis; a window opens with its first hit. Windows
 * follow the service's clock. Counting is atomic (a Map, or one Lua script in Redis), so that
 * parallel hits cannot exceed the limit.
 */
import type { Rate } from '#config/config.ts'
import type { Clock } from './clock.ts'
import type { Problem } from './problem.ts'
import { platformProblem } from './problems.ts'
import type { Redis } from './redis.ts'

export type Hit = {
  allowed: boolean
  limit: number
  remaining: number
  /** Seconds until the window ends, rounded up. */
  resetSeconds: number
}

export type RateLimiter = {
  /** Counts one hit of `key` in `bucket`; a refused hit is not counted. */
  hit(bucket: string, key: string, rate: NonNullable<Rate>): Hit | Promise<Hit>
  /** Returns the result of a hit without counting it. */
  look(bucket: string, key: string, rate: NonNullable<Rate>): Hit | Promise<Hit>
  /** Reverts one hit that was counted before its outcome was known, and then succeeded. */
  takeBack(bucket: string, key: string): void | Promise<void>
}

const WINDOWS_MAX = 200_000

export function memoryLimiter(clock: Clock): RateLimiter {
  const windows = new Map<string, { count: number; endsMs: number }>()

  return {
    hit(bucket, key, rate) {
      const now = clock.ms()
      const name = `${bucket}:${key}`
      let window = windows.get(name)
      if (!window || window.endsMs <= now) {
        windows.delete(name)
        if (windows.size >= WINDOWS_MAX) makeRoom(windows, now)
        window = { count: 0, endsMs: now + rate.seconds * 1_000 }
        windows.set(name, window)
      }
      const allowed = window.count < rate.requests
      if (allowed) window.count++
      return buildHit(allowed, rate.requests, window.count, window.endsMs - now)
    },
    look(bucket, key, rate) {
      const now = clock.ms()
      const window = windows.get(`${bucket}:${key}`)
      if (!window || window.endsMs <= now) return unused(rate)
      return buildHit(
        window.count < rate.requests,
        rate.requests,
        window.count,
        window.endsMs - now,
      )
    },
    takeBack(bucket, key) {
      const window = windows.get(`${bucket}:${key}`)
      if (window && window.count > 0) window.count--
    },
  }
}

/** The nodes' clocks determine the end of a window. Redis's expiry only removes old windows. */
const HIT_SCRIPT = `
local now = tonumber(ARGV[3])
local window = redis.call('hmget', KEYS[1], 'count', 'ends')
local count = tonumber(window[1] or '0')
local ends = tonumber(window[2] or '0')
if ends <= now then
  count = 0
  ends = now + tonumber(ARGV[2])
  redis.call('hset', KEYS[1], 'count', 0, 'ends', ends)
  redis.call('pexpire', KEYS[1], tonumber(ARGV[2]) + 60000)
end
if count < tonumber(ARGV[1]) then return {1, redis.call('hincrby', KEYS[1], 'count', 1), ends - now} end
return {0, count, ends - now}
`

const TAKE_BACK_SCRIPT = `
local count = tonumber(redis.call('hget', KEYS[1], 'count') or '0')
if count > 0 then redis.call('hincrby', KEYS[1], 'count', -1) end
return 0
`

/**
 * Shared by all nodes. While Redis is down or hangs, each node counts separately: a doubled limit
 * is better than an outage.
 */
export function redisLimiter({ redis, clock }: { redis: Redis; clock: Clock }): RateLimiter {
  const fallback = memoryLimiter(clock)
  const buildKey = (bucket: string, key: string) => `limit:${bucket}:${key}`

  return {
    async hit(bucket, key, rate) {
      try {
        const [allowed, count, ttlMs] = (await redis.ask((client) =>
          client.eval(
            HIT_SCRIPT,
            1,
            buildKey(bucket, key),
            rate.requests,
            rate.seconds * 1_000,
            clock.ms(),
          ),
        )) as [number, number, number]
        return buildHit(allowed === 1, rate.requests, count, ttlMs)
      } catch {
        return fallback.hit(bucket, key, rate)
      }
    },
    async look(bucket, key, rate) {
      try {
        const [count, ends] = await redis.ask((client) =>
          client.hmget(buildKey(bucket, key), 'count', 'ends'),
        )
        const leftMs = Number(ends ?? 0) - clock.ms()
        return leftMs <= 0
          ? unused(rate)
          : buildHit(Number(count) < rate.requests, rate.requests, Number(count), leftMs)
      } catch {
        return fallback.look(bucket, key, rate)
      }
    },
    async takeBack(bucket, key) {
      try {
        await redis.ask((client) => client.eval(TAKE_BACK_SCRIPT, 1, buildKey(bucket, key)))
      } catch {
        fallback.takeBack(bucket, key)
      }
    },
  }
}

/** Headers of every counted reply. */
export function rateHeaders(hit: Hit): Record<string, string> {
  return {
    'RateLimit-Limit': String(hit.limit),
    'RateLimit-Remaining': String(hit.remaining),
    'RateLimit-Reset': String(hit.resetSeconds),
  }
}

/** Returns the 429 for a rejected hit. */
export function rateProblem(hit: Hit): Problem {
  return platformProblem('rate_limited', {
    headers: { ...rateHeaders(hit), 'Retry-After': String(hit.resetSeconds) },
  })
}

/** Returns the state before the first hit, which opens the window. */
function unused({ requests, seconds }: NonNullable<Rate>): Hit {
  return buildHit(true, requests, 0, seconds * 1_000)
}

function buildHit(allowed: boolean, limit: number, count: number, leftMs: number): Hit {
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - count),
    resetSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
  }
}

/**
 * Drops ended windows. An attacker with countless addresses loses the oldest windows, but does not
 * fill the memory.
 */
function makeRoom(windows: Map<string, { endsMs: number }>, now: number) {
  for (const [name, window] of windows) if (window.endsMs <= now) windows.delete(name)
  for (const name of windows.keys()) {
    if (windows.size < WINDOWS_MAX * 0.9) break
    windows.delete(name)
  }
}
