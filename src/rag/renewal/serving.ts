/**
 * Which embedder's vectors are searched: one for all documents of a user, so that no ranking mixes two. When another is set, its vectors are made beside
 * the old ones (`renewal.ts`), and the user goes over to them in one transaction, once all his documents have them.
 */
import type { Db } from '#platform/db/db.ts'
import { afterCommit } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { RagDeps } from '../deps.ts'
import {
  bumpRevision,
  type DocumentRow,
  hasDocuments,
  readStore,
} from '../documents/document-store.ts'

export const TIDY_JOB = 'rag.tidy'
/** Makes the vectors of the embedder that is set. */
export const RENEW_JOB = 'rag.renew'

/** Nodes may differ in the embedder that is set, while they are restarted one after the other: each job names its own. */
export type RenewJob = { embedder: string }
export type TidyJob = RenewJob & { userId: string }

type ServingDeps = Pick<RagDeps, 'jobs' | 'vectors'>

/** One that was given up begins anew. */
export async function renewLater(
  { jobs, embedder }: Pick<RagDeps, 'jobs' | 'embedder'>,
  db: Db,
): Promise<void> {
  if (embedder === null) return
  const job: RenewJob = { embedder: embedder.id }
  await jobs.enqueue(db, RENEW_JOB, job, { key: `${RENEW_JOB}:${embedder.id}` })
}

export async function tidyLater(
  { jobs }: Pick<RagDeps, 'jobs'>,
  tx: Db,
  job: TidyJob,
): Promise<void> {
  await jobs.enqueue(tx, TIDY_JOB, job, { key: `${TIDY_JOB}:${job.embedder}:${job.userId}` })
}

/** Under the user's lock. @returns false where a document still has no vectors of this embedder. */
export async function serveIfReady(
  deps: ServingDeps,
  tx: Db,
  userId: string,
  embedder: string,
): Promise<boolean> {
  if ((await nextUnready(tx, userId, embedder, deps.vectors.name)) !== undefined) return false
  const { embedder: serving } = await readStore(tx, userId)
  const { numUpdatedRows } = await tx
    .updateTable('rag_documents')
    .set({ embedder, next_embedder: '' })
    .where('user_id', '=', userId)
    .where((e) => e.or([e('embedder', '<>', embedder), e('next_embedder', '<>', '')]))
    .executeTakeFirstOrThrow()
  if (serving === embedder && numUpdatedRows === 0n) return true
  await tx.updateTable('rag_stores').set({ embedder }).where('user_id', '=', userId).execute()
  await bumpRevision(tx, userId)
  // Also where the same embedder goes on serving: what was made for another goes.
  if (serving !== '') await tidyLater(deps, tx, { userId, embedder })
  if (serving !== '' && serving !== embedder) afterCommit(tx, () => deps.vectors.forget(userId))
  return true
}

/** A document whose vectors are not yet those that are to be searched, or not yet where they are to lie. */
export async function nextUnready(
  db: Db,
  userId: string,
  embedder: string,
  keptIn: string,
  after = '',
) {
  const [document] = await listUnready(db, userId, { embedder, keptIn, after, limit: 1 })
  return document
}

type UnreadyPage = { embedder: string; keptIn: string; after: string; limit: number }

/** In the order of their ids, those behind `after`. */
export function listUnready(
  db: Db,
  userId: string,
  { embedder, keptIn, after, limit }: UnreadyPage,
) {
  return db
    .selectFrom('rag_documents')
    .select(UNREADY)
    .where('user_id', '=', userId)
    .where('id', '>', after)
    .where((e) =>
      e.or([
        e.and([e('embedder', '<>', embedder), e('next_embedder', '<>', embedder)]),
        e('kept_in', '<>', keptIn),
      ]),
    )
    .orderBy('id')
    .limit(limit)
    .execute()
}

const UNREADY = [
  'id',
  'version',
  'edition',
  'chunks',
  'total_chunks',
  'embedder',
  'next_embedder',
  'kept_in',
] as const
export type UnreadyDocument = Pick<DocumentRow, (typeof UNREADY)[number]>

/** The job behind a change: what is searched no more goes, some hundreds of rows a commit; of a user without documents, all. What is being made stays, by this node or by the one that asked. */
export async function tidyVectors(
  { db, vectors, embedder }: Pick<RagDeps, 'db' | 'vectors' | 'embedder'>,
  { userId, embedder: making }: TidyJob,
  signal: AbortSignal,
): Promise<void> {
  const documents = await db
    .selectFrom('rag_documents')
    .select(['version', 'embedder', 'next_embedder', 'kept_in'])
    .where('user_id', '=', userId)
    .execute()
  for (const document of documents) {
    do signal.throwIfAborted()
    while (
      (await vectors.tidySlice(db, userId, document, [making, embedder?.id ?? ''])) >= SLICE_ROWS
    )
  }
  const { embedder: serving } = await readStore(db, userId)
  // The last document may have gone meanwhile.
  await vectors.forgetOthers(db, userId, (await hasDocuments(db, userId)) ? serving : '')
}
