// Lists and deletes documents. Chunks are stored under a version that stays invisible until the
// document's row names it, so a replacement is one small transaction and a search never sees none
// or both. The price: unclaimed chunks need a sweep.
import { type Db, transaction } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'
import { findOriginal, type Original } from '../originals/original-store.ts'
import { dropOriginal, readOriginal } from '../originals/originals.ts'
import { ragProblem } from '../problems.ts'
import { updateStoreEmbedder } from '../rebuild/store-embedder.ts'
import type { Metadata } from '../tables.ts'
import { deleteChunks, listNextIndexes, listSpans, readChunk } from './chunk-store.ts'
import { encodeDocumentCursor, NEWEST_FIRST } from './document-order.ts'
import {
  bumpRevision,
  type DocumentPage,
  type DocumentRow,
  deleteDocumentRow,
  deleteExternalId,
  findDocument,
  findNamedAlone,
  isLive,
  listDocumentRows,
  listIdsOfSource,
  lockDocuments,
  readDocuments,
  updateDocument,
  viewDocument,
} from './document-store.ts'
import { freeIfEmpty } from './emptied.ts'
import { parseDocumentId } from './ids.ts'

/** A document in the API. */
export type DocumentView = {
  id: string
  /** The newest of `external_ids`. */
  external_id: string | null
  /** Newest first. */
  external_ids: string[]
  source: string | null
  chunks: number
  characters: number
  metadata: Metadata
  /** The document's original file, where it is stored. */
  file: Omit<Original, 'id'> | null
  /** Ids, in the order in which it was added. */
  collections: string[]
  created_at: string
}

/** `total` counts the user's documents on all pages; `cursor` is that of the next page. */
export async function listDocuments(
  db: Db,
  userId: string,
  page: DocumentPage,
): Promise<{ documents: DocumentView[]; total: number; cursor: string | null }> {
  const { rows, total, last } = await listDocumentRows(db, userId, page)
  return {
    documents: rows.map(({ metadata_json, ...row }) => ({ ...row, metadata: metadata_json })),
    total,
    cursor:
      last === null || rows.length < page.limit
        ? null
        : encodeDocumentCursor(page.order ?? NEWEST_FIRST, last),
  }
}

/** `spans` begin with the chunk, where the id is a chunk's. @throws Problem 404 */
export async function describeDocument(
  { db }: Pick<RagDeps, 'db'>,
  userId: string,
  documentId: string,
  spansMax: number,
) {
  const named = parseDocumentId(documentId)
  const row = named && (await viewDocument(db, userId, named.id))
  if (!row) throw ragProblem('document_not_found')
  const { version, metadata_json, ...view } = row
  const chunk = named.index === null ? null : await readChunk(db, userId, version, named.index)
  if (chunk === undefined) throw ragProblem('document_not_found')
  const spans = await listSpans(db, userId, version, named.index ?? 0, spansMax)
  return {
    ...view,
    metadata: metadata_json,
    content: chunk?.content ?? null,
    spans: spans.map(({ index, ...span }) => ({ id: `${view.id}_${index}`, ...span })),
  }
}

/** @throws Problem 404 without such a document or file; 503 when the file is missing */
export async function openDocumentFile(
  deps: Pick<RagDeps, 'db' | 'secrets' | 'files'>,
  userId: string,
  documentId: string,
) {
  const named = parseDocumentId(documentId)
  const document = named && (await findDocument(deps.db, userId, named.id))
  if (!document) throw ragProblem('document_not_found')
  if (named.index !== null && !(await readChunk(deps.db, userId, document.version, named.index)))
    throw ragProblem('document_not_found')
  const file =
    document.original_id === null
      ? undefined
      : await findOriginal(deps.db, userId, document.original_id)
  if (!file) throw ragProblem('original_not_found')
  return { file, bytes: await readOriginal(deps, file) }
}

