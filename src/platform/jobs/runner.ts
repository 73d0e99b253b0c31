/**
 * Runs due jobs in this process, each under a lease: a limited number per lane, and never a whole
 * lane of one kind. A job that ends its process is retried with growing delays and given up like a
 * failing one.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, type Instant, plus, SECOND_MS } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'
import { type Log, seldom } from '../telemetry/log.ts'
import { parseTraceparent } from '../telemetry/trace-context.ts'
import { inSpan, type Tracer } from '../telemetry/tracer.ts'
import { LANES, type Lane, type LaneSlots } from './lanes.ts'
import {
  type DueJob,
  forgetTries,
  giveBack,
  LEASE_MS,
  type LeasedJob,
  leaseDue,
  putBack,
  removeDone,
  renewLease,
  type Share,
} from './leases.ts'
import { KNOCK_MS, knock, type Neighbour, NeighbourAway, probeKind } from './neighbours.ts'

export type JobContext = {
  id: string
  /** 1 at the first try. */
  attempt: number
  /** Aborts when the process ends: long work stops, and the next process starts it again. */
  signal: AbortSignal
  /**
   * Marks part of the work as stored by this transaction: failures and lost processes count from
   * here.
   */
  advanced(tx: Db): Promise<void>
}
/**
 * `delaysMs` are the waits between the tries; `atOnce`: at most so many in one process; `needs`:
 * none while that is away.
 */
export type KindOfJob = {
  handler: JobHandler
  delaysMs: readonly number[]
  lane: Lane
  atOnce: number | undefined
  needs: Neighbour | undefined
  isKnock: boolean
}
/** By kind. */
export type Handlers = ReadonlyMap<string, KindOfJob>
export type JobHandler = (payload: never, context: JobContext) => Promise<void>

export type DeadJobHandler = (tx: Db, job: LeasedJob, error: string) => Promise<void>

type Deps = {
  db: Db
  clock: Clock
  log: Log
  slots: LaneSlots
  tracer: Tracer | null
  handlers: Handlers
  deadHandlers: readonly DeadJobHandler[]
  enqueueAll(
    tx: Db,
    kind: string,
    jobs: readonly { payload: object; runAt: Instant; key: string }[],
  ): Promise<void>
}
/** `sayAway`: a log line, one a minute. */
type RunDeps = Deps & { sayAway: (details: object, message: string) => void }

const POLL_MS = 1_000
/**
 * A process may end for many reasons: before a job is given up for it, so many have ended under it.
 */
const LOSSES_MIN = 5
const AFTER_LOSS_MS = 30 * SECOND_MS
/** An outage is found by a few of those that wait for its end. */
const FOUND_AWAY_MAX = 3

