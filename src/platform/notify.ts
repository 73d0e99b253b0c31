/**
 * The bus over PostgreSQL's LISTEN and NOTIFY, for nodes without Redis: one connection outside the
 * pool that only listens. It regularly sends itself a message to check delivery: with PgBouncer in
 * transaction mode, LISTEN succeeds but no message arrives.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Client } from 'pg'
import type { Carrier, Hears } from './bus.ts'
import type { Db } from './db/db.ts'
import { readPoolConfig } from './db/postgres.ts'
import { lazyRequire } from './lazy-require.ts'
import { type Log, seldom } from './telemetry/log.ts'

const pg = lazyRequire<typeof import('pg')>('pg')

/** The server accepts payloads under 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_900
/** Maximum messages per statement. A sender with more sends `TOO_MUCH` instead. */
const TEXTS_MAX = 500
/** Signals a gap: its receivers have missed messages. */
const TOO_MUCH = 'too much'
const ECHO = 'echo '

/**
 * `echoMs`: an own message that takes longer is lost. `askMs`: interval of these checks. `deafMs`:
 * delay before listening again after a lost message. `againMs`, `againMaxMs`: delays before
 * reconnecting.
 */
const TIMES = { echoMs: 3_000, askMs: 20_000, deafMs: 60_000, againMs: 250, againMaxMs: 5_000 }

/** A channel belongs to the whole database, so its name contains a hash of the schema. */
const channel = sql<string>`'latchkey_' || md5(current_schema())`

type Options = { db: Db; url: string; log: Log; times?: Partial<typeof TIMES> }

/** `isGuest`: a command sends messages and receives none. */
export function notifyCarrier(
  { db, url, log, times }: Options,
  { isGuest = false } = {},
): (hears: Hears) => Carrier {
  return (hears) => {
    const sender = createSender(db)
    const ear = isGuest ? null : listen({ db, url, log, times: { ...TIMES, ...times } }, hears)
    return {
      name: 'postgres',
      isWell: () => ear?.isWell() ?? false,
      send: sender.send,
      async close() {
        ear?.close()
        await sender.flushed()
      },
    }
  }
}

/** Checks once whether LISTEN works at this address. */
export async function hearsNotifications(options: Omit<Options, 'times'>): Promise<boolean> {
  const ear = listen({ ...options, times: TIMES }, { heard() {}, missed() {} })
  const givenUpMs = performance.now() + TIMES.echoMs
  while (!ear.isWell() && performance.now() < givenUpMs) await sleep(20)
  const isWell = ear.isWell()
  ear.close()
  return isWell
}

/**
 * Sends the messages of one turn of the event loop in one statement. One statement runs at a time.
 */
function createSender(db: Db) {
  let waiting: string[] = []
  let sending: Promise<void> | null = null

  return {
    send(text: string) {
      waiting.push(Buffer.byteLength(text) > PAYLOAD_BYTES_MAX ? TOO_MUCH : text)
      sending ??= flush().finally(() => {
        sending = null
      })
    },
    flushed: async () => sending ?? undefined,
  }

  async function flush(): Promise<void> {
    await new Promise(setImmediate)
    while (waiting.length > 0) {
      const texts = waiting.length > TEXTS_MAX ? [TOO_MUCH] : waiting
      waiting = []
      // Best effort: other nodes read for themselves within half a second.
      await notify(db, texts).catch(() => {})
    }
  }
}

async function notify(db: Db, texts: string[]): Promise<void> {
  await sql`select pg_notify(${channel}, text) from json_array_elements_text(${JSON.stringify(texts)}::json) as text`.execute(
    db,
  )
}

function listen(
  { db, url, log, times }: Required<Options> & { times: typeof TIMES },
  hears: Hears,
) {
  const say = seldom((details, message) => log.warn(details, message))
  const closing = new AbortController()
  let isWell = false
  let wasWell = false
  let onEcho: (text: string) => void = () => {}
  void keep()

  return { isWell: () => isWell, close: () => closing.abort() }

  /** Connects, and reconnects whenever the connection is lost or delivers no messages. */
  async function keep(): Promise<void> {
    let againMs = times.againMs
    while (!closing.signal.aborted) {
      try {
        await stay()
        againMs = times.againMs
      } catch (err) {
        if (closing.signal.aborted) return
        againMs =
          err instanceof Deaf
            ? times.deafMs
            : wasWell && isWell
              ? times.againMs
              : Math.min(2 * againMs, times.againMaxMs)
        say(
          { err },
          'other nodes are not heard over PostgreSQL: revocations reach this one within half a second',
        )
      } finally {
        isWell = false
      }
      await sleep(againMs, undefined, { ref: false, signal: closing.signal }).catch(() => {})
    }
  }

  /**
   * Listens until the connection ends. @throws Deaf when messages do not arrive; the error that
   * ended the connection
   */
  async function stay(): Promise<void> {
    const client: Client = new (pg().Client)({
      ...readPoolConfig(url),
      application_name: 'latchkey bus',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    })
    const { promise: lost, reject: lose } = Promise.withResolvers<never>()
    lost.catch(() => {})
    const stop = () => lose(new Error('closing'))
    client.on('error', lose)
    client.on('end', () => lose(new Error('the connection has ended')))
    client.on('notification', ({ payload = '' }) => {
      if (payload.startsWith(ECHO)) onEcho(payload)
      else hears.heard(payload)
    })
    closing.signal.addEventListener('abort', stop, { once: true })
    try {
      await Promise.race([client.connect(), lost])
      const { rows } = await Promise.race([
        client.query<{ channel: string }>(`select 'latchkey_' || md5(current_schema()) as channel`),
        lost,
      ])
      await Promise.race([client.query(`listen "${rows[0]?.channel}"`), lost])
      for (;;) {
        await Promise.race([heardMyself(), lost])
        // Messages sent during the interruption are lost.
        if (!isWell && wasWell) hears.missed()
        isWell = true
        wasWell = true
        await Promise.race([
          sleep(times.askMs, undefined, { ref: false, signal: closing.signal }),
          lost,
        ])
      }
    } finally {
      closing.signal.removeEventListener('abort', stop)
      client.end().catch(() => {})
    }
  }

  async function heardMyself(): Promise<void> {
    const text = `${ECHO}${crypto.randomUUID()}`
    const echo = new Promise<true>((resolve) => {
      onEcho = (heard) => void (heard === text && resolve(true))
    })
    // Sends over the pool, because a proxy might deliver a connection's message to itself without
    // LISTEN working.
    await notify(db, [text])
    const came = await Promise.race([
      echo,
      sleep(times.echoMs, false as const, { ref: false, signal: closing.signal }),
    ])
    if (!came) throw new Deaf('LISTEN brings nothing: is PgBouncer between, in transaction mode?')
  }
}

class Deaf extends Error {}
