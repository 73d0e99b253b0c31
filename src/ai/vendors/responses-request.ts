// Builds the body of OpenAI's Responses API from a chat request, for tools with reasoning, which
// /chat/completions rejects. OpenAI stores nothing (`store: false`); reasoning returns encrypted.
// https://platform.openai.com/docs/api-reference/responses

import { asObject } from '#platform/json.ts'
import { listWords } from '#platform/words.ts'
import type { ChatMessage, ChatRequest, ContentPart, ToolCall } from './chat-request.ts'
import { createUnsupportedError } from './parts.ts'
import { interleave, readDetails } from './reasoning.ts'
import { RESPONSES_FORMAT } from './responses-reply.ts'
import { createToolIds, type ToolIds } from './tool-ids.ts'
import { createRefusal } from './vendor-error.ts'

type Json = Record<string, unknown>

/** Requests complete but encrypted reasoning. */
export const SEALED = 'reasoning.encrypted_content'
const TOOL_ID = { foreign: /\s/g, lengthMax: 64 }
/** OpenAI rejects lower limits. */
export const OUTPUT_TOKENS_MIN = 16
/** Members with the same name in both APIs. */
const SHARED = listWords(
  'parallel_tool_calls metadata user safety_identifier service_tier',
  'prompt_cache_key prompt_cache_retention prompt_cache_options',
)

/** @throws VendorError for features that only /chat/completions supports */
export function buildResponsesBody(model: string, request: ChatRequest, stream: boolean): Json {
  requireSupported(request)
  const body: Json = {
    model,
    input: buildInput(request.messages),
    stream,
    store: false,
    include: [SEALED],
  }
  for (const name of SHARED) if (request[name] !== undefined) body[name] = request[name]
  const { safetyIdentifier } = request.wishes ?? {}
  if (safetyIdentifier !== undefined) body.safety_identifier = safetyIdentifier
  const limit = request.max_completion_tokens ?? request.max_tokens
  if (limit != null) body.max_output_tokens = Math.max(OUTPUT_TOKENS_MIN, limit)
  if (request.tools?.length)
    body.tools = request.tools.map((tool) => translateTool(tool as unknown as Json))
  if (request.tool_choice != null) body.tool_choice = translateChoice(request.tool_choice)
  const reasoning = buildReasoning(request)
  if (Object.keys(reasoning).length > 0) body.reasoning = reasoning
  if (request.reasoning_effort === 'none') {
    if (request.temperature != null) body.temperature = request.temperature
    if (request.top_p != null) body.top_p = request.top_p
  }
  const text = buildText(request)
  if (Object.keys(text).length > 0) body.text = text
  return body
}

/** @throws VendorError */
function requireSupported(request: ChatRequest): void {
  if ((request.n ?? 1) > 1)
    throw createRefusal('More than one choice is not supported together with tools and reasoning')
  if (request.functions != null || request.function_call != null)
    throw createRefusal(
      "'functions' and 'function_call' are not supported by this model: send 'tools' and 'tool_choice'",
    )
  for (const name of ['web_search_options', 'audio', 'prediction']) {
    if (request[name] != null)
      throw createRefusal(`'${name}' is not supported together with tools and reasoning`)
  }
}

function buildReasoning({ reasoning, reasoning_effort: effort }: ChatRequest): Json {
  const summary = asObject(reasoning)?.summary
  return {
    ...(effort == null ? {} : { effort }),
    ...(summary === undefined ? {} : { summary }),
  }
}

function buildText({ response_format: format, verbosity }: ChatRequest): Json {
  const text: Json = {}
  if (format?.type === 'json_schema')
    text.format = { type: format.type, strict: false, ...format.json_schema }
  else if (format != null) text.format = { type: format.type }
  if (verbosity != null) text.verbosity = verbosity
  return text
}

function translateTool(tool: Json): Json {
  const own = asObject(tool.function)
  if (own !== null) {
    const { name, description, parameters, strict } = own
    return {
      type: 'function',
      name,
      ...(description === undefined ? {} : { description }),
      parameters: parameters ?? { type: 'object', properties: {} },
      // When omitted, `strict` means true here and false at /chat/completions.
      strict: strict ?? false,
    }
  }
  const custom = asObject(tool.custom)
  if (custom === null) throw createUnsupportedError(`A tool of type '${tool.type}'`)
  const grammar = asObject(asObject(custom.format)?.grammar)
  return {
    type: 'custom',
    ...custom,
    ...(grammar === null ? {} : { format: { type: 'grammar', ...grammar } }),
  }
}

