/**
 * Corpus statistics of a user's documents, cached in memory: their metadata for filters, and the idf of their words.
 * Checked against the user's revision at every use, one small read, so they are never old, also with several processes.
 */
import { Idf } from '#embeddings/idf.ts'
import type { Db } from '#platform/db/db.ts'
import { type DocumentRow, listVersions, readDocuments, revisionOf } from '../documents/document-store.ts'

export type CorpusStats = {
  /** By version. */
  documents: Map<string, DocumentRow>
  idf: Idf
}

type CachedStats = CorpusStats & {
  revision: number
  ready: Promise<void>
}

/** Each holds a megabyte of counts. */
const USERS_MAX = 50
const READ_AT_ONCE = 200

export function createCorpusStats({ db }: { db: Db }) {
  const cache = new Map<string, CachedStats>()

  return {
    async of(userId: string): Promise<CorpusStats> {
      const stats = cache.get(userId) ?? {
        documents: new Map(),
        idf: new Idf(),
        revision: 0,
        ready: Promise.resolve(),
      }
      cache.delete(userId)
      cache.set(userId, stats)
      for (const other of cache.keys()) {
        if (cache.size <= USERS_MAX) break
        cache.delete(other)
      }
      // One refresh at a time: two would add the same document's words twice.
      stats.ready = stats.ready.then(
        () => refresh(userId, stats),
        () => refresh(userId, stats),
      )
      await stats.ready
      return stats
    },
    forget: (userId: string) => cache.delete(userId),
  }

  async function refresh(userId: string, stats: CachedStats): Promise<void> {
    const revision = await revisionOf(db, userId)
    if (revision === stats.revision) return

    const current = new Map((await listVersions(db, userId)).map((row) => [`${row.version}:${row.edition}`, row]))
    for (const row of stats.documents.values()) {
      if (current.delete(`${row.version}:${row.edition}`)) continue
      stats.documents.delete(row.version)
      stats.idf.remove(row.occurrences, row.chunks)
    }
    const fresh = [...current.values()].map(({ id }) => id)
    for (let from = 0; from < fresh.length; from += READ_AT_ONCE) {
      for (const row of await readDocuments(db, userId, fresh.slice(from, from + READ_AT_ONCE))) {
        const before = stats.documents.get(row.version)
        if (before) stats.idf.remove(before.occurrences, before.chunks)
        stats.documents.set(row.version, row)
        stats.idf.add(row.occurrences, row.chunks)
      }
    }
    stats.revision = revision
  }
}
