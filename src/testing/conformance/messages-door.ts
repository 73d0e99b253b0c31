// Anthropic's messages, as a client uses them.
import { type Door, EMPTY, parsed, type Reading, type SseEvent } from './door.ts'
import {
  type Ask,
  type AskPart,
  type AskTurn,
  asList,
  asObject,
  type Json,
  type Tokens,
} from './words.ts'

export const messagesDoor: Door = {
  name: 'messages',
  path: '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  body,
  readWhole,
  readStream,
  errorOf: readError,
}

const LIMIT = 32_000

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
  const output = {
    ...(effort === undefined ? {} : { effort }),
    ...(schema === undefined ? {} : { format: { type: 'json_schema', schema } }),
  }
  const once = parallel === false ? { disable_parallel_tool_use: true } : {}
  const chosen =
    choice === undefined
      ? parallel === undefined
        ? {}
        : { tool_choice: { type: 'auto', ...once } }
      : {
          tool_choice:
            typeof choice === 'string'
              ? { type: choice === 'required' ? 'any' : choice, ...(choice === 'none' ? {} : once) }
              : { type: 'tool', ...choice, ...once },
        }
  return {
    model,
    max_tokens: limit ?? LIMIT,
    ...(system === undefined ? {} : { system: toContent(system) }),
    messages: toMessages(turns),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, schema: own, strict }) => ({
            name,
            ...(description === undefined ? {} : { description }),
            input_schema: own ?? { type: 'object' },
            ...(strict === undefined ? {} : { strict }),
          })),
        }),
    ...chosen,
    ...(effort === undefined ? {} : { thinking: { type: 'adaptive', display: 'summarized' } }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(stop === undefined ? {} : { stop_sequences: stop }),
    ...(stream ? { stream: true } : {}),
    ...more,
  }
}

/** Tool results share one message with each other and with the user's next text. */
function toMessages(turns: AskTurn[]): Json[] {
  const messages: Json[] = []
  for (const turn of turns) {
    const message = toMessage(turn)
    const last = messages.at(-1)
    const isAfterResult =
      Array.isArray(last?.content) && asList(last.content)[0]?.type === 'tool_result'
    if (last === undefined || !isAfterResult || message.role !== 'user') messages.push(message)
    else last.content = [...asList(last.content), ...listBlocks(message.content)]
  }
  return messages
}

const listBlocks = (content: unknown): Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content)

function toMessage(turn: AskTurn): Json {
  if ('kept' in turn) return { role: 'assistant', content: turn.kept }
  if ('user' in turn) return { role: 'user', content: toContent(turn.user) }
  if ('developer' in turn) return { role: 'system', content: turn.developer }
  if ('result' in turn) {
    const isText = turn.parts.every((part) => typeof part === 'string')
    const parts = turn.parts.map((part) =>
      typeof part === 'string'
        ? { type: 'text', text: part }
        : {
            type: 'image',
            source: { type: 'base64', media_type: part.mediaType, data: part.data },
          },
    )
    const content = isText ? turn.parts.join('') : parts
    const flag = turn.isError === undefined ? {} : { is_error: turn.isError }
    return {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: turn.result, content, ...flag }],
    }
  }
  const text = turn.assistant === '' ? [] : [{ type: 'text', text: turn.assistant }]
  const calls = (turn.calls ?? []).map(({ id, name, args }) => ({
    type: 'tool_use',
    id,
    name,
    input: args,
  }))
  return { role: 'assistant', content: calls.length === 0 ? turn.assistant : [...text, ...calls] }
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
      const source = data.startsWith('https:')
        ? { type: 'url', url: data }
        : { type: 'base64', media_type: mediaType, data }
      return { type: 'image', source }
    }
    if ('pdf' in part)
      return {
        type: 'document',
        title: part.name,
        source: { type: 'base64', media_type: 'application/pdf', data: part.pdf },
      }
    return { type: 'audio', source: { type: 'base64', media_type: 'audio/wav', data: part.audio } }
  })
}

