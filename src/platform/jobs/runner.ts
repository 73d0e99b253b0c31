/**
 * Runs due jobs in this process, each under a lease. The number per lane is limited, and one kind
 * of job never fills a lane with several slots. A job whose process ends is retried with growing
 * delays, and finally becomes dead like a failing job.
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
  /** 1 for the first attempt. */
  attempt: number
  /**
   * Aborts when the process stops. Long work must stop then; the next process runs the job again.
   */
  signal: AbortSignal
  /**
   * Records progress in this transaction and resets the attempt count: earlier failures and lost
   * processes no longer count.
   */
  advanced(tx: Db): Promise<void>
}
/**
 * `delaysMs`: the delays between attempts. `atOnce`: the maximum that runs at once in a process.
 * `needs`: the jobs wait while this neighbour is unreachable. `isKnock`: the job only probes a
 * neighbour.
 */
export type KindOfJob = {
  handler: JobHandler
  delaysMs: readonly number[]
  lane: Lane
  atOnce: number | undefined
  needs: Neighbour | undefined
  isKnock: boolean
}
/** The registered kinds, by name. */
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
/** `logAway` logs at most one line per minute. */
type RunDeps = Deps & { logAway: (details: object, message: string) => void }

const POLL_MS = 1_000
/**
 * A process may end for reasons unrelated to its job. So a job becomes dead only after this many
 * processes ended while they ran it.
 */
const LOSSES_MIN = 5
const AFTER_LOSS_MS = 30 * SECOND_MS
/** Failed attempts after which a job waits for its usual delay as well. See `waitUntilDone`. */
const PROBE_ONLY_ATTEMPTS = 3

export function createRunner(deps: Deps) {
  const { handlers, log } = deps
  const running = new Map<Promise<void>, string>()
  const stopping = new AbortController()
  const logClaimFailure = seldom((details, message) => log.error(details, message))
  const logAway = seldom((details, message) => log.warn(details, message))
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
      .catch((error) => logClaimFailure({ err: error }, 'jobs could not be claimed'))
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

  /** Leases the job that has been due longest, of any kind. */
  function claimNext(): Promise<LeasedJob[]> {
    const shares = new Map([...handlers].map(([kind, { needs }]) => [kind, buildShare(1, needs)]))
    return leaseDue(deps, shares, (due) => due.slice(0, 1).map(({ id }) => id))
  }

  /**
   * Leases as many due jobs as have a free slot in their lane and within the limit of their kind.
   */
  async function claimFree(): Promise<LeasedJob[]> {
    const { ofKinds, ofLanes } = freeSlots(deps, running.values())
    if (LANES.every((lane) => ofLanes[lane] === 0)) return []
    return leaseDue(deps, ofKinds, (due) => chooseJobs(handlers, due, { ...ofLanes }))
  }

  function execute(job: LeasedJob): Promise<void> {
    return executeJob({ ...deps, logAway }, job, stopping.signal)
  }
}

/**
 * The job that probes an unreachable neighbour. It never becomes dead, however long the outage
 * lasts.
 */
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
    // By default, one slot stays free for the lane's other kinds.
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

function chooseJobs(handlers: Handlers, due: DueJob[], left: Record<Lane, number>): string[] {
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
  // After one lost process, the job runs again at once, because another job may have ended that
  // process.
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

/** Runs the job in a span of the trace that enqueued it. */
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
 * Handles a job whose processes ended repeatedly: it waits as after a failure and finally becomes
 * dead, so that it cannot crash processes forever.
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
    deps.logAway({ err: error, kind: job.kind }, 'a neighbour is away: the jobs that need it wait')
    if (entry.isKnock)
      return putBack(deps, { ...job, attempts: 0 }, { delayMs: KNOCK_MS, error: error.message })
    if (entry.needs && delayMs !== undefined)
      return waitUntilDone(entry.needs, deps, job, { delayMs, error: error.message })
  }
  deps.log.warn(
    { err: error, job: job.id, kind: job.kind, attempt: job.attempts },
    delayMs === undefined ? 'a job is dead' : 'a job failed and will be tried again',
  )
  const message = error instanceof Error ? error.message : String(error)
  if (delayMs !== undefined) return putBack(deps, job, { delayMs, error: message })
  await transaction(deps.db, async (tx) => {
    await putBack({ ...deps, db: tx }, job, { delayMs, error: message })
    for (const handle of deps.deadHandlers) await handle(tx, job, message)
  })
}

/**
 * Enqueues the probe; the job is due again when the neighbour answers. After several failed
 * attempts the job also waits for its usual delay, because the job or this node may be the cause.
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
      delayMs: job.attempts <= PROBE_ONLY_ATTEMPTS ? 0 : delayMs,
      error,
    })
  })
}
