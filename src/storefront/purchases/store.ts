import type { Selectable } from 'kysely'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { claimName, findNameOwner, insertName, moveNames } from '#platform/lookups.ts'
import '../tables.ts'

export type PurchaseRow = Selectable<Tables['purchases']>

/** Used-up downloads do not end a license. */
const VALID_STATUSES = ['completed', 'expired'] as const

/** Returns true while the license of the purchase is valid. */
export function isLicensed({ status }: Pick<PurchaseRow, 'status'>): boolean {
  return VALID_STATUSES.some((valid) => valid === status)
}

export function listOfUser(db: Db, userId: string): Promise<PurchaseRow[]> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

export function findOfUser(db: Db, userId: string, id: string): Promise<PurchaseRow | undefined> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function findById(db: Db, id: string): Promise<PurchaseRow | undefined> {
  return db.selectFrom('purchases').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function findByLicenseHash(db: Db, hash: string): Promise<PurchaseRow | undefined> {
  const owner = await findNameOwner(db, 'license', hash)
  if (owner === null) return undefined
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', owner)
    .where('license_hash', '=', hash)
    .executeTakeFirst()
}

export function findByCheckoutSession(db: Db, sessionId: string): Promise<PurchaseRow | undefined> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('checkout_session_id', '=', sessionId)
    .executeTakeFirst()
}

export function findByPayment(db: Db, paymentRef: string): Promise<PurchaseRow | undefined> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('payment_ref', '=', paymentRef)
    .executeTakeFirst()
}

/** Returns the payments that have a purchase. */
export async function recordedPayments(db: Db, paymentRefs: readonly string[]): Promise<string[]> {
  if (paymentRefs.length === 0) return []
  const rows = await db
    .selectFrom('purchases')
    .select('payment_ref')
    .where('payment_ref', 'in', paymentRefs)
    .execute()
  return rows.map(({ payment_ref }) => payment_ref)
}

export async function owns(db: Db, userId: string, tier: Tier): Promise<boolean> {
  const row = await db
    .selectFrom('purchases')
    .select('id')
    .where('owner', '=', userId)
    .where('tier', '=', tier)
    .where('status', '=', 'completed')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Inserts a purchase. Returns false when the payment already has one. */
export async function insert(tx: Db, row: PurchaseRow): Promise<boolean> {
  if (!(await claimName(tx, 'payment', row.payment_ref, row.owner))) return false
  await insertName(tx, 'license', row.license_hash, row.owner)
  await tx.insertInto('purchases').values(row).execute()
  return true
}

/** Returns the user's purchases of the tier, newest first: several, when it was paid twice. */
export function listOwned(db: Db, userId: string, tier: Tier): Promise<PurchaseRow[]> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', userId)
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
    .set({ status: 'refunded', activation_count: 0 })
    .where('payment_ref', '=', paymentRef)
    .where('status', '!=', 'refunded')
    .returningAll()
    .executeTakeFirst()
}

/**
 * Returns the purchase when it was revoked before: completed again, or expired where its downloads
 * are used up.
 */
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
 * Checks limit and cooldown and counts the download in one statement, so that of two simultaneous
 * downloads only one gets the last slot. Returns undefined when the purchase is not completed, is
 * used up, or was downloaded after `lastBefore`.
 */
export function takeDownload(
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
    .where('owner', '=', userId)
    .where('id', '=', id)
    .where('status', '=', 'completed')
    .whereRef('download_count', '<', 'max_downloads')
    .where((e) =>
      e.or([e('last_download_at', 'is', null), e('last_download_at', '<=', lastBefore)]),
    )
    .returningAll()
    .executeTakeFirst()
}

/**
 * Counts one more active machine, unless the license has reached its limit or was revoked.
 * `productMax` applies where the buyer has no limit of their own; null: no limit.
 */
export async function takeActivation(
  tx: Db,
  { owner, id }: PurchaseRow,
  productMax: number | null,
): Promise<boolean> {
  const taken = await tx
    .updateTable('purchases')
    .set((e) => ({ activation_count: e('activation_count', '+', 1) }))
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where('status', 'in', VALID_STATUSES)
    .where((e) =>
      e.or([
        e('activation_count', '<', e.ref('activations_limit')),
        e.and([
          e('activations_limit', 'is', null),
          ...(productMax === null ? [] : [e('activation_count', '<', productMax)]),
        ]),
      ]),
    )
    .returning('id')
    .executeTakeFirst()
  return taken !== undefined
}

export async function giveActivationBack(tx: Db, { owner, id }: PurchaseRow): Promise<void> {
  await tx
    .updateTable('purchases')
    .set((e) => ({ activation_count: e('activation_count', '-', 1) }))
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute()
}

/** Locks a purchase, so that its machines are released one after the other. */
export function lock(tx: Db, { owner, id }: PurchaseRow): Promise<PurchaseRow | undefined> {
  return forUpdate(
    tx,
    tx.selectFrom('purchases').selectAll().where('owner', '=', owner).where('id', '=', id),
  ).executeTakeFirst()
}

/**
 * Removes the user from their purchases. Tier, amount, date and payment stay for accounting, and
 * each purchase becomes its own owner.
 */
export async function forgetUser(tx: Db, userId: string): Promise<void> {
  // Deletes and inserts instead of updating, because the owner determines the server of a row.
  const rows = await tx.deleteFrom('purchases').where('owner', '=', userId).returningAll().execute()
  for (const row of rows) {
    await tx
      .insertInto('purchases')
      .values({ ...row, owner: row.id, user_id: null })
      .execute()
    await moveNames(tx, 'payment', [row.payment_ref], row.id)
    await moveNames(tx, 'license', [row.license_hash], row.id)
  }
}
