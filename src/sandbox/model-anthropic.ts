/** Anthropic's messages, played by the sandbox: https://platform.claude.com/docs/en/api/messages */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Message } from './extract.ts'
import {
  asArray,
  asObject,
  type Json,
  readLimit,
  readStops,
  readText,
  textOr,
} from './model-json.ts'
import { type ModelReply, type Wish, writeReply } from './model-reply.ts'
import { paced, streamEvents } from './model-stream.ts'
import { OPEN } from './route.ts'

const BODY_BYTES_MAX = 32 * 1024 * 1024
const options = { ...OPEN, bodyLimit: BODY_BYTES_MAX }

export function anthropicRoutes(app: FastifyInstance): void {
  app.get('/anthropic/v1/models', OPEN, () => ({
    data: [
      {
        type: 'model',
        id: 'claude-sandbox',
        display_name: 'Claude (sandbox)',
        created_at: '2026-01-01T00:00:00Z',
      },
    ],
    has_more: false,
    first_id: 'claude-sandbox',
    last_id: 'claude-sandbox',
  }))

  app.post('/anthropic/v1/messages/count_tokens', options, (request, reply) => {
    const refused = findRefusal(request, { needsLimit: false })
    if (refused !== null) return refuse(reply, refused)
    return { input_tokens: writeReply(readWish(asObject(request.body))).promptTokens }
  })

  app.post('/anthropic/v1/messages', options, async (request, reply) => {
    const refused = findRefusal(request, { needsLimit: true })
    if (refused !== null) return refuse(reply, refused)
    const body = asObject(request.body)
    const answer = writeReply(readWish(body))
    const message = {
      id: `msg_sandbox_${randomBytes(12).toString('hex')}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
    }
    if (body.stream === true) return stream(reply, message, answer)
    return {
      ...message,
      content: [
        answer.call === null
          ? { type: 'text', text: answer.pieces.join('') }
          : toolUse(answer.call),
      ],
      stop_reason: stopReason(answer),
      stop_sequence: answer.stoppedAt,
      usage: toUsage(answer, answer.completionTokens),
    }
  })
}

function readWish(wanted: Json): Wish {
  const turns = asArray(wanted.messages)
  const system = readText(wanted.system)
  // A turn that answers tools is the user's by its role and a tool's by its sense.
  const last = turns.findLastIndex(
    (turn) => turn.role === 'user' && listToolResults(turn).length === 0,
  )
  const results = turns.length === 0 ? [] : listToolResults(turns.at(-1) ?? {})
  const choice = asObject(wanted.tool_choice)
  const format = asObject(asObject(wanted.output_config).format ?? wanted.output_format)
  return {
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.map(readMessage),
    ],
    tools: asArray(wanted.tools).flatMap(({ name, input_schema: schema }) =>
      typeof name === 'string' && schema !== undefined ? [{ name, schema }] : [],
    ),
    choice: readToolChoice(choice, system),
    called: turns
      .slice(last + 1)
      .flatMap(({ content }) =>
        asArray(content).flatMap((block) =>
          block.type === 'tool_use' ? [textOr(block.name, '')] : [],
        ),
      ),
    result:
      results.length === 0 ? null : results.map((block) => readText(block.content)).join('\n'),
    schema: format.type === 'json_schema' ? (format.schema ?? {}) : wantsObject(system) ? {} : null,
    limit: readLimit(wanted.max_tokens),
    stop: readStops(wanted.stop_sequences),
  }
}

/**
 * A forced tool and a JSON object become instructions when a model or this API has no parameter for
 * them.
 */
function readToolChoice({ type, name }: Json, system: string): Wish['choice'] {
  if (type === 'tool' && typeof name === 'string') return { name }
  if (type === 'none') return 'none'
  if (type === 'any') return 'required'
  const toolName = /Answer by calling the tool `([^`]+)`\./.exec(system)?.[1]
  if (toolName !== undefined) return { name: toolName }
  return system.includes('Answer by calling one of the tools.') ? 'required' : 'auto'
}

const wantsObject = (system: string) =>
  system.includes('Answer with one JSON object and nothing else.')

function listToolResults({ content }: Json): Json[] {
  return asArray(content).filter(({ type }) => type === 'tool_result')
}

function readMessage(turn: Json): Message {
  const isResult = listToolResults(turn).length > 0
  const text = isResult
    ? listToolResults(turn)
        .map((block) => readText(block.content))
        .join('\n')
    : readText(turn.content)
  return { role: isResult ? 'tool' : textOr(turn.role, 'user'), content: text }
}

function toolUse({ id, name, args }: NonNullable<ModelReply['call']>) {
  return { type: 'tool_use', id: `toolu_${id}`, name, input: args }
}

function stopReason({ finish }: ModelReply): string {
  return {
    stop: 'end_turn',
    length: 'max_tokens',
    tool_calls: 'tool_use',
    stop_sequence: 'stop_sequence',
  }[finish]
}

function toUsage({ promptTokens }: ModelReply, outputTokens: number) {
  return {
    input_tokens: promptTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  }
}

function stream(reply: FastifyReply, message: object, said: ModelReply): Promise<FastifyReply> {
  return streamEvents(reply, async (say, signal) => {
    const event = (type: string, data: object = {}) =>
      say(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
    const delta = (part: object) => event('content_block_delta', { index: 0, delta: part })
    const empty = {
      ...message,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: toUsage(said, 1),
    }
    event('message_start', { message: empty })
    if (said.call === null) {
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
      event('ping')
      for await (const text of paced(said.pieces, signal)) delta({ type: 'text_delta', text })
    } else {
      event('content_block_start', {
        index: 0,
        content_block: { ...toolUse(said.call), input: {} },
      })
      event('ping')
      const parts = JSON.stringify(said.call.args).match(/.{1,8}/gsu) ?? []
      for await (const part of paced(parts, signal))
        delta({ type: 'input_json_delta', partial_json: part })
    }
    event('content_block_stop', { index: 0 })
    event('message_delta', {
      delta: { stop_reason: stopReason(said), stop_sequence: said.stoppedAt },
      usage: { output_tokens: said.completionTokens },
    })
    event('message_stop')
  })
}

type Refusal = { status: number; type: string; message: string }

function findRefusal(
  { headers, body }: FastifyRequest,
  { needsLimit }: { needsLimit: boolean },
): Refusal | null {
  const invalid = (message: string): Refusal => ({
    status: 400,
    type: 'invalid_request_error',
    message,
  })
  if (!headers['x-api-key'] && !headers.authorization)
    return { status: 401, type: 'authentication_error', message: 'x-api-key header is required' }
  if (!headers['anthropic-version']) return invalid('anthropic-version: header is required')
  const { model, max_tokens: limit, messages } = asObject(body)
  if (typeof model !== 'string' || model === '') return invalid('model: Field required')
  if (needsLimit && typeof limit !== 'number') return invalid('max_tokens: Field required')
  if (asArray(messages).length === 0) return invalid('messages: at least one message is required')
  return null
}

function refuse(reply: FastifyReply, { status, type, message }: Refusal): FastifyReply {
  return reply.code(status).send({
    type: 'error',
    error: { type, message },
    request_id: `req_sandbox_${randomBytes(8).toString('hex')}`,
  })
}
