/** A user's invoices with their pages and PDFs, as the processor lists them now: its addresses run out, so none is kept. */
import type { Stripe } from 'stripe'
import { type Static, Type } from 'typebox'
import { Instant, Nullable } from '#platform/http/schema.ts'
import { inUnits } from '#platform/money.ts'
import { instantOf } from './accounts.ts'
import { customersOf } from './customers.ts'
import type { BillingDeps } from './deps.ts'
import { asking, requireProcessor, unlessMissing } from './processor.ts'

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
    pay_url: Nullable(Type.String({ description: 'The processor’s page of it, where an open one is paid' })),
    pdf_url: Nullable(Type.String()),
  },
  { title: 'Invoice' },
)
export type InvoiceView = Static<typeof InvoiceView>

const LISTED_MAX = 100

/** Of all customers that the user ever had, the newest first. @throws Problem 502 or 503 when the processor does not answer. */
export async function listInvoices(
  deps: Pick<BillingDeps, 'db' | 'processor'>,
  userId: string,
): Promise<InvoiceView[]> {
  return (await readInvoices(deps, userId)).map((invoice) => ({
    id: invoice.id,
    number: invoice.number,
    status: invoice.status ?? 'open',
    created_at: instantOf(invoice.created),
    description: invoice.lines.data.at(-1)?.description ?? null,
    total: inUnits(invoice.total, invoice.currency),
    due: inUnits(invoice.status === 'open' ? invoice.amount_remaining : 0, invoice.currency),
    currency: invoice.currency,
    pay_url: invoice.hosted_invoice_url ?? null,
    pdf_url: invoice.invoice_pdf ?? null,
  }))
}

export async function readInvoices(
  deps: Pick<BillingDeps, 'db' | 'processor'>,
  userId: string,
): Promise<Stripe.Invoice[]> {
  const { invoices } = requireProcessor(deps.processor)
  const customers = await customersOf(deps.db, userId)
  const lists = await asking(
    Promise.all(
      customers.map(({ customer_id: customer }) => unlessMissing(invoices.list({ customer, limit: LISTED_MAX }))),
    ),
  )
  return lists
    .flatMap((list) => list?.data ?? [])
    .filter(({ status }) => status !== 'draft')
    .sort((a, b) => b.created - a.created)
    .slice(0, LISTED_MAX)
}
