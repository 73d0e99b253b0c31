/**
 * The inbox: each external event is a row, unique by source and id, before it is handled. `receive`
 * tries for a short time to handle it before it returns; otherwise a job does. An event costs at
 * most two commits: one that stores it, and the handler's, which also settles it. Events that
 * arrive together share the first. An event that changed nothing is settled after the answer and
 * without waiting for the disk, because at worst it is handled again.
 */
import '../tables.ts'
import { type Clock, plus, SECOND_MS } from '../clock.ts'
import { commitAsync } from '../db/async-commit.ts'
import { afterCommit, type Db, transaction } from '../db/db.ts'
import { databaseFailure } from '../db/failures.ts'
import { batchWrites } from '../db/write-batching.ts'
import type { Log } from '../telemetry/log.ts'
import type { Jobs } from './jobs.ts'

export type InboxEvent = {
  id: string
  /**
   * Marks the event as handled, with the rest of a transaction. A handler that never does leaves
   * that to the inbox.
   */
  settle(tx: Db): Promise<void>
}
export type InboxHandler<P> = (payload: P, event: InboxEvent) => Promise<void>
export type Received = 'handled' | 'queued' | 'duplicate'
export type Inbox = ReturnType<typeof createInbox>

/**
 * The sender waits at most this long for the handling: a payment processor treats a slow answer as
 * a failure, and most events take a tenth of it.
 */
const PATIENCE_MS = 2_500

type Deps = { db: Db; clock: Clock; log: Log; jobs: Jobs }

export function createInbox({ db, clock, log, jobs }: Deps) {
  const handlers = new Map<string, InboxHandler<never>>()
  const underWay = new Map<string, Promise<void>>()
  const arrivals = batchWrites(keepAll)
  const settlements = batchWrites<EventKey, void>((settled) =>
    commitAsync(db, async (run) => {
      for (const query of groupSettlements({ clock, jobs }, db, settled)) await run(query)
      return []
    }),
  )

  jobs.handle<{ source: string; eventId: string }>(
    'inbox.handle',
    ({ source, eventId }) => handleOnce(source, eventId),
    { lane: 'events' },
  )

  return {
    /**
     * Names what handles a source's events. It must be idempotent: it may run twice for one event.
     */
    handle<P extends object>(source: string, handler: InboxHandler<P>) {
      if (handlers.has(source)) throw new Error(`two handlers for events of ${source}`)
      handlers.set(source, handler as unknown as InboxHandler<never>)
    },

    /**
     * Stores the event, then handles it. Returns `queued` when handling failed or takes longer than
     * `patienceMs`; it is then retried or continues.
     */
    async receive(
      source: string,
      eventId: string,
      payload: object,
      { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
    ): Promise<Received> {
      const stored = await arrivals.add({ source, eventId, payload })
      if ('error' in stored) throw stored.error
      if (!stored.isFresh) return 'duplicate'

      const handling = new Promise<'handled' | 'queued'>((resolve) => {
        const handled = () => resolve('handled')
        handleOnce(source, eventId, { payload, handled }).then(handled, (error) => {
          log.warn({ err: error, source, eventId }, 'an event could not be handled yet')
          resolve('queued')
        })
      })
      if (patienceMs === Number.POSITIVE_INFINITY) return handling
      return Promise.race([handling, afterPatience(patienceMs, handling)])
    },
  }

  /**
   * The job may become due while the first attempt still waits for another service; then it waits
   * for that attempt. Resolves when the event is settled.
   */
  function handleOnce(source: string, eventId: string, fresh?: Fresh): Promise<void> {
    const key = `${source}:${eventId}`
    const running = underWay.get(key)
    if (running) return running
    const run = handleStored(source, eventId, fresh).finally(() => underWay.delete(key))
    underWay.set(key, run)
    return run
  }

  async function handleStored(source: string, eventId: string, fresh?: Fresh) {
    const handler = handlers.get(source)
    if (!handler) throw new Error(`nobody handles events of ${source}`)
    const payload = fresh?.payload ?? (await unhandled(source, eventId))
    if (payload === null) return

    let isSettled = false
    const settle = async (tx: Db) => {
      for (const query of groupSettlements({ clock, jobs }, tx, [{ source, eventId }]))
        await tx.executeQuery(query)
      afterCommit(tx, () => {
        isSettled = true
      })
    }
    await handler(payload as never, { id: eventId, settle })
    fresh?.handled()
    if (!isSettled) await settlements.add({ source, eventId })
  }

  async function unhandled(source: string, eventId: string): Promise<object | null> {
    const row = await db
      .selectFrom('inbox')
      .select('payload_json')
      .where('source', '=', source)
      .where('event_id', '=', eventId)
      .where('handled_at', 'is', null)
      .executeTakeFirst()
    return row?.payload_json ?? null
  }

  /** An event that the database refuses does not affect the others in its batch. */
  async function keepAll(arrived: Arrival[]): Promise<Kept[]> {
    try {
      return await transaction(db, (tx) => storeEvent({ clock, jobs }, tx, arrived))
    } catch (error) {
      if (databaseFailure(error)) throw error
      if (arrived.length === 1) return [{ error }]
      const storedEvents: Kept[] = []
      for (const arrival of arrived) storedEvents.push(...(await keepAll([arrival])))
      return storedEvents
    }
  }
}

type EventKey = { source: string; eventId: string }
type Arrival = EventKey & { payload: object }
/**
 * Recently stored events, which need not be read again, and the callers that wait for their
 * handling.
 */
type Fresh = { payload: object; handled(): void }
type Kept = { isFresh: boolean } | { error: unknown }

/** Returns `queued` when the handling takes longer. */
function afterPatience(ms: number, handling: Promise<unknown>): Promise<'queued'> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, 'queued').unref()
    void handling.finally(() => clearTimeout(timer))
  })
}

