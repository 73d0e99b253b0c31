// Translates a response's request into a chat request, for vendors without OpenAI's responses.
// Consecutive reasoning, texts and calls of the assistant become one message. Items without an
// equivalent are rejected.
import { asObject } from '#platform/json.ts'
import { listWords, wordSet } from '#platform/words.ts'
import { unwrapReasoning } from '../reasoning-envelope.ts'
import type { ChatMessage, ChatRequest, ContentPart, ToolCall } from '../vendors/chat-request.ts'
import { withoutNulls } from '../vendors/json.ts'
import { createUnsupportedError, simplifyText } from '../vendors/parts.ts'
import { createRefusal } from '../vendors/vendor-error.ts'
import type { ResponsesBody } from './body.ts'
import { readTools, type Tools, translateToolChoice } from './tools.ts'

type Json = Record<string, unknown>

export type Translation = { request: ChatRequest; tools: Tools }

/** Members with the same name in chat completions. */
const SHARED = listWords(
  'metadata user safety_identifier service_tier',
  'prompt_cache_key prompt_cache_retention prompt_cache_options',
)

/** Skipped for other vendors' models, because the answer repeats their results as text. */
const SKIPPED = wordSet(
  'web_search_call file_search_call code_interpreter_call tool_search_call tool_search_output',
  'mcp_list_tools mcp_approval_request mcp_approval_response',
  // References to reasoning only; requireStateless rejects all others.
  'item_reference',
)

/** Calls of OpenAI's tools that the client runs; they become functions of that name. */
const CLIENT_CALLS = wordSet('shell_call local_shell_call apply_patch_call computer_call program')
const CLIENT_OUTPUTS = wordSet(
  'shell_call_output local_shell_call_output apply_patch_call_output computer_call_output',
  'program_output',
)

/** @throws VendorError for features that only OpenAI supports */
export function translate(body: ResponsesBody): Translation {
  if (body.prompt != null)
    throw createRefusal(
      "A 'prompt' stored at OpenAI works only with OpenAI's models: send its text",
    )
  if (typeof body.top_logprobs === 'number' && body.top_logprobs > 0)
    throw createUnsupportedError("'top_logprobs'")
  const items = Array.isArray(body.input) ? body.input : []
  const tools = readTools([
    ...(body.tools ?? []),
    ...items.flatMap((item) =>
      item.type === 'additional_tools' && Array.isArray(item.tools) ? item.tools : [],
    ),
  ])
  const messages = translateMessages(body, tools)
  if (messages.length === 0) throw createRefusal("'input' contains no message")
  const { effort, summary, generate_summary: summaryBefore } = body.reasoning ?? {}
  const offered = translateToolChoice(body.tool_choice, tools)
  const request: ChatRequest = {
    messages,
    ...offered,
    wishes: { reasoning: (summary ?? summaryBefore ?? 'none') !== 'none', keepsEffort: true },
  }
  if (offered.tools !== undefined && body.parallel_tool_calls != null)
    request.parallel_tool_calls = body.parallel_tool_calls
  if (body.temperature != null) request.temperature = body.temperature
  if (body.top_p != null) request.top_p = body.top_p
  if (typeof effort === 'string') request.reasoning_effort = effort
  for (const name of SHARED) if (body[name] != null) request[name] = body[name]
  const { verbosity, format } = body.text ?? {}
  if (typeof verbosity === 'string') request.verbosity = verbosity
  const { type, name, schema, strict, description } = asObject(format) ?? {}
  if (type === 'json_object') request.response_format = { type }
  else if (type === 'json_schema') {
    const jsonSchema = { name, schema: asObject(schema) ?? {}, strict, description }
    request.response_format = {
      type,
      json_schema: withoutNulls(jsonSchema) as { name: string; schema: Json },
    }
  } else if (type !== undefined && type !== 'text') {
    throw createUnsupportedError(`A text of the format '${String(type)}'`)
  }
  return { request, tools }
}

function translateMessages({ instructions, input }: ResponsesBody, tools: Tools): ChatMessage[] {
  const conversation = new Conversation(tools)
  if (instructions) conversation.add({ role: 'system', content: instructions })
  if (typeof input === 'string') conversation.add({ role: 'user', content: input })
  else for (const item of input ?? []) addItem(conversation, item)
  conversation.endAnswer()
  return conversation.messages
}

