// The interface of every model vendor: a chat request in, an answer or a stream of chunks out. A
// dialect's file is pure: it shapes requests and reads answers, and does not know its vendor.
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
  /** Of `cacheWrites`, cached for an hour at a higher price; absent without any. */
  cacheWritesHour?: number
  /** The vendor's own price for the call, in US dollars; absent if not reported. */
  costUsd?: number
  /** The reasoning in `completion`; absent if not reported. */
  reasoning?: number
  /** Searches that the vendor made in the web and in its files; absent without any. */
  webSearches?: number
  fileSearches?: number
  /** Sound, images and video in `prompt`, `completion` and `cached`, if reported. */
  media?: MediaTokens
  /** The service tier that was used, if reported. */
  tier?: string
  /** Of the sums above, used by other models at their own price; absent without any. */
  byModel?: readonly { model: string; usage: Usage }[]
}

export type MediaTokens = {
  readonly [M in Medium]?: { input: number; output: number; cached: number }
}

/** `countTokens` returns the vendor's count of each kind; kinds without tokens are omitted. */
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
  /** The reasoning, in order. */
  details: ReasoningDetail[]
  finish: FinishReason
  /** The vendor's name for the model that answered; null if not reported. */
  model: string | null
  usage: Usage | null
  /** The vendor's own body, if it uses the client's format. */
  body: Record<string, unknown> | null
}

/**
 * Reads one stream. `read` receives every event's data in order and adds to `chunks`; it throws
 * VendorError for a reported failure or an unreadable event.
 * A stream that ends before `isWhole` was cut.
 */
export interface EventReader extends Readonly<ReaderState> {
  read(data: string, chunks: AnswerChunk[]): void
  /** Forwards events from offset `from` that need no parsing, as one chunk. @returns their end */
  pass?(text: string, from: number, chunks: AnswerChunk[]): number
}

/** The state of a stream so far. */
export type ReaderState = {
  /** The vendor reported the end of the answer. */
  isWhole: boolean
  /** No further events follow, so the connection's end need not be awaited. */
  isOver: boolean
  /** The gateway ends the answer early and closes the connection. */
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

/** Scores in the documents' order; higher is better, on the model's own scale. */
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
  /** Returns the vendor's listed model of that name; null leaves the family's rules. */
  known?: (model: string) => Model | null
  /** Quirks of all its models: above the family's rules, below a model's own. */
  quirks?: Quirks
  /** The sandbox plays models of any name, and accepts everything that they would reject. */
  isSandbox?: boolean
  /** True when clients may name objects of the operator's account. */
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

/** Caches per model. Callers choose the names, so a full cache is cleared. */
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

/** Vendor APIs that clients use as well: OpenAI's responses and Anthropic's messages. */
export type NativeApi = 'responses' | 'messages'

export type NativeRequest = {
  api: NativeApi
  body: Record<string, unknown>
  /** The client's headers that the vendor receives. */
  headers: Record<string, string>
  /** The caller's limit for the answer, in tokens; null: the model's. */
  limit: number | null
  /** The reserved searches, per tool or in total; absent without a budget. */
  searchesMax?: number
  /** See `Wishes`. */
  safetyIdentifier?: string
  /** Members without a translation. */
  untranslated: readonly string[]
  /** Translates for a vendor without this API, once. @throws VendorError */
  translated(): ChatRequest
}

/** The vendor's implementation of a native API. */
export type Native = {
  api: NativeApi
  speaks(model: string): boolean
  shape(model: string, request: NativeRequest, stream: boolean): VendorRequest
  /** `body` contains the vendor's own body. */
  readAnswer(body: unknown): Answer
  /** Each chunk's `event` contains the lines of one or more events. */
  createReader(): EventReader
  /** Counts the tokens of a prompt, if the vendor counts for free. */
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
  /** The model rejects stop sequences for this request, so the gateway cuts. Absent: it accepts. */
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
    /** @throws VendorError unless each input has one vector */
    readAnswer(body: unknown, inputCount: number): Embedding
  }
  rerank?: {
    shape(model: string, query: string, documents: string[]): VendorRequest
    /** @throws VendorError unless each document has a score */
    readAnswer(body: unknown, documentCount: number): Reranking
  }
}
