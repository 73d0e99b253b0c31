// Searches a user's chunks by words (`words/`), by vectors, or by both with fused rankings. Filters
// select documents before anything is ranked.
import { countSubjectWords } from '#embeddings/terms.ts'
import { invalid } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import { type ChunkText, readContents } from '../documents/chunk-store.ts'
import { type DocumentRow, findExternalIds } from '../documents/document-store.ts'
import { meterCall, type RagCall } from '../metering.ts'
import type { Metadata } from '../tables.ts'
import { addDocumentIds, type Condition, holds, listExternalIds, matches } from './filter.ts'
import { buildKey, type Found, fuseRankings } from './fusion.ts'
import { countCandidates, type RerankDeps, rerankChunks } from './rerank.ts'
import type { IndexedDocument, UserIndex } from './user-index.ts'
import { createWarning, type SearchWarning } from './warnings.ts'
import { rankMessage, readMessage, scoreMessage } from './words/message.ts'
import { type Ranked, rank, readQuestion } from './words/ranking.ts'

export type FoundChunk = {
  id: string
  content: string
  /** 0..1 */
  score: number
  /** The reranking model's score, on that model's scale. */
  rerank_score?: number
  /** The document's metadata, `chunk_index`, and the chunk's place in its file. */
  metadata: Metadata & ChunkMetadata
}

/** A client's metadata may contain other values under these names. */
export type ChunkMetadata = {
  /** From 1. */
  page?: number
  /** Present when the chunk ends on a later page. */
  page_end?: number
  /** `Terms › Notice` */
  heading?: string
  /** Header of the table that the chunk continues, as Markdown. */
  table_header?: string
}

export const MODES = ['auto', 'lexical', 'dense', 'hybrid'] as const
type Mode = (typeof MODES)[number]

/** @throws Problem 422 for a mode that needs an embedder where there is none */
export function checkMode(mode: Mode, { embedder }: Pick<RagDeps, 'embedder'>): void {
  if (embedder !== null || mode === 'auto' || mode === 'lexical') return
  throw invalid(
    ['body', 'mode'],
    "This server compares documents by their words alone: use 'auto' or 'lexical'",
  )
}

export type SearchQuery = {
  /** The question; in a conversation also after earlier messages, for a higher rank. */
  queries: string[]
  topK: number
  /** Chunks with a lower score are left out. */
  minScore?: number
  /** Chunks below this share of the best score are left out. */
  minRelativeScore?: number
  conditions: Condition[]
  mode?: Mode
  /** Default: true when the server has a reranking model. */
  reranks?: boolean
}

/**
 * Minimum score by the question alone for a chunk that only the conversation's context finds.
 * Without it, "Who is Bob?" after "How long is parental leave?" finds the leave. Questions that
 * depend on the context ("And who pays?", "Is it paid?") are exempt.
 * See decisions/2026-11-21-follow-up-questions.md.
 */
const OWN_MIN = 0.45
/** Results read from each ranking when several are fused. */
const FUSED_MIN = 50

type FindDeps = Pick<RagDeps, 'db' | 'indexes' | 'embedder' | 'vectors'>
export type SearchDeps = FindDeps & RerankDeps

export type Search = {
  found: FoundChunk[]
  /** The nearest chunks when none reaches the minimum score. */
  nearest: FoundChunk[]
  warnings: SearchWarning[]
}

/** Limits of `nearest`: chunks below `scoreMin` are unrelated to the question. */
const NEAREST = { count: 3, scoreMin: 0.1 }

/** @throws the embedder's errors */
export async function search(deps: SearchDeps, call: RagCall, query: SearchQuery): Promise<Search> {
  const embedder = query.mode === 'lexical' ? null : deps.embedder
  const wide = { ...query, topK: countCandidates(deps, query) }
  const found = await meterCall({ ...deps, embedder }, call, countQueryBytes(query), (deps) =>
    findChunks(deps, call.caller.userId, wide, call.signal),
  )
  return { ...found, ...(await rerankChunks(deps, call, query, found)) }
}

/** Counts the bytes that are embedded. */
export function countQueryBytes({ queries }: SearchQuery): number {
  return Buffer.byteLength(queries.join(''))
}

