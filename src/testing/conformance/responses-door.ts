// OpenAI's Responses, as a client uses them.
import { type Door, EMPTY, parseArguments, parsed, type Reading, type SseEvent } from './door.ts'
import {
  type Ask,
  type AskPart,
  type AskTurn,
  asList,
  asObject,
  type Call,
  type Json,
  type Tokens,
} from './words.ts'

export const responsesDoor: Door = {
  name: 'responses',
  path: '/v1/responses',
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
  stream,
  more,
}: Ask): Json {
  return {
    model,
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(system === undefined ? {} : instructions(system)),
    input: [
      ...(system === undefined || !isMarked(system)
        ? []
        : [{ role: 'system', content: toContent(system) }]),
      ...turns.flatMap(toItems),
    ],
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, schema: parameters, strict }) => ({
            type: 'function',
            name,
            ...(description === undefined ? {} : { description }),
            parameters: parameters ?? null,
            strict: strict ?? false,
          })),
        }),
    ...(choice === undefined
      ? {}
      : { tool_choice: typeof choice === 'string' ? choice : { type: 'function', ...choice } }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
    ...(schema === undefined
      ? {}
      : { text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } } }),
    ...(effort === undefined ? {} : { reasoning: { effort, summary: 'auto' } }),
    ...(limit == null ? {} : { max_output_tokens: limit }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(stream ? { stream: true } : {}),
    ...more,
  }
}

const isMarked = (parts: AskPart[]) => parts.some((part) => 'mark' in part && part.mark)

function instructions(system: AskPart[]): Json {
  return isMarked(system)
    ? {}
    : { instructions: system.map((part) => ('text' in part ? part.text : '')).join('\n\n') }
}

function toItems(turn: AskTurn): Json[] {
  if ('kept' in turn) return asList(turn.kept)
  if ('user' in turn) return [{ role: 'user', content: toContent(turn.user) }]
  if ('developer' in turn) return [{ role: 'developer', content: turn.developer }]
  if ('result' in turn) {
    const isText = turn.parts.every((part) => typeof part === 'string')
    const parts = turn.parts.map((part) =>
      typeof part === 'string'
        ? { type: 'input_text', text: part }
        : {
            type: 'input_image',
            image_url: `data:${part.mediaType};base64,${part.data}`,
            detail: 'auto',
          },
    )
    return [
      {
        type: 'function_call_output',
        call_id: turn.result,
        output: isText ? turn.parts.join('') : parts,
      },
    ]
  }
  return [
    ...(turn.assistant === '' && turn.calls !== undefined
      ? []
      : [{ role: 'assistant', content: turn.assistant }]),
    ...(turn.calls ?? []).map(({ id, name, args }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    })),
  ]
}

function toContent(parts: AskPart[]): string | Json[] {
  const [only] = parts
  if (parts.length === 1 && only !== undefined && 'text' in only && only.mark === undefined)
    return only.text
  return parts.map((part): Json => {
    if ('text' in part)
      return {
        type: 'input_text',
        text: part.text,
        ...(part.mark ? { prompt_cache_breakpoint: { mode: 'explicit' } } : {}),
      }
    if ('image' in part) {
      const { mediaType, data } = part.image
      return {
        type: 'input_image',
        image_url: data.startsWith('https:') ? data : `data:${mediaType};base64,${data}`,
        detail: 'auto',
      }
    }
    if ('pdf' in part)
      return {
        type: 'input_file',
        filename: part.name,
        file_data: `data:application/pdf;base64,${part.pdf}`,
      }
    return { type: 'input_audio', input_audio: { data: part.audio, format: 'wav' } }
  })
}

function readTokens(value: unknown): Tokens | null {
  const usage = asObject(value)
  if (typeof usage.input_tokens !== 'number') return null
  const input = asObject(usage.input_tokens_details)
  return {
    prompt: usage.input_tokens,
    completion: Number(usage.output_tokens),
    cached: Number(input.cached_tokens ?? 0),
    written: Number(input.cache_write_tokens ?? 0),
    reasoning: Number(asObject(usage.output_tokens_details).reasoning_tokens ?? 0),
  }
}

