// `rag_stores.embedder` names the embedder of all a user's vectors. It is empty while some document
// lacks them; searches then compare words only, so that no ranking mixes embedders.
import { afterCommit, type Db } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'
import { bumpRevision, type DocumentRow, readStore } from '../documents/document-store.ts'

export const REBUILD_JOB = 'rag.rebuild-vectors'

/** Names its embedder, because nodes may differ in it while they restart one after the other. */
export type RebuildJob = { embedder: string }

export async function enqueueRebuild(
  { jobs, embedder }: Pick<RagDeps, 'jobs' | 'embedder'>,
  db: Db,
): Promise<void> {
  if (embedder === null) return
  const job: RebuildJob = { embedder: embedder.id }
  await jobs.enqueue(db, REBUILD_JOB, job, { key: `${REBUILD_JOB}:${embedder.id}` })
}

/**
 * Sets the store's embedder when all documents have its vectors, else clears it. The caller holds
 * the user's lock.
 * @returns true when the store's vectors can be searched
 */
export async function updateStoreEmbedder(
  { embedder, vectors }: Pick<RagDeps, 'embedder' | 'vectors'>,
  tx: Db,
  userId: string,
): Promise<boolean> {
  if (embedder === null) return false
  const store = await readStore(tx, userId)
  if (store.embedder === embedder.id) return true
  const page = { embedder: embedder.id, after: '', limit: 1 }
  const isComplete = (await listUnembedded(tx, userId, page)).length === 0
  await setStoreEmbedder(tx, userId, isComplete ? embedder.id : '')
  if (isComplete) afterCommit(tx, () => vectors.forget(userId))
  return isComplete
}

export async function setStoreEmbedder(tx: Db, userId: string, embedder: string): Promise<void> {
  if ((await readStore(tx, userId)).embedder === embedder) return
  await tx.updateTable('rag_stores').set({ embedder }).where('user_id', '=', userId).execute()
  await bumpRevision(tx, userId)
}

const UNEMBEDDED = ['id', 'version', 'edition', 'chunks', 'total_chunks', 'embedder'] as const
export type UnembeddedDocument = Pick<DocumentRow, (typeof UNEMBEDDED)[number]>

/** Returns documents without this embedder's vectors, by id, behind `after`. */
export function listUnembedded(
  db: Db,
  userId: string,
  { embedder, after, limit }: { embedder: string; after: string; limit: number },
): Promise<UnembeddedDocument[]> {
  return db
    .selectFrom('rag_documents')
    .select(UNEMBEDDED)
    .where('user_id', '=', userId)
    .where('id', '>', after)
    .where('embedder', '<>', embedder)
    .orderBy('id')
    .limit(limit)
    .execute()
}
