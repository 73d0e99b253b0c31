// The one shape behind which every model vendor stands: a chat request in, an answer or a stream of pieces out.
// Requests travel in OpenAI's own wire format, because that is what /v1 clients speak; the other dialects translate from it.
// A dialect's file is pure: it shapes and reads, never opens a socket, and does not know which of its vendors it speaks to.
import type { Dialect, Habits, Model, Temperature } from '#models/catalogue.ts'
import type { ReasoningDetail } from './reasoning.ts'

/**
 * Thoughts count against an answer's limit at every vendor. Up to this many tokens a model that thinks by its own choice
 * is asked by our own routes to think little: an answer cut before its first word helps nobody. Who speaks for itself
 * (`asAsked`) gets the effort it names, or the model's own.
 */
export const SHORT_ANSWER_TOKENS = 4_096

/** What each type holds is read in parts.ts; types that are not known there go to OpenAI as they are. */
export type ContentPart = {
  type: string
  text?: string
  image_url?: { url: string; detail?: string }
  cache_control?: CacheControl | null
  [other: string]: unknown
}

/** Anthropic's mark on the end of a prefix that shall be kept: `{type: 'ephemeral', ttl?: '5m' | '1h'}`. */
export type CacheControl = Record<string, unknown>

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
  tool_calls?: ToolCall[] | null
  tool_call_id?: string | null
  /** What the model thought before it said this, as it came out; read in reasoning.ts. */
  reasoning_details?: unknown
  /** The same as other clients keep it: words alone. */
  reasoning_content?: unknown
  reasoning?: unknown
  cache_control?: CacheControl | null
}

export type ToolDefinition = {
  type: 'function'
  function: {
    name: string
    description?: string
    parameters?: Record<string, unknown> | null
    strict?: boolean | null
    cache_control?: CacheControl | null
  }
  cache_control?: CacheControl | null
}

/** What the gateway's own routes know of a call beside its words. Never sent to a vendor. */
export type Wishes = {
  /** Thoughts shall come out, where the model thinks aloud. */
  thoughts?: boolean
  /** The caller speaks for itself: no effort is chosen for it, however short its answer may be. */
  asAsked?: boolean
}

/** For a vendor that cannot: as a fallback it is passed over then. */
export function refusal(explanation: string): VendorError {
  return new VendorError('refused', explanation, { status: 400, explanation, isUnasked: true })
}

/** What OpenAI alone understands must not be lost in translation. @throws VendorError */
export function requireTranslatable(request: ChatRequest): void {
  const { n, tools, tool_choice: choice, modalities, messages } = request
  if ((n ?? 1) > 1) throw refusal('More than one choice is not supported by this model')
  if (tools?.some((tool) => tool.function == null))
    throw refusal('Tools other than functions are not supported by this model')
  if (messages.some(({ tool_calls }) => tool_calls?.some((call) => call.function == null)))
    throw refusal('Calls of tools other than functions are not supported by this model')
  if (typeof choice === 'object' && choice !== null && choice.function == null)
    throw refusal(`A tool_choice of type '${choice.type}' is not supported by this model`)
  if (request.functions != null || request.function_call != null)
    throw refusal("'functions' and 'function_call' are not supported by this model: send 'tools' and 'tool_choice'")
  if (Array.isArray(modalities) && modalities.some((one) => one !== 'text'))
    throw refusal('Answers other than text are not supported by this model')
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
  cache_control?: CacheControl | null
  wishes?: Wishes
  /** Whatever else a client sends goes to OpenAI as it is and is not understood elsewhere. */
  [other: string]: unknown
}

/** OpenAI's words; the other vendors' stop reasons are translated into them. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** Tokens as the vendor counted them. `cached` and `cacheWrites` are parts of `prompt`. */
export type Usage = {
  prompt: number
  completion: number
  cached: number
  cacheWrites: number
  /** The part of `cacheWrites` that is kept for an hour, which costs more; absent where there is none. */
  cacheWritesHour?: number
  /** The part of `completion` that was thought; absent where the vendor does not say. */
  reasoning?: number
}

export type Answer = {
  text: string
  toolCalls: ToolCall[]
  /** What the model thought, in the order in which it came. */
  details: ReasoningDetail[]
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
  /** What the model thinks aloud. */
  thought: string
  /** The same as a client must give it back, and what it cannot read of it. */
  details: ReasoningDetail[] | null
  tools: ToolDelta[] | null
  finish: FinishReason | null
  /** The event's own JSON, where the vendor already speaks OpenAI's format. */
  chunk: string | null
}

export function textPiece(text: string): Piece {
  return { text, thought: '', details: null, tools: null, finish: null, chunk: null }
}