/** Collects messages; consecutive items of the assistant become one message. */
class Conversation {
  readonly messages: ChatMessage[] = []
  readonly #tools: Tools
  #answer: Answer | null = null

  constructor(tools: Tools) {
    this.#tools = tools
  }

  /** The assistant's message that is being built. */
  get answer(): Answer {
    this.#answer ??= createAnswer(this.#tools)
    return this.#answer
  }

  add(message: ChatMessage): void {
    this.endAnswer()
    this.messages.push(message)
  }

  addOutput(callId: string, content: ChatMessage['content']): void {
    this.add({ role: 'tool', tool_call_id: callId, content: content ?? '' })
  }

  endAnswer(): void {
    const message = this.#answer?.toMessage() ?? null
    if (message !== null) this.messages.push(message)
    this.#answer = null
  }
}

/** @throws VendorError for an item that only OpenAI understands */
function addItem(conversation: Conversation, item: Json): void {
  const type = (item.type ?? 'message') as string
  switch (type) {
    case 'reasoning':
      conversation.answer.addReasoning(item)
      break
    case 'function_call':
    case 'custom_tool_call':
      conversation.answer.addCall(item)
      break
    case 'message':
      if (item.role === 'assistant') conversation.answer.addContent(item)
      else conversation.add({ role: readRole(item), content: translateContent(item.content) })
      break
    case 'function_call_output':
    case 'custom_tool_call_output':
      conversation.addOutput(requireText(item, 'call_id'), translateContent(item.output))
      break
    case 'mcp_call': {
      const { id: call_id, name, arguments: args, output, error } = item
      conversation.answer.addCall({ type, call_id, name, arguments: args })
      conversation.addOutput(requireText(item, 'id'), describeOutput({ output: error ?? output }))
      break
    }
    case 'image_generation_call':
      conversation.answer.addContent({ content: 'An image was generated here.' })
      break
    case 'compaction':
      conversation.add({ role: 'user', content: readSummary(item) })
      break
    default:
      if (CLIENT_CALLS.has(type)) conversation.answer.addCall(describeClientCall(item, type))
      else if (CLIENT_OUTPUTS.has(type))
        conversation.addOutput(findCallId(item), describeOutput(item))
      else if (type !== 'additional_tools' && !SKIPPED.has(type))
        throw createUnsupportedError(`An item of type '${type}' in 'input'`)
  }
}

/** All fields except the call's id, type and status become the arguments. */
function describeClientCall(item: Json, type: string): Json {
  const { id: _id, call_id: _callId, type: _type, status: _status, ...callFields } = item
  return {
    type: 'function_call',
    call_id: findCallId(item),
    name: type.replace(/_call$/, ''),
    arguments: JSON.stringify(callFields),
  }
}

/** A local shell's output names its call by `id`. @throws VendorError */
function findCallId(item: Json): string {
  return typeof item.call_id === 'string' ? item.call_id : requireText(item, 'id')
}

function describeOutput({ output }: Json): string | ContentPart[] {
  if (typeof output === 'string') return output
  const image = asObject(output)?.image_url
  if (typeof image === 'string') return [{ type: 'image_url', image_url: { url: image } }]
  return JSON.stringify(output ?? null)
}

/** @throws VendorError for a summary that only OpenAI can decrypt */
function readSummary(item: Json): string {
  const text = collectTexts(item.summary).join('\n') || collectTexts(item.content).join('\n')
  if (text === '')
    throw createRefusal(
      "A 'compaction' is encrypted for OpenAI: send the messages that it replaced",
    )
  return `Summary of the conversation so far:\n${text}`
}

function readRole({ role }: Json): 'user' | 'system' | 'developer' {
  if (role === 'user' || role === 'system' || role === 'developer') return role
  throw createRefusal(`A message in 'input' has the role '${String(role)}'`)
}

/** The reasoning, texts and calls of one assistant message. */
type Answer = {
  addReasoning(item: Json): void
  addContent(item: Json): void
  addCall(item: Json): void
  /** Returns null without text and calls: reasoning alone is not an answer. */
  toMessage(): ChatMessage | null
}

