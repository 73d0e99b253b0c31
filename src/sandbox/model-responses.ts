/**
 * OpenAI's Responses API in the sandbox, without memory (`store` is accepted, but nothing is
 * stored).
 */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '#platform/clock.ts'
import type { Message } from './extract.ts'
import { asArray, asObject, type Json, readLimit, readText, textOr } from './model-json.ts'
import { type ModelReply, type Wish, writeReply } from './model-reply.ts'
import { paced, streamEvents } from './model-stream.ts'
import { OPEN } from './route.ts'

/** The shape of OpenAI's errors. */
export type OpenAiManners = {
  requireKey(request: FastifyRequest, reply: FastifyReply): boolean
  requireModel(wanted: Json, reply: FastifyReply): boolean
  refuse(
    reply: FastifyReply,
    status: number,
    message: string,
    code: string | null,
    param: string | null,
  ): FastifyReply
}

const BODY_BYTES_MAX = 32 * 1024 * 1024

export function responsesRoutes(
  app: FastifyInstance,
  { clock }: { clock: Clock },
  manners: OpenAiManners,
): void {
  const { requireKey, requireModel, refuse } = manners
  app.post(
    '/openai/v1/responses',
    { ...OPEN, bodyLimit: BODY_BYTES_MAX },
    async (request, reply) => {
      if (!requireKey(request, reply)) return reply
      const body = asObject(request.body)
      if (!requireModel(body, reply)) return reply
      const items = readItems(body.input)
      if (items.length === 0)
        return refuse(
          reply,
          400,
          "Missing required parameter: 'input'.",
          'missing_required_parameter',
          'input',
        )
      if (typeof body.previous_response_id === 'string')
        return refuse(
          reply,
          400,
          'The sandbox keeps no responses.',
          'previous_response_not_found',
          'previous_response_id',
        )

      const offered = readTools(body, items)
      const answer = writeReply(readWish(body, items, offered))
      const item = toItem(randomBytes(12).toString('hex'), answer, offered)
      const id = randomBytes(12).toString('hex')
      const createdAt = Math.floor(clock.ms() / 1000)
      const response = {
        id: `resp_${id}`,
        object: 'response',
        created_at: createdAt,
        completed_at: null,
        model: body.model,
        background: false,
        error: null,
        frequency_penalty: 0,
        incomplete_details: null,
        instructions: body.instructions ?? null,
        max_output_tokens: body.max_output_tokens ?? null,
        max_tool_calls: body.max_tool_calls ?? null,
        metadata: body.metadata ?? {},
        parallel_tool_calls: body.parallel_tool_calls ?? true,
        presence_penalty: 0,
        previous_response_id: null,
        prompt_cache_key: body.prompt_cache_key ?? null,
        reasoning: { effort: null, summary: null, ...asObject(body.reasoning) },
        safety_identifier: body.safety_identifier ?? null,
        service_tier: 'default',
        store: false,
        temperature: body.temperature ?? 1,
        text: { format: { type: 'text' }, ...asObject(body.text) },
        tool_choice: body.tool_choice ?? 'auto',
        tools: asArray(body.tools).map(describeTool),
        top_logprobs: 0,
        top_p: body.top_p ?? 1,
        truncation: body.truncation ?? 'disabled',
        user: body.user ?? null,
      }
      if (body.stream === true) return stream(reply, response, item, answer)
      return { ...response, ...toEnding(answer, createdAt), output: [item] }
    },
  )

  app.post(
    '/openai/v1/responses/input_tokens',
    { ...OPEN, bodyLimit: BODY_BYTES_MAX },
    async (request, reply) => {
      if (!requireKey(request, reply)) return reply
      const body = asObject(request.body)
      if (!requireModel(body, reply)) return reply
      const items = readItems(body.input)
      const { promptTokens } = writeReply(readWish(body, items, readTools(body, items)))
      return { object: 'response.input_tokens', input_tokens: promptTokens }
    },
  )
}

/** A plain string is a message of the user. */
function readItems(input: unknown): Json[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : asArray(input)
}

const isCall = (type: unknown) => type === 'function_call' || type === 'custom_tool_call'

const isAnswer = ({ type }: Json) =>
  type === 'function_call_output' || type === 'custom_tool_call_output'

type OfferedTool = { name: string; namespace: string | null; isCustom: boolean; schema: unknown }

/** The arguments for a tool without a schema. */
const CUSTOM_SCHEMA = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
}

/** Returns the tools of the request and those that a client declares in the conversation. */
function readTools(wanted: Json, items: Json[]): OfferedTool[] {
  const added = items.flatMap(({ type, tools }) =>
    type === 'additional_tools' ? asArray(tools) : [],
  )
  const all = [...asArray(wanted.tools), ...added].flatMap((tool) =>
    tool.type === 'namespace'
      ? asArray(tool.tools).map((one) => ({ ...one, namespace: tool.name }))
      : [tool],
  )
  return all.flatMap(({ type, name, namespace, parameters }: Json) =>
    (type === 'function' || type === 'custom') && typeof name === 'string'
      ? [
          {
            name,
            namespace: typeof namespace === 'string' ? namespace : null,
            isCustom: type === 'custom',
            schema: type === 'custom' ? CUSTOM_SCHEMA : (parameters ?? {}),
          },
        ]
      : [],
  )
}

