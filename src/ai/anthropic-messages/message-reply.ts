// Replies in Anthropic's format. Anthropic's own answers pass through unchanged; other vendors' are
// translated. The trap: blocks follow one another, and only one is open at a time.
import type { Completion, CompletionStream } from '../chat-call.ts'
import { addCost, createPassingEncoder } from '../priced.ts'
import { addDetail, wrapReasoning } from '../reasoning-envelope.ts'
import type { AnswerEncoder, StreamEncoder } from '../stream-encoder.ts'
import type { ToolCall } from '../vendors/chat-request.ts'
import type { AnswerChunk, FinishReason, ToolDelta } from '../vendors/chunk.ts'
import { parseObject } from '../vendors/json.ts'
import { newId } from '../vendors/new-id.ts'
import { joinReasoningText, type ReasoningDetail } from '../vendors/reasoning.ts'
import type { Usage } from '../vendors/vendor.ts'
import { VendorError } from '../vendors/vendor-error.ts'
import { anthropicError } from './errors.ts'

type Json = Record<string, unknown>

export function buildMessageBody({
  answer,
  model,
  usage,
  costUsd,
  isNative,
  stopSequence,
}: Completion): Json {
  if (isNative && answer.body !== null) return addCost(answer.body, costUsd)
  return {
    id: newId('msg_'),
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...buildReasoningBlocks(answer.details),
      ...(answer.text === '' ? [] : [{ type: 'text', text: answer.text }]),
      ...answer.toolCalls.flatMap(buildToolBlocks),
    ],
    ...findStopReason(answer.finish, stopSequence),
    usage: { ...buildUsageBody(usage), cost_usd: costUsd },
  }
}

function buildReasoningBlocks(details: ReasoningDetail[]): Json[] {
  if (details.length === 0) return []
  const thinking = joinReasoningText(details)
  const signature = wrapReasoning({ details })
  return thinking === ''
    ? [{ type: 'redacted_thinking', data: signature }]
    : [{ type: 'thinking', thinking, signature }]
}

function buildToolBlocks({ id: given, function: tool, extra_content }: ToolCall): Json[] {
  const id = given || newId('toolu_')
  const own = { type: 'tool_use', id, name: tool.name, input: parseArguments(tool.arguments) }
  return extra_content === undefined ? [own] : [buildSignatureBlock(id, extra_content), own]
}

/** Carries a vendor's signature of a call, for which Anthropic's tool_use block has no member. */
function buildSignatureBlock(id: string, extra: NonNullable<ToolCall['extra_content']>): Json {
  return { type: 'redacted_thinking', data: wrapReasoning({ details: [], calls: { [id]: extra } }) }
}

function parseArguments(text: string): Json {
  return parseObject(text) ?? {}
}

function findStopReason(finish: FinishReason, sequence: string | null): Json {
  const reason = sequence === null ? translateFinishReason(finish) : 'stop_sequence'
  return { stop_reason: reason, stop_sequence: sequence }
}

function translateFinishReason(finish: FinishReason): string {
  return {
    stop: 'end_turn',
    length: 'max_tokens',
    tool_calls: 'tool_use',
    content_filter: 'refusal',
  }[finish]
}

