// Guards Anthropic's messages: system text apart, roles that alternate, content in blocks, and events with names.
// One thing to know: an answer is whole only after `message_stop`; `ping` and events that are not known are passed over.
// https://platform.claude.com/docs/en/build-with-claude/streaming
import { findModel, refusesForcedTools, SHORT_ANSWER_TOKENS, temperatureOf } from '../models.ts'
import {
  type Answer,
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  count,
  type EventReader,
  type FinishReason,
  finishPiece,
  inlineImage,
  objectOf,
  parseEvent,
  refusal,
  reportedFailure,
  requireTranslatable,
  systemText,
  type ToolCall,
  textPiece,
  toolPiece,
  type Usage,
  type Vendor,
  VendorError,
} from './vendor.ts'

const API_VERSION = '2023-06-01'
/** `max_tokens` is required here and optional at OpenAI. */
const MAX_TOKENS_DEFAULT = 4_096

export function createAnthropic(apiKey: string): Vendor {
  const headers = { 'x-api-key': apiKey, 'anthropic-version': API_VERSION, 'content-type': 'application/json' }
  return {
    name: 'anthropic',
    shape: (model, request, stream) => ({
      path: '/v1/messages',
      headers,
      body: JSON.stringify(bodyOf(model, request, stream)),
    }),
    readAnswer,
    createReader,
    readError: (body) => {
      const message = objectOf(objectOf(body)?.error)?.message
      return typeof message === 'string' ? message : null
    },
  }
}

type Block = Record<string, unknown> & { type: string }
type Turn = { role: 'user' | 'assistant'; content: Block[] }

function bodyOf(model: string, request: ChatRequest, stream: boolean): Record<string, unknown> {
  requireTranslatable('anthropic', request)
  const forced = forcedTool(model, request)
  const system = systemOf(request, forced)
  const wanted = request.max_completion_tokens ?? request.max_tokens ?? MAX_TOKENS_DEFAULT
  const body: Record<string, unknown> = {
    model,
    max_tokens: Math.min(wanted, findModel(model)?.outputTokensMax ?? wanted),
    messages: turnsOf(request.messages),
    stream,
  }
  if (system !== '') body.system = system
  if (request.stop != null) body.stop_sequences = typeof request.stop === 'string' ? [request.stop] : request.stop
  if (temperatureOf('anthropic', model) === 'taken') {
    // OpenAI's scale ends at 2, Anthropic's at 1; both together are refused.
    if (request.temperature != null) body.temperature = Math.min(request.temperature, 1)
    else if (request.top_p != null) body.top_p = request.top_p
  }
  if (request.tools?.length) {
    body.tools = request.tools.map(({ function: tool }) => ({
      name: tool.name,
      ...(tool.description === undefined ? {} : { description: tool.description }),
      input_schema: tool.parameters ?? { type: 'object', properties: {} },
    }))
    const choice = toolChoice(request, forced !== null)
    if (choice) body.tool_choice = choice
  }
  const schema = request.response_format?.json_schema?.schema
  const effort = effortOf(model, request.reasoning_effort ?? null, wanted)
  const output: Record<string, unknown> = {}
  if (request.response_format?.type === 'json_schema' && schema) output.format = { type: 'json_schema', schema }
  if (effort !== null) output.effort = effort
  if (Object.keys(output).length > 0) body.output_config = output
  return body
}

/** Models that refuse sampling parameters are those that think by their own choice and take an effort. */
function effortOf(model: string, asked: string | null, limit: number): string | null {
  if (temperatureOf('anthropic', model) === 'taken') return null
  if (asked === 'low' || asked === 'medium' || asked === 'high' || asked === 'max') return asked
  if (asked === 'xhigh') return 'max'
  return asked !== null || limit <= SHORT_ANSWER_TOKENS ? 'low' : null
}

/** System messages go into one field of their own, wherever they stood; JSON mode is said in words, as Anthropic advises. */
function systemOf(request: ChatRequest, more: string | null): string {
  const texts = request.messages
    .filter((message) => message.role === 'system' || message.role === 'developer')
    .map((message) => systemText(message.content))
  if (request.response_format?.type === 'json_object') texts.push('Answer with one JSON object and nothing else.')
  if (more !== null) texts.push(more)
  return texts.filter((text) => text !== '').join('\n\n')
}

/** Consecutive messages of one role become one turn; an answer of a tool is the user's. */
function turnsOf(messages: ChatMessage[]): Turn[] {
  const turns: Turn[] = []
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') continue
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = blocksOf(message)
    if (content.length === 0) continue
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else turns.push({ role, content })
  }
  // The first turn must be the user's.
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [{ type: 'text', text: '…' }] })
  return turns
}

function blocksOf(message: ChatMessage): Block[] {
  if (message.role === 'tool') {
    return [{ type: 'tool_result', tool_use_id: message.tool_call_id ?? '', content: systemText(message.content) }]
  }
  const blocks: Block[] =
    typeof message.content === 'string'
      ? message.content.trim() === ''
        ? []
        : [{ type: 'text', text: message.content }]
      : (message.content ?? []).map(blockOf)
  for (const call of message.tool_calls ?? []) {
    blocks.push({ type: 'tool_use', id: call.id, name: call.function.name, input: argumentsOf(call) })
  }
  return blocks
}

