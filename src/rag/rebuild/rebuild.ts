// The job behind a change of the embedder. It replaces vectors batch by batch, while searches
// compare words only, and skips finished chunks after a kill. The trap: a text that the vendor
// rejects must not block other documents or users.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, transaction } from '#platform/db/db.ts'
import type { JobContext } from '#platform/jobs/runner.ts'
import type { RagDeps } from '../deps.ts'
import { type Chunk, readChunks } from '../documents/chunk-store.ts'
import { findDocument, lockDocuments, updateDocument } from '../documents/document-store.ts'
import { CHUNKS_PER_BATCH } from '../documents/documents.ts'
import {
  listUnembedded,
  type RebuildJob,
  setStoreEmbedder,
  type UnembeddedDocument,
  updateStoreEmbedder,
} from './store-embedder.ts'

type RebuildDeps = Pick<RagDeps, 'db' | 'log' | 'embedder' | 'vectors'>
type Rebuilding = RebuildDeps & { embedder: NonNullable<RagDeps['embedder']> }
type Context = Pick<JobContext, 'signal' | 'advanced'>

/** Consecutive failing documents after which the vendor, not a text, is considered at fault. */
const FAILURES_MAX = 20
const USERS_PER_READ = 200
/** Pause after each batch, so that other statements can run. */
const PAUSE_MS = 20

/**
 * Returns whether this node is configured with the job's embedder.
 * @throws Error when it is not, so that the job is retried on another node; on the last attempt it
 * only logs
 */
export function isOwnRebuild(
  { embedder, log }: Pick<RagDeps, 'embedder' | 'log'>,
  job: RebuildJob,
  isLastAttempt: boolean,
): boolean {
  if (embedder?.id === job.embedder) return true
  if (!isLastAttempt) throw new Error(`This node is not configured with ${job.embedder}`)
  log.info({ embedder: job.embedder }, 'a rebuild was dropped: no node has this embedder any more')
  return false
}

/**
 * Rebuilds the vectors of all users whose store has another embedder.
 * @returns how many users were completed
 * @throws the last failure, after every user was tried
 */
export async function rebuildVectors(deps: RebuildDeps, context: Context): Promise<number> {
  const { db, embedder, log } = deps
  if (embedder === null) return 0
  let completed = 0
  let failure: unknown
  for (let after: string | undefined = ''; after !== undefined; ) {
    const users = await listStaleUsers(db, embedder.id, after)
    for (const userId of users) {
      try {
        await rebuildUser({ ...deps, embedder }, userId, context)
        completed++
      } catch (error) {
        context.signal.throwIfAborted()
        log.warn({ err: error, user: userId }, 'the vectors of a user could not be rebuilt')
        failure = error
      }
    }
    after = users.at(-1)
  }
  if (failure !== undefined) throw failure
  return completed
}

export async function listStaleUsers(db: Db, embedder: string, after: string): Promise<string[]> {
  const rows = await db
    .selectFrom('rag_stores')
    .select('user_id')
    .where('user_id', '>', after)
    .where((e) => e.or([e('embedder', '<', embedder), e('embedder', '>', embedder)]))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('rag_documents')
          .select('id')
          .whereRef('rag_documents.user_id', '=', 'rag_stores.user_id'),
      ),
    )
    .orderBy('user_id')
    .limit(USERS_PER_READ)
    .execute()
  return rows.map(({ user_id }) => user_id)
}

async function rebuildUser(deps: Rebuilding, userId: string, context: Context): Promise<void> {
  const { db, embedder, vectors } = deps
  const whileLocked = <T>(work: (tx: Db) => Promise<T>) =>
    transaction(db, async (tx) => {
      await lockDocuments(tx, userId)
      return work(tx)
    })
  // Before any vector is replaced: nodes with the old embedder must not search a mixture.
  await whileLocked((tx) => setStoreEmbedder(tx, userId, ''))
  await vectors.dropIndexes?.(db, userId, embedder.id)
  for (let isComplete = false; !isComplete; ) {
    await embedDocuments(deps, userId, context)
    // False when documents arrived or changed during the pass.
    isComplete = await whileLocked((tx) => updateStoreEmbedder(deps, tx, userId))
  }
}

