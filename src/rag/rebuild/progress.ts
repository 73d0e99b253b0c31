/** Progress of a change of the embedder, for one user and for the operator. */
import type { Db } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'

export type Progress = { done: number; total: number }

/** Null when all the user's chunks have vectors of the embedder, and without one. */
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

/** Users whose searches compare words only until their rebuild, and their chunks. */
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
