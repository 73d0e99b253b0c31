import type { Selectable, Updateable } from 'kysely'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { DisputeState } from '../tables.ts'

export type PurchaseRow = Selectable<Tables['purchases']>
export type PaymentRow = Selectable<Tables['store_payments']>

export function listOfUser(db: Db, userId: string): Promise<PurchaseRow[]> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

export function findOfUser(db: Db, userId: string, id: string): Promise<PurchaseRow | undefined> {
  return db.selectFrom('purchases').selectAll().where('user_id', '=', userId).where('id', '=', id).executeTakeFirst()
}

export function findById(db: Db, id: string): Promise<PurchaseRow | undefined> {
  return db.selectFrom('purchases').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findByLicenseHash(db: Db, hash: string): Promise<PurchaseRow | undefined> {
  return db.selectFrom('purchases').selectAll().where('license_hash', '=', hash).executeTakeFirst()
}

export function findByCheckoutSession(db: Db, sessionId: string): Promise<PurchaseRow | undefined> {
  return db.selectFrom('purchases').selectAll().where('checkout_session_id', '=', sessionId).executeTakeFirst()
}

export function findByPayment(db: Db, paymentRef: string): Promise<PurchaseRow | undefined> {
  return db.selectFrom('purchases').selectAll().where('payment_ref', '=', paymentRef).executeTakeFirst()
}

export async function owns(db: Db, userId: string, tier: Tier): Promise<boolean> {
  const row = await db
    .selectFrom('purchases')
    .select('id')
    .where('user_id', '=', userId)
    .where('tier', '=', tier)
    .where('status', '=', 'completed')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
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

export async function insert(tx: Db, row: PurchaseRow): Promise<boolean> {
  const inserted = await tx
    .insertInto('purchases')
    .values(row)
    .onConflict((conflict) => conflict.column('payment_ref').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

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

export async function disputeOf(db: Db, paymentRef: string): Promise<DisputeState | null> {
  const row = await db
    .selectFrom('store_payments')
    .select('dispute')
    .where('payment_ref', '=', paymentRef)
    .executeTakeFirst()
  return row?.dispute ?? null
}

/** What the user owns of the tier, newest first: more than one, when it was paid twice. */
export function listOwned(db: Db, userId: string, tier: Tier): Promise<PurchaseRow[]> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('user_id', '=', userId)
    .where('tier', '=', tier)
    .where('status', '=', 'completed')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** Returns the purchase when it was not revoked before. */
export function revoke(tx: Db, paymentRef: string): Promise<PurchaseRow | undefined> {
  return tx
    .updateTable('purchases')
    .set({ status: 'refunded' })
    .where('payment_ref', '=', paymentRef)
    .where('status', '!=', 'refunded')
    .returningAll()
    .executeTakeFirst()
}

/** Returns the purchase when it was revoked before: completed again, or expired where its downloads are used up. */
export function restore(tx: Db, paymentRef: string): Promise<PurchaseRow | undefined> {
  return tx
    .updateTable('purchases')
    .set((e) => ({
      status: e
        .case()
        .when('download_count', '>=', e.ref('max_downloads'))
        .then('expired' as const)
        .else('completed' as const)
        .end(),
    }))
    .where('payment_ref', '=', paymentRef)
    .where('status', '=', 'refunded')
    .returningAll()
    .executeTakeFirst()
}

/**
 * Limit and cooldown, decided and counted in one statement: of two downloads at once for the last slot, one finds it taken.
 * Undefined when the purchase is not completed, used up, or was downloaded after `lastBefore`.
 */
export function countDownload(
  tx: Db,
  userId: string,
  id: string,
  now: Instant,
  lastBefore: Instant,
): Promise<PurchaseRow | undefined> {
  return tx
    .updateTable('purchases')
    .set((e) => ({
      download_count: e('download_count', '+', 1),
      last_download_at: now,
      status: e
        .case()
        .when(e('download_count', '+', 1), '>=', e.ref('max_downloads'))
        .then('expired' as const)
        .else('completed' as const)
        .end(),
    }))
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .where('status', '=', 'completed')
    .whereRef('download_count', '<', 'max_downloads')
    .where((e) => e.or([e('last_download_at', 'is', null), e('last_download_at', '<=', lastBefore)]))
    .returningAll()
    .executeTakeFirst()
}

/** The books keep tier, amount, date and payment; the person goes. */
export async function forgetUser(tx: Db, userId: string): Promise<void> {
  await tx.updateTable('purchases').set({ user_id: null }).where('user_id', '=', userId).execute()
}
