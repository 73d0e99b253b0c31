/**
 * Finds the chunks of a user's own documents that are about what is asked: by their words (`words/`), by an embedder's vectors, or by both, whose
 * rankings are then fused. Filters choose documents before anything is ranked.
 */
import { subjectWords } from '#embeddings/terms.ts'
import { invalid } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import { type ChunkText, readContents } from '../documents/chunk-store.ts'
import { type DocumentRow, findExternalIds } from '../documents/document-store.ts'
import { metered, type RagCall } from '../metering.ts'
import type { Metadata } from '../tables.ts'
import { type Condition, externalIdsIn, holds, matches, withDocumentIds } from './filter.ts'
import { type Found, fused, keyOf } from './fusion.ts'
import { candidatesOf, type RerankDeps, reranked } from './rerank.ts'
import type { ShelvedDocument, UserShelf } from './shelves.ts'
import type { Vectors } from './stores/vectors.ts'
import { type SearchWarning, warningOf } from './warnings.ts'
import { rankMessage, readMessage, scoreMessage } from './words/message.ts'
import { type Ranked, rank, readQuestion } from './words/ranking.ts'

export type FoundChunk = {
  id: string
  content: string
  /** 0..1 */
  score: number
  /** Of the model that put it in its place, on a scale of its own. */
  rerank_score?: number
  /** The document's, with `chunk_index` and what its file tells of the chunk. */
  metadata: Metadata & ChunkMetadata
}

/** Where in its file a chunk stands. A client may have given a text other values under these names. */
export type ChunkMetadata = {
  /** From 1. */
  page?: number
  /** Where it reaches over to a later page. */
  page_end?: number
  /** `Terms › Notice` */
  heading?: string
  /** Of the table that it goes on with, as Markdown. */
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
  /** The question, and perhaps again behind what was said before it; what is found first by more of them is nearer. */
  queries: string[]
  topK: number
  /** Chunks below are left out. */
  minScore?: number
  /** So are those below this share of the best one's score. */
  minRelativeScore?: number
  conditions: Condition[]
  mode?: Mode
  /** Left out: where there is a model that does. */
  reranks?: boolean
}

/**
 * What was said before counts only for chunks to which the question says something itself, else "Who is Bob?" after "How long is
 * parental leave?" finds the leave; and for all of them where it leans on what was said: it has no word of its own ("By whom?"),
 * or a single one that the documents know ("Is it paid?"). See decisions/2026-11-21-follow-up-questions.md.
 */
const OWN_MIN = 0.45
/** Of each ranking, where several are fused. */
const FUSED_MIN = 50

type FindDeps = Pick<RagDeps, 'db' | 'shelves' | 'turns' | 'embedder' | 'vectors'>
export type SearchDeps = FindDeps & RerankDeps & Pick<RagDeps, 'embedderNamed'>

export type Search = {
  found: FoundChunk[]
  /** What came nearest where nothing was near enough. */
  nearest: FoundChunk[]
  warnings: SearchWarning[]
}

/** Of what is nearest where nothing is near enough; what is further than that has nothing to do with the question. */
const NEAREST = { count: 3, scoreMin: 0.1 }

/** @throws what the embedder throws that is set now */
export async function search(deps: SearchDeps, call: RagCall, query: SearchQuery): Promise<Search> {
  const { userId } = call.caller
  const serving = await servingEmbedder(
    query.mode === 'lexical' ? { ...deps, embedder: null } : deps,
    userId,
  )
  const wide = { ...query, topK: candidatesOf(deps, query) }
  const found = await deps.turns.during(userId, () =>
    metered({ ...deps, embedder: serving.embedder }, call, sizeOf(query), (deps) =>
      findChunks(deps, userId, wide, call.signal, serving),
    ),
  )
  const warnings = serving.warning === null ? found.warnings : [serving.warning]
  return { ...found, ...(await reranked(deps, call, query, { ...found, warnings })) }
}

