/**
 * Retention: removes old rows in slices, rule by rule, every hour, in each process that runs jobs.
 * A room defines its rules in its `retention.ts`; `src/app/retention.ts` collects them, and
 * `doctor` shows them. A rule's column needs an index, because otherwise each slice scans the whole
 * table. A test requires the index.
 */
import { type RawBuilder, sql } from 'kysely'
import { type Clock, DAY_MS, HOUR_MS, type Instant, plus } from './clock.ts'
import type { Db } from './db/db.ts'
import { deleteSlice, inSlices } from './db/slices.ts'
import type { Tables } from './db/tables.ts'
import type { Room } from './room.ts'
import type { Log } from './telemetry/log.ts'

export type Aged = {
  /** The name that the operator sees, for example `sessions`. */
  what: string
  table: keyof Tables & string
  /** How long rows are stored after the moment in the rule's column. */
  days: number
  /** The setting that determines the days; null when the room determines them. */
  setting: string | null
  /**
   * Removes up to SLICE_ROWS rows from before that moment, in short transactions. @returns their
   * number; a smaller one means that none are left.
   */
  removeSlice(db: Db, before: Instant, now: Instant): Promise<number>
}

type Rule<T extends keyof Tables> = Pick<Aged, 'what' | 'days' | 'setting'> & {
  table: T & string
  key: readonly (keyof Tables[T] & string)[]
  /** The indexed column with the time that the age counts from. */
  at: keyof Tables[T] & string
  /** True when the column contains a day as text, such as `2026-11-22`. */
  isText?: boolean
  only?: (now: Instant) => RawBuilder<unknown>
}

/** Creates a rule that removes rows by age. */
export function byAge<T extends keyof Tables>({
  what,
  days,
  setting,
  table,
  key,
  at,
  isText,
  only,
}: Rule<T>): Aged {
  return {
    what,
    days,
    setting,
    table,
    removeSlice(db, before, now) {
      const isOld = sql`${sql.ref(at)} < ${isText ? before.slice(0, 10) : before}`
      return deleteSlice(db, table, key, only ? sql`${isOld} and ${only(now)}` : isOld)
    },
  }
}

type Deps = { db: Db; clock: Clock; log: Log }

/**
 * Runs every rule, even when one fails. Returns the number of removed rows by kind.
 * @throws AggregateError with the failures after all rules have run; the reason itself when the
 * signal aborts
 */
export async function removeAged(
  { db, clock }: Omit<Deps, 'log'>,
  rules: readonly Aged[],
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const removed = new Map<string, number>()
  const failures: Error[] = []
  for (const { what, days, removeSlice } of rules) {
    const now = clock.now()
    const before = plus(now, -days * DAY_MS)
    try {
      const rows = await inSlices(() => removeSlice(db, before, now), signal)
      if (rows > 0) removed.set(what, (removed.get(what) ?? 0) + rows)
    } catch (cause) {
      if (signal?.aborted) throw cause
      failures.push(
        new Error(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }),
      )
    }
  }
  if (failures.length > 0)
    throw new AggregateError(failures, failures.map(({ message }) => message).join('; '))
  return removed
}

const EVERY_MS = HOUR_MS

/** Runs the rules at the start of a process that runs jobs, and every hour. */
export function createRetention(
  deps: Deps,
  rules: readonly Aged[],
): Required<Pick<Room, 'start' | 'stop'>> {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running = false
  const run = async () => {
    // A run longer than an hour is not started twice.
    if (running) return
    running = true
    try {
      const removed = await removeAged(deps, rules, stopping.signal)
      if (removed.size > 0)
        deps.log.info({ removed: Object.fromEntries(removed) }, 'what was too old was removed')
    } catch (err) {
      if (!stopping.signal.aborted) deps.log.warn({ err }, 'what is too old was not all removed')
    } finally {
      running = false
    }
  }
  return {
    start() {
      timer = setInterval(() => void run(), EVERY_MS).unref()
      void run()
    },
    stop() {
      stopping.abort()
      clearInterval(timer)
    },
  }
}
