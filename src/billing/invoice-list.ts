/**
 * A user's invoices, from the database; the links to their pages and PDFs are resolved when
 * clicked.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Stripe } from 'stripe'
import { type Static, Type } from 'typebox'
import { findUser } from '#identity/users.ts'
import { HOUR_MS, plus } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { Instant, Nullable } from '#platform/http/schema.ts'
import { inUnits } from '#platform/money.ts'
import { platformProblem } from '#platform/problems.ts'
import { findAccount, updateAccount } from './accounts.ts'
import { listCustomers } from './customers.ts'
import type { BillingDeps } from './deps.ts'
import { lockAndSaveInvoice, WITH_PAYMENTS } from './money/invoices.ts'
import './money/tables.ts'
import { readText } from './object-reader.ts'
import { mapProcessorErrors, nullIfMissing, requireProcessor, withTimeout } from './processor.ts'

export const InvoiceView = Type.Object(
  {
    id: Type.String(),
    number: Nullable(Type.String()),
    status: Type.String({ description: '`open`, `paid`, `void` or `uncollectible`' }),
    created_at: Instant,
    description: Nullable(Type.String()),
    total: Type.Number({ description: 'In units of the currency' }),
    due: Type.Number({ description: 'The unpaid part' }),
    currency: Type.String(),
    pay_url: Nullable(
      Type.String({
        description: 'Redirects to the processor’s page of the invoice, where an open one is paid',
      }),
    ),
    pdf_url: Nullable(Type.String({ description: 'Redirects to the PDF' })),
  },
  { title: 'Invoice' },
)
export type InvoiceView = Static<typeof InvoiceView>

const LISTED_MAX = 100
/** Minimum interval between the reads that a user's visits enqueue. */
const READ_AGAIN_MS = HOUR_MS
export const READ_INVOICES_JOB = 'billing.read-invoices'

/**
 * Returns the invoices of all the customers that the user ever had, newest first, from the
 * service's rows. A job reads rows that events have missed, so nobody waits for the processor.
 * @throws Problem 503 `Billing is not configured`
 */
export async function listInvoices(deps: BillingDeps, userId: string): Promise<InvoiceView[]> {
  requireProcessor(deps.processor)
  await enqueueReading(deps, userId)
  const rows = await deps.db
    .selectFrom('invoices')
    .selectAll()
    .where('user_id', '=', userId)
    .where('status', '!=', 'draft')
    .orderBy('created_at', 'desc')
    // The processor's times are whole seconds.
    .orderBy('number', 'desc')
    .limit(LISTED_MAX)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    number: row.number,
    status: row.status,
    created_at: row.created_at,
    description: row.description,
    total: inUnits(row.total_cents, row.currency),
    due: inUnits(row.status === 'open' ? row.total_cents - row.paid_cents : 0, row.currency),
    currency: row.currency,
    pay_url: buildLink(deps, row.id, 'page'),
    pdf_url: buildLink(deps, row.id, 'pdf'),
  }))
}

async function enqueueReading(
  { db, clock, jobs }: Pick<BillingDeps, 'db' | 'clock' | 'jobs'>,
  userId: string,
): Promise<void> {
  const account = await findAccount(db, userId)
  const freshAfter = plus(clock.now(), -READ_AGAIN_MS)
  if (!account || (account.invoices_read_at !== null && account.invoices_read_at > freshAfter))
    return
  await jobs.enqueue(db, READ_INVOICES_JOB, { userId }, { key: `${READ_INVOICES_JOB}:${userId}` })
}

/** Reads and saves every invoice that the processor lists for the user's customers. */
export async function saveUserInvoices(deps: BillingDeps, userId: string): Promise<void> {
  const { db, clock, processor } = deps
  const { invoices } = requireProcessor(processor)
  for (const { customer_id: customer } of await listCustomers(db, userId)) {
    const expand = [`data.${WITH_PAYMENTS}`]
    const list = await nullIfMissing(invoices.list({ customer, limit: LISTED_MAX, expand }))
    for (const invoice of list?.data ?? []) await lockAndSaveInvoice(deps, invoice)
  }
  await transaction(db, async (tx) => {
    if (await findUser(tx, userId))
      await updateAccount(tx, userId, { invoices_read_at: clock.now() })
  })
}

/** The processor's URLs of the page and the PDF expire, so links are resolved when clicked. */
export const INVOICE_DOCUMENTS = ['page', 'pdf'] as const
export type InvoiceDocument = (typeof INVOICE_DOCUMENTS)[number]

/** Links open without a session, as the processor's own links do. */
function buildLink(
  { config, secrets }: Pick<BillingDeps, 'config' | 'secrets'>,
  id: string,
  document: InvoiceDocument,
): string {
  const token = secrets.hash('invoice-link', id)
  return `${config.urls.base}/api/billing/invoices/${id}/${document}?token=${token}`
}

/** Returns the processor's URL of the document. @throws Problem 404 `Not Found` */
export async function findDocument(
  { secrets, processor }: Pick<BillingDeps, 'secrets' | 'processor'>,
  { id, document, token }: { id: string; document: InvoiceDocument; token: string },
): Promise<string> {
  const [given, wanted] = [Buffer.from(token), Buffer.from(secrets.hash('invoice-link', id))]
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
    throw platformProblem('not_found')
  const { invoices } = requireProcessor(processor)
  const invoice = await withTimeout(mapProcessorErrors(nullIfMissing(invoices.retrieve(id))))
  const url = readText(invoice, document === 'pdf' ? 'invoice_pdf' : 'hosted_invoice_url')
  if (url === null) throw platformProblem('not_found')
  return url
}

export async function readInvoices(
  deps: Pick<BillingDeps, 'db' | 'processor'>,
  userId: string,
): Promise<Stripe.Invoice[]> {
  const { invoices } = requireProcessor(deps.processor)
  const customers = await listCustomers(deps.db, userId)
  const lists = await mapProcessorErrors(
    Promise.all(
      customers.map(({ customer_id: customer }) =>
        nullIfMissing(invoices.list({ customer, limit: LISTED_MAX })),
      ),
    ),
  )
  return lists
    .flatMap((list) => list?.data ?? [])
    .filter(({ status }) => status !== 'draft')
    .sort((a, b) => b.created - a.created)
    .slice(0, LISTED_MAX)
}
