/**
 * Reports within a second whether the database can be read and written, even when it hangs. Writes
 * are tested with one small row, at most every 10 s, and every second after a failure. A pending
 * check is not a failure, because the database may be busy: the last result remains valid for some
 * seconds.
 */
import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import './tables.ts'
import type { Clock } from './clock.ts'
import type { Db, Dialect } from './db/db.ts'
import { databaseNow } from './db/time.ts'
import { type Log, seldom } from './telemetry/log.ts'

export type DatabaseState = {
  isReachable: boolean
  isWritable: boolean
  /** How far this machine's clock is ahead of the database's; null on SQLite, or when unknown. */
  clockSkewMs: number | null
}
export type Readiness = ReturnType<typeof createReadiness>

/** Less than a second, to leave time for the reply. */
const DEADLINE_MS = 700
const WRITTEN_FOR_MS = 10_000
const FAILED_FOR_MS = 1_000
/**
 * A check that takes longer has failed, because the service cannot serve requests with such a
 * database.
 */
const PENDING_FOR_MS = 5_000
/** Below this, the disk counts as full: the next pages of the log would not fit. */
const FREE_BYTES_MIN = 1024 * 1024
/** Clock differences up to this are harmless. Tokens and budgets use the clock of the node. */
export const SKEW_MAX_MS = 2_000

type Deps = { db: Db; dialect: Dialect; dataDir: string; clock: Clock; log: Log }

export function createReadiness({ db, dialect, dataDir, clock, log }: Deps) {
  const say = seldom((details, message) => log.warn(details, message))
  let clockSkewMs: number | null = null
  const reading = looker(tryRead)
  const writing = looker(tryWrite)

  async function tryRead() {
    const askedMs = clock.ms()
    const { rows } = await sql<{ now: string }>`select ${databaseNow(db, clock)} as now`.execute(db)
    if (dialect === 'sqlite' || !rows[0]) return
    // Assumes that the server read its clock half-way between request and answer.
    clockSkewMs = Math.round((askedMs + clock.ms()) / 2 - Date.parse(rows[0].now))
    if (Math.abs(clockSkewMs) > SKEW_MAX_MS)
      say({ clockSkewMs }, 'the clocks of this machine and of the database differ')
  }

  async function tryWrite() {
    if (dialect === 'sqlite' && (await freeBytes()) < FREE_BYTES_MIN)
      throw new Error('the disk is full')
    await db
      .insertInto('write_probe')
      .values({ id: 1, written_at: clock.now() })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ written_at: clock.now() }))
      .execute()
  }

  /**
   * Free bytes of the disk with the data folder; infinite where the system does not report them.
   */
  async function freeBytes(): Promise<number> {
    try {
      const { bavail, bsize } = await statfs(dataDir)
      return bavail * bsize
    } catch {
      return Number.POSITIVE_INFINITY
    }
  }

  return {
    freeBytes,
    /** Checks that the database can be read, and warns when its clock differs. */
    look: () => reading.look(),

    async state(): Promise<DatabaseState> {
      const isWritable = async () => {
        if (writing.ageMs() > (writing.isWell() ? WRITTEN_FOR_MS : FAILED_FOR_MS))
          await writing.look()
      }
      await within(DEADLINE_MS, Promise.all([reading.look(), isWritable()]), null)
      const isReachable = reading.isWell()
      return {
        isReachable,
        isWritable: isReachable && writing.isWell(),
        clockSkewMs: isReachable ? clockSkewMs : null,
      }
    },
  }
}

/**
 * Runs one check at a time. Otherwise each check would add a waiting query while the database
 * hangs.
 */
function looker(ask: () => Promise<void>) {
  let known = { well: false, atMs: Number.NEGATIVE_INFINITY }
  let pending: { since: number; ended: Promise<void> } | null = null

  const end = (well: boolean) => {
    known = { well, atMs: performance.now() }
    pending = null
  }

  return {
    look(): Promise<void> {
      pending ??= {
        since: performance.now(),
        ended: ask().then(
          () => end(true),
          () => end(false),
        ),
      }
      return pending.ended
    },
    /** The result of the last finished check; false when a pending check takes too long. */
    isWell: () =>
      known.well && (pending === null || performance.now() - pending.since < PENDING_FOR_MS),
    ageMs: () => performance.now() - known.atMs,
  }
}

/** Returns the result of `work`, or the fallback once that takes too long. */
export async function within<T>(ms: number, work: Promise<T>, fallback: T): Promise<T> {
  const timer = new AbortController()
  const late = sleep(ms, fallback, { signal: timer.signal }).catch(() => fallback)
  try {
    return await Promise.race([work, late])
  } finally {
    timer.abort()
  }
}
