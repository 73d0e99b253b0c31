// Guards the one shape behind which every model vendor stands: a chat request in, an answer or a stream of pieces out.
// One thing to know: requests travel in OpenAI's own wire format, because that is what /v1 clients speak; the other
// vendors translate from it. A vendor's file is pure: it shapes and reads, and never opens a socket.
import type { VendorName } from '#src/config.ts'

export type { VendorName }

/** `text` and `image_url` are understood everywhere; other types go to OpenAI as they are. */
export type ContentPart = {
  type: string
  text?: string
  image_url?: { url: string; detail?: string }
  [other: string]: unknown
}

export type ToolCall = {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
  /** What a vendor wants back with the call, in the place where its own OpenAI-compatible door keeps it. */
  extra_content?: { google?: { thought_signature?: string } }
}

export type ChatMessage = {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  content?: string | ContentPart[] | null
  name?: string
  tool_calls?: ToolCall[]
  tool_call_id?: string
}

export type ToolDefinition = {
  type: 'function'
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean }
}

/** For a vendor that cannot: as a fallback it is passed over then. */
export function refusal(vendor: VendorName, explanation: string): VendorError {
  return new VendorError(vendor, 'refused', explanation, { status: 400, explanation })
}

/** What OpenAI alone understands must not be lost in translation. @throws VendorError */
export function requireTranslatable(vendor: VendorName, { n, tools }: ChatRequest): void {
  if ((n ?? 1) > 1) throw refusal(vendor, 'More than one choice is not supported by this model')
  if (tools?.some((tool) => tool.function == null))
    throw refusal(vendor, 'Tools other than functions are not supported by this model')
}

/** A chat request as OpenAI's /v1/chat/completions has it, without `model` and `stream`, which the gateway decides. */
export type ChatRequest = {
  messages: ChatMessage[]
  temperature?: number | null
  top_p?: number | null
  max_tokens?: number | null
  max_completion_tokens?: number | null
  stop?: string | string[] | null
  tools?: ToolDefinition[]
  tool_choice?: string | { type: string; function?: { name: string } }
  parallel_tool_calls?: boolean
  response_format?: {
    type: string
    json_schema?: { name?: string; schema?: Record<string, unknown>; strict?: boolean }
  }
  reasoning_effort?: string | null
  n?: number | null
  /** Whatever else a client sends goes to OpenAI as it is and is not understood elsewhere. */
  [other: string]: unknown
}

/** OpenAI's words; the other vendors' stop reasons are translated into them. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** Tokens as the vendor counted them. `cached` and `cacheWrites` are parts of `prompt`. */
export type Usage = { prompt: number; completion: number; cached: number; cacheWrites: number }

export type Answer = {
  text: string
  toolCalls: ToolCall[]
  finish: FinishReason
  /** The model that answered, as the vendor names it; null when it does not say. */
  model: string | null
  usage: Usage | null
  /** The vendor's own body, where it already speaks OpenAI's format. */
  body: Record<string, unknown> | null
}

export type ToolDelta = {
  index: number
  id?: string
  name?: string
  arguments: string
  extra_content?: ToolCall['extra_content']
}

/** What one event of a stream brought; one shape for all, so that the engine keeps one hidden class. */
export type Piece = {
  text: string
  tools: ToolDelta[] | null
  finish: FinishReason | null
  /** The event's own JSON, where the vendor already speaks OpenAI's format. */
  chunk: string | null
}

export function textPiece(text: string): Piece {
  return { text, tools: null, finish: null, chunk: null }
}

export function toolPiece(delta: ToolDelta): Piece {
  return { text: '', tools: [delta], finish: null, chunk: null }
}

export function finishPiece(finish: FinishReason): Piece {
  return { text: '', tools: null, finish, chunk: null }
}

/**
 * Reads one stream. `read` gets every event's data in order and adds to `pieces`; it throws VendorError when the
 * vendor reports a failure or speaks nonsense. A stream that ends before `isWhole` was cut.
 */
export interface EventReader {
  read(data: string, pieces: Piece[]): void
  /** The vendor said that the answer is complete. */
  readonly isWhole: boolean
  /** Nothing more will come: no need to wait for the connection's end. */
  readonly isOver: boolean
  readonly usage: Usage | null
  readonly model: string | null
}

export type ReplyHeaders = Record<string, string | string[] | undefined>

export type VendorRequest = { path: string; headers: Record<string, string>; body: string }

/** A text or, at OpenAI, its tokens. */
export type EmbeddingInput = string | number[]

export type Embedding = { vectors: number[][]; model: string | null; promptTokens: number | null }

