// Translates Anthropic's messages into a chat request for other vendors' models. Content without an
// equivalent is rejected, or dropped if the answer stays the same: cache marks, edits of reasoning.

import { asObject } from '#platform/json.ts'
import { unwrapReasoning, type WrappedReasoning } from '../reasoning-envelope.ts'
import { ANTHROPIC_FORMAT } from '../vendors/anthropic-reply.ts'
import type {
  ChatMessage,
  ChatRequest,
  ContentPart,
  ToolCall,
  ToolDefinition,
} from '../vendors/chat-request.ts'
import { simplifyText } from '../vendors/parts.ts'
import type { ReasoningDetail } from '../vendors/reasoning.ts'
import { createRefusal } from '../vendors/vendor-error.ts'
import type { Block, MessageParam, MessageParams } from './message-body.ts'

type Json = Record<string, unknown>

/** @throws VendorError for features that only Anthropic's models support */
export function toChatRequest(params: MessageParams): ChatRequest {
  const { system, messages, stop_sequences: stop, temperature, top_p } = params
  for (const name of ['mcp_servers', 'container']) {
    const value = (params as Json)[name]
    if (value != null && !(Array.isArray(value) && value.length === 0))
      throw rejectForeign(`'${name}'`)
  }
  const tools = translateTools(params)
  return {
    messages: [...translateSystem(system), ...dropCompacted(messages).flatMap(translateMessage)],
    ...(tools.length === 0 ? {} : { tools, ...translateChoice(params) }),
    ...(stop?.length ? { stop } : {}),
    ...(temperature == null ? {} : { temperature }),
    ...(top_p == null ? {} : { top_p }),
    ...translateFormat(params),
    ...translateThinking(params),
  }
}

const rejectForeign = (what: string) =>
  createRefusal(`${what} is supported only by Anthropic's models`)

function translateSystem(system: MessageParams['system']): ChatMessage[] {
  if (system == null || system.length === 0) return []
  return [
    {
      role: 'system',
      content: typeof system === 'string' ? system : readTextParts(system as Block[]),
    },
  ]
}

/** Replaces what precedes the last compaction with its summary, as a message of the user. */
function dropCompacted(messages: readonly MessageParam[]): MessageParam[] {
  const last = messages.findLastIndex(({ content }) => findCompaction(content) !== -1)
  const { role, content } = messages[last] ?? {}
  if (role === undefined || !Array.isArray(content)) return [...messages]
  const at = findCompaction(content)
  const summary: MessageParam = {
    role: 'user',
    content: `Summary of the conversation so far:\n${String((content[at] as Block).content)}`,
  }
  const rest = content.slice(at + 1)
  return [
    summary,
    ...(rest.length === 0 ? [] : [{ role, content: rest }]),
    ...messages.slice(last + 1),
  ]
}

function findCompaction(content: MessageParam['content']): number {
  if (!Array.isArray(content)) return -1
  return content.findLastIndex(
    (block) => block.type === 'compaction' && typeof (block as Block).content === 'string',
  )
}

/** Translates one message of Anthropic's into messages of a chat completion. @throws VendorError */
export function translateMessage({ role, content }: MessageParam): ChatMessage[] {
  if (typeof content === 'string') return [{ role, content }]
  const blocks = content as Block[]
  if (role === 'system') return [{ role, content: readTextParts(blocks) }]
  return role === 'assistant'
    ? splitAtResults(blocks).flatMap(translateAssistantBlocks)
    : translateUserBlocks(blocks)
}

/** Tools that Anthropic runs; the answer repeats their results as text. */
const SEARCHES = /^(web_search|web_fetch|tool_search)/

/** Gives each tool result its own message; drops searches, and calls without a result. */
function splitAtResults(blocks: Block[]): Block[][] {
  const resultIds = new Set(blocks.filter(isServerResult).map((block) => block.tool_use_id))
  const parts: Block[][] = [[]]
  for (const block of blocks) {
    if (isServerResult(block)) {
      if (!SEARCHES.test(block.type)) parts.push([block], [])
    } else if (block.type === 'server_tool_use' || block.type === 'mcp_tool_use') {
      const isSearch = block.type === 'server_tool_use' && SEARCHES.test(String(block.name))
      if (!isSearch && resultIds.has(block.id)) parts.at(-1)?.push({ ...block, type: 'tool_use' })
    } else if (block.type !== 'compaction') {
      parts.at(-1)?.push(block)
    }
  }
  return parts
}

const isServerResult = ({ type }: Block) => type.endsWith('_tool_result')

function readTextParts(blocks: Block[]): ContentPart[] {
  return blocks.map((block) => {
    if (block.type !== 'text') throw rejectForeign(`A system message with '${block.type}'`)
    return { type: 'text', text: String(block.text ?? ''), ...copyCacheMark(block) }
  })
}

