/** Calendar arithmetic of billing periods, in Unix seconds and UTC. */
import type { Stripe } from 'stripe'

/** `interval`: month or year. */
type Interval = { interval: string; interval_count: number }

/**
 * Adds an interval as the processor does: one month after January 31 is the last day of February.
 * The time of day stays.
 */
export function addInterval(at: number, { interval, interval_count: count }: Interval): number {
  const from = new Date(at * 1000)
  const months = from.getUTCMonth() + (interval === 'year' ? 12 * count : count)
  const lastDay = new Date(Date.UTC(from.getUTCFullYear(), months + 1, 0)).getUTCDate()
  const moved = new Date(from)
  moved.setUTCFullYear(from.getUTCFullYear(), months, Math.min(from.getUTCDate(), lastDay))
  return Math.floor(moved.getTime() / 1000)
}

/** Returns the end of the price's period that starts then. */
export const addPeriod = (at: number, { recurring }: Pick<Stripe.Price, 'recurring'>): number =>
  recurring ? addInterval(at, recurring) : at

/** The share of a period that is still ahead, from 0 to 1. */
export function remainingShare(from: number, to: number, now: number): number {
  if (to <= from) return 0
  return Math.min(1, Math.max(0, (to - now) / (to - from)))
}
