import { type Selectable, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { deleteSlice } from '#platform/db/slices.ts'
import type { Tables } from '#platform/db/tables.ts'
import '../tables.ts'

export type DownloadRow = Selectable<Tables['downloads']>

export async function insert(tx: Db, row: DownloadRow): Promise<void> {
  await tx.insertInto('downloads').values(row).execute()
}

export function listOfUser(db: Db, userId: string, purchaseId: string | undefined, max: number) {
  return db
    .selectFrom('downloads')
    .select([
      'id',
      'purchase_id',
      'user_id',
      'version',
      'ip_address',
      'user_agent',
      'country',
      'downloaded_at',
    ])
    .where('user_id', '=', userId)
    .$if(purchaseId !== undefined, (query) => query.where('purchase_id', '=', purchaseId ?? ''))
    .orderBy('downloaded_at', 'desc')
    .orderBy('id', 'desc')
    .limit(max)
    .execute()
}

/** Returns what was delivered of purchases, newest first. */
export function listOfPurchases(db: Db, userId: string, purchaseIds: string[], max: number) {
  return db
    .selectFrom('downloads')
    .select([
      'id',
      'purchase_id',
      'version',
      'ip_address',
      'user_agent',
      'country',
      'downloaded_at',
    ])
    .where('user_id', '=', userId)
    .where('purchase_id', 'in', purchaseIds)
    .orderBy('downloaded_at', 'desc')
    .orderBy('id', 'desc')
    .limit(max)
    .execute()
}

/** Returns the user's purchases whose delivery has begun. That of a bundle begins with a product. */
export async function listDelivered(db: Db, userId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('downloads')
    .select('purchase_id')
    .distinct()
    .where('user_id', '=', userId)
    .execute()
  const ids = rows.map(({ purchase_id }) => purchase_id)
  if (ids.length === 0) return new Set()
  const members = await db
    .selectFrom('purchases')
    .select('bundle_id')
    .where((e) => e.or([e('owner', '=', userId), e('claimant_id', '=', userId)]))
    .where('id', 'in', ids)
    .execute()
  return new Set([...ids, ...members.flatMap(({ bundle_id }) => bundle_id ?? [])])
}

/**
 * Returns the user's newest encrypted download since `since`, optionally of one purchase, of one
 * release and with one ETag. Without release and ETag, releases that were downloaded by their
 * version are left out.
 */
export function findLatest(
  db: Db,
  userId: string,
  {
    since,
    purchaseId,
    version,
    etag,
  }: { since: Instant } & Partial<Record<'purchaseId' | 'version' | 'etag', string | undefined>>,
): Promise<DownloadRow | undefined> {
  return db
    .selectFrom('downloads')
    .selectAll()
    .where('user_id', '=', userId)
    .where('downloaded_at', '>', since)
    .where('is_plain', '=', false)
    .$if(purchaseId !== undefined, (query) => query.where('purchase_id', '=', purchaseId ?? ''))
    .$if(etag !== undefined, (query) => query.where('etag', '=', etag ?? ''))
    .$if(version !== undefined, (query) => query.where('version', '=', version ?? ''))
    .$if(version === undefined && etag === undefined, (query) =>
      query.where((e) =>
        e.exists(
          e
            .selectFrom('purchases')
            .select('purchases.id')
            .whereRef('purchases.owner', '=', 'downloads.user_id')
            .whereRef('purchases.id', '=', 'downloads.purchase_id')
            .whereRef('purchases.download_version', '=', 'downloads.version'),
        ),
      ),
    )
    .orderBy('downloaded_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/**
 * Counts a resume. Returns false when the download was resumed too often, or would exceed
 * `bytesMax` in total.
 */
export async function countResume(
  db: Db,
  userId: string,
  id: string,
  bytes: number,
  { resumesMax, bytesMax }: { resumesMax: number; bytesMax: number },
): Promise<boolean> {
  const row = await db
    .updateTable('downloads')
    .set((e) => ({
      resume_count: e('resume_count', '+', 1),
      sent_bytes: e('sent_bytes', '+', bytes),
    }))
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .where('resume_count', '<', resumesMax)
    .where('sent_bytes', '<=', bytesMax - bytes)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Subtracts bytes that were counted but not sent. */
export async function giveBack(db: Db, userId: string, id: string, bytes: number): Promise<void> {
  await db
    .updateTable('downloads')
    .set((e) => ({ sent_bytes: e('sent_bytes', '-', bytes) }))
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .execute()
}

export function findChecksum(db: Db, etag: string) {
  return db.selectFrom('archive_checksums').selectAll().where('etag', '=', etag).executeTakeFirst()
}

export async function insertChecksum(
  db: Db,
  row: Selectable<Tables['archive_checksums']>,
): Promise<void> {
  await db
    .insertInto('archive_checksums')
    .values(row)
    .onConflict((conflict) => conflict.column('etag').doNothing())
    .execute()
}

/** @returns the number of deleted rows */
export function eraseSlice(db: Db, userId: string): Promise<number> {
  return deleteSlice(db, 'downloads', ['id'], sql`user_id = ${userId}`)
}