/** Other vendors read the mark or ignore it. */
function copyCacheMark({ cache_control: mark }: Json): { cache_control?: Json } {
  const own = asObject(mark)
  return own === null ? {} : { cache_control: own }
}

/** Puts tool results first: chat completions require them directly after their calls. */
function translateUserBlocks(blocks: Block[]): ChatMessage[] {
  const answers: ChatMessage[] = []
  const parts: ContentPart[] = []
  for (const block of blocks) {
    if (block.type === 'tool_result') answers.push(translateToolResult(block))
    else parts.push(...translateParts(block))
  }
  return parts.length === 0 ? answers : [...answers, { role: 'user', content: simplifyText(parts) }]
}

function translateToolResult({
  tool_use_id: id,
  content,
  is_error: isError,
  ...block
}: Block): ChatMessage {
  const parts: ContentPart[] =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : Array.isArray(content)
        ? content.flatMap((item) => translateParts(asObject(item) as Block))
        : []
  // Chat completions have no member that marks a failed tool.
  if (isError === true) parts.unshift({ type: 'text', text: 'The tool failed:' })
  const isText = parts.every(
    ({ type, cache_control }) => type === 'text' && cache_control === undefined,
  )
  return {
    role: 'tool',
    tool_call_id: String(id ?? ''),
    content: isText ? parts.map(({ text }) => text).join('\n') : parts,
    ...copyCacheMark(block),
  }
}

function translateParts(block: Block | null): ContentPart[] {
  const source = asObject(block?.source)
  switch (block?.type) {
    case 'text':
      return [{ type: 'text', text: String(block.text ?? ''), ...copyCacheMark(block) }]
    case 'image':
      return [
        { type: 'image_url', image_url: { url: readSource(source) }, ...copyCacheMark(block) },
      ]
    case 'document':
      return translateDocument(block, source)
    case 'search_result': {
      const content = Array.isArray(block.content) ? block.content : []
      const text = content.map((item) => String(asObject(item)?.text ?? '')).join('\n')
      return [
        {
          type: 'text',
          text: `${block.title ?? ''} (${block.source ?? ''})\n${text}`,
          ...copyCacheMark(block),
        },
      ]
    }
    case 'tool_reference':
      return [{ type: 'text', text: `The tool '${block.tool_name ?? ''}' can be called.` }]
  }
  throw rejectForeign(`Content of type '${block?.type}'`)
}

function translateDocument(block: Block, source: Json | null): ContentPart[] {
  const title = typeof block.title === 'string' ? block.title : 'document'
  if (source?.type === 'content') {
    return Array.isArray(source.content)
      ? source.content.flatMap((item) => translateParts(asObject(item) as Block))
      : [{ type: 'text', text: String(source.content ?? ''), ...copyCacheMark(block) }]
  }
  if (source?.type === 'text')
    return [{ type: 'text', text: `${title}\n${source.data ?? ''}`, ...copyCacheMark(block) }]
  return [
    {
      type: 'file',
      file: { filename: addPdfEnding(title), file_data: readSource(source) },
      ...copyCacheMark(block),
    },
  ]
}

/** OpenAI derives a file's type from the ending of its name. */
function addPdfEnding(title: string): string {
  return /\.pdf$/i.test(title) ? title : `${title}.pdf`
}

function readSource(source: Json | null): string {
  if (source?.type === 'url' && typeof source.url === 'string') return source.url
  if (source?.type === 'base64' && typeof source.data === 'string') {
    return `data:${source.media_type ?? 'application/octet-stream'};base64,${source.data}`
  }
  throw createRefusal("Only Anthropic can read a file by its 'file_id': send the file's bytes")
}

type AssistantParts = {
  texts: ContentPart[]
  calls: ToolCall[]
  details: ReasoningDetail[]
  /** Signatures of the calls, by their ids. */
  signatures: NonNullable<WrappedReasoning['calls']>
  reasoningText: string
}

/** Returns no message for reasoning alone: that answer was cut. */
function translateAssistantBlocks(blocks: Block[]): ChatMessage[] {
  const [first] = blocks
  if (first !== undefined && isServerResult(first)) return [translateServerResult(first)]
  const parts: AssistantParts = {
    texts: [],
    calls: [],
    details: [],
    signatures: {},
    reasoningText: '',
  }
  for (const [index, block] of blocks.entries()) addBlock(parts, block, index)
  const { texts, details, signatures, reasoningText } = parts
  const calls = parts.calls.map((call) => {
    const extra_content = Object.hasOwn(signatures, call.id) ? signatures[call.id] : undefined
    return extra_content === undefined ? call : { ...call, extra_content }
  })
  if (texts.length === 0 && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: texts.length === 0 ? null : simplifyText(texts),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      // Some servers return reasoning as plain text only, and expect it back.
      ...(reasoningText === '' ? {} : { reasoning_content: reasoningText }),
    },
  ]
}

