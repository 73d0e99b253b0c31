export type Span = 'day' | 'week' | 'month'

const DAY_MS = 24 * 3_600_000

/**
 * Returns the end of a span in milliseconds. A month after January 31 is the last day of February,
 * as for the renewals of a plan.
 */
export function computeSpanEnd(from: string, span: Span): number {
  const start = new Date(from)
  if (span !== 'month') return start.getTime() + (span === 'day' ? 1 : 7) * DAY_MS
  const end = new Date(start)
  const month = start.getUTCMonth() + 1
  const lastDay = new Date(Date.UTC(start.getUTCFullYear(), month + 1, 0)).getUTCDate()
  end.setUTCMonth(month, Math.min(start.getUTCDate(), lastDay))
  return end.getTime()
}
