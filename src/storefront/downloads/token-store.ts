import type { Selectable } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { ChainKey } from '../purchases/store.ts'
import '../tables.ts'

export type TokenRow = Selectable<Tables['download_tokens']>
type DayKey = Pick<Tables['download_days'], 'owner' | 'credential_id' | 'day'>

/** Lists the tokens of a license that have not expired, oldest first. */
export function listTokens(db: Db, { owner, chain_id }: ChainKey, now: Instant) {
  return db
    .selectFrom('download_tokens')
    .select(['id', 'name', 'created_at', 'last_used_at', 'expires_at'])
    .where('owner', '=', owner)
    .where('chain_id', '=', chain_id)
    .where('expires_at', '>', now)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export async function insertToken(tx: Db, row: TokenRow): Promise<void> {
  await tx.insertInto('download_tokens').values(row).execute()
}

export function findToken(
  db: Db,
  owner: string,
  hash: string,
  now: Instant,
): Promise<TokenRow | undefined> {
  return db
    .selectFrom('download_tokens')
    .selectAll()
    .where('owner', '=', owner)
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

export async function noteUse(db: Db, { owner, token_hash }: TokenRow, now: Instant) {
  await db
    .updateTable('download_tokens')
    .set({ last_used_at: now })
    .where('owner', '=', owner)
    .where('token_hash', '=', token_hash)
    .execute()
}

/** Returns false for an unknown token. */
export async function removeToken(
  db: Db,
  { owner, chain_id }: ChainKey,
  id: string,
): Promise<boolean> {
  const removed = await db
    .deleteFrom('download_tokens')
    .where('owner', '=', owner)
    .where('chain_id', '=', chain_id)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return removed !== undefined
}

/** Removes all tokens of a license. */
export async function removeTokens(tx: Db, { owner, chain_id }: ChainKey): Promise<void> {
  await tx
    .deleteFrom('download_tokens')
    .where('owner', '=', owner)
    .where('chain_id', '=', chain_id)
    .execute()
}

export async function forgetUser(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('download_tokens').where('owner', '=', userId).execute()
  await tx.deleteFrom('download_days').where('owner', '=', userId).execute()
}

/** Lists the tokens of a user, for their data export. */
export function listOfUser(db: Db, userId: string) {
  return db
    .selectFrom('download_tokens')
    .select(['id', 'chain_id', 'name', 'created_at', 'last_used_at', 'expires_at'])
    .where('owner', '=', userId)
    .orderBy('created_at')
    .execute()
}

export function findDay(db: Db, key: DayKey) {
  return ofDay(db.selectFrom('download_days').selectAll(), key).executeTakeFirst()
}

/**
 * Counts a request and its bytes, unless the day is used up. One statement, so that simultaneous
 * requests cannot exceed the limits.
 */
export async function countRequest(
  db: Db,
  key: DayKey,
  { version, bytes }: { version: string; bytes: number },
  { requestsMax, bytesMax }: { requestsMax: number; bytesMax: number },
): Promise<boolean> {
  const counted = await db
    .insertInto('download_days')
    .values({ ...key, version, requests: 1, sent_bytes: bytes })
    .onConflict((conflict) =>
      conflict
        .columns(['owner', 'credential_id', 'day'])
        .doUpdateSet((e) => ({
          version,
          requests: e('download_days.requests', '+', 1),
          sent_bytes: e('download_days.sent_bytes', '+', bytes),
        }))
        .where('download_days.requests', '<', requestsMax)
        .where('download_days.sent_bytes', '<=', bytesMax - bytes),
    )
    .returning('requests')
    .executeTakeFirst()
  return counted !== undefined
}

/** Subtracts bytes that were counted but not sent. */
export async function giveBackBytes(db: Db, key: DayKey, bytes: number): Promise<void> {
  const update = db
    .updateTable('download_days')
    .set((e) => ({ sent_bytes: e('sent_bytes', '-', bytes) }))
  await ofDay(update, key).execute()
}

function ofDay<Q extends { where(column: keyof DayKey, is: '=', value: string): Q }>(
  query: Q,
  { owner, credential_id, day }: DayKey,
): Q {
  return query
    .where('owner', '=', owner)
    .where('credential_id', '=', credential_id)
    .where('day', '=', day)
}
