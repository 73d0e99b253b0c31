import type { Selectable } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import '../tables.ts'

export type ActivationRow = Selectable<Tables['activations']>
type Licensed = Pick<PurchaseRow, 'owner' | 'id'>

/** Lists the active machines, oldest first. */
export function listActive(db: Db, purchase: Licensed): Promise<ActivationRow[]> {
  return ofPurchase(db, purchase).where('released_at', 'is', null).execute()
}

export function findActiveMachine(
  db: Db,
  purchase: Licensed,
  fingerprintHash: string,
): Promise<ActivationRow | undefined> {
  return ofPurchase(db, purchase)
    .where('fingerprint_hash', '=', fingerprintHash)
    .where('released_at', 'is', null)
    .executeTakeFirst()
}

/** Returns an activation of the purchase, also a released one. */
export function findActivation(
  db: Db,
  purchase: Licensed,
  id: string,
): Promise<ActivationRow | undefined> {
  return ofPurchase(db, purchase).where('id', '=', id).executeTakeFirst()
}

export async function countReleases(db: Db, purchase: Licensed, since: Instant): Promise<number> {
  const rows = await ofPurchase(db, purchase).where('released_at', '>=', since).execute()
  return rows.length
}

function ofPurchase(db: Db, { owner, id }: Licensed) {
  return db
    .selectFrom('activations')
    .selectAll()
    .where('owner', '=', owner)
    .where('purchase_id', '=', id)
    .orderBy('activated_at')
    .orderBy('id')
}

/** Returns false when the machine is active already. */
export async function insert(tx: Db, row: ActivationRow): Promise<boolean> {
  const inserted = await tx
    .insertInto('activations')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['owner', 'purchase_id', 'fingerprint_hash'])
        .where('released_at', 'is', null)
        .doNothing(),
    )
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

export async function updateSeen(
  db: Db,
  { owner, id }: Pick<ActivationRow, 'owner' | 'id'>,
  seen: Partial<Pick<ActivationRow, 'name' | 'platform' | 'version'>> & { last_seen_at: Instant },
): Promise<void> {
  await db
    .updateTable('activations')
    .set(seen)
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute()
}

/** Returns false when it was released before. */
export async function release(tx: Db, row: ActivationRow, now: Instant): Promise<boolean> {
  const released = await tx
    .updateTable('activations')
    .set({ released_at: now })
    .where('owner', '=', row.owner)
    .where('id', '=', row.id)
    .where('released_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return released !== undefined
}

/** Deletes all activations of a purchase. */
export async function removeAll(tx: Db, { owner, id }: Licensed): Promise<void> {
  await tx
    .deleteFrom('activations')
    .where('owner', '=', owner)
    .where('purchase_id', '=', id)
    .execute()
}

/**
 * Moves the activations of a deleted account to its purchases, without the names of the machines,
 * because the licenses stay valid.
 */
export async function forgetUser(tx: Db, userId: string): Promise<void> {
  const rows = await tx
    .deleteFrom('activations')
    .where('owner', '=', userId)
    .returningAll()
    .execute()
  for (const row of rows) {
    await tx
      .insertInto('activations')
      .values({ ...row, owner: row.purchase_id, name: null })
      .execute()
  }
}

/** Lists the activations of all the user's purchases, for their data export. */
export function listOfUser(db: Db, userId: string) {
  return db
    .selectFrom('activations')
    .select(['id', 'purchase_id', 'name', 'platform', 'version', 'activated_at', 'last_seen_at'])
    .select('released_at')
    .where('owner', '=', userId)
    .orderBy('activated_at')
    .execute()
}
