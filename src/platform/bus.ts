/**
 * Publish and subscribe between nodes, for example when a session is revoked. Delivery is best
 * effort, so a message is never the only copy of a fact. The bus uses Redis if configured,
 * otherwise PostgreSQL's LISTEN and NOTIFY; on SQLite messages stay in the process. Subscribers
 * with a cache also listen for gaps, in which messages may have been lost.
 */
import type { Redis } from './redis.ts'
import { type Log, seldom } from './telemetry/log.ts'

export type BusListener = (payload: unknown) => void

export type Bus = {
  /** Resolves when the bus is connected. The service waits for it before it serves requests. */
  readonly opened: Promise<unknown>
  /** Calls every listener in this process at once, and those of other nodes within milliseconds. */
  publish(topic: string, payload: unknown): void
  on(topic: string, listener: BusListener): void
  /**
   * Called when messages of other nodes may have been missed: every cached value must be read
   * again.
   */
  onGap(listener: () => void): void
  /**
   * Returns the working transport to other nodes; null without one. Then other nodes read changes
   * from the database within half a second.
   */
  carriedBy(): 'redis' | 'postgres' | null
  close(): Promise<void>
}

/** A transport of texts between processes. It may also deliver the sender's own texts. */
export type Carrier = {
  /** Set when the service should wait for the connection at its start. */
  readonly opened?: Promise<unknown>
  readonly name: 'redis' | 'postgres'
  isWell(): boolean
  send(text: string): void
  close(): Promise<void>
}
export type Hears = { heard(text: string): void; missed(): void }

type News = { from: string; topic: string; payload: unknown }

export function createBus(open: ((hears: Hears) => Carrier) | null): Bus {
  const listeners = new Map<string, BusListener[]>()
  const gapListeners: (() => void)[] = []
  const me = crypto.randomUUID()
  const tell = (topic: string, payload: unknown) => {
    for (const listener of listeners.get(topic) ?? []) listener(payload)
  }
  const missed = () => {
    for (const listener of gapListeners) listener()
  }
  const carrier =
    open?.({
      missed,
      heard(text) {
        const news = readNews(text)
        // An unreadable message still announces a change.
        if (news === null) missed()
        else if (news.from !== me) tell(news.topic, news.payload)
      },
    }) ?? null

  return {
    opened: carrier?.opened ?? Promise.resolve(),
    publish(topic, payload) {
      tell(topic, payload)
      carrier?.send(JSON.stringify({ from: me, topic, payload } satisfies News))
    },
    on(topic, listener) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener])
    },
    onGap: (listener) => void gapListeners.push(listener),
    carriedBy: () => (carrier?.isWell() ? carrier.name : null),
    close: async () => carrier?.close(),
  }
}

function readNews(text: string): News | null {
  try {
    const news = JSON.parse(text) as News | null
    return typeof news?.topic === 'string' ? news : null
  } catch {
    return null
  }
}

/**
 * The transport over Redis. It uses a separate connection, which retries without limit and
 * subscribes again after each interruption.
 */
export function redisCarrier({
  redis,
  log,
}: {
  redis: Redis
  log: Log
}): (hears: Hears) => Carrier {
  return ({ heard, missed }) => {
    const say = seldom((details, message) => log.warn(details, message))
    // The client adds its prefix to keys but not to channels.
    const channel = `${redis.client.options.keyPrefix ?? ''}bus`
    const subscriber = redis.client.duplicate({
      enableOfflineQueue: true,
      maxRetriesPerRequest: null,
      commandTimeout: undefined,
    })
    let wasReady = false
    subscriber.on('error', (error: Error) => say({ err: error }, 'no news from other nodes'))
    subscriber.on('message', (_channel: string, text: string) => heard(text))
    subscriber.on('ready', () => {
      if (wasReady) missed()
      wasReady = true
    })
    const subscribed = subscriber
      .subscribe(channel)
      .catch((error) => say({ err: error }, 'no news from other nodes'))
    return {
      opened: redis.client.status === 'ready' ? subscribed : Promise.resolve(),
      name: 'redis',
      isWell: () => redis.isWell(),
      // Best effort: other nodes read for themselves within half a second.
      send: (text) => void redis.ask((client) => client.publish(channel, text)).catch(() => {}),
      close: async () => subscriber.disconnect(),
    }
  }
}
