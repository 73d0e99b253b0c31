/**
 * Events that never came, read from the processor's own list from where the last reading ended, and handled oldest first.
 * One reading serves everyone who listens (billing, the storefront). Reading an event twice is free: the inbox knows each by its id.
 */
import { DAY_MS, type Instant, MINUTE_MS, plus } from '#platform/clock.ts'
import { toInstant } from './accounts.ts'
import { moveCursor, readCursor } from './cursors.ts'
import type { BillingDeps } from './deps.ts'
import { requireProcessor } from './processor.ts'

/** Who wants to hear of which events. */
export type EventListener = {
  /** The inbox's name for it, where its handler waits. */
  source: string
  /** Full names: the processor's list takes no patterns. */
  types: readonly string[]
  /** False while no event could concern it yet. While nobody waits, the first reading is put off. */
  isAwaiting(platform: Pick<BillingDeps, 'db'>): Promise<boolean>
  /** What to keep of an event; null for none of its business. Pure. */
  read(event: ListedEvent): object | null
}

/** An event as its list or its delivery shows it. */
export type ListedEvent = { id: string; type: string; created: number; data: { object: object } }

const CURSOR = 'events'
const ONE_BY_ONE = { patienceMs: Number.POSITIVE_INFINITY }
/** As long as the processor itself keeps trying to deliver. */
const FIRST_LOOK_BACK_MS = 3 * DAY_MS
/** Events appear in the list a moment after their own time. */
const OVERLAP_MS = 10 * MINUTE_MS
/** The processor keeps events for 30 days. */
const RETENTION_MS = 29 * DAY_MS
/** The list begins with the newest. What is to be turned round is held in memory, so it is read in portions. */
const PORTION_MS = DAY_MS
/** https://docs.stripe.com/api/events/list: "up to 20 strings". */
const TYPES_MAX = 20

type Deps = Pick<BillingDeps, 'db' | 'clock' | 'inbox' | 'log' | 'processor'>

/** Returns how many were new. The cursor moves on portion by portion: what is handled stays handled. */
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
    deps.log.info(
      { events: fresh, since: from },
      'events that never came were read from the processor',
    )
  return fresh
}

/** True once an event could concern one of them. */
export async function isAwaited(
  deps: Pick<Deps, 'db'>,
  listeners: readonly EventListener[],
): Promise<boolean> {
  return (await Promise.all(listeners.map((listener) => listener.isAwaiting(deps)))).includes(true)
}

type Found = { source: string; id: string; payload: object; created: number }

/** From `start` to before `end`, in Unix seconds, oldest first. */
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
  // Turned round first: among those of one second the list's own order says which was before which.
  return found.reverse().sort((a, b) => a.created - b.created)
}

const toUnixSeconds = (at: Instant): number => Math.floor(Date.parse(at) / 1000)
const pickLater = (a: Instant, b: Instant): Instant => (a > b ? a : b)
