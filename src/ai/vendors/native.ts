// Requests in a vendor's own words, OpenAI's responses and Anthropic's messages: a vendor that speaks them gets the client's
// body as it is, but for the model and the answer's length, and its answer passes as it is. Any other vendor gets a
// translation. What is metered is read on the way, and nothing else: whatever a vendor adds to its API passes.
import type { Rates } from '#models/catalogue.ts'
import { requirePricedTools, requireRates, withSearches } from './extras.ts'
import { objectOf } from './json.ts'
import type { Piece } from './piece.ts'
import type { EventReader, Native, NativeRequest, Vendor, VendorRequest } from './vendor.ts'
import { VendorError } from './vendor-error.ts'

type Json = Record<string, unknown>

/** What a vendor's API has of its own: where it is, what its bodies say, how its events begin. */
export type NativeDialect = Pick<Native, 'api' | 'speaks'> & {
  path: string
  body(model: string, request: NativeRequest, stream: boolean): Json
  thinks(model: string): boolean
  counted: { path: string; body(model: string, request: NativeRequest): Json }
  /** As `passThrough` has it. */
  words(data: string): string | null
}

/** A vendor's side of requests in its own words; `reader` reads what is metered. */
export function createNative(
  headers: Record<string, string>,
  { api, speaks, thinks, path, body, counted, words }: NativeDialect,
  ratesOf: (model: string) => Rates,
  reader: Pick<Vendor, 'readAnswer' | 'createReader'>,
): Native {
  const post = (path: string, request: NativeRequest, body: Json): VendorRequest => ({
    path,
    headers: { ...headers, ...request.headers },
    body: JSON.stringify(body),
  })
  return {
    api,
    speaks,
    shape(model, request, stream) {
      requireRates(api, request.body, ratesOf(model))
      requirePricedTools(api, request.body, thinks(model))
      const { searchesMax } = request
      const asked = searchesMax === undefined ? request.body : withSearches(api, request.body, searchesMax)
      return post(path, request, body(model, { ...request, body: asked }, stream))
    },
    readAnswer: (value) => ({ ...reader.readAnswer(value), body: objectOf(value) }),
    createReader: () => passThrough(reader.createReader(), words),
    count: {
      shape: (model, request) => post(counted.path, request, counted.body(model, request)),
      readAnswer(value) {
        const { input_tokens: tokens } = objectOf(value) ?? {}
        if (typeof tokens !== 'number') throw new VendorError('nonsense', 'answered without a count')
        return tokens
      },
    },
  }
}

/**
 * Passes every event on. Those that `words` knows for a piece of the answer are not parsed: it gives the words in them, about,
 * or null for all other events, of which `reader` learns what was used, how it ended, and that it failed.
 */
function passThrough(reader: EventReader, words: (data: string) => string | null): EventReader {
  const read: Piece[] = []
  return {
    get isWhole() {
      return reader.isWhole
    },
    get isOver() {
      return reader.isOver
    },
    get usage() {
      return reader.usage
    },
    get model() {
      return reader.model
    },
    read(data, pieces) {
      const text = words(data)
      if (text !== null) {
        pieces.push({ text, thought: '', details: null, tools: null, finish: null, chunk: data })
        return
      }
      read.length = 0
      reader.read(data, read)
      // Some proxies end every stream so, in whichever API's words it is.
      if (data === '[DONE]') return
      const passed: Piece = { text: '', thought: '', details: null, tools: null, finish: null, chunk: data }
      // Words come again in the events that end a part of the answer: they are counted where they came first.
      const isDelta = read.length > 0 && (eventType(data)?.endsWith('delta') ?? false)
      for (const piece of read) {
        if (isDelta) passed.text += piece.text
        passed.thought += piece.thought
        passed.tools ??= piece.tools
        passed.finish ??= piece.finish
      }
      pieces.push(passed)
    },
  }
}

/** A vendor's event as it came: its name stands in its data as well. */
export function eventLines(chunk: string, type: string | null = eventType(chunk)): string {
  const data = chunk.includes('\n') ? chunk.replaceAll('\n', '\ndata: ') : chunk
  return type === null ? `data: ${data}\n\n` : `event: ${type}\ndata: ${data}\n\n`
}

const TYPE = '{"type":"'

/** What an event's data says that it is. */
export function eventType(chunk: string): string | null {
  const type = chunk.startsWith(TYPE)
    ? chunk.slice(TYPE.length, chunk.indexOf('"', TYPE.length))
    : (JSON.parse(chunk) as { type?: unknown }).type
  return typeof type === 'string' && NAME.test(type) ? type : null
}

const NAME = /^[\w.-]{1,100}$/
