// Builds the body of Anthropic's messages from a chat request: a separate system text, alternating
// roles, content in blocks. The trap: Anthropic rejects empty, misplaced or unsigned content, so
// content that a client damaged is repaired or dropped.

import type { AnthropicQuirks } from '#models/catalogue.ts'
import { asObject } from '#platform/json.ts'
import { ANTHROPIC_FORMAT, type Block } from './anthropic-reply.ts'
import {
  type CacheControl,
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  describeLength,
  requireTranslatable,
  SHORT_ANSWER_TOKENS,
  type ToolCall,
  type ToolDefinition,
} from './chat-request.ts'
import { toClaudeSchema } from './claude-schema.ts'
import { parseObject } from './json.ts'
import { createUnsupportedError, readPart } from './parts.ts'
import { interleave, readDetails } from './reasoning.ts'
import { createToolIds, type ToolIds } from './tool-ids.ts'

/** Anthropic rejects more strict tools. */
const STRICT_TOOLS_MAX = 20

/** `outputTokensMax`: the longest answer of the model. */
export type Traits = AnthropicQuirks & { outputTokensMax: number }

type Turn = { role: 'user' | 'assistant'; content: Block[] }

export function buildMessagesBody(
  model: string,
  traits: Traits,
  request: ChatRequest,
  stream: boolean,
): Record<string, unknown> {
  requireTranslatable(request)
  const forced = describeForcedTool(traits, request)
  const system = buildSystem(request, [describeLength(request), forced])
  const limit = request.max_completion_tokens ?? request.max_tokens ?? null
  const body: Record<string, unknown> = {
    model,
    max_tokens: limit === null ? traits.outputTokensMax : capOutput(traits, limit),
    messages: buildTurns(request.messages),
    stream,
  }
  if (system.length > 0) body.system = system
  if (request.stop != null)
    body.stop_sequences = typeof request.stop === 'string' ? [request.stop] : request.stop
  const own = buildTools(request.tools ?? [])
  const tools = own.length > 0 ? own : findCalledTools(request.messages)
  const choice =
    own.length > 0
      ? translateToolChoice(request, forced !== null)
      : tools.length > 0
        ? { type: 'none' }
        : null
  if (tools.length > 0) body.tools = tools
  if (choice) body.tool_choice = choice

  const effort = chooseEffort(traits, request, limit)
  const isForced = choice?.type === 'any' || choice?.type === 'tool'
  const thinking = isForced ? null : chooseThinking(traits, request, body.messages as Turn[])
  if (thinking !== null) body.thinking = thinking
  // A model that reasons on demand accepts a temperature only without reasoning.
  if (traits.temperature === 'taken' && thinking === null) addSampling(body, request)
  const output = buildOutputConfig(request, effort)
  if (Object.keys(output).length > 0) body.output_config = output

  const mark = chooseCacheMark(traits, request, body)
  if (mark !== null) body.cache_control = mark
  return body
}

/** Anthropic's temperature ends at 1; together with `top_p` it is rejected. */
function addSampling(body: Record<string, unknown>, request: ChatRequest): void {
  if (request.temperature != null) body.temperature = Math.min(request.temperature, 1)
  else if (request.top_p != null) body.top_p = request.top_p
}

function buildOutputConfig(
  { response_format: format }: ChatRequest,
  effort: string | null,
): Record<string, unknown> {
  const schema = format?.type === 'json_schema' ? format.json_schema?.schema : undefined
  return {
    ...(schema && { format: { type: 'json_schema', schema: toClaudeSchema(schema) } }),
    ...(effort !== null && { effort }),
  }
}

function capOutput({ thinking, outputTokensMax }: Traits, limit: number): number {
  // An unknown family may allow longer answers than the guess.
  return thinking === 'none' ? limit : Math.min(limit, outputTokensMax)
}

/** Only models that decide themselves whether to reason accept an effort. */
function chooseEffort(
  { thinking, temperature }: Traits,
  request: ChatRequest,
  limit: number | null,
): string | null {
  const requested = request.reasoning_effort ?? null
  if (thinking === 'none') return null
  if (requested === 'low' || requested === 'medium' || requested === 'high') return requested
  if (requested === 'max') return requested
  // Claude 4.6 has no level between high and max.
  if (requested === 'xhigh') return temperature === 'taken' ? 'high' : requested
  if (requested !== null) return 'low'
  const isShort = limit !== null && limit <= SHORT_ANSWER_TOKENS
  return isShort && thinking === 'by-default' && request.wishes?.keepsEffort !== true ? 'low' : null
}

/**
 * Models since Claude 5 default to `adaptive`; it is sent only to request visible reasoning, or to
 * drop reasoning that no longer fits.
 * Claude 4.6 to 4.8 reason only with an effort.
 */