export interface Vendor {
  readonly name: VendorName
  shape(model: string, request: ChatRequest, stream: boolean): VendorRequest
  readAnswer(body: unknown): Answer
  createReader(): EventReader
  /** What the vendor says of a failure, from its body; null when it says nothing readable. */
  readError(body: unknown): string | null
  embed?: {
    shape(model: string, inputs: EmbeddingInput[], dimensions: number | null): VendorRequest
    /** @throws VendorError unless there is one vector for each of the inputs. */
    readAnswer(body: unknown, inputCount: number): Embedding
  }
}

export type VendorFailure =
  /** No connection, or it broke before an answer. */
  | 'unreachable'
  | 'timeout'
  /** 429, or the vendor says it is overloaded. */
  | 'limited'
  /** 5xx. */
  | 'broken'
  /** An answer that is none: no JSON, wrong shape, a stream without the vendor's end mark. */
  | 'nonsense'
  /** 401, 403: our key. */
  | 'unauthorized'
  /** 404: no such model. */
  | 'unknown-model'
  /** Other 4xx: the request itself, which no other vendor would mend. */
  | 'refused'

/** Worth asking the same vendor again. */
const RETRYABLE = new Set<VendorFailure>(['unreachable', 'timeout', 'limited', 'broken', 'nonsense'])
/** Worth asking another vendor. */
const MOVABLE = new Set<VendorFailure>([...RETRYABLE, 'unauthorized', 'unknown-model'])

/** Every way in which a vendor fails, in one type. `message` is for the operator; it never holds a key. */
export class VendorError extends Error {
  readonly vendor: VendorName
  readonly failure: VendorFailure
  /** The vendor's HTTP status; null when there was none. */
  readonly status: number | null
  /** What the vendor asked us to wait; null when it did not say. */
  readonly retryAfterMs: number | null
  /** The vendor's own words on a refused request, safe to show the caller. */
  readonly explanation: string | null
  /** The vendor had the request and fell silent over it: it has read the prompt, and will say so on its bill. */
  readonly isUnanswered: boolean
  /** A connection that was kept open broke when it was used again: that says nothing of the vendor's health. */
  readonly isStale: boolean

  constructor(
    vendor: VendorName,
    failure: VendorFailure,
    message: string,
    more: {
      status?: number
      retryAfterMs?: number | null
      explanation?: string | null
      isUnanswered?: boolean
      isStale?: boolean
      cause?: unknown
    } = {},
  ) {
    super(`${vendor}: ${message}`, { cause: more.cause })
    this.name = 'VendorError'
    this.vendor = vendor
    this.failure = failure
    this.status = more.status ?? null
    this.retryAfterMs = more.retryAfterMs ?? null
    this.explanation = more.explanation ?? null
    this.isUnanswered = more.isUnanswered ?? false
    this.isStale = more.isStale ?? false
  }

  get isRetryable(): boolean {
    return RETRYABLE.has(this.failure)
  }

  get isMovable(): boolean {
    return MOVABLE.has(this.failure)
  }
}

/** A failure that a vendor reports inside a stream or an otherwise successful body. */
export function reportedFailure(vendor: VendorName, type: string, message: string): VendorError {
  const limited = /overloaded|rate_limit|resource_exhausted|unavailable|429|503|529/i.test(type)
  return new VendorError(vendor, limited ? 'limited' : 'broken', `reported ${type}: ${message}`)
}

export function systemText(content: ChatMessage['content']): string {
  return typeof content === 'string' ? content : textOf(content ?? [])
}

export function textOf(parts: ContentPart[]): string {
  return parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('')
}

/** Splits `data:image/png;base64,…`; null for an ordinary address. */
export function inlineImage(url: string): { mediaType: string; data: string } | null {
  const match = /^data:([\w.+-]+\/[\w.+-]+);base64,/.exec(url)
  return match?.[1] ? { mediaType: match[1], data: url.slice(match[0].length) } : null
}

/** A JSON value as an object; null when it is anything else. */
export function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}

export function parseEvent(vendor: VendorName, data: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch (cause) {
    throw new VendorError(vendor, 'nonsense', 'sent an event that is no JSON', { cause })
  }
  const event = objectOf(value)
  if (event === null) throw new VendorError(vendor, 'nonsense', 'sent an event that is no object')
  return event
}

/** Tokens as a vendor says them. No call has a thousand million: a larger number is a mistake, and would outgrow a sum's column. */
export function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.round(Math.min(value, TOKENS_MAX)) : 0
}

const TOKENS_MAX = 1_000_000_000
