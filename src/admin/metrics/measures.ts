/**
 * The definition of each metric. Money is in minor units without tax, and each currency counts
 * apart. A day is a UTC day.
 */
import { computePercentiles } from '#usage/operator-sums.ts'
import type { Span } from '#usage/span.ts'
import type { Facts, Source } from './facts.ts'

export const METRICS = [
  'mrr',
  'new_mrr',
  'expansion',
  'contraction',
  'churned_mrr',
  'active_accounts',
  'new_accounts',
  'churned_accounts',
  'trials',
  'trial_conversion',
  'churn_rate',
  'revenue',
  'refunds',
  'model_cost',
  'gross_margin',
  'margin_percent',
  'calls',
  'failure_rate',
  'ttft_p95',
  'documents',
  'signups',
  'checkout_conversion',
] as const
export type MetricName = (typeof METRICS)[number]

export type Unit = 'money' | 'count' | 'percent' | 'milliseconds'

export type Measure = {
  unit: Unit
  sources: readonly Source[]
  /** `each`: one value for each currency. `usd`: dollars only, because models cost dollars. */
  currency: 'each' | 'usd' | null
  /** Returns null when the value is unknown, such as a rate of nothing. */
  compute: (facts: Facts, window: Span, currency: string) => number | null
}

const money = (
  source: Source,
  compute: (facts: Facts, window: Span, currency: string) => number,
): Measure => ({ unit: 'money', sources: [source], currency: 'each', compute })
const count = (source: Source, compute: (facts: Facts, window: Span) => number): Measure => ({
  unit: 'count',
  sources: [source],
  currency: null,
  compute,
})
const percent = (
  sources: readonly Source[],
  compute: (facts: Facts, window: Span) => [part: number, whole: number],
): Measure => ({
  unit: 'percent',
  sources,
  currency: null,
  compute: (facts, window) => toPercent(...compute(facts, window)),
})

export const MEASURES: Record<MetricName, Measure> = {
  mrr: money('changes', (facts, { to }, currency) => sumState(facts, to, readRecurring, currency)),
  new_mrr: money('changes', ({ changes }, window, currency) =>
    sum(changes, window, ({ new_cents }) => new_cents, currency),
  ),
  expansion: money('changes', ({ changes }, window, currency) =>
    sum(changes, window, ({ expansion_cents }) => expansion_cents, currency),
  ),
  contraction: money('changes', ({ changes }, window, currency) =>
    sum(changes, window, ({ contraction_cents }) => contraction_cents, currency),
  ),
  churned_mrr: money('changes', ({ changes }, window, currency) =>
    sum(changes, window, ({ churned_cents }) => churned_cents, currency),
  ),
  active_accounts: count('changes', (facts, { to }) => sumState(facts, to, readPaying)),
  new_accounts: count('changes', ({ changes }, window) =>
    sum(changes, window, ({ new_accounts }) => new_accounts),
  ),
  churned_accounts: count('changes', ({ changes }, window) =>
    sum(changes, window, ({ churned_accounts }) => churned_accounts),
  ),
  trials: count('changes', (facts, { to }) => sumState(facts, to, ({ trials }) => trials)),
  trial_conversion: percent(['changes'], ({ changes }, window) => {
    const converted = sum(changes, window, ({ trials_converted }) => trials_converted)
    return [converted, converted + sum(changes, window, ({ trials_ended }) => trials_ended)]
  }),
  churn_rate: percent(['changes'], (facts, window) => [
    sum(facts.changes, window, ({ churned_accounts }) => churned_accounts),
    sumState(facts, window.from, readPaying) - sum(facts.changes, toSpan(window.from), readPaying),
  ]),
  revenue: money('revenue', computeRevenue),
  refunds: money('revenue', ({ revenue }, window, currency) =>
    sum(revenue, window, (row) => row.refunded_cents + row.lost_cents, currency),
  ),
  model_cost: {
    unit: 'money',
    sources: ['usage'],
    currency: 'usd',
    compute: computeModelCost,
  },
  gross_margin: {
    unit: 'money',
    sources: ['revenue', 'usage'],
    currency: 'usd',
    compute: computeMargin,
  },
  margin_percent: {
    unit: 'percent',
    sources: ['revenue', 'usage'],
    currency: null,
    compute(facts, window) {
      const margin = computeMargin(facts, window)
      return margin === null ? null : toPercent(margin, computeRevenue(facts, window, 'usd'))
    },
  },
  calls: count('usage', ({ usage }, window) => sum(usage, window, ({ requests }) => requests)),
  failure_rate: percent(['usage'], ({ usage }, window) => [
    sum(usage, window, ({ failed }) => failed),
    sum(usage, window, ({ requests }) => requests),
  ]),
  ttft_p95: {
    unit: 'milliseconds',
    sources: ['firstTokens'],
    currency: null,
    compute: ({ firstTokens }, window) =>
      computePercentiles(firstTokens.filter((row) => isInside(row, window)).map(({ ms }) => ms))
        ?.p95 ?? null,
  },
  documents: count('documents', (facts, window) =>
    sum(facts.documents, window, ({ documents }) => documents),
  ),
  signups: count('users', ({ signUps }, window) => sum(signUps, window, ({ users }) => users)),
  checkout_conversion: percent(['checkouts'], ({ checkouts }, window) => [
    sum(checkouts, window, ({ completed }) => completed),
    sum(checkouts, window, ({ opened }) => opened),
  ]),
}

/** Payments less refunds and lost disputes, each on its day. */
function computeRevenue({ revenue }: Facts, window: Span, currency: string): number {
  return sum(
    revenue,
    window,
    (row) => row.paid_cents - row.refunded_cents - row.lost_cents,
    currency,
  )
}

const NANOS_PER_CENT = 1e7

function computeModelCost({ usage, archived }: Facts, window: Span): number {
  const nanos = ({ cost_nanos }: { cost_nanos: number }) => cost_nanos
  return (sum(usage, window, nanos) + sum(archived, window, nanos)) / NANOS_PER_CENT
}

/** Revenue less fees and model cost; null when money in other currencies moved. */
function computeMargin(facts: Facts, window: Span): number | null {
  const isInDollars = facts.revenue.every((row) => row.currency === 'usd' || !isInside(row, window))
  if (!isInDollars) return null
  const fees = sum(facts.revenue, window, ({ fee_cents }) => fee_cents)
  return computeRevenue(facts, window, 'usd') - fees - computeModelCost(facts, window)
}

type Change = Facts['before'][number]
const readPaying = ({ new_accounts, churned_accounts }: Change) => new_accounts - churned_accounts
const readRecurring = (row: Change) =>
  row.new_cents + row.expansion_cents - row.contraction_cents - row.churned_cents

/** Sums all changes up to the end of a day. */
function sumState(
  { before, changes }: Facts,
  day: string,
  read: (row: Change) => number,
  currency?: string,
): number {
  const earlier = before
    .filter((row) => currency === undefined || row.currency === currency)
    .reduce((total, row) => total + read(row), 0)
  return earlier + sum(changes, { from: '', to: day }, read, currency)
}

type Row = { day: string; currency?: string }

function sum<T extends Row>(
  rows: readonly T[],
  window: Span,
  read: (row: T) => number,
  currency?: string,
): number {
  let total = 0
  for (const row of rows) {
    if (isInside(row, window) && (currency === undefined || row.currency === currency))
      total += read(row)
  }
  return total
}

const isInside = ({ day }: Row, { from, to }: Span) => day >= from && day <= to
const toSpan = (day: string): Span => ({ from: day, to: day })
const toPercent = (part: number, whole: number) => (whole > 0 ? (100 * part) / whole : null)
