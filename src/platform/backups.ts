/** The newest complete backup of each place, as the command `backup` records it. */
import './tables.ts'
import type { Instant } from './clock.ts'
import type { Db } from './db/db.ts'

export type Backup = { place: string; made_at: Instant }

export async function saveBackup(db: Db, { place, made_at }: Backup): Promise<void> {
  await db
    .insertInto('backups')
    .values({ place, made_at })
    .onConflict((conflict) => conflict.column('place').doUpdateSet({ made_at }))
    .execute()
}

export async function findLastBackup(db: Db): Promise<Backup | null> {
  const newest = db.selectFrom('backups').selectAll().orderBy('made_at', 'desc').limit(1)
  return (await newest.executeTakeFirst()) ?? null
}