export function thoughtPiece(thought: string, detail: ReasoningDetail): Piece {
  return { text: '', thought, details: [detail], tools: null, finish: null, chunk: null }
}

export function toolPiece(delta: ToolDelta): Piece {
  return { text: '', thought: '', details: null, tools: [delta], finish: null, chunk: null }
}

export function finishPiece(finish: FinishReason): Piece {
  return { text: '', thought: '', details: null, tools: null, finish, chunk: null }
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

/** What a caller may expect of a model. */
export type Capabilities = { temperature: Temperature; thinking: boolean; forced_tools: boolean }

/** What a dialect has to know of the vendor that it is to speak to. */
export type VendorOptions = {
  /** The vendor's listed model of that name; null where the family's rules must do. */
  known?: (model: string) => Model | null
  /** Habits of all its models, before the family's rules and after what is known of a model. */
  habits?: Habits
  /** The sandbox plays models of any name, and takes what they would refuse. */
  isSandbox?: boolean
}

export interface Vendor {
  readonly dialect: Dialect
  capabilities(model: string): Capabilities
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
  /** Filled in by whoever asked; null until then. */
  vendor: string | null = null
  readonly failure: VendorFailure
  /** The vendor's HTTP status; null when there was none. */
  readonly status: number | null
  /** What the vendor asked us to wait; null when it did not say. */
  readonly retryAfterMs: number | null
  /** The vendor's own words on a refused request, safe to show the caller. */
  readonly explanation: string | null
  /** OpenAI's word for why a request was refused, whoever refused it: `context_length_exceeded`; null where there is none. */
  readonly code: string | null
  /** The parameter that was refused, where the vendor names it. */
  readonly param: string | null
  /** The vendor had the request and fell silent over it: it has read the prompt, and will say so on its bill. */
  readonly isUnanswered: boolean
  /** Refused here, on the vendor's behalf: it was not asked, and nothing is known of its health. */
  readonly isUnasked: boolean
  /** A connection that was kept open broke when it was used again: that says nothing of the vendor's health. */
  readonly isStale: boolean

  constructor(
    failure: VendorFailure,
    message: string,
    more: {
      status?: number
      retryAfterMs?: number | null
      explanation?: string | null
      code?: string | null
      param?: string | null
      isUnanswered?: boolean
      isUnasked?: boolean
      isStale?: boolean
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: more.cause })
    this.name = 'VendorError'
    this.failure = failure
    this.status = more.status ?? null
    this.retryAfterMs = more.retryAfterMs ?? null
    this.explanation = more.explanation ?? null
    this.code = more.code ?? null
    this.param = more.param ?? null
    this.isUnanswered = more.isUnanswered ?? false
    this.isUnasked = more.isUnasked ?? false
    this.isStale = more.isStale ?? false
  }

  get isRetryable(): boolean {
    return RETRYABLE.has(this.failure)
  }

  get isMovable(): boolean {
    return MOVABLE.has(this.failure)
  }
}

/** What agents shorten their history on. */
export const CONTEXT_EXCEEDED = 'context_length_exceeded'

/**
 * Whether a vendor says that a prompt is longer than the model reads: OpenAI and servers like it, Anthropic ("prompt is
 * too long: 204525 tokens > 200000 maximum"), Gemini ("The input token count (1200000) exceeds the maximum …").
 */
export function saysContextExceeded(code: string, message: string): boolean {
  return (
    /^(context_length_exceeded|exceed_context_size_error)$/.test(code) ||
    /maximum context length|exceeds? the (available )?context (window|size|length)|prompt is too long|exceeds? context limit|input token count\b.*\bexceeds/i.test(
      message,
    )
  )
}

/** A failure that a vendor reports inside a stream or an otherwise successful body; `isRefused`: the request is at fault. */
export function reportedFailure(type: string, message: string, isRefused = false): VendorError {
  const isTooLong = saysContextExceeded(type, message)
  if (isTooLong || isRefused) {
    const code = isTooLong ? CONTEXT_EXCEEDED : type
    return new VendorError('refused', `reported ${type}: ${message}`, { explanation: message, code })
  }
  const limited = /overloaded|rate_limit|resource_exhausted|unavailable|429|503|529/i.test(type)
  return new VendorError(limited ? 'limited' : 'broken', `reported ${type}: ${message}`)
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

export function parseEvent(data: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch (cause) {
    throw new VendorError('nonsense', 'sent an event that is no JSON', { cause })
  }
  const event = objectOf(value)
  if (event === null) throw new VendorError('nonsense', 'sent an event that is no object')
  return event
}

/** Tokens as a vendor says them. No call has a thousand million: a larger number is a mistake, and would outgrow a sum's column. */
export function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.round(Math.min(value, TOKENS_MAX)) : 0
}

const TOKENS_MAX = 1_000_000_000
