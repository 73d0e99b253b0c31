/** The operator's payments, refunds, disputes and invoices: the rows behind revenue. */
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { INVOICE_STATUSES, listAllInvoices } from '#billing/money/invoices.ts'
import { listMovementPage, MOVEMENT_TYPES } from '#billing/money/revenue.ts'
import { findEmails } from '#identity/admin/administration.ts'
import type { App } from '#platform/http/app.ts'
import { nextCursor } from '#platform/http/keyset.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { exportMovements } from '#storefront/orders/movement-csv.ts'
import type { Listed } from '#storefront/products/product-list.ts'
import { findByPayments } from '#storefront/purchases/store.ts'
import { adminRoute } from './admin-route.ts'
import { describeCsv, readMetricSpan, SPAN } from './metrics/query.ts'
import { readInstants } from './metrics/windows.ts'

const PAGE = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  cursor: Type.Optional(Type.String({ maxLength: 300 })),
}
const Cents = Type.Integer({ description: 'In minor units of the currency' })

const PERSON = {
  user_id: Nullable(Type.String({ description: 'Null after the account’s deletion' })),
  email: Nullable(Type.String()),
  tier: Nullable(Type.String()),
  currency: Type.String(),
}

const Movements = Type.Object({
  movements: Type.Array(
    Type.Object(
      {
        at: Instant,
        type: OneOf(...MOVEMENT_TYPES),
        id: Type.String({ description: 'The id at the processor' }),
        payment_id: Type.String(),
        invoice: Nullable(Type.String({ description: 'The number of the invoice' })),
        order_id: Nullable(Type.String({ description: 'The purchase that the payment paid' })),
        kind: OneOf('purchase', 'subscription'),
        ...PERSON,
        amount_cents: Cents,
        tax_cents: Type.Integer({ description: 'Included in `amount_cents`' }),
      },
      { title: 'Movement' },
    ),
  ),
  next_cursor: Nullable(Type.String()),
})

const Invoices = Type.Object({
  invoices: Type.Array(
    Type.Object(
      {
        id: Type.String({ description: 'The id at the processor' }),
        number: Nullable(Type.String()),
        status: Type.String(),
        ...PERSON,
        total_cents: Cents,
        paid_cents: Cents,
        payment_id: Nullable(Type.String()),
        created_at: Instant,
      },
      { title: 'AdminInvoice' },
    ),
  ),
  next_cursor: Nullable(Type.String()),
})

export function adminMoneyRoutes(
  app: App,
  { config, db, clock, productList }: Pick<Platform, 'config' | 'db' | 'clock'> & Listed,
): void {
  app.get(
    '/api/admin/movements',
    adminRoute('listMovements', 'List payments, refunds and lost disputes, newest first', {
      description:
        'Amounts that leave the seller are negative. The amounts without tax sum up to `revenue`.',
      querystring: Type.Object({
        ...SPAN,
        type: Type.Optional(Named('MovementType', OneOf(...MOVEMENT_TYPES))),
        ...PAGE,
      }),
      response: { 200: Movements },
    }),
    async ({ query: { type, limit, cursor, ...asked } }) => {
      const span = readInstants(readMetricSpan(clock, asked))
      const rows = await listMovementPage(db, span, { type, cursor, limit })
      const [emails, purchases] = await Promise.all([
        findEmails(db, listUserIds(rows)),
        findByPayments(
          db,
          rows.map(({ payment_id }) => payment_id),
        ),
      ])
      return {
        movements: rows.map(({ type, ...row }) => ({
          ...row,
          type: type as (typeof MOVEMENT_TYPES)[number],
          email: emails.get(row.user_id ?? '') ?? null,
          order_id: purchases.get(row.payment_id)?.id ?? null,
        })),
        next_cursor: nextCursor(rows, limit),
      }
    },
  )

  app.get(
    '/api/admin/movements.csv',
    adminRoute(
      'exportMovements',
      'Download payments, refunds, lost disputes and fees as CSV',
      { querystring: Type.Object(SPAN) },
      { described: describeCsv('A CSV file (RFC 4180), oldest first, in units of the currency.') },
    ),
    ({ query }, reply) => {
      const span = readMetricSpan(clock, query)
      const lines = exportMovements({ config, db, productList }, readInstants(span))
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="money-${span.from}-${span.to}.csv"`)
        .send(Readable.from(lines, { objectMode: false }))
    },
  )

  app.get(
    '/api/admin/invoices',
    adminRoute('listAllInvoices', 'List invoices of all customers, newest first', {
      querystring: Type.Object({
        status: Type.Optional(Named('InvoiceStatus', OneOf(...INVOICE_STATUSES))),
        ...PAGE,
      }),
      response: { 200: Invoices },
    }),
    async ({ query: { status, limit, cursor } }) => {
      const rows = await listAllInvoices(db, { status, cursor, limit })
      const emails = await findEmails(db, listUserIds(rows))
      return {
        invoices: rows.map((row) => ({ ...row, email: emails.get(row.user_id ?? '') ?? null })),
        next_cursor: nextCursor(rows, limit),
      }
    },
  )
}

const listUserIds = (rows: readonly { user_id: string | null }[]) => [
  ...new Set(rows.flatMap(({ user_id }) => user_id ?? [])),
]
