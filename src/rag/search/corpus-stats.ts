/**
 * What a search must know of a user's documents, kept in memory: their metadata for filters, and how rare each word is among them.
 * The one thing to know: it is checked against the store's revision at every use, so it is never old, also with several processes.
 */

import { Rarity } from '#embeddings/idf.ts'
import type { Db } from '#platform/db/db.ts'
import { type DocumentRow, listVersions, readDocuments, revisionOf } from '../store.ts'

export interface Shelf {
  /** By version. */
  documents: Map<string, DocumentRow>
  rarity: Rarity
}

interface Kept extends Shelf {
  revision: number
  ready: Promise<void>
}

/** Each holds a megabyte of counts. */
const USERS_MAX = 50
const READ_AT_ONCE = 200

export type Shelves = ReturnType<typeof createShelves>

export function createShelves({ db }: { db: Db }) {
  const shelves = new Map<string, Kept>()

  return {
    async of(userId: string): Promise<Shelf> {
      const shelf = shelves.get(userId) ?? {
        documents: new Map(),
        rarity: new Rarity(),
        revision: 0,
        ready: Promise.resolve(),
      }
      shelves.delete(userId)
      shelves.set(userId, shelf)
      for (const other of shelves.keys()) {
        if (shelves.size <= USERS_MAX) break
        shelves.delete(other)
      }
      // One refresh at a time: two would add the same document's words twice.
      shelf.ready = shelf.ready.then(
        () => refresh(userId, shelf),
        () => refresh(userId, shelf),
      )
      await shelf.ready
      return shelf
    },
    forget: (userId: string) => shelves.delete(userId),
  }

  async function refresh(userId: string, shelf: Kept): Promise<void> {
    const revision = await revisionOf(db, userId)
    if (revision === shelf.revision) return

    const current = new Map((await listVersions(db, userId)).map((row) => [`${row.version}:${row.edition}`, row]))
    for (const row of shelf.documents.values()) {
      if (current.delete(`${row.version}:${row.edition}`)) continue
      shelf.documents.delete(row.version)
      shelf.rarity.remove(row.occurrences, row.chunks)
    }
    const fresh = [...current.values()].map(({ id }) => id)
    for (let from = 0; from < fresh.length; from += READ_AT_ONCE) {
      for (const row of await readDocuments(db, userId, fresh.slice(from, from + READ_AT_ONCE))) {
        const before = shelf.documents.get(row.version)
        if (before) shelf.rarity.remove(before.occurrences, before.chunks)
        shelf.documents.set(row.version, row)
        shelf.rarity.add(row.occurrences, row.chunks)
      }
    }
    shelf.revision = revision
  }
}
