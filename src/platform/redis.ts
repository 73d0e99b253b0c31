/**
 * One connection to Redis for commands that must not block: at most 250 ms each, and none while it
 * does not answer. Then `ask` fails at once, and every caller has a fallback.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis as Client } from 'ioredis'
import { type Log, seldom } from './telemetry/log.ts'

export type Redis = {
  /** A separate connection like this one, for subscriptions. */
  readonly client: Client
  /**
   * Runs a command. @throws when Redis is away, does not answer in time, or has not answered
   * lately.
   */
  ask<T>(command: (client: Client) => Promise<T>): Promise<T>
  /** Connected, and answering. */
  isWell(): boolean
  close(): void
}

const CONNECT_MS = 5_000
const COMMAND_MS = 250
/** After a failure one command in so long is tried; the others do without. */
const REST_MS = 1_000

/**
 * Waits up to 5 s for the connection; without it the service still starts, and each node counts
 * alone.
 */
export async function openRedis(url: string, log: Log): Promise<Redis> {
  const { Redis } = await import('ioredis')
  // `?prefix=name` separates several services on one server.
  const address = new URL(url)
  const keyPrefix = `${address.searchParams.get('prefix') ?? 'latchkey'}:`
  // `?timeout=1000` gives a command more milliseconds, where Redis is far away or its machine is
  // slow.
  const commandTimeout = Number(address.searchParams.get('timeout') ?? COMMAND_MS)
  for (const ours of ['prefix', 'timeout']) address.searchParams.delete(ours)
  const client = new Redis(address.href, {
    keyPrefix,
    // Away means away: a request must not wait for a reconnection to learn it.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    commandTimeout,
    // A host that vanished: reconnect instead of waiting fifteen minutes for the kernel.
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
        // This one tries; those that come meanwhile do not.
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
