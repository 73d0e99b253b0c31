/** The intervals of a span of UTC days. Weeks begin on Monday; the first and last may be shorter. */
import { DAY_MS, plus } from '#platform/clock.ts'
import { computeSpan } from '#usage/periods.ts'
import { countDays, type Span } from '#usage/span.ts'

export const INTERVALS = ['day', 'week', 'month'] as const
export type Interval = (typeof INTERVALS)[number]

export function listWindows({ from, to }: Span, interval: Interval): Span[] {
  const windows: Span[] = []
  for (let start = from; start <= to; ) {
    const next = computeSpan(interval, `${start}T00:00:00.000Z`).end.slice(0, 10)
    const end = addDays(next, -1)
    windows.push({ from: start, to: end < to ? end : to })
    start = next
  }
  return windows
}

/** Returns the same number of days before a span. */
export function computePreviousSpan(span: Span): Span {
  return { from: addDays(span.from, -countDays(span)), to: addDays(span.from, -1) }
}

/** Returns the instants of a span; `before` is excluded. */
export function readInstants({ from, to }: Span): { from: string; before: string } {
  return { from: `${from}T00:00:00.000Z`, before: `${addDays(to, 1)}T00:00:00.000Z` }
}

const addDays = (day: string, days: number) =>
  plus(`${day}T00:00:00.000Z`, days * DAY_MS).slice(0, 10)
