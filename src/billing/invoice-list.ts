/** A user's invoices with their pages and PDFs, as the processor lists them now: its addresses run out, so none is kept. */
import type { Stripe } from 'stripe'
import { type Static, Type } from 'typebox'
import type { Db } from '#platform/db/db.ts'
import { Instant, Nullable } from '#platform/http/schema.ts'
import { inUnits } from '#platform/money.ts'
import { instantOf } from './accounts.ts'
import { customersOf } from './customers.ts'
import type { BillingDeps } from './deps.ts'
import './money/tables.ts'
import { at, listOf, number, text } from './object-reader.ts'
import { asking, requireProcessor, unlessMissing, withinPatience } from './processor.ts'

export const InvoiceView = Type.Object(
  {
    id: Type.String(),
    number: Nullable(Type.String()),
    status: Type.String({ description: '`open`, `paid`, `void` or `uncollectible`' }),
    created_at: Instant,
    description: Nullable(Type.String()),
    total: Type.Number({ description: 'In units of the currency' }),
    due: Type.Number({ description: 'What of it is not paid' }),
    currency: Type.String(),
    pay_url: Nullable(
      Type.String({
        description:
          'The processor’s page of it, where an open one is paid; null, as `pdf_url`, while the processor does not answer',
      }),
    ),
    pdf_url: Nullable(Type.String()),
  },
  { title: 'Invoice' },
)
export type InvoiceView = Static<typeof InvoiceView>

const LISTED_MAX = 100

/** How long the processor may take to list invoices with their links. */
const LINKS_MS = 2_500

/**
 * Of all customers that the user ever had, the newest first. While the processor does not answer, the service's own rows are listed,
 * without links. @throws Problem 503 `Billing is not configured`
 */
export async function listInvoices(
  deps: Pick<BillingDeps, 'db' | 'processor' | 'log'>,
  userId: string,
) {
  requireProcessor(deps.processor)
  try {
    return (await withinPatience(readInvoices(deps, userId), LINKS_MS)).map(shownInvoice)
  } catch (error) {
    deps.log.warn({ err: error, userId }, 'invoices are listed without the links of the processor')
    return listRows(deps.db, userId)
  }
}

function shownInvoice(invoice: Stripe.Invoice): InvoiceView {
  const currency = text(invoice, 'currency') ?? 'usd'
  const createdS = number(invoice, 'created')
  const status = text(invoice, 'status') ?? 'open'
  return {
    id: invoice.id,
    number: text(invoice, 'number'),
    status,
    created_at: instantOf(createdS ?? 0),
    description: text(listOf(at(invoice, 'lines')).at(-1), 'description'),
    total: inUnits(number(invoice, 'total') ?? 0, currency),
    due: inUnits(status === 'open' ? (number(invoice, 'amount_remaining') ?? 0) : 0, currency),
    currency,
    pay_url: text(invoice, 'hosted_invoice_url'),
    pdf_url: text(invoice, 'invoice_pdf'),
  }
}

async function listRows(db: Db, userId: string): Promise<InvoiceView[]> {
  const rows = await db
    .selectFrom('invoices')
    .selectAll()
    .where('user_id', '=', userId)
    .where('status', '!=', 'draft')
    .orderBy('created_at', 'desc')
    .limit(LISTED_MAX)
    .execute()
  return rows.map(
    ({ id, number: label, status, created_at, total_cents, paid_cents, currency }) => ({
      id,
      number: label,
      status,
      created_at,
      currency,
      description: null,
      pay_url: null,
      pdf_url: null,
      total: inUnits(total_cents, currency),
      due: inUnits(status === 'open' ? total_cents - paid_cents : 0, currency),
    }),
  )
}

export async function readInvoices(
  deps: Pick<BillingDeps, 'db' | 'processor'>,
  userId: string,
): Promise<Stripe.Invoice[]> {
  const { invoices } = requireProcessor(deps.processor)
  const customers = await customersOf(deps.db, userId)
  const lists = await asking(
    Promise.all(
      customers.map(({ customer_id: customer }) =>
        unlessMissing(invoices.list({ customer, limit: LISTED_MAX })),
      ),
    ),
  )
  return lists
    .flatMap((list) => list?.data ?? [])
    .filter(({ status }) => status !== 'draft')
    .sort((a, b) => b.created - a.created)
    .slice(0, LISTED_MAX)
}
