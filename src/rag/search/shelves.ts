/**
 * Each user's documents as a search needs them: their rows for filters, and the inverted index of their words. Kept in memory while there is room,
 * and brought up to date with the user's revision at every use, one small read, so never old, also with several processes. The trap: what `use`
 * hands over changes with the next use; take out of it what is needed, at once.
 */
import { totalmem } from 'node:os'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Db } from '#platform/db/db.ts'
import { type Chunk, indexesOf, readTextsOf } from '../documents/chunk-store.ts'
import {
  type DocumentRow,
  listVersions,
  readDocuments,
  readStore,
} from '../documents/document-store.ts'
import { BELOW } from '../headings.ts'
import { grown } from './words/arena.ts'
import { Shelf } from './words/shelf.ts'

export type UserShelf = {
  /** Whose vectors are searched; empty: nobody's. */
  embedder: string
  /** By version. */
  documents: Map<string, ShelvedDocument>
  words: Shelf
  /** By slot: 1 while the chunk is there. */
  alive: Uint8Array
  /** By slot. */
  places: ChunkPlace[]
}

/** `bytes`: without its chunks. */
export type ShelvedDocument = { row: DocumentRow; slots: number[]; bytes: number }
export type ChunkPlace = { version: string; index: number }

type CachedShelf = UserShelf & {
  revision: number
  /** With what is being shelved. */
  bytes: number
  documentBytes: number
  isChanging: boolean
  ready: Promise<unknown>
}

const MB = 1024 * 1024
/** An eighth of what there is: with less, a hundred users of 2,000 chunks who ask in turn would be read anew at each question. */
const BYTES_MAX = Math.min(1_024 * MB, Math.max(256 * MB, memoryOfMachine() / 8))
const DOCUMENTS_A_READ = 200
const CHUNKS_A_READ = 500
const INDEXES_A_READ = 10_000
/** How long texts are read without letting others run. */
const TURN_MS = 5
/** A row without metadata, and a chunk's place. */
const DOCUMENT_BYTES = 1_500
/** As objects, for each letter of its JSON. */
const METADATA_BYTES = 4
const PLACE_BYTES = 60

