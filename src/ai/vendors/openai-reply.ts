// Reads the answers of vendors with OpenAI's dialect, whole or in chunks. Answers of the Responses
// API are read as chat completions.
// The trap: `[DONE]` alone proves nothing; an answer is complete when a choice has a finish reason.
import { asObject } from '#platform/json.ts'
import type { ToolCall } from './chat-request.ts'
import { type AnswerChunk, createTextChunk, type FinishReason, type ToolDelta } from './chunk.ts'
import { count, parseEvent } from './json.ts'
import { createFrame, type Frame, readFramedText } from './openai-frame.ts'
import type { ReasoningDetail } from './reasoning.ts'
import {
  createResponseEvents,
  isResponseEvent,
  openAiFailure,
  type ResponseEvents,
  toChatBody,
} from './responses-reply.ts'
import {
  type Answer,
  buildMediaTokens,
  type Embedding,
  type EventReader,
  type ReaderState,
  type Reranking,
  type Usage,
} from './vendor.ts'
import { VendorError } from './vendor-error.ts'

export function readAnswer(value: unknown): Answer {
  const reply = asObject(value)
  const body = reply?.object === 'response' ? toChatBody(reply) : reply
  const choice = asObject(Array.isArray(body?.choices) ? body.choices[0] : null)
  const message = asObject(choice?.message)
  if (body === null || message === null) {
    const error = asObject(body?.error)
    if (error)
      throw openAiFailure(
        String(error.type ?? error.code ?? 'error'),
        readErrorMessage(error) ?? '',
      )
    throw new VendorError('nonsense', 'answered without choices')
  }
  requireNoFailure(choice)
  flattenContent(message)
  return {
    // A refusal replaces the content.
    text: readText(message.content ?? message.refusal),
    toolCalls: Array.isArray(message.tool_calls) ? (message.tool_calls as ToolCall[]) : [],
    details: readDetails(message),
    finish: readFinishReason(choice?.finish_reason) ?? 'stop',
    model: typeof body.model === 'string' ? body.model : null,
    usage: parseUsage(body.usage, body.service_tier),
    body,
  }
}

/** Most servers return reasoning as plain text, which has no vendor's format. */
function readDetails(message: Record<string, unknown>): ReasoningDetail[] {
  if (Array.isArray(message.reasoning_details))
    return message.reasoning_details as ReasoningDetail[]
  const text = readReasoningText(message)
  return text === '' ? [] : [{ type: 'reasoning.text', text: text, index: 0 }]
}

/** After this many frames without a match, the stream's events are considered too different. */
const FRAMES_TRIED_MAX = 4

export function createReader(): EventReader {
  let hasChunks = false
  let frame: Frame | null = null
  let framesTried = 0
  let response: ResponseEvents | null = null

  const readResponse = (event: Record<string, unknown>, chunks: AnswerChunk[]) => {
    response ??= createResponseEvents()
    for (const chunk of response.read(event))
      chunks.push(readChunk(chunk.choices as WireChoice[], JSON.stringify(chunk)))
    reader.usage = parseUsage(response.usage, response.tier) ?? reader.usage
    reader.model = response.model
    reader.isWhole = response.isWhole
    reader.isOver = response.isWhole
  }

  const readState = (event: Record<string, unknown>) => {
    const used = event.usage ?? asObject(event.x_groq)?.usage
    if (used) reader.usage = parseUsage(used, event.service_tier) ?? reader.usage
    if (reader.model === null && typeof event.model === 'string') reader.model = event.model
  }

  const reader: ReaderState & EventReader = {
    isWhole: false,
    isOver: false,
    usage: null,
    model: null,
    read(data, chunks) {
      // Parsing each event's 200 repeated bytes would double the CPU of a flat-out stream.
      const words = frame === null ? null : readFramedText(data, frame)
      if (words !== null) {
        framesTried = 0
        const answerChunk = createTextChunk(words)
        answerChunk.event = data
        chunks.push(answerChunk)
        return
      }
      if (data === '[DONE]') {
        // `[DONE]` alone proves nothing: some proxies also send it after a failure.
        reader.isWhole ||= hasChunks
        reader.isOver = true
        return
      }
      const event = parseEvent(data)
      if (isResponseEvent(event)) {
        readResponse(event, chunks)
        return
      }
      requireNoError(event)
      readState(event)
      // An event without choices is not part of the answer: usage, or a proxy's notice.
      if (!Array.isArray(event.choices) || event.choices.length === 0) return
      hasChunks = true
      const answerChunk = readChunk(
        event.choices,
        flattenParts(event.choices) ? JSON.stringify(event) : data,
      )
      chunks.push(answerChunk)
      if (answerChunk.finish) reader.isWhole = true
      else if (framesTried < FRAMES_TRIED_MAX && isTextOnly(event.choices)) {
        framesTried++
        frame = createFrame(data, answerChunk.text)
      }
    },
  }
  return reader
}

