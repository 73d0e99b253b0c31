// Collections of a user's documents. A document may be in several; deleting a collection deletes no
// document. Its instructions are for answers that use it.
import { randomUUID } from 'node:crypto'
import { type Db, transaction } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'
import { findDocument, lockDocuments } from '../documents/document-store.ts'
import { parseDocumentId } from '../documents/ids.ts'
import { ragProblem } from '../problems.ts'
import { type Condition, onlyDocuments } from '../search/filter.ts'
import {
  addToCollections,
  type CollectionRow,
  countCollections,
  countDocuments,
  deleteCollectionRow,
  findCollection,
  findCollectionIds,
  insertCollection,
  listCollectionRows,
  listInstructions,
  listMemberIds,
  removeFromCollection,
  updateCollection,
} from './collection-store.ts'

export const COLLECTIONS_MAX = 200
/** `documents` counts the documents in it. */
export type Collection = CollectionRow & { documents: number }
export type CollectionFields = Pick<CollectionRow, 'name' | 'colour' | 'instructions'>

type Deps = Pick<RagDeps, 'db' | 'clock'>

/** By name. */
export function listCollections(db: Db, userId: string): Promise<Collection[]> {
  return listCollectionRows(db, userId)
}

/** The condition of the collections' documents; none without any. @throws Problem 404 */
export async function readCollectionScope(
  db: Db,
  userId: string,
  ids: readonly string[] | undefined,
): Promise<Condition[]> {
  const collections = await requireCollections(db, userId, ids)
  if (collections.length === 0) return []
  return [onlyDocuments(await listMemberIds(db, userId, collections))]
}

/** Returns the instructions of these collections, by name of the collection; unknown ids have none. */
export async function readCollectionInstructions(
  db: Db,
  userId: string,
  ids: readonly string[] | undefined,
): Promise<string> {
  if (ids === undefined || ids.length === 0) return ''
  return (await listInstructions(db, userId, ids)).join('\n\n')
}

/** @throws Problem 404 for an id that is not the user's collection */
export async function requireCollections(
  db: Db,
  userId: string,
  ids: readonly string[] | undefined,
): Promise<readonly string[]> {
  if (ids === undefined || ids.length === 0) return []
  const unique = [...new Set(ids)]
  const known = await findCollectionIds(db, userId, unique)
  if (known.length < unique.length) throw ragProblem('collection_not_found')
  return unique
}

/** @throws Problem 409 when the user has COLLECTIONS_MAX collections */
export async function createCollection(
  { db, clock }: Deps,
  userId: string,
  fields: CollectionFields,
): Promise<Collection> {
  const at = clock.now()
  const row = { id: randomUUID(), ...fields, created_at: at, updated_at: at }
  await transaction(db, async (tx) => {
    await lockDocuments(tx, userId)
    if ((await countCollections(tx, userId)) >= COLLECTIONS_MAX)
      throw ragProblem('collection_limit_reached', { max: COLLECTIONS_MAX })
    await insertCollection(tx, userId, row)
  })
  return { ...row, documents: 0 }
}

/** @throws Problem 404 */
export async function changeCollection(
  { db, clock }: Deps,
  userId: string,
  id: string,
  changes: Partial<CollectionFields>,
): Promise<Collection> {
  const row = await updateCollection(db, userId, id, { ...changes, updated_at: clock.now() })
  if (row === undefined) throw ragProblem('collection_not_found')
  return { ...row, documents: await countDocuments(db, userId, id) }
}

/** @throws Problem 404 */
export async function deleteCollection(
  { db }: Pick<RagDeps, 'db'>,
  userId: string,
  id: string,
): Promise<void> {
  await transaction(db, async (tx) => {
    await lockDocuments(tx, userId)
    if (!(await deleteCollectionRow(tx, userId, id))) throw ragProblem('collection_not_found')
  })
}

export type Membership = { collection: string; document: string }

/** @throws Problem 404 when the user has no such collection or document */
export async function addDocument(
  { db, clock }: Deps,
  userId: string,
  membership: Membership,
): Promise<void> {
  await changeMembership(db, userId, membership, (tx, documentId) =>
    addToCollections(tx, userId, documentId, [membership.collection], clock.now()),
  )
}

/** A document that is not in the collection is no error. @throws Problem 404 as `addDocument` */
export async function removeDocument(
  { db }: Pick<RagDeps, 'db'>,
  userId: string,
  membership: Membership,
): Promise<void> {
  await changeMembership(db, userId, membership, (tx, documentId) =>
    removeFromCollection(tx, userId, documentId, membership.collection),
  )
}

/** Under the user's lock, so that no document is deleted between the check and the change. */
async function changeMembership(
  db: Db,
  userId: string,
  { collection, document }: Membership,
  change: (tx: Db, documentId: string) => Promise<void>,
): Promise<void> {
  const named = parseDocumentId(document)
  await transaction(db, async (tx) => {
    await lockDocuments(tx, userId)
    if ((await findCollection(tx, userId, collection)) === undefined)
      throw ragProblem('collection_not_found')
    if (named === null || (await findDocument(tx, userId, named.id)) === undefined)
      throw ragProblem('document_not_found')
    await change(tx, named.id)
  })
}
