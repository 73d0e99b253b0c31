// OpenAI's /chat/completions, as strict as the real one. Rejects unknown members, unsupported
// parameters, and tool results without a call.
// https://platform.openai.com/docs/api-reference/chat
import {
  asText,
  checkStrictSchema,
  eventLine,
  known,
  type StrictDialect,
  toolName,
} from './strict.ts'
import {
  asList,
  asObject,
  type Json,
  type ReceivedPart,
  type ReceivedRequest,
  Refused,
  type VendorAnswer,
} from './words.ts'

const MEMBERS = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'n',
  'stop',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'user',
  'seed',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'modalities',
  'audio',
  'prediction',
  'store',
  'metadata',
  'service_tier',
  'web_search_options',
  'functions',
  'function_call',
  'verbosity',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
] as const
const MESSAGE_MEMBERS = [
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'refusal',
  'audio',
  'annotations',
  'function_call',
]
const PART_MEMBERS: Record<string, string[]> = {
  text: ['type', 'text', 'prompt_cache_breakpoint'],
  refusal: ['type', 'refusal'],
  image_url: ['type', 'image_url'],
  input_audio: ['type', 'input_audio'],
  file: ['type', 'file'],
}

/** Models since o1 reason; since GPT-5.1 unless the request turns it off. */
export const thinks = (model: string): boolean => /^(o\d|gpt-[5-9])/.test(model)

export const openAiChat: StrictDialect = {
  hear,
  whole,
  events,
  problem,
  endMark: 'data: [DONE]\n\n',
}

