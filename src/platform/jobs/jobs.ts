/**
 * The outbox for effects outside the database. A transaction writes a job as a row; a handler runs
 * it after the commit; then the row is deleted. Jobs run at least once: if the process crashes
 * after the effect, the handler runs again, so effects carry an idempotency id.
 */
import { randomUUID } from 'node:crypto'
import '../tables.ts'
import { type Clock, type Instant, SECOND_MS } from '../clock.ts'
import { afterCommit, type Db, matchPrefix } from '../db/db.ts'
import { databaseNow } from '../db/time.ts'
import type { Log } from '../telemetry/log.ts'
import { formatTraceparent } from '../telemetry/trace-context.ts'
import { currentSpan, type Tracer } from '../telemetry/tracer.ts'
import {
  deleteDead,
  type ListedJob,
  type ListedKinds,
  listDead,
  listWaiting,
  retryDead,
  retryJob,
} from './job-list.ts'
import { LANE_SLOTS, LANES, type Lane, type LaneSlots } from './lanes.ts'
import { type Neighbour, probeKind } from './neighbours.ts'
import {
  createRunner,
  type DeadJobHandler,
  type JobContext,
  type JobHandler,
  type KindOfJob,
  knockKind,
} from './runner.ts'

export type JobOptions = {
  /** The lane of the job; jobs of other lanes run in separate slots. */
  lane?: Lane
  /** The maximum that runs at once in a process. Default: all slots of the lane but one. */
  atOnce?: number
  /** Delays between attempts. After the last one the job is dead; it is stored and displayed. */
  delaysMs?: readonly number[]
  /** While this neighbour is unreachable, these jobs do not run. */
  needs?: Neighbour
}

/** `ageSeconds`: how long the oldest waiting job has been due; 0 when none waits. */
export type LaneState = { waiting: number; ageSeconds: number }

/** About two days in total, so that jobs survive a long outage of a vendor. */
const DELAYS_MS: readonly number[] = [
  1, 5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 57_600, 57_600,
].map((s) => s * SECOND_MS)

type Deps = { db: Db; clock: Clock; log: Log; slots?: LaneSlots; tracer?: Tracer | null }

export class Jobs {
  readonly #db: Db
  readonly #clock: Clock
  readonly #tracer: Tracer | null
  readonly #handlers = new Map<string, KindOfJob>()
  readonly #deadHandlers: DeadJobHandler[] = []
  readonly #log: Log
  readonly #runner: ReturnType<typeof createRunner>

