/** Restores a document's text from its chunks, exact except for long white space and its end. */
import type { RagDeps } from '../deps.ts'
import { ragProblem } from '../problems.ts'
import type { PageStart } from '../tables.ts'
import { type Chunk, readChunk, readChunks } from './chunk-store.ts'
import { type DocumentRow, findDocument } from './document-store.ts'
import { parseDocumentId } from './ids.ts'

export type DocumentText = {
  document: DocumentRow
  text: string
  /** The chunks that the text joins. */
  chunks: Chunk[]
  /** The id of the chunk that continues the text; null at the document's end. */
  next: string | null
}

/** A document that is replaced during the read is read again. */
const TRIES = 5

/**
 * Finds the text by the id of the document or of one of its chunks. A text of at most
 * `charactersMax` is returned whole; a longer one is cut to that length, from the named chunk on.
 * @throws Problem 404 when the user has no such document
 */
export async function readDocumentText(
  { db }: Pick<RagDeps, 'db'>,
  userId: string,
  documentId: string,
  charactersMax: number,
): Promise<DocumentText> {
  const named = parseDocumentId(documentId)
  for (let tries = 0; named !== null && tries < TRIES; tries++) {
    const document = await findDocument(db, userId, named.id)
    if (document === undefined) break
    const { version } = document
    if (named.index !== null && !(await readChunk(db, userId, version, named.index))) break

    const from = document.characters <= charactersMax ? 0 : (named.index ?? 0)
    const chunks = await readChunkRange(db, userId, document, from, charactersMax)
    const now = await findDocument(db, userId, named.id)
    if (now?.version !== version || now.edition !== document.edition) continue

    const end = chunks.isLast ? document.total_chunks : (chunks.read.at(-1)?.index ?? from) + 1
    const next = chunks.isLast ? null : `${named.id}_${chunks.next}`
    const { read } = chunks
    return { document, text: joinChunks(read, from, end).text, chunks: read, next }
  }
  throw ragProblem('document_not_found')
}

const CHUNKS_AT_ONCE = 100

async function readChunkRange(
  db: RagDeps['db'],
  userId: string,
  { version, total_chunks }: DocumentRow,
  from: number,
  charactersMax: number,
): Promise<{ read: Chunk[]; isLast: true } | { read: Chunk[]; isLast: false; next: number }> {
  const read: Chunk[] = []
  let first: number | null = null
  for (let at = from; at < total_chunks; at += CHUNKS_AT_ONCE) {
    for (const chunk of await readChunks(db, userId, version, at, at + CHUNKS_AT_ONCE)) {
      first ??= chunk.start
      const isFull = read.length > 0 && chunk.start + chunk.content.length - first > charactersMax
      if (isFull) return { read, isLast: false, next: chunk.index }
      read.push(chunk)
    }
  }
  return { read, isLast: true }
}

/** Replaces deleted chunks. */
const DELETED = '[…]'

/** A part of a joined text that comes from one chunk. */
export type Piece = {
  /** Offset in the joined text. */
  at: number
  /** Offsets in the document's text. */
  start: number
  end: number
  /** The pages of the piece, each with the offset in the document's text at which it begins. */
  pages: PageStart[]
}

/** Joins the ordered chunks from index `from` up to `end` without repeating shared text. */
export function joinChunks(
  chunks: readonly Chunk[],
  from: number,
  end: number,
): { text: string; pieces: Piece[] } {
  const pieces: Piece[] = []
  let text = ''
  let expected = from
  let covered = 0
  for (const chunk of chunks) {
    const { index, content, gap } = chunk
    const isAfterDeleted = index > expected
    if (isAfterDeleted) text += text === '' ? `${DELETED}\n\n` : `\n\n${DELETED}\n\n`
    else if (chunk.start >= covered && !(index === from && from > 0)) text += gap
    const start = isAfterDeleted ? chunk.start : Math.max(chunk.start, covered)
    pieces.push(buildPiece(chunk, text.length, start))
    text += content.slice(start - chunk.start)
    expected = index + 1
    covered = Math.max(covered, chunk.start + content.length)
  }
  if (expected < end) text += text === '' ? DELETED : `\n\n${DELETED}`
  return { text, pieces }
}

/** @param start offset in the document of the chunk's first new text */
export function buildPiece(
  { start: from, content, page, pageStarts }: Chunk,
  at: number,
  start: number,
): Piece {
  const pages = page === null ? [] : [{ at: from, page }, ...pageStarts]
  return { at, start, end: from + content.length, pages }
}
