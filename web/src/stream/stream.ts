/**
 * Parser of the service's token streams (Server-Sent Events). Only `[DONE]` completes an answer:
 * without it the connection was cut or an `event: error` came. The `event: usage` before `[DONE]`
 * reports an answer that reached its length limit.
 */
import { createParser } from 'eventsource-parser'
import type { ProblemCode } from '#app/problems.ts'
import { parseCode } from '../api/problem.ts'
import type { Chunk, Citation, TokenUsage } from '../api/types.ts'

export type StreamEvent =
  | { kind: 'token'; token: string }
  /** `nearest`: the closest passages when there are no sources. */
  | { kind: 'sources'; sources: Chunk[]; nearest: Chunk[] }
  | { kind: 'citations'; citations: Citation[] }
  | { kind: 'usage'; usage: TokenUsage }

/**
 * How an answer ended. `withheld`: the vendor's content filter. `cut`: connection lost. `stopped`:
 * by the reader. `left`: the reader left the page. `status` is undefined when the failure came
 * inside a stream.
 */
export type Ending =
  | { kind: 'complete' | 'length' | 'withheld' | 'cut' | 'stopped' | 'left' }
  | {
      kind: 'failed'
      detail: string
      code: ProblemCode | null
      reason?: string | null
      status?: number
      requestId?: string | null
    }

/** Abort reason for leaving the page, as opposed to stopping the answer. */
export const LEFT = Symbol('the page was left')

export function readAbortedEnding(signal: AbortSignal): Ending {
  return { kind: signal.reason === LEFT ? 'left' : 'stopped' }
}

/** Calls `onEvent` for every event in order and resolves to the ending. Never throws. */
export async function readStream(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: StreamEvent) => void,
  signal?: AbortSignal,
): Promise<Ending> {
  let ending: Ending | null = null
  let whole: Ending = { kind: 'complete' }

  const parser = createParser({
    onEvent({ event, data }) {
      if (ending !== null) return
      if (event === 'error') ending = parseFailure(data)
      else if (data === '[DONE]') ending = whole
      else {
        if (event === 'usage') whole = parseFinish(data)
        const read = parseEvent(event, data)
        if (read) onEvent(read)
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
    // The connection was lost. The received text stays; the ending below reports the cut.
  } finally {
    reader.cancel().catch(() => undefined)
  }

  if (ending !== null) return ending
  return signal?.aborted ? readAbortedEnding(signal) : { kind: 'cut' }
}

function parseFinish(data: string): Ending {
  const value = parseJson(data)
  const reason =
    typeof value === 'object' && value !== null && 'finish_reason' in value
      ? value.finish_reason
      : null
  if (reason === 'length') return { kind: 'length' }
  return { kind: reason === 'content_filter' ? 'withheld' : 'complete' }
}

function parseEvent(event: string | undefined, data: string): StreamEvent | null {
  const value = parseJson(data)
  if (typeof value !== 'object' || value === null) return null

  if (event === 'sources') {
    const of = value as { sources?: unknown; nearest?: unknown }
    return {
      kind: 'sources',
      sources: asList<Chunk>(of.sources),
      nearest: asList<Chunk>(of.nearest),
    }
  }
  if (event === 'citations') {
    return {
      kind: 'citations',
      citations: asList<Citation>((value as { citations?: unknown }).citations),
    }
  }
  if (event === 'usage') {
    return { kind: 'usage', usage: ('usage' in value ? value.usage : value) as TokenUsage }
  }
  // Ignore events with other names.
  if (event !== undefined && event !== 'message') return null
  return 'token' in value && typeof value.token === 'string'
    ? { kind: 'token', token: value.token }
    : null
}

function asList<T>(value: unknown): T[] {
  return Array.isArray(value) ? value : []
}

function parseFailure(data: string): Ending {
  const value = parseJson(data)
  const fields: { detail?: unknown; code?: unknown } =
    typeof value === 'object' && value !== null ? value : {}
  return {
    kind: 'failed',
    detail:
      typeof fields.detail === 'string'
        ? fields.detail
        : 'The model stopped with an error. Try again',
    code: parseCode(fields.code),
  }
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return null
  }
}
