// Guards effects on the outside world: each is first a row written by the transaction that wants it, then done, then deleted.
// One thing to know: at least once. A handler that dies after its effect runs again, so effects carry an id of their own.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { UpdateObject } from 'kysely'
import '../tables.ts'
import { type Clock, type Instant, SECOND_MS } from '../clock.ts'
import { afterCommit, type Db, forUpdateSkipLocked, transaction } from '../db/db.ts'
import type { Tables } from '../db/tables.ts'
import { databaseNow } from '../db/time.ts'
import { type Log, seldom } from '../telemetry/log.ts'

export type JobContext = {
  id: string
  /** 1 at the first try. */
  attempt: number
  /** Aborts when the process is to end: work that takes long stops there, and is begun again by the next one. */
  signal: AbortSignal
}
export type JobHandler = (payload: never, context: JobContext) => Promise<void>
export type JobOptions = {
  /** Waits between the tries; when they are used up the job is dead, kept and shown. */
  delaysMs?: readonly number[]
}

export type Jobs = ReturnType<typeof createJobs>

export type DeadJob = { id: string; kind: string; attempts: number; last_error: string | null; created_at: Instant }

/** Some 2 days in all: long enough for a vendor's bad day. */
const DELAYS_MS: readonly number[] = [1, 5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 57_600, 57_600].map(
  (s) => s * SECOND_MS,
)

/**
 * Renewed while the handler runs; a job whose lease has run out lost its process. So long does a mail wait whose sender
 * was killed; and a process that stands still for longer may see its job done twice.
 */
export const LEASE_MS = 15 * SECOND_MS
const POLL_MS = 1_000
const CONCURRENT_MAX = 8

