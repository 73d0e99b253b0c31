// The room's SQL. Every statement names the user first; chunks are found only through the version that a document names as its own.
import '../tables.ts'
import type { Selectable } from 'kysely'
import { type Db, forUpdate } from '#platform/db/db.ts'
import type { Metadata, RagDocumentsTable } from '../tables.ts'

export type DocumentRow = Selectable<RagDocumentsTable>
export type DocumentVersion = { id: string; version: string; edition: number }

export type ChunkRow = {
  index: number
  content: string
  vector: Uint8Array
}

/** Makes the user's other changes wait until the transaction ends. */
export async function lockStore(tx: Db, userId: string): Promise<void> {
  await tx
    .insertInto('rag_stores')
    .values({ user_id: userId, revision: 0 })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .execute()
  await forUpdate(tx, tx.selectFrom('rag_stores').select('revision').where('user_id', '=', userId)).execute()
}

export async function bumpRevision(tx: Db, userId: string): Promise<void> {
  await tx
    .updateTable('rag_stores')
    .set((e) => ({ revision: e('revision', '+', 1) }))
    .where('user_id', '=', userId)
    .execute()
}

export async function revisionOf(db: Db, userId: string): Promise<number> {
  const row = await db.selectFrom('rag_stores').select('revision').where('user_id', '=', userId).executeTakeFirst()
  return row?.revision ?? 0
}

