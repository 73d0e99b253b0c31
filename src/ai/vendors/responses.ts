// OpenAI's Responses API, for what /chat/completions refuses: tools and thinking together. Requests leave in its format and
// answers come back in chat completions' own, so that nobody behind this file sees which of the two was spoken.
// Nothing is kept at OpenAI (`store: false`). Its thoughts come encrypted, and go back with the conversation.
// https://platform.openai.com/docs/api-reference/responses

import type { ChatMessage, ChatRequest, ContentPart, ToolCall } from './chat-request.ts'
import { objectOf } from './json.ts'
import { unsupported } from './parts.ts'
import { createDetailHeads, detailsOf, interleave } from './reasoning.ts'
import { createToolIds, type ToolIds } from './tool-ids.ts'
import type { NativeRequest } from './vendor.ts'
import { refusal, reportedFailure, VendorError } from './vendor-error.ts'

type Json = Record<string, unknown>

const FORMAT = 'openai-responses-v1'
/** With it thoughts come whole, though encrypted. */
const SEALED = 'reasoning.encrypted_content'
const TOOL_ID = { foreign: /\s/g, lengthMax: 64 }
/** Fewer are refused. */
const OUTPUT_TOKENS_MIN = 16
/** What both addresses know by the same name. */
const SHARED = [
  'parallel_tool_calls',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
] as const

/**
 * A client's own request. Nothing is kept at OpenAI: so the thoughts of an earlier answer are of use where they came back
 * whole, and one that only names what OpenAI would have kept is left out.
 */
export function nativeResponsesBody(
  model: string,
  { body, limit }: NativeRequest,
  { stream, thinks }: { stream: boolean; thinks: boolean },
): Json {
  const include = Array.isArray(body.include) ? body.include : []
  const sent: Json = { ...body, model, stream, store: false }
  // A model that does not think refuses it.
  if (thinks && !include.includes(SEALED)) sent.include = [...include, SEALED]
  if (limit !== null) sent.max_output_tokens = Math.max(OUTPUT_TOKENS_MIN, limit)
  if (Array.isArray(body.input)) {
    const isLost = (item: unknown) =>
      objectOf(item)?.type === 'reasoning' && typeof objectOf(item)?.encrypted_content !== 'string'
    sent.input = body.input.some(isLost) ? body.input.filter((item) => !isLost(item)) : body.input
  }
  return sent
}

/** What fills a prompt; whatever else stands in a request is refused where it is only counted. */
const COUNTED = [
  'input',
  'instructions',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'tool_choice',
  'tools',
  'truncation',
]

export function countedBody(model: string, request: NativeRequest): Json {
  const body = nativeResponsesBody(model, request, { stream: false, thinks: false })
  return { model, ...Object.fromEntries(COUNTED.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]]))) }
}

const TEXT_DELTA = '{"type":"response.output_text.delta",'
const DELTA = '"delta":"'

/** What `{"type":"response.output_text.delta",…,"delta":"Hello",…}` says, about; null for any other event. */
export function responseWords(data: string): string | null {
  if (!data.startsWith(TEXT_DELTA) || !data.endsWith('}')) return null
  const from = data.indexOf(DELTA, TEXT_DELTA.length)
  return from === -1 ? null : data.slice(from + DELTA.length, data.indexOf('"', from + DELTA.length))
}

