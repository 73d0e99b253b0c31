/**
 * Delivers signed events to the product. Events are stored, delivered immediately, and retried
 * with growing delays, also after a restart. Attempts use real time instead of the service's
 * clock, so that a moved clock never floods the product.
 */
import { createHmac } from 'node:crypto'
import { type Db, type Endpoint, type ProcessorDeps, seconds } from './deps.ts'
import { get, type StoredEvent } from './objects.ts'

export type Delivery = {
  event_id: string
  endpoint: string
  attempts: number
  due_ms: number
  state: 'due' | 'delivered' | 'given-up'
  note: string
}

const PAUSES_MS = [
  1_000, 3_000, 10_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 3_600_000, 3_600_000,
]
const ATTEMPT_TIMEOUT_MS = 10_000
const AT_ONCE_MAX = 8
/** An attempt of a killed process is repeated after this time. */
const CLAIM_MS = 15_000
/** Delay after a failed read of the database. */
const AGAIN_MS = 1_000

export type Courier = {
  wake: () => void
  /**
   * Resolves when each of these events has had its first attempt and none is running, or after
   * `patienceMs`.
   */
  settled: (patienceMs: number) => Promise<void>
  close: () => Promise<void>
}

type CourierDeps = Omit<ProcessorDeps, 'wake'> & { onFailure: (error: unknown) => void }

export function startCourier(deps: CourierDeps): Courier {
  const running = new Set<Promise<void>>()
  const underWay = new Set<string>()
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let woken = false

  const wake = () => {
    if (woken || stopping.signal.aborted) return
    woken = true
    // Runs after the synchronous transaction that emitted the events.
    setImmediate(() => {
      woken = false
      pump()
    })
  }

  const pump = () => {
    if (stopping.signal.aborted) return
    clearTimeout(timer)
    try {
      deliver()
    } catch (error) {
      deps.onFailure(error)
      timer = setTimeout(pump, AGAIN_MS).unref()
    }
  }

  const deliver = () => {
    const now = Date.now()
    for (const delivery of findDueDeliveries(deps, now)) {
      if (running.size >= AT_ONCE_MAX) break
      const key = `${delivery.event_id} ${delivery.endpoint}`
      if (underWay.has(key) || !claim(deps, delivery, now)) continue
      underWay.add(key)
      const run = attempt(deps, delivery, stopping.signal)
        .catch(deps.onFailure)
        .finally(() => {
          running.delete(run)
          underWay.delete(key)
          wake()
        })
      running.add(run)
    }
    if (running.size >= AT_ONCE_MAX) return
    const next = deps.db
      .prepare(`select min(due_ms) as at from stripe_deliveries where state = 'due' and due_ms > ?`)
      .get(now) as { at: number | null }
    if (next.at !== null) timer = setTimeout(pump, Math.min(next.at - now, 60_000)).unref()
  }

  return {
    wake,
    settled: async (patienceMs) => {
      const until = Date.now() + patienceMs
      const waiting = deps.db.prepare(
        `select 1 from stripe_deliveries where state = 'due' and attempts = 0 and due_ms <= ? limit 1`,
      )
      const isBusy = () => underWay.size > 0 || woken || waiting.get(Date.now()) !== undefined
      while (Date.now() < until && !stopping.signal.aborted && isBusy()) {
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    close: async () => {
      stopping.abort()
      clearTimeout(timer)
      await Promise.allSettled(running)
    },
  }
}

/** Returns due deliveries in the order in which their events were created. */
function findDueDeliveries({ db }: Db, now: number): Delivery[] {
  return db
    .prepare(
      `select d.* from stripe_deliveries d join stripe_objects o on o.id = d.event_id
       where d.state = 'due' and d.due_ms <= ? order by o.seq limit 100`,
    )
    .all(now) as Delivery[]
}

/** Several processes may share the file: the one that advances the due time makes the attempt. */
function claim({ db }: Db, { event_id, endpoint, due_ms }: Delivery, now: number): boolean {
  const { changes } = db
    .prepare(
      `update stripe_deliveries set due_ms = ? where event_id = ? and endpoint = ? and state = 'due' and due_ms = ?`,
    )
    .run(now + CLAIM_MS, event_id, endpoint, due_ms)
  return changes === 1
}

async function attempt(
  deps: Omit<ProcessorDeps, 'wake'>,
  delivery: Delivery,
  stop: AbortSignal,
): Promise<void> {
  const event = get<StoredEvent>(deps, delivery.event_id)
  const endpoint = deps.endpoints().find((one) => one.name === delivery.endpoint)
  const note =
    event && endpoint
      ? await post(deps, endpoint, event, stop)
      : 'the endpoint is not configured any more'
  // A stop in the middle is not a failure: the attempt does not count and is repeated at the next
  // start.
  if (stop.aborted) {
    deps.db
      .prepare('update stripe_deliveries set due_ms = ? where event_id = ? and endpoint = ?')
      .run(Date.now(), delivery.event_id, delivery.endpoint)
    return
  }

  const attempts = delivery.attempts + 1
  const pause = PAUSES_MS[delivery.attempts]
  const state =
    note === 'ok' ? 'delivered' : endpoint === undefined || pause === undefined ? 'given-up' : 'due'
  deps.db
    .prepare(
      'update stripe_deliveries set attempts = ?, state = ?, note = ?, due_ms = ? where event_id = ? and endpoint = ?',
    )
    .run(attempts, state, note, Date.now() + (pause ?? 0), delivery.event_id, delivery.endpoint)
}

async function post(
  deps: Omit<ProcessorDeps, 'wake'>,
  endpoint: Endpoint,
  event: StoredEvent,
  stop: AbortSignal,
): Promise<string> {
  const payload = JSON.stringify({ ...event, pending_webhooks: 1 })
  try {
    const reply = await fetch(endpoint.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Stripe/1.0 (sandbox)',
        'stripe-signature': signPayload(payload, endpoint.secret, seconds(deps)),
      },
      body: payload,
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]),
    })
    const body = (await reply.text()).slice(0, 200)
    return reply.ok ? 'ok' : `answered ${reply.status}: ${body}`
  } catch (error) {
    const { cause } = error as Error
    return cause instanceof Error
      ? cause.message || String((cause as NodeJS.ErrnoException).code)
      : String(error)
  }
}

/** `t=…,v1=…`: HMAC-SHA256 over `t.payload`, https://docs.stripe.com/webhooks#verify-manually */
export function signPayload(payload: string, secret: string, at: number): string {
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${payload}`).digest('hex')}`
}

export function listDeliveries({ db }: Db, eventId: string): Delivery[] {
  return db
    .prepare('select * from stripe_deliveries where event_id = ? order by endpoint')
    .all(eventId) as Delivery[]
}

/** Sends an event again to all endpoints, including delivered ones, to test duplicates. */
export function resend(deps: ProcessorDeps, eventId: string): void {
  const insert = deps.db.prepare(
    `insert into stripe_deliveries (event_id, endpoint, attempts, due_ms, state, note) values (?, ?, 0, ?, 'due', '')
     on conflict (event_id, endpoint) do update set attempts = 0, due_ms = excluded.due_ms, state = 'due', note = ''`,
  )
  for (const endpoint of deps.endpoints()) insert.run(eventId, endpoint.name, Date.now())
  deps.wake()
}
