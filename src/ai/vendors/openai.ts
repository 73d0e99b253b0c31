// OpenAI's chat completions, the dialect of most vendors: Groq, Mistral, Ollama, vLLM, another gateway, the sandbox.
// The request already is in this format, so this file only adapts parameters to what a model refuses, and hands over to
// responses.ts what OpenAI takes at its other address alone.
import { createHash } from 'node:crypto'
import type { OpenAiHabits, Temperature } from '#models/catalogue.ts'
import type { ChatMessage, ChatRequest, ContentPart, ToolCall } from './chat-request.ts'
import { count, objectOf, parseEvent } from './json.ts'
import { passThrough } from './native.ts'
import { type Frame, frameOf, wordsIn } from './openai-frame.ts'
import type { FinishReason, Piece, ToolDelta } from './piece.ts'
import { type ReasoningDetail, thoughtText } from './reasoning.ts'
import {
  chatBodyOf,
  countedBody,
  createResponseEvents,
  isResponseEvent,
  nativeResponsesBody,
  openAiFailure,
  type ResponseEvents,
  responsesBody,
  responseWords,
} from './responses.ts'
import {
  type Answer,
  abilitiesOf,
  type Embedding,
  type EventReader,
  habitsOf,
  type ReaderState,
  remembered,
  type Usage,
  type Vendor,
  type VendorOptions,
} from './vendor.ts'
import { VendorError } from './vendor-error.ts'

export function createOpenAi(apiKey: string, options: VendorOptions = {}): Vendor {
  const { isSandbox = false } = options
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const habitsFor = remembered((model): OpenAiHabits => habitsOf(familyHabits(model), options, model))
  const thinks = (model: string) => habitsFor(model).temperature !== 'taken'
  return {
    dialect: 'openai',
    capabilities(model) {
      const { temperature } = habitsFor(model)
      return { temperature, thinking: thinks(model), forced_tools: true, ...abilitiesOf(options, model) }
    },
    shape: (model, request, stream) => {
      const own = habitsFor(model)
      return !isSandbox && needsResponses(own, request)
        ? { path: '/responses', headers, body: JSON.stringify(responsesBody(model, request, stream)) }
        : { path: '/chat/completions', headers, body: JSON.stringify(adapt(model, own, request, stream, isSandbox)) }
    },
    readAnswer,
    createReader,
    native: {
      api: 'responses',
      speaks: (model) => isSandbox || habitsFor(model).speaksResponses,
      shape: (model, request, stream) => ({
        path: '/responses',
        headers: { ...headers, ...request.headers },
        body: JSON.stringify(nativeResponsesBody(model, request, { stream, thinks: thinks(model) })),
      }),
      readAnswer: (value) => ({ ...readAnswer(value), body: objectOf(value) }),
      createReader: () => passThrough(createReader(), responseWords),
      count: {
        shape: (model, request) => ({
          path: '/responses/input_tokens',
          headers: { ...headers, ...request.headers },
          body: JSON.stringify(countedBody(model, request)),
        }),
        readAnswer(value) {
          const { input_tokens: tokens } = objectOf(value) ?? {}
          if (typeof tokens !== 'number') throw new VendorError('nonsense', 'answered without a count')
          return tokens
        },
      },
    },
    embed: {
      shape: (model, inputs, dimensions) => ({
        path: '/embeddings',
        headers,
        body: JSON.stringify({
          model,
          input: inputs,
          encoding_format: 'float',
          ...(dimensions === null ? {} : { dimensions }),
        }),
      }),
      readAnswer: readEmbedding,
    },
  }
}

/** Guessed from a name that the catalogue does not list. OpenAI's own names are told by how they begin. */
function familyHabits(model: string): OpenAiHabits {
  return {
    temperature: familyTemperature(model),
    // OpenAI's own models since o1 refuse `max_tokens`; servers beside it often know nothing else.
    lengthName: /^(o\d|gpt-([4-9]|\d\d))/.test(model) ? 'max_completion_tokens' : 'max_tokens',
    foreignMembers: /^(o\d|gpt-\d|chatgpt-)/.test(model) ? 'openai' : 'taken',
    toolIds: 'any',
    refuses: [],
    adds: {},
    thoughts: 'as-given',
    tellsCost: false,
    streamUsage: 'asked',
    responses: familyResponses(model),
    speaksResponses: /^(gpt-\d|o\d|codex-|computer-use-)/.test(model),
  }
}

