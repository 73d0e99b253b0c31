/** How far a change of the embedder has come: of one user's chunks, for him, and of all, for the operator. */
import type { Db } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'

export type Progress = { done: number; total: number }

/** Chunks with vectors of the embedder that is set; null: all have them, or there is none. */
export async function progressOf(
  { db, embedder }: Pick<RagDeps, 'db' | 'embedder'>,
  userId: string,
): Promise<Progress | null> {
  if (embedder === null) return null
  const row = await db
    .selectFrom('rag_documents')
    .select(({ fn, eb }) => [
      fn.sum<number | null>('chunks').as('total'),
      fn
        .sum<number | null>('chunks')
        .filterWhere(
          eb.or([eb('embedder', '=', embedder.id), eb('next_embedder', '=', embedder.id)]),
        )
        .as('done'),
    ])
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  const [total, done] = [Number(row.total ?? 0), Number(row.done ?? 0)]
  return done === total ? null : { done, total }
}

export type Renewal = Progress & { users: number }

/** Of the users whose searches still compare with the embedder before, or words alone. By the index: nothing is read where nothing is to be done. */
export async function renewalOf(db: Db, embedder: string): Promise<Renewal> {
  const row = await db
    .selectFrom('rag_stores')
    .innerJoin('rag_documents', 'rag_documents.user_id', 'rag_stores.user_id')
    .select(({ fn }) => [
      fn.count<number>('rag_stores.user_id').distinct().as('users'),
      fn.sum<number | null>('chunks').as('total'),
      fn.sum<number | null>('chunks').filterWhere('next_embedder', '=', embedder).as('done'),
    ])
    .where((e) =>
      e.or([e('rag_stores.embedder', '<', embedder), e('rag_stores.embedder', '>', embedder)]),
    )
    .executeTakeFirstOrThrow()
  return { users: Number(row.users), done: Number(row.done ?? 0), total: Number(row.total ?? 0) }
}
