import type { Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import '../tables.ts'
import type { PurchaseRow } from '../purchases/store.ts'

export type Notice = { tier: Tier; version: string }

/**
 * Returns up to `max` buyers of these tiers after the user `after`, in the order of their ids. Leaves
 * out those who opted out, and those who got an email after `sentBefore`.
 */
export async function listReaders(
  db: Db,
  { tiers, after, sentBefore, max }: Readers,
): Promise<string[]> {
  const rows = await db
    .selectFrom('purchases')
    .select('owner')
    .distinct()
    .where('tier', 'in', tiers)
    .where('status', 'in', ['completed', 'expired'])
    .where('user_id', 'is not', null)
    .$if(after !== null, (query) => query.where('owner', '>', after ?? ''))
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom('release_optouts')
            .select('release_optouts.user_id')
            .whereRef('release_optouts.user_id', '=', 'purchases.owner'),
        ),
      ),
    )
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom('release_notices')
            .select('release_notices.user_id')
            .whereRef('release_notices.user_id', '=', 'purchases.owner')
            .where('sent_at', '>', sentBefore),
        ),
      ),
    )
    .orderBy('owner')
    .limit(max)
    .execute()
  return rows.map(({ owner }) => owner)
}

type Readers = { tiers: readonly Tier[]; after: string | null; sentBefore: Instant; max: number }

/** Returns the user's purchases of these tiers that give updates. */
export function listUpdated(
  db: Db,
  userId: string,
  tiers: readonly Tier[],
): Promise<PurchaseRow[]> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', userId)
    .where('tier', 'in', tiers)
    .where('status', 'in', ['completed', 'expired'])
    .execute()
}

/** Records that the user gets an email about the release. Returns false when they had one. */
export async function insertNotice(
  tx: Db,
  userId: string,
  { tier, version }: Notice,
  now: Instant,
): Promise<boolean> {
  const row = await tx
    .insertInto('release_notices')
    .values({ user_id: userId, tier, version, sent_at: now })
    .onConflict((conflict) => conflict.columns(['user_id', 'tier', 'version']).doNothing())
    .returning('version')
    .executeTakeFirst()
  return row !== undefined
}

export async function insertOptout(tx: Db, userId: string, now: Instant): Promise<void> {
  await tx
    .insertInto('release_optouts')
    .values({ user_id: userId, created_at: now })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .execute()
}

export async function deleteOptout(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('release_optouts').where('user_id', '=', userId).execute()
}

export async function forgetUser(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('release_notices').where('user_id', '=', userId).execute()
  await deleteOptout(tx, userId)
}

export async function listOfUser(db: Db, userId: string) {
  const [notices, optouts] = await Promise.all([
    db.selectFrom('release_notices').selectAll().where('user_id', '=', userId).execute(),
    db.selectFrom('release_optouts').selectAll().where('user_id', '=', userId).execute(),
  ])
  return { notices, optouts }
}