function familyTemperature(model: string): Temperature {
  if (/^(o\d|gpt-5(-mini|-nano|-pro|-codex)?($|-\d)|gpt-6(\.\d)?-astra|gpt-6\.[1-9]-sol)/.test(model)) return 'refused'
  return /^gpt-([5-9]|\d\d)/.test(model) && !/chat/.test(model) ? 'without-reasoning' : 'taken'
}

/**
 * Tools and thinking meet only at /responses: since GPT-5.6 /chat/completions refuses function tools unless the effort is
 * `none`, since GPT-5.2 where an effort is named. Some models are nowhere else.
 */
function familyResponses(model: string): OpenAiHabits['responses'] {
  if (/^(o\d|gpt-\d[\d.]*)-(pro|codex|deep-research)/.test(model)) return 'always'
  if (/chat/.test(model)) return 'never'
  if (/^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/.test(model)) return 'for-tools'
  return /^gpt-5\.[2-5]/.test(model) ? 'for-tools-with-effort' : 'never'
}

function needsResponses({ responses }: OpenAiHabits, request: ChatRequest): boolean {
  const { tools, reasoning_effort: effort } = request
  if (responses === 'always' || responses === 'never') return responses === 'always'
  if (effort === 'none') return false
  // What it thought is told there alone, to who asks.
  if (objectOf(request.reasoning)?.summary != null) return true
  return tools?.length ? responses === 'for-tools' || effort != null : false
}

function adapt(
  model: string,
  habits: OpenAiHabits,
  request: ChatRequest,
  stream: boolean,
  isSandbox: boolean,
): Record<string, unknown> {
  const body: Record<string, unknown> = { ...request, model, stream }
  delete body.stream_options
  // Usage comes in a last chunk with `choices: []`; the ledger needs it even when the client did not ask.
  if (stream && habits.streamUsage === 'asked') body.stream_options = { include_usage: true }

  const limit = request.max_completion_tokens ?? request.max_tokens
  delete body.max_tokens
  delete body.max_completion_tokens
  if (limit != null) body[habits.lengthName] = limit

  delete body.wishes
  if (habits.foreignMembers !== 'taken') withoutForeign(body, request, habits.foreignMembers === 'refused')
  if (habits.thoughts === 'reasoning_content') body.messages = withThoughts(body.messages as ChatMessage[], request)
  if (habits.toolIds === 'nine-characters') body.messages = (body.messages as ChatMessage[]).map(withShortIds)
  if (!isSandbox) adaptSampling(habits, request, body)
  for (const name of habits.refuses) delete body[name]
  for (const name in habits.adds) if (body[name] === undefined) body[name] = habits.adds[name]
  return body
}

/**
 * DeepSeek wants what its model thought back with every call of a tool, be it empty: another vendor's turn has none. Without
 * tools it wants none, and its older models refuse it.
 */
function withThoughts(messages: ChatMessage[], { messages: given, tools }: ChatRequest): ChatMessage[] {
  const isOfTools = (tools?.length ?? 0) > 0 || given.some(({ role }) => role === 'tool')
  return messages.map((message, index) => {
    if (message.role !== 'assistant') return message
    const own = without(message, 'reasoning_content', 'reasoning', 'reasoning_details')
    const thought = isOfTools ? thoughtIn(given[index]) : null
    if (thought === null && !(isOfTools && own.tool_calls?.length)) return own
    return { ...own, reasoning_content: thought ?? '' }
  })
}

function thoughtIn(message: ChatMessage | undefined): string | null {
  if (typeof message?.reasoning_content === 'string') return message.reasoning_content
  if (typeof message?.reasoning === 'string') return message.reasoning
  return Array.isArray(message?.reasoning_details)
    ? thoughtText(message.reasoning_details.filter((detail) => objectOf(detail) !== null) as ReasoningDetail[])
    : null
}

/** Asked of OpenAI alone. None of them changes what is answered, so a server that refuses them is not shown them. */
const OPENAI_MEMBERS = [
  'store',
  'metadata',
  'service_tier',
  'safety_identifier',
  'user',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'prediction',
  'verbosity',
] as const
/** What comes with OpenAI's answers and names who spoke; clients give a message back as it was. */
const OPENAI_MESSAGE_MEMBERS = ['name', 'refusal', 'annotations', 'audio'] as const

/**
 * What OpenAI's own server would refuse: marks for Anthropic's cache, and the thoughts that came with an answer, its own
 * included. Servers beside it know them or pass them over; strict ones refuse what OpenAI alone knows as well.
 */