function readTokens(value: unknown): Tokens | null {
  const usage = asObject(value)
  if (typeof usage.input_tokens !== 'number') return null
  const cached = Number(usage.cache_read_input_tokens ?? 0)
  const written = Number(usage.cache_creation_input_tokens ?? 0)
  return {
    prompt: usage.input_tokens + cached + written,
    completion: Number(usage.output_tokens),
    cached,
    written,
    reasoning: Number(asObject(usage.output_tokens_details).thinking_tokens ?? 0),
  }
}

const FINISH: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

function readWhole(reply: Json): Reading {
  const blocks = asList(reply.content)
  const reason = String(reply.stop_reason)
  return {
    ...EMPTY,
    text: blocks.map((block) => (block.type === 'text' ? String(block.text) : '')).join(''),
    thought: blocks
      .flatMap((block) => (block.type === 'thinking' ? [String(block.thinking)] : []))
      .join('\n\n'),
    calls: blocks.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ id: String(block.id), name: String(block.name), args: asObject(block.input) }]
        : [],
    ),
    finish: FINISH[reason] ?? null,
    tokens: readTokens(reply.usage),
    isWhole: reply.type === 'message' && reply.role === 'assistant' && reason in FINISH,
    faults: typeof reply.id === 'string' && reply.id !== '' ? [] : ['no id'],
    kept: blocks,
  }
}

/** Builds the message as Anthropic's SDKs do. */
function readStream(events: SseEvent[]): Reading {
  const faults: string[] = []
  let message: Json = {}
  let error: Reading['error']
  let isOver = false
  const inputs = new Map<number, string>()
  const open = new Set<number>()
  for (const { name, data } of events) {
    if (data === '[DONE]') {
      faults.push('a [DONE], which this API does not know')
      continue
    }
    const event = parsed(data)
    if (name !== event.type) faults.push(`event: ${name} holds a ${String(event.type)}`)
    const index = Number(event.index)
    const blocks = message.content as Json[]
    switch (event.type) {
      case 'message_start':
        message = structuredClone(asObject(event.message))
        break
      case 'content_block_start':
        if (blocks.length !== index) faults.push(`block ${index} begins after ${blocks.length}`)
        if (open.size > 0) faults.push('a block begins within another')
        blocks.push(structuredClone(asObject(event.content_block)))
        open.add(index)
        break
      case 'content_block_delta': {
        const delta = asObject(event.delta)
        const block = blocks[index]
        if (block === undefined || !open.has(index))
          faults.push(`a delta of a block that is not open`)
        else if (delta.type === 'text_delta') block.text = `${block.text}${delta.text}`
        else if (delta.type === 'thinking_delta')
          block.thinking = `${block.thinking}${delta.thinking}`
        else if (delta.type === 'signature_delta') block.signature = delta.signature
        else if (delta.type === 'input_json_delta')
          inputs.set(index, `${inputs.get(index) ?? ''}${delta.partial_json}`)
        break
      }
      case 'content_block_stop': {
        open.delete(index)
        const block = blocks[index]
        if (block?.type === 'tool_use') block.input = JSON.parse(inputs.get(index) || '{}')
        break
      }
      case 'message_delta':
        Object.assign(message, event.delta)
        message.usage = { ...asObject(message.usage), ...withoutNulls(asObject(event.usage)) }
        break
      case 'message_stop':
        isOver = true
        break
      case 'error':
        error = readError(event)
        break
    }
  }
  if (events.length > 0 && parsed(events[0]?.data ?? '').type !== 'message_start')
    faults.push('the first event is not message_start')
  if (open.size > 0 && error === undefined) faults.push('a block does not end')
  const reading = readWhole(message)
  return {
    ...reading,
    callTexts: [...inputs.values()],
    isWhole: reading.isWhole && isOver && error === undefined,
    faults: [...faults, ...reading.faults],
    ...(error === undefined ? {} : { error }),
  }
}

function withoutNulls(from: Json): Json {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== null))
}

function readError(reply: Json) {
  const error = asObject(reply.error)
  if (typeof error.message !== 'string') return null
  return {
    message: error.message,
    code: null,
    type: typeof error.type === 'string' ? error.type : null,
  }
}
