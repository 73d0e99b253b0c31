// Anthropic's API under /v1: Claude Code and Anthropic's own clients work here with an API key, for all vendors' models. What
// goes to Anthropic and comes from there passes as it is, but for what is metered.

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { JsonObject, Nullable } from '#platform/http/schema.ts'
import { cachedReply, cacheParameters } from '../cached-reply.ts'
import { originOf } from '../call-origin.ts'
import { complete, countTokens, type Gateway, type GatewayCall, stream } from '../gateway.ts'
import { AI_POLICY } from '../policy.ts'
import { routeForModel } from '../routing.ts'
import { sendAnswerStream } from '../stream-encoder.ts'
import { isWrapped } from '../thought-envelope.ts'
import type { NativeRequest } from '../vendors/vendor.ts'
import { type Block, CountBody, MessageBody, type MessageParam, type MessageParams } from './message-body.ts'
import { eventEncoder, messageBody } from './message-reply.ts'
import { chatRequestOf } from './to-chat.ts'

const tags = ['anthropic-compatible']

export function anthropicRoutes(app: App, gateway: Gateway) {
  app.post(
    '/v1/messages',
    {
      schema: {
        operationId: 'createMessage',
        tags,
        summary: "Anthropic's messages, for all vendors",
        body: MessageBody,
      },
      config: { ...AI_POLICY, ...replies(Message, cacheParameters), events: { message_start: MessageEvent } },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { body } = request
      const caller = callerOf(request)
      const call: GatewayCall = {
        caller,
        route: '/v1/messages',
        first: routeForModel(gateway.config, caller, body.model),
        native: nativeRequest(request, body),
        signal: clientGone(reply),
        origin: originOf(reply, body),
      }
      reply.header('request-id', request.id)
      if (body.stream) {
        return cachedReply(gateway, request, reply, call, { isStream: true }, (keeper) =>
          sendAnswerStream(request, reply, gateway, stream(gateway, call), eventEncoder, keeper),
        )
      }
      return cachedReply(gateway, request, reply, call, { isStream: false }, async () => {
        const completion = await complete(gateway, call)
        reply.headers(completion.headers)
        return messageBody(completion)
      })
    },
  )

  app.post(
    '/v1/messages/count_tokens',
    {
      schema: {
        operationId: 'countMessageTokens',
        tags,
        summary: 'How many tokens a message would send',
        description: 'Counted by Anthropic for its own models; for others it is a guess, rather too many.',
        body: CountBody,
      },
      config: { ...AI_POLICY, ...replies(Type.Object({ input_tokens: Type.Integer() }, { title: 'TokenCount' })) },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { body } = request
      const caller = callerOf(request)
      const first = routeForModel(gateway.config, caller, body.model)
      const native = nativeRequest(request, body)
      return { input_tokens: await countTokens(gateway, { caller, first, native, signal: clientGone(reply) }) }
    },
  )
}

function nativeRequest({ headers }: FastifyRequest, params: MessageParams): NativeRequest {
  let translated: ReturnType<typeof chatRequestOf> | null = null
  return {
    api: 'messages',
    body: { ...params, messages: params.messages.flatMap(withoutWrapped) },
    headers: vendorHeaders(headers),
    limit: params.max_tokens ?? null,
    translated: () => {
      translated ??= chatRequestOf(params)
      return translated
    },
  }
}

/** Thoughts of other vendors' models, from earlier in the conversation: Anthropic would refuse them, and a message of nothing else. */
function withoutWrapped(message: MessageParam): MessageParam[] {
  const { role, content } = message
  if (role !== 'assistant' || typeof content === 'string') return [message]
  const isForeign = (block: Block) =>
    (block.type === 'thinking' && isWrapped(block.signature)) ||
    (block.type === 'redacted_thinking' && isWrapped(block.data))
  const blocks = content as Block[]
  if (!blocks.some(isForeign)) return [message]
  const own = blocks.filter((block) => !isForeign(block))
  return own.length === 0 ? [] : [{ ...message, content: own }]
}

/** What a client says to Anthropic in headers; whose account pays is ours to say. */
function vendorHeaders(headers: FastifyRequest['headers']): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === 'string' && PASSED.has(name)) passed[name] = value
  }
  return passed
}

const PASSED = new Set(['anthropic-beta', 'anthropic-version', 'x-app', 'x-claude-code-session-id'])

/** In the description alone. */
function replies(schema: object, parameters: typeof cacheParameters = []) {
  return {
    described: { parameters, replies: { 200: { description: 'Done.', content: { 'application/json': schema } } } },
  }
}

const Open = { additionalProperties: true }

const Message = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String(),
    content: Type.Array(JsonObject),
    stop_reason: Nullable(Type.String()),
    stop_sequence: Nullable(Type.String()),
    usage: Type.Object(
      {
        input_tokens: Type.Integer(),
        cache_creation_input_tokens: Type.Integer(),
        cache_read_input_tokens: Type.Integer(),
        output_tokens: Type.Integer(),
        cost_usd: Type.Optional(Type.Number({ description: 'US dollars, by the price list.' })),
      },
      { title: 'AnthropicUsage', ...Open },
    ),
  },
  { title: 'AnthropicMessage', ...Open },
)

const MessageEvent = Type.Object(
  { type: Type.String() },
  {
    title: 'AnthropicMessageEvent',
    description:
      'The first of Anthropic’s events; `content_block_…`, `message_delta` and `message_stop` follow, or `error`.',
    ...Open,
  },
)
