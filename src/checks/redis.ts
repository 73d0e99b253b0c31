/** Checks Redis, and names what the service lacks without it. */
import type { Config } from '#config/config.ts'
import { hearsNotifications } from '#platform/notify.ts'
import { createLines, isToCome, type Line, type OpenPlatform } from './line.ts'

export async function checkRedis(config: Config, platform: OpenPlatform): Promise<Line> {
  const { ok, off, wrong } = createLines('Redis')
  if (config.redisUrl === null) return off(await withoutRedis(config, platform))
  try {
    const { redis } = await platform()
    await redis?.ask((client) => client.ping())
    return ok('reachable')
  } catch (error) {
    if (isToCome(error)) return off('not tried: the database is not ready')
    return wrong((error as Error).message)
  }
}

async function withoutRedis({ databaseUrl }: Config, platform: OpenPlatform): Promise<string> {
  if (databaseUrl === null) return 'limits and revocations stay in one process'
  const limits = 'each process counts its own limits'
  const opened = await platform().catch(() => null)
  if (opened === null) return limits
  const isHeard = await hearsNotifications({ ...opened, url: databaseUrl })
  return isHeard
    ? `${limits}; revocations reach other nodes over PostgreSQL`
    : `${limits}; LISTEN receives nothing (PgBouncer in transaction mode?), so revocations take half a second`
}
