// Translates the answers of OpenAI's Responses API into chat completions or chunks, so that no
// other file sees the difference. The trap: items are numbered over reasoning, texts and calls, and
// the content of an item may arrive only with its end.

import { asObject } from '#platform/json.ts'
import { createBlockSeparator, createDetailHeads } from './reasoning.ts'
import { createReportedFailure, VendorError } from './vendor-error.ts'

type Json = Record<string, unknown>

/** Marks reasoning from this vendor, so that it is recognized when a client sends it back. */
export const RESPONSES_FORMAT = 'openai-responses-v1'

/** OpenAI's error codes for a request that is itself at fault, reported inside a stream. */
const REFUSED_INSIDE =
  /^(invalid_|bio_policy|image_|empty_image|unsupported_|failed_to_download_image|content_policy)/

export function openAiFailure(type: string, message: string): VendorError {
  return createReportedFailure(type, message, REFUSED_INSIDE.test(type))
}

/** Translates a response into a chat completion. @throws VendorError when the response failed */
export function toChatBody(response: Json): Json {
  requireNoFailure(response)
  const items = Array.isArray(response.output)
    ? response.output.map((item) => asObject(item) ?? {})
    : []
  const message: Json = { role: 'assistant', content: null, refusal: null }
  const calls: Json[] = []
  const details: Json[] = []
  for (const [index, item] of items.entries()) {
    if (item.type === 'message') addContent(message, item)
    else if (isCall(item)) calls.push(translateCall(item))
    else if (item.type === 'reasoning')
      details.push(...readItemDetails(item, { format: RESPONSES_FORMAT, id: item.id, index }))
  }
  if (calls.length > 0) message.tool_calls = calls
  else if (message.refusal === null) message.content ??= ''
  if (details.length > 0) {
    const reasoning = joinReasoning(details)
    if (reasoning !== '') message.reasoning_content = reasoning
    message.reasoning_details = details
  }
  return {
    ...buildHead(response),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: readFinishReason(response, calls.length > 0),
      },
    ],
    ...buildUsageMember(response),
  }
}

function addContent(message: Json, { content }: Json): void {
  for (const value of Array.isArray(content) ? content : []) {
    const part = asObject(value)
    if (part?.type === 'output_text') message.content = `${message.content ?? ''}${part.text}`
    if (part?.type === 'refusal') message.refusal = `${message.refusal ?? ''}${part.refusal}`
  }
}

function isCall({ type }: Json): boolean {
  return type === 'function_call' || type === 'custom_tool_call'
}

function joinReasoning(details: Json[]): string {
  return details.flatMap(({ summary, text }) => summary ?? text ?? []).join('\n\n')
}

function requireNoFailure(response: Json): void {
  const error = asObject(response.error)
  if (error !== null)
    throw openAiFailure(String(error.code ?? error.type ?? 'error'), String(error.message ?? ''))
  const { status } = response
  if (status === 'completed' || status === 'incomplete') return
  throw new VendorError('nonsense', `answered with a response that is ${String(status)}`)
}

function buildHead(response: Json): Json {
  return {
    id: String(response.id ?? ''),
    created:
      typeof response.created_at === 'number'
        ? response.created_at
        : Math.floor(Date.now() / 1_000),
    model: response.model,
    ...(response.service_tier == null ? {} : { service_tier: response.service_tier }),
  }
}

function translateCall(item: Json): Json {
  return item.type === 'function_call'
    ? {
        id: item.call_id,
        type: 'function',
        function: { name: item.name, arguments: item.arguments },
      }
    : { id: item.call_id, type: 'custom', custom: { name: item.name, input: item.input } }
}

