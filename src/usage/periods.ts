// The periods of a budget, in UTC: days, ISO weeks (from Monday) and months. The name of a period
// consists of its first day and its length (`2026-11-16/week`), so names sort by time.
import { DAY_MS, type Instant } from '#platform/clock.ts'

export const PERIODS = ['day', 'week', 'month'] as const
export type Period = (typeof PERIODS)[number]

/** The first instant of the period, and that of the next period. */
export type PeriodSpan = { start: Instant; end: Instant }

/** Returns the names of the day, week and month that contain an instant. */
export function namePeriods(at: Instant): Readonly<Record<Period, string>> {
  const namePeriod = (period: Period) => `${computeSpan(period, at).start.slice(0, 10)}/${period}`
  return { day: namePeriod('day'), week: namePeriod('week'), month: namePeriod('month') }
}

export function computeSpan(period: Period, at: Instant): PeriodSpan {
  const midnightMs = Date.parse(`${at.slice(0, 10)}T00:00:00.000Z`)
  const midnight = new Date(midnightMs)
  if (period === 'month') {
    const computeMonthStart = (offset: number) =>
      Date.UTC(midnight.getUTCFullYear(), midnight.getUTCMonth() + offset, 1)
    return createSpan(computeMonthStart(0), computeMonthStart(1))
  }
  if (period === 'day') return createSpan(midnightMs, midnightMs + DAY_MS)
  // getUTCDay is 0 on Sunday, which is the last day of the week.
  const monday = midnightMs - ((midnight.getUTCDay() + 6) % 7) * DAY_MS
  return createSpan(monday, monday + 7 * DAY_MS)
}

function createSpan(startMs: number, endMs: number): PeriodSpan {
  return { start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString() }
}
