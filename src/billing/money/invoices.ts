/**
 * Invoices of subscriptions and one-time sales, each read in full with the payment that paid it. An
 * invoice only advances (draft, open, then paid, void or uncollectible), so the more advanced of
 * two reads wins.
 */
import type { Selectable } from 'kysely'
import type { Stripe } from 'stripe'
import { lockUser } from '#identity/users.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import { isAfterCursor } from '#platform/http/keyset.ts'
import { toInstant } from '../accounts.ts'
import { findOwnerId } from '../customers.ts'
import { readPrices } from '../deals.ts'
import {
  listMissingFields,
  readField,
  readId,
  readList,
  readNumber,
  readText,
} from '../object-reader.ts'
import { writeSlices } from '../paid-slices.ts'
import { nullIfMissing, requireProcessor } from '../processor.ts'
import { enqueueReversalSync } from '../reversals.ts'
import { findTier } from '../subscription-state.ts'
import { lockPayment, updatePayment } from './payments.ts'
import type { MoneyDeps } from './refresh.ts'
import type { InvoiceLine, InvoicesTable } from './tables.ts'

export type InvoiceRow = Selectable<InvoicesTable>

/** Expand this in each list or retrieval to include the payments. */
export const WITH_PAYMENTS = 'payments'

/** Returns null when the processor does not have the invoice. */
export function readInvoice(
  { processor }: Pick<MoneyDeps, 'processor'>,
  id: string,
): Promise<Stripe.Invoice | null> {
  return nullIfMissing(
    requireProcessor(processor).invoices.retrieve(id, { expand: [WITH_PAYMENTS] }),
  )
}

/** Reads and saves all invoices of a subscription now, since their events may arrive later. */
export async function saveSubscriptionInvoices(
  deps: SaveDeps & Pick<MoneyDeps, 'db' | 'processor'>,
  subscription: string,
) {
  const { invoices } = requireProcessor(deps.processor)
  const { data } = await invoices.list({
    subscription,
    limit: 100,
    expand: [`data.${WITH_PAYMENTS}`],
  })
  for (const invoice of data) await lockAndSaveInvoice(deps, invoice)
}

/**
 * Calls `saveInvoice` for callers without a lock: locks the user, so that a concurrent deletion
 * finishes first.
 */
export async function lockAndSaveInvoice(
  deps: Pick<MoneyDeps, 'config' | 'clock' | 'db' | 'business' | 'log' | 'jobs'>,
  invoice: Stripe.Invoice,
): Promise<void> {
  const customerId = readId(invoice.customer)
  await transaction(deps.db, async (tx) => {
    const userId = customerId === null ? null : await findOwnerId(tx, customerId)
    if (userId !== null) await lockUser(tx, userId)
    await saveInvoice(deps, tx, invoice)
  })
}

/**
 * Saves an invoice of a known customer and the allowance that it buys. Requires a lock on the
 * user's row or account.
 */
export async function saveInvoice(deps: SaveDeps, tx: Db, invoice: Stripe.Invoice): Promise<void> {
  const saved = await writeInvoice(deps, tx, invoice)
  if (saved?.status === 'paid' && saved.user_id !== null) await writeSlices(deps, tx, saved.user_id)
}

type SaveDeps = Pick<MoneyDeps, 'config' | 'clock' | 'business' | 'log' | 'jobs'>

/** Returns the written row; null when nothing was written. */
async function writeInvoice(
  { config, clock, business, log, jobs }: SaveDeps,
  tx: Db,
  invoice: Stripe.Invoice,
): Promise<InvoiceRow | null> {
  const known = await findInvoice(tx, invoice.id, { lock: true })
  const customerId = readId(invoice.customer)
  const userId = known?.user_id ?? (customerId === null ? null : await findOwnerId(tx, customerId))
  if (!known && userId === null) return null
  const prices =
    userId === null ? config.processor.prices : await readPrices({ config }, tx, userId)
  const read = readRow(invoice, {
    userId,
    customerId: userId === null ? null : customerId,
    prices,
    now: clock.now(),
  })
  if (read.missing.length > 0)
    log.warn({ invoice: invoice.id, missing: read.missing }, 'an invoice lacks some details')
  const row = known ? fillMissing(read.row, known) : read.row
  if (known && rankStatus(known.status) > rankStatus(row.status)) return null
  const { id, ...change } = row
  await tx
    .insertInto('invoices')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(change))
    .execute()
  if (row.payment_id === null || row.paid_cents === 0) return row

  // Later refunds and disputes of the payment are read separately.
  const payment = await lockPayment(tx, row.payment_id, clock.now())
  await updatePayment({ business }, tx, payment, { tax_cents: row.tax_cents })
  // Its dispute or refund may have arrived first.
  if (payment.dispute !== null || payment.is_refunded)
    await enqueueReversalSync({ jobs }, tx, { ...payment, user_id: row.user_id })
  // The payment of a one-time sale records its own purpose.
  if (payment.kind !== null || row.subscription_id === null) return row
  await updatePayment({ business }, tx, payment, {
    user_id: row.user_id,
    customer_id: row.customer_id,
    kind: 'subscription',
    amount_cents: row.paid_cents,
    currency: row.currency,
    paid_at: row.paid_at,
  })
  return row
}

