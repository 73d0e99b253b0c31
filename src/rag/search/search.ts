/**
 * Finds the chunks of a user's own documents that are about the same as a query.
 * Filters choose documents before anything is ranked; the score is the cosine that the embedder defines.
 */
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Embedder } from '#embeddings/embedder.ts'
import { subjectWords } from '#embeddings/terms.ts'
import { invalid } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import { readContents } from '../documents/chunk-store.ts'
import type { DocumentRow } from '../documents/document-store.ts'
import { metered, type RagCall } from '../metering.ts'
import type { Metadata } from '../tables.ts'
import { type Condition, matches } from './filter.ts'
import type { Neighbour, VectorStore } from './stores/vector-store.ts'

export type FoundChunk = {
  id: string
  content: string
  /** 0..1 */
  score: number
  metadata: Metadata
}

export const MODES = ['auto', 'lexical', 'dense', 'hybrid'] as const

/** Documents are compared in one way, their embedder's. @throws Problem 422 for a mode that needs another */
export function checkMode(mode: (typeof MODES)[number], { lexical }: Embedder): void {
  const [way, only] = lexical === undefined ? ['their meaning', 'dense'] : ['their words', 'lexical']
  if (mode === 'auto' || mode === only) return
  throw invalid(['body', 'mode'], `This server compares documents by ${way} alone: use 'auto' or '${only}'`)
}

export type SearchQuery = {
  /** The question, and perhaps again behind what was said before it; what is found first by more of them is nearer. */
  queries: string[]
  topK: number
  /** Chunks below are left out. */
  minScore?: number
  conditions: Condition[]
}

/** A lexical embedder's hashed vectors choose this many candidates, and at least twice what is asked for, to be scored exactly. */
const CANDIDATES_MIN = 60
const SCORED_PER_TURN = 8
/**
 * What was said before counts only for chunks to which the question says something itself, else "Who is Bob?" after "How long is
 * parental leave?" finds the leave; and for all of them where it leans on what was said: it has no word of its own ("By whom?"),
 * or a single one that the documents know ("Is it paid?").
 * Measured: of 144 questions answered nowhere 12 still find something (0.1: 28; 0.4: 2), of 178 that need the context 150 find it (0.1: 160; 0.4: 99).
 */
const OWN_MIN = 0.3
/** Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009), with their constant. */
const RANK_CONSTANT = 60

type FindDeps = Pick<RagDeps, 'db' | 'corpusStats' | 'embedder' | 'vectors'>
export type SearchDeps = FindDeps & Pick<RagDeps, 'gateway'>

/** @throws what the embedder throws */
export function search(deps: SearchDeps, call: RagCall, query: SearchQuery): Promise<FoundChunk[]> {
  return metered(deps, call, sizeOf(query), (deps) => findChunks(deps, call.caller.userId, query, call.signal))
}

/** What will be embedded. */
export function sizeOf({ queries }: SearchQuery): number {
  return Buffer.byteLength(queries.join(''))
}

/** Not metered. */
export async function findChunks(
  { db, corpusStats, embedder, vectors }: FindDeps,
  userId: string,
  { queries, topK, minScore = 0, conditions }: SearchQuery,
  signal: AbortSignal,
): Promise<FoundChunk[]> {
  const { documents, idf } = await corpusStats.of(userId)
  const scope = scopeOf([...documents.values()], userId, embedder, vectors, conditions)
  if (scope.documents.length === 0) return []

  const { lexical } = embedder
  const contents = new Map<string, string>()
  const nearest = async (query: Float32Array, count: number) => {
    const found = await vectors.nearest(userId, query, scope, count)
    const unread = found.filter((chunk) => !contents.has(keyOf(chunk)))
    for (const [key, content] of await readContents(db, userId, unread)) contents.set(key, content)
    return found
  }

  let rankings: Neighbour[][] = []
  if (lexical === undefined) {
    const embedded = await embedder.embed(queries, 'query', signal)
    for (const vector of embedded.vectors) rankings.push(await nearest(vector, topK))
  } else {
    const count = Math.max(CANDIDATES_MIN, topK * 2)
    rankings = await rankedByWords(queries, {
      candidates: (query) => nearest(lexical.queryVector(query, idf), count),
      scorer: (query) => lexical.scorer(query, idf),
      textOf: (chunk) => contents.get(keyOf(chunk)) ?? '',
    })
  }
  const chunks = toFoundChunks(fused(rankings), contents, documents, userId).filter(({ score }) => score >= minScore)
  return chunks.slice(0, topK)
}

/** By their exact scores: the question's ranking first, then those of the question behind what was said before. */
async function rankedByWords(
  [question = '', ...inContext]: string[],
  {
    candidates,
    scorer,
    textOf,
  }: {
    candidates: (query: string) => Promise<Neighbour[]>
    scorer: (query: string) => (text: string) => number
    textOf: (chunk: Neighbour) => string
  },
): Promise<Neighbour[][]> {
  const scored = async (chunks: Neighbour[], query: string) => {
    const scoreOf = scorer(query)
    for (const [i, chunk] of chunks.entries()) {
      chunk.cosine = scoreOf(textOf(chunk))
      if (i % SCORED_PER_TURN === SCORED_PER_TURN - 1) await yieldToOthers()
    }
    return chunks.sort((a, b) => b.cosine - a.cosine)
  }

  const plain = await scored(await candidates(question), question)
  const rankings = [plain]
  const own = new Map(plain.map((chunk) => [keyOf(chunk), chunk.cosine]))
  const words = subjectWords(question)
  const leansOn = words === 0 || (words === 1 && (plain[0]?.cosine ?? 0) >= OWN_MIN)
  for (const query of inContext) {
    const found = await candidates(query)
    if (!leansOn) {
      const unknown = found.filter((chunk) => !own.has(keyOf(chunk)))
      for (const chunk of await scored(unknown, question)) own.set(keyOf(chunk), chunk.cosine)
    }
    const heard = found.filter((chunk) => leansOn || (own.get(keyOf(chunk)) ?? 0) >= OWN_MIN)
    rankings.push(await scored(heard, query))
  }
  return rankings
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

function toFoundChunks(
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
