import type { Selectable, Updateable } from 'kysely'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import '../tables.ts'

export type PaymentRow = Selectable<Tables['store_payments']>

/**
 * The payment's row, made when missing and locked until the transaction ends: a refund and the purchase it belongs to, arriving at
 * the same moment, are handled one after the other.
 */
export async function lockPayment(tx: Db, paymentRef: string, now: Instant): Promise<PaymentRow> {
  await tx
    .insertInto('store_payments')
    .values({
      payment_ref: paymentRef,
      refunded_cents: 0,
      is_refunded: false,
      dispute: null,
      reads_begun: 0,
      read_settled: 0,
      checked_at: now,
      seen_at: now,
    })
    .onConflict((conflict) => conflict.column('payment_ref').doNothing())
    .execute()
  const row = tx.selectFrom('store_payments').selectAll().where('payment_ref', '=', paymentRef)
  return forUpdate(tx, row).executeTakeFirstOrThrow()
}

/** A ticket for a read of the processor: of two that overlap, the higher one's word counts. */
export function beginRead(db: Db, paymentRef: string, now: Instant): Promise<number> {
  return transaction(db, async (tx) => {
    const { reads_begun } = await lockPayment(tx, paymentRef, now)
    await updatePayment(tx, paymentRef, { reads_begun: reads_begun + 1 })
    return reads_begun + 1
  })
}

export async function updatePayment(tx: Db, paymentRef: string, change: Updateable<Tables['store_payments']>) {
  await tx.updateTable('store_payments').set(change).where('payment_ref', '=', paymentRef).execute()
}

/** Payments of purchases, made since `madeAfter` and last asked about before `checkedBefore`, the longest unasked first. */
export async function uncheckedPayments(
  db: Db,
  { madeAfter, checkedBefore, max }: { madeAfter: Instant; checkedBefore: Instant; max: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('store_payments')
    .innerJoin('purchases', 'purchases.payment_ref', 'store_payments.payment_ref')
    .select('store_payments.payment_ref')
    // A free purchase has nothing to take back.
    .where('purchases.amount_cents', '>', 0)
    .where('store_payments.checked_at', '<', checkedBefore)
    .where('store_payments.seen_at', '>', madeAfter)
    .orderBy('store_payments.checked_at')
    .limit(max)
    .execute()
  return rows.map(({ payment_ref }) => payment_ref)
}

/** True while the bank holds the money. */
export async function isDisputed(db: Db, paymentRef: string): Promise<boolean> {
  const row = await db
    .selectFrom('store_payments')
    .select('dispute')
    .where('payment_ref', '=', paymentRef)
    .executeTakeFirst()
  return row?.dispute === 'open'
}

/** True when the user has ever gone to pay for the tier. */
export async function hasCheckout(db: Db, userId: string, tier: Tier): Promise<boolean> {
  const row = await db
    .selectFrom('store_checkouts')
    .select('attempt')
    .where('user_id', '=', userId)
    .where('tier', '=', tier)
    .executeTakeFirst()
  return row !== undefined
}
