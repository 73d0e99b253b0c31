/** Runs the jobs that are due, in this process: some at once, each under a lease. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'
import { type Log, seldom } from '../telemetry/log.ts'
import { parseTraceparent } from '../telemetry/trace-context.ts'
import { inSpan, type Tracer } from '../telemetry/tracer.ts'
import { giveBack, LEASE_MS, type LeasedJob, leaseDue, putBack, removeDone, renewLease } from './leases.ts'

export type JobContext = {
  id: string
  /** 1 at the first try. */
  attempt: number
  /** Aborts when the process is to end: work that takes long stops there, and is begun again by the next one. */
  signal: AbortSignal
}
/** By kind; `delaysMs` are the waits between the tries. */
export type Handlers = ReadonlyMap<string, { handler: JobHandler; delaysMs: readonly number[] }>
export type JobHandler = (payload: never, context: JobContext) => Promise<void>

export type DeadJobHandler = (tx: Db, job: LeasedJob, error: string) => Promise<void>

type Deps = {
  db: Db
  clock: Clock
  log: Log
  tracer: Tracer | null
  handlers: Handlers
  deadHandlers: readonly DeadJobHandler[]
}

const POLL_MS = 1_000
const CONCURRENT_MAX = 8

export function createRunner(deps: Deps) {
  const { handlers, log } = deps
  const running = new Set<Promise<unknown>>()
  const stopping = new AbortController()
  const saySeldom = seldom((details, message) => log.error(details, message))
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
      const ended = Promise.resolve(sweep).then(() => Promise.allSettled(running))
      await Promise.race([ended, sleep(withinMs, null, { ref: false })])
    },

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

  function claim(max: number): Promise<LeasedJob[]> {
    return leaseDue(deps, [...handlers.keys()], max)
  }

  function execute(job: LeasedJob): Promise<unknown> {
    const { tracer } = deps
    if (tracer === null) return executeJob(deps, job, stopping.signal)
    return executeTraced(tracer, job, () => executeJob(deps, job, stopping.signal))
  }
}

/** Of the trace that wrote the job, however much later. */
function executeTraced(tracer: Tracer, job: LeasedJob, work: () => Promise<string | null>): Promise<void> {
  const span = tracer.start(`job ${job.kind}`, {
    kind: 'consumer',
    parent: parseTraceparent(job.trace_parent),
    attributes: { 'latchkey.job_id': job.id, 'latchkey.job_attempt': job.attempts },
  })
  return inSpan(span, work).then((failure) => span.end(failure))
}

/** @returns why it failed, in a word. */
async function executeJob(deps: Deps, job: LeasedJob, signal: AbortSignal): Promise<string | null> {
  const { handlers, log } = deps
  const entry = handlers.get(job.kind)
  if (!entry) return null
  const renewal = setInterval(() => {
    renewLease(deps, job).catch((error) =>
      log.warn({ err: error, job: job.id }, 'the lease of a job could not be renewed'),
    )
  }, LEASE_MS / 3).unref()
  try {
    await entry.handler(job.payload_json as never, { id: job.id, attempt: job.attempts, signal })
    await removeDone(deps, job)
    return null
  } catch (error) {
    const changed = signal.aborted ? giveBack(deps, job) : fail(deps, job, entry.delaysMs, error)
    await changed.catch((cause) => log.error({ err: cause, job: job.id }, 'a failed job could not be put back'))
    return error instanceof Error ? error.name : 'failed'
  } finally {
    clearInterval(renewal)
  }
}

async function fail(deps: Deps, job: LeasedJob, delaysMs: readonly number[], error: unknown): Promise<void> {
  const delayMs = delaysMs[job.attempts - 1]
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
