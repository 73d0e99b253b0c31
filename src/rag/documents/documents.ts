/**
 * A user's documents: taken in, replaced, deleted, listed.
 * The one thing to know: chunks are written under a version of their own, invisible until the document's row names it; so a replacement is one
 * small transaction however large the text, and a search sees the old document or the new one, never none and never both.
 */
import { randomUUID } from 'node:crypto'
import { packFrequencies, subtractFrequencies, sumFrequencies } from '#embeddings/idf.ts'
import { termsOf } from '#embeddings/terms.ts'
import { HOUR_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Problem } from '#platform/problem.ts'
import { invalid } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import type { TextHandle } from '../ingest/ingest-pipeline.ts'
import { ragProblem } from '../problems.ts'
import type { Metadata } from '../tables.ts'
import {
  bumpRevision,
  deleteChunks,
  deleteDocumentRow,
  findDocument,
  hasName,
  insertChunks,
  isLive,
  listIdsOfSource,
  listStale,
  lockStore,
  moveNames,
  nameDocument,
  putDocument,
  readChunk,
  readChunks,
  someIndexes,
  updateDocument,
} from './store.ts'

export type NewDocument = {
  text: string | TextHandle
  metadata: Metadata
  source: string | null
  /** The client's own id: the document that had it before goes. */
  externalId: string | null
  /** Whether other documents of this source go. */
  replacesSource: boolean
  chunkSize: number
  chunkOverlap: number
}

export type Ingested = {
  document_ids: string[]
  chunks_created: number
}

/** More would be an accident of a tiny chunk_size on a huge text. */
const CHUNKS_MAX = 250_000
/** Chunks embedded and written in one go: some 1 MB of vectors. */
const CHUNKS_PER_BATCH = 256
const UNCLAIMED_FOR_MS = 6 * HOUR_MS

/** Fails with 422 for a text without content or with too many chunks; else with the embedder's Problem. */
export async function storeDocument(
  deps: Pick<RagDeps, 'db' | 'clock' | 'jobs' | 'embedder' | 'vectors' | 'pipeline'>,
  userId: string,
  document: NewDocument,
  signal: AbortSignal,
): Promise<Ingested> {
  const { db, clock, jobs, embedder, vectors, pipeline } = deps
  const { text, metadata, source, externalId, replacesSource, chunkSize, chunkOverlap } = document
  const chunked = await pipeline.chunk(text, { size: chunkSize, overlap: chunkOverlap }, embedder)
  const { id, characters, total } = chunked
  if (total === 0) throw invalid(['body', 'content'], 'Should have some text')
  if (total > CHUNKS_MAX) {
    throw invalid(
      ['body', 'chunk_size'],
      `This would make ${total} chunks; at most ${CHUNKS_MAX} are kept: choose a larger chunk_size`,
    )
  }

  const version = randomUUID()
  // Written first: if this process dies half-way, the job takes the unclaimed chunks away.
  if (total > CHUNKS_PER_BATCH) {
    await transaction(db, (tx) =>
      jobs.enqueue(tx, 'rag.sweep', { userId, version }, { runAt: plus(clock.now(), UNCLAIMED_FOR_MS) }),
    )
  }

  const packings: Uint8Array[] = []
  for (let from = 0; from < total; from += CHUNKS_PER_BATCH) {
    signal.throwIfAborted()
    const { texts, embedded } = await chunked.read(from, Math.min(total, from + CHUNKS_PER_BATCH), signal)
    if (embedded.frequencies) packings.push(embedded.frequencies)
    const rows = texts.map((content, i) => ({ index: from + i, content, vector: embedded.vectors[i] as Float32Array }))

    await transaction(db, async (tx) => {
      await insertChunks(
        tx,
        userId,
        version,
        rows.map((row) => ({ ...row, vector: vectors.bytesOf(row.vector) })),
      )
      await vectors.insert(tx, userId, version, rows)
      if (from + CHUNKS_PER_BATCH >= total) await publish(tx)
    })
  }
  return { document_ids: Array.from({ length: total }, (_, index) => `${id}_${index}`), chunks_created: total }

  async function publish(tx: Db): Promise<void> {
    await lockStore(tx, userId)
    const replaced = await putDocument(tx, {
      user_id: userId,
      id,
      version,
      edition: 0,
      source,
      metadata_json: metadata,
      chunks: total,
      total_chunks: total,
      characters,
      embedder: embedder.id,
      kept_in: vectors.name,
      occurrences: packings.length === 0 ? new Uint8Array(0) : sumFrequencies(packings),
      created_at: clock.now(),
    })
    await bumpRevision(tx, userId)
    if (replaced !== undefined) await dropChunks(deps, tx, userId, replaced)
    for (const old of await superseded(tx)) {
      const gone = await findDocument(tx, userId, old)
      await deleteDocumentRow(tx, userId, old)
      if (gone !== undefined) await dropChunks(deps, tx, userId, gone.version)
    }
  }

  /** The documents that this one takes the place of. One that another name stands for stays: its file may not have changed. */
  async function superseded(tx: Db): Promise<Set<string>> {
    const ids = new Set<string>()
    if (externalId !== null) {
      const before = await nameDocument(tx, userId, { externalId, id, at: clock.now() })
      if (before !== undefined && !(await hasName(tx, userId, before))) ids.add(before)
    }
    if (replacesSource && source !== null) {
      for (const other of await listIdsOfSource(tx, userId, source)) {
        if (other === id) continue
        await moveNames(tx, userId, other, id)
        ids.add(other)
      }
    }
    return ids
  }
}

