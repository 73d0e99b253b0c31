/**
 * Invoices of subscriptions, each read whole from the processor, with the payment that paid it. An invoice only moves on (draft, open,
 * then paid, void or uncollectible), so of two readings the one further on stands.
 */
import type { Selectable } from 'kysely'
import type { Stripe } from 'stripe'
import { lockUser } from '#identity/users.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import { instantOf } from '../accounts.ts'
import { ownerOf } from '../customers.ts'
import { pricesFor } from '../deals.ts'
import { requireProcessor, unlessMissing } from '../processor.ts'
import { tierOf } from '../subscription-state.ts'
import { lockPayment, updatePayment } from './payments.ts'
import { idOf, type MoneyDeps } from './refresh.ts'
import type { InvoicesTable } from './tables.ts'

export type InvoiceRow = Selectable<InvoicesTable>

/** To be given with each list or retrieval, so that the payments come along. */
export const WITH_PAYMENTS = 'payments'

/** Null when the processor knows no such invoice (any more). */
export function readInvoice({ processor }: Pick<MoneyDeps, 'processor'>, id: string): Promise<Stripe.Invoice | null> {
  return unlessMissing(requireProcessor(processor).invoices.retrieve(id, { expand: [WITH_PAYMENTS] }))
}

/** As `keepInvoice`, for who holds no lock of the user's: a deletion that is under way ends before this looks who is there. */
export async function keepInvoiceAlone(
  deps: Pick<MoneyDeps, 'config' | 'clock' | 'db'>,
  invoice: Stripe.Invoice,
): Promise<void> {
  const customerId = idOf(invoice.customer)
  await transaction(deps.db, async (tx) => {
    const userId = customerId === null ? null : await ownerOf(tx, customerId)
    if (userId !== null) await lockUser(tx, userId)
    await keepInvoice(deps, tx, invoice)
  })
}

/** Keeps it, unless it is none of a customer of ours; with the user's row or account locked. */
export async function keepInvoice(
  { config, clock }: Pick<MoneyDeps, 'config' | 'clock'>,
  tx: Db,
  invoice: Stripe.Invoice,
): Promise<void> {
  const known = await findInvoice(tx, invoice.id, { lock: true })
  const customerId = idOf(invoice.customer)
  const userId = known?.user_id ?? (customerId === null ? null : await ownerOf(tx, customerId))
  if (!known && userId === null) return
  const prices = userId === null ? config.processor.prices : await pricesFor({ config }, tx, userId)
  const row = rowOf(invoice, userId, userId === null ? null : customerId, prices)
  if (known && rankOf(known.status) > rankOf(row.status)) return
  const { id, ...change } = row
  await tx
    .insertInto('invoices')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(change))
    .execute()
  if (row.payment_id === null || row.paid_cents === 0) return

  // What became of it since is another reading's matter.
  const payment = await lockPayment(tx, row.payment_id, clock.now())
  if (payment.kind !== null) return
  await updatePayment(tx, row.payment_id, {
    user_id: row.user_id,
    customer_id: row.customer_id,
    kind: 'subscription',
    amount_cents: row.paid_cents,
    currency: row.currency,
    paid_at: row.paid_at,
  })
}

export async function findInvoice(db: Db, id: string, { lock = false } = {}): Promise<InvoiceRow | null> {
  const row = db.selectFrom('invoices').selectAll().where('id', '=', id)
  return (await (lock ? forUpdate(db, row) : row).executeTakeFirst()) ?? null
}

/** True when nothing of the listed invoice would change what is kept. */
export function isKept(kept: InvoiceRow, { status, amount_paid }: Stripe.Invoice): boolean {
  return kept.status === status && kept.paid_cents === amount_paid
}

function rowOf(
  invoice: Stripe.Invoice,
  userId: string | null,
  customerId: string | null,
  prices: MoneyDeps['config']['processor']['prices'],
): InvoiceRow {
  const priceIds = pricesOf(invoice)
  const { paid_at: paidAt } = invoice.status_transitions
  return {
    id: invoice.id,
    user_id: userId,
    customer_id: customerId,
    subscription_id: idOf(invoice.parent?.subscription_details?.subscription),
    payment_id: paymentOf(invoice),
    price_id: priceIds[0] ?? null,
    tier: tierOf(priceIds, prices),
    number: invoice.number,
    status: invoice.status ?? 'draft',
    reason: invoice.billing_reason,
    total_cents: invoice.total,
    paid_cents: invoice.amount_paid,
    tax_cents: (invoice.total_taxes ?? []).reduce((sum, { amount }) => sum + amount, 0),
    currency: invoice.currency,
    created_at: instantOf(invoice.created),
    paid_at: paidAt ? instantOf(paidAt) : null,
  }
}

/** What is charged for; what is given back of an older price comes after. */
function pricesOf({ lines }: Stripe.Invoice): string[] {
  const [charged, credited] = [true, false].map((isCharge) =>
    lines.data
      .filter(({ amount }) => amount >= 0 === isCharge)
      .flatMap((line) => idOf(line.pricing?.price_details?.price) ?? []),
  )
  return charged && charged.length > 0 ? charged : (credited ?? [])
}

/** The one that paid it, else the one that is to pay it. */
function paymentOf({ payments }: Stripe.Invoice): string | null {
  const all = payments?.data ?? []
  const chosen = all.find(({ status }) => status === 'paid') ?? all[0]
  return chosen ? idOf(chosen.payment.payment_intent) : null
}

const rankOf = (status: string): number =>
  ['draft', 'open', 'uncollectible'].indexOf(status) + (isFinal(status) ? 4 : 0)
const isFinal = (status: string) => status === 'paid' || status === 'void'
