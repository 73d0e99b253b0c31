/**
 * A user's documents: taken in, replaced, deleted, listed.
 * The one thing to know: chunks are written under a version of their own, invisible until the document's row names it; so a replacement is one
 * small transaction however large the text, and a search sees the old document or the new one, never none and never both.
 */
import { randomUUID } from 'node:crypto'
import type { Embedder } from '#embeddings/embedder.ts'
import { packOccurrences, subtractOccurrences, sumOccurrences } from '#embeddings/idf.ts'
import { termsOf } from '#embeddings/terms.ts'
import { HOUR_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Problem } from '#platform/problem.ts'
import { invalid } from '#platform/problems.ts'
import type { LongText, Reader } from './ingest/ingest-pipeline.ts'
import { ragProblem } from './problems.ts'
import type { VectorStore } from './search/stores/vector-store.ts'
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
import type { Metadata } from './tables.ts'

export interface Library {
  db: Db
  clock: Platform['clock']
  jobs: Platform['jobs']
  log: Platform['log']
  embedder: Embedder
  vectors: VectorStore
  reader: Reader
}

export interface NewDocument {
  text: string | LongText
  metadata: Metadata
  source: string | null
  /** The client's own id: the document that had it before goes. */
  externalId: string | null
  /** Whether other documents of this source go. */
  replacesSource: boolean
  chunkSize: number
  chunkOverlap: number
}

export interface Ingested {
  document_ids: string[]
  chunks_created: number
}

/** More would be an accident of a tiny chunk_size on a huge text. */
const CHUNKS_MAX = 250_000
/** Chunks embedded and written in one go: some 1 MB of vectors. */
const SLICE = 256
const STAGED_FOR_MS = 6 * HOUR_MS