function hear({
  body,
  headers,
  path,
}: {
  body: Json
  headers: ReceivedRequest['headers']
  path: string
}): ReceivedRequest {
  if (!/^Bearer \S+/.test(String(headers.authorization ?? '')))
    throw new Refused("You didn't provide an API key.", { status: 401, code: 'invalid_api_key' })
  for (const name of Object.keys(body)) {
    if (!MEMBERS.some((one) => one === name))
      throw new Refused(`Unrecognized request argument supplied: ${name}`)
  }
  const model = String(body.model)
  const effort = typeof body.reasoning_effort === 'string' ? body.reasoning_effort : null
  const tools = asList(body.tools)
  if (body.stream_options !== undefined && body.stream !== true)
    throw new Refused("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
  if (tools.length === 0) {
    for (const name of ['tool_choice', 'parallel_tool_calls'])
      if (body[name] !== undefined)
        throw new Refused(`'${name}' is only allowed when 'tools' are specified.`)
  }
  if (thinks(model)) {
    const unsupported = (name: string, advice = 'Only the default value is supported.') =>
      new Refused(`Unsupported parameter: '${name}' is not supported with this model. ${advice}`, {
        code: 'unsupported_parameter',
        param: name,
      })
    if (body.max_tokens !== undefined)
      throw unsupported('max_tokens', "Use 'max_completion_tokens' instead.")
    for (const name of ['stop', 'logit_bias']) if (body[name] !== undefined) throw unsupported(name)
    if (effort !== 'none') {
      for (const name of [
        'temperature',
        'top_p',
        'presence_penalty',
        'frequency_penalty',
        'logprobs',
        'top_logprobs',
      ])
        if (body[name] !== undefined && body[name] !== 1) throw unsupported(name)
      if (tools.length > 0)
        throw new Refused(
          `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. Please use /v1/responses, or set reasoning_effort to 'none'.`,
          { param: 'reasoning_effort' },
        )
    }
  } else if (effort !== null) {
    throw new Refused('Unrecognized request argument supplied: reasoning_effort')
  }
  const messages = asList(body.messages)
  if (messages.length === 0)
    throw new Refused("Invalid 'messages': empty array.", { code: 'empty_array' })
  const turns = messages.map(readTurn)
  requireAnswered(messages)
  const format = asObject(body.response_format)
  if (format.type === 'json_schema') {
    const schema = asObject(format.json_schema)
    if (typeof schema.name !== 'string')
      throw new Refused("Missing required parameter: 'response_format.json_schema.name'.")
    if (schema.strict === true) checkStrictSchema(asObject(schema.schema), 'response_format')
  }
  const choice = body.tool_choice
  return {
    address: path,
    headers,
    body,
    system: turns.flatMap(({ isSystem, text }) => (isSystem ? [text] : [])).join('\n\n'),
    turns: turns.flatMap(({ isSystem, role, parts }) => (isSystem ? [] : [{ role, parts }])),
    tools: tools.map((tool, index) => {
      if (tool.type === 'custom')
        return { name: String(asObject(tool.custom).name), schema: {}, strict: false }
      known(tool, ['type', 'function'], `tools[${index}]`)
      const own = asObject(tool.function)
      known(own, ['name', 'description', 'parameters', 'strict'], `tools[${index}].function`)
      if (own.strict === true) checkStrictSchema(asObject(own.parameters), `function '${own.name}'`)
      return {
        name: toolName(own.name),
        schema: asObject(own.parameters),
        strict: own.strict === true,
      }
    }),
    choice:
      typeof choice === 'string'
        ? choice
        : (asText(asObject(asObject(choice).function).name) ?? null),
    parallel: body.parallel_tool_calls !== false,
    schema: format.type === 'json_schema' ? asObject(asObject(format.json_schema).schema) : null,
    effort,
    limit: Number(body.max_completion_tokens ?? body.max_tokens ?? Number.NaN) || null,
    temperature: typeof body.temperature === 'number' ? body.temperature : null,
    stop: [body.stop ?? []].flat() as string[],
    isStream: body.stream === true,
    marks: 0,
  }
}

function readTurn(message: Json, index: number) {
  known(message, MESSAGE_MEMBERS, `messages[${index}]`)
  const { role, content } = message
  if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(String(role)))
    throw new Refused(
      `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
    )
  const parts: ReceivedPart[] = []
  if (typeof content === 'string') parts.push({ kind: 'text', text: content })
  else if (Array.isArray(content))
    parts.push(
      ...asList(content).map((part, at) =>
        readPart(part, role, `messages[${index}].content[${at}]`),
      ),
    )
  else if (role !== 'assistant' || message.tool_calls === undefined)
    throw new Refused(`Invalid value for 'content': expected a string, got null.`, {
      param: `messages.[${index}].content`,
    })
  for (const call of asList(message.tool_calls)) {
    known(call, ['id', 'type', 'function', 'custom'], `messages[${index}].tool_calls`)
    const own = asObject(call.function)
    if (String(call.id).length > 64)
      throw new Refused(`Invalid 'messages[${index}].tool_calls[0].id': string too long.`)
    parts.push({
      kind: 'call',
      id: String(call.id),
      name: toolName(own.name),
      args: JSON.parse(String(own.arguments)),
    })
  }
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  if (role === 'tool')
    return {
      isSystem: false,
      role: 'tool' as const,
      text,
      parts: [{ kind: 'result' as const, id: String(message.tool_call_id), text, media: [] }],
    }
  const own: 'assistant' | 'user' = role === 'assistant' ? 'assistant' : 'user'
  return { isSystem: role === 'system' || role === 'developer', role: own, text, parts }
}

function readPart(part: Json, role: unknown, at: string): ReceivedPart {
  const members = PART_MEMBERS[String(part.type)]
  if (members === undefined) throw new Refused(`Invalid value: '${part.type}'.`, { param: at })
  known(part, members, at)
  if (part.type === 'text') return { kind: 'text', text: String(part.text) }
  if (part.type === 'refusal') return { kind: 'text', text: String(part.refusal) }
  // Tool results contain only text here.
  if (role !== 'user')
    throw new Refused(
      `Invalid '${at}': image URLs and files are only allowed for messages with role 'user'.`,
      { code: 'invalid_value' },
    )
  if (part.type === 'image_url') return readMedia(String(asObject(part.image_url).url), 'image/*')
  if (part.type === 'file')
    return readMedia(String(asObject(part.file).file_data), 'application/pdf')
  const audio = asObject(part.input_audio)
  return { kind: 'media', mediaType: `audio/${audio.format}`, data: String(audio.data) }
}

export function readMedia(url: string, otherwise: string): ReceivedPart {
  const match = /^data:([^;]+);base64,(.*)$/s.exec(url)
  if (match === null && !url.startsWith('https://'))
    throw new Refused(
      `Invalid file data: '${url.slice(0, 20)}'. Expected a data URL or an address.`,
      { code: 'invalid_value' },
    )
  return { kind: 'media', mediaType: match?.[1] ?? otherwise, data: match?.[2] ?? url }
}

function requireAnswered(messages: Json[]): void {
  for (const [index, message] of messages.entries()) {
    const ids = asList(message.tool_calls).map(({ id }) => id)
    const answers: unknown[] = []
    for (let at = index + 1; messages[at]?.role === 'tool'; at++)
      answers.push(messages[at]?.tool_call_id)
    if (ids.some((id) => !answers.includes(id)))
      throw new Refused(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.`,
      )
    if (message.role !== 'tool') continue
    let callIndex = index - 1
    while (messages[callIndex]?.role === 'tool') callIndex--
    if (!asList(messages[callIndex]?.tool_calls).some(({ id }) => id === message.tool_call_id))
      throw new Refused(
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        { param: `messages.[${index}].role` },
      )
  }
}