function readWhole(reply: Json): Reading {
  const output = asList(reply.output)
  const calls: Call[] = output.flatMap((item) =>
    item.type === 'function_call'
      ? [
          {
            id: String(item.call_id),
            name: String(item.name),
            args: parseArguments(item.arguments),
          },
        ]
      : [],
  )
  const parts = output.flatMap((item) => (item.type === 'message' ? asList(item.content) : []))
  const summaries = output.flatMap((item) =>
    item.type === 'reasoning' ? [...asList(item.summary), ...asList(item.content)] : [],
  )
  const { status } = reply
  const reason = asObject(reply.incomplete_details).reason
  return {
    ...EMPTY,
    text: parts.map((part) => (part.type === 'output_text' ? String(part.text) : '')).join(''),
    thought: summaries.map(({ text }) => String(text)).join('\n\n'),
    calls,
    finish: readFinish(
      status,
      reason,
      calls.length > 0 || parts.some(({ type }) => type === 'refusal'),
    ),
    tokens: readTokens(reply.usage),
    isWhole: reply.object === 'response' && (status === 'completed' || status === 'incomplete'),
    faults: [
      ...(typeof reply.id === 'string' && reply.id !== '' ? [] : ['no id']),
      ...(output.every(({ id }) => typeof id === 'string') ? [] : ['an item has no id']),
    ],
    kept: output,
    ...(status === 'failed' ? { error: readError(reply) } : {}),
  }

  function readFinish(state: unknown, why: unknown, hasMore: boolean): string | null {
    if (state === 'incomplete') return why === 'max_output_tokens' ? 'length' : 'content_filter'
    if (state !== 'completed') return null
    if (parts.some(({ type }) => type === 'refusal')) return 'content_filter'
    return hasMore ? 'tool_calls' : 'stop'
  }
}

/** Reads the events as OpenAI's SDKs do: the deltas must add up to the final object. */
function readStream(events: SseEvent[]): Reading {
  const reading: Reading = { ...EMPTY, calls: [], faults: [], kept: null }
  const args = new Map<unknown, string>()
  /**
   * Builds items by index, and their parts, as OpenAI's SDKs do: deltas of items that were not
   * begun make them fail.
   */
  const added = new Map<unknown, unknown>()
  const parts = new Set<string>()
  const done = new Set<unknown>()
  let text = ''
  let thought = ''
  let number = -1
  let end: Reading | null = null
  for (const { name, data } of events) {
    // Not part of this API, but its SDKs stop at it as well.
    if (data === '[DONE]') continue
    const event = parsed(data)
    const type = String(event.type)
    if (name !== null && name !== type) reading.faults.push(`event: ${name} holds a ${type}`)
    if (typeof event.sequence_number === 'number') {
      if (event.sequence_number <= number) reading.faults.push('the sequence numbers do not rise')
      number = event.sequence_number
    }
    const place = event.output_index
    if (type === 'response.output_item.added') added.set(place, asObject(event.item).id)
    if (type === 'response.content_part.added') parts.add(`${place} ${event.content_index}`)
    if (type === 'response.output_item.done') done.add(place)
    if (/\.delta$/.test(type) && added.get(place) !== event.item_id)
      reading.faults.push(`${type} of an item that was not added`)
    if (type === 'response.output_text.delta') {
      text += event.delta
      if (!parts.has(`${place} ${event.content_index}`))
        reading.faults.push('words of a part that was not added')
    }
    if (/^response\.reasoning_(summary_)?text\.delta$/.test(type)) thought += event.delta
    if (type === 'response.function_call_arguments.delta')
      args.set(place, `${args.get(place) ?? ''}${event.delta}`)
    if (type === 'error' || type === 'response.failed')
      reading.error = readError(type === 'error' ? { error: event } : asObject(event.response))
    if (type === 'response.completed' || type === 'response.incomplete') {
      end = readWhole(asObject(event.response))
      for (const [index, item] of asList(asObject(event.response).output).entries()) {
        if (!done.has(index)) reading.faults.push(`item ${index} is not told to be done`)
        if (item.type === 'function_call' && args.get(index) !== item.arguments)
          reading.faults.push('arguments differ from their pieces')
      }
    }
  }
  if (events.length > 0 && parsed(events[0]?.data ?? '').type !== 'response.created')
    reading.faults.push('the first event is not response.created')
  if (end === null) return { ...reading, text, thought }
  if (end.text !== text) reading.faults.push('the text differs from its pieces')
  return {
    ...end,
    callTexts: [...args.values()],
    faults: [...reading.faults, ...end.faults],
    ...(reading.error === undefined ? {} : { error: reading.error, isWhole: false }),
  }
}

function readError(reply: Json) {
  const error = asObject(reply.error)
  if (typeof error.message !== 'string') return null
  const textOr = (value: unknown) => (value === null || value === undefined ? null : String(value))
  return { message: error.message, code: textOr(error.code), type: textOr(error.type) }
}
