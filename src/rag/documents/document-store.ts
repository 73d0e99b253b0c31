/** SQL of documents, external ids and the user's revision. Every statement starts with the user. */
import '../tables.ts'
import { type Selectable, sql } from 'kysely'
import { type Db, forUpdate } from '#platform/db/db.ts'
import { prepared } from '#platform/db/prepared.ts'
import { readMemberships } from '../collections/collection-store.ts'
import type { Original } from '../originals/original-store.ts'
import type { RagDocumentsTable } from '../tables.ts'
import {
  buildSortKey,
  type DocumentOrder,
  type DocumentPlace,
  NAME_KEY,
  NEWEST_FIRST,
} from './document-order.ts'

export type DocumentRow = Selectable<RagDocumentsTable>
export type DocumentVersion = Pick<DocumentRow, 'id' | 'version' | 'edition'>
export type StoreState = { revision: number; embedder: string }

/** Blocks the user's other changes until the transaction ends. */
export async function lockDocuments(tx: Db, userId: string): Promise<void> {
  await tx
    .insertInto('rag_stores')
    .values({ user_id: userId, revision: 0, embedder: '' })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .execute()
  await forUpdate(
    tx,
    tx.selectFrom('rag_stores').select('revision').where('user_id', '=', userId),
  ).execute()
}

export async function bumpRevision(tx: Db, userId: string): Promise<void> {
  await tx
    .updateTable('rag_stores')
    .set((e) => ({ revision: e('revision', '+', 1) }))
    .where('user_id', '=', userId)
    .execute()
}

const storeOf = prepared<StoreState>(
  (db) => db.selectFrom('rag_stores').select(['revision', 'embedder']).where('user_id', '=', ''),
  1,
)

export async function readStore(db: Db, userId: string): Promise<StoreState> {
  return (await storeOf(db, userId)) ?? { revision: 0, embedder: '' }
}

export function findDocument(db: Db, userId: string, id: string): Promise<DocumentRow | undefined> {
  return selectDocuments(db, userId).selectAll().where('id', '=', id).executeTakeFirst()
}

function selectDocuments(db: Db, userId: string) {
  return db.selectFrom('rag_documents').where('user_id', '=', userId)
}

/** @returns the row that it replaces */
export async function putDocument(
  tx: Db,
  row: DocumentRow,
): Promise<Pick<DocumentRow, 'version' | 'original_id'> | undefined> {
  const before = await selectDocuments(tx, row.user_id)
    .select(['version', 'original_id'])
    .where('id', '=', row.id)
    .executeTakeFirst()
  const { user_id, id, ...rest } = row
  await tx
    .insertInto('rag_documents')
    .values(row)
    .onConflict((conflict) => conflict.columns(['user_id', 'id']).doUpdateSet(rest))
    .execute()
  return before
}

export async function updateDocument(
  tx: Db,
  userId: string,
  id: string,
  set: Partial<DocumentRow>,
): Promise<void> {
  await tx
    .updateTable('rag_documents')
    .set(set)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .execute()
}

export async function deleteDocumentRow(tx: Db, userId: string, id: string): Promise<void> {
  for (const table of ['rag_external_ids', 'rag_collection_documents'] as const)
    await tx.deleteFrom(table).where('user_id', '=', userId).where('document_id', '=', id).execute()
  await tx.deleteFrom('rag_documents').where('user_id', '=', userId).where('id', '=', id).execute()
}

function selectExternalIds(db: Db, userId: string) {
  return db.selectFrom('rag_external_ids').where('user_id', '=', userId)
}

/** Assigns an external id to a document. @returns the document that had the id before */
export async function setExternalId(
  tx: Db,
  userId: string,
  { externalId, id, at }: { externalId: string; id: string; at: string },
): Promise<string | undefined> {
  const before = await selectExternalIds(tx, userId)
    .select('document_id')
    .where('external_id', '=', externalId)
    .executeTakeFirst()
  await tx
    .insertInto('rag_external_ids')
    .values({ user_id: userId, external_id: externalId, document_id: id, named_at: at })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'external_id']).doUpdateSet({ document_id: id, named_at: at }),
    )
    .execute()
  return before?.document_id
}

