import { randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { ReleaseStatus } from '../tables.ts'
import '../tables.ts'

export type ReleaseRow = Selectable<Tables['store_releases']>

/** The part of a row that every page needs. */
export type UploadedRelease = Pick<
  ReleaseRow,
  'id' | 'tier' | 'version' | 'status' | 'notes' | 'published_at'
>

/** Lists the releases of all products, drafts included. */
export function listUploaded(db: Db): Promise<UploadedRelease[]> {
  return db
    .selectFrom('store_releases')
    .select(['id', 'tier', 'version', 'status', 'notes', 'published_at'])
    .execute()
}

export function listOfTier(db: Db, tier: Tier): Promise<ReleaseRow[]> {
  return db
    .selectFrom('store_releases')
    .selectAll()
    .where('tier', '=', tier)
    .orderBy('created_at', 'desc')
    .execute()
}

export function findRow(db: Db, tier: Tier, version: string): Promise<ReleaseRow | undefined> {
  return db
    .selectFrom('store_releases')
    .selectAll()
    .where('tier', '=', tier)
    .where('version', '=', version)
    .executeTakeFirst()
}

/** Adds a draft without files. @throws a unique violation when the version exists */
export async function insertDraft(
  db: Db,
  draft: Pick<ReleaseRow, 'tier' | 'version' | 'notes' | 'created_at'>,
): Promise<ReleaseRow> {
  const row: ReleaseRow = {
    ...draft,
    id: randomUUID(),
    status: 'draft',
    file_count: null,
    size_bytes: null,
    sha256: null,
    left_out_json: [],
    published_at: null,
    withdrawn_at: null,
  }
  await db.insertInto('store_releases').values(row).execute()
  return row
}

/** Returns false when the row has another status meanwhile. */
export async function updateRow(
  db: Db,
  { id, status }: Pick<ReleaseRow, 'id' | 'status'>,
  changed: Partial<ReleaseRow>,
): Promise<boolean> {
  const updated = await db
    .updateTable('store_releases')
    .set(changed)
    .where('id', '=', id)
    .where('status', '=', status)
    .returning('id')
    .executeTakeFirst()
  return updated !== undefined
}

/** Returns false when the release is no draft, or is gone. */
export async function removeDraft(db: Db, id: string): Promise<boolean> {
  const status: ReleaseStatus = 'draft'
  const removed = await db
    .deleteFrom('store_releases')
    .where('id', '=', id)
    .where('status', '=', status)
    .returning('id')
    .executeTakeFirst()
  return removed !== undefined
}
