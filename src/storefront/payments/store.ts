import type { Tier } from '#catalogue/catalogue.ts'
import type { Db } from '#platform/db/db.ts'
import '../tables.ts'

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
