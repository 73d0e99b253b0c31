/**
 * The inbox: each external event is a row, unique by source and id, before it is handled. `receive`
 * tries for a short time to handle it before it returns; otherwise a job does. An event needs at
 * most two commits: one stores it, and the handler's commit also marks it as handled. Events that
 * arrive together share the first commit. If the handler wrote nothing, the event is marked after
 * the answer, without waiting for the disk; at worst it is handled again.
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
   * Marks the event as handled in the handler's transaction. If the handler does not call it, the
   * inbox marks the event afterwards.
   */
  settle(tx: Db): Promise<void>
}
export type InboxHandler<P> = (payload: P, event: InboxEvent) => Promise<void>
export type Received = 'handled' | 'queued' | 'duplicate'

/**
 * The longest time that the sender waits for the handler. A payment processor treats a slow answer
 * as a failure. Most events take a tenth of this time.
 */
const PATIENCE_MS = 2_500

type Deps = { db: Db; clock: Clock; log: Log; jobs: Jobs }

export class Inbox {
  readonly #deps: Deps
  readonly #handlers = new Map<string, InboxHandler<never>>()
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #arrivals = batchWrites((arrived: Arrival[]) => this.#storeAll(arrived))
  readonly #settlements = batchWrites<EventKey, void>((settled) =>
    commitAsync(this.#deps.db, async (run) => {
      for (const query of groupSettlements(this.#deps, this.#deps.db, settled)) await run(query)
      return []
    }),
  )

  constructor(deps: Deps) {
    this.#deps = deps
    deps.jobs.handle<{ source: string; eventId: string }>(
      'inbox.handle',
      ({ source, eventId }) => this.#handleOnce(source, eventId),
      { lane: 'events' },
    )
  }

  /**
   * Registers the handler of a source's events. It must be idempotent, because it may run twice
   * for one event.
   */
  handle<P extends object>(source: string, handler: InboxHandler<P>) {
    if (this.#handlers.has(source)) throw new Error(`two handlers for events of ${source}`)
    this.#handlers.set(source, handler as unknown as InboxHandler<never>)
  }

  /**
   * Stores the event, then handles it. Returns `queued` when the handler failed or takes longer
   * than `patienceMs`. A failed handler is retried; a slow one continues.
   */
  async receive(
    source: string,
    eventId: string,
    payload: object,
    { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
  ): Promise<Received> {
    const stored = await this.#arrivals.add({ source, eventId, payload })
    if ('error' in stored) throw stored.error
    if (!stored.isFresh) return 'duplicate'

    const handling = new Promise<'handled' | 'queued'>((resolve) => {
      const handled = () => resolve('handled')
      this.#handleOnce(source, eventId, { payload, handled }).then(handled, (error) => {
        this.#deps.log.warn({ err: error, source, eventId }, 'an event could not be handled yet')
        resolve('queued')
      })
    })
    if (patienceMs === Number.POSITIVE_INFINITY) return handling
    return Promise.race([handling, afterPatience(patienceMs, handling)])
  }

  /**
   * Resolves when the event is marked as handled. The retry job may become due while the first
   * attempt still runs; then it waits for that attempt.
   */
  #handleOnce(source: string, eventId: string, fresh?: Fresh): Promise<void> {
    const key = `${source}:${eventId}`
    const running = this.#underWay.get(key)
    if (running) return running
    const run = this.#handleStored(source, eventId, fresh).finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, run)
    return run
  }

  async #handleStored(source: string, eventId: string, fresh?: Fresh) {
    const handler = this.#handlers.get(source)
    if (!handler) throw new Error(`nobody handles events of ${source}`)
    const payload = fresh?.payload ?? (await this.#unhandled(source, eventId))
    if (payload === null) return

    let isSettled = false
    const settle = async (tx: Db) => {
      for (const query of groupSettlements(this.#deps, tx, [{ source, eventId }]))
        await tx.executeQuery(query)
      afterCommit(tx, () => {
        isSettled = true
      })
    }
    await handler(payload as never, { id: eventId, settle })
    fresh?.handled()
    if (!isSettled) await this.#settlements.add({ source, eventId })
  }

  async #unhandled(source: string, eventId: string): Promise<object | null> {
    const row = await this.#deps.db
      .selectFrom('inbox')
      .select('payload_json')
      .where('source', '=', source)
      .where('event_id', '=', eventId)
      .where('handled_at', 'is', null)
      .executeTakeFirst()
    return row?.payload_json ?? null
  }

  /** Stores a batch of events. If the database rejects one, the others are stored separately. */
  async #storeAll(arrived: Arrival[]): Promise<Kept[]> {
    try {
      return await transaction(this.#deps.db, (tx) => storeEvents(this.#deps, tx, arrived))
    } catch (error) {
      if (databaseFailure(error)) throw error
      if (arrived.length === 1) return [{ error }]
      const storedEvents: Kept[] = []
      for (const arrival of arrived) storedEvents.push(...(await this.#storeAll([arrival])))
      return storedEvents
    }
  }
}

type EventKey = { source: string; eventId: string }
type Arrival = EventKey & { payload: object }
/** A newly stored event, which need not be read again, and the callback for its waiting caller. */
type Fresh = { payload: object; handled(): void }
type Kept = { isFresh: boolean } | { error: unknown }

/** Returns `queued` when the handling takes longer. */
function afterPatience(ms: number, handling: Promise<unknown>): Promise<'queued'> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, 'queued').unref()
    void handling.finally(() => clearTimeout(timer))
  })
}

async function storeEvents(
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
  // The job is only the retry, so it waits. `receive` makes the first attempt itself and removes
  // the job when it succeeds.
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
  // If one batch contains an event twice, only the first is fresh.
  return arrived.map((one) => ({ isFresh: fresh.delete(buildRetryKey(one)) }))
}

/**
 * Compiles the statements that mark events as handled. The id remains, to detect a second delivery;
 * the payload is deleted, because its personal data is no longer needed.
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
export const buildRetryKey = ({ source, eventId }: EventKey) => retryKey(source, eventId)
