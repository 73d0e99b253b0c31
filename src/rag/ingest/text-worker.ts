// Holds one long text off the main thread, from its bytes to its chunks. Parsing 64 MB of JSON, or
// copying such a text between threads, would block all requests for half a second.
import type { MessagePort } from 'node:worker_threads'
import { type Place, readBytes } from '#platform/content.ts'
import { JsonTooDeep, JsonTooMany, parseJson } from '#platform/json.ts'
import { lowerThreadPriority } from '#platform/thread-priority.ts'
import {
  type ChunkedTextInfo,
  type Cut,
  computeDocumentId,
  createChunkedText,
} from './chunked-text.ts'
import type { ChunkSettings } from './chunker.ts'
import type { Outline } from './outline.ts'

export type TextTask = {
  port: MessagePort
  place: Place
  /** A JSON body with the text as its `content`, or the text itself. */
  form: 'json' | 'text'
  /** The outline from the text's file. */
  outline: Outline
}

export type TextRequest =
  | { ask: 'head' }
  | { ask: 'measure' }
  | { ask: 'chunk'; settings: ChunkSettings }
  | { ask: 'read'; from: number; to: number }
  | { ask: 'utf8'; from: number; to: number }

export type TextHead = {
  /** The body without its text; undefined for invalid JSON. */
  body?: unknown
  /** Set for a JSON body that is nested too deeply or has too many values. */
  fault?: 'deep' | 'many' | undefined
  hasNul: boolean
  /** The UTF-8 size of the text alone. */
  textBytes: number
}

lowerThreadPriority()

/** Limit of a body's other values; above it they are refused as too large, unread. */
const REST_MAX = 1_000_000
/** Replaces a value that is too large to pass on; every schema rejects it. */
const TOO_LARGE = 'too large'
/** Replaces the text; the schema only checks its presence. */
const PLACEHOLDER = '…'

/** Describes the document that the text would become. */
export type TextMeasure = Pick<ChunkedTextInfo, 'id' | 'characters'>

export async function serveText({ port, place, form, outline }: TextTask): Promise<void> {
  const { text, body, fault } =
    form === 'text'
      ? { text: decode(readBytes(place)), body: {}, fault: undefined }
      : parseBody(readBytes(place))
  let chunked: ReturnType<typeof createChunkedText> | undefined
  let utf8: Buffer | undefined

  const answers = {
    head: (): TextHead => ({
      body,
      fault,
      hasNul: text.includes('\0'),
      textBytes: Buffer.byteLength(text),
    }),
    measure: (): TextMeasure => ({ id: computeDocumentId(text), characters: text.length }),
    chunk({ settings }: { settings: ChunkSettings }): ChunkedTextInfo {
      chunked = createChunkedText(text, settings, outline)
      return chunked.info
    },
    utf8({ from, to }: { from: number; to: number }): Uint8Array {
      utf8 ??= Buffer.from(text)
      return new Uint8Array(utf8.subarray(from, to))
    },
    read: ({ from, to }: { from: number; to: number }): Cut =>
      chunked?.slice(from, to) ?? { texts: [], places: [] },
  }

  await new Promise<void>((resolve) => {
    port.on('message', (request: TextRequest) => {
      port.postMessage(answers[request.ask](request as never))
    })
    port.on('close', resolve)
  })
}

function parseBody(bytes: Uint8Array): {
  text: string
  body: unknown
  fault?: 'deep' | 'many' | undefined
} {
  let body: unknown
  try {
    body = parseJson(decode(bytes))
  } catch (error) {
    const fault =
      error instanceof JsonTooDeep ? 'deep' : error instanceof JsonTooMany ? 'many' : undefined
    return { text: '', body: undefined, fault }
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { text: '', body: null }
  const { content, ...others } = body as Record<string, unknown>
  const text = typeof content === 'string' ? content : ''
  let left = REST_MAX
  const rest = Object.fromEntries(
    Object.entries(others).map(([key, value]) => {
      left -= measureSize(value)
      return [key, left < 0 ? TOO_LARGE : value]
    }),
  )
  const shown =
    typeof content === 'string'
      ? content === ''
        ? ''
        : PLACEHOLDER
      : content === undefined
        ? undefined
        : null
  return { text, body: shown === undefined ? rest : { ...rest, content: shown } }
}

/** Returns infinity for a value that is nested too deeply to serialise or to pass on. */
function measureSize(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0
  } catch {
    return Infinity
  }
}

/** @throws TypeError for invalid UTF-8: JSON must be UTF-8, and the parser wrote a file's text */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(bytes)
}