function withoutForeign(body: Record<string, unknown>, { messages, tools }: ChatRequest, isStrict: boolean): void {
  // OpenAI refuses it where nothing is stored, and there it is the ledger's alone.
  if (body.store !== true) delete body.metadata
  delete body.cache_control
  delete body.include_reasoning
  delete body.reasoning
  if (isStrict) for (const name of OPENAI_MEMBERS) delete body[name]
  body.messages = isStrict ? messages.map((message) => commonMessage(ownMessage(message))) : messages.map(ownMessage)
  if (tools) {
    body.tools = tools.map((tool) => {
      const own = without(tool, 'cache_control')
      return own.function == null ? own : { ...own, function: without(own.function, 'cache_control') }
    })
  }
}

function ownMessage(message: ChatMessage): ChatMessage {
  const own = without(message, 'reasoning_details', 'reasoning_content', 'reasoning', 'cache_control')
  const hasForeignParts = Array.isArray(own.content) && own.content.some((part) => part.cache_control !== undefined)
  const hasForeignCalls = own.tool_calls?.some((call) => call.extra_content !== undefined)
  if (!hasForeignParts && !hasForeignCalls) return own
  return {
    ...own,
    ...(hasForeignParts && Array.isArray(own.content)
      ? { content: own.content.map((part) => without(part, 'cache_control')) }
      : {}),
    ...(hasForeignCalls ? { tool_calls: own.tool_calls?.map((call) => without(call, 'extra_content')) ?? null } : {}),
  }
}

/** A message as every server of this dialect takes it. */
function commonMessage(message: ChatMessage): ChatMessage {
  const { role, content } = message
  // A tool's answer may need the tool's name.
  const own = role === 'tool' ? message : without(message, ...OPENAI_MESSAGE_MEMBERS)
  const refused = (message as { refusal?: unknown }).refusal
  const said = content == null && typeof refused === 'string' ? refused : content
  return {
    ...own,
    role: role === 'developer' ? 'system' : role,
    ...(said === undefined ? {} : { content: Array.isArray(said) ? said.map(commonPart) : said }),
  }
}

function commonPart(part: ContentPart): ContentPart {
  if (part.type === 'refusal') return { type: 'text', text: String(part.refusal ?? '') }
  return without(part, 'prompt_cache_breakpoint')
}

/** A call and its answer are renamed alike; an id that will do stays. */
function withShortIds(message: ChatMessage): ChatMessage {
  const { tool_calls: calls, tool_call_id: id } = message
  return {
    ...message,
    ...(calls ? { tool_calls: calls.map((call) => ({ ...call, id: shortId(call.id) })) } : {}),
    ...(id ? { tool_call_id: shortId(id) } : {}),
  }
}

function shortId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)
}

function without<T extends object>(from: T, ...names: string[]): T {
  if (!names.some((name) => name in from)) return from
  return Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name))) as T
}

/** Refused by models that think, at any effort. */
const REFUSED_BY_THINKERS = ['stop', 'logit_bias'] as const
/** Refused while they think. */
const REFUSED_WHILE_THINKING = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
] as const

/**
 * Models that think refuse sampling parameters; those since GPT-5.1 take them with reasoning off. Our own routes promise a
 * temperature and short answers: where the model can do without thoughts, they ask for that. Who speaks for itself keeps
 * the model's thoughts, and what the model refuses is left out.
 */
function adaptSampling({ temperature }: OpenAiHabits, request: ChatRequest, body: Record<string, unknown>) {
  if (temperature === 'taken') return
  for (const name of REFUSED_BY_THINKERS) delete body[name]
  const wantsSampling = request.temperature != null || request.top_p != null
  if (temperature === 'without-reasoning') {
    if (request.wishes?.asAsked !== true && request.reasoning_effort == null && wantsSampling)
      body.reasoning_effort = 'none'
    if (body.reasoning_effort === 'none') return
  }
  for (const name of REFUSED_WHILE_THINKING) delete body[name]
}

function readAnswer(value: unknown): Answer {
  const given = objectOf(value)
  const body = given?.object === 'response' ? chatBodyOf(given) : given
  const choice = objectOf(Array.isArray(body?.choices) ? body.choices[0] : null)
  const message = objectOf(choice?.message)
  if (body === null || message === null) {
    const error = objectOf(body?.error)
    if (error) throw openAiFailure(String(error.type ?? error.code ?? 'error'), messageOf(error) ?? '')
    throw new VendorError('nonsense', 'answered without choices')
  }
  requireNoFailure(choice)
  plainWords(message)
  return {
    // A model that refuses says so in place of an answer.
    text: textIn(message.content ?? message.refusal),
    toolCalls: Array.isArray(message.tool_calls) ? (message.tool_calls as ToolCall[]) : [],
    details: detailsIn(message),
    finish: finishOf(choice?.finish_reason) ?? 'stop',
    model: typeof body.model === 'string' ? body.model : null,
    usage: usageOf(body.usage),
    body,
  }
}

