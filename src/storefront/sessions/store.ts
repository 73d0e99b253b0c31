import type { Selectable } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import '../tables.ts'

export type StoreSessionRow = Selectable<Tables['store_sessions']>

export async function insert(tx: Db, row: StoreSessionRow): Promise<void> {
  await tx.insertInto('store_sessions').values(row).execute()
}

export function find(db: Db, tokenHash: string, now: Instant): Promise<StoreSessionRow | undefined> {
  return db
    .selectFrom('store_sessions')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

export async function remove(db: Db, tokenHash: string): Promise<void> {
  await db.deleteFrom('store_sessions').where('token_hash', '=', tokenHash).execute()
}

/** Forward only. */
export async function touch(db: Db, { user_id, id }: StoreSessionRow, now: Instant): Promise<void> {
  await db
    .updateTable('store_sessions')
    .set({ last_used_at: now })
    .where('user_id', '=', user_id)
    .where('id', '=', id)
    .where('last_used_at', '<', now)
    .execute()
}

export function listLive(db: Db, userId: string, now: Instant) {
  return db
    .selectFrom('store_sessions')
    .select(['id', 'user_agent', 'ip_address', 'created_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .execute()
}

/** False when the user has no such session. */
export async function removeOne(tx: Db, userId: string, id: string): Promise<boolean> {
  const removed = await tx
    .deleteFrom('store_sessions')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return removed !== undefined
}

export async function removeExpired(tx: Db, userId: string, now: Instant): Promise<void> {
  await tx.deleteFrom('store_sessions').where('user_id', '=', userId).where('expires_at', '<=', now).execute()
}

export async function removeOfUser(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('store_sessions').where('user_id', '=', userId).execute()
}

export function listOfUser(db: Db, userId: string) {
  return db
    .selectFrom('store_sessions')
    .select(['id', 'user_agent', 'ip_address', 'created_at', 'last_used_at', 'expires_at'])
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .execute()
}
