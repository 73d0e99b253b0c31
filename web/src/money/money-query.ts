import { api, request } from '../api/client.ts'
import { endlessQuery } from '../api/endless-query.ts'
import { readQuery } from '../api/queries.ts'
import type {
  InvoiceStatus,
  MetricInterval,
  MetricName,
  MovementType,
  SubscriptionChangeKind,
  UsageOutcome,
} from '../api/types.ts'
import { saveFile } from '../components/save-file.ts'
import type { Span } from '../usage/days.ts'

export function metricsQuery(
  span: Span,
  { interval, names }: { interval?: MetricInterval; names?: readonly MetricName[] },
) {
  const query = { ...span, interval, names: names?.join(',') }
  return {
    ...readQuery(['money', 'metrics', query], '/api/admin/metrics', { query }),
    staleTime: 0,
  }
}

const PAGE = 50

/** Payments, refunds and lost disputes, newest first. */
export function movementsQuery(span: Span, type: MovementType | undefined, limit = PAGE) {
  return endlessQuery(['money', 'movements', span, type, limit], (cursor, signal) =>
    api.get('/api/admin/movements', { query: { ...span, type, limit, cursor }, signal }),
  )
}

export function changesQuery(span: Span, kind: SubscriptionChangeKind | undefined, limit = PAGE) {
  return endlessQuery(['money', 'changes', span, kind, limit], (cursor, signal) =>
    api.get('/api/admin/subscription-changes', { query: { ...span, kind, limit, cursor }, signal }),
  )
}

export function invoicesQuery(status: InvoiceStatus | undefined) {
  return endlessQuery(['money', 'invoices', status], (cursor, signal) =>
    api.get('/api/admin/invoices', { query: { status, limit: PAGE, cursor }, signal }),
  )
}

/** The calls of all users, newest first. */
export function allCallsQuery(span: Span, outcome: UsageOutcome | undefined) {
  return endlessQuery(['money', 'calls', span, outcome], (cursor, signal) =>
    api.get('/api/admin/calls', { query: { ...span, outcome, limit: PAGE, cursor }, signal }),
  )
}

export function allDocumentsQuery(span: Span) {
  return endlessQuery(['money', 'documents', span], (cursor, signal) =>
    api.get('/api/admin/documents', { query: { ...span, limit: PAGE, cursor }, signal }),
  )
}

export async function downloadMovements(query: Span): Promise<void> {
  await saveFile(
    await request('GET', '/api/admin/movements.csv', { query, accept: 'text/csv' }),
    `money-${query.from}-${query.to}.csv`,
  )
}

export async function downloadMetrics(span: Span, interval: MetricInterval): Promise<void> {
  await saveFile(
    await request('GET', '/api/admin/metrics.csv', {
      query: { ...span, interval },
      accept: 'text/csv',
    }),
    `metrics-${span.from}-${span.to}.csv`,
  )
}
