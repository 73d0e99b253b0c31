// Requests in a vendor's own format: OpenAI's responses and Anthropic's messages. A vendor with
// that API gets the client's body, except for the model and the answer's limit, and its answer
// passes through. Other vendors get a translation. Usage is read on the way.

import type { Rates } from '#models/catalogue.ts'
import { asObject } from '#platform/json.ts'
import { requireNoAccountObjects } from './account-objects.ts'
import type { AnswerChunk } from './chunk.ts'
import { requirePricedTools, requireRates, withSearches } from './extras.ts'
import { requireKnownMembers } from './native-members.ts'
import type {
  EventReader,
  Native,
  NativeRequest,
  Vendor,
  VendorOptions,
  VendorRequest,
} from './vendor.ts'
import { VendorError } from './vendor-error.ts'

type Json = Record<string, unknown>

/** The parts of a native API: its path, its bodies, its events. */
export type NativeDialect = Pick<Native, 'api' | 'speaks'> & {
  path: string
  body(model: string, request: NativeRequest, stream: boolean): Json
  thinks(model: string): boolean
  counted: { path: string; body(model: string, request: NativeRequest): Json }
  /** See `createPassingReader`. */
  chunks: ChunkEvents
}

/** The most frequent events: their name, and their approximate text; null for any other. */
export type ChunkEvents = { name: string; readText(data: string): string | null }

/** Creates a vendor's native API; `reader` reads the metered fields. */
export function createNative(
  headers: Record<string, string>,
  { api, speaks, thinks, path, body, counted, chunks }: NativeDialect,
  findQuirks: (model: string) => { rates: Rates; passes: readonly string[] },
  reader: Pick<Vendor, 'readAnswer' | 'createReader'>,
  { allowsAccountObjects = false }: Pick<VendorOptions, 'allowsAccountObjects'>,
): Native {
  const requirePassable = (model: string, { body }: NativeRequest) => {
    requireKnownMembers(api, body, findQuirks(model).passes)
    if (!allowsAccountObjects) requireNoAccountObjects(api, body)
  }
  const post = (path: string, request: NativeRequest, body: Json): VendorRequest => ({
    path,
    headers: { ...headers, ...request.headers },
    body: JSON.stringify(body),
  })
  return {
    api,
    speaks,
    shape(model, request, stream) {
      requirePassable(model, request)
      requireRates(api, request.body, findQuirks(model).rates)
      requirePricedTools(api, request.body, thinks(model))
      const { searchesMax } = request
      const boundedBody =
        searchesMax === undefined ? request.body : withSearches(api, request.body, searchesMax)
      return post(path, request, body(model, { ...request, body: boundedBody }, stream))
    },
    readAnswer: (value) => ({ ...reader.readAnswer(value), body: asObject(value) }),
    createReader: () => createPassingReader(reader.createReader(), chunks),
    count: {
      shape(model, request) {
        requirePassable(model, request)
        return post(counted.path, request, counted.body(model, request))
      },
      readAnswer(value) {
        const { input_tokens: tokens } = asObject(value) ?? {}
        if (typeof tokens !== 'number')
          throw new VendorError('nonsense', 'answered without a count')
        return tokens
      },
    },
  }
}

/**
 * Passes every event on. Frequent events (`readText`) are forwarded unparsed, as one chunk per
 * network read.
 * `reader` parses all others for usage, the finish reason and failures.
 */
function createPassingReader(reader: EventReader, { name, readText }: ChunkEvents): EventReader {
  const read: AnswerChunk[] = []
  const head = `event: ${name}\ndata: `
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
    pass(text, from, chunks) {
      let passedText = ''
      let at = from
      // Slices are compared as in openai-frame.ts.
      while (text.slice(at, at + head.length) === head) {
        const end = text.indexOf('\n\n', at + head.length)
        const own = end === -1 ? null : readText(text.slice(at + head.length, end))
        if (own === null) break
        passedText += own
        at = end + 2
      }
      if (at > from) chunks.push(createChunk(passedText, text.slice(from, at)))
      return at
    },
    read(data, chunks) {
      const text = readText(data)
      if (text !== null) {
        chunks.push(createChunk(text, formatEvent(data, name)))
        return
      }
      read.length = 0
      reader.read(data, read)
      // Some proxies end the streams of every API with it.
      if (data === '[DONE]') return
      const type = readEventType(data)
      const passed = createChunk('', formatEvent(data, type))
      // The events that end a part repeat its text, so only deltas are counted.
      const isDelta = read.length > 0 && (type?.endsWith('delta') ?? false)
      for (const chunk of read) {
        if (isDelta) passed.text += chunk.text
        passed.reasoning += chunk.reasoning
        passed.tools ??= chunk.tools
        passed.finish ??= chunk.finish
      }
      chunks.push(passed)
    },
  }
}

function createChunk(text: string, event: string): AnswerChunk {
  return { text, reasoning: '', details: null, tools: null, finish: null, event }
}

/** Formats an event; its type is in its data as well. */
export function formatEvent(json: string, type: string | null): string {
  const data = json.includes('\n') ? json.replaceAll('\n', '\ndata: ') : json
  return type === null ? `data: ${data}\n\n` : `event: ${type}\ndata: ${data}\n\n`
}

/** Parses the output of `formatEvent`. */
export function parseEventText(lines: string): { type: string; data: string } {
  const [type = '', ...data] = lines.slice('event: '.length, -2).split('\ndata: ')
  return { type, data: data.join('\n') }
}

const TYPE = '{"type":"'

/** Returns the type in an event's data. */
function readEventType(chunk: string): string | null {
  const type = chunk.startsWith(TYPE)
    ? chunk.slice(TYPE.length, chunk.indexOf('"', TYPE.length))
    : (JSON.parse(chunk) as { type?: unknown }).type
  return typeof type === 'string' && NAME.test(type) ? type : null
}

const NAME = /^[\w.-]{1,100}$/