const FINISH = { length: 'length', filtered: 'content_filter' } as const
const head = (model: string, object: string) => ({
  id: 'chatcmpl-strict',
  object,
  created: 1_795_000_000,
  model,
  service_tier: 'default',
})

function toFinish({ finish, calls = [] }: VendorAnswer): string {
  if (finish !== undefined) return FINISH[finish]
  return calls.length > 0 ? 'tool_calls' : 'stop'
}

function toToolCalls({ calls = [] }: VendorAnswer) {
  return calls.map(({ name, args }, index) => ({
    id: `call_${index + 1}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
}

function toUsage({ tokens = { prompt: 10, completion: 5 } }: VendorAnswer) {
  const { prompt, completion, cached = 0, written = 0, reasoning = 0 } = tokens
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  }
}

function whole(said: VendorAnswer, { body }: ReceivedRequest): Json {
  const calls = toToolCalls(said)
  const message = {
    role: 'assistant',
    content: calls.length > 0 && said.text === undefined ? null : (said.text ?? ''),
    refusal: null,
    annotations: [],
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
  return {
    ...head(String(body.model), 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: toFinish(said) }],
    usage: toUsage(said),
  }
}

function events(said: VendorAnswer, { body }: ReceivedRequest) {
  const withUsage = asObject(body.stream_options).include_usage === true
  const chunk = (delta: Json, finish: string | null = null) =>
    eventLine({
      ...head(String(body.model), 'chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(withUsage ? { usage: null } : {}),
    })
  const words = (said.text?.match(/\S+\s*/g) ?? []).map((content) => chunk({ content }))
  const calls = toToolCalls(said).flatMap(
    ({ function: { name, arguments: args }, ...call }, index) => [
      chunk({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }),
      ...(args.match(/.{1,7}/gsu) ?? []).map((part) =>
        chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
      ),
    ],
  )
  const usage = {
    ...head(String(body.model), 'chat.completion.chunk'),
    choices: [],
    usage: toUsage(said),
  }
  return {
    start: [chunk({ role: 'assistant', content: '', refusal: null })],
    middle: [...words, ...calls],
    end: [chunk({}, toFinish(said)), ...(withUsage ? [eventLine(usage)] : []), eventLine('[DONE]')],
    error: eventLine({
      error: {
        message: 'The server had an error while processing your request',
        type: 'server_error',
        code: null,
        param: null,
      },
    }),
  }
}

function problem({ message, status, code, param }: Refused) {
  const type =
    status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  return { error: { message, type, code, param } }
}
