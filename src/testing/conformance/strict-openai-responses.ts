// OpenAI's /responses, as strict as the real one: flat tools, pairs of calls and outputs, and
// reasoning that is always encrypted.
// https://platform.openai.com/docs/api-reference/responses
import {
  asText,
  checkStrictSchema,
  eventLine,
  known,
  type StrictDialect,
  toolName,
} from './strict.ts'
import { readMedia, thinks } from './strict-openai-chat.ts'
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
  'input',
  'instructions',
  'stream',
  'stream_options',
  'store',
  'include',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'max_tool_calls',
  'temperature',
  'top_p',
  'top_logprobs',
  'reasoning',
  'text',
  'truncation',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
  'previous_response_id',
  'conversation',
  'background',
  'prompt',
  'client_metadata',
  'context_management',
]
const ITEM_MEMBERS: Record<string, string[]> = {
  message: ['type', 'id', 'role', 'content', 'status', 'phase'],
  function_call: ['type', 'caller', 'id', 'call_id', 'name', 'arguments', 'status', 'namespace'],
  function_call_output: ['type', 'id', 'call_id', 'output', 'status'],
  custom_tool_call: ['type', 'id', 'call_id', 'name', 'input', 'status', 'namespace'],
  custom_tool_call_output: ['type', 'id', 'call_id', 'output', 'status'],
  reasoning: ['type', 'id', 'summary', 'content', 'encrypted_content', 'status'],
  additional_tools: ['type', 'id', 'role', 'tools'],
}
const PART_MEMBERS: Record<string, string[]> = {
  input_text: ['type', 'text', 'prompt_cache_breakpoint'],
  output_text: ['type', 'text', 'annotations', 'logprobs'],
  refusal: ['type', 'refusal'],
  input_image: ['type', 'image_url', 'detail', 'file_id', 'prompt_cache_breakpoint'],
  input_file: ['type', 'file_data', 'filename', 'file_url', 'file_id', 'prompt_cache_breakpoint'],
}
const TOOL_MEMBERS: Record<string, string[]> = {
  function: ['type', 'name', 'description', 'parameters', 'strict'],
  custom: ['type', 'name', 'description', 'format'],
  namespace: ['type', 'name', 'description', 'tools'],
  file_search: ['type', 'vector_store_ids', 'max_num_results', 'ranking_options', 'filters'],
  web_search: ['type', 'external_web_access', 'search_context_size', 'user_location', 'filters'],
}
const OUTPUT_TOKENS_MIN = 16

