/**
 * Reads events that were never delivered from the processor's list, from where the last read ended,
 * and handles them oldest first. One read serves all listeners (billing, the storefront). Reading
 * an event twice is harmless: the inbox drops duplicates by id.
 */
import { DAY_MS, type Instant, MINUTE_MS, plus } from '#platform/clock.ts'
import { toInstant } from './accounts.ts'
import { moveCursor, readCursor } from './cursors.ts'
import type { BillingDeps } from './deps.ts'
import { requireProcessor } from './processor.ts'

/** Event types that a room handles. */
export type EventListener = {
  /** The inbox source whose handler receives the events. */
  source: string
  /** Full names: the processor's list accepts no patterns. */
  types: readonly string[]
  /**
   * Returns false while no event can concern the room. While all return false, the first read is
   * postponed.
   */
  isAwaiting(platform: Pick<BillingDeps, 'db'>): Promise<boolean>
  /** Returns the payload to store; null for events to ignore. Pure. */
  read(event: ListedEvent): object | null
}

/** An event as the list and the webhook show it. */
export type ListedEvent = { id: string; type: string; created: number; data: { object: object } }

const CURSOR = 'events'
const ONE_BY_ONE = { patienceMs: Number.POSITIVE_INFINITY }
/** As long as the processor retries its deliveries. */
const FIRST_LOOK_BACK_MS = 3 * DAY_MS
/** Events appear in the list shortly after their timestamp. */
const OVERLAP_MS = 10 * MINUTE_MS
/** The processor keeps events for 30 days. */
const RETENTION_MS = 29 * DAY_MS
/** The list starts with the newest. It is reversed in memory, so it is read in portions. */
const PORTION_MS = DAY_MS
/** https://docs.stripe.com/api/events/list: "up to 20 strings". */
const TYPES_MAX = 20

type Deps = Pick<BillingDeps, 'db' | 'clock' | 'inbox' | 'log' | 'processor'>

/**
 * Returns the number of new events. The cursor advances after each portion: handled events stay
 * handled.
 */
export async function readMissedEvents(
  deps: Deps,
  listeners: readonly EventListener[],
): Promise<number> {
  const reached = await readCursor(deps.db, CURSOR)
  if (reached === null && !(await isAwaited(deps, listeners))) return 0

  const now = deps.clock.now()
  const from = pickLater(
    plus(reached ?? plus(now, -FIRST_LOOK_BACK_MS), -OVERLAP_MS),
    plus(now, -RETENTION_MS),
  )
  let fresh = 0
  for (let start = toUnixSeconds(from); start <= toUnixSeconds(now); start += PORTION_MS / 1000) {
    const end = start + PORTION_MS / 1000
    for (const { source, id, payload } of await listPortion(deps, listeners, start, end)) {
      if ((await deps.inbox.receive(source, id, payload, ONE_BY_ONE)) !== 'duplicate') fresh++
    }
    await moveCursor(deps.db, CURSOR, end < toUnixSeconds(now) ? toInstant(end) : now)
  }
  if (fresh > 0)
    deps.log.info({ events: fresh, since: from }, 'missed events were read from the processor')
  return fresh
}

/** Returns true once an event can concern one of the listeners. */
export async function isAwaited(
  deps: Pick<Deps, 'db'>,
  listeners: readonly EventListener[],
): Promise<boolean> {
  return (await Promise.all(listeners.map((listener) => listener.isAwaiting(deps)))).includes(true)
}

type Found = { source: string; id: string; payload: object; created: number }

/** Lists events from `start` to before `end`, in Unix seconds, oldest first. */
async function listPortion(
  deps: Deps,
  listeners: readonly EventListener[],
  start: number,
  end: number,
): Promise<Found[]> {
  const types = [...new Set(listeners.flatMap((listener) => listener.types))]
  const found: Found[] = []
  for (let index = 0; index < types.length; index += TYPES_MAX) {
    const events = requireProcessor(deps.processor).events.list({
      types: types.slice(index, index + TYPES_MAX),
      created: { gte: start, lt: end },
      limit: 100,
    })
    for await (const event of events) {
      for (const { source, types, read } of listeners) {
        const payload = types.includes(event.type) ? read(event) : null
        if (payload) found.push({ source, id: event.id, payload, created: event.created })
      }
    }
  }
  // Reversed before the sort, which is stable: the list's own order ranks events of the same
  // second.
  return found.reverse().sort((a, b) => a.created - b.created)
}

const toUnixSeconds = (at: Instant): number => Math.floor(Date.parse(at) / 1000)
const pickLater = (a: Instant, b: Instant): Instant => (a > b ? a : b)