  constructor({ db, clock, log, slots = LANE_SLOTS, tracer = null }: Deps) {
    this.#db = db
    this.#clock = clock
    this.#tracer = tracer
    this.#log = log
    this.#runner = createRunner({
      db,
      clock,
      log,
      slots,
      tracer,
      handlers: this.#handlers,
      deadHandlers: this.#deadHandlers,
      enqueueAll: (tx, kind, wanted) => this.enqueueAll(tx, kind, wanted),
    })
  }

  /** Registers the handler of a kind of job. Call it once per kind, before `start`. */
  handle<P extends object>(
    kind: string,
    handler: (payload: P, context: JobContext) => Promise<void>,
    { delaysMs = DELAYS_MS, lane = 'events', atOnce, needs }: JobOptions = {},
  ): void {
    if (this.#handlers.has(kind)) throw new Error(`two handlers for jobs of kind ${kind}`)
    const run = handler as unknown as JobHandler
    this.#handlers.set(kind, { handler: run, delaysMs, lane, atOnce, needs, isKnock: false })
    if (needs) this.#handlers.set(probeKind(needs), knockKind(needs, this.#log))
  }

  /** Registers a handler that runs in the transaction that marks a job as dead. */
  onDead(handler: DeadJobHandler): void {
    this.#deadHandlers.push(handler)
  }

  /**
   * Writes a job with the transaction's other rows; it runs after the commit, or at `runAt`.
   * With a `key`, no second job of the same key is added; a dead one starts again.
   */
  async enqueue(
    tx: Db,
    kind: string,
    payload: object,
    options: { id?: string; runAt?: Instant; key?: string } = {},
  ): Promise<void> {
    await this.enqueueAll(tx, kind, [{ payload, ...options }])
  }

  /** Like `enqueue`, for several jobs of one kind in one statement. Their keys must differ. */
  async enqueueAll(
    tx: Db,
    kind: string,
    wanted: readonly { payload: object; id?: string; runAt?: Instant; key?: string }[],
  ): Promise<void> {
    if (wanted.length === 0) return
    const span = this.#tracer && currentSpan()
    const clock = this.#clock
    const now = clock.now()
    const rows = wanted.map(({ payload, id = randomUUID(), runAt, key }) => ({
      id,
      kind,
      lane: this.#handlers.get(kind)?.lane ?? null,
      payload_json: payload,
      dedupe_key: key ?? null,
      status: 'queued' as const,
      // `runAt` is a time of this node's clock, so only its distance from now is used.
      run_at: databaseNow(tx, clock, runAt === undefined ? 0 : Date.parse(runAt) - clock.ms()),
      leased_until: null,
      lease_token: null,
      attempts: 0,
      last_error: null,
      trace_parent: span ? formatTraceparent(span) : null,
      created_at: now,
    }))
    await tx
      .insertInto('jobs')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('dedupe_key')
          .doUpdateSet((e) => ({
            lane: e.ref('excluded.lane'),
            payload_json: e.ref('excluded.payload_json'),
            status: 'queued' as const,
            run_at: e.ref('excluded.run_at'),
            attempts: 0,
          }))
          .where('jobs.status', '=', 'dead'),
      )
      .execute()
    if (wanted.some(({ runAt }) => runAt === undefined)) afterCommit(tx, this.#runner.poke)
  }

  /** Removes the job of this key, if there is one. */
  async withdraw(tx: Db, key: string): Promise<void> {
    await this.withdrawal(tx, [key]).execute()
  }

  /** Returns the statement for several keys, for callers that execute it themselves. */
  withdrawal(db: Db, keys: readonly string[]) {
    return db.deleteFrom('jobs').where('dedupe_key', 'in', keys)
  }

  /** Runs due jobs in this process from now on. */
  start(): void {
    this.#runner.start()
  }

  /** Starts no new job, and waits up to `drainMs` for running ones. */
  stop(drainMs?: number): Promise<void> {
    return this.#runner.stop(drainMs)
  }

  /** Runs every job that is due now, in the order in which they fell due. */
  drain(): ReturnType<ReturnType<typeof createRunner>['drain']> {
    return this.#runner.drain()
  }

  /** Returns failed jobs, newest first. */
  dead(asked?: ListedKinds): Promise<ListedJob[]> {
    return listDead(this.#db, asked)
  }

  /** Returns running jobs and those that wait, in the order in which they fall due. */
  waiting(asked?: ListedKinds): Promise<ListedJob[]> {
    return listWaiting({ db: this.#db, clock: this.#clock }, asked)
  }

  /**
   * Makes a failed job due now, or one that waits for its next attempt. Returns false when there is
   * no such job: a job before its first attempt may be planned for a later day.
   */
  async retry(tx: Db, id: string): Promise<boolean> {
    const isRetried = await retryJob({ db: tx, clock: this.#clock }, id)
    if (isRetried) afterCommit(tx, this.#runner.poke)
    return isRetried
  }

  /** Makes all failed jobs of these kinds due now. Returns their number. */
  async retryAll(tx: Db, asked?: ListedKinds): Promise<number> {
    const retried = await retryDead({ db: tx, clock: this.#clock }, asked)
    if (retried > 0) afterCommit(tx, this.#runner.poke)
    return retried
  }

  /** Deletes a failed job, whose effect then never happens. Returns the deleted job's kind. */
  deleteDead(tx: Db, id: string): Promise<string | null> {
    return deleteDead(tx, id)
  }

  async counts(): Promise<{ queued: number; dead: number }> {
    const rows = await this.#db
      .selectFrom('jobs')
      .select((e) => ['status', e.fn.countAll<number>().as('count')])
      .groupBy('status')
      .execute()
    const count = (status: string) => rows.find((row) => row.status === status)?.count ?? 0
    return { queued: count('queued'), dead: count('dead') }
  }

  /**
   * Counts due jobs that do not run, by lane and by the database's clock. For a kind without a
   * handler in this process (commands have none), the row names the lane; otherwise it counts as
   * `events`.
   */
  lanes(): Promise<Record<Lane, LaneState>> {
    return computeLaneStates({ db: this.#db, clock: this.#clock }, this.#handlers)
  }

  /** Returns the payloads of waiting and failed jobs whose key has the prefix. */
  async findPayloads<P>(db: Db, keyPrefix: string): Promise<P[]> {
    const waiting = db
      .selectFrom('jobs')
      .select('payload_json')
      .where(matchPrefix(db, 'dedupe_key', keyPrefix).where)
    return (await waiting.execute()).map(({ payload_json: payload }) => payload as P)
  }
}

async function computeLaneStates(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  handlers: ReadonlyMap<string, KindOfJob>,
): Promise<Record<Lane, LaneState>> {
  const now = databaseNow(db, clock)
  const rows = await db
    .selectFrom('jobs')
    .select((e) => [
      'kind',
      'lane',
      e.fn.countAll<number>().as('waiting'),
      e.fn.min('run_at').as('oldest'),
      now.as('now'),
    ])
    .where('status', '=', 'queued')
    .where('run_at', '<=', now)
    .where((e) => e.or([e('leased_until', 'is', null), e('leased_until', '<', now)]))
    .groupBy(['kind', 'lane'])
    .execute()
  const states = Object.fromEntries(LANES.map((lane) => [lane, { waiting: 0, ageSeconds: 0 }]))
  for (const { kind, lane, waiting, oldest, now } of rows) {
    const state = states[handlers.get(kind)?.lane ?? lane ?? 'events'] as LaneState
    state.waiting += waiting
    state.ageSeconds = Math.max(state.ageSeconds, (Date.parse(now) - Date.parse(oldest)) / 1_000)
  }
  return states as Record<Lane, LaneState>
}
