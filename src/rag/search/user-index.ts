// Each user's documents in memory for searches: their rows for filters, and the index of their
// words. Every use first compares the user's revision, so an index is never stale. The trap: the
// next use changes the index that `use` passes, so its callback must copy what it needs.
import { totalmem } from 'node:os'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Db } from '#platform/db/db.ts'
import { type Chunk, listChunkIndexes, readIndexedTexts } from '../documents/chunk-store.ts'
import {
  type DocumentRow,
  listVersions,
  readDocuments,
  readStore,
} from '../documents/document-store.ts'
import { BELOW } from '../headings.ts'
import { type Cached, IndexCache } from './index-cache.ts'
import { grown } from './words/arena.ts'
import { WordIndex } from './words/word-index.ts'

export type UserIndex = {
  /** The embedder of all the user's vectors; empty while some document lacks them. */
  embedder: string
  /** By version. */
  documents: Map<string, IndexedDocument>
  words: WordIndex
  /** By slot: 1 while the chunk exists. */
  alive: Uint8Array
  /** By slot. */
  places: ChunkPlace[]
}

/** `bytes`: without its chunks. */
export type IndexedDocument = { row: DocumentRow; slots: number[]; bytes: number }
export type ChunkPlace = { version: string; index: number }

/** Its bytes include documents that are being added. */
type CachedIndex = UserIndex & Cached & { revision: number; documentBytes: number }

const MB = 1024 * 1024
/** Fits a hundred users with 2,000 chunks, so that none is read again per question. */
const BYTES_MAX = Math.min(1_024 * MB, Math.max(256 * MB, readMemoryBytes() / 8))
const DOCUMENTS_PER_READ = 200
const CHUNKS_PER_READ = 500
const INDEXES_PER_READ = 10_000
/** Longest time that texts are indexed without yielding to the event loop. */
const SLICE_MS = 5
/** Estimated size of a row without metadata. */
const DOCUMENT_BYTES = 1_500
/** Estimated size of metadata in memory, per character of its JSON. */
const METADATA_BYTES = 4
const PLACE_BYTES = 60

export class UserIndexes extends IndexCache<CachedIndex> {
  readonly #db: Db

  constructor({ db }: { db: Db }, { bytesMax }: { bytesMax?: number | undefined } = {}) {
    super(bytesMax ?? BYTES_MAX)
    this.#db = db
  }

  protected create(): CachedIndex {
    return { ...createEmptyIndex(), ...NOTHING_READ, ready: Promise.resolve() }
  }

  protected reset(index: CachedIndex): void {
    Object.assign(index, createEmptyIndex(), NOTHING_READ)
  }

