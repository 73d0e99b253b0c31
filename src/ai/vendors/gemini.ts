// Gemini's generateContent: turns of `user` and `model`, parts instead of text, tools without ids.
// The trap: no `[DONE]`. A `finishReason` completes an answer, and the last event's usage counts.
// https://ai.google.dev/api/generate-content

import type { GeminiQuirks } from '#models/catalogue.ts'
import { asObject } from '#platform/json.ts'
import { wordSet } from '#platform/words.ts'
import { requirePublicFiles } from './account-objects.ts'
import {
  type ChatMessage,
  type ChatRequest,
  describeLength,
  requireTranslatable,
  SHORT_ANSWER_TOKENS,
  type ToolCall,
} from './chat-request.ts'
import { type AnswerChunk, createFinishChunk, createTextChunk, type FinishReason } from './chunk.ts'
import { count, parseEvent, parseObject } from './json.ts'
import { findLeftOut } from './left-out.ts'
import { newId } from './new-id.ts'
import { type Part as ContentRead, createUnsupportedError, readPart } from './parts.ts'
import { createDetailHeads, type ReasoningDetail, readDetails } from './reasoning.ts'
import {
  type Answer,
  buildMediaTokens,
  type Embedding,
  type EmbeddingInput,
  type EventReader,
  findAbilities,
  memoize,
  mergeQuirks,
  type ReaderState,
  type Usage,
  type Vendor,
  type VendorOptions,
} from './vendor.ts'
import { createRefusal, createReportedFailure, VendorError } from './vendor-error.ts'

const FORMAT = 'google-gemini-v1'