/** @throws VendorError for a block that only Anthropic understands */
function addBlock(parts: AssistantParts, block: Block, index: number): void {
  switch (block.type) {
    case 'text':
      if (block.text !== '')
        parts.texts.push({ type: 'text', text: String(block.text ?? ''), ...copyCacheMark(block) })
      break
    case 'tool_use':
      parts.calls.push({
        id: String(block.id ?? ''),
        type: 'function',
        function: {
          name: String(block.name ?? ''),
          arguments: JSON.stringify(block.input ?? {}),
        },
      })
      break
    case 'thinking':
    case 'redacted_thinking': {
      const wrapped = unwrapReasoning(block.signature ?? block.data)
      for (const detail of wrapped?.details ?? translateReasoning(block, index))
        parts.details.push(detail)
      if (wrapped !== null && typeof block.thinking === 'string')
        parts.reasoningText += block.thinking
      Object.assign(parts.signatures, wrapped?.calls)
      break
    }
    default:
      throw rejectForeign(`Content of type '${block.type}' in an answer`)
  }
}

function translateServerResult({
  tool_use_id: id,
  content,
  is_error: isError,
}: Block): ChatMessage {
  const texts = Array.isArray(content) ? content.map((part) => asObject(part)?.text) : []
  const isText = texts.length > 0 && texts.every((text) => typeof text === 'string')
  const text = isText ? texts.join('\n') : JSON.stringify(content ?? null)
  return {
    role: 'tool',
    tool_call_id: String(id ?? ''),
    content: isError === true ? `The tool failed:\n${text}` : text,
  }
}

/** Anthropic's signed reasoning, which only Anthropic accepts back. */
function translateReasoning(block: Block, index: number): ReasoningDetail[] {
  const head = { format: ANTHROPIC_FORMAT, index } as const
  if (block.type === 'redacted_thinking')
    return [{ type: 'reasoning.encrypted', data: String(block.data), ...head }]
  const text = String(block.thinking ?? '')
  return [{ type: 'reasoning.text', text, signature: String(block.signature ?? ''), ...head }]
}

/** Drops Anthropic's own tools where there are others: agents offer them to every model. */
function translateTools({ tools, tool_choice: choice }: MessageParams): ToolDefinition[] {
  const offered = (tools ?? []) as Block[]
  const isOwn = ({ type }: Block) => type == null || (type as string) === 'custom'
  const own = offered.filter(isOwn)
  const serverTool = offered.find((tool) => !isOwn(tool))
  if (serverTool !== undefined && (own.length === 0 || choice?.name === serverTool.name))
    throw rejectForeign(`The tool '${serverTool.type}'`)
  return own.map(({ name, description, input_schema: schema, strict, ...tool }) => ({
    type: 'function',
    function: {
      name: String(name ?? ''),
      ...(typeof description === 'string' ? { description } : {}),
      parameters: asObject(schema) ?? { type: 'object', properties: {} },
      ...(strict === true ? { strict } : {}),
    },
    ...copyCacheMark(tool),
  }))
}

function translateChoice({
  tool_choice: choice,
}: MessageParams): Pick<ChatRequest, 'tool_choice' | 'parallel_tool_calls'> {
  if (choice == null) return {}
  const words = { auto: 'auto', any: 'required', none: 'none' } as const
  return {
    tool_choice:
      choice.type === 'tool'
        ? { type: 'function', function: { name: choice.name ?? '' } }
        : words[choice.type],
    ...((choice as Json).disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}),
  }
}

function translateFormat(params: MessageParams): Pick<ChatRequest, 'response_format'> {
  const format = asObject(asObject(params.output_config)?.format) ?? asObject(params.output_format)
  const schema = asObject(format?.schema)
  if (format?.type !== 'json_schema' || schema === null) return {}
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }
}

/** Translates a reasoning budget into an effort; each number is the lowest budget of its effort. */
const BUDGETS: [number, string][] = [
  [16_384, 'high'],
  [4_096, 'medium'],
  [0, 'low'],
]

function translateThinking(
  params: MessageParams,
): Pick<ChatRequest, 'reasoning_effort' | 'wishes'> {
  const thinking = asObject(params.thinking)
  const requestedEffort = asObject(params.output_config)?.effort
  const budget = thinking?.type === 'enabled' ? Number(thinking.budget_tokens) : Number.NaN
  const effort =
    thinking?.type === 'disabled'
      ? 'none'
      : typeof requestedEffort === 'string'
        ? requestedEffort === 'max'
          ? 'xhigh'
          : requestedEffort
        : BUDGETS.find(([least]) => budget >= least)?.[1]
  const wantsReasoning =
    thinking !== null && thinking.type !== 'disabled' && thinking.display !== 'omitted'
  return {
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    // OpenAI returns reasoning summaries only on request, and only to verified organizations.
    ...(wantsReasoning && thinking.display === 'summarized'
      ? { reasoning: { summary: 'auto' } }
      : {}),
    wishes: { reasoning: wantsReasoning, keepsEffort: true },
  }
}