/** A chunk by its id, or a whole document by its 12 characters. Fails with 404 when the user has none such. */
export async function deleteDocument(
  deps: Pick<RagDeps, 'db' | 'jobs' | 'vectors'>,
  userId: string,
  documentId: string,
): Promise<void> {
  const [, id, index] = /^([0-9a-f]{12})(?:_(0|[1-9]\d{0,8}))?$/.exec(documentId) ?? []
  if (id === undefined) throw notFound()

  await transaction(deps.db, async (tx) => {
    await lockStore(tx, userId)
    const document = await findDocument(tx, userId, id)
    if (document === undefined) throw notFound()

    if (index === undefined) {
      await deleteDocumentRow(tx, userId, id)
      await dropChunks(deps, tx, userId, document.version)
    } else {
      const chunk = await readChunk(tx, userId, document.version, Number(index))
      if (chunk === undefined) throw notFound()
      await deleteChunks(tx, userId, document.version, [Number(index)])
      await deps.vectors.remove(tx, userId, document.version, [Number(index)])
      if (document.chunks === 1) await deleteDocumentRow(tx, userId, id)
      else {
        await updateDocument(tx, userId, id, {
          chunks: document.chunks - 1,
          edition: document.edition + 1,
          occurrences:
            document.occurrences.length === 0
              ? document.occurrences
              : subtractFrequencies(document.occurrences, packFrequencies([termsOf(chunk.content).keys()])),
        })
      }
    }
    await bumpRevision(tx, userId)
  })
}

function notFound(): Problem {
  return ragProblem('document_not_found')
}

/** Chunks that no document names any more: a few at once, many by a job. */
async function dropChunks(
  { jobs, vectors }: Pick<RagDeps, 'jobs' | 'vectors'>,
  tx: Db,
  userId: string,
  version: string,
): Promise<void> {
  const indexes = await someIndexes(tx, userId, version, CHUNKS_PER_BATCH + 1)
  if (indexes.length > CHUNKS_PER_BATCH) return jobs.enqueue(tx, 'rag.sweep', { userId, version })
  await deleteChunks(tx, userId, version, null)
  await vectors.remove(tx, userId, version, null)
}

/** The job behind `drop`, and behind ingests that died. */
export async function sweep(
  { db, vectors }: Pick<RagDeps, 'db' | 'vectors'>,
  { userId, version }: { userId: string; version: string },
): Promise<void> {
  for (let left = true; left; ) {
    left = await transaction(db, async (tx) => {
      if (await isLive(tx, userId, version)) return false
      const indexes = await someIndexes(tx, userId, version, CHUNKS_PER_BATCH)
      if (indexes.length === 0) return false
      await deleteChunks(tx, userId, version, indexes)
      await vectors.remove(tx, userId, version, indexes)
      return true
    })
  }
}

type ReembedDeps = Pick<RagDeps, 'db' | 'embedder' | 'vectors'>

const STALE_AT_ONCE = 50

/** Embeds again what another embedder or store has left, document by document; until then those are not found. Runs as a job at the start. */
export async function reembed(deps: ReembedDeps, signal: AbortSignal): Promise<number> {
  const { db, embedder, vectors } = deps
  let renewed = 0
  for (;;) {
    const stale = await listStale(db, embedder.id, vectors.name, STALE_AT_ONCE)
    if (stale.length === 0) return renewed
    for (const { user_id: userId, id, version, edition } of stale) {
      await reembedDocument(deps, { userId, id, version, edition }, signal)
      renewed++
    }
  }
}

async function reembedDocument(
  { db, embedder, vectors }: ReembedDeps,
  { userId, id, version, edition }: { userId: string; id: string; version: string; edition: number },
  signal: AbortSignal,
): Promise<void> {
  const document = await findDocument(db, userId, id)
  if (document?.version !== version) return
  const next = randomUUID()
  const packings: Uint8Array[] = []

  for (let from = 0; from < document.total_chunks; from += CHUNKS_PER_BATCH) {
    const chunks = await readChunks(db, userId, version, from, from + CHUNKS_PER_BATCH)
    if (chunks.length === 0) continue
    const embedded = await embedder.embed(
      chunks.map(({ content }) => content),
      'document',
      signal,
    )
    if (embedded.frequencies) packings.push(embedded.frequencies)
    const rows = chunks.map(({ chunk_index, content }, i) => ({
      index: chunk_index,
      content,
      vector: embedded.vectors[i] as Float32Array,
    }))
    await transaction(db, async (tx) => {
      await insertChunks(
        tx,
        userId,
        next,
        rows.map((row) => ({ ...row, vector: vectors.bytesOf(row.vector) })),
      )
      await vectors.insert(tx, userId, next, rows)
    })
  }

  await transaction(db, async (tx) => {
    await lockStore(tx, userId)
    const now = await findDocument(tx, userId, id)
    // Replaced, deleted or cut meanwhile: what was made is dropped, and the next round sees the document as it is.
    const isSame = now?.version === version && now.edition === edition
    if (isSame) {
      await updateDocument(tx, userId, id, {
        version: next,
        embedder: embedder.id,
        kept_in: vectors.name,
        occurrences: packings.length === 0 ? new Uint8Array(0) : sumFrequencies(packings),
      })
      await bumpRevision(tx, userId)
    }
    await deleteChunks(tx, userId, isSame ? version : next, null)
    await vectors.remove(tx, userId, isSame ? version : next, null)
  })
}
