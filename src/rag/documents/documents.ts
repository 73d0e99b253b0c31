/**
 * A user's documents: listed, deleted, and cleaned up after.
 * Chunks lie under a version of their own, invisible until the document's row names it; so a replacement is one small transaction however
 * large the text, and a search sees the old document or the new one, never none and never both. The price: unclaimed chunks, to be swept.
 */
import { type Db, transaction } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'
import { ragProblem } from '../problems.ts'
import type { Metadata } from '../tables.ts'
import { deleteChunks, readChunk, someIndexes } from './chunk-store.ts'
import {
  bumpRevision,
  type DocumentPage,
  type DocumentRow,
  deleteDocumentRow,
  findDocument,
  isLive,
  listDocumentRows,
  lockDocuments,
  updateDocument,
} from './document-store.ts'
import { parseDocumentId } from './ids.ts'

/** As clients see one. */
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
  created_at: string
}

/** Newest first; `total` is of all that there are. */
export async function listDocuments(
  db: Db,
  userId: string,
  page: DocumentPage,
): Promise<{ documents: DocumentView[]; total: number }> {
  const { rows, total } = await listDocumentRows(db, userId, page)
  return { documents: rows.map(({ metadata_json, ...row }) => ({ ...row, metadata: metadata_json })), total }
}

/** A chunk by its id, or a whole document by its 12 characters. @throws Problem 404 when the user has none such */
export async function deleteDocument(
  deps: Pick<RagDeps, 'db' | 'jobs' | 'vectors'>,
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
      if (document.chunks === 1) await deleteDocumentRow(tx, userId, id)
      else {
        await updateDocument(tx, userId, id, {
          chunks: document.chunks - 1,
          edition: document.edition + 1,
        })
      }
    }
    await bumpRevision(tx, userId)
  })
}

/** Chunks embedded and written, or deleted, in one transaction. */
export const CHUNKS_PER_BATCH = 256

/** Deletes a document's row, and its chunks: a few at once, many by a job. */
export async function removeDocument(
  deps: Pick<RagDeps, 'jobs' | 'vectors'>,
  tx: Db,
  userId: string,
  { id, version }: Pick<DocumentRow, 'id' | 'version'>,
): Promise<void> {
  await deleteDocumentRow(tx, userId, id)
  await dropChunks(deps, tx, userId, version)
}

/** Chunks that no document names any more. */
export async function dropChunks(
  { jobs, vectors }: Pick<RagDeps, 'jobs' | 'vectors'>,
  tx: Db,
  userId: string,
  version: string,
): Promise<void> {
  const indexes = await someIndexes(tx, userId, version, CHUNKS_PER_BATCH + 1)
  if (indexes.length > CHUNKS_PER_BATCH) return jobs.enqueue(tx, 'rag.sweep', { userId, version })
  await deleteChunks(tx, userId, version, null)
  await vectors.remove(tx, userId, version, null)
}

/** The job behind `dropChunks`, and behind ingests that died. */
export async function sweepChunks(
  { db, vectors }: Pick<RagDeps, 'db' | 'vectors'>,
  { userId, version }: { userId: string; version: string },
): Promise<void> {
  for (let left = true; left; ) {
    left = await transaction(db, async (tx) => {
      if (await isLive(tx, userId, version)) return false
      const indexes = await someIndexes(tx, userId, version, CHUNKS_PER_BATCH)
      if (indexes.length === 0) return false
      await deleteChunks(tx, userId, version, indexes)
      await vectors.remove(tx, userId, version, indexes)
      return true
    })
  }
}
