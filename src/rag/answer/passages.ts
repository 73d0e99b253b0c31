// Builds the passages that a model reads: found chunks with their neighbours, adjacent ones as one
// passage. They are the answer's sources: `[2]` cites the second. The trap: chunks that do not fit
// are left out, not cut.
import { guessTextTokens } from '#ai/estimate.ts'
import type { RagDeps } from '../deps.ts'
import { type Chunk, readChunks } from '../documents/chunk-store.ts'
import { readDocuments } from '../documents/document-store.ts'
import { buildPiece, joinChunks, type Piece } from '../documents/document-text.ts'
import { parseDocumentId } from '../documents/ids.ts'
import type { FoundChunk } from '../search/search.ts'

/** A found chunk, the nearest of the passage; its content joins all without repetition. */
export type Passage = FoundChunk & {
  chunk_ids: string[]
  /** The header of the continued table: the file's, never the client's metadata. */
  head: string | null
  /** The places of its content in the document; empty if the document was replaced during the search. */
  pieces: Piece[]
  /** The time at which its document was stored; null if the document was deleted during the search. */
  addedAt: string | null
}

export type Room = {
  tokens: number
  /** The maximum for chunks that the search did not find. */
  neighbourTokens: number
}

/** Tokens for a passage's number, name and quotation marks. */
const TOKENS_PER_PASSAGE = 40
const TOKENS_PER_LINE = 1

/** The chunks of a document to read, in order. */
type Reading = { id: string; addedAt: string; chunks: Map<number, Chunk> }

/** Returns passages in the order of `found`, nearest first. */
export async function buildPassages(
  { db }: Pick<RagDeps, 'db'>,
  userId: string,
  found: FoundChunk[],
  room: Room,
): Promise<Passage[]> {
  const readings = await readNeighbourhoods(db, userId, found)
  const needed = (chunk: FoundChunk) =>
    countTokens({ content: chunk.content, head: findTableHead(readings, chunk) })
  const fitting = selectFitting(found, room.tokens, needed)
  const left = room.tokens - fitting.reduce((sum, chunk) => sum + needed(chunk), 0)
  const selected = new Set(fitting.map(({ id }) => id))
  addNeighbours(fitting, readings, selected, Math.min(left, room.neighbourTokens))
  return mergePassages(fitting, readings, selected)
}

/** Nearest first; what does not fit makes room for shorter ones. A single one is cut. */
function selectFitting(
  found: FoundChunk[],
  tokens: number,
  tokensNeeded: (chunk: FoundChunk) => number,
): FoundChunk[] {
  let left = tokens
  const fitting = found.filter((chunk) => {
    const needed = tokensNeeded(chunk)
    if (needed > left) return false
    left -= needed
    return true
  })
  const [first] = found
  if (fitting.length > 0 || first === undefined) return fitting
  const share = Math.max(0, tokens) / tokensNeeded(first)
  return [
    {
      ...first,
      content: first.content.slice(0, Math.floor(first.content.length * share)).toWellFormed(),
    },
  ]
}

/** Returns the passage's text for the model: a part of a table gets the table's header. */
export function joinText({ content, head }: Pick<Passage, 'content' | 'head'>): string {
  return head !== null && !content.includes(head) ? `${head}\n${content}` : content
}

function countTokens(passage: Pick<Passage, 'content' | 'head'>): number {
  const text = joinText(passage)
  return guessTextTokens(text) + TOKENS_PER_PASSAGE + TOKENS_PER_LINE * text.split('\n').length
}

/** Returns null without a table, or if the document was replaced during the search. */
function findTableHead(readings: Map<string, Reading>, chunk: FoundChunk): string | null {
  const { id, index } = parsePlace(chunk)
  const read = readings.get(id)?.chunks.get(index)
  return read?.content === chunk.content ? read.tableHeader : null
}