export function findDocument(db: Db, userId: string, id: string): Promise<DocumentRow | undefined> {
  return db
    .selectFrom('rag_documents')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** @returns the version that it takes the place of. */
export async function putDocument(tx: Db, row: DocumentRow): Promise<string | undefined> {
  const before = await tx
    .selectFrom('rag_documents')
    .select('version')
    .where('user_id', '=', row.user_id)
    .where('id', '=', row.id)
    .executeTakeFirst()
  const { user_id, id, ...rest } = row
  await tx
    .insertInto('rag_documents')
    .values(row)
    .onConflict((conflict) => conflict.columns(['user_id', 'id']).doUpdateSet(rest))
    .execute()
  return before?.version
}

export async function updateDocument(tx: Db, userId: string, id: string, set: Partial<DocumentRow>): Promise<void> {
  await tx.updateTable('rag_documents').set(set).where('user_id', '=', userId).where('id', '=', id).execute()
}

export async function deleteDocumentRow(tx: Db, userId: string, id: string): Promise<void> {
  await tx.deleteFrom('rag_external_ids').where('user_id', '=', userId).where('document_id', '=', id).execute()
  await tx.deleteFrom('rag_documents').where('user_id', '=', userId).where('id', '=', id).execute()
}

/** Gives a document an external id, takes it from the one that had it, and says which that was. */
export async function nameDocument(
  tx: Db,
  userId: string,
  { externalId, id, at }: { externalId: string; id: string; at: string },
): Promise<string | undefined> {
  const before = await tx
    .selectFrom('rag_external_ids')
    .select('document_id')
    .where('user_id', '=', userId)
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

export async function hasName(tx: Db, userId: string, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('rag_external_ids')
    .select('external_id')
    .where('user_id', '=', userId)
    .where('document_id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

export async function moveNames(tx: Db, userId: string, from: string, to: string): Promise<void> {
  await tx
    .updateTable('rag_external_ids')
    .set({ document_id: to })
    .where('user_id', '=', userId)
    .where('document_id', '=', from)
    .execute()
}

export async function listIdsOfSource(tx: Db, userId: string, source: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('rag_documents')
    .select('id')
    .where('user_id', '=', userId)
    .where('source', '=', source)
    .execute()
  return rows.map(({ id }) => id)
}

export function listVersions(db: Db, userId: string): Promise<DocumentVersion[]> {
  return db.selectFrom('rag_documents').select(['id', 'version', 'edition']).where('user_id', '=', userId).execute()
}

export function readDocuments(db: Db, userId: string, ids: string[]): Promise<DocumentRow[]> {
  return db.selectFrom('rag_documents').selectAll().where('user_id', '=', userId).where('id', 'in', ids).execute()
}

export type DocumentListing = {
  id: string
  /** The newest of `external_ids`. */
  external_id: string | null
  /** Newest first. */
  external_ids: string[]
  source: string | null
  chunks: number
  characters: number
  metadata_json: Metadata
  created_at: string
}

export async function listDocuments(
  db: Db,
  userId: string,
  limit: number,
  offset: number,
): Promise<{ rows: DocumentListing[]; total: number }> {
  const mine = db.selectFrom('rag_documents').where('user_id', '=', userId)
  const rows = await mine
    .select(['id', 'source', 'chunks', 'characters', 'metadata_json', 'created_at'])
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
  const { total } = await mine.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const names = await namesOf(
    db,
    userId,
    rows.map(({ id }) => id),
  )
  return {
    rows: rows.map((row) => {
      const external_ids = names.get(row.id) ?? []
      return { ...row, external_id: external_ids[0] ?? null, external_ids }
    }),
    total: Number(total),
  }
}

/** Of so many documents all the user's names are read. */
const NAMED_AT_ONCE = 1_000

async function namesOf(db: Db, userId: string, ids: string[]): Promise<Map<string, string[]>> {
  if (ids.length === 0) return new Map()
  let query = db.selectFrom('rag_external_ids').select(['external_id', 'document_id']).where('user_id', '=', userId)
  if (ids.length <= NAMED_AT_ONCE) query = query.where('document_id', 'in', ids)
  const rows = await query.orderBy('named_at', 'desc').orderBy('external_id').execute()
  const names = new Map<string, string[]>()
  for (const { external_id, document_id } of rows) {
    const known = names.get(document_id)
    if (known) known.push(external_id)
    else names.set(document_id, [external_id])
  }
  return names
}

/** SQLite takes 32,766 parameters a statement, PostgreSQL 65,535. */
const ROWS_A_STATEMENT = 200

export async function insertChunks(tx: Db, userId: string, version: string, rows: ChunkRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
    await tx
      .insertInto('rag_chunks')
      .values(
        rows.slice(from, from + ROWS_A_STATEMENT).map(({ index, content, vector }) => ({
          user_id: userId,
          version,
          chunk_index: index,
          content,
          vector,
        })),
      )
      .execute()
  }
}

export function readChunk(db: Db, userId: string, version: string, index: number) {
  return db
    .selectFrom('rag_chunks')
    .select(['chunk_index', 'content'])
    .where('user_id', '=', userId)
    .where('version', '=', version)
    .where('chunk_index', '=', index)
    .executeTakeFirst()
}

export function readChunks(db: Db, userId: string, version: string, from: number, to: number) {
  return db
    .selectFrom('rag_chunks')
    .select(['chunk_index', 'content'])
    .where('user_id', '=', userId)
    .where('version', '=', version)
    .where('chunk_index', '>=', from)
    .where('chunk_index', '<', to)
    .orderBy('chunk_index')
    .execute()
}

/** The contents of some chunks, by `version/index`. */
export async function readContents(
  db: Db,
  userId: string,
  chunks: { version: string; index: number }[],
): Promise<Map<string, string>> {
  const contents = new Map<string, string>()
  // One statement a version: for a long list of pairs SQLite would walk through all of the user's chunks.
  const versions = [...Map.groupBy(chunks, ({ version }) => version)]
  await Promise.all(
    versions.map(async ([version, wanted]) => {
      const rows = await db
        .selectFrom('rag_chunks')
        .select(['chunk_index', 'content'])
        .where('user_id', '=', userId)
        .where('version', '=', version)
        .where(
          'chunk_index',
          'in',
          wanted.map(({ index }) => index),
        )
        .execute()
      for (const row of rows) contents.set(`${version}/${row.chunk_index}`, row.content)
    }),
  )
  return contents
}

/** Whole documents, for the export: their chunks in order. */
export async function readTexts(
  db: Db,
  userId: string,
  ids: string[],
): Promise<{ id: string; chunks: { id: string; content: string }[] }[]> {
  const texts: { id: string; chunks: { id: string; content: string }[] }[] = []
  for (const id of ids) {
    const rows = await db
      .selectFrom('rag_documents')
      .innerJoin('rag_chunks', (join) =>
        join
          .onRef('rag_chunks.user_id', '=', 'rag_documents.user_id')
          .onRef('rag_chunks.version', '=', 'rag_documents.version'),
      )
      .select(['chunk_index', 'content'])
      .where('rag_documents.user_id', '=', userId)
      .where('rag_documents.id', '=', id)
      .orderBy('chunk_index')
      .execute()
    texts.push({ id, chunks: rows.map(({ chunk_index, content }) => ({ id: `${id}_${chunk_index}`, content })) })
  }
  return texts
}

/** @returns how many there were. */
export async function deleteChunks(tx: Db, userId: string, version: string, indexes: number[] | null): Promise<number> {
  let query = tx.deleteFrom('rag_chunks').where('user_id', '=', userId).where('version', '=', version)
  if (indexes !== null) query = query.where('chunk_index', 'in', indexes)
  const { numDeletedRows } = await query.executeTakeFirst()
  return Number(numDeletedRows)
}

/** The next chunks of a version, so that a large one is deleted in slices. */
export async function someIndexes(tx: Db, userId: string, version: string, limit: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('rag_chunks')
    .select('chunk_index')
    .where('user_id', '=', userId)
    .where('version', '=', version)
    .limit(limit)
    .execute()
  return rows.map(({ chunk_index }) => chunk_index)
}

export async function isLive(tx: Db, userId: string, version: string): Promise<boolean> {
  const row = await tx
    .selectFrom('rag_documents')
    .select('id')
    .where('user_id', '=', userId)
    .where('version', '=', version)
    .executeTakeFirst()
  return row !== undefined
}

/** Documents whose vectors are another embedder's or lie in another store. */
export function listStale(db: Db, embedder: string, keptIn: string, limit: number) {
  return db
    .selectFrom('rag_documents')
    .select(['user_id', 'id', 'version', 'edition'])
    .where((e) => e.or([e('embedder', '<>', embedder), e('kept_in', '<>', keptIn)]))
    .limit(limit)
    .execute()
}

export async function eraseStore(tx: Db, userId: string): Promise<void> {
  for (const table of ['rag_chunks', 'rag_external_ids', 'rag_documents', 'rag_stores'] as const) {
    await tx.deleteFrom(table).where('user_id', '=', userId).execute()
  }
}
