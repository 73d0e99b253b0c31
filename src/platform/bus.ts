/**
 * Publish and subscribe between nodes, over Redis (a session was revoked, a setting changed): best effort, never the only copy of a fact.
 * Without Redis there is one node, and a message stays in the process.
 */
import type { Redis } from './redis.ts'
import { type Log, seldom } from './telemetry/log.ts'

export type BusListener = (payload: unknown) => void

export type Bus = {
  /** Reaches every listener in this process at once, and those of other nodes within milliseconds. */
  publish(topic: string, payload: unknown): void
  on(topic: string, listener: BusListener): void
  /** True when other nodes hear what is published. */
  readonly shared: boolean
  close(): Promise<void>
}

export async function createBus({ redis, log }: { redis: Redis | null; log: Log }): Promise<Bus> {
  const listeners = new Map<string, BusListener[]>()
  const tell = (topic: string, payload: unknown) => {
    for (const listener of listeners.get(topic) ?? []) listener(payload)
  }

  const say = seldom((details, message) => log.warn(details, message))
  const me = crypto.randomUUID()
  // Channels are not prefixed by the client, keys are.
  const channel = `${redis?.client.options.keyPrefix ?? ''}bus`
  // It waits for Redis as long as it takes, and subscribes anew after each interruption.
  const subscriber =
    redis?.client.duplicate({ enableOfflineQueue: true, maxRetriesPerRequest: null, commandTimeout: undefined }) ?? null
  if (subscriber) {
    subscriber.on('error', (error: Error) => say({ err: error }, 'no news from other nodes'))
    subscriber.on('message', (_channel: string, text: string) => {
      const news = JSON.parse(text) as { from: string; topic: string; payload: unknown }
      if (news.from !== me) tell(news.topic, news.payload)
    })
    const subscribed = subscriber.subscribe(channel)
    if (redis?.client.status === 'ready') await subscribed
    else subscribed.catch((error) => say({ err: error }, 'no news from other nodes'))
  }

  return {
    shared: redis !== null,
    publish(topic, payload) {
      tell(topic, payload)
      // Best effort: other nodes read for themselves within half a second.
      redis?.ask((client) => client.publish(channel, JSON.stringify({ from: me, topic, payload }))).catch(() => {})
    },
    on(topic, listener) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener])
    },
    async close() {
      subscriber?.disconnect()
    },
  }
}
