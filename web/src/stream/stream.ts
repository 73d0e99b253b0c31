/**
 * Reads the service's token streams. The one thing to know: only `[DONE]` ends an answer. A connection that closes
 * without it was cut, and an `event: error` says why; neither must ever look like a whole answer.
 */
import { createParser } from 'eventsource-parser'
import type { Chunk, TokenUsage } from '../api/types.ts'

export type Piece =
  | { kind: 'token'; token: string }
  | { kind: 'sources'; sources: Chunk[] }
  | { kind: 'usage'; usage: TokenUsage }

export type Ending = { kind: 'complete' } | { kind: 'cut' } | { kind: 'stopped' } | { kind: 'failed'; detail: string }

/** Calls `onPiece` for every piece in order and resolves with how the stream ended. Never throws. */
export async function readStream(
  body: ReadableStream<Uint8Array>,
  onPiece: (piece: Piece) => void,
  signal?: AbortSignal,
): Promise<Ending> {
  let ending: Ending | null = null

  const parser = createParser({
    onEvent({ event, data }) {
      if (ending !== null) return
      if (event === 'error') ending = { kind: 'failed', detail: detailOf(data) }
      else if (data === '[DONE]') ending = { kind: 'complete' }
      else {
        const piece = pieceOf(event, data)
        if (piece) onPiece(piece)
      }
    },
  })

  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    while (ending === null) {
      const { done, value } = await reader.read()
      if (done) break
      parser.feed(decoder.decode(value, { stream: true }))
    }
  } catch {
    // The connection broke. What has arrived stays; it is told apart from a whole answer below.
  } finally {
    reader.cancel().catch(() => undefined)
  }

  if (ending !== null) return ending
  return signal?.aborted ? { kind: 'stopped' } : { kind: 'cut' }
}

function pieceOf(event: string | undefined, data: string): Piece | null {
  const value = parsed(data)
  if (typeof value !== 'object' || value === null) return null

  if (event === 'sources') {
    const sources = Array.isArray(value)
      ? value
      : 'sources' in value && Array.isArray(value.sources)
        ? value.sources
        : []
    return { kind: 'sources', sources: sources as Chunk[] }
  }
  if (event === 'usage') {
    return { kind: 'usage', usage: ('usage' in value ? value.usage : value) as TokenUsage }
  }
  // Events of other names are for other readers.
  if (event !== undefined && event !== 'message') return null
  return 'token' in value && typeof value.token === 'string' ? { kind: 'token', token: value.token } : null
}

function detailOf(data: string): string {
  const value = parsed(data)
  return typeof value === 'object' && value !== null && 'detail' in value && typeof value.detail === 'string'
    ? value.detail
    : 'The model stopped with an error'
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return null
  }
}