/** Reads the chunks around the found ones; none for a document that was replaced during the search. */
async function readNeighbourhoods(
  db: RagDeps['db'],
  userId: string,
  found: FoundChunk[],
): Promise<Map<string, Reading>> {
  const places = Map.groupBy(found.map(parsePlace), ({ id }) => id)
  const rows = found.length === 0 ? [] : await readDocuments(db, userId, [...places.keys()])
  const readings = await Promise.all(
    rows.map(async ({ id, version, created_at: addedAt }) => {
      const chunks = new Map<number, Chunk>()
      for (const [from, to] of findSpans((places.get(id) ?? []).map(({ index }) => index))) {
        for (const chunk of await readChunks(db, userId, version, from, to))
          chunks.set(chunk.index, chunk)
      }
      return { id, addedAt, chunks }
    }),
  )
  return new Map(readings.map((reading) => [reading.id, reading]))
}

/** Merges the chunk before and the chunk after each index into as few spans as possible. */
function findSpans(indexes: number[]): [from: number, to: number][] {
  const spans: [number, number][] = []
  for (const index of indexes.toSorted((a, b) => a - b)) {
    const last = spans.at(-1)
    if (last !== undefined && index - 1 <= last[1]) last[1] = index + 2
    else spans.push([Math.max(0, index - 1), index + 2])
  }
  return spans
}

/** Nearest chunks first: the chunk after, which continues the text, then the one before. */
function addNeighbours(
  found: FoundChunk[],
  readings: Map<string, Reading>,
  selected: Set<string>,
  tokens: number,
): void {
  let left = tokens
  for (const chunk of found) {
    const { id, index } = parsePlace(chunk)
    for (const at of [index + 1, index - 1]) {
      const neighbour = readings.get(id)?.chunks.get(at)
      if (neighbour === undefined || selected.has(`${id}_${at}`)) continue
      const needed = countTokens({ content: neighbour.content, head: neighbour.tableHeader })
      if (needed > left) continue
      left -= needed
      selected.add(`${id}_${at}`)
    }
  }
}

function mergePassages(
  found: FoundChunk[],
  readings: Map<string, Reading>,
  selected: Set<string>,
): Passage[] {
  const used = new Set<string>()
  const passages: Passage[] = []
  for (const chunk of found) {
    const { id, index } = parsePlace(chunk)
    if (used.has(chunk.id)) continue
    const { chunks: all, addedAt = null } = readings.get(id) ?? {}
    const isSame = all?.get(index)?.content === chunk.content
    if (all === undefined || !isSame) {
      const read = all?.get(index)
      // A chunk that does not fit whole is shown by its beginning.
      const isBeginning = read?.content.startsWith(chunk.content) ?? false
      const pieces =
        read && isBeginning ? [buildPiece({ ...read, content: chunk.content }, 0, read.start)] : []
      passages.push({ ...chunk, chunk_ids: [chunk.id], head: null, pieces, addedAt })
      used.add(chunk.id)
      continue
    }
    const isSelected = (at: number) =>
      selected.has(`${id}_${at}`) && all.has(at) && !used.has(`${id}_${at}`)
    let [from, to] = [index, index + 1]
    while (isSelected(from - 1)) from--
    while (isSelected(to)) to++
    const chunks = Array.from({ length: to - from }, (_, i) => all.get(from + i) as Chunk)
    const chunk_ids = chunks.map(({ index: at }) => `${id}_${at}`)
    for (const chunkId of chunk_ids) used.add(chunkId)
    const { tableHeader: head = null } = chunks[0] ?? {}
    const metadata = { ...chunk.metadata, ...readPages(chunks) }
    if (metadata.page_end === metadata.page) delete metadata.page_end
    const { heading: found } = all.get(index) as Chunk
    if (metadata.heading === found && chunks.some(({ heading }) => heading !== found))
      delete metadata.heading
    const { text: content, pieces } = joinChunks(chunks, from, to)
    passages.push({ ...chunk, metadata, content, chunk_ids, head, pieces, addedAt })
  }
  return passages
}

/** Returns the first and the last page; empty for a text without pages. */
export function readPages(chunks: Chunk[]): Pick<FoundChunk['metadata'], 'page' | 'page_end'> {
  const [first, last] = [chunks[0], chunks.at(-1)]
  const to = last?.pageEnd ?? last?.page ?? null
  return first === undefined || first.page === null || to === null
    ? {}
    : { page: first.page, page_end: to }
}

function parsePlace(chunk: FoundChunk): { id: string; index: number } {
  const place = parseDocumentId(chunk.id)
  if (place === null || place.index === null) throw new Error(`'${chunk.id}' is no chunk's id`)
  return { id: place.id, index: place.index }
}