/** @throws VendorError for what only /chat/completions can do. */
export function responsesBody(model: string, request: ChatRequest, stream: boolean): Json {
  if ((request.n ?? 1) > 1) throw refusal('More than one choice is not possible together with tools and thinking')
  if (request.functions != null || request.function_call != null)
    throw refusal("'functions' and 'function_call' are not supported by this model: send 'tools' and 'tool_choice'")
  for (const name of ['web_search_options', 'audio', 'prediction']) {
    if (request[name] != null) throw refusal(`'${name}' is not possible together with tools and thinking`)
  }
  const body: Json = {
    model,
    input: inputOf(request.messages),
    stream,
    store: false,
    include: [SEALED],
  }
  for (const name of SHARED) if (request[name] !== undefined) body[name] = request[name]
  const limit = request.max_completion_tokens ?? request.max_tokens
  if (limit != null) body.max_output_tokens = Math.max(OUTPUT_TOKENS_MIN, limit)
  if (request.tools?.length) body.tools = request.tools.map((tool) => toolOf(tool as unknown as Json))
  if (request.tool_choice != null) body.tool_choice = choiceOf(request.tool_choice)
  const summary = objectOf(request.reasoning)?.summary
  const reasoning = {
    ...(request.reasoning_effort == null ? {} : { effort: request.reasoning_effort }),
    ...(summary === undefined ? {} : { summary }),
  }
  if (Object.keys(reasoning).length > 0) body.reasoning = reasoning
  if (request.reasoning_effort === 'none') {
    if (request.temperature != null) body.temperature = request.temperature
    if (request.top_p != null) body.top_p = request.top_p
  }
  const format = request.response_format
  const text = {
    ...(format == null
      ? {}
      : {
          format:
            format.type === 'json_schema'
              ? { type: format.type, strict: false, ...format.json_schema }
              : { type: format.type },
        }),
    ...(request.verbosity == null ? {} : { verbosity: request.verbosity }),
  }
  if (Object.keys(text).length > 0) body.text = text
  return body
}

function toolOf(tool: Json): Json {
  const own = objectOf(tool.function)
  if (own !== null) {
    const { name, description, parameters, strict } = own
    return {
      type: 'function',
      name,
      ...(description === undefined ? {} : { description }),
      parameters: parameters ?? { type: 'object', properties: {} },
      // Left out it means yes here, and no at /chat/completions.
      strict: strict ?? false,
    }
  }
  const custom = objectOf(tool.custom)
  if (custom === null) throw unsupported(`A tool of type '${tool.type}'`)
  const grammar = objectOf(objectOf(custom.format)?.grammar)
  return { type: 'custom', ...custom, ...(grammar === null ? {} : { format: { type: 'grammar', ...grammar } }) }
}

function choiceOf(choice: NonNullable<ChatRequest['tool_choice']>): unknown {
  if (typeof choice === 'string') return choice
  const { type, ...rest } = choice as Json
  const allowed = objectOf(rest.allowed_tools)
  if (allowed !== null) {
    const tools = Array.isArray(allowed.tools) ? allowed.tools : []
    return { type, mode: allowed.mode, tools: tools.map((tool) => named(objectOf(tool) ?? {})) }
  }
  return named(choice as Json)
}

/** `{type: 'function', function: {name}}` stands here without its inner object. */
function named(choice: Json): Json {
  const inner = objectOf(choice[String(choice.type)])
  return inner === null ? choice : { type: choice.type, name: inner.name }
}

function inputOf(messages: ChatMessage[]): Json[] {
  const ids = createToolIds(TOOL_ID)
  return messages.flatMap((message) => itemsOf(message, ids))
}

function itemsOf(message: ChatMessage, ids: ToolIds): Json[] {
  const { role, content } = message
  if (role === 'tool') {
    const call_id = ids.ofAnswer(message.tool_call_id ?? '')
    const type = ids.isCustom(call_id) ? 'custom_tool_call_output' : 'function_call_output'
    return [{ type, call_id, output: typeof content === 'string' ? content : (content ?? []).map(inputPart) }]
  }
  if (role !== 'assistant')
    return [{ role, content: typeof content === 'string' ? content : (content ?? []).map(inputPart) }]

  const items: Json[] = []
  const text = spokenText(message)
  if (text !== '') items.push({ role, content: text })
  for (const call of message.tool_calls ?? []) items.push(callItem(call, ids))
  return interleave(reasoningItems(message), items)
}

function callItem(call: ToolCall, ids: ToolIds): Json {
  const custom = objectOf((call as unknown as Json).custom)
  if (custom === null && call.function == null)
    throw refusal("A call in 'tool_calls' needs a 'function' or a 'custom' tool")
  if (custom === null) {
    const { name, arguments: args } = call.function
    return { type: 'function_call', call_id: ids.ofCall(call.id), name, arguments: args }
  }
  return { type: 'custom_tool_call', call_id: ids.ofCall(call.id, true), name: custom.name, input: custom.input }
}

