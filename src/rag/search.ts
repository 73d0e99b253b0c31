/**
 * Finds the chunks of a user's own documents that are about the same as a query.
 * The one thing to know: filters choose documents before anything is ranked, and the score is the cosine that the embedder defines.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import type { Library } from './documents.ts'
import type { Embedder } from './embedders/embedder.ts'
import { type Condition, matches } from './filter.ts'
import type { Shelves } from './shelf.ts'
import { type DocumentRow, readContents } from './store.ts'
import type { Neighbour, VectorStore } from './stores/vector-store.ts'
import type { Metadata } from './tables.ts'

export interface Finder {
  db: Library['db']
  shelves: Shelves
  embedder: Embedder
  vectors: VectorStore
}

export interface FoundChunk {
  id: string
  content: string
  /** 0..1 */
  score: number
  metadata: Metadata
}

/** A lexical embedder's hashed vectors choose this many candidates, and at least twice what is asked for, to be scored exactly. */
const CANDIDATES_MIN = 60
const SCORED_BETWEEN_BREATHS = 8

export async function search(
  { db, shelves, embedder, vectors }: Finder,
  userId: string,
  { query, topK, conditions }: { query: string; topK: number; conditions: Condition[] },
  signal: AbortSignal,
): Promise<FoundChunk[]> {
  const { documents, rarity } = await shelves.of(userId)
  const scope = scopeOf([...documents.values()], userId, embedder, vectors, conditions)
  if (scope.documents.length === 0) return []

  const { lexical } = embedder
  if (lexical === undefined) {
    const embedded = await embedder.embed([query], 'query', signal)
    const [vector] = embedded.vectors
    const found = vector === undefined ? [] : await vectors.nearest(userId, vector, scope, topK)
    const contents = await readContents(db, userId, found)
    return written(found, contents, documents, userId)
  }

  const count = Math.max(CANDIDATES_MIN, topK * 2)
  const candidates = await vectors.nearest(userId, lexical.queryVector(query, rarity), scope, count)
  const contents = await readContents(db, userId, candidates)
  const scoreOf = lexical.scorer(query, rarity)
  for (const [i, candidate] of candidates.entries()) {
    candidate.cosine = scoreOf(contents.get(`${candidate.version}/${candidate.index}`) ?? '')
    if (i % SCORED_BETWEEN_BREATHS === SCORED_BETWEEN_BREATHS - 1) await breathe()
  }
  candidates.sort((a, b) => b.cosine - a.cosine)
  return written(candidates, contents, documents, userId).slice(0, topK)
}

/** Conditions on a chunk's own index go to the vector store; all others are the same for every chunk of a document. */
function scopeOf(
  documents: DocumentRow[],
  userId: string,
  embedder: Embedder,
  vectors: VectorStore,
  conditions: Condition[],
) {
  const onChunks = conditions.filter(({ key }) => key === 'chunk_index')
  const onDocuments = conditions.filter(({ key }) => key !== 'chunk_index')
  return {
    conditions: onChunks,
    documents: documents
      .filter((row) => row.embedder === embedder.id && row.kept_in === vectors.name)
      .filter((row) => onDocuments.length === 0 || matches(metadataOf(row, userId), onDocuments))
      .map(({ version, edition, total_chunks }) => ({ version, edition, totalChunks: total_chunks })),
  }
}

function written(
  found: Neighbour[],
  contents: Map<string, string>,
  documents: Map<string, DocumentRow>,
  userId: string,
): FoundChunk[] {
  return found.flatMap(({ version, index, cosine }) => {
    const document = documents.get(version)
    const content = contents.get(`${version}/${index}`)
    // Deleted between ranking and reading.
    if (document === undefined || content === undefined) return []
    return {
      id: `${document.id}_${index}`,
      content,
      score: Math.min(1, Math.max(0, cosine)),
      metadata: { ...metadataOf(document, userId), chunk_index: index },
    }
  })
}

/** What the user gave, with the service's own keys over it. */
function metadataOf({ metadata_json, source, total_chunks }: DocumentRow, userId: string): Metadata {
  return { ...metadata_json, ...(source === null ? {} : { source }), total_chunks, user_id: userId }
}