  protected async refresh(userId: string, index: CachedIndex): Promise<void> {
    const state = await readStore(this.#db, userId)
    if (state.revision === index.revision) return
    const versions = await listVersions(this.#db, userId)
    await this.#updateDocuments(userId, index, versions)
    // Dead slots take as much memory as live ones.
    if (index.words.isSparse || index.documents.size === 0) this.reset(index)
    const added = versions.filter(({ version }) => !index.documents.has(version))
    for (let from = 0; from < added.length; from += DOCUMENTS_PER_READ) {
      const ids = added.slice(from, from + DOCUMENTS_PER_READ).map(({ id }) => id)
      const rows = await readDocuments(this.#db, userId, ids)
      for (const group of groupDocuments(rows)) await this.#addDocuments(userId, index, group)
    }
    // The state was read first: a change since then has a higher revision and is read next time.
    Object.assign(index, state)
    index.bytes = estimateBytes(index)
  }

  /** Removes what was deleted since the last refresh: documents, and single chunks. */
  async #updateDocuments(
    userId: string,
    index: CachedIndex,
    versions: { version: string; edition: number }[],
  ): Promise<void> {
    const current = new Map(versions.map((row) => [row.version, row]))
    for (const document of index.documents.values()) {
      const { version, edition } = document.row
      const now = current.get(version)
      if (now === undefined) {
        index.documents.delete(version)
        index.documentBytes -= document.bytes
        removeSlots(index, document.slots)
      } else if (now.edition !== edition) {
        await this.#removeDeletedChunks(userId, index, document)
        document.row = { ...document.row, chunks: document.slots.length, edition: now.edition }
      }
    }
  }

  /** Chunks of a version can only be deleted, never added. */
  async #removeDeletedChunks(
    userId: string,
    index: UserIndex,
    document: IndexedDocument,
  ): Promise<void> {
    const { version, total_chunks } = document.row
    const left = new Set<number>()
    for (let from = 0; from < total_chunks; from += INDEXES_PER_READ) {
      const to = from + INDEXES_PER_READ
      for (const chunk of await listChunkIndexes(this.#db, userId, version, from, to))
        left.add(chunk)
      await yieldToEventLoop()
    }
    const { kept = [], deleted = [] } = Object.groupBy(document.slots, (slot) =>
      left.has((index.places[slot] as ChunkPlace).index) ? 'kept' : 'deleted',
    )
    document.slots = kept
    removeSlots(index, deleted)
  }

  /** Reads small documents together and a large one in slices. */
  async #addDocuments(userId: string, index: CachedIndex, rows: DocumentRow[]): Promise<void> {
    const versions = rows.map(({ version }) => version)
    const chunksMax = Math.max(...rows.map(({ total_chunks }) => total_chunks))
    const step = rows.length > 1 ? chunksMax : CHUNKS_PER_READ
    for (const row of rows) {
      const bytes = DOCUMENT_BYTES + METADATA_BYTES * JSON.stringify(row.metadata_json).length
      index.documents.set(row.version, { row, slots: [], bytes })
      index.documentBytes += bytes
    }
    let sinceMs = performance.now()
    for (let from = 0; from < chunksMax; from += step) {
      for (const chunk of await readIndexedTexts(this.#db, userId, versions, from, from + step)) {
        addChunk(index, chunk)
        if (performance.now() - sinceMs < SLICE_MS) continue
        await yieldToEventLoop()
        sinceMs = performance.now()
      }
      index.bytes = estimateBytes(index)
      this.makeRoom(userId)
    }
  }
}

type IndexedText = ChunkPlace & Pick<Chunk, 'content' | 'heading' | 'tableHeader'>

function addChunk(index: UserIndex, { version, index: chunkIndex, ...text }: IndexedText): void {
  const slot = index.words.add(joinContext(text))
  if (slot === index.alive.length) index.alive = grown(index.alive, slot + 1)
  index.alive[slot] = 1
  index.places.push({ version, index: chunkIndex })
  index.documents.get(version)?.slots.push(slot)
}

/** Returns the text below its headings and its table's header, when these are in other chunks. */
function joinContext({ content, heading, tableHeader }: Omit<IndexedText, 'version' | 'index'>) {
  const titles = heading?.split(BELOW).filter((title) => !content.includes(title)) ?? []
  return [...titles, ...(tableHeader === null ? [] : [tableHeader]), content].join('\n')
}

function removeSlots(index: UserIndex, slots: number[]): void {
  for (const slot of slots) {
    index.alive[slot] = 0
    index.words.remove(slot)
  }
}

/** Returns the memory of the machine, or of the container. */
function readMemoryBytes(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
}

const NOTHING_READ = { revision: 0, bytes: 0, documentBytes: 0 }

function estimateBytes({ words, places, alive, documentBytes }: CachedIndex): number {
  return words.bytes + places.length * PLACE_BYTES + alive.byteLength + documentBytes
}

function createEmptyIndex(): UserIndex {
  return {
    embedder: '',
    documents: new Map(),
    words: new WordIndex(),
    alive: new Uint8Array(64),
    places: [],
  }
}

/** Groups documents of at most CHUNKS_PER_READ chunks together. */
function groupDocuments(rows: DocumentRow[]): DocumentRow[][] {
  const groups: DocumentRow[][] = []
  let chunks = Number.POSITIVE_INFINITY
  for (const row of rows) {
    chunks += row.total_chunks
    if (chunks > CHUNKS_PER_READ) {
      groups.push([])
      chunks = row.total_chunks
    }
    groups.at(-1)?.push(row)
  }
  return groups
}