/** Whose vectors all of the user's documents have: until those of a new embedder are made, the one before. */
async function servingEmbedder({ embedder, embedderNamed, shelves }: SearchDeps, userId: string) {
  const now = { embedder, warning: null, isFormer: false }
  if (embedder === null) return now
  return shelves.use(userId, (shelf) => {
    if (shelf.embedder === embedder.id || shelf.documents.size === 0) return now
    const former = shelf.embedder === '' ? null : embedderNamed(shelf.embedder)
    const warning =
      former === null
        ? warningOf(shelf.embedder === '' ? 'embedding' : 'embedder_unreachable')
        : null
    return { embedder: former, warning, isFormer: former !== null }
  })
}

/** What will be embedded. */
export function sizeOf({ queries }: SearchQuery): number {
  return Buffer.byteLength(queries.join(''))
}

/** Not metered. */
export async function findChunks(
  { db, shelves, turns, embedder, vectors }: FindDeps,
  userId: string,
  {
    queries,
    topK,
    minScore = 0,
    minRelativeScore = 0,
    conditions: asked,
    mode = 'auto',
  }: SearchQuery,
  signal: AbortSignal,
  { isFormer = false, warning = null }: { isFormer?: boolean; warning?: SearchWarning | null } = {},
): Promise<Search> {
  const conditions = await resolved(db, userId, asked)
  const scopeOf = (rows: DocumentRow[], { id }: { id: string }) =>
    vectorScope(rows, id, vectors, conditions)
  // Where nothing is there to compare with, no vendor is asked.
  const isComparable =
    embedder !== null &&
    scopeOf(await rowsMeeting({ shelves, turns }, userId, conditions), embedder).documents.length >
      0
  const embedded = isComparable
    ? await embedder.embed(queries, 'query', signal).catch((error) => {
        // Of one that was given up its vendor may know nothing any more.
        if (!isFormer || signal.aborted) throw error
        return null
      })
    : null
  const warnings = isComparable && embedded === null ? [warningOf('embedder_unreachable')] : []
  // As the warning says, whatever was asked for.
  const byWordsAlone = warning !== null || warnings.length > 0
  const rankings = Math.max(1, queries.length * (embedded === null || mode === 'dense' ? 1 : 2))
  const count = rankings === 1 ? topK : Math.max(FUSED_MIN, topK * 2)

  const { byWords, documents, rest } = await turns.take(userId, async () => {
    signal.throwIfAborted()
    return shelves.use(userId, (shelf) => {
      const documents = new Map(
        documentsIn(shelf, conditions, userId).map(({ row }) => [row.version, row]),
      )
      const open = openSlots(shelf, documents, conditions)
      return {
        documents,
        byWords:
          mode === 'dense' && !byWordsAlone ? [] : rankedByWords(shelf, open, queries, count),
        rest: minScore > 0 ? [] : someOf(shelf, open, topK),
      }
    })
  })
  const byVectors: Found[][] = []
  if (embedder !== null && embedded !== null) {
    const scope = scopeOf([...documents.values()], embedder)
    for (const vector of embedded.vectors) {
      const nearest =
        scope.documents.length === 0
          ? []
          : await vectors.nearest(userId, embedder.id, vector, scope, count)
      byVectors.push(
        nearest.map(({ version, index, cosine }) => ({
          version,
          index,
          score: embedder.scoreOf(cosine),
        })),
      )
    }
  }

  const ranked = fused([...byVectors, ...byWords], rest)
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

/** The user's documents that meet the conditions. */
export async function documentsMeeting(
  deps: Pick<RagDeps, 'db' | 'shelves' | 'turns'>,
  userId: string,
  conditions: Condition[],
): Promise<DocumentRow[]> {
  return rowsMeeting(deps, userId, await resolved(deps.db, userId, conditions))
}

/** External ids are not in memory: those that are named are read. */
async function resolved(
  db: RagDeps['db'],
  userId: string,
  conditions: Condition[],
): Promise<Condition[]> {
  const ids = externalIdsIn(conditions)
  return ids.length === 0
    ? conditions
    : withDocumentIds(conditions, await findExternalIds(db, userId, ids))
}

function rowsMeeting(
  { shelves, turns }: Pick<RagDeps, 'shelves' | 'turns'>,
  userId: string,
  conditions: Condition[],
): Promise<DocumentRow[]> {
  return turns.take(userId, () =>
    shelves.use(userId, (shelf) => documentsIn(shelf, conditions, userId).map(({ row }) => row)),
  )
}

/** Chunks that were not searched but chosen, with the score that is given them. */
export async function readPlaces(
  { db }: Pick<RagDeps, 'db'>,
  userId: string,
  places: Found[],
  documents: DocumentRow[],
): Promise<FoundChunk[]> {
  const byVersion = new Map(documents.map((row) => [row.version, row]))
  return toFoundChunks(places, await readContents(db, userId, places), byVersion, userId)
}

/** By their words: the question's ranking first, then those of the question behind what was said before. */
function rankedByWords(
  shelf: UserShelf,
  open: Uint8Array,
  queries: string[],
  count: number,
): Found[][] {
  const [text = '', ...inContext] = queries
  const { words } = shelf
  const message = readMessage(text)
  const plain = rankMessage(words, message, open, count)
  const rankings = [plain]
  const subjects = inContext.length === 0 ? 0 : subjectWords(message.subject)
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
    ranking.map(({ slot, score }) => ({ ...placeOf(shelf, slot), score })),
  )
}

