/**
 * Payments for subscriptions and purchases: one row each, with its refunds and disputes. Dependent
 * rows, such as a purchase, change in the same transaction.
 */
import type { Selectable } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import { countRows, describePage, isAfterCursor, type PageOf } from '#platform/http/keyset.ts'
import type { Platform } from '#platform/platform.ts'
import type { DisputesTable, Fee, PaymentsTable, RefundsTable } from './tables.ts'

export type PaymentRow = Selectable<PaymentsTable>

/** Updates dependent rows after a change of a payment. */
export type PaymentFollower = (tx: Db, payment: PaymentRow, before: PaymentRow) => Promise<void>

export async function findPayment(db: Db, id: string): Promise<PaymentRow | null> {
  return (
    (await db.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
  )
}

/** Returns the payments that exist, by id. */
export async function findPayments(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, PaymentRow>> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom('payments').selectAll().where('id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Returns the payment's row, inserted if missing and locked until the transaction ends. A refund
 * and its purchase that arrive together are thus handled one after the other.
 */
export async function lockPayment(tx: Db, id: string, now: Instant): Promise<PaymentRow> {
  await tx
    .insertInto('payments')
    .values({
      id,
      user_id: null,
      customer_id: null,
      kind: null,
      tier: null,
      amount_cents: 0,
      tax_cents: 0,
      currency: 'usd',
      fee_cents: null,
      fee_currency: null,
      paid_at: null,
      refunded_cents: 0,
      is_refunded: false,
      dispute: null,
      version: 0,
      seen_at: now,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  return forUpdate(
    tx,
    tx.selectFrom('payments').selectAll().where('id', '=', id),
  ).executeTakeFirstOrThrow()
}

/**
 * Stores the fee of a payment, refund or dispute when it becomes known after its row. Changes
 * nothing else.
 */
export async function fillInFee(
  db: Db,
  table: 'payments' | 'refunds' | 'disputes',
  saved: Pick<Fee, 'fee_cents'> & { id: string },
  fee: Fee,
): Promise<void> {
  if (saved.fee_cents !== null || fee.fee_cents === null) return
  await db.updateTable(table).set(fee).where('id', '=', saved.id).execute()
}

/** `known` is the row as it was locked. */
export async function updatePayment(
  { business }: Pick<Platform, 'business'>,
  tx: Db,
  known: PaymentRow,
  change: Partial<PaymentRow>,
): Promise<void> {
  await tx.updateTable('payments').set(change).where('id', '=', known.id).execute()
  const changed = { ...known, ...change }
  const { kind, currency } = changed
  if (kind === null) return
  business.paid(tx, { kind, currency, minorUnits: computePaid(changed) - computePaid(known) })
  business.refunded(tx, {
    kind,
    currency,
    minorUnits: computeRefunded(changed) - computeRefunded(known),
  })
}

/** Payments with an unknown purpose do not count as revenue yet. */
const computePaid = ({ kind, paid_at, amount_cents }: PaymentRow) =>
  kind === null || paid_at === null ? 0 : amount_cents
const computeRefunded = ({ kind, refunded_cents }: PaymentRow) =>
  kind === null ? 0 : refunded_cents

export async function saveRefund(tx: Db, row: RefundsTable): Promise<void> {
  await tx
    .insertInto('refunds')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(selectChanges(row)))
    .execute()
}

export async function saveDispute(tx: Db, row: DisputesTable): Promise<void> {
  await tx
    .insertInto('disputes')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(selectChanges(row)))
    .execute()
}

/** A fee that a later read lacks keeps its saved value. */
const selectChanges = ({ status, amount_cents, fee_cents, fee_currency }: RefundsTable) => ({
  status,
  amount_cents,
  ...(fee_cents === null ? {} : { fee_cents, fee_currency }),
})

/** Returns a payment's refunds, newest first. */
export function listRefunds(db: Db, paymentId: string) {
  return db
    .selectFrom('refunds')
    .select(['id', 'amount_cents', 'currency', 'status', 'reason', 'created_at'])
    .where('payment_id', '=', paymentId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

/** Returns a payment's disputes, newest first. */
export function listDisputes(db: Db, paymentId: string) {
  return db
    .selectFrom('disputes')
    .select(['id', 'amount_cents', 'currency', 'status', 'reason', 'created_at'])
    .where('payment_id', '=', paymentId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

const DECIDED = ['won', 'lost', 'reinstated', 'warning_closed', 'prevented']

/** Lists the disputes of all payments, newest first. `isOpen` leaves out decided or open ones. */
export async function listAllDisputes(
  db: Db,
  { page, limit, cursor }: PageOf,
  isOpen: boolean | undefined,
) {
  const found = db
    .selectFrom('disputes')
    .$if(isOpen !== undefined, (query) =>
      query.where('disputes.status', isOpen ? 'not in' : 'in', DECIDED),
    )
  const total = await countRows(db, found)
  const offset = cursor === undefined ? (page - 1) * limit : 0
  const rows = await found
    .innerJoin('payments', 'payments.id', 'disputes.payment_id')
    .select([
      'disputes.id',
      'disputes.payment_id',
      'disputes.amount_cents',
      'disputes.currency',
      'disputes.status',
      'disputes.reason',
      'disputes.created_at',
      'payments.kind',
      'payments.user_id',
    ])
    .where(isAfterCursor(cursor, ['disputes.created_at', 'disputes.id']))
    .orderBy('disputes.created_at', 'desc')
    .orderBy('disputes.id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute()
  return {
    disputes: rows.map((row) => ({ ...row, is_open: !DECIDED.includes(row.status) })),
    ...describePage(rows, total, { page, limit }),
  }
}

/**
 * Returns true if the user has a subscription payment that is neither fully refunded nor disputed.
 */
export async function hasPaid(db: Db, userId: string): Promise<boolean> {
  const paid = await db
    .selectFrom('payments')
    .select('id')
    .where('user_id', '=', userId)
    .where('kind', '=', 'subscription')
    .where('paid_at', 'is not', null)
    .where('amount_cents', '>', 0)
    .where('is_refunded', '=', false)
    .where((e) => e.or([e('dispute', 'is', null), e('dispute', '=', 'won')]))
    .limit(1)
    .executeTakeFirst()
  return paid !== undefined
}

/** Returns true while the bank holds the money. */
export async function isDisputed(db: Db, id: string): Promise<boolean> {
  return (await findPayment(db, id))?.dispute === 'open'
}

/** Accounting keeps amounts and dates; the link to the person is removed. */
export async function forgetPayer(tx: Db, userId: string): Promise<void> {
  // Locks rows in the same order as `saveInvoice`.
  for (const table of ['invoices', 'payments'] as const) {
    await tx
      .updateTable(table)
      .set({ user_id: null, customer_id: null })
      .where('user_id', '=', userId)
      .execute()
  }
}

/** Returns the user's payments for their data export. */
export async function exportPayments(db: Db, userId: string) {
  const payments = await db
    .selectFrom('payments')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('seen_at')
    .limit(EXPORTED_MAX)
    .execute()
  return payments.map(({ version, fee_cents, fee_currency, ...payment }) => payment)
}

export function exportInvoices(db: Db, userId: string) {
  return db
    .selectFrom('invoices')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .limit(EXPORTED_MAX)
    .execute()
}

const EXPORTED_MAX = 10_000
