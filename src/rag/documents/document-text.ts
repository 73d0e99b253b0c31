/**
 * A document's text, told again from its chunks: exact but for white space at its end and long stretches of it. Where single
 * chunks were deleted it says so.
 */
import type { RagDeps } from '../deps.ts'
import { ragProblem } from '../problems.ts'
import { type Chunk, readChunk, readChunks } from './chunk-store.ts'
import { type DocumentRow, findDocument } from './document-store.ts'
import { parseDocumentId } from './ids.ts'

export type DocumentText = {
  document: DocumentRow
  text: string
  /** The id of the chunk that goes on where the text ends; null at the document's end. */
  next: string | null
}

/** A document may be replaced while it is read: then it is read again. */
const TRIES = 5

/**
 * By the id of the document or of one of its chunks. A text of at most `charactersMax` comes whole; of a longer one as much, from
 * the chunk on that the id names. @throws Problem 404 when the user has none such
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
    const chunks = await readUpTo(db, userId, document, from, charactersMax)
    const now = await findDocument(db, userId, named.id)
    if (now?.version !== version || now.edition !== document.edition) continue

    const end = chunks.isLast ? document.total_chunks : (chunks.read.at(-1)?.index ?? from) + 1
    const next = chunks.isLast ? null : `${named.id}_${chunks.next}`
    return { document, text: joinChunks(chunks.read, from, end), next }
  }
  throw ragProblem('document_not_found')
}

const CHUNKS_AT_ONCE = 100

async function readUpTo(
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

/** In place of chunks that were deleted. */
const DELETED = '[…]'

/** The text of the chunks from index `from` up to `end`, in order, each stretch of it once. */
export function joinChunks(chunks: readonly Chunk[], from: number, end: number): string {
  const parts: string[] = []
  let expected = from
  let covered = 0
  for (const { index, content, start, gap } of chunks) {
    if (index > expected) parts.push(parts.length > 0 ? `\n\n${DELETED}\n\n` : `${DELETED}\n\n`, content)
    else if (start < covered) parts.push(content.slice(covered - start))
    else parts.push(index === from && from > 0 ? '' : gap, content)
    expected = index + 1
    covered = Math.max(covered, start + content.length)
  }
  if (expected < end) parts.push(parts.length > 0 ? `\n\n${DELETED}` : DELETED)
  return parts.join('')
}
