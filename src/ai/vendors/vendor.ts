// The one shape behind which every model vendor stands: a chat request in, an answer or a stream of chunks out.
// A dialect's file is pure: it shapes and reads, never opens a socket, and does not know which of its vendors it speaks to.
import {
  type Abilities,
  type Dialect,
  MEDIA,
  type Medium,
  type Model,
  type Quirks,
  type Temperature,
} from '#models/catalogue.ts'
import type { ChatRequest, ToolCall } from './chat-request.ts'
import type { AnswerChunk, FinishReason } from './chunk.ts'
import type { ReasoningDetail } from './reasoning.ts'

/** Tokens as the vendor counted them. `cached` and `cacheWrites` are parts of `prompt`. */
export type Usage = {
  prompt: number
  completion: number
  cached: number
  cacheWrites: number
  /** The part of `cacheWrites` that is kept for an hour, which costs more; absent where there is none. */
  cacheWritesHour?: number
  /** The vendor's own price for the call, in US dollars; absent where it reports none. */
  costUsd?: number
  /** The part of `completion` that was thought; absent where the vendor does not say. */
  reasoning?: number
  /** Searches of the web, and of files that it has, that the vendor made for it; absent where there was none. */
  webSearches?: number
  fileSearches?: number
  /** The parts of `prompt`, `completion` and `cached` that were sound, images or video, where the vendor says. */
  media?: MediaTokens
  /** The tier that it ran in, where the vendor says. */
  tier?: string
  /** Parts of the sums above that other models of the vendor used, each at its own price; absent where there are none. */
  byModel?: readonly { model: string; usage: Usage }[]
}

export type MediaTokens = {
  readonly [M in Medium]?: { input: number; output: number; cached: number }
}

/** `tokensOf`: what a vendor counts of each kind; kinds without a token are left out. */
export function buildMediaTokens(
  countTokens: (medium: Medium, part: 'input' | 'output' | 'cached') => number,
): { media?: MediaTokens } {
  let media: MediaTokens | null = null
  for (const medium of MEDIA) {
    const input = countTokens(medium, 'input')
    const output = countTokens(medium, 'output')
    if (input + output > 0)
      media = {
        ...(media ?? {}),
        [medium]: { input, output, cached: countTokens(medium, 'cached') },
      }
  }
  return media === null ? {} : { media }
}

export type Answer = {
  text: string
  toolCalls: ToolCall[]
  /** The reasoning, in its order. */
  details: ReasoningDetail[]
  finish: FinishReason
  /** The model that answered, as the vendor names it; null when it does not say. */
  model: string | null
  usage: Usage | null
  /** The vendor's own body, where it already speaks the client's format. */
  body: Record<string, unknown> | null
}

/**
 * Reads one stream. `read` gets every event's data in order and adds to `chunks`; it throws VendorError when the
 * vendor reports a failure or speaks nonsense. A stream that ends before `isWhole` was cut.
 */
export interface EventReader extends Readonly<ReaderState> {
  read(data: string, chunks: AnswerChunk[]): void
  /**
   * Takes the whole events that begin at `from` and need no reading, as one chunk at most, and tells where it stopped. Where it is
   * left out all are read.
   */
  pass?(text: string, from: number, chunks: AnswerChunk[]): number
}

/** The state of a stream so far. */
export type ReaderState = {
  /** The vendor said that the answer is complete. */
  isWhole: boolean
  /** Nothing more will come: no need to wait for the connection's end. */
  isOver: boolean
  /** The answer is ended before its vendor would: the connection is to be closed. */
  isCut?: boolean
  usage: Usage | null
  model: string | null
}

export type ReplyHeaders = Record<string, string | string[] | undefined>

/** `leftOut`: the requested members that this model does not support. */
export type VendorRequest = {
  path: string
  headers: Record<string, string>
  body: string
  leftOut?: readonly string[]
}

/** A text or, at OpenAI, its tokens. */
export type EmbeddingInput = string | number[]

export type Embedding = { vectors: number[][]; model: string | null; promptTokens: number | null }

/** How well each document answers the query, in the documents' order: the higher the better, on the model's own scale. */
export type Reranking = { scores: number[]; model: string | null; promptTokens: number | null }