/** Fails with 422 for a text without content or with too many chunks; else with the embedder's Problem. */
export async function ingest(
  library: Library,
  userId: string,
  document: NewDocument,
  signal: AbortSignal,
): Promise<Ingested> {
  const { db, clock, jobs, embedder, vectors, reader } = library
  const { text, metadata, source, externalId, replacesSource, chunkSize, chunkOverlap } = document
  const manuscript = await reader.manuscript(text, { size: chunkSize, overlap: chunkOverlap }, embedder)
  const { id, characters, total } = manuscript
  if (total === 0) throw invalid(['body', 'content'], 'Should have some text')
  if (total > CHUNKS_MAX) {
    throw invalid(
      ['body', 'chunk_size'],
      `This would make ${total} chunks; at most ${CHUNKS_MAX} are kept: choose a larger chunk_size`,
    )
  }

  const version = randomUUID()
  // Written first: if this process dies half-way, the job takes the unclaimed chunks away.
  if (total > SLICE) {
    await transaction(db, (tx) =>
      jobs.enqueue(tx, 'rag.sweep', { userId, version }, { runAt: plus(clock.now(), STAGED_FOR_MS) }),
    )
  }

  const packings: Uint8Array[] = []
  for (let from = 0; from < total; from += SLICE) {
    signal.throwIfAborted()
    const { texts, embedded } = await manuscript.read(from, Math.min(total, from + SLICE), signal)
    if (embedded.occurrences) packings.push(embedded.occurrences)
    const rows = texts.map((content, i) => ({ index: from + i, content, vector: embedded.vectors[i] as Float32Array }))

    await transaction(db, async (tx) => {
      await insertChunks(
        tx,
        userId,
        version,
        rows.map((row) => ({ ...row, vector: vectors.bytesOf(row.vector) })),
      )
      await vectors.insert(tx, userId, version, rows)
      if (from + SLICE >= total) await publish(tx)
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
      occurrences: packings.length === 0 ? new Uint8Array(0) : sumOccurrences(packings),
      created_at: clock.now(),
    })
    await bumpRevision(tx, userId)
    if (replaced !== undefined) await drop(library, tx, userId, replaced)
    for (const old of await superseded(tx)) {
      const gone = await findDocument(tx, userId, old)
      await deleteDocumentRow(tx, userId, old)
      if (gone !== undefined) await drop(library, tx, userId, gone.version)
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
export async function deleteDocument(library: Library, userId: string, documentId: string): Promise<void> {
  const [, id, index] = /^([0-9a-f]{12})(?:_(0|[1-9]\d{0,8}))?$/.exec(documentId) ?? []
  if (id === undefined) throw notFound()

  await transaction(library.db, async (tx) => {
    await lockStore(tx, userId)
    const document = await findDocument(tx, userId, id)
    if (document === undefined) throw notFound()

    if (index === undefined) {
      await deleteDocumentRow(tx, userId, id)
      await drop(library, tx, userId, document.version)
    } else {
      const chunk = await readChunk(tx, userId, document.version, Number(index))
      if (chunk === undefined) throw notFound()
      await deleteChunks(tx, userId, document.version, [Number(index)])
      await library.vectors.remove(tx, userId, document.version, [Number(index)])
      if (document.chunks === 1) await deleteDocumentRow(tx, userId, id)
      else {
        await updateDocument(tx, userId, id, {
          chunks: document.chunks - 1,
          edition: document.edition + 1,
          occurrences:
            document.occurrences.length === 0
              ? document.occurrences
              : subtractOccurrences(document.occurrences, packOccurrences([termsOf(chunk.content).keys()])),
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
async function drop({ jobs, vectors }: Library, tx: Db, userId: string, version: string): Promise<void> {
  const indexes = await someIndexes(tx, userId, version, SLICE + 1)
  if (indexes.length > SLICE) return jobs.enqueue(tx, 'rag.sweep', { userId, version })
  await deleteChunks(tx, userId, version, null)
  await vectors.remove(tx, userId, version, null)
}

/** The job behind `drop`, and behind ingests that died. */
export async function sweep(
  { db, vectors }: Library,
  { userId, version }: { userId: string; version: string },
): Promise<void> {
  for (let left = true; left; ) {
    left = await transaction(db, async (tx) => {
      if (await isLive(tx, userId, version)) return false
      const indexes = await someIndexes(tx, userId, version, SLICE)
      if (indexes.length === 0) return false
      await deleteChunks(tx, userId, version, indexes)
      await vectors.remove(tx, userId, version, indexes)
      return true
    })
  }
}

const STALE_AT_ONCE = 50

/** Embeds again what another embedder or store has left, document by document; until then those are not found. Runs as a job at the start. */
export async function renew(library: Library, signal: AbortSignal): Promise<number> {
  const { db, embedder, vectors } = library
  let renewed = 0
  for (;;) {
    const stale = await listStale(db, embedder.id, vectors.name, STALE_AT_ONCE)
    if (stale.length === 0) return renewed
    for (const { user_id: userId, id, version, edition } of stale) {
      await renewDocument(library, { userId, id, version, edition }, signal)
      renewed++
    }
  }
}

async function renewDocument(
  { db, embedder, vectors, reader }: Library,
  { userId, id, version, edition }: { userId: string; id: string; version: string; edition: number },
  signal: AbortSignal,
): Promise<void> {
  const document = await findDocument(db, userId, id)
  if (document?.version !== version) return
  const next = randomUUID()
  const packings: Uint8Array[] = []

  for (let from = 0; from < document.total_chunks; from += SLICE) {
    const chunks = await readChunks(db, userId, version, from, from + SLICE)
    if (chunks.length === 0) continue
    const embedded = await reader.embed(
      embedder,
      chunks.map(({ content }) => content),
      signal,
    )
    if (embedded.occurrences) packings.push(embedded.occurrences)
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
        occurrences: packings.length === 0 ? new Uint8Array(0) : sumOccurrences(packings),
      })
      await bumpRevision(tx, userId)
    }
    await deleteChunks(tx, userId, isSame ? version : next, null)
    await vectors.remove(tx, userId, isSame ? version : next, null)
  })
}