export const openAiResponses: StrictDialect = {
  hear,
  whole,
  events,
  problem,
  endMark: 'response.completed',
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
    if (!MEMBERS.includes(name))
      throw new Refused(`Unknown parameter: '${name}'.`, { code: 'unknown_parameter', param: name })
  }
  const model = String(body.model)
  const reasoning = asObject(body.reasoning)
  known(reasoning, ['effort', 'summary', 'generate_summary', 'context'], 'reasoning')
  const effort = asText(reasoning.effort) ?? null
  if (thinks(model) && effort !== 'none') {
    for (const name of ['temperature', 'top_p'])
      if (body[name] !== undefined && body[name] !== null && body[name] !== 1)
        throw new Refused(`Unsupported parameter: '${name}' is not supported with this model.`, {
          param: name,
        })
  }
  const limit = body.max_output_tokens
  if (typeof limit === 'number' && limit < OUTPUT_TOKENS_MIN)
    throw new Refused(
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${limit} instead.`,
      { code: 'integer_below_min_value' },
    )
  const input =
    typeof body.input === 'string'
      ? [{ role: 'user', content: body.input } as Json]
      : asList(body.input)
  if (input.length === 0) throw new Refused("Missing required parameter: 'input'.")
  const turns = input.flatMap((item, index) => readTurn(item, `input[${index}]`, body))
  requirePairs(input)
  const tools = [
    ...asList(body.tools),
    ...input.flatMap((item) => (item.type === 'additional_tools' ? asList(item.tools) : [])),
  ]
  const format = asObject(asObject(body.text).format)
  if (format.type === 'json_schema') {
    known(format, ['type', 'name', 'description', 'schema', 'strict'], 'text.format')
    if (typeof format.name !== 'string')
      throw new Refused("Missing required parameter: 'text.format.name'.")
    if (format.strict === true) checkStrictSchema(asObject(format.schema), 'text.format')
  }
  const choice = body.tool_choice
  const systems = turns.flatMap(({ isSystem, parts }) => (isSystem ? [joinText(parts)] : []))
  return {
    address: path,
    headers,
    body,
    system: [...(asText(body.instructions) ? [String(body.instructions)] : []), ...systems].join(
      '\n\n',
    ),
    turns: turns.flatMap(({ isSystem, role, parts }) => (isSystem ? [] : [{ role, parts }])),
    tools: tools.flatMap((tool, index) => readTools(tool, `tools[${index}]`)),
    choice: typeof choice === 'string' ? choice : (asText(asObject(choice).name) ?? null),
    parallel: body.parallel_tool_calls !== false,
    schema: format.type === 'json_schema' ? asObject(format.schema) : null,
    effort,
    limit: typeof limit === 'number' ? limit : null,
    temperature: typeof body.temperature === 'number' ? body.temperature : null,
    stop: [],
    isStream: body.stream === true,
    marks: 0,
  }
}

function readTools(tool: Json, at: string): ReceivedRequest['tools'] {
  const members = TOOL_MEMBERS[String(tool.type)]
  if (members === undefined)
    throw new Refused(`Invalid value: '${tool.type}'.`, { param: `${at}.type` })
  known(tool, members, at)
  if (tool.type === 'namespace')
    return asList(tool.tools).flatMap((one, index) => readTools(one, `${at}.tools[${index}]`))
  if (tool.type !== 'function') return []
  if (tool.name === undefined)
    throw new Refused(`Missing required parameter: '${at}.name'.`, { param: `${at}.name` })
  // If omitted, strict is true where the schema allows it.
  if (tool.strict === true) checkStrictSchema(asObject(tool.parameters), `function '${tool.name}'`)
  return [
    { name: toolName(tool.name), schema: asObject(tool.parameters), strict: tool.strict === true },
  ]
}

type Turn = ReceivedRequest['turns'][number] & { isSystem: boolean }

function readTurn(item: Json, at: string, body: Json): Turn[] {
  const type = String(item.type ?? 'message')
  const members = ITEM_MEMBERS[type]
  if (members === undefined) throw new Refused(`Invalid value: '${type}'.`, { param: `${at}.type` })
  known(item, members, at)
  switch (type) {
    case 'message': {
      const { role, content } = item
      const isSystem = role === 'system' || role === 'developer'
      const own: 'assistant' | 'user' = role === 'assistant' ? 'assistant' : 'user'
      const parts: ReceivedPart[] =
        typeof content === 'string'
          ? [{ kind: 'text', text: content }]
          : asList(content).map((part, index) => readPart(part, role, `${at}.content[${index}]`))
      return [{ isSystem, role: own, parts }]
    }
    case 'reasoning': {
      const seal = item.encrypted_content
      if (typeof seal !== 'string' && body.store === false)
        throw new Refused(
          `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`,
          { status: 404 },
        )
      if (!isSeal('openai', seal))
        throw new Refused(`The encrypted content for item ${item.id} could not be verified.`, {
          code: 'invalid_encrypted_content',
        })
      return [
        { isSystem: false, role: 'assistant', parts: [{ kind: 'thought', seal: String(seal) }] },
      ]
    }
    case 'function_call':
      return [
        {
          isSystem: false,
          role: 'assistant',
          parts: [
            {
              kind: 'call',
              id: String(item.call_id),
              name: toolName(item.name),
              args: JSON.parse(String(item.arguments)),
            },
          ],
        },
      ]
    case 'custom_tool_call':
      return [
        {
          isSystem: false,
          role: 'assistant',
          parts: [
            {
              kind: 'call',
              id: String(item.call_id),
              name: toolName(item.name),
              args: { input: item.input },
            },
          ],
        },
      ]
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { output } = item
      const parts =
        typeof output === 'string'
          ? []
          : asList(output).map((part, index) => readPart(part, 'user', `${at}.output[${index}]`))
      const media = parts.flatMap((part): Media[] =>
        part.kind === 'media' ? [{ mediaType: part.mediaType, data: part.data }] : [],
      )
      const text = typeof output === 'string' ? output : joinText(parts)
      return [
        {
          isSystem: false,
          role: 'tool',
          parts: [{ kind: 'result', id: String(item.call_id), text, media }],
        },
      ]
    }
    default:
      return []
  }
}

function joinText(parts: ReceivedPart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
}

function readPart(part: Json, role: unknown, at: string): ReceivedPart {
  const members = PART_MEMBERS[String(part.type)]
  const isOutput = part.type === 'output_text' || part.type === 'refusal'
  if (members === undefined || isOutput !== (role === 'assistant'))
    throw new Refused(
      `Invalid value: '${part.type}'. Supported values are: ${role === 'assistant' ? "'output_text' and 'refusal'" : "'input_text', 'input_image', and 'input_file'"}.`,
      { code: 'invalid_value', param: at },
    )
  known(part, members, at)
  if (part.type === 'input_image') return readMedia(String(part.image_url), 'image/*')
  if (part.type === 'input_file')
    return readMedia(String(part.file_data ?? part.file_url), 'application/pdf')
  return { kind: 'text', text: String(part.text ?? part.refusal) }
}

function requirePairs(input: Json[]): void {
  const hasSuffix = (type: unknown, ending: string) => String(type).endsWith(ending)
  const calls = input.filter(({ type }) => hasSuffix(type, '_call')).map(({ call_id }) => call_id)
  const outputs = input
    .filter(({ type }) => hasSuffix(type, '_call_output'))
    .map(({ call_id }) => call_id)
  for (const id of outputs)
    if (!calls.includes(id))
      throw new Refused(`No tool call found for function call output with call_id ${id}.`)
  for (const id of calls)
    if (!outputs.includes(id)) throw new Refused(`No tool output found for function call ${id}.`)
}

function toItems(said: VendorAnswer): Json[] {
  const { thought, text, calls = [] } = said
  return [
    ...(thought === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: thought }],
            encrypted_content: sealReasoning('openai', thought),
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]),
    ...calls.map(({ name, args }, index) => ({
      type: 'function_call',
      id: `fc_${index + 1}`,
      call_id: `call_${index + 1}`,
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    })),
  ]
}

function buildResponse(said: VendorAnswer, heard: ReceivedRequest, isOpen = false): Json {
  const {
    prompt,
    completion,
    cached = 0,
    written = 0,
    reasoning = 0,
  } = said.tokens ?? { prompt: 10, completion: 5 }
  const reason = said.finish === 'length' ? 'max_output_tokens' : 'content_filter'
  return {
    id: 'resp_strict',
    object: 'response',
    created_at: 1_795_000_000,
    status: isOpen ? 'in_progress' : said.finish === undefined ? 'completed' : 'incomplete',
    model: heard.body.model,
    error: null,
    incomplete_details: isOpen || said.finish === undefined ? null : { reason },
    instructions: heard.body.instructions ?? null,
    output: isOpen ? [] : shown(toItems(said), heard),
    parallel_tool_calls: heard.parallel,
    tool_choice: heard.body.tool_choice ?? 'auto',
    tools: heard.body.tools ?? [],
    usage: isOpen
      ? null
      : {
          input_tokens: prompt,
          input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
          output_tokens: completion,
          output_tokens_details: { reasoning_tokens: reasoning },
          total_tokens: prompt + completion,
        },
  }
}

/** Summaries and encrypted reasoning are returned on request. */
function shown(items: Json[], { body }: ReceivedRequest): Json[] {
  const includes = Array.isArray(body.include) ? body.include : []
  const wantsSummary = asObject(body.reasoning).summary !== undefined
  return items.map(({ encrypted_content, ...item }) =>
    item.type === 'reasoning'
      ? {
          ...item,
          summary: wantsSummary ? item.summary : [],
          ...(includes.includes('reasoning.encrypted_content') ? { encrypted_content } : {}),
        }
      : item,
  )
}

function whole(said: VendorAnswer, heard: ReceivedRequest): Json {
  return buildResponse(said, heard)
}

function events(said: VendorAnswer, heard: ReceivedRequest) {
  let number = 0
  const named = (type: string, rest: Json) =>
    eventLine({ type, ...rest, sequence_number: number++ }, type)
  const open = buildResponse(said, heard, true)
  const start = [
    named('response.created', { response: open }),
    named('response.in_progress', { response: open }),
  ]
  const middle = shown(toItems(said), heard).flatMap((item, output_index) => {
    const place = { output_index, item_id: item.id }
    if (item.type === 'message') {
      const text = String(asObject(asList(item.content)[0]).text)
      const part = { type: 'output_text', text: '', annotations: [] }
      return [
        named('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', content: [] },
        }),
        named('response.content_part.added', { ...place, content_index: 0, part }),
        ...(text.match(/\S+\s*/g) ?? []).map((delta) =>
          named('response.output_text.delta', { ...place, content_index: 0, delta, logprobs: [] }),
        ),
        named('response.output_text.done', { ...place, content_index: 0, text, logprobs: [] }),
        named('response.content_part.done', {
          ...place,
          content_index: 0,
          part: { ...part, text },
        }),
        named('response.output_item.done', { output_index, item }),
      ]
    }
    if (item.type === 'function_call') {
      const args = String(item.arguments)
      return [
        named('response.output_item.added', {
          output_index,
          item: { ...item, arguments: '', status: 'in_progress' },
        }),
        ...(args.match(/.{1,7}/gsu) ?? []).map((delta) =>
          named('response.function_call_arguments.delta', { ...place, delta }),
        ),
        named('response.function_call_arguments.done', { ...place, arguments: args }),
        named('response.output_item.done', { output_index, item }),
      ]
    }
    const text = asText(asList(item.summary)[0]?.text) ?? ''
    return [
      named('response.output_item.added', { output_index, item: { ...item, summary: [] } }),
      ...(text.match(/\S+\s*/g) ?? []).map((delta) =>
        named('response.reasoning_summary_text.delta', { ...place, summary_index: 0, delta }),
      ),
      named('response.output_item.done', { output_index, item }),
    ]
  })
  const response = buildResponse(said, heard)
  return {
    start,
    middle,
    end: [
      named(said.finish === undefined ? 'response.completed' : 'response.incomplete', { response }),
    ],
    error: named('error', {
      code: 'server_error',
      message: 'The server had an error while processing your request',
      param: null,
    }),
  }
}

function problem({ message, status, code, param }: Refused) {
  const type =
    status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  return { error: { message, type, code, param } }
}