/** What the assistant said goes back as text alone. */
function spokenText({ content, ...message }: ChatMessage): string {
  if (typeof content === 'string') return content
  if (content == null) return String((message as Json).refusal ?? '')
  return content
    .map((part) => {
      if (part.type === 'text') return part.text ?? ''
      if (part.type === 'refusal') return String(part.refusal ?? '')
      throw unsupported(`Content of type '${part.type}' in an answer`)
    })
    .join('')
}

function inputPart(part: ContentPart): Json {
  const mark =
    part.prompt_cache_breakpoint === undefined ? {} : { prompt_cache_breakpoint: part.prompt_cache_breakpoint }
  if (part.type === 'text') return { type: 'input_text', text: part.text ?? '', ...mark }
  if (part.type === 'image_url')
    return { type: 'input_image', image_url: part.image_url?.url, detail: part.image_url?.detail ?? 'auto', ...mark }
  if (part.type === 'file') return { type: 'input_file', ...objectOf(part.file), ...mark }
  throw refusal(`Content of type '${part.type}' is not possible together with tools and thinking`)
}

/** One item for each of the thoughts that came from here; without its secret part OpenAI cannot read it. */
function reasoningItems(message: ChatMessage): { index: number; item: Json }[] {
  const items = new Map<string, { index: number; item: Json & { summary: Json[] }; isSealed: boolean }>()
  for (const detail of detailsOf(message.reasoning_details, FORMAT)) {
    const key = detail.id ?? `at ${detail.index}`
    let found = items.get(key)
    if (found === undefined) {
      const id = detail.id === undefined ? {} : { id: detail.id }
      found = { index: detail.index, item: { type: 'reasoning', ...id, summary: [] }, isSealed: false }
      items.set(key, found)
    }
    if (detail.type === 'reasoning.summary') found.item.summary.push({ type: 'summary_text', text: detail.summary })
    if (detail.type === 'reasoning.encrypted') {
      found.item.encrypted_content = detail.data
      found.isSealed = true
    }
  }
  return [...items.values()].filter(({ isSealed }) => isSealed)
}

/** Words of OpenAI's for a request that is itself at fault, said inside a stream. */
const REFUSED_INSIDE = /^(invalid_|bio_policy|image_|empty_image|unsupported_|failed_to_download_image|content_policy)/

export function openAiFailure(type: string, message: string): VendorError {
  return reportedFailure(type, message, REFUSED_INSIDE.test(type))
}

/** A response as the chat completion that says the same. @throws VendorError when it says that it failed. */
export function chatBodyOf(response: Json): Json {
  requireNoFailure(response)
  const items = Array.isArray(response.output) ? response.output.map((item) => objectOf(item) ?? {}) : []
  const message: Json = { role: 'assistant', content: null, refusal: null }
  const calls: Json[] = []
  const details: Json[] = []
  for (const [index, item] of items.entries()) {
    if (item.type === 'message') {
      for (const value of Array.isArray(item.content) ? item.content : []) {
        const part = objectOf(value)
        if (part?.type === 'output_text') message.content = `${message.content ?? ''}${part.text}`
        if (part?.type === 'refusal') message.refusal = `${message.refusal ?? ''}${part.refusal}`
      }
    } else if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      calls.push(callOf(item))
    } else if (item.type === 'reasoning') {
      details.push(...detailsOfItem(item, { format: FORMAT, id: item.id, index }))
    }
  }
  if (calls.length > 0) message.tool_calls = calls
  else if (message.refusal === null) message.content ??= ''
  if (details.length > 0) {
    const thought = details.flatMap(({ summary, text }) => summary ?? text ?? []).join('\n\n')
    if (thought !== '') message.reasoning_content = thought
    message.reasoning_details = details
  }
  return {
    ...headOf(response),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(response, calls.length > 0) }],
    ...usageMember(response),
  }
}

function requireNoFailure(response: Json): void {
  const error = objectOf(response.error)
  if (error !== null) throw openAiFailure(String(error.code ?? error.type ?? 'error'), String(error.message ?? ''))
  const { status } = response
  if (status === 'completed' || status === 'incomplete') return
  throw new VendorError('nonsense', `answered with a response that is ${String(status)}`)
}