/** Deletes a chunk by its id, or a document by its 12 characters. @throws Problem 404 */
export async function deleteDocument(
  deps: Pick<RagDeps, 'db' | 'jobs' | 'bus' | 'vectors' | 'embedder'>,
  userId: string,
  documentId: string,
): Promise<void> {
  const named = parseDocumentId(documentId)
  if (named === null) throw ragProblem('document_not_found')
  const { id, index } = named

  await transaction(deps.db, async (tx) => {
    await lockDocuments(tx, userId)
    const document = await findDocument(tx, userId, id)
    if (document === undefined) throw ragProblem('document_not_found')

    if (index === null) {
      await removeDocument(deps, tx, userId, document)
    } else {
      const chunk = await readChunk(tx, userId, document.version, index)
      if (chunk === undefined) throw ragProblem('document_not_found')
      await deleteChunks(tx, userId, document.version, [index])
      await deps.vectors.remove(tx, userId, document.version, [index])
      if (document.chunks === 1) {
        await deleteDocumentRow(tx, userId, id)
        await dropOriginal(deps, tx, userId, document.original_id)
      } else {
        await updateDocument(tx, userId, id, {
          chunks: document.chunks - 1,
          edition: document.edition + 1,
        })
      }
    }
    await bumpRevision(tx, userId)
    await updateStoreEmbedder(deps, tx, userId)
    await freeIfEmpty(deps, tx, userId)
  })
}

/** Deleted in one transaction; a source may have many documents. */
const DOCUMENTS_PER_BATCH = 100

/**
 * Deletes the documents of a source, or the one of an external id. A document with another external
 * id only loses this id.
 * @returns how many documents were deleted
 */
export async function deleteDocuments(
  deps: Pick<RagDeps, 'db' | 'jobs' | 'bus' | 'vectors' | 'embedder'>,
  userId: string,
  name: { externalId: string } | { source: string },
): Promise<number> {
  let deleted = 0
  for (;;) {
    const count = await transaction(deps.db, async (tx) => {
      await lockDocuments(tx, userId)
      const ids =
        'source' in name ? await listIdsOfSource(tx, userId, name.source, DOCUMENTS_PER_BATCH) : []
      if ('externalId' in name) {
        const alone = await findNamedAlone(tx, userId, name.externalId)
        if (alone !== undefined) ids.push(alone)
        await deleteExternalId(tx, userId, name.externalId)
      }
      if (ids.length === 0) return 0
      const documents = await readDocuments(tx, userId, ids)
      for (const document of documents) await removeDocument(deps, tx, userId, document)
      await bumpRevision(tx, userId)
      await updateStoreEmbedder(deps, tx, userId)
      await freeIfEmpty(deps, tx, userId)
      return documents.length
    })
    deleted += count
    if (count < DOCUMENTS_PER_BATCH) return deleted
  }
}

/** Chunks that are embedded and written, or deleted, in one transaction. */
export const CHUNKS_PER_BATCH = 256

/** Deletes a document's row, its original and its chunks: few chunks at once, many by a job. */
export async function removeDocument(
  deps: Pick<RagDeps, 'jobs' | 'vectors'>,
  tx: Db,
  userId: string,
  { id, version, original_id }: Pick<DocumentRow, 'id' | 'version' | 'original_id'>,
): Promise<void> {
  await deleteDocumentRow(tx, userId, id)
  await dropOriginal(deps, tx, userId, original_id)
  await dropChunks(deps, tx, userId, version)
}

/** Deletes chunks that no document names any more. */
export async function dropChunks(
  { jobs, vectors }: Pick<RagDeps, 'jobs' | 'vectors'>,
  tx: Db,
  userId: string,
  version: string,
): Promise<void> {
  const indexes = await listNextIndexes(tx, userId, version, CHUNKS_PER_BATCH + 1)
  if (indexes.length > CHUNKS_PER_BATCH) return jobs.enqueue(tx, 'rag.sweep', { userId, version })
  await deleteChunks(tx, userId, version, null)
  await vectors.remove(tx, userId, version, null)
}

/** The job that deletes chunks of deleted documents and of killed ingests. */
export async function sweepChunks(
  { db, vectors }: Pick<RagDeps, 'db' | 'vectors'>,
  { userId, version }: { userId: string; version: string },
): Promise<void> {
  for (let left = true; left; ) {
    left = await transaction(db, async (tx) => {
      if (await isLive(tx, userId, version)) return false
      const indexes = await listNextIndexes(tx, userId, version, CHUNKS_PER_BATCH)
      if (indexes.length === 0) return false
      await deleteChunks(tx, userId, version, indexes)
      await vectors.remove(tx, userId, version, indexes)
      return true
    })
  }
}