/** Where little is asked for, what has nothing in common with the question follows at last. */
function someOf(shelf: UserShelf, open: Uint8Array, count: number): Found[] {
  const some: Found[] = []
  for (let slot = 0; slot < shelf.places.length && some.length < count; slot++) {
    if (open[slot] === 1) some.push({ ...placeOf(shelf, slot), score: 0 })
  }
  return some
}

function placeOf({ places }: UserShelf, slot: number) {
  return places[slot] as { version: string; index: number }
}

/** All conditions but those on a chunk's own index are the same for every chunk of a document. */
function documentsIn(
  { documents }: UserShelf,
  conditions: Condition[],
  userId: string,
): ShelvedDocument[] {
  const onDocuments = conditions.filter(({ key }) => key !== 'chunk_index')
  const all = [...documents.values()]
  return onDocuments.length === 0
    ? all
    : all.filter(({ row }) => matches(metadataOf(row, userId), onDocuments, row.id))
}

function openSlots(
  shelf: UserShelf,
  documents: Map<string, DocumentRow>,
  conditions: Condition[],
): Uint8Array {
  if (conditions.length === 0) return shelf.alive
  const onChunks = conditions.filter(({ key }) => key === 'chunk_index')
  const open = new Uint8Array(shelf.places.length)
  for (const version of documents.keys()) {
    for (const slot of shelf.documents.get(version)?.slots ?? []) {
      const { index } = placeOf(shelf, slot)
      if (onChunks.every((condition) => holds(index, condition))) open[slot] = 1
    }
  }
  return open
}

/** A document that has no vectors of this embedder is found by its words meanwhile. */
function vectorScope(
  rows: DocumentRow[],
  embedder: string,
  vectors: Vectors,
  conditions: Condition[],
) {
  return {
    conditions: conditions.filter(({ key }) => key === 'chunk_index'),
    documents: rows.filter((row) => row.embedder === embedder && vectors.has(row.kept_in)),
  }
}

function toFoundChunks(
  found: Found[],
  contents: Map<string, ChunkText>,
  documents: Map<string, DocumentRow>,
  userId: string,
): FoundChunk[] {
  return found.flatMap(({ version, index, score }) => {
    const document = documents.get(version)
    const chunk = contents.get(keyOf({ version, index }))
    // Deleted between ranking and reading.
    if (document === undefined || chunk === undefined) return []
    return {
      id: `${document.id}_${index}`,
      content: chunk.content,
      score: Math.min(1, Math.max(0, score)),
      metadata: { ...placeIn(chunk), ...metadataOf(document, userId), chunk_index: index },
    }
  })
}

/** Under what a client gave itself: its own `page` of a text is told as it was given. */
function placeIn({ page, pageEnd, heading, tableHeader }: ChunkText): ChunkMetadata {
  return {
    ...(page !== null && { page }),
    ...(pageEnd !== null && pageEnd !== page && { page_end: pageEnd }),
    ...(heading !== null && { heading }),
    ...(tableHeader !== null && { table_header: tableHeader }),
  }
}

/** What the user gave, with the service's own keys over it. */
function metadataOf(
  { metadata_json, source, total_chunks }: DocumentRow,
  userId: string,
): Metadata {
  return { ...metadata_json, ...(source === null ? {} : { source }), total_chunks, user_id: userId }
}
