import { invalid } from '#platform/problem.ts'
import type { Asked } from './answer.ts'
import { ingest, type NewDocument } from './documents.ts'
import { metered } from './metering.ts'
import type { Room } from './room.ts'

/** Takes a text in and records it. */
export async function take(room: Room, { caller, route, signal }: Asked, document: NewDocument) {
  const { text } = document
  const hasNul = typeof text === 'string' ? text.includes('\0') : (await text.head()).hasNul
  if (hasNul) throw invalid(['body', 'content'], 'Should not hold the character NUL')
  const call = { caller, route, sizeBytes: embeddedBytes(document), signal }
  const { document_ids, chunks_created } = await metered(room, call, (embedder) =>
    ingest({ ...room, embedder }, caller.userId, document, signal),
  )
  return { document_ids, chunks_created }
}

/** Where chunks overlap, a text is embedded more than once. */
function embeddedBytes({ text, chunkSize, chunkOverlap }: NewDocument): number {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.sizeBytes
  return Math.ceil((bytes * chunkSize) / (chunkSize - chunkOverlap))
}
