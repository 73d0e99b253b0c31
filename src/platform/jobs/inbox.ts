/**
 * The inbox: each event from outside is a row, unique by its source and id, before anything is done about it. `receive` tries to
 * handle it before it returns, but not for long; the jobs see to the rest. An event costs two commits: one that keeps it, and the
 * handler's own, when it settles the event there.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import '../tables.ts'
import { type Clock, plus, SECOND_MS } from '../clock.ts'
import { afterCommit, type Db, transaction } from '../db/db.ts'
import type { Log } from '../telemetry/log.ts'
import type { Jobs } from './jobs.ts'

export type InboxEvent = {
  id: string
  /** Marks the event as handled, with the rest of a transaction. A handler that never does leaves that to the inbox. */
  settle(tx: Db): Promise<void>
}
export type InboxHandler<P> = (payload: P, event: InboxEvent) => Promise<void>
export type Received = 'handled' | 'queued' | 'duplicate'
export type Inbox = ReturnType<typeof createInbox>

/**
 * Who delivers waits no longer for the handling: a payment processor counts a slow answer as a failed one, and most are handled in a
 * tenth of this.
 */
const PATIENCE_MS = 2_500

export function createInbox({ db, clock, log, jobs }: { db: Db; clock: Clock; log: Log; jobs: Jobs }) {
  const handlers = new Map<string, InboxHandler<never>>()
  const underWay = new Map<string, Promise<void>>()

  jobs.handle<{ source: string; eventId: string }>(
    'inbox.handle',
    ({ source, eventId }) => handleOnce(source, eventId),
    {
      lane: 'events',
    },
  )

  return {
    /** Names what handles a source's events. It must be idempotent: it may run twice for one event. */
    handle<P extends object>(source: string, handler: InboxHandler<P>) {
      if (handlers.has(source)) throw new Error(`two handlers for events of ${source}`)
      handlers.set(source, handler as unknown as InboxHandler<never>)
    },

    /**
     * Stores the event, then handles it. `queued`: it is stored, and handling failed, in which case it is tried again, or goes on
     * after `patienceMs`.
     */
    async receive(
      source: string,
      eventId: string,
      payload: object,
      { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
    ): Promise<Received> {
      const fresh = await transaction(db, async (tx) => {
        const now = clock.now()
        const row = await tx
          .insertInto('inbox')
          .values({ source, event_id: eventId, payload_json: payload, received_at: now, handled_at: null })
          .onConflict((conflict) => conflict.columns(['source', 'event_id']).doNothing())
          .returning('event_id')
          .executeTakeFirst()
        // The retry waits a moment: the handling below is the first try, and finds the job done if it succeeds.
        if (row)
          await jobs.enqueue(
            tx,
            'inbox.handle',
            { source, eventId },
            { runAt: plus(now, 10 * SECOND_MS), key: retryKey(source, eventId) },
          )
        return row !== undefined
      })
      if (!fresh) return 'duplicate'

      const handling = handleOnce(source, eventId).then(
        () => 'handled' as const,
        (error) => {
          log.warn({ err: error, source, eventId }, 'an event could not be handled yet')
          return 'queued' as const
        },
      )
      if (patienceMs === Number.POSITIVE_INFINITY) return handling
      const answered = new AbortController()
      const late = sleep(patienceMs, 'queued' as const, { ref: false, signal: answered.signal })
      late.catch(() => {})
      return Promise.race([handling, late]).finally(() => answered.abort())
    },
  }

  /** The job may fall due while the first try still waits for somebody outside: then it waits for that one. */
  function handleOnce(source: string, eventId: string): Promise<void> {
    const key = `${source}:${eventId}`
    const running = underWay.get(key)
    if (running) return running
    const run = handleStored(source, eventId).finally(() => underWay.delete(key))
    underWay.set(key, run)
    return run
  }

  async function handleStored(source: string, eventId: string) {
    const handler = handlers.get(source)
    if (!handler) throw new Error(`nobody handles events of ${source}`)
    const row = await db
      .selectFrom('inbox')
      .select(['payload_json', 'handled_at'])
      .where('source', '=', source)
      .where('event_id', '=', eventId)
      .executeTakeFirst()
    if (!row || row.handled_at !== null) return

    let isSettled = false
    const settle = async (tx: Db) => {
      // The id stays, against a second delivery; what the event said of a person has served its purpose.
      await tx
        .updateTable('inbox')
        .set({ handled_at: clock.now(), payload_json: {} })
        .where('source', '=', source)
        .where('event_id', '=', eventId)
        .execute()
      await jobs.withdraw(tx, retryKey(source, eventId))
      afterCommit(tx, () => {
        isSettled = true
      })
    }
    await handler(row.payload_json as never, { id: eventId, settle })
    if (!isSettled) await transaction(db, settle)
  }
}

const retryKey = (source: string, eventId: string) => `inbox:${source}:${eventId}`
