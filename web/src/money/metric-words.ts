/** How metrics are named, formatted and compared, and which rows are behind them. */

import { inUnits } from '#platform/money.ts'
import type { MetricName, MetricTotal, SubscriptionChangeKind, UsageOutcome } from '../api/types.ts'
import { formatCompact, formatCount, formatDuration } from '../components/format.ts'
import { dollarLocale, locale } from '../language/language.ts'
import { t } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'

/** The page with the rows behind a metric. */
export type Rows =
  | { to: '/run/money'; search: { view: 'movements'; type?: 'payment' | 'refund' | 'dispute' } }
  | { to: '/run/money'; search: { view: 'changes'; kind?: SubscriptionChangeKind } }
  | { to: '/run/money'; search: { view: 'usage'; group_by: 'model' } }
  | { to: '/run/money'; search: { view: 'calls'; outcome?: UsageOutcome } }
  | { to: '/run/money'; search: { view: 'documents' } }
  | { to: '/customers'; search: { status?: 'active' } }
  | { to: '/shop/orders'; search: Record<never, never> }

type Words = { label: string; rows: Rows; isBetterLower?: boolean }

const changes = (kind?: SubscriptionChangeKind): Rows => ({
  to: '/run/money',
  search: { view: 'changes', ...(kind && { kind }) },
})
const calls = (outcome?: UsageOutcome): Rows => ({
  to: '/run/money',
  search: { view: 'calls', ...(outcome && { outcome }) },
})
const movements = (type?: 'refund'): Rows => ({
  to: '/run/money',
  search: { view: 'movements', ...(type && { type }) },
})
const PAYING: Rows = { to: '/customers', search: { status: 'active' } }

export const METRIC_WORDS: Record<MetricName, Words> = {
  revenue: { label: t('Revenue'), rows: movements() },
  refunds: {
    label: t('Refunds and lost disputes'),
    rows: movements('refund'),
    isBetterLower: true,
  },
  model_cost: {
    label: t('Model cost'),
    rows: { to: '/run/money', search: { view: 'usage', group_by: 'model' } },
    isBetterLower: true,
  },
  gross_margin: { label: t('Gross margin'), rows: movements() },
  margin_percent: { label: t('Margin'), rows: movements() },
  mrr: { label: 'MRR', rows: PAYING },
  new_mrr: { label: t('New MRR'), rows: changes('new') },
  expansion: { label: t('Expansion'), rows: changes('expansion') },
  contraction: { label: t('Contraction'), rows: changes('contraction'), isBetterLower: true },
  churned_mrr: { label: t('Churned MRR'), rows: changes('churned'), isBetterLower: true },
  active_accounts: { label: t('Paying accounts'), rows: PAYING },
  new_accounts: { label: t('New paying accounts'), rows: changes('new') },
  churned_accounts: { label: t('Churned accounts'), rows: changes('churned'), isBetterLower: true },
  churn_rate: { label: t('Churn rate'), rows: changes('churned'), isBetterLower: true },
  trials: { label: t('Accounts in a trial'), rows: changes('trial_started') },
  trial_conversion: { label: t('Trial conversion'), rows: changes('trial_converted') },
  checkout_conversion: {
    label: t('Checkout conversion'),
    rows: { to: '/shop/orders', search: {} },
  },
  signups: { label: t('Sign-ups'), rows: { to: '/customers', search: {} } },
  documents: {
    label: t('Documents added'),
    rows: { to: '/run/money', search: { view: 'documents' } },
  },
  calls: { label: t('Calls'), rows: calls() },
  failure_rate: { label: t('Failed calls'), rows: calls('failed'), isBetterLower: true },
  ttft_p95: { label: t('First token, 95th percentile'), rows: calls('ok'), isBetterLower: true },
}

/** The table of metrics has them in this order. */
export const METRIC_GROUPS: readonly { label: string; names: readonly MetricName[] }[] = [
  {
    label: t('Revenue and margin'),
    names: ['revenue', 'refunds', 'model_cost', 'gross_margin', 'margin_percent'],
  },
  {
    label: t('Recurring revenue'),
    names: ['mrr', 'new_mrr', 'expansion', 'contraction', 'churned_mrr'],
  },
  {
    label: t('Accounts'),
    names: ['active_accounts', 'new_accounts', 'churned_accounts', 'churn_rate', 'signups'],
  },
  { label: t('Conversion'), names: ['trials', 'trial_conversion', 'checkout_conversion'] },
  { label: t('Use'), names: ['calls', 'failure_rate', 'ttft_p95', 'documents'] },
]

/** Returns the link's parameters; rows of Money are those of the last days. */
export const linkRows = (rows: Rows, days: number) =>
  rows.to === '/run/money'
    ? { to: rows.to, search: { ...rows.search, days: days === 30 ? undefined : days } }
    : rows

type Measured = Pick<MetricTotal, 'unit' | 'currency'>

/** Formats a value; null is unknown. */
export function formatMetric({ unit, currency }: Measured, value: number | null): string {
  if (value === null) return '–'
  if (unit === 'money') return formatAmount(value, currency ?? 'usd')
  if (unit === 'percent') return `${value.toLocaleString(locale, { maximumFractionDigits: 1 })} %`
  return unit === 'milliseconds' ? formatDuration(value) : formatCount(value)
}

/** Formats a value for the axis of a chart. */
export function formatTick(measured: Measured, value: number): string {
  const { unit, currency } = measured
  if (unit === 'count') return formatCompact(value)
  if (unit !== 'money') return formatMetric(measured, value)
  return new Intl.NumberFormat(dollarLocale, {
    style: 'currency',
    currency: currency ?? 'usd',
    notation: 'compact',
    maximumFractionDigits: 1,
  }).format(inUnits(value, currency ?? 'usd'))
}

/**
 * Returns the change from the span before: `+12 %`, or `+2.5 points` for percentages. Null when
 * there is nothing to compare.
 */
export function formatChange(
  { unit }: Measured,
  value: number | null,
  before: number | null,
): string | null {
  if (value === null || before === null || value === before) return null
  if (unit === 'percent') return t('{0} points', formatSigned(value - before, 1))
  return before > 0 ? `${formatSigned((100 * (value - before)) / before, 0)} %` : null
}

/** Returns whether the change since the span before is good news; null without a change. */
export function isImprovement(
  name: MetricName,
  value: number | null,
  before: number | null,
): boolean | null {
  if (value === null || before === null || value === before) return null
  return value > before !== (METRIC_WORDS[name].isBetterLower ?? false)
}

/** English writes a hyphen for the minus sign, which is too short beside a plus sign. */
function formatSigned(value: number, digits: number): string {
  return value
    .toLocaleString(locale, { maximumFractionDigits: digits, signDisplay: 'exceptZero' })
    .replace('-', '−')
}

/** `revenue usd`: metrics of money have one line for each currency. */
export const nameLine = ({ name, currency }: Pick<MetricTotal, 'name' | 'currency'>) =>
  currency === null ? name : `${name} ${currency}`

/** Adds the currency where a metric has several. */
export function labelLine(
  line: Pick<MetricTotal, 'name' | 'currency'>,
  lines: readonly Pick<MetricTotal, 'name' | 'currency'>[],
): string {
  const { label } = METRIC_WORDS[line.name]
  const isAlone = lines.filter(({ name }) => name === line.name).length === 1
  return isAlone ? label : `${label}, ${line.currency?.toUpperCase()}`
}
