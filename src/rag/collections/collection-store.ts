/** SQL of collections and of the documents in them. Every statement starts with the user. */
import '../tables.ts'
import type { Selectable } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { RagCollectionsTable } from '../tables.ts'

export type CollectionRow = Omit<Selectable<RagCollectionsTable>, 'user_id'>

const COLUMNS = ['id', 'name', 'colour', 'instructions', 'created_at', 'updated_at'] as const

/** By name, with the number of documents. */
export async function listCollectionRows(db: Db, userId: string) {
  const rows = await db
    .selectFrom('rag_collections as c')
    .select([...COLUMNS.map((name) => `c.${name}` as const)])
    .select(({ selectFrom }) =>
      selectFrom('rag_collection_documents as m')
        .select(({ fn }) => fn.countAll<number>().as('documents'))
        .where('m.user_id', '=', userId)
        .whereRef('m.collection_id', '=', 'c.id')
        .as('documents'),
    )
    .where('c.user_id', '=', userId)
    .orderBy('c.name')
    .orderBy('c.id')
    .execute()
  return rows.map(({ documents, ...row }) => ({ ...row, documents: Number(documents) }))
}

function selectCollections(db: Db, userId: string) {
  return db.selectFrom('rag_collections').where('user_id', '=', userId)
}

export function findCollection(
  db: Db,
  userId: string,
  id: string,
): Promise<CollectionRow | undefined> {
  return selectCollections(db, userId).select(COLUMNS).where('id', '=', id).executeTakeFirst()
}

/** Returns those of the ids that are the user's collections, in their order. */
export async function findCollectionIds(
  db: Db,
  userId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await selectCollections(db, userId)
    .select('id')
    .where('id', 'in', [...ids])
    .execute()
  const known = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => known.has(id))
}

/** Returns the instructions of those of the collections that have some, by name. */
export async function listInstructions(
  db: Db,
  userId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await selectCollections(db, userId)
    .select('instructions')
    .where('id', 'in', [...ids])
    .orderBy('name')
    .orderBy('id')
    .execute()
  return rows.flatMap(({ instructions }) => instructions || [])
}

export async function countCollections(tx: Db, userId: string): Promise<number> {
  const { count } = await selectCollections(tx, userId)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertCollection(tx: Db, userId: string, row: CollectionRow): Promise<void> {
  await tx
    .insertInto('rag_collections')
    .values({ user_id: userId, ...row })
    .execute()
}

export async function updateCollection(
  tx: Db,
  userId: string,
  id: string,
  set: Partial<CollectionRow>,
): Promise<CollectionRow | undefined> {
  return tx
    .updateTable('rag_collections')
    .set(set)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirst()
}

/** The documents stay. @returns false when there is no such collection */
export async function deleteCollectionRow(tx: Db, userId: string, id: string): Promise<boolean> {
  await tx
    .deleteFrom('rag_collection_documents')
    .where('user_id', '=', userId)
    .where('collection_id', '=', id)
    .execute()
  const { numDeletedRows } = await tx
    .deleteFrom('rag_collections')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

function selectMembers(db: Db, userId: string) {
  return db.selectFrom('rag_collection_documents').where('user_id', '=', userId)
}

export async function countDocuments(db: Db, userId: string, id: string): Promise<number> {
  const { count } = await selectMembers(db, userId)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('collection_id', '=', id)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Returns the ids of the documents in any of the collections. */
export async function listMemberIds(
  db: Db,
  userId: string,
  collections: readonly string[],
): Promise<Set<string>> {
  const rows = await selectMembers(db, userId)
    .select('document_id')
    .where('collection_id', 'in', [...collections])
    .execute()
  return new Set(rows.map(({ document_id }) => document_id))
}

/** Collections that were deleted meanwhile are skipped. */
export async function addToCollections(
  tx: Db,
  userId: string,
  documentId: string,
  collections: readonly string[],
  at: string,
): Promise<void> {
  const ids = await findCollectionIds(tx, userId, collections)
  if (ids.length === 0) return
  await tx
    .insertInto('rag_collection_documents')
    .values(
      ids.map((id) => ({
        user_id: userId,
        collection_id: id,
        document_id: documentId,
        added_at: at,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'collection_id', 'document_id']).doNothing(),
    )
    .execute()
}

export async function removeFromCollection(
  tx: Db,
  userId: string,
  documentId: string,
  collection: string,
): Promise<void> {
  await tx
    .deleteFrom('rag_collection_documents')
    .where('user_id', '=', userId)
    .where('collection_id', '=', collection)
    .where('document_id', '=', documentId)
    .execute()
}

/** Returns the collections of each document, in the order in which it was added. */
export async function readMemberships(
  db: Db,
  userId: string,
  documents: readonly string[],
): Promise<Map<string, string[]>> {
  const memberships = new Map<string, string[]>()
  for (let from = 0; from < documents.length; from += DOCUMENTS_A_STATEMENT) {
    const rows = await selectMembers(db, userId)
      .select(['document_id', 'collection_id'])
      .where('document_id', 'in', documents.slice(from, from + DOCUMENTS_A_STATEMENT))
      .orderBy('added_at')
      .orderBy('collection_id')
      .execute()
    for (const { document_id, collection_id } of rows) {
      const known = memberships.get(document_id)
      if (known) known.push(collection_id)
      else memberships.set(document_id, [collection_id])
    }
  }
  return memberships
}

const DOCUMENTS_A_STATEMENT = 1_000
