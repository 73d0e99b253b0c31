// Reads Anthropic's answers, whole or as events. An answer is whole only after `message_stop`.
// https://platform.claude.com/docs/en/build-with-claude/streaming

import { asObject } from '#platform/json.ts'
import {
  type AnswerChunk,
  createFinishChunk,
  createReasoningChunk,
  createTextChunk,
  createToolChunk,
  type FinishReason,
} from './chunk.ts'
import { count, isPlain, parseEvent } from './json.ts'
import { createBlockSeparator, createDetailHeads, type ReasoningDetail } from './reasoning.ts'
import type { Answer, EventReader, ReaderState, Usage } from './vendor.ts'
import { createReportedFailure, VendorError } from './vendor-error.ts'

export type Block = Record<string, unknown> & { type: string }

/** Marks reasoning from this vendor, so that it is recognized when a client sends it back. */
export const ANTHROPIC_FORMAT = 'anthropic-claude-v1'

export function readAnswer(value: unknown): Answer {
  const body = asObject(value)
  if (body === null || !Array.isArray(body.content)) {
    const error = asObject(body?.error)
    if (error) throw createReportedFailure(String(error.type), String(error.message ?? ''))
    throw new VendorError('nonsense', 'answered without content')
  }
  const blocks = body.content as Block[]
  return {
    text: blocks.map((block) => (block.type === 'text' ? String(block.text) : '')).join(''),
    toolCalls: blocks
      .filter((block) => block.type === 'tool_use')
      .map((block) => ({
        id: String(block.id),
        type: 'function',
        function: { name: String(block.name), arguments: JSON.stringify(block.input ?? {}) },
      })),
    details: blocks.flatMap(
      (block, index) => toReasoningDetail(block, { format: ANTHROPIC_FORMAT, index }) ?? [],
    ),
    finish: readFinishReason(body.stop_reason),
    model: typeof body.model === 'string' ? body.model : null,
    usage: parseUsage(asObject(body.usage), null),
    body: null,
  }
}

/** Builds the reasoning detail for a client; null for any other block. */
function toReasoningDetail(
  block: Record<string, unknown>,
  head: Pick<ReasoningDetail, 'format' | 'index'>,
): ReasoningDetail | null {
  if (block.type === 'redacted_thinking')
    return { type: 'reasoning.encrypted', data: String(block.data), ...head }
  if (block.type !== 'thinking') return null
  const text = typeof block.thinking === 'string' ? block.thinking : ''
  return typeof block.signature === 'string' && block.signature !== ''
    ? { type: 'reasoning.text', text, signature: block.signature, ...head }
    : { type: 'reasoning.text', text, ...head }
}

export function createReader(): EventReader {
  let finish: FinishReason = 'stop'
  /** Blocks are numbered over text, reasoning and tools; OpenAI numbers only the tools. */
  const toolIndexes = new Map<unknown, number>()
  const createHead = createDetailHeads(ANTHROPIC_FORMAT)
  const separateBlocks = createBlockSeparator()

  const readBlockStart = (event: Record<string, unknown>, at: number): AnswerChunk | null => {
    const block = asObject(event.content_block)
    if (block?.type === 'tool_use') {
      const index = toolIndexes.size
      toolIndexes.set(event.index, index)
      return createToolChunk({
        index,
        id: String(block.id),
        name: String(block.name),
        arguments: '',
      })
    }
    if (block?.type === 'text')
      return typeof block.text === 'string' && block.text !== ''
        ? createTextChunk(block.text)
        : null
    if (block?.type !== 'redacted_thinking' && !hasContent(block)) return null
    const detail = toReasoningDetail(block ?? {}, createHead(at))
    if (detail === null) return null
    return createReasoningChunk(
      separateBlocks(detail.type === 'reasoning.text' ? detail.text : '', at),
      detail,
    )
  }

  const readDelta = (event: Record<string, unknown>, at: number): AnswerChunk | null => {
    const delta = asObject(event.delta) ?? {}
    const { text, partial_json: json, thinking, signature } = delta
    switch (delta.type) {
      case 'text_delta':
        return typeof text === 'string' ? createTextChunk(text) : null
      case 'input_json_delta':
        if (typeof json !== 'string') return null
        return createToolChunk({ index: toolIndexes.get(event.index) ?? 0, arguments: json })
      case 'thinking_delta':
        if (typeof thinking !== 'string' || thinking === '') return null
        return createReasoningChunk(separateBlocks(thinking, at), {
          type: 'reasoning.text',
          text: thinking,
          ...createHead(at),
        })
      case 'signature_delta':
        if (typeof signature !== 'string') return null
        return createReasoningChunk('', {
          type: 'reasoning.text',
          text: '',
          signature,
          ...createHead(at),
        })
      default:
        return null
    }
  }

  const reader: ReaderState & EventReader = {
    isWhole: false,
    isOver: false,
    usage: null,
    model: null,
    read(data, chunks) {
      const words = readPlainText(data)
      if (words !== null) {
        chunks.push(createTextChunk(words))
        return
      }
      const event = parseEvent(data)
      const at = typeof event.index === 'number' ? event.index : 0
      switch (event.type) {
        case 'message_start': {
          const message = asObject(event.message)
          if (typeof message?.model === 'string') reader.model = message.model
          reader.usage = parseUsage(asObject(message?.usage), null)
          break
        }
        case 'content_block_start':
          add(readBlockStart(event, at), chunks)
          break
        case 'content_block_delta':
          add(readDelta(event, at), chunks)
          break
        case 'message_delta':
          finish = readFinishReason(asObject(event.delta)?.stop_reason)
          reader.usage = parseUsage(asObject(event.usage), reader.usage)
          break
        case 'message_stop':
          reader.isWhole = true
          reader.isOver = true
          chunks.push(createFinishChunk(finish))
          break
        case 'error': {
          const error = asObject(event.error)
          throw createReportedFailure(String(error?.type ?? 'error'), String(error?.message ?? ''))
        }
      }
    },
  }
  return reader
}