function translateChoice(choice: NonNullable<ChatRequest['tool_choice']>): unknown {
  if (typeof choice === 'string') return choice
  const { type, ...rest } = choice as Json
  const allowed = asObject(rest.allowed_tools)
  if (allowed !== null) {
    const tools = Array.isArray(allowed.tools) ? allowed.tools : []
    return {
      type,
      mode: allowed.mode,
      tools: tools.map((tool) => flattenChoice(asObject(tool) ?? {})),
    }
  }
  return flattenChoice(choice as Json)
}

/** Flattens `{type: 'function', function: {name}}`, as the Responses API expects. */
function flattenChoice(choice: Json): Json {
  const inner = asObject(choice[String(choice.type)])
  return inner === null ? choice : { type: choice.type, name: inner.name }
}

function buildInput(messages: ChatMessage[]): Json[] {
  const ids = createToolIds(TOOL_ID)
  return messages.flatMap((message) => buildItems(message, ids))
}

function buildItems(message: ChatMessage, ids: ToolIds): Json[] {
  const { role, content } = message
  if (role === 'tool') {
    const call_id = ids.renameAnswer(message.tool_call_id ?? '')
    const type = ids.isCustom(call_id) ? 'custom_tool_call_output' : 'function_call_output'
    return [
      {
        type,
        call_id,
        output: typeof content === 'string' ? content : (content ?? []).map(buildInputPart),
      },
    ]
  }
  if (role !== 'assistant')
    return [
      {
        role,
        content: typeof content === 'string' ? content : (content ?? []).map(buildInputPart),
      },
    ]

  const items: Json[] = []
  const text = readVisibleText(message)
  if (text !== '') items.push({ role, content: text })
  for (const call of message.tool_calls ?? []) items.push(buildCallItem(call, ids))
  return interleave(buildReasoningItems(message), items)
}

function buildCallItem(call: ToolCall, ids: ToolIds): Json {
  const custom = asObject((call as unknown as Json).custom)
  if (custom === null && call.function == null)
    throw createRefusal("A call in 'tool_calls' needs a 'function' or a 'custom' tool")
  if (custom === null) {
    const { name, arguments: args } = call.function
    return { type: 'function_call', call_id: ids.renameCall(call.id), name, arguments: args }
  }
  return {
    type: 'custom_tool_call',
    call_id: ids.renameCall(call.id, true),
    name: custom.name,
    input: custom.input,
  }
}

/** An assistant message accepts only text. */
function readVisibleText({ content, ...message }: ChatMessage): string {
  if (typeof content === 'string') return content
  if (content == null) return String((message as Json).refusal ?? '')
  return content
    .map((part) => {
      if (part.type === 'text') return part.text ?? ''
      if (part.type === 'refusal') return String(part.refusal ?? '')
      throw createUnsupportedError(`Content of type '${part.type}' in an answer`)
    })
    .join('')
}

function buildInputPart(part: ContentPart): Json {
  const mark =
    part.prompt_cache_breakpoint === undefined
      ? {}
      : { prompt_cache_breakpoint: part.prompt_cache_breakpoint }
  if (part.type === 'text') return { type: 'input_text', text: part.text ?? '', ...mark }
  if (part.type === 'image_url')
    return {
      type: 'input_image',
      image_url: part.image_url?.url,
      detail: part.image_url?.detail ?? 'auto',
      ...mark,
    }
  if (part.type === 'file') return { type: 'input_file', ...asObject(part.file), ...mark }
  throw createRefusal(
    `Content of type '${part.type}' is not supported together with tools and reasoning`,
  )
}

/** Builds one item per block; OpenAI cannot read one without its encrypted content. */
function buildReasoningItems(message: ChatMessage): { index: number; item: Json }[] {
  const items = new Map<
    string,
    { index: number; item: Json & { summary: Json[] }; isSealed: boolean }
  >()
  for (const detail of readDetails(message.reasoning_details, RESPONSES_FORMAT)) {
    const key = detail.id ?? `at ${detail.index}`
    let found = items.get(key)
    if (found === undefined) {
      const id = detail.id === undefined ? {} : { id: detail.id }
      found = {
        index: detail.index,
        item: { type: 'reasoning', ...id, summary: [] },
        isSealed: false,
      }
      items.set(key, found)
    }
    if (detail.type === 'reasoning.summary')
      found.item.summary.push({ type: 'summary_text', text: detail.summary })
    if (detail.type === 'reasoning.encrypted') {
      found.item.encrypted_content = detail.data
      found.isSealed = true
    }
  }
  return [...items.values()].filter(({ isSealed }) => isSealed)
}
