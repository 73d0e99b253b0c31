// Guards short news between nodes (a session was revoked, a setting changed): best effort, never the only copy of a fact.
// One thing to know: without Redis there is one node, and the news stays in the process.
import type { Redis } from './redis.ts'
import type { Log } from './telemetry/log.ts'

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

  const me = crypto.randomUUID()
  // Channels are not prefixed by the client, keys are.
  const channel = `${redis?.options.keyPrefix ?? ''}bus`
  // It waits for Redis as long as it takes, and subscribes anew after each interruption.
  const subscriber = redis?.duplicate({ enableOfflineQueue: true, maxRetriesPerRequest: null }) ?? null
  if (subscriber) {
    subscriber.on('error', (error: Error) => log.warn({ err: error }, 'Redis is unreachable'))
    subscriber.on('message', (_channel: string, text: string) => {
      const news = JSON.parse(text) as { from: string; topic: string; payload: unknown }
      if (news.from !== me) tell(news.topic, news.payload)
    })
    const subscribed = subscriber.subscribe(channel)
    if (redis?.status === 'ready') await subscribed
    else subscribed.catch((error) => log.warn({ err: error }, 'no news from other nodes'))
  }

  return {
    shared: redis !== null,
    publish(topic, payload) {
      tell(topic, payload)
      redis
        ?.publish(channel, JSON.stringify({ from: me, topic, payload }))
        .catch((error) => log.warn({ err: error, topic }, 'news reached this node alone'))
    },
    on(topic, listener) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener])
    },
    async close() {
      subscriber?.disconnect()
    },
  }
}
