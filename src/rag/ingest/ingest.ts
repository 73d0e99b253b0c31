/** Ingests a text batch by batch. It can be found once its document's row names its chunks. */
import { randomUUID } from 'node:crypto'
import { NO_PLAN_LIMITS, type PlanLimits } from '#catalogue/catalogue.ts'
import { HOUR_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { invalid } from '#platform/problems.ts'
import { addToCollections, readMemberships } from '../collections/collection-store.ts'
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
import { isBounded, predictStorage, readStored, requireRoom } from '../documents/storage.ts'
import { type MeteredCall, meterCall } from '../metering.ts'
import { findOriginal, readOriginalSize, touchOriginal } from '../originals/original-store.ts'
import { dropOriginal } from '../originals/originals.ts'
import { ragProblem } from '../problems.ts'
import { setStoreEmbedder, updateStoreEmbedder } from '../rebuild/store-embedder.ts'
import type { Metadata } from '../tables.ts'
import type { ChunkedText, TextHandle } from './ingest-pipeline.ts'
import type { Outline } from './outline.ts'

export type NewDocument = {
  text: string | TextHandle
  /** The outline from a short text's file; a worker already has that of a long text. */
  outline?: Outline
  /** The stored original file, which lives as long as the document. */
  originalId?: string | null
  metadata: Metadata
  source: string | null
  /** The client's own id; the document that had it before is deleted. */
  externalId: string | null
  /** Whether other documents of this source are deleted. */
  replacesSource: boolean
  chunkSize: number
  chunkOverlap: number
  /** The user's collections that it is added to. */
  collections?: readonly string[]
}

/** Records the progress of a long ingest, so that it resumes after an interruption. */
export type Checkpoint = {
  /** The version under which chunks are written. */
  version: string
  /** Returns the payer of the next slice. @throws Problem 403 where they may no longer store it */
  caller(): Promise<MeteredCall['caller']>
  /** Returns how many chunks with this fingerprint are already stored. */
  begin(fingerprint: string, total: number): Promise<number>
  /** Called with a batch, in its transaction. @throws when the work was cancelled */
  onWritten(tx: Db, done: number): Promise<void>
  /** Called with the document's row, in its transaction. */
  onPublished(tx: Db, documentId: string): Promise<void>
}

/** Meters the embedding of this share of the text. */
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

/** @throws Problem 413 above the size limit or the plan's; 422; the embedder's errors */
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
    return meterCall(deps, call, bytes, (deps) =>
      storeDocument(deps, userId, document, call.signal, { limits }),
    )
  const meter: Meter = async (share, work) => {
    const paying = { ...call, caller: await checkpoint.caller() }
    return meterCall(deps, paying, Math.ceil(bytes * share), ({ embedder }) => work(embedder))
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

/** Where chunks overlap, text is embedded more than once. */
function embeddedBytes({ text, chunkSize, chunkOverlap }: NewDocument): number {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.sizeBytes
  return Math.ceil((bytes * chunkSize) / (chunkSize - chunkOverlap))
}

/** More chunks would be an accident: a tiny chunk_size with a huge text. */
const CHUNKS_MAX = 250_000
const UNCLAIMED_FOR_MS = 6 * HOUR_MS

/** @throws Problem 413 without room; 422 without text, or with too many chunks */
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

  if (isBounded(limits)) await requirePlanRoom(db, userId, document, chunked, limits)

  const version = checkpoint?.version ?? randomUUID()
  // Enqueued first: if this process dies half-way, the job deletes the unclaimed chunks.
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
    // Not left to the sweep: a client that aborts many uploads would fill the disk.
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

/** Checked before the text is embedded and paid for; counted again when the document is written. */
async function requirePlanRoom(
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
    file_bytes: await readOriginalSize(db, userId, originalId),
  }
  const before = await readStored(db, userId)
  const { after } = await predictStorage(db, userId, before, {
    id,
    externalId,
    replacesSource,
    source,
    counts,
  })
  requireRoom(limits, before, after)
}

/** Chunks per usage record. */
const CHUNKS_A_SLICE = 16 * CHUNKS_PER_BATCH

type Batch = Awaited<ReturnType<ChunkedText['read']>>
type Chunked = Awaited<ReturnType<RagDeps['pipeline']['chunk']>>

/** Writes batch by batch; the last batch makes the document visible. */
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
  const doneChunks = (await checkpoint?.begin(fingerprint.join(' '), total)) ?? 0
  // Usage is metered by slices: when a process dies, at most one slice is paid for twice.
  const sliceSize = meter === undefined ? total : CHUNKS_A_SLICE
  for (let from = doneChunks; from < total; from += sliceSize) {
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
        const before = isBounded(limits) ? await readStored(tx, userId) : null
        await publish(deps, tx, userId, document, chunked)
        if (before !== null) requireRoom(limits, before, await readStored(tx, userId))
      }
      await checkpoint?.onWritten(tx, from + chunks.length)
      if (isLast) await checkpoint?.onPublished(tx, id)
    })
  }
}

type Written = { id: string; version: string; total: number; characters: number }

/** Under the user's lock. Searches now find this document instead of those it replaces. */
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
    // An original that waited longer than the retention of unclaimed files was swept.
    original_id: original ? original.id : null,
    created_at: clock.now(),
  })
  await addToCollections(tx, userId, id, document.collections ?? [], clock.now())
  await bumpRevision(tx, userId)
  if (replaced !== undefined) {
    await dropChunks(deps, tx, userId, replaced.version)
    await dropOriginal(deps, tx, userId, replaced.original_id)
  }
  for (const old of await findSuperseded(tx, userId, id, document, clock.now())) {
    const row = await findDocument(tx, userId, old)
    if (row === undefined) continue
    const collections = (await readMemberships(tx, userId, [old])).get(old) ?? []
    await addToCollections(tx, userId, id, collections, clock.now())
    await removeDocument(deps, tx, userId, row)
  }
  if (embedder === null) await setStoreEmbedder(tx, userId, '')
  else await updateStoreEmbedder(deps, tx, userId)
}

/** A document that another external id names stays: that id's file may be unchanged. */
async function findSuperseded(
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
    for (const replacedId of await listIdsOfSource(tx, userId, source)) {
      if (replacedId === id) continue
      await moveExternalIds(tx, userId, replacedId, id)
      ids.add(replacedId)
    }
  }
  return ids
}
