/** Takes a text in: measured, cut, embedded and written batch by batch; it is found once its document's row names its chunks. */
import { randomUUID } from 'node:crypto'
import { NO_PLAN_LIMITS, type PlanLimits } from '#catalogue/catalogue.ts'
import { HOUR_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { invalid } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import { insertChunks } from '../documents/chunk-store.ts'
import {
  bumpRevision,
  findDocument,
  hasExternalId,
  listIdsOfSource,
  lockDocuments,
  moveExternalIds,
  putDocument,
  setExternalId,
} from '../documents/document-store.ts'
import { CHUNKS_PER_BATCH, dropChunks, removeDocument } from '../documents/documents.ts'
import { isBounded, requireRoom, storedOf, storedWith } from '../documents/storage.ts'
import { type MeteredCall, metered } from '../metering.ts'
import { bytesOfOriginal, findOriginal, touchOriginal } from '../originals/original-store.ts'
import { dropOriginal } from '../originals/originals.ts'
import { ragProblem } from '../problems.ts'
import { setStoreEmbedder, updateStoreEmbedder } from '../rebuild/store-embedder.ts'
import type { Metadata } from '../tables.ts'
import type { ChunkedText, TextHandle } from './ingest-pipeline.ts'
import type { Outline } from './outline.ts'

export type NewDocument = {
  text: string | TextHandle
  /** What the file that a short text is of knows of it; a long one has it already. */
  outline?: Outline
  /** The file itself, where it is kept: it lasts as long as the document. */
  originalId?: string | null
  metadata: Metadata
  source: string | null
  /** The client's own id: the document that had it before goes. */
  externalId: string | null
  /** Whether other documents of this source go. */
  replacesSource: boolean
  chunkSize: number
  chunkOverlap: number
}

/** Keeps what is written of a long ingest, so that it goes on where it was cut off. */
export type Checkpoint = {
  /** The version under which chunks are written. */
  version: string
  /** Who pays for the next slice. @throws Problem 403 where they may not store it any more */
  caller(): Promise<MeteredCall['caller']>
  /** How many chunks are there already, of those that this fingerprint would make. */
  begin(fingerprint: string, total: number): Promise<number>
  /** With a batch, in its transaction. @throws when the work is not wanted any more */
  written(tx: Db, done: number): Promise<void>
  /** With the document's row, in its transaction. */
  published(tx: Db, documentId: string): Promise<void>
}

/** Records what the work embeds of this share of the text. */
type Meter = (
  share: number,
  work: (embedder: RagDeps['embedder']) => Promise<void>,
) => Promise<void>
type Storing = {
  limits?: PlanLimits
  checkpoint?: Checkpoint | undefined
  meter?: Meter | undefined
}

export type Ingested = { document_ids: string[]; chunks_created: number }

type StoreDeps = Pick<
  RagDeps,
  'db' | 'clock' | 'jobs' | 'log' | 'embedder' | 'vectors' | 'pipeline' | 'version'
>
export type IngestDeps = StoreDeps & Pick<RagDeps, 'gateway' | 'maxTextBytes' | 'planLimits'>

/** @throws Problem 413 for a text that is larger than is kept, however it was wrapped, or where the plan has no more room; 422; what the embedder throws */
export async function ingest(
  deps: IngestDeps,
  call: MeteredCall,
  document: NewDocument,
  checkpoint?: Checkpoint,
): Promise<Ingested> {
  await requireStorable(deps, document)
  const { userId, tier } = call.caller
  const limits = deps.planLimits(tier)
  const bytes = embeddedBytes(document)
  if (checkpoint === undefined)
    return metered(deps, call, bytes, (deps) =>
      storeDocument(deps, userId, document, call.signal, { limits }),
    )
  const meter: Meter = async (share, work) => {
    const paying = { ...call, caller: await checkpoint.caller() }
    return metered(deps, paying, Math.ceil(bytes * share), ({ embedder }) => work(embedder))
  }
  return storeDocument(deps, userId, document, call.signal, { limits, checkpoint, meter })
}

/** @throws Problem 413, 422 */
export async function requireStorable(
  deps: Pick<RagDeps, 'maxTextBytes'>,
  { text }: Pick<NewDocument, 'text'>,
): Promise<void> {
  const { hasNul, textBytes } =
    typeof text === 'string'
      ? { hasNul: text.includes('\0'), textBytes: Buffer.byteLength(text) }
      : await text.head()
  if (textBytes > deps.maxTextBytes) {
    throw ragProblem('text_too_large', { max: Math.round(deps.maxTextBytes / 1024 / 1024) })
  }
  if (hasNul) throw invalid(['body', 'content'], 'Should not hold the character NUL')
}

/** Where chunks overlap, a text is embedded more than once. */
function embeddedBytes({ text, chunkSize, chunkOverlap }: NewDocument): number {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.sizeBytes
  return Math.ceil((bytes * chunkSize) / (chunkSize - chunkOverlap))
}

/** More would be an accident of a tiny chunk_size on a huge text. */
const CHUNKS_MAX = 250_000
const UNCLAIMED_FOR_MS = 6 * HOUR_MS

/** Neither measured nor metered. @throws Problem 413 where there is no more room; 422 for a text without content or with too many chunks; what the embedder throws */
export async function storeDocument(
  deps: StoreDeps,
  userId: string,
  document: NewDocument,
  signal: AbortSignal,
  { limits = NO_PLAN_LIMITS, checkpoint, meter }: Storing = {},
): Promise<Ingested> {
  const { db, clock, jobs, pipeline } = deps
  const settings = { size: document.chunkSize, overlap: document.chunkOverlap }
  const chunked = await pipeline.chunk(document, settings)
  const { id, total } = chunked
  if (total === 0) throw invalid(['body', 'content'], 'Should have some text')
  if (total > CHUNKS_MAX) {
    throw invalid(
      ['body', 'chunk_size'],
      `This would make ${total} chunks; at most ${CHUNKS_MAX} are kept: choose a larger chunk_size`,
    )
  }

  if (isBounded(limits)) await requireRoomFor(db, userId, document, chunked, limits)

  const version = checkpoint?.version ?? randomUUID()
  // Written first: if this process dies half-way, the job takes the unclaimed chunks away.
  if (checkpoint === undefined && total > CHUNKS_PER_BATCH) {
    await transaction(db, (tx) =>
      jobs.enqueue(
        tx,
        'rag.sweep',
        { userId, version },
        { runAt: plus(clock.now(), UNCLAIMED_FOR_MS) },
      ),
    )
  }

  try {
    await writeChunks(
      deps,
      userId,
      document,
      { ...chunked, version },
      { signal, limits, checkpoint, meter },
    )
  } catch (error) {
    // What nobody will name must not lie there until the sweep: whoever breaks off upload after upload would fill the disk.
    if (checkpoint === undefined && total > CHUNKS_PER_BATCH)
      await transaction(db, (tx) => jobs.enqueue(tx, 'rag.sweep', { userId, version })).catch(
        () => {},
      )
    throw error
  }
  return {
    document_ids: Array.from({ length: total }, (_, index) => `${id}_${index}`),
    chunks_created: total,
  }
}

/** Before anything is embedded and paid for; it is counted again when the document is written. */
async function requireRoomFor(
  db: Db,
  userId: string,
  document: NewDocument,
  { id, total, characters }: Pick<Written, 'id' | 'total' | 'characters'>,
  limits: PlanLimits,
): Promise<void> {
  const { externalId, replacesSource, source, originalId = null } = document
  const counts = {
    documents: 1,
    characters,
    chunks: total,
    file_bytes: await bytesOfOriginal(db, userId, originalId),
  }
  const before = await storedOf(db, userId)
  const { after } = await storedWith(db, userId, before, {
    id,
    externalId,
    replacesSource,
    source,
    counts,
  })
  requireRoom(limits, before, after)
}

/** Of which each is a record of its own. */
const CHUNKS_A_SLICE = 16 * CHUNKS_PER_BATCH

type Batch = Awaited<ReturnType<ChunkedText['read']>>
type Chunked = Awaited<ReturnType<RagDeps['pipeline']['chunk']>>

/** Batch by batch; with the last one the document is found. */
async function writeChunks(
  deps: StoreDeps,
  userId: string,
  document: NewDocument,
  chunked: Chunked & { version: string },
  { signal, limits, checkpoint, meter }: Storing & { signal: AbortSignal; limits: PlanLimits },
): Promise<void> {
  const { db, clock, vectors, embedder } = deps
  const { id, total, version } = chunked
  const fingerprint = [
    id,
    total,
    document.chunkSize,
    document.chunkOverlap,
    embedder?.id ?? '',
    deps.version,
  ]
  const kept = (await checkpoint?.begin(fingerprint.join(' '), total)) ?? 0
  // What is metered is metered a slice at a time: when a process dies, at most that much is paid for twice.
  const sliceSize = meter === undefined ? total : CHUNKS_A_SLICE
  for (let from = kept; from < total; from += sliceSize) {
    const to = Math.min(total, from + sliceSize)
    if (meter === undefined) await writeSlice(from, to, embedder)
    else await meter((to - from) / total, (counted) => writeSlice(from, to, counted))
  }

  async function writeSlice(
    from: number,
    to: number,
    embedder: RagDeps['embedder'],
  ): Promise<void> {
    for (let at = from; at < to; at += CHUNKS_PER_BATCH) {
      signal.throwIfAborted()
      const batch = await chunked.read(at, Math.min(to, at + CHUNKS_PER_BATCH), embedder, signal)
      await writeBatch(at, batch)
    }
  }

  async function writeBatch(
    from: number,
    { texts, places, vectors: embedded }: Batch,
  ): Promise<void> {
    const chunks = places.map((place, i) => ({
      ...place,
      index: from + i,
      content: texts[i] as string,
    }))
    await transaction(db, async (tx) => {
      await insertChunks(tx, userId, version, chunks)
      if (embedder !== null && embedded !== null) {
        const rows = embedded.map((vector, i) => ({ index: from + i, vector }))
        await vectors.insert(tx, userId, { version, embedder: embedder.id }, rows)
      }
      const isLast = from + CHUNKS_PER_BATCH >= total
      if (!isLast && document.originalId)
        await touchOriginal(tx, userId, document.originalId, clock.now())
      if (isLast) {
        await lockDocuments(tx, userId)
        const before = isBounded(limits) ? await storedOf(tx, userId) : null
        await publish(deps, tx, userId, document, chunked)
        if (before !== null) requireRoom(limits, before, await storedOf(tx, userId))
      }
      await checkpoint?.written(tx, from + chunks.length)
      if (isLast) await checkpoint?.published(tx, id)
    })
  }
}

type Written = { id: string; version: string; total: number; characters: number }

/** Under the user's lock. From here on the document is found, and what it takes the place of is not. */
async function publish(
  deps: StoreDeps,
  tx: Db,
  userId: string,
  document: NewDocument,
  { id, version, total, characters }: Written,
): Promise<void> {
  const { clock, embedder } = deps
  const original = document.originalId && (await findOriginal(tx, userId, document.originalId))
  const replaced = await putDocument(tx, {
    user_id: userId,
    id,
    version,
    edition: 0,
    source: document.source,
    metadata_json: document.metadata,
    chunks: total,
    total_chunks: total,
    characters,
    embedder: embedder?.id ?? '',
    // One that waited for longer than files do has been swept.
    original_id: original ? original.id : null,
    created_at: clock.now(),
  })
  await bumpRevision(tx, userId)
  if (replaced !== undefined) {
    await dropChunks(deps, tx, userId, replaced.version)
    await dropOriginal(deps, tx, userId, replaced.original_id)
  }
  for (const old of await superseded(tx, userId, id, document, clock.now())) {
    const row = await findDocument(tx, userId, old)
    if (row !== undefined) await removeDocument(deps, tx, userId, row)
  }
  if (embedder === null) await setStoreEmbedder(tx, userId, '')
  else await updateStoreEmbedder(deps, tx, userId)
}

/** The documents that this one takes the place of. One that another external id stands for stays: its file may not have changed. */
async function superseded(
  tx: Db,
  userId: string,
  id: string,
  { externalId, source, replacesSource }: NewDocument,
  at: string,
): Promise<Set<string>> {
  const ids = new Set<string>()
  if (externalId !== null) {
    const before = await setExternalId(tx, userId, { externalId, id, at })
    if (before !== undefined && !(await hasExternalId(tx, userId, before))) ids.add(before)
  }
  if (replacesSource && source !== null) {
    for (const other of await listIdsOfSource(tx, userId, source)) {
      if (other === id) continue
      await moveExternalIds(tx, userId, other, id)
      ids.add(other)
    }
  }
  return ids
}