function chooseThinking(
  { thinking, checksReasoningPrefix }: Traits,
  request: ChatRequest,
  turns: Turn[],
): Record<string, unknown> | null {
  if (thinking === 'none') return null
  const effort = request.reasoning_effort ?? null
  const isAsked = effort !== null && effort !== 'none' && effort !== 'minimal'
  if (thinking === 'on-request' && !isAsked) return null
  const wantsWords = request.wishes?.reasoning === true
  const isBound = checksReasoningPrefix && turns.some(({ content }) => content.some(isReasoning))
  if (thinking === 'by-default' && !wantsWords && !isBound) return null
  return {
    type: 'adaptive',
    ...(wantsWords ? { display: 'summarized' } : {}),
    ...(isBound ? { block_binding: { prefix_mismatch_behavior: 'drop_block' } } : {}),
  }
}

const isReasoning = ({ type }: Block) => type === 'thinking' || type === 'redacted_thinking'

/**
 * Anthropic caches a prefix only on request. The caller's own marks take precedence.
 * Without any, one mark on the whole request lets Anthropic cache the conversation and move the
 * mark itself.
 */
function chooseCacheMark(
  { cacheTokensMin }: Traits,
  request: ChatRequest,
  body: Record<string, unknown>,
): CacheControl | null {
  const own = asObject(request.cache_control)
  if (own !== null) return own
  if (cacheTokensMin === null || asObject(request.prompt_cache_options)?.mode === 'explicit')
    return null
  const isMarked = (block: unknown) => asObject(block)?.cache_control !== undefined
  const blocks = [
    body.system,
    body.tools,
    ...(body.messages as Turn[]).map(({ content }) => content),
  ]
  if (blocks.some((list) => Array.isArray(list) && list.some(isMarked))) return null
  return isLonger(body, cacheTokensMin) ? { type: 'ephemeral' } : null
}

/** Errs early: Anthropic ignores the mark of a shorter prompt. */
const BYTES_PER_TOKEN = 3

function isLonger(body: Record<string, unknown>, tokens: number): boolean {
  let left = tokens * BYTES_PER_TOKEN
  /** An image or a tool result counts as long: measuring it would cost more than an early mark. */
  const isLong = (words: unknown): boolean => {
    left -= typeof words === 'string' ? Buffer.byteLength(words) : left
    return left <= 0
  }
  const { system = '' } = body
  if ((Array.isArray(system) ? system : [{ text: system }]).some(({ text }) => isLong(text)))
    return true
  if ((body.messages as Turn[]).some(({ content }) => content.some(({ text }) => isLong(text))))
    return true
  return body.tools !== undefined && isLong(JSON.stringify(body.tools))
}

/** Copies a caller's cache mark, in Anthropic's or OpenAI's form. */
function copyCacheMark(from: { cache_control?: CacheControl | null; [other: string]: unknown }): {
  cache_control?: CacheControl
} {
  const own = asObject(from.cache_control)
  if (own !== null) return { cache_control: own }
  return asObject(from.prompt_cache_breakpoint) === null
    ? {}
    : { cache_control: { type: 'ephemeral' } }
}

function markLast(blocks: Block[], message: ChatMessage): Block[] {
  const mark = asObject(message.cache_control)
  const last = blocks.at(-1)
  return mark === null || last === undefined || isReasoning(last)
    ? blocks
    : [...blocks.slice(0, -1), { ...last, cache_control: mark }]
}

/** Joins system messages into Anthropic's one field. JSON mode is in words, as it advises. */
function buildSystem(request: ChatRequest, more: (string | null)[]): string | Block[] {
  const blocks: Block[] = []
  for (const message of request.messages) {
    if (message.role !== 'system' && message.role !== 'developer') continue
    const own = markLast(buildTextBlocks(message.content), message)
    const isMarked = own.some((block) => block.cache_control !== undefined)
    const text = own.map((block) => block.text).join('')
    if (isMarked) for (const block of own) blocks.push(block)
    else if (text !== '') blocks.push({ type: 'text', text })
  }
  if (request.response_format?.type === 'json_object')
    blocks.push({ type: 'text', text: 'Answer with one JSON object and nothing else.' })
  for (const text of more) if (text !== null) blocks.push({ type: 'text', text })
  return blocks.some((block) => block.cache_control !== undefined)
    ? blocks
    : blocks.map((block) => block.text).join('\n\n')
}

function buildTextBlocks(content: ChatMessage['content']): Block[] {
  const blocks = buildContentBlocks(content)
  for (const { type } of blocks)
    if (type !== 'text') throw createUnsupportedError(`A system message with '${type}'`)
  return blocks
}

/** Joins consecutive messages of one role into one turn; tool results belong to the user. */
function buildTurns(messages: ChatMessage[]): Turn[] {
  const turns: Turn[] = []
  const ids = createToolIds(TOOL_ID)
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') continue
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = markLast(buildBlocks(message, ids), message)
    if (content.length === 0) continue
    const last = turns.at(-1)
    // Pushes one by one: a list of arguments has to fit the stack.
    if (last?.role === role) for (const block of content) last.content.push(block)
    else turns.push({ role, content })
  }
  // The first turn must be the user's.
  if (turns[0]?.role !== 'user')
    turns.unshift({ role: 'user', content: [{ type: 'text', text: '…' }] })
  return turns
}

const TOOL_ID = { foreign: /[^a-zA-Z0-9_-]/g, lengthMax: 128 }

