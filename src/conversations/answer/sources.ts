import type { Passage } from '#rag/answer/passages.ts'
import { readName } from '#rag/answer/prompt.ts'
import { readDocumentId } from '#rag/documents/ids.ts'
import type { Source } from '../content.ts'

/** Returns the passage as messages store and show it. */
export function toSource({ id, content, score, metadata, chunk_ids }: Passage): Source {
  const { page } = metadata
  return {
    document_id: readDocumentId(id),
    name: readName(metadata) ?? '',
    page: Number.isInteger(page) ? (page as number) : null,
    score,
    content,
    chunk_ids,
  }
}
