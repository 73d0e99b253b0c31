/**
 * Keeps one long text off the main thread, from its bytes to its chunks: parsing 64 MB of JSON, or copying such a text between
 * threads, would stop everybody for half a second. Answers one request at a time until the port closes.
 */
import type { MessagePort } from 'node:worker_threads'
import { type Place, readBytes } from '#platform/content.ts'
import { JsonTooDeep, JsonTooMany, parseJson } from '#platform/json.ts'
import { lowerThreadPriority } from '#platform/thread-priority.ts'
import { type ChunkedTextInfo, type Cut, chunkedText, documentIdOf } from './chunked-text.ts'
import type { ChunkSettings } from './chunker.ts'
import type { Outline } from './outline.ts'

export type TextTask = {
  port: MessagePort
  place: Place
  /** A JSON body with the text as its `content`, or the text itself. */
  form: 'json' | 'text'
  /** What the file that the text is of knows of it. */
  outline: Outline
}

export type TextRequest =
  | { ask: 'head' }
  | { ask: 'measure' }
  | { ask: 'chunk'; settings: ChunkSettings }
  | { ask: 'read'; from: number; to: number }
  | { ask: 'utf8'; from: number; to: number }

export type TextHead = {
  /** The body without its text; undefined when it is no JSON. */
  body?: unknown
  /** Of a body that is JSON, but nested too deeply to be taken. */
  fault?: 'deep' | 'many' | undefined
  hasNul: boolean
  /** Of the text alone, as UTF-8. */
  textBytes: number
}

lowerThreadPriority()

/** What a body may hold beside its text before it is called too large unseen. */
const REST_MAX = 1_000_000
/** Stands in for a value that is not handed over: no schema of ours takes it. */
const TOO_LARGE = 'too large'
/** Stands in for a text that is there; the schema looks at no more than that. */
const PLACEHOLDER = '…'

/** Of the document that it would make. */
export type TextMeasure = Pick<ChunkedTextInfo, 'id' | 'characters'>

export async function serveText({ port, place, form, outline }: TextTask): Promise<void> {
  const { text, body, fault } =
    form === 'text'
      ? { text: decode(readBytes(place)), body: {}, fault: undefined }
      : parseBody(readBytes(place))
  let chunked: ReturnType<typeof chunkedText> | undefined
  let utf8: Buffer | undefined

  const answers = {
    head: (): TextHead => ({
      body,
      fault,
      hasNul: text.includes('\0'),
      textBytes: Buffer.byteLength(text),
    }),
    measure: (): TextMeasure => ({ id: documentIdOf(text), characters: text.length }),
    chunk({ settings }: { settings: ChunkSettings }): ChunkedTextInfo {
      chunked = chunkedText(text, settings, outline)
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
      left -= sizeOf(value)
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

/** Infinite for a value that is nested too deep to be written, or to be handed over. */
function sizeOf(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0
  } catch {
    return Infinity
  }
}

/** @throws TypeError for bytes that are no UTF-8: JSON is nothing else, and a text from a file was made here */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(bytes)
}