function buildBlocks(message: ChatMessage, ids: ToolIds): Block[] {
  if (message.role === 'tool') {
    const { content } = message
    return [
      {
        type: 'tool_result',
        tool_use_id: ids.renameAnswer(message.tool_call_id ?? ''),
        content: typeof content === 'string' ? content : buildContentBlocks(content),
      },
    ]
  }
  const blocks = buildContentBlocks(message.content)
  for (const call of message.tool_calls ?? []) {
    blocks.push({
      type: 'tool_use',
      id: ids.renameCall(call.id),
      name: call.function.name,
      input: parseArguments(call),
    })
  }
  return message.role === 'assistant' ? interleave(buildReasoningBlocks(message), blocks) : blocks
}

/** Anthropic rejects empty texts. */
function buildContentBlocks(content: ChatMessage['content']): Block[] {
  if (typeof content === 'string')
    return content.trim() === '' ? [] : [{ type: 'text', text: content }]
  return (content ?? [])
    .map(buildBlock)
    .filter((block) => block.type !== 'text' || String(block.text).trim() !== '')
}

function buildBlock(part: ContentPart): Block {
  const read = readPart(part)
  const mark = copyCacheMark(part)
  if (read.kind === 'text') return { type: 'text', text: read.text, ...mark }
  const { source, name } = read
  const title = name === null ? {} : { title: name }
  if ('url' in source) {
    const type = part.type === 'image_url' ? 'image' : 'document'
    return {
      type,
      source: { type: 'url', url: source.url },
      ...(type === 'image' ? {} : title),
      ...mark,
    }
  }
  const { mediaType, data } = source
  if (mediaType.startsWith('image/'))
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data }, ...mark }
  if (mediaType === 'application/pdf')
    return {
      type: 'document',
      source: { type: 'base64', media_type: mediaType, data },
      ...title,
      ...mark,
    }
  if (mediaType.startsWith('text/')) {
    const text = Buffer.from(data, 'base64').toString('utf8')
    return {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: text },
      ...title,
      ...mark,
    }
  }
  throw createUnsupportedError(`Content of type '${mediaType}'`)
}

/** Sends only signed reasoning back; Anthropic would reject any other. */
function buildReasoningBlocks(message: ChatMessage): { index: number; item: Block }[] {
  const reasoningBlocks: { index: number; item: Block }[] = []
  for (const detail of readDetails(message.reasoning_details, ANTHROPIC_FORMAT)) {
    const { index } = detail
    if (detail.type === 'reasoning.encrypted')
      reasoningBlocks.push({ index, item: { type: 'redacted_thinking', data: detail.data } })
    else if (detail.type === 'reasoning.text' && detail.signature !== undefined)
      reasoningBlocks.push({
        index,
        item: { type: 'thinking', thinking: detail.text, signature: detail.signature },
      })
  }
  return reasoningBlocks
}

function parseArguments(call: ToolCall): unknown {
  return parseObject(call.function.arguments) ?? {}
}

/** Defines called tools, which Anthropic requires, also where an agent only summarizes. */
function findCalledTools(messages: ChatMessage[]): Block[] {
  const names = new Set(
    messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map((call) => call.function.name)),
  )
  return buildTools([...names].map((name) => ({ type: 'function', function: { name } })))
}

function buildTools(tools: ToolDefinition[]): Block[] {
  let strict = 0
  return tools.map((definition) => {
    const tool = definition.function
    const isStrict = tool.strict === true && strict++ < STRICT_TOOLS_MAX
    const parameters = tool.parameters ?? {}
    const schema =
      Object.keys(parameters).length === 0 ? { type: 'object', properties: {} } : parameters
    return {
      name: tool.name,
      ...(tool.description === undefined ? {} : { description: tool.description }),
      input_schema: isStrict
        ? toClaudeSchema(schema)
        : schema.type === undefined
          ? { type: 'object', ...schema }
          : schema,
      ...(isStrict ? { strict: true } : {}),
      ...copyCacheMark(definition.cache_control == null ? tool : definition),
    } as unknown as Block
  })
}

/**
 * Since Opus 5.5 and Sonnet 5.5, forcing a tool is an error, so the wish is described in words and
 * the model decides.
 * https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5
 */
function describeForcedTool(
  { forcedTools }: Traits,
  { tools, tool_choice: choice }: ChatRequest,
): string | null {
  if (!tools?.length || forcedTools === 'taken') return null
  if (choice === 'required') return 'Answer by calling one of the tools.'
  return typeof choice === 'object' && choice.function
    ? `Answer by calling the tool \`${choice.function.name}\`.`
    : null
}

function translateToolChoice(
  request: ChatRequest,
  isDescribed: boolean,
): Record<string, unknown> | null {
  const choice = isDescribed ? 'auto' : request.tool_choice
  const parallel = request.parallel_tool_calls === false ? { disable_parallel_tool_use: true } : {}
  if (choice === 'none') return { type: 'none' }
  if (choice === 'required') return { type: 'any', ...parallel }
  if (typeof choice === 'object' && choice.function)
    return { type: 'tool', name: choice.function.name, ...parallel }
  return request.parallel_tool_calls === false ? { type: 'auto', ...parallel } : null
}