/** @throws VendorError for a failure reported inside a stream */
function requireNoError({ error }: Record<string, unknown>): void {
  if (error === undefined || error === null) return
  const body = asObject(error)
  throw openAiFailure(String(body?.type ?? body?.code ?? 'error'), readErrorMessage(body) ?? '')
}

/** OpenRouter's `error` means that its upstream broke off; the choice may have the failure. */
function requireNoFailure(choice: Record<string, unknown> | null): void {
  const error = asObject(choice?.error)
  if (choice?.finish_reason !== 'error' && error === null) return
  throw openAiFailure(
    String(error?.code ?? 'error'),
    readErrorMessage(error) ?? 'the answer broke off',
  )
}

/** Returns true if it has replaced content in parts by plain text. */
function flattenParts(choices: (WireChoice | null)[]): boolean {
  let some = false
  for (const choice of choices) {
    if (choice?.finish_reason === 'error') requireNoFailure(choice as Record<string, unknown>)
    if (Array.isArray(choice?.delta?.content)) {
      flattenContent(choice.delta as Record<string, unknown>)
      some = true
    }
  }
  return some
}

/** Splits the parts of Mistral's reasoning models, which OpenAI's clients do not read. */
function flattenContent(message: Record<string, unknown>): void {
  if (!Array.isArray(message.content)) return
  const parts = message.content.map(asObject)
  const reasoningTexts = parts
    .filter((part) => part?.type === 'thinking')
    .map((part) => readText(part?.thinking))
  message.content = parts
    .map((part) => (part?.type === 'thinking' ? '' : readText(part?.text)))
    .join('')
  if (reasoningTexts.length > 0) message.reasoning_content = reasoningTexts.join('')
}

function readText(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.map((part) => readText(asObject(part)?.text)).join('') : ''
}

type WireChoice = {
  index?: number
  delta?: {
    content?: unknown
    refusal?: unknown
    tool_calls?: WireToolDelta[]
    reasoning_content?: unknown
    reasoning?: unknown
    reasoning_details?: unknown
  } | null
  finish_reason?: unknown
}
type WireToolDelta = {
  index?: number
  id?: string
  function?: { name?: string; arguments?: string }
  extra_content?: ToolCall['extra_content']
}

/** Returns true for a single first choice with only text. */
function isTextOnly(choices: (WireChoice | null)[]): boolean {
  const choice = choices[0]
  return (
    choices.length === 1 &&
    (choice?.index ?? 0) === 0 &&
    typeof choice?.delta?.content === 'string' &&
    choice.delta.tool_calls === undefined &&
    readReasoningText(choice.delta) === '' &&
    choice.delta.reasoning_details == null
  )
}

/** DeepSeek's and vLLM's name, or that of Ollama and OpenRouter. */
function readReasoningText({
  reasoning_content,
  reasoning,
}: NonNullable<WireChoice['delta']>): string {
  if (typeof reasoning_content === 'string') return reasoning_content
  return typeof reasoning === 'string' ? reasoning : ''
}

function readChunk(choices: (WireChoice | null)[], chunk: string): AnswerChunk {
  let text = ''
  let reasoning = ''
  let details: ReasoningDetail[] | null = null
  let tools: ToolDelta[] | null = null
  let finish: FinishReason | null = null
  for (const choice of choices) {
    // Further choices (`n`) reach a /v1 client in the chunk; the gateway's answer is the first.
    if (choice == null || (choice.index ?? 0) !== 0) continue
    const delta = choice.delta
    text += readText(delta?.content) + readText(delta?.refusal)
    if (delta) reasoning += readReasoningText(delta)
    if (Array.isArray(delta?.reasoning_details))
      details = delta.reasoning_details as ReasoningDetail[]
    if (Array.isArray(delta?.tool_calls)) tools = delta.tool_calls.map(readToolDelta)
    finish = readFinishReason(choice.finish_reason) ?? finish
  }
  return { text, reasoning, details, tools, finish, event: chunk }
}

function readToolDelta(call: WireToolDelta, position: number): ToolDelta {
  return {
    index: call.index ?? position,
    ...(call.id === undefined ? {} : { id: call.id }),
    ...(call.function?.name === undefined ? {} : { name: call.function.name }),
    arguments: call.function?.arguments ?? '',
    ...(call.extra_content === undefined ? {} : { extra_content: call.extra_content }),
  }
}

