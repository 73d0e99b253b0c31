/**
 * Payments, for subscriptions and purchases alike: one row each, with what was taken back of it. What hangs on a payment (a purchase)
 * follows it in the same transaction.
 */
import type { Selectable } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { DisputesTable, Fee, PaymentsTable, RefundsTable } from './tables.ts'

export type PaymentRow = Selectable<PaymentsTable>

/** Lets what hangs on a payment follow a change of it. */
export type PaymentFollower = (tx: Db, payment: PaymentRow, before: PaymentRow) => Promise<void>

export async function findPayment(db: Db, id: string): Promise<PaymentRow | null> {
  return (
    (await db.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
  )
}

/**
 * The payment's row, made when missing and locked until the transaction ends: a refund and the purchase it belongs to, arriving at
 * the same moment, are handled one after the other.
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

/** `known`: the row as it was locked. */
/** Stores the processor's fee when it becomes known after the payment. Changes nothing else. */
export async function writeFee(db: Db, id: string, fee: Fee): Promise<void> {
  await db.updateTable('payments').set(fee).where('id', '=', id).execute()
}

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
  business.paid(tx, { kind, currency, minorUnits: paidOf(changed) - paidOf(known) })
  business.refunded(tx, { kind, currency, minorUnits: refundedOf(changed) - refundedOf(known) })
}

/** What is nobody's we know is none of ours yet. */
const paidOf = ({ kind, paid_at, amount_cents }: PaymentRow) =>
  kind === null || paid_at === null ? 0 : amount_cents
const refundedOf = ({ kind, refunded_cents }: PaymentRow) => (kind === null ? 0 : refunded_cents)

export async function keepRefund(tx: Db, row: RefundsTable): Promise<void> {
  await tx
    .insertInto('refunds')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(changesOf(row)))
    .execute()
}

export async function keepDispute(tx: Db, row: DisputesTable): Promise<void> {
  await tx
    .insertInto('disputes')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(changesOf(row)))
    .execute()
}

/** A fee that a later reading lacks stays as it was. */
const changesOf = ({ status, amount_cents, fee_cents, fee_currency }: RefundsTable) => ({
  status,
  amount_cents,
  ...(fee_cents === null ? {} : { fee_cents, fee_currency }),
})

/** True once a payment for a subscription has come in and stayed: neither refunded in full nor disputed. */
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

/** True while the bank holds the money. */
export async function isDisputed(db: Db, id: string): Promise<boolean> {
  return (await findPayment(db, id))?.dispute === 'open'
}

/** The books keep amounts and dates; the person goes. */
export async function forgetPayer(tx: Db, userId: string): Promise<void> {
  // Locked in the order in which an invoice is kept.
  for (const table of ['invoices', 'payments'] as const) {
    await tx
      .updateTable(table)
      .set({ user_id: null, customer_id: null })
      .where('user_id', '=', userId)
      .execute()
  }
}

/** For the export of all that is held of a user. */
export async function paymentsOf(db: Db, userId: string) {
  const payments = await db
    .selectFrom('payments')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('seen_at')
    .limit(EXPORTED_MAX)
    .execute()
  return payments.map(({ version, fee_cents, fee_currency, ...payment }) => payment)
}

export function invoicesOf(db: Db, userId: string) {
  return db
    .selectFrom('invoices')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .limit(EXPORTED_MAX)
    .execute()
}

const EXPORTED_MAX = 10_000
