// OpenAI's chat completions as a client speaks them.
import { argumentsOf, type Door, EMPTY, parsed, type Reading, type SseEvent } from './door.ts'
import {
  type Ask,
  type AskPart,
  type AskTurn,
  type Json,
  listOf,
  objectOf,
  type Tokens,
} from './words.ts'

export const chatDoor: Door = {
  name: 'chat completions',
  path: '/v1/chat/completions',
  headers: {},
  body,
  readWhole,
  readStream,
  errorOf,
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
      ...(system === undefined ? [] : [{ role: 'system', content: contentOf(system) }]),
      ...turns.map(messageOf),
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

function messageOf(turn: AskTurn): Json {
  if ('kept' in turn) return objectOf(turn.kept)
  if ('user' in turn) return { role: 'user', content: contentOf(turn.user) }
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

function contentOf(parts: AskPart[]): string | Json[] {
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

function tokensOf(value: unknown): Tokens | null {
  const usage = objectOf(value)
  if (typeof usage.prompt_tokens !== 'number') return null
  const prompt = objectOf(usage.prompt_tokens_details)
  const completion = objectOf(usage.completion_tokens_details)
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
  const choice = objectOf(listOf(reply.choices)[0])
  const message = objectOf(choice.message)
  return {
    ...EMPTY,
    text: typeof message.content === 'string' ? message.content : '',
    thought: String(message.reasoning_content ?? message.reasoning ?? ''),
    calls: listOf(message.tool_calls).map((call) => ({
      id: String(call.id),
      name: String(objectOf(call.function).name),
      args: argumentsOf(objectOf(call.function).arguments),
    })),
    finish: typeof choice.finish_reason === 'string' ? choice.finish_reason : null,
    tokens: tokensOf(reply.usage),
    isWhole: reply.object === 'chat.completion' && typeof choice.finish_reason === 'string',
    faults: typeof reply.id === 'string' && reply.id !== '' ? [] : ['no id'],
    kept: message,
  }
}

/** Joins the chunks as OpenAI's SDKs do. */
function readStream(events: SseEvent[]): Reading {
  const told: Reading = { ...EMPTY, calls: [], faults: [], kept: null }
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
      told.error = errorOf(chunk)
      continue
    }
    if (chunk.object !== 'chat.completion.chunk')
      told.faults.push(`a chunk is ${String(chunk.object)}`)
    told.tokens = tokensOf(chunk.usage) ?? told.tokens
    const choice = listOf(chunk.choices)[0]
    if (choice === undefined) continue
    const delta = objectOf(choice.delta)
    hasRole ||= delta.role === 'assistant'
    if (typeof delta.content === 'string') told.text += delta.content
    told.thought += String(delta.reasoning_content ?? delta.reasoning ?? '')
    if (Array.isArray(delta.reasoning_details)) details.push(...delta.reasoning_details)
    for (const call of listOf(delta.tool_calls)) joinCall(calls, call)
    if (typeof choice.finish_reason === 'string') told.finish = choice.finish_reason
  }
  if (!hasRole && told.error === undefined) told.faults.push('no chunk says the role')
  message.content = told.text === '' ? null : told.text
  if (calls.size > 0) message.tool_calls = [...calls.values()]
  if (told.thought !== '') message.reasoning_content = told.thought
  if (details.length > 0) message.reasoning_details = details
  told.calls = [...calls.values()].map((call) => ({
    id: String(call.id),
    name: String(objectOf(call.function).name),
    args:
      told.error === undefined && told.finish !== null
        ? argumentsOf(objectOf(call.function).arguments)
        : {},
  }))
  told.callTexts = [...calls.values()].map((call) => String(objectOf(call.function).arguments))
  told.isWhole = isDone && told.error === undefined
  told.kept = message
  return told
}

function joinCall(calls: Map<number, Json>, delta: Json): void {
  const index = Number(delta.index)
  const { name, arguments: args } = objectOf(delta.function)
  const known = calls.get(index)
  if (known === undefined) {
    const { index: _, ...call } = delta
    calls.set(index, { ...call, type: 'function', function: { name, arguments: args ?? '' } })
    return
  }
  const own = objectOf(known.function)
  own.arguments = `${own.arguments ?? ''}${args ?? ''}`
  if (delta.extra_content !== undefined) known.extra_content = delta.extra_content
}

function errorOf(reply: Json) {
  const error = objectOf(reply.error)
  if (typeof error.message !== 'string') return null
  const textOr = (value: unknown) => (value === null || value === undefined ? null : String(value))
  return { message: error.message, code: textOr(error.code), type: textOr(error.type) }
}
