// Anthropic's /v1/messages and /count_tokens, as strict as the real ones. Rejects extra inputs,
// empty texts, wrong ids and pairs of tool calls, parameters that models since Claude 5 reject,
// unsupported JSON schemas, and wrong signatures.
// https://platform.claude.com/docs/en/api/messages
import { asText, eventLine, type StrictDialect, walk } from './strict.ts'
import {
  asList,
  asObject,
  isSeal,
  type Json,
  type Media,
  type ReceivedPart,
  type ReceivedRequest,
  Refused,
  sealReasoning,
  type VendorAnswer,
} from './words.ts'

const MEMBERS = [
  'model',
  'messages',
  'system',
  'max_tokens',
  'stop_sequences',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'metadata',
  'service_tier',
  'container',
  'mcp_servers',
  'context_management',
  'output_config',
  'output_format',
  'cache_control',
]
const COUNTED_MEMBERS = [
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
  'context_management',
]
/** Names with a date; the real one knows its own, including retired ones. */
const BETA = /^[a-z0-9-]+-\d{4}-?\d{2}-?\d{2}$/
const BLOCK_MEMBERS: Record<string, string[]> = {
  text: ['text', 'citations'],
  image: ['source'],
  document: ['source', 'title', 'context', 'citations'],
  tool_use: ['id', 'name', 'input', 'caller'],
  tool_result: ['tool_use_id', 'content', 'is_error'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
}
const TOOL_MEMBERS = [
  'name',
  'description',
  'input_schema',
  'type',
  'cache_control',
  'strict',
  'eager_input_streaming',
  'input_examples',
  'defer_loading',
]
const SCHEMA_KEYWORDS = [
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  'allOf',
  '$ref',
  '$defs',
  'definitions',
  'description',
  'title',
  'format',
  'default',
  'minItems',
]
const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']
const MARKS_MAX = 4
const STRICT_TOOLS_MAX = 20

const invalid = (message: string) => new Refused(message)
const isSince5 = (model: string) => /^claude-[a-z]+-([5-9]|\d\d)\b/.test(model)
const refusesForced = (model: string) => /^claude-(fable|opus|sonnet)-5-[5-9]/.test(model)
const outputMax = (model: string) => (isSince5(model) ? 128_000 : 64_000)

export const anthropicMessages: StrictDialect = {
  hear: parseRequest,
  whole,
  events,
  problem,
  endMark: 'message_stop',
}

function parseRequest({
  body,
  headers,
  path,
}: {
  body: Json
  headers: ReceivedRequest['headers']
  path: string
}): ReceivedRequest {
  if (!headers['x-api-key'] && !headers.authorization)
    throw new Refused('x-api-key header is required', { status: 401, code: 'authentication_error' })
  if (!headers['anthropic-version']) throw invalid('anthropic-version: header is required')
  const betas = String(headers['anthropic-beta'] ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
  const foreign = betas.find((beta) => !BETA.test(beta))
  if (foreign)
    throw invalid(`Unexpected value(s) \`${foreign}\` for the \`anthropic-beta\` header.`)
  const isCounting = path.includes('/count_tokens')
  extra(body, isCounting ? COUNTED_MEMBERS : MEMBERS, '')

  const model = String(body.model)
  const limit = body.max_tokens
  if (!isCounting) {
    if (typeof limit !== 'number') throw invalid('max_tokens: Field required')
    if (limit > outputMax(model))
      throw invalid(
        `max_tokens: ${limit} > ${outputMax(model)}, which is the maximum allowed number of output tokens for ${model}`,
      )
  }
  const thinking = asObject(body.thinking)
  extra(thinking, ['type', 'display', 'budget_tokens', 'block_binding'], 'thinking')
  if (
    thinking.block_binding !== undefined &&
    !betas.some((beta) => beta.startsWith('thinking-binding'))
  )
    throw invalid('thinking.block_binding: Extra inputs are not permitted')
  if (isSince5(model)) {
    for (const name of ['temperature', 'top_p', 'top_k'])
      if (body[name] !== undefined) throw invalid(`\`${name}\` is deprecated for this model.`)
    if (thinking.type === 'enabled')
      throw invalid(
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".',
      )
  } else if (
    body.temperature !== undefined &&
    (Number(body.temperature) > 1 || body.top_p !== undefined)
  ) {
    throw invalid('temperature: range: 0..1, and not together with `top_p`')
  }
  if (
    body.context_management !== undefined &&
    !betas.some((beta) => beta.startsWith('context-management'))
  )
    throw invalid('context_management: Extra inputs are not permitted')
  const choice = asObject(body.tool_choice)
  const isForced = choice.type === 'any' || choice.type === 'tool'
  const tools = asList(body.tools).map((tool, index) => readTool(tool, `tools.${index}.custom`))
  if (body.tool_choice !== undefined && tools.length === 0)
    throw invalid('tool_choice: may only be specified while providing tools')
  if (isForced && refusesForced(model))
    throw invalid(`tool_choice: \`${choice.type}\` is not supported for this model.`)
  if (isForced && thinking.type !== undefined && thinking.type !== 'disabled')
    throw invalid('Thinking may not be enabled when tool_choice forces tool use.')
  if (tools.filter(({ strict }) => strict).length > STRICT_TOOLS_MAX)
    throw invalid('tools: too many strict tools')

  // Its older location.
  const before = betas.some((beta) => beta.startsWith('structured-outputs'))
    ? body.output_format
    : undefined
  if (body.output_format !== undefined && before === undefined)
    throw invalid('output_format: Extra inputs are not permitted')
  const output = asObject(body.output_config)
  extra(output, ['effort', 'format', 'task_budget'], 'output_config')
  if (
    output.effort !== undefined &&
    !['low', 'medium', 'high', 'xhigh', 'max'].includes(String(output.effort))
  )
    throw invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
  const format = asObject(output.format ?? before)
  if (format.type === 'json_schema')
    checkSchema(asObject(format.schema), 'output_config.format.schema')

  const messages = asList(body.messages)
  const turns = readTurns(
    messages,
    betas.some((beta) => beta.startsWith('mid-conversation-system')),
    isSince5(model),
  )
  if (
    tools.length === 0 &&
    turns.some(({ parts }) => parts.some(({ kind }) => kind === 'call' || kind === 'result'))
  )
    throw invalid('Requests which include `tool_use` or `tool_result` blocks must define tools.')
  const system =
    typeof body.system === 'string'
      ? [body.system]
      : asList(body.system).map((block, index) => {
          const part = readBlock(block, `system.${index}`)
          if (part.kind !== 'text') throw invalid(`system.${index}.type: Input should be 'text'`)
          return part.text
        })
  if (body.system === '') throw invalid('system: text content blocks must be non-empty')
  const marks = JSON.stringify(body).split('"cache_control":{').length - 1
  if (marks > MARKS_MAX)
    throw invalid(`A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`)
  return {
    address: path,
    headers,
    body,
    system: [
      ...system,
      ...turns.flatMap(({ isSystem, parts }) => (isSystem ? [textOfParts(parts)] : [])),
    ].join('\n\n'),
    turns: turns.flatMap(({ isSystem, role, parts }) => (isSystem ? [] : [{ role, parts }])),
    tools,
    choice:
      asText(choice.name) ??
      asText({ any: 'required', auto: 'auto', none: 'none' }[String(choice.type)]) ??
      null,
    parallel: choice.disable_parallel_tool_use !== true,
    schema: format.type === 'json_schema' ? asObject(format.schema) : null,
    effort: asText(output.effort) ?? null,
    limit: typeof limit === 'number' ? limit : null,
    temperature: typeof body.temperature === 'number' ? body.temperature : null,
    stop: (body.stop_sequences as string[] | undefined) ?? [],
    isStream: body.stream === true,
    marks,
  }
}

function extra(from: Json, members: readonly string[], at: string): void {
  for (const name of Object.keys(from)) {
    if (!members.includes(name))
      throw invalid(`${at === '' ? '' : `${at}.`}${name}: Extra inputs are not permitted`)
  }
}

/** Tools that Anthropic runs. */
const OWN_TOOL = /^(web_search|web_fetch|code_execution|bash|text_editor|computer|memory)_\d{8}$/

function readTool(tool: Json, at: string): ReceivedRequest['tools'][number] {
  if (OWN_TOOL.test(String(tool.type)))
    return { name: String(tool.name), schema: {}, strict: false }
  extra(tool, TOOL_MEMBERS, at)
  if (typeof tool.name !== 'string' || !/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name))
    throw invalid(`${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
  if (tool.description !== undefined && typeof tool.description !== 'string')
    throw invalid(`${at}.description: Input should be a valid string`)
  const schema = asObject(tool.input_schema)
  if (schema.type !== 'object') throw invalid(`${at}.input_schema.type: Field required`)
  if (['anyOf', 'oneOf', 'allOf'].some((name) => name in schema))
    throw invalid(
      `${at}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
    )
  if (tool.strict === true) checkSchema(schema, `${at}.input_schema`)
  return { name: tool.name, schema, strict: tool.strict === true }
}

function checkSchema(schema: Json, at: string): void {
  walk(schema, (one) => {
    for (const key of Object.keys(one))
      if (!SCHEMA_KEYWORDS.includes(key))
        throw invalid(`${at}: For '${one.type ?? 'any'}' type, property '${key}' is not supported`)
    if (one.type === 'object' && one.additionalProperties !== false)
      throw invalid(
        `${at}: For 'object' type, 'additionalProperties' must be explicitly set to false`,
      )
    if (one.minItems !== undefined && Number(one.minItems) > 1)
      throw invalid(`${at}: 'minItems' values other than 0 or 1 are not supported`)
  })
}

type Turn = ReceivedRequest['turns'][number] & { isSystem: boolean }

function readTurns(messages: Json[], mayInstruct: boolean, refusesPrefill: boolean): Turn[] {
  if (messages.length === 0) throw invalid('messages: at least one message is required')
  if (messages[0]?.role !== 'user')
    throw invalid('messages: first message must use the "user" role')
  const turns: Turn[] = []
  let last = ''
  for (const [index, message] of messages.entries()) {
    extra(message, ['role', 'content'], `messages.${index}`)
    const { role, content } = message
    if (role !== 'user' && role !== 'assistant' && !(role === 'system' && mayInstruct))
      throw invalid(`messages: Unexpected role "${role}". Allowed roles are "user" or "assistant".`)
    if (role === last)
      throw invalid(
        `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`,
      )
    if (role !== 'system') last = role
    const isFinalPrefill = role === 'assistant' && index === messages.length - 1
    if (isFinalPrefill && refusesPrefill)
      throw invalid(
        'This model does not support assistant message prefill. The conversation must end with a user message.',
      )
    const blocks =
      typeof content === 'string' ? [{ type: 'text', text: content } as Json] : asList(content)
    if (blocks.length === 0)
      throw invalid(`messages.${index}: all messages must have non-empty content`)
    const parts = blocks.map((block, at) => readBlock(block, `messages.${index}.content.${at}`))
    requirePairs(parts, turns.findLast(({ isSystem }) => !isSystem)?.parts ?? [], index)
    const own: 'assistant' | 'user' = role === 'assistant' ? 'assistant' : 'user'
    turns.push({ isSystem: role === 'system', role: own, parts })
  }
  if (turns.at(-1)?.parts.some(({ kind }) => kind === 'call'))
    throw invalid('`tool_use` ids were found without `tool_result` blocks immediately after.')
  return turns
}

/** Every call needs its result at the beginning of the next turn. */
function requirePairs(parts: ReceivedPart[], before: ReceivedPart[], index: number): void {
  const callIds = before.flatMap((part) => (part.kind === 'call' ? [part.id] : []))
  const results = parts.flatMap((part) => (part.kind === 'result' ? [part.id] : []))
  const first = parts.slice(0, results.length)
  const missing = callIds.filter((id) => !results.includes(id))
  if (missing.length > 0 || (results.length > 0 && first.some(({ kind }) => kind !== 'result')))
    throw invalid(
      `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`,
    )
  const stray = results.find((id) => !callIds.includes(id))
  if (stray !== undefined)
    throw invalid(
      `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}`,
    )
}

function textOfParts(parts: ReceivedPart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
}

function readBlock(block: Json, at: string): ReceivedPart {
  const type = String(block.type)
  const members = BLOCK_MEMBERS[type]
  if (members === undefined)
    throw invalid(
      `${at}: Input tag '${type}' found using 'type' does not match any of the expected tags`,
    )
  const isThought = type === 'thinking' || type === 'redacted_thinking'
  extra(block, ['type', ...(isThought ? [] : ['cache_control']), ...members], `${at}.${type}`)
  switch (type) {
    case 'text': {
      if (typeof block.text !== 'string')
        throw invalid(`${at}.text.text: Input should be a valid string`)
      if (block.text === '') throw invalid('messages: text content blocks must be non-empty')
      if (block.text.trim() === '')
        throw invalid('messages: text content blocks must contain non-whitespace text')
      return { kind: 'text', text: block.text }
    }
    case 'image':
    case 'document':
      return { kind: 'media', ...readMedia(asObject(block.source), type, at) }
    case 'tool_use':
      return {
        kind: 'call',
        id: readId(block.id, `${at}.tool_use.id`),
        name: String(block.name),
        args: block.input,
      }
    case 'tool_result': {
      const { content } = block
      const parts =
        typeof content === 'string'
          ? []
          : asList(content).map((one, index) =>
              readBlock(one, `${at}.tool_result.content.${index}`),
            )
      const media = parts.flatMap((part): Media[] =>
        part.kind === 'media' ? [{ mediaType: part.mediaType, data: part.data }] : [],
      )
      const text = typeof content === 'string' ? content : textOfParts(parts)
      return {
        kind: 'result',
        id: readId(block.tool_use_id, `${at}.tool_result.tool_use_id`),
        text,
        media,
      }
    }
    case 'thinking': {
      if (block.signature !== sealReasoning('anthropic', String(block.thinking)))
        throw invalid(`${at}: Invalid \`signature\` in \`thinking\` block`)
      return { kind: 'thought', seal: String(block.signature) }
    }
    default: {
      if (!isSeal('anthropic', block.data))
        throw invalid(`${at}: Invalid \`data\` in \`redacted_thinking\` block`)
      return { kind: 'thought', seal: String(block.data) }
    }
  }
}

function readId(id: unknown, at: string): string {
  if (typeof id === 'string' && /^[a-zA-Z0-9_-]+$/.test(id)) return id
  throw invalid(`${at}: String should match pattern '^[a-zA-Z0-9_-]+$'`)
}

function readMedia(source: Json, type: string, at: string): Media {
  if (source.type === 'url') {
    extra(source, ['type', 'url'], `${at}.${type}.source`)
    return { mediaType: `${type}/*`, data: String(source.url) }
  }
  if (source.type === 'text') return { mediaType: 'text/plain', data: String(source.data) }
  extra(source, ['type', 'media_type', 'data'], `${at}.${type}.source`)
  const allowed = type === 'image' ? IMAGES : ['application/pdf']
  if (source.type !== 'base64' || !allowed.includes(String(source.media_type)))
    throw invalid(
      `${at}.${type}.source.base64.media_type: Input should be ${allowed.map((one) => `'${one}'`).join(', ')}`,
    )
  return { mediaType: String(source.media_type), data: String(source.data) }
}

const FINISH = { length: 'max_tokens', filtered: 'refusal' } as const

function toFinish({ finish, calls = [] }: VendorAnswer): string {
  if (finish !== undefined) return FINISH[finish]
  return calls.length > 0 ? 'tool_use' : 'end_turn'
}

function toContent(said: VendorAnswer, { body }: ReceivedRequest): Json[] {
  const { thought, text, calls = [] } = said
  const isShown = asObject(body.thinking).display === 'summarized'
  return [
    ...(thought === undefined
      ? []
      : [
          {
            type: 'thinking',
            thinking: isShown ? thought : '',
            signature: sealReasoning('anthropic', isShown ? thought : ''),
          },
        ]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(({ name, args }, index) => ({
      type: 'tool_use',
      id: `toolu_${index + 1}`,
      name,
      input: args,
    })),
  ]
}

function toUsage({ tokens = { prompt: 10, completion: 5 } }: VendorAnswer, isStart = false): Json {
  const { prompt, completion, cached = 0, written = 0, reasoning } = tokens
  return {
    input_tokens: prompt - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    output_tokens: isStart ? 1 : completion,
    ...(isStart || reasoning === undefined
      ? {}
      : { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}

function head({ body }: ReceivedRequest): Json {
  return { id: 'msg_strict', type: 'message', role: 'assistant', model: body.model }
}

function whole(said: VendorAnswer, heard: ReceivedRequest): Json {
  if (heard.address.includes('/count_tokens')) return { input_tokens: said.tokens?.prompt ?? 10 }
  return {
    ...head(heard),
    content: toContent(said, heard),
    stop_reason: toFinish(said),
    stop_sequence: null,
    usage: toUsage(said),
  }
}

function events(said: VendorAnswer, heard: ReceivedRequest) {
  const named = (type: string, rest: Json = {}) => eventLine({ type, ...rest }, type)
  const empty = {
    ...head(heard),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: toUsage(said, true),
  }
  const middle = toContent(said, heard).flatMap((block, index) => {
    const delta = (part: Json) => named('content_block_delta', { index, delta: part })
    const stop = named('content_block_stop', { index })
    if (block.type === 'text') {
      const words = String(block.text).match(/\S+\s*/g) ?? []
      return [
        named('content_block_start', { index, content_block: { type: 'text', text: '' } }),
        ...words.map((text) => delta({ type: 'text_delta', text })),
        stop,
      ]
    }
    if (block.type === 'thinking') {
      return [
        named('content_block_start', {
          index,
          content_block: { type: 'thinking', thinking: '', signature: '' },
        }),
        ...(String(block.thinking).match(/\S+\s*/g) ?? []).map((thinking) =>
          delta({ type: 'thinking_delta', thinking }),
        ),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ]
    }
    return [
      named('content_block_start', { index, content_block: { ...block, input: {} } }),
      ...(JSON.stringify(block.input).match(/.{1,7}/gsu) ?? []).map((partial_json) =>
        delta({ type: 'input_json_delta', partial_json }),
      ),
      stop,
    ]
  })
  return {
    start: [named('message_start', { message: empty }), named('ping')],
    middle,
    end: [
      named('message_delta', {
        delta: { stop_reason: toFinish(said), stop_sequence: null },
        usage: toUsage(said),
      }),
      named('message_stop'),
    ],
    error: named('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }),
  }
}

const TYPES: Record<number, string> = {
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
}

function problem({ message, status }: Refused) {
  return {
    type: 'error',
    error: { type: TYPES[status] ?? 'invalid_request_error', message },
    request_id: 'req_strict',
  }
}
