/** The parts of a request that routes about metrics and money share. */
import { Type } from 'typebox'
import type { Described } from '#platform/http/openapi.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import { countDays, Day, readSpan, type Span } from '#usage/span.ts'

const DAYS_MAX = 366

export const SPAN = { from: Type.Optional(Day), to: Type.Optional(Day) }

/** Returns the requested days, or the last thirty. @throws Problem 422 for more than a year */
export function readMetricSpan(
  clock: Platform['clock'],
  query: { from?: string | undefined; to?: string | undefined },
): Span {
  const span = readSpan(clock, query)
  if (countDays(span) > DAYS_MAX)
    throw invalid(['query', 'from'], `Should be at most ${DAYS_MAX} days before 'to'`)
  return span
}

export function describeCsv(description: string): Described {
  const content = { 'text/csv': Type.Unsafe<unknown>({ type: 'string' }) }
  return { replies: { 200: { description, content } } }
}
