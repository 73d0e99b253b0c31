import type { Redis } from 'ioredis'
import type { Log } from './telemetry/log.ts'

export type { Redis }

/** Connects lazily loaded, so that a service without Redis never pays for the client. */
export async function openRedis(url: string, log: Log): Promise<Redis> {
  const { Redis } = await import('ioredis')
  // `?prefix=name` keeps several services apart on one server.
  const address = new URL(url)
  const keyPrefix = `${address.searchParams.get('prefix') ?? 'latchkey'}:`
  address.searchParams.delete('prefix')
  const redis = new Redis(address.href, {
    keyPrefix,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: true,
    connectTimeout: 5_000,
  })
  redis.on('error', (error: Error) => log.warn({ err: error }, 'Redis is unreachable'))
  return redis
}