export function createRunner(deps: Deps) {
  const { handlers, log } = deps
  const running = new Map<Promise<void>, string>()
  const stopping = new AbortController()
  const saySeldom = seldom((details, message) => log.error(details, message))
  const sayAway = seldom((details, message) => log.warn(details, message))
  let timer: NodeJS.Timeout | null = null
  let sweep: Promise<void> | null = null
  let sweepAgain = false

  return {
    start() {
      if (timer) return
      timer = setInterval(poke, POLL_MS)
      poke()
    },

    poke,

    async stop(withinMs = 0) {
      stopping.abort()
      if (timer) clearInterval(timer)
      timer = null
      const ended = Promise.resolve(sweep).then(() => Promise.allSettled(running.keys()))
      await Promise.race([ended, sleep(withinMs, null, { ref: false })])
    },

    async drain() {
      while (!stopping.signal.aborted) {
        const [job] = await claimNext()
        if (job) await execute(job)
        else if (sweep === null && running.size === 0) return
        else {
          // Jobs that a sweep has claimed and not yet started are in neither set.
          await sweep
          await Promise.allSettled(running.keys())
        }
      }
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
    while (!stopping.signal.aborted) {
      const claimed = await claimFree()
      if (claimed.length === 0) return
      for (const job of claimed) {
        const run = execute(job)
        running.set(run, job.kind)
        void run.finally(() => {
          running.delete(run)
          poke()
        })
      }
    }
  }

  /** The jobs that fell due first, of all kinds. */
  function claimNext(): Promise<LeasedJob[]> {
    const shares = new Map([...handlers].map(([kind, { needs }]) => [kind, buildShare(1, needs)]))
    return leaseDue(deps, shares, (due) => due.slice(0, 1).map(({ id }) => id))
  }

  /** As many as have a place, in their lane and among their kind. */
  async function claimFree(): Promise<LeasedJob[]> {
    const { ofKinds, ofLanes } = freeSlots(deps, running.values())
    if (LANES.every((lane) => ofLanes[lane] === 0)) return []
    return leaseDue(deps, ofKinds, (due) => placed(handlers, due, { ...ofLanes }))
  }

  function execute(job: LeasedJob): Promise<void> {
    return executeJob({ ...deps, sayAway }, job, stopping.signal)
  }
}

/** The job that knocks; however long the neighbour is away, it is not given up. */
export const knockKind = (neighbour: Neighbour, log: Log): KindOfJob => ({
  handler: async () => {
    await knock(neighbour)
    log.info({ neighbour: neighbour.name }, 'a neighbour answers again: what waited for it is due')
  },
  delaysMs: [KNOCK_MS],
  lane: 'urgent',
  atOnce: 1,
  needs: undefined,
  isKnock: true,
})

function freeSlots({ handlers, slots }: Deps, running: Iterable<string>) {
  const ofLanes: Record<Lane, number> = { ...slots }
  const runs = new Map<string, number>()
  for (const kind of running) {
    runs.set(kind, (runs.get(kind) ?? 0) + 1)
    const lane = handlers.get(kind)?.lane
    if (lane !== undefined) ofLanes[lane]--
  }
  const ofKinds = new Map<string, Share>()
  for (const [kind, { lane, atOnce, needs }] of handlers) {
    // One place is left to the lane's other kinds.
    const most = atOnce ?? Math.max(1, slots[lane] - 1)
    ofKinds.set(
      kind,
      buildShare(Math.max(0, Math.min(ofLanes[lane], most - (runs.get(kind) ?? 0))), needs),
    )
  }
  return { ofKinds, ofLanes }
}

const buildShare = (max: number, needs: Neighbour | undefined): Share => ({
  max,
  unless: needs ? probeKind(needs) : null,
})

function placed(handlers: Handlers, due: DueJob[], left: Record<Lane, number>): string[] {
  return due.flatMap(({ id, kind }) => {
    const lane = handlers.get(kind)?.lane
    if (lane === undefined || left[lane] <= 0) return []
    left[lane]--
    return [id]
  })
}

async function executeJob(deps: RunDeps, job: LeasedJob, signal: AbortSignal): Promise<void> {
  const { handlers, log } = deps
  const entry = handlers.get(job.kind)
  if (!entry) return
  // A job that lost its process once may have run beside the job that ended it, so it runs again at
  // once.
  if (job.wasLost && job.attempts > 2) return giveUpLost(deps, job, entry)
  const renewal = setInterval(() => {
    renewLease(deps, job).catch((error) =>
      log.warn({ err: error, job: job.id }, 'the lease of a job could not be renewed'),
    )
  }, LEASE_MS / 3).unref()
  try {
    const advanced = async (tx: Db) => {
      if (job.attempts === 1) return
      job.attempts = 1
      await forgetTries({ db: tx }, job)
    }
    const context = { id: job.id, attempt: job.attempts, signal, advanced }
    const handle = () => entry.handler(job.payload_json as never, context)
    await (deps.tracer === null ? handle() : traced(deps.tracer, job, handle))
    await removeDone(deps, job)
  } catch (error) {
    const changed = signal.aborted ? giveBack(deps, job) : fail(deps, job, entry, error)
    await changed.catch((cause) =>
      log.error({ err: cause, job: job.id }, 'a failed job could not be put back'),
    )
  } finally {
    clearInterval(renewal)
  }
}

/** A span of the trace that wrote the job, however much later. */
async function traced(tracer: Tracer, job: LeasedJob, handle: () => Promise<void>): Promise<void> {
  const span = tracer.start(`job ${job.kind}`, {
    kind: 'consumer',
    parent: parseTraceparent(job.trace_parent),
    attributes: { 'latchkey.job_id': job.id, 'latchkey.job_attempt': job.attempts },
  })
  try {
    await inSpan(span, handle)
    span.end()
  } catch (error) {
    span.end(error instanceof Error ? error.name : 'failed')
    throw error
  }
}

/**
 * Waits as after a failure; what may end every process that runs it does not get to do so without
 * end.
 */
async function giveUpLost(deps: RunDeps, job: LeasedJob, entry: KindOfJob): Promise<void> {
  const losses = job.attempts - 1
  const least = Array<number>(Math.max(0, LOSSES_MIN - entry.delaysMs.length)).fill(AFTER_LOSS_MS)
  const delaysMs = [...entry.delaysMs, ...least]
  const error = new Error(`the process that ran it ended, at the try ${losses}`)
  await fail(deps, { ...job, attempts: losses }, { ...entry, delaysMs }, error).catch((cause) =>
    deps.log.error({ err: cause, job: job.id }, 'a lost job could not be put back'),
  )
}

async function fail(
  deps: RunDeps,
  job: LeasedJob,
  entry: KindOfJob,
  error: unknown,
): Promise<void> {
  const delayMs = entry.delaysMs[job.attempts - 1]
  if (error instanceof NeighbourAway) {
    deps.sayAway({ err: error, kind: job.kind }, 'a neighbour is away: the jobs that need it wait')
    if (entry.isKnock)
      return putBack(deps, { ...job, attempts: 0 }, { delayMs: KNOCK_MS, error: error.message })
    if (entry.needs && delayMs !== undefined)
      return waitUntilDone(entry.needs, deps, job, { delayMs, error: error.message })
  }
  deps.log.warn(
    { err: error, job: job.id, kind: job.kind, attempt: job.attempts },
    delayMs === undefined ? 'a job is dead' : 'a job failed and will be tried again',
  )
  const words = error instanceof Error ? error.message : String(error)
  if (delayMs !== undefined) return putBack(deps, job, { delayMs, error: words })
  await transaction(deps.db, async (tx) => {
    await putBack({ ...deps, db: tx }, job, { delayMs, error: words })
    for (const handle of deps.deadHandlers) await handle(tx, job, words)
  })
}

/**
 * Due again when the neighbour answers. A job that found it down several times gets the usual
 * delays, because the job or this node may be the cause.
 */
async function waitUntilDone(
  needs: Neighbour,
  deps: Deps,
  job: LeasedJob,
  { delayMs, error }: { delayMs: number; error: string },
): Promise<void> {
  const key = probeKind(needs)
  await transaction(deps.db, async (tx) => {
    await deps.enqueueAll(tx, key, [{ payload: {}, key, runAt: plus(deps.clock.now(), KNOCK_MS) }])
    await putBack({ ...deps, db: tx }, job, {
      delayMs: job.attempts <= FOUND_AWAY_MAX ? 0 : delayMs,
      error,
    })
  })
}