/** The abilities of a model; null: unknown. */
export type Capabilities = {
  temperature: Temperature
  thinking: boolean
  forced_tools: boolean
} & {
  [Ability in keyof Abilities]: boolean | null
}

/** The facts about its vendor that a dialect needs. */
export type VendorOptions = {
  /** The vendor's listed model of that name; null where the family's rules must do. */
  known?: (model: string) => Model | null
  /** Quirks of all its models, before the family's rules and after what is known of a model. */
  quirks?: Quirks
  /** The sandbox plays models of any name, and takes what they would refuse. */
  isSandbox?: boolean
  /** Clients may name objects of the operator's account with it. */
  allowsAccountObjects?: boolean
}

/** Merges a model's own quirks, its vendor's and its family's, in this order of precedence. */
export function mergeQuirks<Own extends Quirks>(
  family: Own,
  { known, quirks }: VendorOptions,
  model: string,
): Own {
  return { ...family, ...quirks, ...known?.(model)?.quirks }
}

/** Every call asks, and the answer does not change. Names come from callers: so many are kept, and then begun anew. */
export function memoize<T>(find: (model: string) => T): (model: string) => T {
  const found = new Map<string, T>()
  return (model) => {
    const known = found.get(model)
    if (known !== undefined) return known
    if (found.size >= MEMOIZED_MAX) found.clear()
    const value = find(model)
    found.set(model, value)
    return value
  }
}

const MEMOIZED_MAX = 200

/** APIs of vendors that clients speak, too: OpenAI's responses and Anthropic's messages. */
export type NativeApi = 'responses' | 'messages'

export type NativeRequest = {
  api: NativeApi
  body: Record<string, unknown>
  /** Those of the client's that the vendor shall see. */
  headers: Record<string, string>
  /** The longest answer that the caller wants, in tokens; null: as long as the model's. */
  limit: number | null
  /** As many searches as a budget holds, of each tool of the vendor's or of all; absent where none does. */
  searchesMax?: number
  /** As `Wishes` has it. */
  safetyIdentifier?: string
  /** Members that no translation has a word for. */
  untranslated: readonly string[]
  /**
   * Translates the request for a vendor without this API, once. @throws VendorError for members
   * without a translation
   */
  translated(): ChatRequest
}

/** A vendor's side of it. */
export type Native = {
  api: NativeApi
  speaks(model: string): boolean
  shape(model: string, request: NativeRequest, stream: boolean): VendorRequest
  /** The vendor's own body stands in `body`. */
  readAnswer(body: unknown): Answer
  /** Each chunk has its event's lines in `chunk`, or those of several. */
  createReader(): EventReader
  /** How long a prompt is, where the vendor counts for nothing. */
  count?: {
    shape(model: string, request: NativeRequest): VendorRequest
    readAnswer(body: unknown): number
  }
}

/** Returns the abilities in the catalogue; the name of a model does not reveal them. */
export function findAbilities({ known, quirks }: VendorOptions, model: string) {
  const abilities: Quirks = { ...quirks, ...known?.(model)?.quirks }
  return {
    vision: abilities.vision ?? null,
    pdf: abilities.pdf ?? null,
    audio: abilities.audio ?? null,
    tools: abilities.tools ?? null,
    json_schema: abilities.json_schema ?? null,
  }
}

export interface Vendor {
  readonly dialect: Dialect
  /** Whether this model takes no stop sequences for the request, so that its answer has to be cut here. Left out: it takes them. */
  ignoresStop?(model: string, request: ChatRequest): boolean
  capabilities(model: string): Capabilities
  shape(model: string, request: ChatRequest, stream: boolean): VendorRequest
  readAnswer(body: unknown): Answer
  createReader(): EventReader
  /** The vendor's own API. */
  native?: Native
  embed?: {
    shape(
      model: string,
      inputs: EmbeddingInput[],
      dimensions: number | null,
      members?: Readonly<Record<string, string>>,
    ): VendorRequest
    /** @throws VendorError unless there is one vector for each of the inputs. */
    readAnswer(body: unknown, inputCount: number): Embedding
  }
  rerank?: {
    shape(model: string, query: string, documents: string[]): VendorRequest
    /** @throws VendorError unless there is a score for each of the documents. */
    readAnswer(body: unknown, documentCount: number): Reranking
  }
}