function add(chunk: AnswerChunk | null, chunks: AnswerChunk[]): void {
  if (chunk !== null) chunks.push(chunk)
}

const [BLANK, ZERO, NINE, BRACE] = [32, 48, 57, 125]
const DELTA = '{"type":"content_block_delta","index":'
const TEXT = ',"delta":{"type":"text_delta","text":"'

/** Reads the text of the most frequent event without parsing it; null for any other. */
export function readPlainText(data: string): string | null {
  if (data.slice(0, DELTA.length) !== DELTA) return null
  const index = data.charCodeAt(DELTA.length)
  const start = DELTA.length + 1 + TEXT.length
  if (index < ZERO || index > NINE || data.slice(DELTA.length + 1, start) !== TEXT) return null
  const end = data.indexOf('"', start)
  if (end === -1 || !data.endsWith('}')) return null
  // Anthropic pads events with blanks to hide the length of the text.
  let last = data.length - 1
  while (data.charCodeAt(last - 1) === BLANK) last--
  if (last !== end + 2 || data.charCodeAt(end + 1) !== BRACE) return null
  const words = data.slice(start, end)
  return isPlain(words) ? words : null
}

/** Most reasoning blocks begin empty. */
function hasContent(block: Record<string, unknown> | null): boolean {
  return block?.type === 'thinking' && Boolean(block.thinking || block.signature)
}

function readFinishReason(reason: unknown): FinishReason {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length'
  if (reason === 'tool_use') return 'tool_calls'
  if (reason === 'refusal') return 'content_filter'
  return 'stop'
}

/** `input_tokens` excludes the cache's. A stream reports the prompt first, the completion last. */
function parseUsage(usage: Record<string, unknown> | null, before: Usage | null): Usage | null {
  if (usage === null) return before
  const details = asObject(usage.output_tokens_details)
  const reasoning = details === null ? {} : { reasoning: count(details.thinking_tokens) }
  const searches = count(asObject(usage.server_tool_use)?.web_search_requests)
  const more = { ...reasoning, ...(searches > 0 ? { webSearches: searches } : {}) }
  const iterations = readIterations(usage)
  if (iterations.some(({ type }) => type === 'fallback_message'))
    return { ...sumUsageByModel(iterations), ...more }
  if (before !== null && usage.input_tokens == null) {
    return { ...before, completion: count(usage.output_tokens), ...more }
  }
  // Anthropic bills its compaction of a conversation, but excludes it from the sums.
  const compactions = iterations.filter(({ type }) => type === 'compaction')
  const own = readCounts(usage, before?.cacheWritesHour)
  return { ...addUp([own, ...compactions.map((one) => readCounts(one))]), ...more }
}

function readIterations({ iterations }: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(iterations) ? iterations.map(asObject).filter((one) => one !== null) : []
}

/** Returns the usage by model. When a fallback model answered, both models are billed, and only the iterations list each part. */
function sumUsageByModel(iterations: Record<string, unknown>[]): Usage {
  const byModel = iterations.flatMap((one) =>
    typeof one.model === 'string' ? [{ model: one.model, usage: readCounts(one) }] : [],
  )
  return { ...addUp(iterations.map((one) => readCounts(one))), byModel }
}

/** `hourBefore`: only a stream's first event reports the tokens cached for an hour. */
function readCounts(usage: Record<string, unknown>, hourBefore = 0): Usage {
  const cached = count(usage.cache_read_input_tokens)
  const cacheWrites = count(usage.cache_creation_input_tokens)
  const cacheCreation = asObject(usage.cache_creation)
  const hour = cacheCreation === null ? hourBefore : count(cacheCreation.ephemeral_1h_input_tokens)
  return {
    prompt: count(usage.input_tokens) + cached + cacheWrites,
    completion: count(usage.output_tokens),
    cached,
    cacheWrites,
    ...(hour > 0 ? { cacheWritesHour: Math.min(hour, cacheWrites) } : {}),
  }
}

function addUp(parts: Usage[]): Usage {
  const sum = (name: 'prompt' | 'completion' | 'cached' | 'cacheWrites' | 'cacheWritesHour') =>
    parts.reduce((total, part) => total + (part[name] ?? 0), 0)
  const hour = sum('cacheWritesHour')
  return {
    prompt: sum('prompt'),
    completion: sum('completion'),
    cached: sum('cached'),
    cacheWrites: sum('cacheWrites'),
    ...(hour > 0 ? { cacheWritesHour: hour } : {}),
  }
}
