// Frees a user's memory and indexes after the last document was deleted: without a further search,
// nothing else would.
import { afterCommit, type Db } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'
import { findUsersWithDocuments, hasDocuments } from './document-store.ts'

const EMPTIED = 'rag.emptied'
export const DROP_INDEXES_JOB = 'rag.drop-indexes'

type DropIndexesJob = { userId: string }

/** The caller holds the user's lock. */
export async function freeIfEmpty(
  { jobs, bus, vectors }: Pick<RagDeps, 'jobs' | 'bus' | 'vectors'>,
  tx: Db,
  userId: string,
): Promise<void> {
  if (await hasDocuments(tx, userId)) return
  publishEmptied({ bus }, tx, userId)
  if (vectors.dropIndexes === undefined) return
  // Without a key: a job that already runs may have checked before this deletion.
  await jobs.enqueue(tx, DROP_INDEXES_JOB, { userId } satisfies DropIndexesJob)
}

/** Outside of a transaction, which `drop index concurrently` refuses. */
export async function dropIndexesIfEmpty(
  { db, vectors }: Pick<RagDeps, 'db' | 'vectors'>,
  { userId }: DropIndexesJob,
): Promise<void> {
  if (!(await hasDocuments(db, userId))) await vectors.dropIndexes?.(db, userId, null)
}

/** Frees the user's memory on every node, after the commit. */
export function publishEmptied({ bus }: Pick<RagDeps, 'bus'>, tx: Db, userId: string): void {
  afterCommit(tx, () => bus.publish(EMPTIED, { userId }))
}

/** State that this node holds in memory by user. */
type UserCache = { users(): string[]; forget(userId: string): void }

export function forgetEmptied(
  { bus, db }: Pick<RagDeps, 'bus' | 'db'>,
  caches: readonly UserCache[],
): void {
  const forget = (userId: string) => {
    for (const cache of caches) cache.forget(userId)
  }
  bus.on(EMPTIED, (payload) => forget((payload as { userId: string }).userId))
  bus.onGap(async () => {
    const users = [...new Set(caches.flatMap((cache) => cache.users()))]
    // When the database does not answer, all users are freed; their next search reads again.
    const filled = await findUsersWithDocuments(db, users).catch(() => new Set<string>())
    for (const userId of users) if (!filled.has(userId)) forget(userId)
  })
}
