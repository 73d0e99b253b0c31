/**
 * One connection to Redis for commands that must not block. Each command has 250 ms. While Redis
 * does not answer, `ask` fails at once; every caller has a fallback.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis as Client } from 'ioredis'
import { type Log, seldom } from './telemetry/log.ts'

export type Redis = {
  /** The client, to duplicate for subscriptions. */
  readonly client: Client
  /**
   * Runs a command. @throws when Redis is unreachable, does not answer in time, or has recently
   * failed to answer.
   */
  ask<T>(command: (client: Client) => Promise<T>): Promise<T>
  /** Returns true while Redis is connected and answers. */
  isWell(): boolean
  close(): void
}

const CONNECT_MS = 5_000
const COMMAND_MS = 250
/** After a failure, only one command per interval is sent; the others fail at once. */
const REST_MS = 1_000

/**
 * Waits up to 5 s for the connection. Without it the service still starts, and each node counts its
 * limits separately.
 */
export async function openRedis(url: string, log: Log): Promise<Redis> {
  const { Redis } = await import('ioredis')
  // `?prefix=name` separates several services on one server.
  const address = new URL(url)
  const keyPrefix = `${address.searchParams.get('prefix') ?? 'latchkey'}:`
  // `?timeout=1000` sets another limit in milliseconds, for a distant or slow Redis.
  const commandTimeout = Number(address.searchParams.get('timeout') ?? COMMAND_MS)
  for (const ours of ['prefix', 'timeout']) address.searchParams.delete(ours)
  const client = new Redis(address.href, {
    keyPrefix,
    // While Redis is unreachable, commands fail at once instead of waiting for a reconnection.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    commandTimeout,
    // If the host vanishes, reconnect instead of waiting fifteen minutes for the kernel.
    socketTimeout: CONNECT_MS,
  })
  const say = seldom((details, message) => log.warn(details, message))
  let reason = 'no answer'
  client.on('error', (err: NodeJS.ErrnoException) => {
    reason = err.code ?? err.message
    say({ err }, 'Redis is unreachable')
  })
  await Promise.race([
    new Promise((resolve) => client.once('ready', resolve)),
    sleep(CONNECT_MS, null, { ref: false }),
  ])

  let isFailing = false
  let restsUntilMs = 0
  const rest = () => {
    isFailing = true
    restsUntilMs = performance.now() + REST_MS
  }

  return {
    client,
    async ask(command) {
      if (client.status !== 'ready')
        throw new Error(`${address.protocol}//${address.host} cannot be reached: ${reason}`)
      if (isFailing) {
        if (performance.now() < restsUntilMs) throw new Error('Redis has not answered lately')
        // This command is sent; the others in the interval fail at once.
        rest()
      }
      try {
        const answer = await command(client)
        isFailing = false
        return answer
      } catch (err) {
        rest()
        say(
          { err },
          'Redis does not answer: this node counts limits for itself, and other nodes hear its news late',
        )
        throw err
      }
    },
    isWell: () => client.status === 'ready' && !isFailing,
    close: () => client.disconnect(),
  }
}