function headOf(response: Json): Json {
  return {
    id: String(response.id ?? ''),
    created: typeof response.created_at === 'number' ? response.created_at : Math.floor(Date.now() / 1_000),
    model: response.model,
    ...(response.service_tier == null ? {} : { service_tier: response.service_tier }),
  }
}

function callOf(item: Json): Json {
  return item.type === 'function_call'
    ? { id: item.call_id, type: 'function', function: { name: item.name, arguments: item.arguments } }
    : { id: item.call_id, type: 'custom', custom: { name: item.name, input: item.input } }
}

function detailsOfItem(item: Json, head: Json): Json[] {
  const told: Json[] = [
    ...(Array.isArray(item.summary) ? item.summary : []).map((part) => ({
      type: 'reasoning.summary',
      summary: String(objectOf(part)?.text ?? ''),
      ...head,
    })),
    ...(Array.isArray(item.content) ? item.content : []).map((part) => ({
      type: 'reasoning.text',
      text: String(objectOf(part)?.text ?? ''),
      ...head,
    })),
  ]
  return [...told, ...sealOf(item, head)]
}

function sealOf(item: Json, head: Json): Json[] {
  return typeof item.encrypted_content === 'string'
    ? [{ type: 'reasoning.encrypted', data: item.encrypted_content, ...head }]
    : []
}

function finishOf(response: Json, hasCalls: boolean): string {
  if (response.status === 'incomplete')
    return objectOf(response.incomplete_details)?.reason === 'content_filter' ? 'content_filter' : 'length'
  return hasCalls ? 'tool_calls' : 'stop'
}

function usageMember(response: Json): Json {
  const counts = objectOf(response.usage)
  return counts === null ? {} : { usage: { ...usageBodyOf(counts), ...searchesOf(response) } }
}

/** Each search is an item of its own, and billed beside the tokens. */
function searchesOf({ output }: Json): Json {
  const searches = Array.isArray(output)
    ? output.filter((item) => objectOf(item)?.type === 'web_search_call' && objectOf(item)?.status === 'completed')
    : []
  return searches.length === 0 ? {} : { web_searches: searches.length }
}

/** The same counts under chat completions' names. */
function usageBodyOf({ input_tokens, output_tokens, total_tokens, ...usage }: Json): Json {
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens,
    prompt_tokens_details: usage.input_tokens_details ?? {},
    completion_tokens_details: usage.output_tokens_details ?? {},
  }
}

/** Reads the events of one response. */
export type ResponseEvents = {
  /** The chat completion chunks that say what the event said. @throws VendorError when it says that the response failed. */
  read(event: Json): Json[]
  /** The response is complete; nothing comes after it. */
  isWhole: boolean
  /** Under chat completions' names. */
  usage: Json | null
  model: string | null
}

const indexOf = ({ output_index: index }: Json) => (typeof index === 'number' ? index : 0)

const textOr = (value: unknown) => (typeof value === 'string' ? value : undefined)

export function isResponseEvent(event: Json): boolean {
  return typeof event.type === 'string' && event.choices === undefined && /^(response\.|error$)/.test(event.type)
}