export function createGemini(apiKey: string, options: VendorOptions = {}): Vendor {
  // The key is sent in a header, never in the URL, which proxies and logs store.
  const headers = { 'x-goog-api-key': apiKey, 'content-type': 'application/json' }
  const findTraits = memoize(
    (model): Traits => ({
      ...mergeQuirks(findFamilyQuirks(model), options, model),
      outputTokensMax: options.known?.(model)?.outputTokensMax ?? null,
    }),
  )
  return {
    dialect: 'gemini',
    capabilities(name) {
      const model = removePrefix(name)
      const { temperature, returnsReasoning } = findTraits(model)
      return {
        temperature,
        thinking: returnsReasoning,
        forced_tools: true,
        ...findAbilities(options, model),
      }
    },
    shape: (name, request, stream) => {
      const model = removePrefix(name)
      const body = buildBody(findTraits(model), request)
      if (!options.allowsAccountObjects)
        for (const { parts } of body.contents as Turn[]) requirePublicFiles(parts)
      return {
        path: `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        headers,
        body: JSON.stringify(body),
        leftOut: findLeftOut(request, (name) => isTranslated(name, body)),
      }
    },
    readAnswer,
    createReader,
    embed: {
      shape: (name, inputs, dimensions, members) => {
        const model = removePrefix(name)
        return {
          path: `/v1beta/models/${encodeURIComponent(model)}:batchEmbedContents`,
          headers,
          body: JSON.stringify({
            requests: inputs.map((text) => ({
              model: `models/${model}`,
              content: { parts: [{ text: requireText(text) }] },
              ...(dimensions === null ? {} : { outputDimensionality: dimensions }),
              ...members,
            })),
          }),
        }
      },
      readAnswer: readEmbedding,
    },
  }
}

function requireText(input: EmbeddingInput): string {
  if (typeof input === 'string') return input
  throw createRefusal('Tokens instead of text are not supported by this model')
}

/** Google's own lists contain `models/gemini-…`. */
const removePrefix = (name: string) => name.replace(/^models\//, '')

/** `outputTokensMax`: the longest answer; null: unknown. */
type Traits = GeminiQuirks & { outputTokensMax: number | null }

/** Guesses from the name of a model that the catalogue does not list. */
function findFamilyQuirks(model: string): GeminiQuirks {
  const isSince3 = /^gemini-([3-9]|\d\d)/.test(model)
  return {
    temperature: 'taken',
    signsReasoning: isSince3,
    // The lite models of 2.5 reason only with a budget, and only then accept `include_thoughts`.
    returnsReasoning: isSince3 || /^gemini-2\.5-(pro|flash)(?!-lite)/.test(model),
  }
}

type Part = Record<string, unknown>
type Turn = { role: 'user' | 'model'; parts: Part[] }

function buildBody(traits: Traits, request: ChatRequest): Record<string, unknown> {
  requireTranslatable(request)
  const system = request.messages
    .filter((message) => message.role === 'system' || message.role === 'developer')
    .map((message) => readSystemText(message.content))
    .concat(describeLength(request) ?? [])
    .filter((text) => text !== '')
    .join('\n\n')
  const generation = buildGenerationConfig(traits, request)

  const body: Record<string, unknown> = {
    contents: buildTurns(request.messages, traits.signsReasoning),
  }
  if (system !== '') body.systemInstruction = { parts: [{ text: system }] }
  if (Object.keys(generation).length > 0) body.generationConfig = generation
  if (request.tools?.length) {
    body.tools = [{ functionDeclarations: request.tools.map(declareFunction) }]
    const choice = request.tool_choice
    if (choice != null) body.toolConfig = { functionCallingConfig: buildCallingConfig(choice) }
  }
  return body
}

function buildGenerationConfig(traits: Traits, request: ChatRequest): Record<string, unknown> {
  const generation: Record<string, unknown> = {}
  const limit = request.max_completion_tokens ?? request.max_tokens
  if (limit != null) generation.maxOutputTokens = Math.min(limit, traits.outputTokensMax ?? limit)
  if (request.temperature != null) generation.temperature = request.temperature
  if (request.top_p != null) generation.topP = request.top_p
  if (request.stop != null)
    generation.stopSequences = typeof request.stop === 'string' ? [request.stop] : request.stop
  if (typeof request.seed === 'number') generation.seed = request.seed
  for (const [name, own] of SAMPLING)
    if (typeof request[name] === 'number' && request[name] !== 0) generation[own] = request[name]
  const resolution = chooseMediaResolution(request.messages)
  if (resolution !== null) generation.mediaResolution = resolution
  const format = request.response_format
  if (format?.type === 'json_object' || format?.type === 'json_schema') {
    generation.responseMimeType = 'application/json'
    if (format.json_schema?.schema) generation.responseJsonSchema = format.json_schema.schema
  }
  const thinking = buildThinkingConfig(traits, request, limit ?? null)
  if (Object.keys(thinking).length > 0) generation.thinkingConfig = thinking
  return generation
}

function buildThinkingConfig(
  traits: Traits,
  request: ChatRequest,
  limit: number | null,
): Record<string, unknown> {
  const level = chooseThinkingLevel(traits, request, limit)
  return {
    ...(level === null ? {} : { thinkingLevel: level }),
    ...(request.wishes?.reasoning === true && traits.returnsReasoning
      ? { includeThoughts: true }
      : {}),
    ...readThinkingConfig(request),
  }
}

function declareFunction({
  function: { name, description, parameters },
}: NonNullable<ChatRequest['tools']>[number]) {
  const hasParameters = Object.keys(parameters ?? {}).length > 0
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(hasParameters ? { parametersJsonSchema: parameters } : {}),
  }
}

function buildCallingConfig(choice: NonNullable<ChatRequest['tool_choice']>) {
  if (typeof choice === 'object')
    return {
      mode: 'ANY',
      ...(choice.function ? { allowedFunctionNames: [choice.function.name] } : {}),
    }
  if (choice === 'none') return { mode: 'NONE' }
  return { mode: choice === 'required' ? 'ANY' : 'AUTO' }
}

const SAMPLING = [
  ['top_k', 'topK'],
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
] as const

const TRANSLATED = wordSet(
  'stop seed tools tool_choice response_format verbosity temperature top_p',
  ...SAMPLING.map(([name]) => name),
)

function isTranslated(name: string, body: Record<string, unknown>): boolean {
  if (name !== 'reasoning_effort') return TRANSLATED.has(name)
  return asObject(asObject(body.generationConfig)?.thinkingConfig)?.thinkingLevel !== undefined
}

/** Returns the finest resolution that any image requests; null without one. */
function chooseMediaResolution(messages: ChatMessage[]): string | null {
  let found: string | null = null
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const { type, image_url: image } of content) {
      if (type !== 'image_url') continue
      if (image?.detail === 'high') return 'MEDIA_RESOLUTION_HIGH'
      if (image?.detail === 'low') found = 'MEDIA_RESOLUTION_LOW'
      else return null
    }
  }
  return found
}

/** Reads `extra_body.google.thinking_config`, as in Google's own OpenAI-compatible API. */
function readThinkingConfig(request: ChatRequest): Record<string, unknown> {
  const google = asObject(asObject(request.extra_body)?.google) ?? asObject(request.google)
  const {
    thinking_level: level,
    thinking_budget: budget,
    include_thoughts: includesReasoning,
  } = asObject(google?.thinking_config) ?? {}
  // Gemini rejects both together.
  const effort =
    typeof budget === 'number' ? { thinkingBudget: budget, thinkingLevel: undefined } : {}
  return {
    ...(typeof level === 'string' ? { thinkingLevel: level } : effort),
    ...(typeof includesReasoning === 'boolean' ? { includeThoughts: includesReasoning } : {}),
  }
}

function chooseThinkingLevel(
  { signsReasoning }: Traits,
  request: ChatRequest,
  limit: number | null,
): string | null {
  const effort = request.reasoning_effort ?? null
  if (!signsReasoning) return null
  if (effort === 'medium' || effort === 'high') return effort
  if (effort === 'max' || effort === 'xhigh') return 'high'
  if (effort !== null) return 'low'
  const isShort = limit !== null && limit <= SHORT_ANSWER_TOKENS
  return isShort && request.wishes?.keepsEffort !== true ? 'low' : null
}

/** Only text can instruct. */
function readSystemText(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content
  return (content ?? [])
    .map((part) => {
      const read = readPart(part)
      if (read.kind === 'text') return read.text
      throw createUnsupportedError(`A system message with '${part.type}'`)
    })
    .join('')
}

/** Joins consecutive messages of a role. Results refer to calls by name and position. */
function buildTurns(messages: ChatMessage[], isSigned: boolean): Turn[] {
  const turns: Turn[] = []
  const toolNames = new Map<string, string>()
  for (const message of orderToolResults(messages)) {
    if (message.role === 'system' || message.role === 'developer') continue
    for (const call of message.tool_calls ?? []) toolNames.set(call.id, call.function.name)
    const role = message.role === 'assistant' ? 'model' : 'user'
    const parts = buildParts(message, toolNames, isSigned)
    if (parts.length === 0) continue
    const last = turns.at(-1)
    // Pushes one by one: a list of arguments has to fit the stack.
    if (last?.role === role) for (const part of parts) last.parts.push(part)
    else turns.push({ role, parts })
  }
  if (turns.length === 0) turns.push({ role: 'user', parts: [{ text: '…' }] })
  return turns
}

/** Calls of one tool differ only in their position, so results follow the calls' order. */
function orderToolResults(messages: ChatMessage[]): ChatMessage[] {
  const ordered: ChatMessage[] = []
  let places = new Map<string, number>()
  let answers: { place: number; message: ChatMessage }[] = []
  const endAnswers = () => {
    // Results of one call keep their order.
    for (const { message } of answers.sort((one, other) => one.place - other.place))
      ordered.push(message)
    answers = []
  }
  for (const message of messages) {
    const place = message.role === 'tool' ? places.get(message.tool_call_id ?? '') : undefined
    if (place !== undefined) {
      answers.push({ place, message })
      continue
    }
    endAnswers()
    ordered.push(message)
    if (message.role !== 'tool') places = findPlaces(message.tool_calls ?? [])
  }
  endAnswers()
  return ordered
}

/** The first of two equal ids counts. */
function findPlaces(calls: ToolCall[]): Map<string, number> {
  const places = new Map<string, number>()
  for (const [place, { id }] of calls.entries()) if (!places.has(id)) places.set(id, place)
  return places
}

function buildParts(
  message: ChatMessage,
  toolNames: Map<string, string>,
  isSigned: boolean,
): Part[] {
  if (message.role === 'tool') return buildResultParts(message, toolNames, isSigned)
  const contentParts: Part[] =
    typeof message.content === 'string'
      ? message.content === ''
        ? []
        : [{ text: message.content }]
      : (message.content ?? [])
          .map((part) => buildPart(readPart(part)))
          .filter(({ text }) => text !== '')
  const parts = message.role === 'assistant' ? addReasoning(contentParts, message) : contentParts
  const calls = message.tool_calls ?? []
  // Of parallel calls, only the first is signed. Without any signature, the client has lost it.
  const isLost = !calls.some((call) => call.extra_content?.google?.thought_signature !== undefined)
  for (const call of calls) {
    const signature =
      call.extra_content?.google?.thought_signature ?? (isLost ? UNSIGNED : undefined)
    parts.push({
      functionCall: { name: call.function.name, args: parseObject(call.function.arguments) ?? {} },
      ...(isSigned && signature !== undefined ? { thoughtSignature: signature } : {}),
    })
  }
  return parts
}

/** Puts reasoning before the text; the text's own signature belongs to its last part. */
function addReasoning(parts: Part[], message: ChatMessage): Part[] {
  const reasoningParts: Part[] = []
  for (const detail of readDetails(message.reasoning_details, FORMAT)) {
    if (detail.type === 'reasoning.text') {
      const { text, signature } = detail
      reasoningParts.push({
        text,
        thought: true,
        ...(signature === undefined ? {} : { thoughtSignature: signature }),
      })
    } else if (detail.type === 'reasoning.encrypted') {
      const last = parts.at(-1)
      if (last !== undefined && typeof last.text === 'string') last.thoughtSignature = detail.data
      else parts.push({ text: '', thoughtSignature: detail.data })
    }
  }
  return reasoningParts.concat(parts)
}

function buildPart(read: ContentRead): Part {
  if (read.kind === 'text') return { text: read.text }
  const { source } = read
  return 'url' in source
    ? { fileData: { fileUri: source.url } }
    : { inlineData: { mimeType: source.mediaType, data: source.data } }
}

/** Text as JSON; media inside the result where the model supports that, otherwise after it. */
function buildResultParts(
  message: ChatMessage,
  toolNames: Map<string, string>,
  isSigned: boolean,
): Part[] {
  const name = toolNames.get(message.tool_call_id ?? '') ?? message.name ?? 'tool'
  const { content } = message
  if (typeof content === 'string')
    return [{ functionResponse: { name, response: buildToolResult(content) } }]
  const read = (content ?? []).map((part) => readPart(part))
  const text = read.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  const media = read.filter((part) => part.kind === 'media')
  const canInline = (part: ContentRead) =>
    isSigned && part.kind === 'media' && 'data' in part.source
  const inlined = media.filter(canInline).map(buildPart)
  const response = buildToolResult(text)
  return [
    { functionResponse: { name, response, ...(inlined.length > 0 ? { parts: inlined } : {}) } },
    ...media.filter((part) => !canInline(part)).map(buildPart),
  ]
}

function buildToolResult(text: string): Record<string, unknown> {
  return parseObject(text) ?? { result: text }
}

/** Google's documented placeholder for calls whose signature was lost. */
const UNSIGNED = 'skip_thought_signature_validator'

/** Google's name for a choice. */
type Candidate = { content?: { parts?: Part[] } | null; finishReason?: unknown }

function readCandidate(body: Record<string, unknown>): Candidate | null {
  return Array.isArray(body.candidates)
    ? ((body.candidates[0] as Candidate | undefined) ?? null)
    : null
}

function readAnswer(value: unknown): Answer {
  const body = asObject(value)
  const candidate = body === null ? null : readCandidate(body)
  const isBlocked = asObject(body?.promptFeedback)?.blockReason != null
  if (body === null || (candidate === null && !isBlocked)) {
    const error = asObject(body?.error)
    if (error)
      throw createReportedFailure(String(error.status ?? error.code), String(error.message ?? ''))
    throw new VendorError('nonsense', 'answered without candidates')
  }
  const parts = candidate?.content?.parts ?? []
  const toolCalls: ToolCall[] = parts
    .filter((part) => asObject(part.functionCall) !== null)
    .map(readToolCall)
  return {
    text: parts.map(readVisibleText).join(''),
    toolCalls,
    details: parts.flatMap(
      (part, index) => toReasoningDetail(part, { format: FORMAT, index }) ?? [],
    ),
    finish: isBlocked
      ? 'content_filter'
      : readFinishReason(candidate?.finishReason, toolCalls.length > 0),
    model: typeof body.modelVersion === 'string' ? body.modelVersion : null,
    usage: parseUsage(body.usageMetadata),
    body: null,
  }
}

function createReader(): EventReader {
  let toolCount = 0
  const createHead = createDetailHeads(FORMAT)

  const readParts = (parts: readonly Part[]): AnswerChunk => {
    const chunk = createTextChunk('')
    for (const part of parts) {
      chunk.text += readVisibleText(part)
      const detail = toReasoningDetail(part, {
        index: isReasoning(part) ? REASONING_INDEX : SIGNATURE_INDEX,
      })
      if (detail !== null) {
        chunk.details ??= []
        chunk.details.push(Object.assign(detail, createHead(detail.index)))
        if (detail.type === 'reasoning.text') chunk.reasoning += detail.text
      }
      if (asObject(part.functionCall) === null) continue
      const { id, function: tool, extra_content } = readToolCall(part)
      const delta = { index: toolCount++, id, name: tool.name, arguments: tool.arguments }
      chunk.tools ??= []
      chunk.tools.push(extra_content === undefined ? delta : { ...delta, extra_content })
    }
    return chunk
  }

  const reader: ReaderState & EventReader = {
    isWhole: false,
    // Usage may follow the last text, so the connection's end is awaited.
    isOver: false,
    usage: null,
    model: null,
    read(data, chunks) {
      const event = parseEvent(data)
      const error = asObject(event.error)
      if (error)
        throw createReportedFailure(String(error.status ?? error.code), String(error.message ?? ''))
      reader.usage = parseUsage(event.usageMetadata) ?? reader.usage
      if (typeof event.modelVersion === 'string') reader.model = event.modelVersion
      if (asObject(event.promptFeedback)?.blockReason != null) {
        reader.isWhole = true
        chunks.push(createFinishChunk('content_filter'))
        return
      }
      const candidate = readCandidate(event)
      if (candidate === null) return

      const chunk = readParts(candidate.content?.parts ?? [])
      const isLast = typeof candidate.finishReason === 'string'
      reader.isWhole ||= isLast
      if (isLast) chunk.finish = readFinishReason(candidate.finishReason, toolCount > 0)
      const { text, details, tools, finish } = chunk
      if (text !== '' || details !== null || tools !== null || finish !== null) chunks.push(chunk)
    },
  }
  return reader
}

/** Returns the visible text; parts marked as `thought` are reasoning. */
function readVisibleText(part: Part): string {
  return typeof part.text === 'string' && part.thought !== true ? part.text : ''
}

/** Parts of a stream have no index: one for all reasoning, another for the text's signature. */
const REASONING_INDEX = 0
const SIGNATURE_INDEX = 1

/** Also for a text's signature; tool calls carry their own. */
function toReasoningDetail(
  part: Part,
  head: Pick<ReasoningDetail, 'format' | 'index'>,
): ReasoningDetail | null {
  const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : undefined
  if (isReasoning(part)) {
    const detail = { type: 'reasoning.text', text: String(part.text), ...head } as const
    return signature === undefined ? detail : { ...detail, signature }
  }
  if (signature === undefined || asObject(part.functionCall) !== null) return null
  return { type: 'reasoning.encrypted', data: signature, ...head }
}

const isReasoning = (part: Part) => part.thought === true && typeof part.text === 'string'

function readToolCall(part: Part): ToolCall {
  const call = asObject(part.functionCall)
  return {
    // A random id, so that no later turn of the conversation repeats it.
    id: typeof call?.id === 'string' ? call.id : newId('call_'),
    type: 'function',
    function: { name: String(call?.name), arguments: JSON.stringify(call?.args ?? {}) },
    ...(typeof part.thoughtSignature === 'string'
      ? { extra_content: { google: { thought_signature: part.thoughtSignature } } }
      : {}),
  }
}

function readFinishReason(reason: unknown, hasTools: boolean): FinishReason {
  if (reason === 'MAX_TOKENS') return 'length'
  if (reason === 'STOP' || reason === 'FINISH_REASON_UNSPECIFIED' || reason == null)
    return hasTools ? 'tool_calls' : 'stop'
  // These reasons mean that the answer broke off, although Gemini reports them as an end.
  if (
    reason === 'MALFORMED_FUNCTION_CALL' ||
    reason === 'UNEXPECTED_TOOL_CALL' ||
    reason === 'OTHER'
  ) {
    throw createReportedFailure(String(reason), 'the answer broke off')
  }
  return 'content_filter'
}

function parseUsage(value: unknown): Usage | null {
  const usage = asObject(value)
  if (usage === null) return null
  const reasoningTokens = usage.thoughtsTokenCount
  return {
    prompt: count(usage.promptTokenCount) + count(usage.toolUsePromptTokenCount),
    completion: count(usage.candidatesTokenCount) + count(usage.thoughtsTokenCount),
    cached: count(usage.cachedContentTokenCount),
    cacheWrites: 0,
    ...(reasoningTokens === undefined ? {} : { reasoning: count(reasoningTokens) }),
    ...readMediaTokens(usage),
  }
}

/** `promptTokensDetails: [{modality: 'AUDIO', tokenCount: 9000}]` */
function readMediaTokens(usage: Record<string, unknown>) {
  const lists = {
    input: [usage.promptTokensDetails, usage.toolUsePromptTokensDetails],
    output: [usage.candidatesTokensDetails],
    cached: [usage.cacheTokensDetails],
  }
  if (
    Object.values(lists)
      .flat()
      .every((list) => !Array.isArray(list))
  )
    return {}
  return buildMediaTokens((medium, part) => {
    const entries = lists[part].flatMap((list) => (Array.isArray(list) ? list.map(asObject) : []))
    return entries.reduce(
      (sum, entry) =>
        String(entry?.modality).toLowerCase() === medium ? sum + count(entry?.tokenCount) : sum,
      0,
    )
  })
}

function readEmbedding(value: unknown, inputCount: number): Embedding {
  const rows = asObject(value)?.embeddings
  if (
    !Array.isArray(rows) ||
    rows.length !== inputCount ||
    rows.some((row) => !Array.isArray(row?.values))
  ) {
    throw new VendorError('nonsense', 'answered without embeddings')
  }
  return { vectors: rows.map((row) => row.values as number[]), model: null, promptTokens: null }
}
