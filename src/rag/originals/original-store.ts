/** SQL of originals. */
import '../tables.ts'
import type { Db } from '#platform/db/db.ts'

/** `sha256` in hexadecimal. */
export type Original = { id: string; name: string; bytes: number; sha256: string }

export async function insertOriginal(
  db: Db,
  userId: string,
  original: Original,
  at: string,
): Promise<void> {
  await db
    .insertInto('rag_originals')
    .values({ ...original, user_id: userId, created_at: at })
    .execute()
}

export function findOriginal(db: Db, userId: string, id: string): Promise<Original | undefined> {
  return db
    .selectFrom('rag_originals')
    .select(['id', 'name', 'bytes', 'sha256'])
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Returns 0 where no file is stored. */
export async function readOriginalSize(db: Db, userId: string, id: string | null): Promise<number> {
  return id === null ? 0 : ((await findOriginal(db, userId, id))?.bytes ?? 0)
}

/** Lists the originals of documents, newest first. */
export function listOriginals(db: Db, userId: string) {
  return db
    .selectFrom('rag_originals')
    .innerJoin('rag_documents', (join) =>
      join
        .onRef('rag_documents.user_id', '=', 'rag_originals.user_id')
        .onRef('rag_documents.original_id', '=', 'rag_originals.id'),
    )
    .select([
      'rag_originals.id',
      'rag_originals.name',
      'rag_originals.bytes',
      'rag_originals.sha256',
      'rag_originals.created_at',
      'rag_documents.id as document_id',
    ])
    .where('rag_originals.user_id', '=', userId)
    .orderBy('rag_originals.created_at', 'desc')
    .execute()
}

export async function deleteOriginal(tx: Db, userId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('rag_originals')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0
}

/** Its document is still being written: restarts the period after which the sweep deletes it. */
export async function touchOriginal(tx: Db, userId: string, id: string, at: string): Promise<void> {
  await tx
    .updateTable('rag_originals')
    .set({ created_at: at })
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .execute()
}

/** Lists all originals of a user, also those without a document. */
export async function listOriginalIds(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('rag_originals')
    .select('id')
    .where('user_id', '=', userId)
    .execute()
  return rows.map(({ id }) => id)
}

/** Originals before that moment without a document: their ingest was refused or killed. */
export function listUnclaimed(db: Db, before: string, limit: number) {
  return db
    .selectFrom('rag_originals')
    .leftJoin('rag_documents', (join) =>
      join
        .onRef('rag_documents.user_id', '=', 'rag_originals.user_id')
        .onRef('rag_documents.original_id', '=', 'rag_originals.id'),
    )
    .select(['rag_originals.id', 'rag_originals.user_id'])
    .where('rag_documents.id', 'is', null)
    .where('rag_originals.created_at', '<', before)
    .limit(limit)
    .execute()
}

/** Returns those of these ids that a document names. */
export async function listClaimed(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('rag_documents')
    .select('original_id')
    .where('original_id', 'in', ids)
    .execute()
  return rows.flatMap(({ original_id }) => original_id ?? [])
}

export async function isClaimed(tx: Db, userId: string, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('rag_documents')
    .select('id')
    .where('user_id', '=', userId)
    .where('original_id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

export async function eraseOriginalRows(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('rag_originals').where('user_id', '=', userId).execute()
}