function buildUsageBody({ prompt, completion, cached, cacheWrites, reasoning }: Usage) {
  return {
    input_tokens: Math.max(0, prompt - cached - cacheWrites),
    cache_creation_input_tokens: cacheWrites,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}

export const eventEncoder: StreamEncoder = {
  answer: (answer) =>
    answer.isNative ? createPassingEncoder(answer) : createAnswerEncoder(answer),
  failure: (problem) => encodeEvent({ ...anthropicError(problem), type: 'error' }),
  endsWithDone: false,
}

type OpenBlock =
  | { kind: 'text' }
  | { kind: 'thinking'; details: ReasoningDetail[] }
  | { kind: 'tool'; call: Call }
type Call = {
  id: string
  name: string
  extra: ToolDelta['extra_content']
  args: string
  is: 'waiting' | 'open' | 'over'
}

function createAnswerEncoder(answer: CompletionStream): AnswerEncoder {
  let hasBegun = false
  let index = -1
  let open: OpenBlock | null = null
  const calls = new Map<number, Call>()

  const begin = (): string => {
    if (hasBegun) return ''
    hasBegun = true
    // The prompt is estimated until the vendor reports it at the end.
    const message = {
      id: newId('msg_'),
      type: 'message',
      role: 'assistant',
      model: answer.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...buildUsageBody(answer.usage()), output_tokens: 1 },
    }
    return encodeEvent({ type: 'message_start', message })
  }
  const encodeDelta = (part: Json) =>
    encodeEvent({ type: 'content_block_delta', index, delta: part })
  const startBlock = (next: OpenBlock, block: Json): string => {
    const before = closeBlock()
    open = next
    index++
    return `${before}${encodeEvent({ type: 'content_block_start', index, content_block: block })}`
  }
  const closeBlock = (): string => {
    if (open === null) return ''
    const ending =
      open.kind === 'thinking'
        ? encodeDelta({
            type: 'signature_delta',
            signature: wrapReasoning({ details: open.details }),
          })
        : ''
    if (open.kind === 'tool') open.call.is = 'over'
    open = null
    return ending + encodeEvent({ type: 'content_block_stop', index })
  }
  const encodeBlock = (block: Json): string => startBlock({ kind: 'text' }, block) + closeBlock()

  const encodeReasoning = (words: string, details: ReasoningDetail[] | null): string => {
    let text = ''
    if (words !== '' && open?.kind !== 'thinking') {
      text += startBlock(
        { kind: 'thinking', details: [] },
        { type: 'thinking', thinking: '', signature: '' },
      )
    }
    if (words !== '') text += encodeDelta({ type: 'thinking_delta', thinking: words })
    if (details === null || details.length === 0) return text
    if (open?.kind !== 'thinking')
      return text + encodeBlock({ type: 'redacted_thinking', data: wrapReasoning({ details }) })
    for (const detail of details) addDetail(open.details, detail)
    return text
  }

  const encodeArguments = (args: string) =>
    args === '' ? '' : encodeDelta({ type: 'input_json_delta', partial_json: args })
  const beginCall = (call: Call): string => {
    const { id, name, extra, args } = call
    const before = extra === undefined ? '' : encodeBlock(buildSignatureBlock(id, extra))
    const block = { type: 'tool_use', id, name, input: {} }
    const text = before + startBlock({ kind: 'tool', call }, block) + encodeArguments(args)
    call.is = 'open'
    return text
  }
  /** Opens one call at a time; a later one waits until the open one's arguments are whole. */
  const encodeToolDelta = ({
    index: number,
    id,
    name = '',
    arguments: args,
    extra_content: extra,
  }: ToolDelta): string => {
    const known = calls.get(number)
    if (known === undefined) {
      const call: Call = { id: id || newId('toolu_'), name, extra, args, is: 'waiting' }
      calls.set(number, call)
      return open?.kind === 'tool' && !isWhole(open.call.args) ? '' : beginCall(call)
    }
    if (args === '') return ''
    if (known.is === 'over') throw new VendorError('nonsense', 'went on with a call that was over')
    known.args += args
    return known.is === 'open' ? encodeArguments(args) : ''
  }
  const beginWaitingCalls = (): string => {
    let text = ''
    for (const call of calls.values()) if (call.is === 'waiting') text += beginCall(call)
    return text
  }

  return {
    batch(chunks) {
      let text = begin()
      for (const chunk of chunks) text += encodeChunk(chunk)
      return text
    },
    end: () =>
      begin() +
      beginWaitingCalls() +
      closeBlock() +
      encodeEvent({
        type: 'message_delta',
        delta: findStopReason(answer.finish(), answer.stopSequence()),
        usage: { ...buildUsageBody(answer.usage()), cost_usd: answer.costUsd() },
      }) +
      encodeEvent({ type: 'message_stop' }),
  }

  function encodeChunk({ text, reasoning: words, details, tools }: AnswerChunk): string {
    let events = words === '' && details === null ? '' : encodeReasoning(words, details)
    if (text !== '') {
      if (open?.kind !== 'text') events += startBlock({ kind: 'text' }, { type: 'text', text: '' })
      events += `${TEXT_HEAD}${index},"delta":{"type":"text_delta","text":${JSON.stringify(text)}}}\n\n`
    }
    for (const toolDelta of tools ?? []) events += encodeToolDelta(toolDelta)
    return events
  }
}

/** Most events are chunks of the text. */
const TEXT_HEAD = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":'

function encodeEvent(data: Json): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

function isWhole(json: string): boolean {
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}
