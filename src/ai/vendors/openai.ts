// Guards OpenAI's chat completions, and whatever speaks the same: Ollama, vLLM, another gateway, the sandbox.
// One thing to know: the request already is in this format, so this file only adapts parameters to what a model refuses.
import { temperatureOf, wantsMaxCompletionTokens } from '../models.ts'
import { type Frame, frameOf, wordsIn } from './openai-frame.ts'
import {
  type Answer,
  type ChatRequest,
  count,
  type Embedding,
  type EventReader,
  type FinishReason,
  objectOf,
  type Piece,
  parseEvent,
  reportedFailure,
  type ToolCall,
  type ToolDelta,
  type Usage,
  type Vendor,
  VendorError,
} from './vendor.ts'

export function createOpenAi(apiKey: string): Vendor {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  return {
    name: 'openai',
    shape: (model, request, stream) => ({
      path: '/chat/completions',
      headers,
      body: JSON.stringify(adapt(model, request, stream)),
    }),
    readAnswer,
    createReader,
    readError: (body) => {
      const error = objectOf(body)?.error
      return typeof error === 'string' ? error : messageOf(objectOf(error))
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

function adapt(model: string, request: ChatRequest, stream: boolean): Record<string, unknown> {
  const body: Record<string, unknown> = { ...request, model, stream }
  delete body.stream_options
  // Usage comes in a last chunk with `choices: []`; the ledger needs it even when the client did not ask.
  if (stream) body.stream_options = { include_usage: true }

  const limit = request.max_completion_tokens ?? request.max_tokens
  delete body.max_tokens
  delete body.max_completion_tokens
  if (limit != null) body[wantsMaxCompletionTokens(model) ? 'max_completion_tokens' : 'max_tokens'] = limit

  adaptSampling(model, request, body)
  return body
}

/**
 * Reasoning models of the first kind refuse sampling parameters. Those since GPT-5.1 take them, and tools on this
 * address, only with reasoning off: who asks for a temperature or tools and not for an effort gets that.
 */
function adaptSampling(model: string, request: ChatRequest, body: Record<string, unknown>) {
  const habit = temperatureOf('openai', model)
  if (habit === 'taken') return
  const wantsSampling = request.temperature != null || request.top_p != null
  const wantsTools = (request.tools?.length ?? 0) > 0
  if (habit === 'without-reasoning') {
    if (request.reasoning_effort == null && (wantsSampling || wantsTools)) body.reasoning_effort = 'none'
    if (body.reasoning_effort === 'none') return
  }
  delete body.temperature
  delete body.top_p
  delete body.presence_penalty
  delete body.frequency_penalty
}

function readAnswer(value: unknown): Answer {
  const body = objectOf(value)
  const choice = objectOf(Array.isArray(body?.choices) ? body.choices[0] : null)
  const message = objectOf(choice?.message)
  if (body === null || message === null) {
    const error = objectOf(body?.error)
    if (error) throw reportedFailure('openai', String(error.type ?? error.code ?? 'error'), messageOf(error) ?? '')
    throw new VendorError('openai', 'nonsense', 'answered without choices')
  }
  return {
    text: typeof message.content === 'string' ? message.content : '',
    toolCalls: Array.isArray(message.tool_calls) ? (message.tool_calls as ToolCall[]) : [],
    finish: finishOf(choice?.finish_reason) ?? 'stop',
    model: typeof body.model === 'string' ? body.model : null,
    usage: usageOf(body.usage),
    body,
  }
}

/** Frames that a stream may offer without one event fitting into the last: then its events are all different. */
const FRAMES_TRIED_MAX = 4

function createReader(): EventReader {
  let isWhole = false
  let isOver = false
  let hasChunks = false
  let usage: Usage | null = null
  let model: string | null = null
  let frame: Frame | null = null
  let framesTried = 0

  return {
    read(data, pieces) {
      const words = frame === null ? null : wordsIn(data, frame)
      if (words !== null) {
        framesTried = 0
        pieces.push({ text: words, tools: null, finish: null, chunk: data })
        return
      }
      if (data === '[DONE]') {
        // Alone it says nothing: some proxies send it after a failure, too.
        isWhole ||= hasChunks
        isOver = true
        return
      }
      const event = parseEvent('openai', data)
      if (event.error !== undefined && event.error !== null) {
        const error = objectOf(event.error)
        throw reportedFailure('openai', String(error?.type ?? error?.code ?? 'error'), messageOf(error) ?? '')
      }
      if (event.usage) usage = usageOf(event.usage) ?? usage
      if (model === null && typeof event.model === 'string') model = event.model
      // Without choices it is no part of the answer: usage, or a proxy's notice.
      if (!Array.isArray(event.choices) || event.choices.length === 0) return
      hasChunks = true
      const piece = pieceOf(event.choices, data)
      pieces.push(piece)
      if (piece.finish) isWhole = true
      else if (framesTried < FRAMES_TRIED_MAX && isWordsAlone(event.choices)) {
        framesTried++
        frame = frameOf(data, piece.text)
      }
    },
    get isWhole() {
      return isWhole
    },
    get isOver() {
      return isOver
    },
    get usage() {
      return usage
    },
    get model() {
      return model
    },
  }
}

type WireChoice = {
  index?: number
  delta?: { content?: unknown; tool_calls?: WireToolDelta[] } | null
  finish_reason?: unknown
}
type WireToolDelta = { index?: number; id?: string; function?: { name?: string; arguments?: string } }

/** One choice, the first, with a text and no tools. */
function isWordsAlone(choices: (WireChoice | null)[]): boolean {
  const choice = choices[0]
  return (
    choices.length === 1 &&
    (choice?.index ?? 0) === 0 &&
    typeof choice?.delta?.content === 'string' &&
    choice.delta.tool_calls === undefined
  )
}

function pieceOf(choices: (WireChoice | null)[], chunk: string): Piece {
  let text = ''
  let tools: ToolDelta[] | null = null
  let finish: FinishReason | null = null
  for (const choice of choices) {
    // Further choices (`n`) reach a /v1 client in the chunk itself; our own answer is the first.
    if (choice == null || (choice.index ?? 0) !== 0) continue
    const delta = choice.delta
    if (typeof delta?.content === 'string') text += delta.content
    if (Array.isArray(delta?.tool_calls)) tools = delta.tool_calls.map(toolDelta)
    finish = finishOf(choice.finish_reason) ?? finish
  }
  return { text, tools, finish, chunk }
}

function toolDelta(call: WireToolDelta, position: number): ToolDelta {
  return {
    index: call.index ?? position,
    ...(call.id === undefined ? {} : { id: call.id }),
    ...(call.function?.name === undefined ? {} : { name: call.function.name }),
    arguments: call.function?.arguments ?? '',
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
  return {
    prompt: count(usage.prompt_tokens),
    completion: count(usage.completion_tokens),
    cached: count(objectOf(usage.prompt_tokens_details)?.cached_tokens),
    cacheWrites: 0,
  }
}

function readEmbedding(value: unknown, inputCount: number): Embedding {
  const body = objectOf(value)
  const rows = Array.isArray(body?.data) ? (body.data as { index?: number; embedding?: unknown }[]) : null
  if (rows?.length !== inputCount || rows.some((row) => !Array.isArray(row?.embedding))) {
    throw new VendorError('openai', 'nonsense', 'answered without embeddings')
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