/** Searches without a usage record. */
export async function findChunks(
  deps: FindDeps,
  userId: string,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<Search> {
  const { db, indexes, vectors, embedder } = deps
  const { queries, topK, minScore = 0, minRelativeScore = 0, mode = 'auto' } = query
  const conditions = await resolveExternalIds(db, userId, query.conditions)
  const embedded = (await hasVectors(deps, userId, conditions))
    ? await embedder?.embed(queries, 'query', signal)
    : undefined
  const rankings = Math.max(
    1,
    queries.length * (embedded === undefined || mode === 'dense' ? 1 : 2),
  )
  const count = rankings === 1 ? topK : Math.max(FUSED_MIN, topK * 2)

  signal.throwIfAborted()
  const { byWords, documents, isComparable, rest } = await indexes.use(userId, (index) => {
    const selected = selectDocuments(index, conditions, userId)
    const documents = new Map(selected.map(({ row }) => [row.version, row]))
    const open = openSlots(index, documents, conditions)
    // A rebuild may have begun while the vendor embedded the queries.
    const isComparable = embedded !== undefined && index.embedder === embedder?.id
    const isByWords = mode !== 'dense' || !isComparable
    return {
      documents,
      isComparable,
      byWords: isByWords ? rankByWords(index, open, queries, count) : [],
      rest: minScore > 0 ? [] : listUnranked(index, open, topK),
    }
  })
  const isIncomplete = embedder !== null && !isComparable && documents.size > 0
  const warnings = isIncomplete ? [createWarning('embedding')] : []
  const byVectors: Found[][] = []
  if (embedder !== null && embedded !== undefined && isComparable) {
    const scope = {
      conditions: conditions.filter(({ key }) => key === 'chunk_index'),
      documents: [...documents.values()].map(({ version, edition, total_chunks }) => ({
        version,
        edition,
        totalChunks: total_chunks,
      })),
    }
    for (const vector of embedded.vectors) {
      const nearest = await vectors.nearest(userId, embedder.id, vector, scope, count)
      byVectors.push(
        nearest.map(({ cosine, ...place }) => ({ ...place, score: embedder.toScore(cosine) })),
      )
    }
  }

  const ranked = fuseRankings([...byVectors, ...byWords], rest)
  const highest = ranked.reduce((most, { score }) => Math.max(most, score), 0)
  const least = Math.max(minScore, minRelativeScore * highest)
  const best = ranked.filter(({ score }) => Math.max(0, score) >= least).slice(0, topK)
  const isEmpty = best.length === 0
  const near = isEmpty
    ? ranked.filter(({ score }) => score >= NEAREST.scoreMin).slice(0, NEAREST.count)
    : best
  const chunks = toFoundChunks(near, await readContents(db, userId, near), documents, userId)
  return isEmpty
    ? { found: [], nearest: chunks, warnings }
    : { found: chunks, nearest: [], warnings }
}

/** Whether any document of the conditions has vectors; else no vendor is called. */
async function hasVectors(
  { indexes, embedder }: Pick<RagDeps, 'indexes' | 'embedder'>,
  userId: string,
  conditions: Condition[],
): Promise<boolean> {
  if (embedder === null) return false
  return indexes.use(
    userId,
    (index) =>
      index.embedder === embedder.id && selectDocuments(index, conditions, userId).length > 0,
  )
}

/** Returns the user's documents that meet the conditions. */
export async function findDocuments(
  { db, indexes }: Pick<RagDeps, 'db' | 'indexes'>,
  userId: string,
  conditions: Condition[],
): Promise<DocumentRow[]> {
  const resolved = await resolveExternalIds(db, userId, conditions)
  return indexes.use(userId, (index) =>
    selectDocuments(index, resolved, userId).map(({ row }) => row),
  )
}

/** Replaces external ids, which are not in memory, with the ids of their documents. */
async function resolveExternalIds(
  db: RagDeps['db'],
  userId: string,
  conditions: Condition[],
): Promise<Condition[]> {
  const ids = listExternalIds(conditions)
  return ids.length === 0
    ? conditions
    : addDocumentIds(conditions, await findExternalIds(db, userId, ids))
}

/** Reads chunks that were chosen without a search, with the scores that the caller gives them. */
export async function readPlaces(
  { db }: Pick<RagDeps, 'db'>,
  userId: string,
  places: Found[],
  documents: DocumentRow[],
): Promise<FoundChunk[]> {
  const byVersion = new Map(documents.map((row) => [row.version, row]))
  return toFoundChunks(places, await readContents(db, userId, places), byVersion, userId)
}

/** Ranks by words: first the question alone, then with the conversation's context. */
function rankByWords(
  index: UserIndex,
  open: Uint8Array,
  queries: string[],
  count: number,
): Found[][] {
  const [text = '', ...inContext] = queries
  const { words } = index
  const message = readMessage(text)
  const plain = rankMessage(words, message, open, count)
  const rankings = [plain]
  const subjects = inContext.length === 0 ? 0 : countSubjectWords(message.subject)
  const leansOn = subjects === 0 || (subjects === 1 && (plain[0]?.score ?? 0) >= OWN_MIN)
  for (const query of inContext) {
    let found = rank(words, readQuestion(words, query), open, count)
    if (!leansOn) {
      const slots = found.map(({ slot }) => slot)
      const own = scoreMessage(words, message, slots)
      found = found.filter((_, i) => (own[i] as Ranked).score >= OWN_MIN)
    }
    rankings.push(found)
  }
  return rankings.map((ranking) =>
    ranking.map(({ slot, score }) => ({ ...readPlace(index, slot), score })),
  )
}

/** Returns chunks with score 0, which fill up the results when few chunks match. */
function listUnranked(index: UserIndex, open: Uint8Array, count: number): Found[] {
  const some: Found[] = []
  for (let slot = 0; slot < index.places.length && some.length < count; slot++) {
    if (open[slot] === 1) some.push({ ...readPlace(index, slot), score: 0 })
  }
  return some
}

function readPlace({ places }: UserIndex, slot: number) {
  return places[slot] as { version: string; index: number }
}

/** Conditions on `chunk_index` are left out: they concern single chunks. */
function selectDocuments(
  { documents }: UserIndex,
  conditions: Condition[],
  userId: string,
): IndexedDocument[] {
  const onDocuments = conditions.filter(({ key }) => key !== 'chunk_index')
  const all = [...documents.values()]
  return onDocuments.length === 0
    ? all
    : all.filter(({ row }) => matches(buildMetadata(row, userId), onDocuments, row.id))
}

function openSlots(
  index: UserIndex,
  documents: Map<string, DocumentRow>,
  conditions: Condition[],
): Uint8Array {
  if (conditions.length === 0) return index.alive
  const onChunks = conditions.filter(({ key }) => key === 'chunk_index')
  const open = new Uint8Array(index.places.length)
  for (const version of documents.keys()) {
    for (const slot of index.documents.get(version)?.slots ?? []) {
      const place = readPlace(index, slot)
      if (onChunks.every((condition) => holds(place.index, condition))) open[slot] = 1
    }
  }
  return open
}

function toFoundChunks(
  found: Found[],
  contents: Map<string, ChunkText>,
  documents: Map<string, DocumentRow>,
  userId: string,
): FoundChunk[] {
  return found.flatMap(({ version, index, score }) => {
    const document = documents.get(version)
    const chunk = contents.get(buildKey({ version, index }))
    // The chunk was deleted between ranking and reading.
    if (document === undefined || chunk === undefined) return []
    return {
      id: `${document.id}_${index}`,
      content: chunk.content,
      score: Math.min(1, Math.max(0, score)),
      metadata: { ...buildPlace(chunk), ...buildMetadata(document, userId), chunk_index: index },
    }
  })
}

/** Spread before the client's metadata, so that a client's own `page` wins. */
function buildPlace({ page, pageEnd, heading, tableHeader }: ChunkText): ChunkMetadata {
  return {
    ...(page !== null && { page }),
    ...(pageEnd !== null && pageEnd !== page && { page_end: pageEnd }),
    ...(heading !== null && { heading }),
    ...(tableHeader !== null && { table_header: tableHeader }),
  }
}

/** Returns the user's metadata, overridden by the service's keys. */
function buildMetadata(
  { metadata_json, source, total_chunks }: DocumentRow,
  userId: string,
): Metadata {
  return { ...metadata_json, ...(source === null ? {} : { source }), total_chunks, user_id: userId }
}
