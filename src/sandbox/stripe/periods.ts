/** Calendar arithmetic of billing periods, in Unix seconds and UTC. */

type Interval = { interval: string; interval_count: number }

const DAY_S = 24 * 3_600

/**
 * Adds an interval as the processor does: one month after January 31 is the last day of February.
 * The time of day stays.
 */
export function addInterval(at: number, { interval, interval_count: count }: Interval): number {
  if (interval === 'day') return at + count * DAY_S
  if (interval === 'week') return at + count * 7 * DAY_S
  const from = new Date(at * 1000)
  const months = from.getUTCMonth() + (interval === 'year' ? 12 * count : count)
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), months + 1, 0)).getUTCDate()
  const moved = new Date(from)
  moved.setUTCFullYear(from.getUTCFullYear(), months, Math.min(from.getUTCDate(), lastDay))
  return Math.floor(moved.getTime() / 1000)
}

/** The share of a period that is still ahead, from 0 to 1. */
export function remainingShare(from: number, to: number, now: number): number {
  if (to <= from) return 0
  return Math.min(1, Math.max(0, (to - now) / (to - from)))
}