function blockOf(part: ContentPart): Block {
  if (part.type === 'text') return { type: 'text', text: String(part.text) }
  const url = part.image_url?.url
  if (part.type === 'image_url' && typeof url === 'string') {
    const inline = inlineImage(url)
    return inline
      ? { type: 'image', source: { type: 'base64', media_type: inline.mediaType, data: inline.data } }
      : { type: 'image', source: { type: 'url', url } }
  }
  throw refusal('anthropic', `Content of type '${part.type}' is not supported by this model`)
}

function argumentsOf(call: ToolCall): unknown {
  try {
    return JSON.parse(call.function.arguments || '{}')
  } catch {
    return {}
  }
}

/**
 * Since Opus 5.5 and Sonnet 5.5 a forced tool is an error: there the wish is said in words, and the choice stays the
 * model's. https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5
 */
function forcedTool(model: string, { tools, tool_choice: choice }: ChatRequest): string | null {
  if (!tools?.length || !refusesForcedTools(model)) return null
  if (choice === 'required') return 'Answer by calling one of the tools.'
  return typeof choice === 'object' && choice.function
    ? `Answer by calling the tool \`${choice.function.name}\`.`
    : null
}

function toolChoice(request: ChatRequest, isSaidInWords: boolean): Record<string, unknown> | null {
  const choice = isSaidInWords ? 'auto' : request.tool_choice
  const parallel = request.parallel_tool_calls === false ? { disable_parallel_tool_use: true } : {}
  if (choice === 'none') return { type: 'none' }
  if (choice === 'required') return { type: 'any', ...parallel }
  if (typeof choice === 'object' && choice.function) return { type: 'tool', name: choice.function.name, ...parallel }
  return request.parallel_tool_calls === false ? { type: 'auto', ...parallel } : null
}

function readAnswer(value: unknown): Answer {
  const body = objectOf(value)
  if (body === null || !Array.isArray(body.content)) {
    const error = objectOf(body?.error)
    if (error) throw reportedFailure('anthropic', String(error.type), String(error.message ?? ''))
    throw new VendorError('anthropic', 'nonsense', 'answered without content')
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
    finish: finishOf(body.stop_reason),
    model: typeof body.model === 'string' ? body.model : null,
    usage: usageOf(objectOf(body.usage), null),
    body: null,
  }
}

function createReader(): EventReader {
  let isWhole = false
  let usage: Usage | null = null
  let model: string | null = null
  let finish: FinishReason = 'stop'
  /** Blocks are numbered over text and tools; OpenAI numbers the tools alone. */
  const toolIndexes = new Map<unknown, number>()

  return {
    read(data, pieces) {
      const event = parseEvent('anthropic', data)
      switch (event.type) {
        case 'message_start': {
          const message = objectOf(event.message)
          if (typeof message?.model === 'string') model = message.model
          usage = usageOf(objectOf(message?.usage), null)
          break
        }
        case 'content_block_start': {
          const block = objectOf(event.content_block)
          if (block?.type === 'tool_use') {
            const index = toolIndexes.size
            toolIndexes.set(event.index, index)
            const start = { index, id: String(block.id), name: String(block.name), arguments: '' }
            pieces.push(toolPiece(start))
          } else if (block?.type === 'text' && typeof block.text === 'string' && block.text !== '') {
            pieces.push(textPiece(block.text))
          }
          break
        }
        case 'content_block_delta': {
          const delta = objectOf(event.delta)
          if (delta?.type === 'text_delta' && typeof delta.text === 'string') {
            pieces.push(textPiece(delta.text))
          } else if (delta?.type === 'input_json_delta' && typeof delta.partial_json === 'string') {
            const index = toolIndexes.get(event.index) ?? 0
            pieces.push(toolPiece({ index, arguments: delta.partial_json }))
          }
          break
        }
        case 'message_delta':
          finish = finishOf(objectOf(event.delta)?.stop_reason)
          usage = usageOf(objectOf(event.usage), usage)
          break
        case 'message_stop':
          isWhole = true
          pieces.push(finishPiece(finish))
          break
        case 'error': {
          const error = objectOf(event.error)
          throw reportedFailure('anthropic', String(error?.type ?? 'error'), String(error?.message ?? ''))
        }
      }
    },
    get isWhole() {
      return isWhole
    },
    get isOver() {
      return isWhole
    },
    get usage() {
      return usage
    },
    get model() {
      return model
    },
  }
}

function finishOf(reason: unknown): FinishReason {
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length'
  if (reason === 'tool_use') return 'tool_calls'
  if (reason === 'refusal') return 'content_filter'
  return 'stop'
}

/** `input_tokens` leaves out what the cache read or wrote. In a stream the prompt comes first and the completion last. */
function usageOf(usage: Record<string, unknown> | null, before: Usage | null): Usage | null {
  if (usage === null) return before
  if (before !== null && usage.input_tokens == null) return { ...before, completion: count(usage.output_tokens) }
  const cached = count(usage.cache_read_input_tokens)
  const cacheWrites = count(usage.cache_creation_input_tokens)
  return {
    prompt: count(usage.input_tokens) + cached + cacheWrites,
    completion: count(usage.output_tokens),
    cached,
    cacheWrites,
  }
}