/** Embeds documents without vectors. @throws the last failure, after all were tried */
async function embedDocuments(deps: Rebuilding, userId: string, context: Context): Promise<void> {
  const { db, embedder, log } = deps
  let failure: unknown
  let failures = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = { embedder: embedder.id, after, limit: CHUNKS_PER_BATCH }
    const batch = takeBatch(await listUnembedded(db, userId, page))
    after = batch.at(-1)?.id
    if (batch.length > 1 && (await isEmbeddedTogether(deps, userId, batch, context))) continue
    for (const document of batch) {
      try {
        await embedBatch(deps, userId, [document], context)
        failures = 0
      } catch (error) {
        context.signal.throwIfAborted()
        if (++failures === FAILURES_MAX) throw error
        const { id } = document
        log.warn({ err: error, user: userId, document: id }, 'a document could not be embedded')
        failure = error
      }
    }
  }
  if (failure !== undefined) throw failure
}

/** Returns the first documents of at most CHUNKS_PER_BATCH chunks, or one larger one. */
function takeBatch(documents: UnembeddedDocument[]): UnembeddedDocument[] {
  let chunks = 0
  const end = documents.findIndex((document) => {
    chunks += document.chunks
    return chunks > CHUNKS_PER_BATCH
  })
  return end === -1 ? documents : documents.slice(0, Math.max(1, end))
}

/** False when the vendor rejects a text; the caller then embeds each document alone. */
async function isEmbeddedTogether(
  deps: Rebuilding,
  userId: string,
  batch: UnembeddedDocument[],
  context: Context,
): Promise<boolean> {
  try {
    await embedBatch(deps, userId, batch, context)
    return true
  } catch {
    context.signal.throwIfAborted()
    return false
  }
}

async function embedBatch(
  deps: Rebuilding,
  userId: string,
  documents: UnembeddedDocument[],
  { signal, advanced }: Context,
): Promise<void> {
  const { db, embedder, vectors } = deps
  for await (const slice of readMissingChunks(deps, userId, documents)) {
    const texts = slice.map(({ content }) => content)
    const { vectors: made } = await embedder.embed(texts, 'document', signal)
    const rows = slice.map(({ document, index }, i) => ({
      document,
      index,
      vector: made[i] as Float32Array,
    }))
    await transaction(db, async (tx) => {
      await lockDocuments(tx, userId)
      for (const [document, newRows] of Map.groupBy(rows, (row) => row.document)) {
        if (!(await isUnchanged(tx, userId, document))) continue
        const { id, version } = document
        await vectors.insert(tx, userId, { version, embedder: embedder.id }, newRows)
        await updateDocument(tx, userId, id, { embedder: '' })
      }
      await advanced(tx)
    })
    await sleep(PAUSE_MS, null, { signal })
  }
  await transaction(db, async (tx) => {
    await lockDocuments(tx, userId)
    for (const document of documents) await completeDocument(deps, tx, userId, document)
  })
}

type MissingChunk = Pick<Chunk, 'index' | 'content'> & { document: UnembeddedDocument }

/** Yields chunks without a vector of the embedder, at most CHUNKS_PER_BATCH at a time. */
async function* readMissingChunks(
  { db, embedder, vectors }: Rebuilding,
  userId: string,
  documents: UnembeddedDocument[],
): AsyncGenerator<MissingChunk[]> {
  const slice: MissingChunk[] = []
  for (const document of documents) {
    const { version, total_chunks } = document
    const set = { version, embedder: embedder.id }
    for (let from = 0; from < total_chunks; from += CHUNKS_PER_BATCH) {
      const to = from + CHUNKS_PER_BATCH
      const present = new Set(await vectors.listIndexes(db, userId, set, from, to))
      for (const { index, content } of await readChunks(db, userId, version, from, to)) {
        if (!present.has(index)) slice.push({ document, index, content })
      }
      while (slice.length >= CHUNKS_PER_BATCH) yield slice.splice(0, CHUNKS_PER_BATCH)
    }
  }
  if (slice.length > 0) yield slice
}

/** Marks the document as embedded; one that changed during the pass waits for the next pass. */
async function completeDocument(
  { embedder, vectors }: Rebuilding,
  tx: Db,
  userId: string,
  document: UnembeddedDocument,
): Promise<void> {
  if (!(await isUnchanged(tx, userId, document))) return
  const { id, version, chunks, total_chunks } = document
  const set = { version, embedder: embedder.id }
  const present = await vectors.listIndexes(tx, userId, set, 0, total_chunks)
  if (present.length < chunks)
    throw new Error(`Another node replaced vectors of document ${id}; the rebuild is retried`)
  await updateDocument(tx, userId, id, { embedder: embedder.id })
}

async function isUnchanged(
  tx: Db,
  userId: string,
  { id, version, edition }: UnembeddedDocument,
): Promise<boolean> {
  const now = await findDocument(tx, userId, id)
  return now?.version === version && now.edition === edition
}
