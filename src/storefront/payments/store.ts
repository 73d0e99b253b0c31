import type { Tier } from '#catalogue/catalogue.ts'
import type { Db } from '#platform/db/db.ts'
import '../tables.ts'

/** Returns true when the user has ever opened a checkout for the tier. */
export async function hasCheckout(db: Db, userId: string, tier: Tier): Promise<boolean> {
  const row = await db
    .selectFrom('store_checkouts')
    .select('attempt')
    .where('user_id', '=', userId)
    .where('tier', '=', tier)
    .executeTakeFirst()
  return row !== undefined
}
