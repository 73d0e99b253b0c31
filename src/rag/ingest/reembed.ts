/** Documents that have no vectors, or whose vectors another embedder or vector store left behind: embedded again, under a new version. */
import { randomUUID } from 'node:crypto'
import type { Embedder } from '#embeddings/embedder.ts'
import { HOUR_MS, plus } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import type { JobContext } from '#platform/jobs/runner.ts'
import type { RagDeps } from '../deps.ts'
import { deleteChunks, readChunks } from '../documents/chunk-store.ts'
import { bumpRevision, findDocument, listStale, lockDocuments, updateDocument } from '../documents/document-store.ts'
import { CHUNKS_PER_BATCH } from '../documents/documents.ts'
import { insertBatch } from './ingest.ts'

type ReembedDeps = Pick<RagDeps, 'db' | 'clock' | 'jobs' | 'vectors'> & { embedder: Embedder }

const STALE_AT_ONCE = 50
const UNCLAIMED_FOR_MS = 6 * HOUR_MS

/** A job at the start. Document by document; one that has not had its turn is found by its words. @returns how many */
export async function reembed(
  { db, clock, jobs, embedder, vectors }: Pick<RagDeps, 'db' | 'clock' | 'jobs' | 'embedder' | 'vectors'>,
  { signal, advanced }: Pick<JobContext, 'signal' | 'advanced'>,
): Promise<number> {
  // What is there waits: the embedder may come back.
  if (embedder === null) return 0
  let renewed = 0
  for (;;) {
    const stale = await listStale(db, embedder.id, vectors.name, STALE_AT_ONCE)
    if (stale.length === 0) return renewed
    for (const { user_id: userId, id, version, edition } of stale) {
      await reembedDocument({ db, clock, jobs, embedder, vectors }, { userId, id, version, edition }, signal)
      await advanced(db)
      renewed++
    }
  }
}

async function reembedDocument(
  { db, clock, jobs, embedder, vectors }: ReembedDeps,
  { userId, id, version, edition }: { userId: string; id: string; version: string; edition: number },
  signal: AbortSignal,
): Promise<void> {
  const document = await findDocument(db, userId, id)
  if (document?.version !== version) return
  const next = randomUUID()
  // Written first: if this process dies half-way, the job takes away what nobody will name.
  if (document.total_chunks > CHUNKS_PER_BATCH) {
    await jobs.enqueue(db, 'rag.sweep', { userId, version: next }, { runAt: plus(clock.now(), UNCLAIMED_FOR_MS) })
  }

  for (let from = 0; from < document.total_chunks; from += CHUNKS_PER_BATCH) {
    const chunks = await readChunks(db, userId, version, from, from + CHUNKS_PER_BATCH)
    if (chunks.length === 0) continue
    const embedded = await embedder.embed(
      chunks.map(({ content }) => content),
      'document',
      signal,
    )
    await transaction(db, (tx) => insertBatch(tx, vectors, { userId, version: next }, chunks, embedded.vectors))
  }

  await transaction(db, async (tx) => {
    await lockDocuments(tx, userId)
    const now = await findDocument(tx, userId, id)
    // Replaced, deleted or cut meanwhile: what was made is dropped, and the next round sees the document as it is.
    const isSame = now?.version === version && now.edition === edition
    if (isSame) {
      await updateDocument(tx, userId, id, {
        version: next,
        embedder: embedder.id,
        kept_in: vectors.name,
      })
      await bumpRevision(tx, userId)
    }
    await deleteChunks(tx, userId, isSame ? version : next, null)
    await vectors.remove(tx, userId, isSame ? version : next, null)
  })
}