/** Thoughts in words alone, as most servers tell them, belong to nobody's format. */
function detailsIn(message: Record<string, unknown>): ReasoningDetail[] {
  if (Array.isArray(message.reasoning_details)) return message.reasoning_details as ReasoningDetail[]
  const thought = thoughtOf(message)
  return thought === '' ? [] : [{ type: 'reasoning.text', text: thought, index: 0 }]
}

/** Frames that a stream may offer without one event fitting into the last: then its events are all different. */
const FRAMES_TRIED_MAX = 4

function createReader(): EventReader {
  let hasChunks = false
  let frame: Frame | null = null
  let framesTried = 0
  let response: ResponseEvents | null = null

  const readResponse = (event: Record<string, unknown>, pieces: Piece[]) => {
    response ??= createResponseEvents()
    for (const chunk of response.read(event)) pieces.push(pieceOf(chunk.choices as WireChoice[], JSON.stringify(chunk)))
    reader.usage = usageOf(response.usage) ?? reader.usage
    reader.model = response.model
    reader.isWhole = response.isWhole
    reader.isOver = response.isWhole
  }

  const reader: ReaderState & EventReader = {
    isWhole: false,
    isOver: false,
    usage: null,
    model: null,
    read(data, pieces) {
      const words = frame === null ? null : wordsIn(data, frame)
      if (words !== null) {
        framesTried = 0
        pieces.push({ text: words, thought: '', details: null, tools: null, finish: null, chunk: data })
        return
      }
      if (data === '[DONE]') {
        // Alone it says nothing: some proxies send it after a failure, too.
        reader.isWhole ||= hasChunks
        reader.isOver = true
        return
      }
      const event = parseEvent(data)
      if (isResponseEvent(event)) {
        readResponse(event, pieces)
        return
      }
      if (event.error !== undefined && event.error !== null) {
        const error = objectOf(event.error)
        throw openAiFailure(String(error?.type ?? error?.code ?? 'error'), messageOf(error) ?? '')
      }
      const used = event.usage ?? objectOf(event.x_groq)?.usage
      if (used) reader.usage = usageOf(used) ?? reader.usage
      if (reader.model === null && typeof event.model === 'string') reader.model = event.model
      // Without choices it is no part of the answer: usage, or a proxy's notice.
      if (!Array.isArray(event.choices) || event.choices.length === 0) return
      hasChunks = true
      const piece = pieceOf(event.choices, hasParts(event.choices) ? JSON.stringify(event) : data)
      pieces.push(piece)
      if (piece.finish) reader.isWhole = true
      else if (framesTried < FRAMES_TRIED_MAX && isWordsAlone(event.choices)) {
        framesTried++
        frame = frameOf(data, piece.text)
      }
    },
  }
  return reader
}

/** OpenRouter's word for an answer that broke off where it is made; the failure stands in the choice, or nowhere. */
function requireNoFailure(choice: Record<string, unknown> | null): void {
  const error = objectOf(choice?.error)
  if (choice?.finish_reason !== 'error' && error === null) return
  throw openAiFailure(String(error?.code ?? 'error'), messageOf(error) ?? 'the answer broke off')
}

/** Whether there are words in parts, which are then made plain. */
function hasParts(choices: (WireChoice | null)[]): boolean {
  let some = false
  for (const choice of choices) {
    if (choice?.finish_reason === 'error') requireNoFailure(choice as Record<string, unknown>)
    if (Array.isArray(choice?.delta?.content)) {
      plainWords(choice.delta as Record<string, unknown>)
      some = true
    }
  }
  return some
}

