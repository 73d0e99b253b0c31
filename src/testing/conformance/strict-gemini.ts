// Gemini's generateContent, streamGenerateContent and countTokens, as strict as the real ones.
// Rejects unknown names in Google's JSON, misplaced turns and calls, and missing signatures of
// Gemini 3.
// https://ai.google.dev/api/generate-content
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
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'safetySettings',
  'cachedContent',
  'serviceTier',
]
const GENERATION = [
  'stopSequences',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'responseModalities',
  'candidateCount',
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'responseLogprobs',
  'logprobs',
  'thinkingConfig',
  'mediaResolution',
  'speechConfig',
]
const PART = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'thought',
  'thoughtSignature',
  'executableCode',
  'codeExecutionResult',
  'videoMetadata',
  'mediaResolution',
]
const DATA = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
]
/** Google's own form of a schema, which is not JSON Schema. */
const OPEN_API_SCHEMA = [
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'maxItems',
  'minItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'example',
  'anyOf',
  'propertyOrdering',
  'default',
  'items',
  'minimum',
  'maximum',
]
const STOPS_MAX = 5
/** Accepted instead of a lost signature, as plain text or in base64. */
const NO_CHECK = /^(skip_thought_signature_validator|c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=)$/

const invalid = (message: string) => new Refused(message, { code: 'INVALID_ARGUMENT' })

export const geminiContent: StrictDialect = {
  hear,
  whole,
  events,
  problem,
  endMark: '"finishReason"',
}