function readWish(wanted: Json, items: Json[], tools: OfferedTool[]): Wish {
  const last = items.findLastIndex(({ role }) => role === 'user')
  const answered = items.at(-1)
  const format = asObject(asObject(wanted.text).format)
  const choice = asObject(wanted.tool_choice)
  return {
    messages: [
      ...(typeof wanted.instructions === 'string'
        ? [{ role: 'system', content: wanted.instructions }]
        : []),
      ...items.flatMap(readMessage),
    ],
    tools,
    choice:
      typeof choice.name === 'string'
        ? { name: choice.name }
        : wanted.tool_choice === 'none' || wanted.tool_choice === 'required'
          ? wanted.tool_choice
          : 'auto',
    called: items
      .slice(last + 1)
      .flatMap(({ type, name }) => (isCall(type) ? [textOr(name, '')] : [])),
    result: answered !== undefined && isAnswer(answered) ? readText(answered.output) : null,
    schema:
      format.type === 'json_schema'
        ? (format.schema ?? {})
        : format.type === 'json_object'
          ? {}
          : null,
    limit: readLimit(wanted.max_output_tokens),
    stop: [],
  }
}

function readMessage(item: Json): Message[] {
  if (isAnswer(item)) return [{ role: 'tool', content: readText(item.output) }]
  if (typeof item.role !== 'string' || item.content === undefined) return []
  return [
    { role: item.role === 'developer' ? 'system' : item.role, content: readText(item.content) },
  ]
}

function toItem(id: string, said: ModelReply, offered: OfferedTool[]): Json & { id: string } {
  if (said.call === null) {
    const content = [
      { type: 'output_text', text: said.pieces.join(''), annotations: [], logprobs: [] },
    ]
    return { id: `msg_${id}`, type: 'message', role: 'assistant', status: toStatus(said), content }
  }
  const { id: callId, name, args } = said.call
  const { namespace = null, isCustom = false } = offered.find((tool) => tool.name === name) ?? {}
  const call = {
    status: 'completed',
    call_id: `call_${callId}`,
    name,
    ...(namespace === null ? {} : { namespace }),
  }
  return isCustom
    ? { id: `ctc_${id}`, type: 'custom_tool_call', ...call, input: textOr(args.input, '') }
    : { id: `fc_${id}`, type: 'function_call', ...call, arguments: JSON.stringify(args) }
}

const toStatus = ({ finish }: ModelReply) => (finish === 'length' ? 'incomplete' : 'completed')

/** OpenAI fills in missing members: a function is strict unless its tool says otherwise. */
function describeTool(tool: Json): Json {
  return tool.type === 'function'
    ? { description: null, parameters: null, strict: true, ...tool }
    : tool
}

function toEnding(said: ModelReply, createdAt: number) {
  const { promptTokens, completionTokens } = said
  return {
    status: toStatus(said),
    completed_at: said.finish === 'length' ? null : createdAt,
    incomplete_details: said.finish === 'length' ? { reason: 'max_output_tokens' } : null,
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: promptTokens + completionTokens,
    },
  }
}

function stream(
  reply: FastifyReply,
  response: Json & { created_at: number },
  item: Json & { id: string },
  said: ModelReply,
) {
  return streamEvents(reply, async (say, signal) => {
    let number = 0
    const event = (type: string, data: Json) =>
      say(
        `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...data })}\n\n`,
      )
    const at = { item_id: item.id, output_index: 0 }
    const begun = { ...response, status: 'in_progress', output: [], usage: null }
    event('response.created', { response: begun })
    event('response.in_progress', { response: begun })
    if (said.call === null) {
      const text = said.pieces.join('')
      const part = { type: 'output_text', text, annotations: [], logprobs: [] }
      const place = { ...at, content_index: 0 }
      event('response.output_item.added', {
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      })
      event('response.content_part.added', { ...place, part: { ...part, text: '' } })
      for await (const delta of paced(said.pieces, signal)) {
        event('response.output_text.delta', { ...place, delta, logprobs: [] })
      }
      event('response.output_text.done', { ...place, text, logprobs: [] })
      event('response.content_part.done', { ...place, part })
    } else if (item.type === 'custom_tool_call') {
      const { input } = item
      event('response.output_item.added', {
        output_index: 0,
        item: { ...item, status: 'in_progress', input: '' },
      })
      event('response.custom_tool_call_input.delta', { ...at, delta: input })
      event('response.custom_tool_call_input.done', { ...at, input })
    } else {
      const args = String(item.arguments)
      event('response.output_item.added', {
        output_index: 0,
        item: { ...item, status: 'in_progress', arguments: '' },
      })
      for await (const delta of paced(args.match(/.{1,8}/gsu) ?? [], signal)) {
        event('response.function_call_arguments.delta', { ...at, delta })
      }
      event('response.function_call_arguments.done', { ...at, name: item.name, arguments: args })
    }
    event('response.output_item.done', { output_index: 0, item })
    const type = said.finish === 'length' ? 'response.incomplete' : 'response.completed'
    event(type, {
      response: { ...response, ...toEnding(said, response.created_at), output: [item] },
    })
  })
}