/** Mistral's models that think answer in parts, which OpenAI's clients do not know: words and thoughts, each in its own place. */
function plainWords(message: Record<string, unknown>): void {
  if (!Array.isArray(message.content)) return
  const parts = message.content.map(objectOf)
  const thoughts = parts.filter((part) => part?.type === 'thinking').map((part) => textIn(part?.thinking))
  message.content = parts.map((part) => (part?.type === 'thinking' ? '' : textIn(part?.text))).join('')
  if (thoughts.length > 0) message.reasoning_content = thoughts.join('')
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.map((part) => textIn(objectOf(part)?.text)).join('') : ''
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

/** One choice, the first, with a text and no tools. */
function isWordsAlone(choices: (WireChoice | null)[]): boolean {
  const choice = choices[0]
  return (
    choices.length === 1 &&
    (choice?.index ?? 0) === 0 &&
    typeof choice?.delta?.content === 'string' &&
    choice.delta.tool_calls === undefined &&
    thoughtOf(choice.delta) === '' &&
    choice.delta.reasoning_details == null
  )
}

/** What a model thinks aloud: DeepSeek's and vLLM's word for it, or Ollama's and OpenRouter's. */
function thoughtOf({ reasoning_content, reasoning }: NonNullable<WireChoice['delta']>): string {
  if (typeof reasoning_content === 'string') return reasoning_content
  return typeof reasoning === 'string' ? reasoning : ''
}

function pieceOf(choices: (WireChoice | null)[], chunk: string): Piece {
  let text = ''
  let thought = ''
  let details: ReasoningDetail[] | null = null
  let tools: ToolDelta[] | null = null
  let finish: FinishReason | null = null
  for (const choice of choices) {
    // Further choices (`n`) reach a /v1 client in the chunk itself; our own answer is the first.
    if (choice == null || (choice.index ?? 0) !== 0) continue
    const delta = choice.delta
    text += textIn(delta?.content) + textIn(delta?.refusal)
    if (delta) thought += thoughtOf(delta)
    if (Array.isArray(delta?.reasoning_details)) details = delta.reasoning_details as ReasoningDetail[]
    if (Array.isArray(delta?.tool_calls)) tools = delta.tool_calls.map(toolDelta)
    finish = finishOf(choice.finish_reason) ?? finish
  }
  return { text, thought, details, tools, finish, chunk }
}

function toolDelta(call: WireToolDelta, position: number): ToolDelta {
  return {
    index: call.index ?? position,
    ...(call.id === undefined ? {} : { id: call.id }),
    ...(call.function?.name === undefined ? {} : { name: call.function.name }),
    arguments: call.function?.arguments ?? '',
    ...(call.extra_content === undefined ? {} : { extra_content: call.extra_content }),
  }
}

function finishOf(reason: unknown): FinishReason | null {
  if (typeof reason !== 'string' || reason === '') return null
  if (reason === 'length' || reason === 'tool_calls' || reason === 'content_filter') return reason
  return reason === 'function_call' ? 'tool_calls' : 'stop'
}

function usageOf(value: unknown): Usage | null {
  const usage = objectOf(value)
  if (usage === null) return null
  const prompt = objectOf(usage.prompt_tokens_details)
  const reasoning = objectOf(usage.completion_tokens_details)?.reasoning_tokens
  const tokens = count(usage.prompt_tokens)
  // DeepSeek has a word of its own for it.
  const cached = count(prompt?.cached_tokens ?? usage.prompt_cache_hit_tokens)
  const completion = count(usage.completion_tokens)
  // xAI counts thoughts beside the answer, and in the sum; all others count them in it.
  const isBeside = typeof reasoning === 'number' && count(usage.total_tokens) === tokens + completion + reasoning
  const cost = costIn(usage)
  return {
    prompt: tokens,
    completion: isBeside ? completion + reasoning : completion,
    cached,
    // Billed since GPT-5.6, and counted within the prompt.
    cacheWrites: Math.min(count(prompt?.cache_write_tokens), Math.max(0, tokens - cached)),
    ...(typeof reasoning === 'number' ? { reasoning: count(reasoning) } : {}),
    ...(usage.web_searches === undefined ? {} : { webSearches: count(usage.web_searches) }),
    ...(cost === null ? {} : { costUsd: cost }),
  }
}

/** What OpenRouter takes for a call, and, where the key of a vendor's is one's own, what that vendor takes besides. */
function costIn(usage: Record<string, unknown>): number | null {
  const { cost, is_byok: isOwnKey } = usage
  const upstream = isOwnKey === true ? (objectOf(usage.cost_details)?.upstream_inference_cost ?? 0) : 0
  const isSum = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0
  return isSum(cost) && isSum(upstream) ? cost + upstream : null
}

function readEmbedding(value: unknown, inputCount: number): Embedding {
  const body = objectOf(value)
  const rows = Array.isArray(body?.data) ? (body.data as { index?: number; embedding?: unknown }[]) : null
  if (rows?.length !== inputCount || rows.some((row) => !Array.isArray(row?.embedding))) {
    throw new VendorError('nonsense', 'answered without embeddings')
  }
  const ordered = rows.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
  const usage = objectOf(body?.usage)
  return {
    vectors: ordered.map((row) => row.embedding as number[]),
    model: typeof body?.model === 'string' ? body.model : null,
    promptTokens: usage === null ? null : count(usage.prompt_tokens),
  }
}

function messageOf(error: Record<string, unknown> | null): string | null {
  return typeof error?.message === 'string' ? error.message : null
}