export function createResponseEvents(): ResponseEvents {
  let head: Json = {}
  /** Items are numbered over thoughts, words and calls; chat completions number the calls alone. */
  const calls = new Map<unknown, number>()
  /** The items of which something has been told; what comes only with an item's end is told then. */
  const told = new Set<unknown>()
  const detailHead = createDetailHeads(FORMAT)
  let hasThought = false
  let thoughtPlace = ''

  const chunk = (delta: Json, finish: string | null = null): Json => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  })
  const toldChunk = (event: Json, delta: Json): Json[] => {
    told.add(event.output_index)
    return [chunk(delta)]
  }
  const callChunk = (event: Json, rest: Json): Json[] => {
    const index = calls.get(event.output_index)
    return index === undefined ? [] : [chunk({ tool_calls: [{ index, ...rest }] })]
  }
  const thought = (event: Json, part: unknown, detail: Json): Json[] => {
    const place = `${event.output_index} ${part}`
    const separator = hasThought && place !== thoughtPlace ? '\n\n' : ''
    hasThought = true
    thoughtPlace = place
    const full = { ...detail, ...detailHead(indexOf(event), textOr(event.item_id)) }
    return toldChunk(event, { reasoning_content: `${separator}${event.delta}`, reasoning_details: [full] })
  }

  const added = (event: Json, item: Json): Json[] => {
    if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return []
    const index = calls.size
    calls.set(event.output_index, index)
    const call = callOf({ ...item, arguments: '', input: '' })
    return [chunk({ tool_calls: [{ index, ...call }] })]
  }

  const done = (event: Json, item: Json): Json[] => {
    const isTold = told.has(event.output_index)
    if (item.type === 'reasoning') {
      const head = detailHead(indexOf(event), textOr(item.id))
      const details = isTold ? sealOf(item, head) : detailsOfItem(item, head)
      if (details.length === 0) return []
      const words = isTold ? '' : details.flatMap(({ summary, text }) => summary ?? text ?? []).join('\n\n')
      return [chunk({ ...(words === '' ? {} : { reasoning_content: words }), reasoning_details: details })]
    }
    const chunks = calls.has(event.output_index) ? [] : added(event, item)
    if (isTold) return chunks
    if (item.type === 'function_call')
      return item.arguments === ''
        ? chunks
        : chunks.concat(callChunk(event, { function: { arguments: item.arguments } }))
    if (item.type === 'custom_tool_call')
      return item.input === '' ? chunks : chunks.concat(callChunk(event, { custom: { input: item.input } }))
    if (item.type !== 'message') return chunks
    const message = objectOf((chatBodyOf({ status: 'completed', output: [item] }).choices as Json[])[0]?.message) ?? {}
    const { content, refusal: refused } = message
    return [...(content ? [chunk({ content })] : []), ...(refused ? [chunk({ refusal: refused })] : [])]
  }

  const closed = (response: Json): Json[] => {
    requireNoFailure(response)
    if (typeof response.model === 'string') reader.model = response.model
    const counts = objectOf(response.usage)
    if (counts !== null) reader.usage = { ...usageBodyOf(counts), ...searchesOf(response) }
    reader.isWhole = true
    return [chunk({}, finishOf(response, calls.size > 0))]
  }

  const reader: ResponseEvents = {
    isWhole: false,
    usage: null,
    model: null,
    read(event) {
      const response = objectOf(event.response) ?? {}
      const item = objectOf(event.item) ?? {}
      switch (event.type) {
        case 'response.created':
          head = headOf(response)
          if (typeof response.model === 'string') reader.model = response.model
          return [chunk({ role: 'assistant', content: '' })]
        case 'response.output_item.added':
          return added(event, item)
        case 'response.output_item.done':
          return done(event, item)
        case 'response.output_text.delta':
          return toldChunk(event, { content: event.delta })
        case 'response.refusal.delta':
          return toldChunk(event, { refusal: event.delta })
        case 'response.function_call_arguments.delta':
          told.add(event.output_index)
          return callChunk(event, { function: { arguments: event.delta } })
        case 'response.custom_tool_call_input.delta':
          told.add(event.output_index)
          return callChunk(event, { custom: { input: event.delta } })
        case 'response.reasoning_summary_text.delta':
          return thought(event, event.summary_index, { type: 'reasoning.summary', summary: event.delta })
        case 'response.reasoning_text.delta':
          return thought(event, event.content_index, { type: 'reasoning.text', text: event.delta })
        case 'response.completed':
        case 'response.incomplete':
          return closed(response)
        case 'response.failed': {
          const error = objectOf(response.error)
          throw openAiFailure(String(error?.code ?? 'error'), String(error?.message ?? 'the response failed'))
        }
        case 'error': {
          const error = objectOf(event.error) ?? event
          throw openAiFailure(String(error.code ?? error.type), String(error.message ?? ''))
        }
        default:
          return []
      }
    },
  }
  return reader
}
