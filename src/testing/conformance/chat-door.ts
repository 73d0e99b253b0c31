// OpenAI's chat completions, as a client uses them.
import { type Door, EMPTY, parseArguments, parsed, type Reading, type SseEvent } from './door.ts'
import {
  type Ask,
  type AskPart,
  type AskTurn,
  asList,
  asObject,
  type Json,
  type Tokens,
} from './words.ts'

export const chatDoor: Door = {
  name: 'chat completions',
  path: '/v1/chat/completions',
  headers: {},
  body,
  readWhole,
  readStream,
  errorOf: readError,
}

function body({
  model,
  system,
  turns,
  tools,
  choice,
  parallel,
  schema,
  effort,
  limit,
  temperature,
  stop,
  stream,
  more,
}: Ask): Json {
  return {
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: toContent(system) }]),
      ...turns.map(toMessage),
    ],
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, schema: parameters, strict }) => ({
            type: 'function',
            function: {
              name,
              ...(description === undefined ? {} : { description }),
              ...(parameters === undefined ? {} : { parameters }),
              ...(strict === undefined ? {} : { strict }),
            },
          })),
        }),
    ...(choice === undefined
      ? {}
      : {
          tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: choice },
        }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
    ...(schema === undefined
      ? {}
      : {
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'answer', schema, strict: true },
          },
        }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(limit == null ? {} : { max_completion_tokens: limit }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(stop === undefined ? {} : { stop }),
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    ...more,
  }
}

function toMessage(turn: AskTurn): Json {
  if ('kept' in turn) return asObject(turn.kept)
  if ('user' in turn) return { role: 'user', content: toContent(turn.user) }
  if ('developer' in turn) return { role: 'developer', content: turn.developer }
  if ('result' in turn) {
    const isText = turn.parts.every((part) => typeof part === 'string')
    const parts = turn.parts.map((part) =>
      typeof part === 'string'
        ? { type: 'text', text: part }
        : { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${part.data}` } },
    )
    return {
      role: 'tool',
      tool_call_id: turn.result,
      content: isText ? turn.parts.join('') : parts,
    }
  }
  const calls = (turn.calls ?? []).map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  return {
    role: 'assistant',
    content: turn.assistant,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

function toContent(parts: AskPart[]): string | Json[] {
  const [only] = parts
  if (parts.length === 1 && only !== undefined && 'text' in only && only.mark === undefined)
    return only.text
  return parts.map((part): Json => {
    if ('text' in part)
      return {
        type: 'text',
        text: part.text,
        ...(part.mark ? { cache_control: { type: 'ephemeral' } } : {}),
      }
    if ('image' in part) {
      const { mediaType, data } = part.image
      const url = data.startsWith('https:') ? data : `data:${mediaType};base64,${data}`
      return { type: 'image_url', image_url: { url } }
    }
    if ('pdf' in part)
      return {
        type: 'file',
        file: { filename: part.name, file_data: `data:application/pdf;base64,${part.pdf}` },
      }
    return { type: 'input_audio', input_audio: { data: part.audio, format: 'wav' } }
  })
}

function readTokens(value: unknown): Tokens | null {
  const usage = asObject(value)
  if (typeof usage.prompt_tokens !== 'number') return null
  const prompt = asObject(usage.prompt_tokens_details)
  const completion = asObject(usage.completion_tokens_details)
  return {
    prompt: usage.prompt_tokens,
    completion: Number(usage.completion_tokens),
    cached: Number(prompt.cached_tokens ?? 0),
    written: Number(
      prompt.cache_write_tokens ??
        prompt.cache_creation_tokens ??
        usage.cache_creation_input_tokens ??
        0,
    ),
    reasoning: Number(completion.reasoning_tokens ?? 0),
  }
}

function readWhole(reply: Json): Reading {
  const choice = asObject(asList(reply.choices)[0])
  const message = asObject(choice.message)
  return {
    ...EMPTY,
    text: typeof message.content === 'string' ? message.content : '',
    thought: String(message.reasoning_content ?? message.reasoning ?? ''),
    calls: asList(message.tool_calls).map((call) => ({
      id: String(call.id),
      name: String(asObject(call.function).name),
      args: parseArguments(asObject(call.function).arguments),
    })),
    finish: typeof choice.finish_reason === 'string' ? choice.finish_reason : null,
    tokens: readTokens(reply.usage),
    isWhole: reply.object === 'chat.completion' && typeof choice.finish_reason === 'string',
    faults: typeof reply.id === 'string' && reply.id !== '' ? [] : ['no id'],
    kept: message,
  }
}

/** Joins the chunks as OpenAI's SDKs do. */
function readStream(events: SseEvent[]): Reading {
  const reading: Reading = { ...EMPTY, calls: [], faults: [], kept: null }
  const message: Json = { role: 'assistant', content: null }
  const calls = new Map<number, Json>()
  const details: unknown[] = []
  let isDone = false
  let hasRole = false
  for (const { data } of events) {
    if (data === '[DONE]') {
      isDone = true
      continue
    }
    const chunk = parsed(data)
    if (chunk.error !== undefined) {
      reading.error = readError(chunk)
      continue
    }
    if (chunk.object !== 'chat.completion.chunk')
      reading.faults.push(`a chunk is ${String(chunk.object)}`)
    reading.tokens = readTokens(chunk.usage) ?? reading.tokens
    const choice = asList(chunk.choices)[0]
    if (choice === undefined) continue
    const delta = asObject(choice.delta)
    hasRole ||= delta.role === 'assistant'
    if (typeof delta.content === 'string') reading.text += delta.content
    reading.thought += String(delta.reasoning_content ?? delta.reasoning ?? '')
    if (Array.isArray(delta.reasoning_details)) details.push(...delta.reasoning_details)
    for (const call of asList(delta.tool_calls)) joinCall(calls, call)
    if (typeof choice.finish_reason === 'string') reading.finish = choice.finish_reason
  }
  if (!hasRole && reading.error === undefined) reading.faults.push('no chunk says the role')
  message.content = reading.text === '' ? null : reading.text
  if (calls.size > 0) message.tool_calls = [...calls.values()]
  if (reading.thought !== '') message.reasoning_content = reading.thought
  if (details.length > 0) message.reasoning_details = details
  reading.calls = [...calls.values()].map((call) => ({
    id: String(call.id),
    name: String(asObject(call.function).name),
    args:
      reading.error === undefined && reading.finish !== null
        ? parseArguments(asObject(call.function).arguments)
        : {},
  }))
  reading.callTexts = [...calls.values()].map((call) => String(asObject(call.function).arguments))
  reading.isWhole = isDone && reading.error === undefined
  reading.kept = message
  return reading
}

function joinCall(calls: Map<number, Json>, delta: Json): void {
  const index = Number(delta.index)
  const { name, arguments: args } = asObject(delta.function)
  const known = calls.get(index)
  if (known === undefined) {
    const { index: _, ...call } = delta
    calls.set(index, { ...call, type: 'function', function: { name, arguments: args ?? '' } })
    return
  }
  const own = asObject(known.function)
  own.arguments = `${own.arguments ?? ''}${args ?? ''}`
  if (delta.extra_content !== undefined) known.extra_content = delta.extra_content
}

function readError(reply: Json) {
  const error = asObject(reply.error)
  if (typeof error.message !== 'string') return null
  const textOr = (value: unknown) => (value === null || value === undefined ? null : String(value))
  return { message: error.message, code: textOr(error.code), type: textOr(error.type) }
}