export async function findInvoice(
  db: Db,
  id: string,
  { lock = false } = {},
): Promise<InvoiceRow | null> {
  const row = db.selectFrom('invoices').selectAll().where('id', '=', id)
  return (await (lock ? forUpdate(db, row) : row).executeTakeFirst()) ?? null
}

export const INVOICE_STATUSES = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number]

/** Lists at most `limit` invoices of all users after the cursor, newest first. */
export function listAllInvoices(
  db: Db,
  {
    status,
    cursor,
    limit,
  }: { status: InvoiceStatus | undefined; cursor: string | undefined; limit: number },
) {
  return db
    .selectFrom('invoices')
    .select([
      'id',
      'number',
      'user_id',
      'tier',
      'status',
      'total_cents',
      'paid_cents',
      'currency',
      'created_at',
      'payment_id',
    ])
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
    .where(isAfterCursor(cursor))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Returns true when the listed invoice would change nothing in the saved row. */
export function isUnchanged(kept: InvoiceRow, { status, amount_paid }: Stripe.Invoice): boolean {
  return kept.status === status && kept.paid_cents === amount_paid
}

/** Fields that a row can do without. */
const DETAILS = [
  'number',
  'billing_reason',
  'status_transitions.paid_at',
  'lines.data',
  'payments.data',
  'currency',
]

type Reading = {
  userId: string | null
  customerId: string | null
  prices: MoneyDeps['config']['processor']['prices']
  now: Instant
}

/** Reads each field separately; `missing` names the absent ones. */
function readRow(invoice: Stripe.Invoice, { userId, customerId, prices, now }: Reading) {
  const priceIds = readPriceIds(invoice)
  const [createdS, paidS] = [
    readNumber(invoice, 'created'),
    readNumber(invoice, 'status_transitions', 'paid_at'),
  ]
  const status = readText(invoice, 'status') ?? 'draft'
  const created_at = createdS === null ? now : toInstant(createdS)
  const row: InvoiceRow = {
    id: invoice.id,
    user_id: userId,
    customer_id: customerId,
    subscription_id: readId(readField(invoice, 'parent', 'subscription_details', 'subscription')),
    payment_id: readPaymentId(invoice),
    price_id: priceIds[0] ?? null,
    tier: findTier(priceIds, prices),
    number: readText(invoice, 'number'),
    status,
    reason: readText(invoice, 'billing_reason'),
    total_cents: readNumber(invoice, 'total') ?? 0,
    paid_cents: readNumber(invoice, 'amount_paid') ?? 0,
    tax_cents: readList(readField(invoice, 'total_taxes')).reduce<number>(
      (sum, tax) => sum + (readNumber(tax, 'amount') ?? 0),
      0,
    ),
    currency: readText(invoice, 'currency') ?? 'usd',
    created_at,
    paid_at: paidS !== null ? toInstant(paidS) : status === 'paid' ? created_at : null,
    description: readText(readList(readField(invoice, 'lines')).at(-1), 'description'),
    lines_json: readLines(invoice),
  }
  return { row, missing: listMissingFields(invoice, DETAILS) }
}

/** Returns null when the invoice has no lines. */
function readLines(invoice: Stripe.Invoice): InvoiceLine[] | null {
  const lines = readList(readField(invoice, 'lines')).flatMap((line) => {
    const [start, end] = [readNumber(line, 'period', 'start'), readNumber(line, 'period', 'end')]
    const cents = readNumber(line, 'amount')
    if (start === null || end === null || cents === null) return []
    const details =
      readField(line, 'parent', 'subscription_item_details') ??
      readField(line, 'parent', 'invoice_item_details')
    const subscription_id =
      readId(readField(details, 'subscription')) ??
      readId(readField(invoice, 'parent', 'subscription_details', 'subscription'))
    return {
      subscription_id,
      cents,
      is_proration: readField(details, 'proration') === true,
      price_id: readId(readField(line, 'pricing', 'price_details', 'price')),
      start: toInstant(start),
      end: toInstant(end),
    }
  })
  return lines.length > 0 ? lines : null
}

/** Keeps the saved value of details that a later read lacks. */
function fillMissing(row: InvoiceRow, known: InvoiceRow): InvoiceRow {
  const lacking = Object.entries(row).filter(([, value]) => value === null)
  return {
    ...row,
    ...Object.fromEntries(lacking.map(([field]) => [field, known[field as keyof InvoiceRow]])),
  }
}

/** Returns the charged prices, or the credited ones when nothing is charged. */
function readPriceIds(invoice: Stripe.Invoice): string[] {
  const lines = readList(readField(invoice, 'lines'))
  const [charged, credited] = [true, false].map((isCharge) =>
    lines
      .filter((line) => (readNumber(line, 'amount') ?? 0) >= 0 === isCharge)
      .flatMap((line) => readId(readField(line, 'pricing', 'price_details', 'price')) ?? []),
  )
  return charged && charged.length > 0 ? charged : (credited ?? [])
}

/** Returns the payment that paid the invoice, otherwise the one that is to pay it. */
function readPaymentId(invoice: Stripe.Invoice): string | null {
  const all = readList(readField(invoice, 'payments'))
  const chosen = all.find((payment) => readText(payment, 'status') === 'paid') ?? all[0]
  return readId(readField(chosen, 'payment', 'payment_intent'))
}

const rankStatus = (status: string): number =>
  ['draft', 'open', 'uncollectible'].indexOf(status) + (isFinal(status) ? 4 : 0)
export const isFinal = (status: string) => status === 'paid' || status === 'void'
