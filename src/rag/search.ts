/**
 * Finds the chunks of a user's own documents that are about the same as a query.
 * The one thing to know: filters choose documents before anything is ranked, and the score is the cosine that the embedder defines.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import { invalid } from '#platform/problem.ts'
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

export const MODES = ['auto', 'lexical', 'dense', 'hybrid'] as const

/** Documents are compared in one way, their embedder's. Fails with 422 for a mode that needs another. */
export function checkMode(mode: (typeof MODES)[number], { lexical }: Embedder): void {
  const [way, only] = lexical === undefined ? ['their meaning', 'dense'] : ['their words', 'lexical']
  if (mode === 'auto' || mode === only) return
  throw invalid(['body', 'mode'], `This server compares documents by ${way} alone: use 'auto' or '${only}'`)
}

export interface Wanted {
  /** The same question put in one way or several; whoever finds a chunk first by more of them is nearer. */
  queries: string[]
  topK: number
  /** Chunks below are left out. */
  minScore?: number
  conditions: Condition[]
}

/** A lexical embedder's hashed vectors choose this many candidates, and at least twice what is asked for, to be scored exactly. */
const CANDIDATES_MIN = 60
const SCORED_BETWEEN_BREATHS = 8
/** Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009), with their constant. */
const RANK_CONSTANT = 60

export async function search(
  { db, shelves, embedder, vectors }: Finder,
  userId: string,
  { queries, topK, minScore = 0, conditions }: Wanted,
  signal: AbortSignal,
): Promise<FoundChunk[]> {
  const { documents, rarity } = await shelves.of(userId)
  const scope = scopeOf([...documents.values()], userId, embedder, vectors, conditions)
  if (scope.documents.length === 0) return []

  const { lexical } = embedder
  const rankings: Neighbour[][] = []
  const contents = new Map<string, string>()
  const read = async (chunks: Neighbour[]) => {
    for (const [key, content] of await readContents(db, userId, chunks)) contents.set(key, content)
  }

  if (lexical === undefined) {
    const embedded = await embedder.embed(queries, 'query', signal)
    for (const vector of embedded.vectors) rankings.push(await vectors.nearest(userId, vector, scope, topK))
    await read(rankings.flat())
  } else {
    const count = Math.max(CANDIDATES_MIN, topK * 2)
    for (const query of queries) {
      const candidates = await vectors.nearest(userId, lexical.queryVector(query, rarity), scope, count)
      await read(candidates)
      const scoreOf = lexical.scorer(query, rarity)
      for (const [i, candidate] of candidates.entries()) {
        candidate.cosine = scoreOf(contents.get(keyOf(candidate)) ?? '')
        if (i % SCORED_BETWEEN_BREATHS === SCORED_BETWEEN_BREATHS - 1) await breathe()
      }
      rankings.push(candidates.sort((a, b) => b.cosine - a.cosine))
    }
  }
  const chunks = written(fused(rankings), contents, documents, userId).filter(({ score }) => score >= minScore)
  return chunks.slice(0, topK)
}

/** One ranking of several, by ranks alone; each chunk keeps the higher of its cosines. */
function fused(rankings: Neighbour[][]): Neighbour[] {
  const [only = []] = rankings
  if (rankings.length < 2) return only
  const merged = new Map<string, { chunk: Neighbour; rank: number }>()
  for (const ranking of rankings) {
    // What has nothing in common with a query has no rank by it.
    for (const [i, chunk] of ranking.filter(({ cosine }) => cosine > 0).entries()) {
      const known = merged.get(keyOf(chunk)) ?? { chunk, rank: 0 }
      known.rank += 1 / (RANK_CONSTANT + i + 1)
      if (chunk.cosine > known.chunk.cosine) known.chunk = chunk
      merged.set(keyOf(chunk), known)
    }
  }
  const nothing = only.filter((chunk) => !merged.has(keyOf(chunk)))
  const ranked = [...merged.values()].sort((a, b) => b.rank - a.rank || b.chunk.cosine - a.chunk.cosine)
  return [...ranked.map(({ chunk }) => chunk), ...nothing]
}

function keyOf({ version, index }: { version: string; index: number }): string {
  return `${version}/${index}`
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
    const content = contents.get(keyOf({ version, index }))
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