export async function hasExternalId(tx: Db, userId: string, id: string): Promise<boolean> {
  const row = await selectExternalIds(tx, userId)
    .select('external_id')
    .where('document_id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the id's document if it has no other id: it is deleted when the id moves. */
export async function findNamedAlone(
  tx: Db,
  userId: string,
  externalId: string,
): Promise<string | undefined> {
  const named = await tx
    .selectFrom('rag_external_ids as one')
    .select('document_id')
    .where('user_id', '=', userId)
    .where('external_id', '=', externalId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('rag_external_ids as other')
            .select('other.external_id')
            .where('other.user_id', '=', userId)
            .whereRef('other.document_id', '=', 'one.document_id')
            .where('other.external_id', '<>', externalId),
        ),
      ),
    )
    .executeTakeFirst()
  return named?.document_id
}

export async function moveExternalIds(
  tx: Db,
  userId: string,
  from: string,
  to: string,
): Promise<void> {
  await tx
    .updateTable('rag_external_ids')
    .set({ document_id: to })
    .where('user_id', '=', userId)
    .where('document_id', '=', from)
    .execute()
}

export async function listIdsOfSource(
  tx: Db,
  userId: string,
  source: string,
  limit?: number,
): Promise<string[]> {
  const rows = await selectDocuments(tx, userId)
    .select('id')
    .where('source', '=', source)
    .$if(limit !== undefined, (query) => query.limit(limit as number))
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns the documents of these external ids. */
export async function findExternalIds(
  db: Db,
  userId: string,
  externalIds: string[],
): Promise<Map<string, string>> {
  const named = new Map<string, string>()
  for (let from = 0; from < externalIds.length; from += DOCUMENTS_A_STATEMENT) {
    const rows = await selectExternalIds(db, userId)
      .select(['external_id', 'document_id'])
      .where('external_id', 'in', externalIds.slice(from, from + DOCUMENTS_A_STATEMENT))
      .execute()
    for (const { external_id, document_id } of rows) named.set(external_id, document_id)
  }
  return named
}

/** Removes an external id; its document stays. */
export async function deleteExternalId(tx: Db, userId: string, externalId: string): Promise<void> {
  await tx
    .deleteFrom('rag_external_ids')
    .where('user_id', '=', userId)
    .where('external_id', '=', externalId)
    .execute()
}

export function listVersions(db: Db, userId: string): Promise<DocumentVersion[]> {
  return selectDocuments(db, userId).select(['id', 'version', 'edition']).execute()
}

export function readDocuments(db: Db, userId: string, ids: string[]): Promise<DocumentRow[]> {
  return selectDocuments(db, userId).selectAll().where('id', 'in', ids).execute()
}

/** When both names are given, both must match. */
export type DocumentNames = { externalId?: string | undefined; source?: string | undefined }

export type DocumentPage = DocumentNames & {
  limit: number
  offset?: number
  order?: DocumentOrder
  /** The last document of the page before, so that newer documents do not shift the page. */
  after?: DocumentPlace | null
  /** Only documents whose name contains this. SQLite ignores the case of ASCII letters only. */
  nameContains?: string | undefined
  /** Only documents in this collection. */
  collection?: string | undefined
}

export async function listDocumentRows(db: Db, userId: string, page: DocumentPage) {
  const { limit, offset = 0, after = null, order = NEWEST_FIRST } = page
  const { externalId, source, nameContains, collection } = page
  let mine = selectDocuments(db, userId)
  if (source !== undefined) mine = mine.where('source', '=', source)
  if (externalId !== undefined) {
    mine = mine.where('id', 'in', ({ selectFrom }) =>
      selectFrom('rag_external_ids')
        .select('document_id')
        .where('user_id', '=', userId)
        .where('external_id', '=', externalId),
    )
  }
  if (nameContains !== undefined) {
    const pattern = `%${nameContains.replace(/[\\%_]/g, '\\$&')}%`
    mine = mine.where(sql<boolean>`${NAME_KEY} like lower(${pattern}) escape '\\'`)
  }
  if (collection !== undefined) {
    mine = mine.where('id', 'in', ({ selectFrom }) =>
      selectFrom('rag_collection_documents')
        .select('document_id')
        .where('user_id', '=', userId)
        .where('collection_id', '=', collection),
    )
  }
  const key = buildSortKey(order)
  let listed = mine
  if (after !== null) {
    listed = listed.where((e) =>
      e.or([
        e(key, order.direction === 'desc' ? '<' : '>', after.value),
        e.and([e(key, '=', after.value), e('id', '>', after.id)]),
      ]),
    )
  }
  const rows = await listed
    .select([...VIEWED, NAME_KEY.as('name_key')])
    .orderBy(key, order.direction)
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
  const { total } = await mine
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const viewed = rows.map(({ name_key: _, ...row }) => row)
  return {
    rows: await addNamesAndFiles(db, userId, viewed),
    total: Number(total),
    /** The place at which the next page begins. */
    last: rows.at(-1) ?? null,
  }
}

/** Returns one document, as in the list, and its version. */
export async function viewDocument(db: Db, userId: string, id: string) {
  const row = await selectDocuments(db, userId)
    .select([...VIEWED, 'version'])
    .where('id', '=', id)
    .executeTakeFirst()
  return row && (await addNamesAndFiles(db, userId, [row]))[0]
}

const VIEWED = [
  'id',
  'source',
  'chunks',
  'characters',
  'metadata_json',
  'original_id',
  'created_at',
] as const

/** Adds the external ids, newest first, the original file and the collections. */
async function addNamesAndFiles<R extends Pick<DocumentRow, 'id' | 'original_id'>>(
  db: Db,
  userId: string,
  rows: R[],
) {
  const externalIds = await readExternalIds(
    db,
    userId,
    rows.map(({ id }) => id),
  )
  const files = await readFiles(
    db,
    userId,
    rows.flatMap(({ original_id }) => original_id ?? []),
  )
  const memberships = await readMemberships(
    db,
    userId,
    rows.map(({ id }) => id),
  )
  return rows.map(({ original_id, ...row }) => {
    const external_ids = externalIds.get(row.id) ?? []
    const file = files.get(original_id ?? '') ?? null
    const collections = memberships.get(row.id) ?? []
    return { ...row, external_id: external_ids[0] ?? null, external_ids, file, collections }
  })
}

/** For more documents, all the user's external ids and files are read. */
const DOCUMENTS_A_STATEMENT = 1_000

async function readExternalIds(
  db: Db,
  userId: string,
  ids: string[],
): Promise<Map<string, string[]>> {
  if (ids.length === 0) return new Map()
  let query = selectExternalIds(db, userId).select(['external_id', 'document_id'])
  if (ids.length <= DOCUMENTS_A_STATEMENT) query = query.where('document_id', 'in', ids)
  const rows = await query.orderBy('named_at', 'desc').orderBy('external_id').execute()
  const named = Map.groupBy(rows, ({ document_id }) => document_id)
  return new Map([...named].map(([id, names]) => [id, names.map((name) => name.external_id)]))
}

async function readFiles(db: Db, userId: string, ids: string[]) {
  if (ids.length === 0) return new Map<string, Omit<Original, 'id'>>()
  let query = db
    .selectFrom('rag_originals')
    .select(['id', 'name', 'bytes', 'sha256'])
    .where('user_id', '=', userId)
  if (ids.length <= DOCUMENTS_A_STATEMENT) query = query.where('id', 'in', ids)
  return new Map((await query.execute()).map(({ id, ...file }) => [id, file]))
}

export async function hasDocuments(db: Db, userId: string): Promise<boolean> {
  const row = await selectDocuments(db, userId).select('id').limit(1).executeTakeFirst()
  return row !== undefined
}

/** Returns those of the users who have documents. */
export async function findUsersWithDocuments(
  db: Db,
  users: readonly string[],
): Promise<Set<string>> {
  const full = new Set<string>()
  for (let from = 0; from < users.length; from += USERS_A_STATEMENT) {
    const rows = await db
      .selectFrom('rag_stores')
      .select('user_id')
      .where('user_id', 'in', users.slice(from, from + USERS_A_STATEMENT))
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('rag_documents')
            .select('id')
            .whereRef('rag_documents.user_id', '=', 'rag_stores.user_id'),
        ),
      )
      .execute()
    for (const { user_id } of rows) full.add(user_id)
  }
  return full
}

const USERS_A_STATEMENT = 500

/** Returns whether a document has vectors of this embedder. */
export async function hasEmbeddedDocument(
  db: Db,
  userId: string,
  embedder: string,
): Promise<boolean> {
  const row = await selectDocuments(db, userId)
    .select('id')
    .where('embedder', '=', embedder)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns whether a document names these chunks' version. */
export async function isLive(tx: Db, userId: string, version: string): Promise<boolean> {
  const row = await selectDocuments(tx, userId)
    .select('id')
    .where('version', '=', version)
    .executeTakeFirst()
  return row !== undefined
}

export async function eraseDocuments(tx: Db, userId: string): Promise<void> {
  for (const table of [
    'rag_jobs',
    'rag_external_ids',
    'rag_collection_documents',
    'rag_collections',
    'rag_documents',
    'rag_stores',
  ] as const) {
    await tx.deleteFrom(table).where('user_id', '=', userId).execute()
  }
}