async function storeEvent(
  { clock, jobs }: Pick<Deps, 'clock' | 'jobs'>,
  tx: Db,
  arrived: readonly Arrival[],
): Promise<Kept[]> {
  const now = clock.now()
  // In a fixed order, so that two nodes with the same events do not deadlock.
  const sorted = [...arrived].sort((a, b) => (buildRetryKey(a) < buildRetryKey(b) ? -1 : 1))
  const rows = await tx
    .insertInto('inbox')
    .values(
      sorted.map(({ source, eventId, payload }) => ({
        source,
        event_id: eventId,
        payload_json: payload,
        received_at: now,
        handled_at: null,
      })),
    )
    .onConflict((conflict) => conflict.columns(['source', 'event_id']).doNothing())
    .returning(['source', 'event_id'])
    .execute()
  // The retry waits a moment: the handling that follows is the first try, and finds the job done if
  // it succeeds.
  await jobs.enqueueAll(
    tx,
    'inbox.handle',
    rows.map(({ source, event_id: eventId }) => ({
      payload: { source, eventId },
      runAt: plus(now, 10 * SECOND_MS),
      key: retryKey(source, eventId),
    })),
  )
  const fresh = new Set(rows.map(({ source, event_id: eventId }) => retryKey(source, eventId)))
  // Of two deliveries in one batch the first is the fresh one.
  return arrived.map((one) => ({ isFresh: fresh.delete(buildRetryKey(one)) }))
}

/**
 * The id stays, to detect a second delivery. The personal data of the event is no longer needed.
 */
function groupSettlements(
  { clock, jobs }: Pick<Deps, 'clock' | 'jobs'>,
  tx: Db,
  settled: readonly EventKey[],
) {
  const sources = [...new Set(settled.map(({ source }) => source))]
  return [
    ...sources.map((source) =>
      tx
        .updateTable('inbox')
        .set({ handled_at: clock.now(), payload_json: {} })
        .where('source', '=', source)
        .where(
          'event_id',
          'in',
          settled.filter((one) => one.source === source).map(({ eventId }) => eventId),
        )
        .compile(),
    ),
    jobs.withdrawal(tx, settled.map(buildRetryKey)).compile(),
  ]
}

const retryKey = (source: string, eventId: string) => `inbox:${source}:${eventId}`
const buildRetryKey = ({ source, eventId }: EventKey) => retryKey(source, eventId)
