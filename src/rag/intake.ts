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
  const call = { caller, route, characters: typeof text === 'string' ? text.length : text.sizeBytes, signal }
  const { document_ids, chunks_created } = await metered(room, call, () =>
    ingest(room, caller.userId, document, signal),
  )
  return { document_ids, chunks_created }
}
