// Anthropic's API under /v1 for all vendors' models, as Claude Code and Anthropic's clients use it.
// Requests to Anthropic and its answers pass through unchanged, except for the metered fields.

import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { JsonObject, NamedObject, Nullable, OpenObject } from '#platform/http/schema.ts'
import { sendAnswer } from '../answer.ts'
import { callParameters } from '../cached-reply.ts'
import { readOrigin } from '../call-origin.ts'
import type { GatewayCall } from '../chat-call.ts'
import { countTokens } from '../count-tokens.ts'
import type { Gateway } from '../gateway.ts'
import { createNativeRequest, once } from '../native-request.ts'
import { AI_POLICY, ANSWERED_HEADERS, describeReply } from '../policy.ts'
import { aiProblem } from '../problems.ts'
import { isWrapped } from '../reasoning-envelope.ts'
import { findRouteByName } from '../routing.ts'
import {
  type Block,
  CountBody,
  MessageBody,
  type MessageParam,
  type MessageParams,
} from './message-body.ts'
import { buildMessageBody, eventEncoder } from './message-reply.ts'
import { toChatRequest } from './to-chat.ts'

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
      config: {
        ...AI_POLICY,
        ...describeReply(Message, { parameters: callParameters, headers: ANSWERED_HEADERS }),
        events: { message_start: MessageEvent },
      },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { body } = request
      const caller = requireCaller(request)
      const call: GatewayCall = {
        caller,
        route: '/v1/messages',
        first: findRouteByName(gateway.config, caller, body.model),
        native: createNativeRequest('messages', request.headers, readMessageRequest(body)),
        signal: clientGone(reply),
        origin: readOrigin(reply, body),
      }
      reply.header('request-id', request.id)
      return sendAnswer(
        gateway,
        request,
        reply,
        call,
        body.stream ? eventEncoder : null,
        buildMessageBody,
      )
    },
  )

  app.post(
    '/v1/messages/count_tokens',
    {
      schema: {
        operationId: 'countMessageTokens',
        tags,
        summary: 'The number of input tokens of a message',
        description:
          'Counted by Anthropic for its own models; for others it is a guess, rather too many.',
        body: CountBody,
      },
      config: {
        ...AI_POLICY,
        ...describeReply(NamedObject('TokenCount', { input_tokens: Type.Integer() })),
      },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { body } = request
      const caller = requireCaller(request)
      const first = findRouteByName(gateway.config, caller, body.model)
      const native = createNativeRequest('messages', request.headers, readMessageRequest(body))
      return {
        input_tokens: await countTokens(gateway, {
          caller,
          first,
          native,
          signal: clientGone(reply),
        }),
      }
    },
  )
}

/** Builds the request, with a translation for other vendors. @throws Problem 400 for `thread` */
function readMessageRequest(params: MessageParams) {
  if (params.thread != null) {
    const instead = 'send the whole conversation as `messages`'
    throw aiProblem(
      'responses_not_kept',
      { what: 'thread', instead },
      { extra: { param: 'thread' } },
    )
  }
  return {
    body: { ...params, messages: params.messages.flatMap(removeForeignReasoning) },
    limit: params.max_tokens ?? null,
    translated: once(() => toChatRequest(params)),
  }
}

/** Drops other vendors' reasoning, which Anthropic rejects, and messages with nothing else. */
function removeForeignReasoning(message: MessageParam): MessageParam[] {
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

const Open = { additionalProperties: true }

const Message = OpenObject('AnthropicMessage', {
  id: Type.String(),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String(),
  content: Type.Array(JsonObject),
  stop_reason: Nullable(Type.String()),
  stop_sequence: Nullable(Type.String()),
  usage: OpenObject('AnthropicUsage', {
    input_tokens: Type.Integer(),
    cache_creation_input_tokens: Type.Integer(),
    cache_read_input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    cost_usd: Type.Optional(Type.Number({ description: 'US dollars, by the price list.' })),
  }),
})

const MessageEvent = NamedObject(
  'AnthropicMessageEvent',
  { type: Type.String() },
  {
    description:
      'The first of Anthropic’s events; `content_block_…`, `message_delta` and `message_stop` follow, or `error`.',
    ...Open,
  },
)
