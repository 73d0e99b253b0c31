/**
 * What is kept of a user's documents beside their rows (the index of their words, vectors in memory, an index of vectors in the database) is let
 * go once the last document has gone: nobody may search there again, and then nobody would notice.
 */
import { afterCommit, type Db } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'
import { TIDY_JOB, type TidyJob } from '../renewal/serving.ts'
import { hasDocuments, readStore, withDocuments } from './document-store.ts'

const EMPTIED = 'rag.emptied'

/** Under the user's lock. */
export async function letGoIfEmpty(
  { jobs, bus }: Pick<RagDeps, 'jobs' | 'bus'>,
  tx: Db,
  userId: string,
): Promise<void> {
  if (await hasDocuments(tx, userId)) return
  letGo({ bus }, tx, userId)
  const { embedder } = await readStore(tx, userId)
  // Without a key: one that runs already may have looked before.
  if (embedder !== '') await jobs.enqueue(tx, TIDY_JOB, { userId, embedder } satisfies TidyJob)
}

/** From the memory of every node. */
export function letGo({ bus }: Pick<RagDeps, 'bus'>, tx: Db, userId: string): void {
  afterCommit(tx, () => bus.publish(EMPTIED, { userId }))
}

/** What this node has in memory: of whom, and how it is let go. */
type Remembered = { users(): string[]; forget(userId: string): void }

export function forgetEmptied(
  { bus, db }: Pick<RagDeps, 'bus' | 'db'>,
  kept: readonly Remembered[],
): void {
  const forget = (userId: string) => {
    for (const one of kept) one.forget(userId)
  }
  bus.on(EMPTIED, (payload) => forget((payload as { userId: string }).userId))
  bus.onGap(async () => {
    const users = [...new Set(kept.flatMap((one) => one.users()))]
    // Where nobody can say who still has documents, all are read anew at their next search.
    const full = await withDocuments(db, users).catch(() => new Set<string>())
    for (const userId of users) if (!full.has(userId)) forget(userId)
  })
}
