/** How far reconciliation has read: one row for each list that it continues. */
import './tables.ts'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'

export async function readCursor(db: Db, name: string): Promise<Instant | null> {
  const row = await db
    .selectFrom('billing_cursors')
    .select('reached_at')
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.reached_at ?? null
}

export async function moveCursor(db: Db, name: string, reachedAt: Instant): Promise<void> {
  await db
    .insertInto('billing_cursors')
    .values({ name, reached_at: reachedAt })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ reached_at: reachedAt }))
    .execute()
}
