/** The operator's metrics, and the changes of subscriptions behind them. */
import { Type } from 'typebox'
import {
  CHANGE_KINDS,
  type ChangePlace,
  listSubscriptionChanges,
} from '#billing/metrics/subscription-sums.ts'
import { findEmails } from '#identity/admin/administration.ts'
import type { App } from '#platform/http/app.ts'
import { encodeCursor, readCursor } from '#platform/http/keyset.ts'
import { Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import { adminRoute } from './admin-route.ts'
import { METRICS, type MetricName } from './metrics/measures.ts'
import { formatMetricsCsv, readMetrics } from './metrics/metrics.ts'
import { describeCsv, readMetricSpan, SPAN } from './metrics/query.ts'
import { INTERVALS } from './metrics/windows.ts'

const LINE = {
  name: Named('MetricName', OneOf(...METRICS)),
  unit: OneOf('money', 'count', 'percent', 'milliseconds'),
  currency: Nullable(Type.String({ description: 'Set for money, which is in minor units' })),
}
const Value = Nullable(Type.Number({ description: 'Null when unknown, such as a rate of nothing' }))
const Totals = Type.Array(Type.Object({ ...LINE, value: Value }, { title: 'MetricTotal' }))

const MetricQuery = Type.Object({
  ...SPAN,
  interval: Type.Optional(Named('MetricInterval', OneOf(...INTERVALS))),
  names: Type.Optional(
    Type.String({ maxLength: 500, description: 'Names separated by commas; all by default' }),
  ),
})

export function adminMetricRoutes(app: App, { db, clock }: Pick<Platform, 'db' | 'clock'>): void {
  app.get(
    '/api/admin/metrics',
    adminRoute(
      'getBusinessMetrics',
      'Compute revenue, subscriptions, costs and calls by day, week or month',
      {
        description:
          'Days are UTC; weeks begin on Monday. `mrr`, `active_accounts` and `trials` are the state at the end of each interval. Money excludes tax. `revenue` is payments less refunds and lost disputes, each on its day. `gross_margin` also subtracts fees and `model_cost`; it is null when money moved in a currency other than the dollar.',
        querystring: MetricQuery,
        response: {
          200: Type.Object(
            {
              from: Type.String(),
              to: Type.String(),
              starts: Type.Array(Type.String(), { description: 'The first day of each interval' }),
              series: Type.Array(
                Type.Object({ ...LINE, values: Type.Array(Value) }, { title: 'MetricSeries' }),
              ),
              totals: Totals,
              previous: Totals,
            },
            { title: 'BusinessMetrics' },
          ),
        },
      },
    ),
    async ({ query }) => {
      const span = readMetricSpan(clock, query)
      const names = readNames(query.names)
      return {
        ...span,
        ...(await readMetrics(db, span, { interval: query.interval ?? 'day', names })),
      }
    },
  )

  app.get(
    '/api/admin/metrics.csv',
    adminRoute(
      'exportBusinessMetrics',
      'Download metrics as CSV',
      { querystring: MetricQuery },
      {
        described: describeCsv(
          'A CSV file (RFC 4180): one line for each interval, money in units.',
        ),
      },
    ),
    async ({ query }, reply) => {
      const span = readMetricSpan(clock, query)
      const names = readNames(query.names)
      const metrics = await readMetrics(db, span, { interval: query.interval ?? 'day', names })
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="metrics-${span.from}-${span.to}.csv"`)
        .send(formatMetricsCsv(metrics))
    },
  )

  app.get(
    '/api/admin/subscription-changes',
    adminRoute(
      'listSubscriptionChanges',
      'List the changes of subscriptions behind the metrics, newest first',
      {
        querystring: Type.Object({
          ...SPAN,
          kind: Type.Optional(Named('SubscriptionChangeKind', OneOf(...CHANGE_KINDS))),
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
          cursor: Type.Optional(Type.String({ maxLength: 300 })),
        }),
        response: { 200: Changes },
      },
    ),
    async ({ query: { kind, limit, cursor, ...asked } }) => {
      const span = readMetricSpan(clock, asked)
      const after = cursor === undefined ? null : readPlace(cursor)
      const rows = await listSubscriptionChanges(db, span, { kind, after, limit })
      const emails = await findEmails(db, [...new Set(rows.map(({ owner }) => owner))])
      const last = rows.length < limit ? undefined : rows.at(-1)
      return {
        changes: rows.map(({ owner, before_state: _, after_state: __, ...row }) => ({
          ...row,
          user_id: emails.has(owner) ? owner : null,
          email: emails.get(owner) ?? null,
        })),
        next_cursor: last === undefined ? null : formatPlace(last),
      }
    },
  )
}

const Cents = Type.Integer({
  description: 'Monthly recurring revenue in minor units; 0 while there is none',
})

const Changes = Type.Object({
  changes: Type.Array(
    Type.Object(
      {
        day: Type.String(),
        user_id: Nullable(Type.String({ description: 'Null after the account’s deletion' })),
        email: Nullable(Type.String()),
        kind: OneOf(...CHANGE_KINDS),
        tier: Nullable(Type.String()),
        currency: Type.String(),
        before_cents: Cents,
        after_cents: Cents,
      },
      { title: 'SubscriptionChange' },
    ),
  ),
  next_cursor: Nullable(Type.String()),
})

function readNames(names: string | undefined): MetricName[] {
  if (names === undefined) return [...METRICS]
  return [...new Set(names.split(','))].map((text) => {
    const name = METRICS.find((known) => known === text)
    if (name === undefined) throw invalid(['query', 'names'], `Unknown metric '${text}'`)
    return name
  })
}

const formatPlace = ({ day, owner, currency }: ChangePlace) =>
  encodeCursor({ at: `${day}T00:00:00.000Z`, id: `${owner}/${currency}` })

function readPlace(cursor: string): ChangePlace {
  const { at, id } = readCursor(cursor)
  const [owner = '', currency = ''] = id.split('/')
  return { day: at.slice(0, 10), owner, currency }
}