function createAnswer(tools: Tools): Answer {
  const parts: ContentPart[] = []
  const calls: ToolCall[] = []
  const details: object[] = []
  const reasoningTexts: string[] = []
  const extras = new Map<string, ToolCall['extra_content']>()
  /** Reasoning is numbered over all items of the message. */
  let blocks = 0

  return {
    addReasoning(item) {
      const wrapped = unwrapReasoning(item.encrypted_content)
      // OpenAI's encrypted reasoning is useless elsewhere.
      if (wrapped === null && item.encrypted_content != null) return
      if (wrapped === null) {
        for (const parts of [item.summary, item.content]) {
          for (const text of collectTexts(parts)) reasoningTexts.push(text)
        }
        return
      }
      for (const [id, extra] of Object.entries(wrapped.calls ?? {}))
        extras.set(id, asObject(extra) ?? {})
      if (wrapped.details.length === 0) return
      const index = blocks++
      for (const detail of wrapped.details) details.push({ ...detail, index })
    },
    addContent(item) {
      const contentParts =
        typeof item.content === 'string'
          ? [{ type: 'text', text: item.content }]
          : translateParts(item.content)
      for (const part of contentParts) {
        if (part.type === 'text' && part.text?.trim() === '') continue
        parts.push(part)
        blocks++
      }
    },
    addCall(item) {
      const isCustom = item.type === 'custom_tool_call'
      const name = tools.findVendorName(requireText(item, 'name'), item.namespace)
      const args = isCustom
        ? JSON.stringify({ input: String(item.input ?? '') })
        : requireText(item, 'arguments')
      calls.push({
        id: requireText(item, 'call_id'),
        type: 'function',
        function: { name, arguments: args },
      })
      blocks++
    },
    toMessage() {
      if (parts.length === 0 && calls.length === 0) return null
      return {
        role: 'assistant',
        content: parts.length === 0 ? null : simplifyText(parts),
        ...(calls.length === 0
          ? {}
          : { tool_calls: calls.map((call) => addExtra(call, extras.get(call.id))) }),
        ...(details.length === 0 ? {} : { reasoning_details: details }),
        ...(reasoningTexts.length === 0 ? {} : { reasoning_content: reasoningTexts.join('\n\n') }),
      }
    },
  }
}

function addExtra(call: ToolCall, extra: ToolCall['extra_content']): ToolCall {
  return extra === undefined ? call : { ...call, extra_content: extra }
}

/** @throws VendorError */
function requireText(item: Json, name: string): string {
  const value = item[name]
  if (typeof value === 'string') return value
  throw createRefusal(`An item of type '${String(item.type)}' in 'input' needs '${name}'`)
}

function collectTexts(parts: unknown): string[] {
  if (!Array.isArray(parts)) return []
  return parts.map((part) => String(asObject(part)?.text ?? '')).filter((text) => text !== '')
}

function translateContent(content: unknown): string | ContentPart[] {
  return typeof content === 'string' ? content : simplifyText(translateParts(content))
}

function translateParts(content: unknown): ContentPart[] {
  if (content == null) return []
  if (!Array.isArray(content))
    throw createRefusal("An item's 'content' is neither a text nor a list of parts")
  return content.map((part) => translatePart(asObject(part) ?? {}))
}

/** @throws VendorError */
function translatePart(part: Json): ContentPart {
  const mark =
    part.prompt_cache_breakpoint === undefined
      ? {}
      : { prompt_cache_breakpoint: part.prompt_cache_breakpoint }
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: String(part.text ?? ''), ...mark }
    case 'refusal':
      return { type: 'refusal', refusal: String(part.refusal ?? '') }
    case 'input_image': {
      if (typeof part.image_url !== 'string')
        throw createRefusal(
          "Only OpenAI can read an image by its 'file_id': send it as 'image_url'",
        )
      const detail = typeof part.detail === 'string' ? { detail: part.detail } : {}
      return { type: 'image_url', image_url: { url: part.image_url, ...detail }, ...mark }
    }
    case 'input_file': {
      const { file_data: data, file_url: url, file_id: id, filename } = part
      return {
        type: 'file',
        file: withoutNulls({ file_data: data ?? url, file_id: id, filename }),
        ...mark,
      }
    }
    case 'input_audio':
      return { type: 'input_audio', input_audio: part.input_audio }
  }
  throw createUnsupportedError(`Content of type '${String(part.type)}'`)
}
