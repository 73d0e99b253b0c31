/** Cuts a read document into passages of a page or so, so that citations of it are precise. */

import { type Passage, readPages } from '../answer/passages.ts'
import type { Chunk } from '../documents/chunk-store.ts'
import type { DocumentRow } from '../documents/document-store.ts'
import { joinChunks } from '../documents/document-text.ts'

const CHARACTERS_MAX = 3_000

export function cutPassages(document: DocumentRow, chunks: readonly Chunk[]): Passage[] {
  const groups: Chunk[][] = []
  for (const chunk of chunks) {
    const group = groups.at(-1)
    const first = group?.[0]
    const isFull =
      first === undefined || chunk.start + chunk.content.length - first.start > CHARACTERS_MAX
    if (isFull) groups.push([chunk])
    else group?.push(chunk)
  }
  return groups.map((group) => buildPassage(document, group))
}

function buildPassage(document: DocumentRow, chunks: Chunk[]): Passage {
  const { id, source, metadata_json, created_at: addedAt } = document
  const [first, last] = [chunks[0] as Chunk, chunks.at(-1) as Chunk]
  const { text: content, pieces } = joinChunks(chunks, first.index, last.index + 1)
  const metadata = {
    ...(first.heading !== null && { heading: first.heading }),
    ...metadata_json,
    ...(source !== null && { source }),
    ...readPages(chunks),
    chunk_index: first.index,
  }
  if (metadata.page_end === metadata.page) delete metadata.page_end
  const chunk_ids = chunks.map(({ index }) => `${id}_${index}`)
  const head = first.tableHeader
  return {
    id: `${id}_${first.index}`,
    content,
    score: 1,
    metadata,
    chunk_ids,
    head,
    pieces,
    addedAt,
  }
}