/** Google accepts both spellings. */
function camel(from: Json): Json {
  return Object.fromEntries(
    Object.entries(from).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
}

function unknownName(from: Json, members: readonly string[], at: string): Json {
  const own = camel(from)
  for (const name of Object.keys(own)) {
    if (!members.includes(name))
      throw invalid(
        `Invalid JSON payload received. Unknown name "${name}"${at === '' ? '' : ` at '${at}'`}: Cannot find field.`,
      )
  }
  return own
}

function hear({
  body: given,
  headers,
  path,
}: {
  body: Json
  headers: ReceivedRequest['headers']
  path: string
}): ReceivedRequest {
  if (!headers['x-goog-api-key'] && !/[?&]key=/.test(path))
    throw new Refused("Method doesn't allow unregistered callers. Please use an API key.", {
      status: 403,
      code: 'PERMISSION_DENIED',
    })
  const model = /models\/([^:?]+):/.exec(path)?.[1] ?? ''
  const isSince3 = /^gemini-([3-9]|\d\d)/.test(model)
  const isCounting = path.includes(':countTokens')
  const wrapped = camel(given)
  const body = unknownName(
    isCounting && wrapped.generateContentRequest !== undefined
      ? asObject(wrapped.generateContentRequest)
      : given,
    MEMBERS,
    '',
  )
  const config = unknownName(asObject(body.generationConfig), GENERATION, 'generation_config')
  const thinking = unknownName(
    asObject(config.thinkingConfig),
    ['thinkingLevel', 'thinkingBudget', 'includeThoughts'],
    'generation_config.thinking_config',
  )
  if (thinking.thinkingLevel !== undefined && (!isSince3 || thinking.thinkingBudget !== undefined))
    throw invalid('Thinking level is not supported for this model, or not together with a budget.')
  const level =
    thinking.thinkingLevel === undefined ? null : String(thinking.thinkingLevel).toLowerCase()
  if (level !== null && !['minimal', 'low', 'medium', 'high'].includes(level))
    throw invalid(`Invalid value at 'generation_config.thinking_config.thinking_level', "${level}"`)
  const stop = Array.isArray(config.stopSequences) ? (config.stopSequences as string[]) : []
  if (stop.length > STOPS_MAX) throw invalid('The number of stop sequences must be at most 5.')
  const schema = config.responseJsonSchema ?? config.responseSchema
  if (schema !== undefined && config.responseMimeType !== 'application/json')
    throw invalid('A response schema needs a response mime type of application/json.')
  if (config.responseSchema !== undefined)
    checkOpenApi(asObject(config.responseSchema), 'generation_config.response_schema')

  const declared = asList(body.tools).flatMap((tool, index) =>
    asList(
      unknownName(
        tool,
        [
          'functionDeclarations',
          'googleSearch',
          'codeExecution',
          'urlContext',
          'googleSearchRetrieval',
        ],
        `tools[${index}]`,
      ).functionDeclarations,
    ),
  )
  const tools = declared.map((one, index) =>
    readTool(one, `tools[0].function_declarations[${index}]`),
  )
  const twice = tools.find(
    ({ name }, index) => tools.findIndex((other) => other.name === name) !== index,
  )
  if (twice) throw invalid(`Duplicate function declaration found: ${twice.name}`)
  const calling = asObject(camel(asObject(body.toolConfig)).functionCallingConfig)
  const names = (camel(calling).allowedFunctionNames as string[] | undefined) ?? []
  if (names.length > 0 && calling.mode !== 'ANY' && calling.mode !== 'VALIDATED')
    throw invalid(
      'Function calling config: allowed_function_names is only supported with mode ANY.',
    )
  if (names.some((name) => !tools.some((tool) => tool.name === name)))
    throw invalid('allowed_function_names names a function that is not declared.')

  const instruction = unknownName(
    asObject(body.systemInstruction),
    ['parts', 'role'],
    'system_instruction',
  )
  const system = asList(instruction.parts).map((part, index) => {
    const read = readPart(part, `system_instruction.parts[${index}]`)
    if (read.kind !== 'text') throw invalid('A system instruction is text.')
    return read.text
  })
  const turns = readTurns(asList(body.contents), isSince3)
  return {
    address: path,
    headers,
    body: { ...body, model },
    system: system.join('\n\n'),
    turns,
    tools,
    choice:
      names.length === 1
        ? (names[0] ?? null)
        : ({ ANY: 'required', AUTO: 'auto', NONE: 'none' }[String(calling.mode)] ?? null),
    parallel: true,
    schema: schema === undefined ? null : asObject(schema),
    effort: level,
    limit: typeof config.maxOutputTokens === 'number' ? config.maxOutputTokens : null,
    temperature: typeof config.temperature === 'number' ? config.temperature : null,
    stop,
    isStream: path.includes(':streamGenerateContent'),
    marks: 0,
  }
}

function readTool(given: Json, at: string): ReceivedRequest['tools'][number] {
  const tool = unknownName(
    given,
    [
      'name',
      'description',
      'parameters',
      'parametersJsonSchema',
      'response',
      'responseJsonSchema',
      'behavior',
    ],
    at,
  )
  if (typeof tool.name !== 'string' || !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(tool.name))
    throw invalid(`${at}.name: Invalid function name. Must start with a letter or an underscore.`)
  if (tool.parameters !== undefined && tool.parametersJsonSchema !== undefined)
    throw invalid(`${at}: parameters and parameters_json_schema are exclusive.`)
  if (tool.parameters !== undefined) checkOpenApi(asObject(tool.parameters), `${at}.parameters`)
  return {
    name: tool.name,
    schema: asObject(tool.parametersJsonSchema ?? tool.parameters),
    strict: false,
  }
}

function checkOpenApi(schema: Json, at: string): void {
  walk(camel(schema), (one) => {
    for (const key of Object.keys(camel(one)))
      if (!OPEN_API_SCHEMA.includes(key))
        throw invalid(
          `Invalid JSON payload received. Unknown name "${key}" at '${at}': Cannot find field.`,
        )
    const { type } = one
    if (
      type !== undefined &&
      (typeof type !== 'string' ||
        !/^(string|number|integer|boolean|array|object|null)$/i.test(type))
    )
      throw invalid(
        `Invalid value at '${at}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type)`,
      )
    if (
      /^object$/i.test(String(type)) &&
      one.properties !== undefined &&
      Object.keys(asObject(one.properties)).length === 0
    )
      throw invalid(`${at}.properties: should be non-empty for OBJECT type`)
  })
}

function readTurns(contents: Json[], isSince3: boolean): ReceivedRequest['turns'] {
  if (contents.length === 0)
    throw invalid('* GenerateContentRequest.contents: contents is not specified')
  const turns = contents.map((given, index): ReceivedRequest['turns'][number] => {
    const content = unknownName(given, ['role', 'parts'], `contents[${index}]`)
    const role = content.role ?? 'user'
    if (role !== 'user' && role !== 'model' && role !== 'function')
      throw invalid('Please use a valid role: user, model.')
    const parts = asList(content.parts)
    if (parts.length === 0)
      throw invalid(
        `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`,
      )
    if (parts.every(({ text, thoughtSignature }) => text === '' && thoughtSignature === undefined))
      throw invalid(
        'Unable to submit request because it must have a text parameter. Add a text parameter and try again.',
      )
    const read = parts.map((part, at) => readPart(part, `contents[${index}].parts[${at}]`))
    if (role === 'model') return { role: 'assistant', parts: read }
    return { role: read.some(({ kind }) => kind === 'result') ? 'tool' : 'user', parts: read }
  })
  for (const [index, { parts, role }] of turns.entries()) {
    const calls = parts.filter(({ kind }) => kind === 'call').length
    const next = turns[index + 1]
    const answers = next?.parts.filter(({ kind }) => kind === 'result').length ?? 0
    if (calls > 0 && next !== undefined && answers !== calls)
      throw invalid(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    if (
      parts.some(({ kind }) => kind === 'result') &&
      !turns[index - 1]?.parts.some(({ kind }) => kind === 'call')
    )
      throw invalid(
        'Please ensure that function response turn comes immediately after a function call turn.',
      )
    if (calls > 0 && index === 0)
      throw invalid(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
    if (role === turns[index - 1]?.role && role === 'assistant')
      throw invalid('Please ensure that turns of the model do not follow each other.')
  }
  if (isSince3) requireSigned(contents, turns)
  return turns
}

/**
 * In the current turn, which begins after the user's last text, the first call of each step needs a
 * signature.
 */
function requireSigned(contents: Json[], turns: ReceivedRequest['turns']): void {
  const since = turns.findLastIndex(({ role }) => role === 'user')
  for (const content of contents.slice(since + 1)) {
    const first = asList(content.parts)
      .map(camel)
      .find(({ functionCall }) => functionCall !== undefined)
    if (first !== undefined && first.thoughtSignature === undefined)
      throw invalid(
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly: \`${asObject(first.functionCall).name}\`.`,
      )
  }
}

function readPart(given: Json, at: string): ReceivedPart {
  const part = unknownName(given, PART, at)
  const data = DATA.filter((name) => part[name] !== undefined)
  if (data.length !== 1)
    throw invalid(
      `* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field`,
    )
  const seal = part.thoughtSignature
  if (seal !== undefined && !isSeal('gemini', seal) && !NO_CHECK.test(String(seal)))
    throw invalid('Thought signature is not valid.')
  if (part.functionCall !== undefined) {
    const call = unknownName(
      asObject(part.functionCall),
      ['id', 'name', 'args'],
      `${at}.function_call`,
    )
    if (typeof call.name !== 'string' || call.name === '')
      throw invalid(`* GenerateContentRequest.${at}.function_call.name: Name cannot be empty.`)
    return {
      kind: 'call',
      id: isSeal('gemini', seal) ? String(seal) : '',
      name: call.name,
      args: call.args ?? {},
    }
  }
  if (part.functionResponse !== undefined) {
    const answer = unknownName(
      asObject(part.functionResponse),
      ['id', 'name', 'response', 'parts', 'willContinue', 'scheduling'],
      `${at}.function_response`,
    )
    if (typeof answer.name !== 'string' || answer.name === '')
      throw invalid(`* GenerateContentRequest.${at}.function_response.name: Name cannot be empty.`)
    const { response } = answer
    if (typeof response !== 'object' || response === null || Array.isArray(response))
      throw invalid(
        `Invalid value at '${at}.function_response.response' (type.googleapis.com/google.protobuf.Struct)`,
      )
    const media = asList(answer.parts).map((one): Media => {
      const read = readPart(one, `${at}.function_response.parts`)
      if (read.kind !== 'media') throw invalid('A part of a function response is data.')
      return { mediaType: read.mediaType, data: read.data }
    })
    return { kind: 'result', id: answer.name, text: JSON.stringify(response), media }
  }
  if (part.inlineData !== undefined) {
    const { mimeType, data: bytes } = unknownName(
      asObject(part.inlineData),
      ['mimeType', 'data', 'displayName'],
      `${at}.inline_data`,
    )
    if (
      typeof mimeType !== 'string' ||
      !/^(image|audio|video|text|application)\/[\w.+-]+$/.test(mimeType) ||
      mimeType === 'audio/*'
    )
      throw invalid(`Unsupported MIME type: ${mimeType}`)
    return { kind: 'media', mediaType: mimeType, data: String(bytes) }
  }
  if (part.fileData !== undefined) {
    const { fileUri, mimeType } = unknownName(
      asObject(part.fileData),
      ['fileUri', 'mimeType', 'displayName'],
      `${at}.file_data`,
    )
    return { kind: 'media', mediaType: asText(mimeType) ?? 'application/*', data: String(fileUri) }
  }
  if (part.thought === true) return { kind: 'thought', seal: String(seal ?? '') }
  return { kind: 'text', text: String(part.text) }
}

const FINISH = { length: 'MAX_TOKENS', filtered: 'SAFETY' } as const

function toParts(said: VendorAnswer, { body }: ReceivedRequest): Json[] {
  const { thought, text, calls = [] } = said
  const isShown =
    asObject(camel(asObject(asObject(body.generationConfig))).thinkingConfig).includeThoughts ===
    true
  const seal = thought === undefined ? {} : { thoughtSignature: sealReasoning('gemini', thought) }
  return [
    ...(thought === undefined || !isShown ? [] : [{ text: thought, thought: true }]),
    ...(text === undefined ? [] : [{ text, ...(calls.length === 0 ? seal : {}) }]),
    ...calls.map(({ name, args }, index) => ({
      functionCall: { name, args },
      ...(index === 0 ? seal : {}),
    })),
  ]
}

function toUsage({ tokens = { prompt: 10, completion: 5 } }: VendorAnswer): Json {
  const { prompt, completion, cached, reasoning = 0 } = tokens
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: completion - reasoning,
    totalTokenCount: prompt + completion,
    ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    ...(reasoning === 0 ? {} : { thoughtsTokenCount: reasoning }),
  }
}

function toBody(
  parts: Json[],
  finishReason: string | null,
  more: Json,
  { body }: ReceivedRequest,
): Json {
  return {
    candidates: [
      {
        content: { role: 'model', parts },
        ...(finishReason === null ? {} : { finishReason }),
        index: 0,
      },
    ],
    ...more,
    modelVersion: body.model,
    responseId: 'strict',
  }
}

const toFinish = ({ finish }: VendorAnswer) => (finish === undefined ? 'STOP' : FINISH[finish])

function whole(said: VendorAnswer, heard: ReceivedRequest): Json {
  if (heard.address.includes(':countTokens')) return { totalTokens: said.tokens?.prompt ?? 10 }
  return isBlocked(said)
    ? blocked(said, heard)
    : toBody(toParts(said, heard), toFinish(said), { usageMetadata: toUsage(said) }, heard)
}

/** A filtered prompt gets no candidate. */
const isBlocked = ({ finish, text }: VendorAnswer) => finish === 'filtered' && text === undefined

function blocked(said: VendorAnswer, { body }: ReceivedRequest): Json {
  return {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: toUsage(said),
    modelVersion: body.model,
  }
}

function events(said: VendorAnswer, heard: ReceivedRequest) {
  const prompt = { usageMetadata: { promptTokenCount: said.tokens?.prompt ?? 10 } }
  const line = (parts: Json[], finish: string | null, more: Json) =>
    eventLine(toBody(parts, finish, more, heard)).replaceAll('\n', '\r\n')
  const middle = toParts(said, heard).flatMap((part) => {
    if (typeof part.text !== 'string') return [line([part], null, prompt)]
    const { text, thoughtSignature, ...rest } = part
    const words = text.match(/\S+\s*/g) ?? []
    return [
      ...words.map((word) => line([{ text: word, ...rest }], null, prompt)),
      ...(thoughtSignature === undefined
        ? []
        : [line([{ text: '', thoughtSignature }], null, prompt)]),
    ]
  })
  if (isBlocked(said))
    return { start: [], middle: [], end: [eventLine(blocked(said, heard))], error: '' }
  return {
    start: [],
    middle,
    end: [line([{ text: '' }], toFinish(said), { usageMetadata: toUsage(said) })],
    error: eventLine({
      error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
    }),
  }
}

const STATUSES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

function problem({ message, status, code }: Refused) {
  return { error: { code: status, message, status: code ?? STATUSES[status] ?? 'UNKNOWN' } }
}
