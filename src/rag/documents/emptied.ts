/**
 * What is kept of a user's documents beside their rows (the index of their words, vectors in memory, an index of vectors in the database) is let
 * go once the last document has gone: nobody may search there again, and then nobody would notice.
 */
import { afterCommit, type Db } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'
import { tidyLater } from '../renewal/serving.ts'
import { hasDocuments, readStore } from './document-store.ts'

const EMPTIED = 'rag.emptied'

/** Under the user's lock. */
export async function letGoIfEmpty(deps: Pick<RagDeps, 'jobs' | 'bus'>, tx: Db, userId: string): Promise<void> {
  if (await hasDocuments(tx, userId)) return
  letGo(deps, tx, userId)
  const { embedder } = await readStore(tx, userId)
  if (embedder !== '') await tidyLater(deps, tx, { userId, embedder })
}

/** From the memory of every node. */
export function letGo({ bus }: Pick<RagDeps, 'bus'>, tx: Db, userId: string): void {
  afterCommit(tx, () => bus.publish(EMPTIED, { userId }))
}

export function onEmptied({ bus }: Pick<RagDeps, 'bus'>, forget: (userId: string) => void): void {
  bus.on(EMPTIED, (payload) => forget((payload as { userId: string }).userId))
}
