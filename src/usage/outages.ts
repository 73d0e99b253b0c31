/**
 * Times of the last day in which a vendor failed many calls. Reads a bounded sample of calls, because
 * their table is the largest of all.
 */
import './tables.ts'
import { type RawBuilder, sql } from 'kysely'
import { DAY_MS, type Instant, MINUTE_MS } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'

export type Outage = {
  vendor: string
  from: Instant
  /** Null while it lasts. */
  until: Instant | null
  /** The share of failed calls, above 0 and up to 1. */
  failedShare: number
}

const SLICE_MS = 15 * MINUTE_MS
const SLICES = DAY_MS / SLICE_MS
/** All slices together read at most 4,800 rows, in about 20 ms. */
const SLICE_CALLS_MAX = 50
/** Fewer calls say nothing about a vendor. */
const CALLS_MIN = 10
const FAILED_SHARE_MIN = 0.2

/** Lists the outages of the last 24 hours, newest first. */
export async function listOutages(db: Db, nowMs: number): Promise<Outage[]> {
  const lastMs = Math.floor(nowMs / SLICE_MS) * SLICE_MS
  const starts = Array.from({ length: SLICES }, (_, slice) => lastMs - slice * SLICE_MS)
  const parts = starts.map((startMs) => selectSlice(startMs))
  const { rows } = await sql<Sampled>`${sql.join(parts, sql` union all `)}`.execute(db)
  const byVendor = Map.groupBy(rows, ({ vendor }) => vendor)
  return [...byVendor]
    .flatMap(([vendor, calls]) => findOutages(vendor, calls, lastMs))
    .sort((a, b) => (a.from < b.from ? 1 : -1))
}

type Sampled = { vendor: string; created_at: string; outcome: string; status: number }

function selectSlice(startMs: number): RawBuilder<Sampled> {
  const at = (ms: number) => new Date(ms).toISOString()
  return sql`select * from (
    select vendor, created_at, outcome, status from usage_records
    where created_at >= ${at(startMs)} and created_at < ${at(startMs + SLICE_MS)} and outcome <> 'cancelled'
    order by created_at limit ${sql.lit(SLICE_CALLS_MAX)}) as part`
}

/** Joins neighboring slices in which too many calls failed. */
function findOutages(vendor: string, calls: readonly Sampled[], lastMs: number): Outage[] {
  const slices = Map.groupBy(calls, readSlice)
  const bad = [...slices.keys()].sort((a, b) => a - b).filter((slice) => isBad(slices.get(slice)))
  const runs: { first: number; last: number }[] = []
  for (const slice of bad) {
    const run = runs.at(-1)
    if (run?.last === slice - 1) run.last = slice
    else runs.push({ first: slice, last: slice })
  }
  const lastSlice = lastMs / SLICE_MS
  // The current slice may have too few calls to show that the outage has ended.
  const isOpen = (slice: number) =>
    slice === lastSlice ||
    (slice === lastSlice - 1 && (slices.get(lastSlice)?.length ?? 0) < CALLS_MIN)
  return runs.map(({ first, last }) => {
    const sampled = calls.filter((call) => readSlice(call) >= first && readSlice(call) <= last)
    return {
      vendor,
      from: new Date(first * SLICE_MS).toISOString(),
      until: isOpen(last) ? null : new Date((last + 1) * SLICE_MS).toISOString(),
      failedShare: computeFailedShare(sampled),
    }
  })
}

const readSlice = ({ created_at: at }: Sampled) => Math.floor(Date.parse(at) / SLICE_MS)

function isBad(calls: readonly Sampled[] = []): boolean {
  return calls.length >= CALLS_MIN && computeFailedShare(calls) >= FAILED_SHARE_MIN
}

/** Rejected requests (4xx) are the caller's; a status of 200 is an answer that broke off. */
function computeFailedShare(calls: readonly Sampled[]): number {
  const failed = calls.filter(
    ({ outcome, status }) => outcome === 'failed' && (status >= 500 || status === 200),
  )
  return failed.length / calls.length
}
