import type { Redis } from 'ioredis'
import type { Log } from './telemetry/log.ts'

export type { Redis }

/** Connects lazily loaded, so that a service without Redis never pays for the client. */
export async function openRedis(url: string, log: Log): Promise<Redis> {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, { maxRetriesPerRequest: 1, enableOfflineQueue: true, connectTimeout: 5_000 })
  redis.on('error', (error: Error) => log.warn({ err: error }, 'Redis is unreachable'))
  return redis
}