function readItemDetails(item: Json, head: Json): Json[] {
  const details: Json[] = [
    ...(Array.isArray(item.summary) ? item.summary : []).map((part) => ({
      type: 'reasoning.summary',
      summary: String(asObject(part)?.text ?? ''),
      ...head,
    })),
    ...(Array.isArray(item.content) ? item.content : []).map((part) => ({
      type: 'reasoning.text',
      text: String(asObject(part)?.text ?? ''),
      ...head,
    })),
  ]
  return [...details, ...readEncrypted(item, head)]
}

function readEncrypted(item: Json, head: Json): Json[] {
  return typeof item.encrypted_content === 'string'
    ? [{ type: 'reasoning.encrypted', data: item.encrypted_content, ...head }]
    : []
}

function readFinishReason(response: Json, hasCalls: boolean): string {
  if (response.status === 'incomplete')
    return asObject(response.incomplete_details)?.reason === 'content_filter'
      ? 'content_filter'
      : 'length'
  return hasCalls ? 'tool_calls' : 'stop'
}

function buildUsageMember(response: Json): Json {
  const counts = asObject(response.usage)
  return counts === null ? {} : { usage: { ...toUsageBody(counts), ...countSearches(response) } }
}

/** Each search is one item, billed in addition to tokens. */
function countSearches({ output }: Json): Json {
  let web = 0
  let files = 0
  for (const value of Array.isArray(output) ? output : []) {
    const item = asObject(value)
    if (item?.status !== 'completed') continue
    if (item.type === 'web_search_call') web++
    if (item.type === 'file_search_call') files++
  }
  return {
    ...(web === 0 ? {} : { web_searches: web }),
    ...(files === 0 ? {} : { file_searches: files }),
  }
}

/** Renames the counts as in chat completions. */
function toUsageBody({ input_tokens, output_tokens, total_tokens, ...usage }: Json): Json {
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
  /** Returns an event's chat completion chunks. @throws VendorError when the response failed */
  read(event: Json): Json[]
  /** True when the response is complete; nothing follows. */
  isWhole: boolean
  /** Under the names of chat completions. */
  usage: Json | null
  model: string | null
  /** The service tier that was used, if OpenAI reports it. */
  tier: string | null
}

const readIndex = ({ output_index: index }: Json) => (typeof index === 'number' ? index : 0)

const readOptionalText = (value: unknown) => (typeof value === 'string' ? value : undefined)

export function isResponseEvent(event: Json): boolean {
  return (
    typeof event.type === 'string' &&
    event.choices === undefined &&
    /^(response\.|error$)/.test(event.type)
  )
}

