// The checks of every answer: it is complete, has the API's shape, and the vendor received the
// request.
import assert from 'node:assert/strict'
import type { ClientReading, ReceivedPart, ReceivedRequest, VendorAnswer } from './words.ts'

/** @throws AssertionError unless the answer is complete and in the API's shape */
export function requireComplete(told: ClientReading, said: VendorAnswer): void {
  assert.equal(told.status, 200, `${told.status}: ${told.error?.message ?? told.raw.slice(0, 200)}`)
  assert.equal(told.error, null, `told of ${told.error?.message}`)
  assert.ok(told.isWhole, 'not told to be whole')
  assert.deepEqual(told.faults, [])
  if (said.text !== undefined) assert.equal(told.text, said.text)
  const calls = said.calls ?? []
  assert.deepEqual(
    told.calls.map(({ name, args }) => ({ name, args })),
    calls,
  )
  assert.equal(new Set(told.calls.map(({ id }) => id)).size, calls.length)
  const finish = { length: 'length', filtered: 'content_filter' } as const
  assert.equal(
    told.finish,
    said.finish === undefined ? (calls.length > 0 ? 'tool_calls' : 'stop') : finish[said.finish],
  )
  assert.ok(told.tokens, 'no tokens are counted')
}

export function requireRefusal(told: ClientReading, words: RegExp): 'refused' {
  assert.ok(told.status >= 400 && told.status < 500, `${told.status}, and not refused`)
  assert.match(told.error?.message ?? told.raw, words)
  return 'refused'
}

export function listParts<Kind extends ReceivedPart['kind']>(
  heard: ReceivedRequest,
  kind: Kind,
): Extract<ReceivedPart, { kind: Kind }>[] {
  return heard.turns.flatMap(({ parts }) =>
    parts.filter((part): part is Extract<ReceivedPart, { kind: Kind }> => part.kind === kind),
  )
}

export const listResults = (heard: ReceivedRequest) => listParts(heard, 'result')
export const listMedia = (heard: ReceivedRequest) =>
  listParts(heard, 'media').map(({ mediaType, data }) => ({ mediaType, data }))
export const joinText = (heard: ReceivedRequest) =>
  listParts(heard, 'text')
    .map(({ text }) => text)
    .join('\n')