function readFinishReason(reason: unknown): FinishReason | null {
  if (typeof reason !== 'string' || reason === '') return null
  if (reason === 'length' || reason === 'tool_calls' || reason === 'content_filter') return reason
  return reason === 'function_call' ? 'tool_calls' : 'stop'
}

function parseUsage(value: unknown, tier: unknown): Usage | null {
  const usage = asObject(value)
  if (usage === null) return null
  const prompt = asObject(usage.prompt_tokens_details)
  const reasoning = asObject(usage.completion_tokens_details)?.reasoning_tokens
  const tokens = count(usage.prompt_tokens)
  // DeepSeek has another name for it.
  const cached = count(prompt?.cached_tokens ?? usage.prompt_cache_hit_tokens)
  const completion = count(usage.completion_tokens)
  // xAI counts reasoning outside the completion, but in the total; all others count it inside.
  const isBeside =
    typeof reasoning === 'number' && count(usage.total_tokens) === tokens + completion + reasoning
  const cost = readCost(usage)
  return {
    prompt: tokens,
    completion: isBeside ? completion + reasoning : completion,
    cached,
    // Billed since GPT-5.6, and included in the prompt.
    cacheWrites: Math.min(count(prompt?.cache_write_tokens), Math.max(0, tokens - cached)),
    ...(typeof reasoning === 'number' ? { reasoning: count(reasoning) } : {}),
    ...(usage.web_searches === undefined ? {} : { webSearches: count(usage.web_searches) }),
    ...(usage.file_searches === undefined ? {} : { fileSearches: count(usage.file_searches) }),
    ...readMediaTokens(usage),
    ...(typeof tier === 'string' ? { tier } : {}),
    ...(cost === null ? {} : { costUsd: cost }),
  }
}

/** Every call has these details, most of them zero. */
function readMediaTokens(usage: Record<string, unknown>) {
  const prompt = asObject(usage.prompt_tokens_details)
  const details = {
    input: prompt,
    output: asObject(usage.completion_tokens_details),
    cached: asObject(prompt?.cached_tokens_details),
  }
  return buildMediaTokens((medium, part) => count(details[part]?.[`${medium}_tokens`]))
}

/** OpenRouter's price, plus the upstream's where the key there is the operator's own. */
function readCost(usage: Record<string, unknown>): number | null {
  const { cost, is_byok: isOwnKey } = usage
  const upstream =
    isOwnKey === true ? (asObject(usage.cost_details)?.upstream_inference_cost ?? 0) : 0
  const isSum = (value: unknown): value is number =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0
  return isSum(cost) && isSum(upstream) ? cost + upstream : null
}

export function readEmbedding(value: unknown, inputCount: number): Embedding {
  const body = asObject(value)
  const rows = Array.isArray(body?.data)
    ? (body.data as { index?: number; embedding?: unknown }[])
    : null
  if (rows?.length !== inputCount || rows.some((row) => !Array.isArray(row?.embedding))) {
    throw new VendorError('nonsense', 'answered without embeddings')
  }
  const ordered = rows.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
  const usage = asObject(body?.usage)
  return {
    vectors: ordered.map((row) => row.embedding as number[]),
    model: typeof body?.model === 'string' ? body.model : null,
    promptTokens: usage === null ? null : count(usage.prompt_tokens),
  }
}

/** Reads `results` (Jina, vLLM, Cohere) or `data` (Voyage); Cohere's tokens are in `meta`. */
export function readReranking(value: unknown, documentCount: number): Reranking {
  const body = asObject(value)
  const rows = [body?.results, body?.data].find(Array.isArray) as
    | { index?: unknown; relevance_score?: unknown }[]
    | undefined
  const scores = new Array<number>(documentCount).fill(Number.NaN)
  for (const row of rows ?? []) {
    const { index, relevance_score: score } = row ?? {}
    if (typeof index === 'number' && index in scores && typeof score === 'number')
      scores[index] = score
  }
  if (!scores.every(Number.isFinite))
    throw new VendorError('nonsense', 'answered without a score for each document')
  const usage = asObject(body?.usage)
  const tokens = asObject(asObject(body?.meta)?.tokens)
  const reportedTokens = usage?.total_tokens ?? usage?.prompt_tokens ?? tokens?.input_tokens
  return {
    scores,
    model: typeof body?.model === 'string' ? body.model : null,
    promptTokens: reportedTokens === undefined ? null : count(reportedTokens),
  }
}

function readErrorMessage(error: Record<string, unknown> | null): string | null {
  return typeof error?.message === 'string' ? error.message : null
}
