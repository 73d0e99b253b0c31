import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, request } from '../api/client.ts'
import type {
  InvoiceStatus,
  MetricInterval,
  MetricName,
  MovementType,
  SubscriptionChangeKind,
  UsageOutcome,
} from '../api/types.ts'
import { saveFile } from '../components/save-file.ts'
import { listDays } from '../usage/days.ts'

export type Span = { from: string; to: string }

/** Returns the last days in UTC, including today. */
export function readSpan(days: number): Span {
  const span = listDays(new Date(), days)
  return { from: span[0] ?? '', to: span.at(-1) ?? '' }
}

export function metricsQuery(
  span: Span,
  { interval, names }: { interval?: MetricInterval; names?: readonly MetricName[] },
) {
  const query = { ...span, interval, names: names?.join(',') }
  return queryOptions({
    queryKey: ['money', 'metrics', query],
    queryFn: ({ signal }) => api.get('/api/admin/metrics', { query, signal }),
    staleTime: 0,
  })
}

const PAGE = 50

/** Pages of payments, refunds and lost disputes, newest first. */
export function movementsQuery(span: Span, type: MovementType | undefined, limit = PAGE) {
  return infiniteQueryOptions({
    queryKey: ['money', 'movements', span, type, limit],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/movements', {
        query: { ...span, type, limit, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  })
}

export function changesQuery(span: Span, kind: SubscriptionChangeKind | undefined, limit = PAGE) {
  return infiniteQueryOptions({
    queryKey: ['money', 'changes', span, kind, limit],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/subscription-changes', {
        query: { ...span, kind, limit, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  })
}

export function invoicesQuery(status: InvoiceStatus | undefined) {
  return infiniteQueryOptions({
    queryKey: ['money', 'invoices', status],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/invoices', { query: { status, limit: PAGE, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  })
}

/** Pages of the calls of all users, newest first. */
export function allCallsQuery(span: Span, outcome: UsageOutcome | undefined) {
  return infiniteQueryOptions({
    queryKey: ['money', 'calls', span, outcome],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/calls', {
        query: { ...span, outcome, limit: PAGE, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  })
}

export function allDocumentsQuery(span: Span) {
  return infiniteQueryOptions({
    queryKey: ['money', 'documents', span],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/documents', {
        query: { ...span, limit: PAGE, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  })
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