/** A user who takes more than half of `bytesMax` counts as half, so that the others keep theirs and nobody is read again and again. */
export function createShelves(
  { db }: { db: Db },
  { bytesMax = BYTES_MAX }: { bytesMax?: number | undefined } = {},
) {
  const cache = new Map<string, CachedShelf>()

  return {
    /** Runs `work` on the user's shelf as it is now. */
    use<T>(userId: string, work: (shelf: UserShelf) => T): Promise<T> {
      const shelf = cache.get(userId) ?? {
        ...emptyShelf(),
        ...NOTHING_READ,
        isChanging: false,
        ready: Promise.resolve(),
      }
      // The last to be used is the last to go.
      cache.delete(userId)
      cache.set(userId, shelf)
      // One after the other: two refreshes would shelve the same document twice.
      const done = shelf.ready.then(async () => {
        try {
          await refresh(userId, shelf)
        } catch (error) {
          // Half a document may have been shelved.
          if (cache.get(userId) === shelf) cache.delete(userId)
          Object.assign(shelf, emptyShelf(), NOTHING_READ)
          throw error
        } finally {
          shelf.isChanging = false
        }
        return work(shelf)
      })
      shelf.ready = done.catch(() => undefined)
      return done
    },
    forget: (userId: string) => void cache.delete(userId),
    /** Whose is in memory. */
    users: () => [...cache.keys()],
    /** Of all users, as counted. */
    bytes: () => cache.values().reduce((sum, { bytes }) => sum + bytes, 0),
  }

  async function refresh(userId: string, shelf: CachedShelf): Promise<void> {
    let state = await readStore(db, userId)
    if (state.revision === shelf.revision) return
    shelf.isChanging = true
    let versions = await listVersions(db, userId)
    // Of one moment: between the two statements all of the documents may have got another embedder.
    for (
      let now = await readStore(db, userId);
      now.revision !== state.revision;
      now = await readStore(db, userId)
    ) {
      state = now
      versions = await listVersions(db, userId)
    }
    let current = new Map(versions.map((row) => [row.version, row]))
    for (const document of shelf.documents.values()) {
      const { version, edition } = document.row
      const now = current.get(version)
      current.delete(version)
      if (now === undefined) {
        shelf.documents.delete(version)
        shelf.documentBytes -= document.bytes
        takeDown(shelf, document.slots)
        continue
      }
      const { embedder, kept_in } = now
      if (embedder !== document.row.embedder || kept_in !== document.row.kept_in)
        document.row = { ...document.row, embedder, kept_in }
      if (now.edition !== edition) {
        await takeDownDeleted(userId, shelf, document)
        document.row = { ...document.row, chunks: document.slots.length, edition: now.edition }
      }
    }
    // What is dead takes as much memory as what lives.
    if (shelf.words.isSparse || shelf.documents.size === 0) {
      Object.assign(shelf, emptyShelf(), NOTHING_READ)
      current = new Map(versions.map((row) => [row.version, row]))
    }
    const fresh = [...current.values()].map(({ id }) => id)
    for (let from = 0; from < fresh.length; from += DOCUMENTS_A_READ) {
      const rows = await readDocuments(db, userId, fresh.slice(from, from + DOCUMENTS_A_READ))
      for (const group of grouped(rows)) await putUp(userId, shelf, group)
    }
    Object.assign(shelf, state)
    makeRoom(userId, shelf)
  }

  /** Of one version chunks can only go. */
  async function takeDownDeleted(
    userId: string,
    shelf: UserShelf,
    document: ShelvedDocument,
  ): Promise<void> {
    const { version, total_chunks } = document.row
    const left = new Set<number>()
    for (let from = 0; from < total_chunks; from += INDEXES_A_READ) {
      for (const index of await indexesOf(db, userId, version, from, from + INDEXES_A_READ))
        left.add(index)
      await yieldToOthers()
    }
    const { kept = [], gone = [] } = Object.groupBy(document.slots, (slot) =>
      left.has((shelf.places[slot] as ChunkPlace).index) ? 'kept' : 'gone',
    )
    document.slots = kept
    takeDown(shelf, gone)
  }

  /** Small documents are read together, large ones in slices. */
  async function putUp(userId: string, shelf: CachedShelf, rows: DocumentRow[]): Promise<void> {
    const versions = rows.map(({ version }) => version)
    const chunksMax = Math.max(...rows.map(({ total_chunks }) => total_chunks))
    const step = rows.length > 1 ? chunksMax : CHUNKS_A_READ
    for (const row of rows) {
      const bytes = DOCUMENT_BYTES + METADATA_BYTES * JSON.stringify(row.metadata_json).length
      shelf.documents.set(row.version, { row, slots: [], bytes })
      shelf.documentBytes += bytes
    }
    let sinceMs = performance.now()
    for (let from = 0; from < chunksMax; from += step) {
      for (const { version, index, ...text } of await readTextsOf(
        db,
        userId,
        versions,
        from,
        from + step,
      )) {
        const slot = shelf.words.add(inContext(text))
        if (slot === shelf.alive.length) shelf.alive = grown(shelf.alive, slot + 1)
        shelf.alive[slot] = 1
        shelf.places.push({ version, index })
        shelf.documents.get(version)?.slots.push(slot)
        if (performance.now() - sinceMs < TURN_MS) continue
        await yieldToOthers()
        sinceMs = performance.now()
      }
      makeRoom(userId, shelf)
    }
  }

  function makeRoom(userId: string, shelf: CachedShelf): void {
    shelf.bytes = bytesOf(shelf)
    const shareOf = ({ bytes }: CachedShelf) => Math.min(bytes, bytesMax / 2)
    let total = cache.values().reduce((sum, other) => sum + shareOf(other), 0)
    for (const [id, other] of cache) {
      if (total <= bytesMax) return
      // Nothing is freed of what is being read, and its user's next search would read it a second time.
      if (id === userId || other.isChanging) continue
      cache.delete(id)
      total -= shareOf(other)
    }
  }
}

/** Or of the container that this runs in. */
function memoryOfMachine(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())
}

/** With the headings that it stands under, and the head of its table, where these are in other chunks. */
function inContext({
  content,
  heading,
  tableHeader,
}: Pick<Chunk, 'content' | 'heading' | 'tableHeader'>): string {
  const titles = heading?.split(BELOW).filter((title) => !content.includes(title)) ?? []
  return [...titles, ...(tableHeader === null ? [] : [tableHeader]), content].join('\n')
}

function takeDown(shelf: UserShelf, slots: number[]): void {
  for (const slot of slots) {
    shelf.alive[slot] = 0
    shelf.words.remove(slot)
  }
}

const NOTHING_READ = { revision: 0, bytes: 0, documentBytes: 0 }

function bytesOf({ words, places, alive, documentBytes }: CachedShelf): number {
  return words.bytes + places.length * PLACE_BYTES + alive.byteLength + documentBytes
}

function emptyShelf(): UserShelf {
  return {
    embedder: '',
    documents: new Map(),
    words: new Shelf(),
    alive: new Uint8Array(64),
    places: [],
  }
}

function grouped(rows: DocumentRow[]): DocumentRow[][] {
  const groups: DocumentRow[][] = []
  let chunks = Number.POSITIVE_INFINITY
  for (const row of rows) {
    chunks += row.total_chunks
    if (chunks > CHUNKS_A_READ) {
      groups.push([])
      chunks = row.total_chunks
    }
    groups.at(-1)?.push(row)
  }
  return groups
}