export function createJobs({ db, clock, log }: { db: Db; clock: Clock; log: Log }) {
  const handlers = new Map<string, { handler: JobHandler; delaysMs: readonly number[] }>()
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const saySeldom = seldom((details, message) => log.error(details, message))
  let timer: NodeJS.Timeout | null = null
  let sweep: Promise<void> | null = null
  let sweepAgain = false

  return {
    /** Names what runs a kind of job. Each kind once, before `start`. */
    handle<P extends object>(
      kind: string,
      handler: (payload: P, context: JobContext) => Promise<void>,
      options: JobOptions = {},
    ) {
      if (handlers.has(kind)) throw new Error(`two handlers for jobs of kind ${kind}`)
      handlers.set(kind, { handler: handler as unknown as JobHandler, delaysMs: options.delaysMs ?? DELAYS_MS })
    },

    /**
     * Writes a job with the transaction's other rows; it runs after the commit, or at `runAt`.
     * With a `key`, a second job of the same key is not added while the first is there; one that is dead begins anew.
     */
    async enqueue(
      tx: Db,
      kind: string,
      payload: object,
      options: { runAt?: Instant; key?: string } = {},
    ): Promise<void> {
      // The caller's moment is one of this node's clock; how far off it is holds on every clock.
      const delayMs = options.runAt === undefined ? 0 : Date.parse(options.runAt) - clock.ms()
      const runAt = databaseNow(tx, clock, delayMs)
      await tx
        .insertInto('jobs')
        .values({
          id: randomUUID(),
          kind,
          payload_json: payload,
          dedupe_key: options.key ?? null,
          status: 'queued',
          run_at: runAt,
          leased_until: null,
          lease_token: null,
          attempts: 0,
          last_error: null,
          created_at: clock.now(),
        })
        .onConflict((conflict) =>
          conflict
            .column('dedupe_key')
            .doUpdateSet({ payload_json: payload, status: 'queued', run_at: runAt, attempts: 0 })
            .where('jobs.status', '=', 'dead'),
        )
        .execute()
      if (options.runAt === undefined) afterCommit(tx, poke)
    },

    /** Starts to run what is due, in this process. */
    start() {
      if (timer) return
      timer = setInterval(poke, POLL_MS)
      poke()
    },

    /** Takes no new job, and waits a while for the running ones. */
    async stop(withinMs = 0) {
      stopping.abort()
      if (timer) clearInterval(timer)
      timer = null
      const ended = Promise.resolve(sweep).then(() => Promise.allSettled(running))
      await Promise.race([ended, sleep(withinMs, null, { ref: false })])
    },

    /** Runs everything that is due now, one after the other in the order it fell due, and returns when it is done. */
    async drain() {
      while (!stopping.signal.aborted) {
        const [job] = await claim(1)
        if (job) await execute(job)
        else if (sweep === null && running.size === 0) return
        else {
          // What a sweep has claimed and not yet begun is in neither place.
          await sweep
          await Promise.allSettled(running)
        }
      }
    },

    async dead(): Promise<DeadJob[]> {
      return db
        .selectFrom('jobs')
        .select(['id', 'kind', 'attempts', 'last_error', 'created_at'])
        .where('status', '=', 'dead')
        .orderBy('created_at', 'desc')
        .limit(200)
        .execute()
    },

    /** Puts a dead job back in the queue; false when there is none such. */
    async retry(id: string): Promise<boolean> {
      const row = await db
        .updateTable('jobs')
        .set({ status: 'queued', attempts: 0, run_at: databaseNow(db, clock) })
        .where('id', '=', id)
        .where('status', '=', 'dead')
        .returning('id')
        .executeTakeFirst()
      if (row) poke()
      return row !== undefined
    },

    async counts(): Promise<{ queued: number; dead: number }> {
      const rows = await db
        .selectFrom('jobs')
        .select((e) => ['status', e.fn.countAll<number>().as('count')])
        .groupBy('status')
        .execute()
      const of = (status: string) => Number(rows.find((row) => row.status === status)?.count ?? 0)
      return { queued: of('queued'), dead: of('dead') }
    },
  }

  function poke() {
    if (!timer) return
    if (sweep) {
      sweepAgain = true
      return
    }
    sweep = runDue()
      .catch((error) => saySeldom({ err: error }, 'jobs could not be claimed'))
      .finally(() => {
        sweep = null
        if (sweepAgain) {
          sweepAgain = false
          poke()
        }
      })
  }

  async function runDue() {
    while (!stopping.signal.aborted && running.size < CONCURRENT_MAX) {
      const claimed = await claim(CONCURRENT_MAX - running.size)
      if (claimed.length === 0) return
      for (const job of claimed) {
        const run = execute(job)
        running.add(run)
        void run.finally(() => {
          running.delete(run)
          poke()
        })
      }
    }
  }

  type Claimed = { id: string; kind: string; payload_json: object; attempts: number; lease_token: string | null }

  async function claim(max: number): Promise<Claimed[]> {
    const kinds = [...handlers.keys()]
    if (kinds.length === 0) return []
    const now = databaseNow(db, clock)
    const due = (source: Db) =>
      source
        .selectFrom('jobs')
        .select('id')
        .where('status', '=', 'queued')
        .where('run_at', '<=', now)
        .where((e) => e.or([e('leased_until', 'is', null), e('leased_until', '<', now)]))
        .where('kind', 'in', kinds)
        .orderBy('run_at')
        // What one transaction wrote fell due at one moment.
        .orderBy('created_at')
        .limit(max)

    // An idle sweep takes no write lock.
    if ((await due(db).execute()).length === 0) return []

    return transaction(db, async (tx) => {
      const ids = (await forUpdateSkipLocked(tx, due(tx)).execute()).map((row) => row.id)
      if (ids.length === 0) return []
      return tx
        .updateTable('jobs')
        .set((e) => ({
          leased_until: databaseNow(db, clock, LEASE_MS),
          lease_token: randomUUID(),
          attempts: e('attempts', '+', 1),
        }))
        .where('id', 'in', ids)
        .returning(['id', 'kind', 'payload_json', 'attempts', 'lease_token'])
        .execute()
    })
  }

  async function execute(job: Claimed): Promise<void> {
    const entry = handlers.get(job.kind)
    if (!entry) return
    const renewal = setInterval(() => void renewLease(job), LEASE_MS / 3).unref()
    const { signal } = stopping
    try {
      await entry.handler(job.payload_json as never, { id: job.id, attempt: job.attempts, signal })
      await db.deleteFrom('jobs').where('id', '=', job.id).where('lease_token', '=', job.lease_token).execute()
    } catch (error) {
      const putBack = signal.aborted ? giveBack(job) : fail(job, entry.delaysMs, error)
      await putBack.catch((cause) => log.error({ err: cause, job: job.id }, 'a failed job could not be put back'))
    } finally {
      clearInterval(renewal)
    }
  }

  async function renewLease(job: Claimed) {
    try {
      await change(job, { leased_until: databaseNow(db, clock, LEASE_MS) })
    } catch (error) {
      log.warn({ err: error, job: job.id }, 'the lease of a job could not be renewed')
    }
  }

  /** Cut off by the process's end, which is no failure: it does not count as a try. */
  async function giveBack(job: Claimed) {
    await change(job, { leased_until: null, lease_token: null, attempts: job.attempts - 1 })
  }

  async function fail(job: Claimed, delaysMs: readonly number[], error: unknown) {
    const delayMs = delaysMs[job.attempts - 1]
    const message = error instanceof Error ? error.message : String(error)
    log.warn(
      { err: error, job: job.id, kind: job.kind, attempt: job.attempts },
      delayMs === undefined ? 'a job is dead' : 'a job failed and will be tried again',
    )
    await change(job, {
      status: delayMs === undefined ? 'dead' : 'queued',
      // Jitter of up to a tenth keeps a crowd of failures from coming back as a crowd.
      run_at: databaseNow(db, clock, Math.round((delayMs ?? 0) * (1 + Math.random() / 10))),
      leased_until: null,
      lease_token: null,
      last_error: message.slice(0, 1_000),
    })
  }

  /** Only the holder of the lease may change the job: a handler that outlived its lease changes nothing. */
  async function change({ id, lease_token }: Claimed, set: UpdateObject<Tables, 'jobs'>) {
    await db.updateTable('jobs').set(set).where('id', '=', id).where('lease_token', '=', lease_token).execute()
  }
}
