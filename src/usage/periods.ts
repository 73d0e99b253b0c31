// The periods of a budget, in UTC: days, ISO weeks (from Monday) and months. One is named by its first day and its length,
// as `2026-11-16/week`: names sort by time.
import { DAY_MS, type Instant } from '#platform/clock.ts'

export const PERIODS = ['day', 'week', 'month'] as const
export type Period = (typeof PERIODS)[number]

/** The first day, and the first one of the next period. */
export type PeriodSpan = { start: Instant; end: Instant }

type Names = Readonly<Record<Period, string>>

/** Every call asks, and all of a day are answered alike. */
let known: { day: string; names: Names } = { day: '', names: { day: '', week: '', month: '' } }

/** The names of the three periods that hold a moment. */
export function namePeriods(at: Instant): Names {
  if (at.startsWith(known.day) && known.day !== '') return known.names
  const day = at.slice(0, 10)
  const namePeriod = (period: Period) => `${computeSpan(period, at).start.slice(0, 10)}/${period}`
  known = {
    day,
    names: { day: namePeriod('day'), week: namePeriod('week'), month: namePeriod('month') },
  }
  return known.names
}

export function computeSpan(period: Period, at: Instant): PeriodSpan {
  const midnightMs = Date.parse(`${at.slice(0, 10)}T00:00:00.000Z`)
  const midnight = new Date(midnightMs)
  if (period === 'month') {
    const computeMonthStart = (offset: number) =>
      Date.UTC(midnight.getUTCFullYear(), midnight.getUTCMonth() + offset, 1)
    return span(computeMonthStart(0), computeMonthStart(1))
  }
  if (period === 'day') return span(midnightMs, midnightMs + DAY_MS)
  // Sunday is 0, and a week's last day.
  const monday = midnightMs - ((midnight.getUTCDay() + 6) % 7) * DAY_MS
  return span(monday, monday + 7 * DAY_MS)
}

function span(startMs: number, endMs: number): PeriodSpan {
  return { start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString() }
}
