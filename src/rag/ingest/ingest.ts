import { invalid } from '#platform/problems.ts'
import type { RagCall } from '../answer/answer.ts'
import type { RagDeps } from '../deps.ts'
import { type NewDocument, storeDocument } from '../documents/documents.ts'
import { metered } from '../metering.ts'
import { ragProblem } from '../problems.ts'

/** Takes a text in and records it. Fails with 413 for a text that is larger than is kept, however it was wrapped. */
export async function ingest(deps: RagDeps, { caller, route, signal }: RagCall, document: NewDocument) {
  const { text } = document
  const { hasNul, textBytes } =
    typeof text === 'string' ? { hasNul: text.includes('\0'), textBytes: Buffer.byteLength(text) } : await text.head()
  if (textBytes > deps.maxTextBytes) {
    throw ragProblem('text_too_large', { max: Math.round(deps.maxTextBytes / 1024 / 1024) })
  }
  if (hasNul) throw invalid(['body', 'content'], 'Should not hold the character NUL')
  const call = { caller, route, sizeBytes: embeddedBytes(document), signal }
  const { document_ids, chunks_created } = await metered(deps, call, (embedder) =>
    storeDocument({ ...deps, embedder }, caller.userId, document, signal),
  )
  return { document_ids, chunks_created }
}

/** Where chunks overlap, a text is embedded more than once. */
function embeddedBytes({ text, chunkSize, chunkOverlap }: NewDocument): number {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.sizeBytes
  return Math.ceil((bytes * chunkSize) / (chunkSize - chunkOverlap))
}
