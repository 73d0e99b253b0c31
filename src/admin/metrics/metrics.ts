/** Computes metrics for the intervals of a span, the span, and the span before it. */
import type { Db } from '#platform/db/db.ts'
import { inUnits } from '#platform/money.ts'
import { formatCsvLine } from '#usage/csv.ts'
import type { Span } from '#usage/span.ts'
import { type Facts, readFacts } from './facts.ts'
import { MEASURES, type MetricName, type Unit } from './measures.ts'
import { computePreviousSpan, type Interval, listWindows } from './windows.ts'

export type MetricTotal = {
  name: MetricName
  unit: Unit
  currency: string | null
  value: number | null
}
export type MetricSeries = Omit<MetricTotal, 'value'> & { values: (number | null)[] }

export type Metrics = {
  /** First day of each interval. */
  starts: string[]
  series: MetricSeries[]
  totals: MetricTotal[]
  previous: MetricTotal[]
}

export async function readMetrics(
  db: Db,
  span: Span,
  { interval, names }: { interval: Interval; names: readonly MetricName[] },
): Promise<Metrics> {
  const before = computePreviousSpan(span)
  const sources = new Set(names.flatMap((name) => MEASURES[name].sources))
  const facts = await readFacts(db, { from: before.from, to: span.to }, sources)
  const lines = names.flatMap((name) => listLines(facts, name))
  const windows = listWindows(span, interval)
  const total = (line: Line, window: Span) => ({ ...line, value: compute(facts, line, window) })
  return {
    starts: windows.map(({ from }) => from),
    series: lines.map((line) => ({
      ...line,
      values: windows.map((window) => compute(facts, line, window)),
    })),
    totals: lines.map((line) => total(line, span)),
    previous: lines.map((line) => total(line, before)),
  }
}

type Line = Omit<MetricTotal, 'value'>

function listLines(facts: Facts, name: MetricName): Line[] {
  const { unit, currency } = MEASURES[name]
  const currencies = currency === 'each' ? listCurrencies(facts) : [currency]
  return currencies.map((one) => ({ name, unit, currency: one }))
}

/** Without any money, one line in dollars shows zero. */
function listCurrencies({ revenue, changes, before }: Facts): string[] {
  const found = [...revenue, ...changes, ...before].map(({ currency }) => currency)
  return found.length === 0 ? ['usd'] : [...new Set(found)].sort()
}

function compute(facts: Facts, { name, currency }: Line, window: Span): number | null {
  const value = MEASURES[name].compute(facts, window, currency ?? '')
  return value === null ? null : Math.round(value * DIGITS) / DIGITS
}

const DIGITS = 10_000

/** Formats one line for each interval, with money in units of its currency. */
export function formatMetricsCsv({ starts, series }: Metrics): string {
  const head = series.map(({ name, currency }) => (currency ? `${name}_${currency}` : name))
  const lines = starts.map((start, index) => [
    start,
    ...series.map(({ currency, values }) => {
      const value = values[index] ?? null
      return currency === null || value === null ? value : inUnits(value, currency)
    }),
  ])
  return [['start', ...head], ...lines].map(formatCsvLine).join('')
}