export function createResponseEvents(): ResponseEvents {
  let head: Json = {}
  /** Items are numbered over reasoning, text and calls; chat completions number only the calls. */
  const calls = new Map<unknown, number>()
  /** Items whose content was streamed; other items are sent at their end. */
  const streamedItems = new Set<unknown>()
  const createHead = createDetailHeads(RESPONSES_FORMAT)
  const separateBlocks = createBlockSeparator()

  const createChunk = (delta: Json, finish: string | null = null): Json => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  })
  const createStreamedChunk = (event: Json, delta: Json): Json[] => {
    streamedItems.add(event.output_index)
    return [createChunk(delta)]
  }
  const createCallChunk = (event: Json, rest: Json): Json[] => {
    const index = calls.get(event.output_index)
    return index === undefined ? [] : [createChunk({ tool_calls: [{ index, ...rest }] })]
  }
  const createReasoningChunk = (event: Json, part: unknown, detail: Json): Json[] => {
    const full = { ...detail, ...createHead(readIndex(event), readOptionalText(event.item_id)) }
    return createStreamedChunk(event, {
      reasoning_content: separateBlocks(String(event.delta), `${event.output_index} ${part}`),
      reasoning_details: [full],
    })
  }

  const beginItem = (event: Json, item: Json): Json[] => {
    if (!isCall(item)) return []
    const index = calls.size
    calls.set(event.output_index, index)
    const call = translateCall({ ...item, arguments: '', input: '' })
    return [createChunk({ tool_calls: [{ index, ...call }] })]
  }

  /** An item's content may arrive only with its end. */
  const endItem = (event: Json, item: Json): Json[] => {
    const isStreamed = streamedItems.has(event.output_index)
    if (item.type === 'reasoning') return endReasoning(event, item, isStreamed)
    const chunks = calls.has(event.output_index) ? [] : beginItem(event, item)
    return isStreamed ? chunks : [...chunks, ...createContentChunks(event, item)]
  }

  const endReasoning = (event: Json, item: Json, isStreamed: boolean): Json[] => {
    const head = createHead(readIndex(event), readOptionalText(item.id))
    const details = isStreamed ? readEncrypted(item, head) : readItemDetails(item, head)
    if (details.length === 0) return []
    const words = isStreamed ? '' : joinReasoning(details)
    const delta = { ...(words === '' ? {} : { reasoning_content: words }) }
    return [createChunk({ ...delta, reasoning_details: details })]
  }

  const createContentChunks = (event: Json, item: Json): Json[] => {
    switch (item.type) {
      case 'function_call':
        if (item.arguments === '') return []
        return createCallChunk(event, { function: { arguments: item.arguments } })
      case 'custom_tool_call':
        return item.input === '' ? [] : createCallChunk(event, { custom: { input: item.input } })
      case 'message': {
        const message: Json = {}
        addContent(message, item)
        const { content, refusal } = message
        return [
          ...(content ? [createChunk({ content })] : []),
          ...(refusal ? [createChunk({ refusal })] : []),
        ]
      }
      default:
        return []
    }
  }

  const endResponse = (response: Json): Json[] => {
    requireNoFailure(response)
    if (typeof response.model === 'string') reader.model = response.model
    if (typeof response.service_tier === 'string') reader.tier = response.service_tier
    const counts = asObject(response.usage)
    if (counts !== null) reader.usage = { ...toUsageBody(counts), ...countSearches(response) }
    reader.isWhole = true
    return [createChunk({}, readFinishReason(response, calls.size > 0))]
  }

  const reader: ResponseEvents = {
    isWhole: false,
    usage: null,
    model: null,
    tier: null,
    read(event) {
      const response = asObject(event.response) ?? {}
      const item = asObject(event.item) ?? {}
      switch (event.type) {
        case 'response.created':
          head = buildHead(response)
          if (typeof response.model === 'string') reader.model = response.model
          return [createChunk({ role: 'assistant', content: '' })]
        case 'response.output_item.added':
          return beginItem(event, item)
        case 'response.output_item.done':
          return endItem(event, item)
        case 'response.output_text.delta':
          return createStreamedChunk(event, { content: event.delta })
        case 'response.refusal.delta':
          return createStreamedChunk(event, { refusal: event.delta })
        case 'response.function_call_arguments.delta':
          streamedItems.add(event.output_index)
          return createCallChunk(event, { function: { arguments: event.delta } })
        case 'response.custom_tool_call_input.delta':
          streamedItems.add(event.output_index)
          return createCallChunk(event, { custom: { input: event.delta } })
        case 'response.reasoning_summary_text.delta':
          return createReasoningChunk(event, event.summary_index, {
            type: 'reasoning.summary',
            summary: event.delta,
          })
        case 'response.reasoning_text.delta':
          return createReasoningChunk(event, event.content_index, {
            type: 'reasoning.text',
            text: event.delta,
          })
        case 'response.completed':
        case 'response.incomplete':
          return endResponse(response)
        case 'response.failed': {
          const error = asObject(response.error)
          throw openAiFailure(
            String(error?.code ?? 'error'),
            String(error?.message ?? 'the response failed'),
          )
        }
        case 'error': {
          const error = asObject(event.error) ?? event
          throw openAiFailure(String(error.code ?? error.type), String(error.message ?? ''))
        }
        default:
          return []
      }
    },
  }
  return reader
}
