import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Log } from './telemetry/log.ts'

export type { Redis }

const CONNECT_MS = 5_000

/** Waits up to 5 s for the connection; without it the service starts all the same, and each node counts for itself. */
export async function openRedis(url: string, log: Log): Promise<Redis> {
  const { Redis } = await import('ioredis')
  // `?prefix=name` keeps several services apart on one server.
  const address = new URL(url)
  const keyPrefix = `${address.searchParams.get('prefix') ?? 'latchkey'}:`
  address.searchParams.delete('prefix')
  const redis = new Redis(address.href, {
    keyPrefix,
    // Away means away: a request must not wait for a reconnection to learn it.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
  })
  redis.on('error', (error: Error) => log.warn({ err: error }, 'Redis is unreachable'))
  await Promise.race([new Promise((resolve) => redis.once('ready', resolve)), sleep(CONNECT_MS, null, { ref: false })])
  return redis
}
