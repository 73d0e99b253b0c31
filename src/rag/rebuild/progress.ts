/**
 * Progress of a change of the embedder: one user's chunks for that user, all chunks for the
 * operator.
 */
import type { Db } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'

export type Progress = { done: number; total: number }

/**
 * Counts a user's chunks with vectors of the configured embedder. Returns null when all have them,
 * and without an embedder.
 */
export async function readProgress(
  { db, embedder }: Pick<RagDeps, 'db' | 'embedder'>,
  userId: string,
): Promise<Progress | null> {
  if (embedder === null) return null
  const row = await db
    .selectFrom('rag_documents')
    .select(({ fn }) => [
      fn.sum<number | null>('chunks').as('total'),
      fn.sum<number | null>('chunks').filterWhere('embedder', '=', embedder.id).as('done'),
    ])
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  const [total, done] = [Number(row.total ?? 0), Number(row.done ?? 0)]
  return done === total ? null : { done, total }
}

export type RebuildProgress = Progress & { users: number }

/**
 * Counts the users whose searches compare words only until their vectors are rebuilt, and their
 * chunks.
 */
export async function readRebuildProgress(db: Db, embedder: string): Promise<RebuildProgress> {
  const row = await db
    .selectFrom('rag_stores')
    .innerJoin('rag_documents', 'rag_documents.user_id', 'rag_stores.user_id')
    .select(({ fn }) => [
      fn.count<number>('rag_stores.user_id').distinct().as('users'),
      fn.sum<number | null>('chunks').as('total'),
      fn
        .sum<number | null>('chunks')
        .filterWhere('rag_documents.embedder', '=', embedder)
        .as('done'),
    ])
    // Two ranges instead of `<>`: they use the index, so the query is cheap when no rebuild is due.
    .where((e) =>
      e.or([e('rag_stores.embedder', '<', embedder), e('rag_stores.embedder', '>', embedder)]),
    )
    .executeTakeFirstOrThrow()
  return { users: Number(row.users), done: Number(row.done ?? 0), total: Number(row.total ?? 0) }
}
