// OpenAI's responses under /v1, for all vendors. OpenAI's models get the request unchanged, others
// a translation. Nothing is stored: each request carries the whole conversation, and responses
// cannot be retrieved later.
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
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
import { isReasoningReference, ResponsesBody, requireStateless } from './body.ts'
import { Response, ResponseEvent, ResponseTokens } from './replies.ts'
import { buildResponseBody, createResponseEncoder } from './reply.ts'
import { translate } from './translation.ts'

const tags = ['openai-compatible']

export function responsesRoutes(app: App, gateway: Gateway) {
  app.post(
    '/v1/responses',
    {
      schema: {
        operationId: 'createResponse',
        tags,
        summary: "OpenAI's responses, for all vendors; nothing is stored",
        body: ResponsesBody,
      },
      config: {
        ...AI_POLICY,
        ...describeReply(Response, { parameters: callParameters, headers: ANSWERED_HEADERS }),
        events: { 'response.created': ResponseEvent },
      },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const body = request.body as ResponsesBody
      const caller = requireCaller(request)
      requireStateless(body)
      const translated = once(() => translate(body))
      const call: GatewayCall = {
        caller,
        route: '/v1/responses',
        first: findRouteByName(gateway.config, caller, body.model),
        native: createNativeRequest('responses', request.headers, {
          ...readResponsesRequest(body),
          translated: () => translated().request,
        }),
        signal: clientGone(reply),
        origin: readOrigin(reply, body),
      }
      const needs = { body, tools: () => translated().tools, nowMs: () => gateway.clock.ms() }
      const encoder = body.stream === true ? createResponseEncoder(needs) : null
      return sendAnswer(gateway, request, reply, call, encoder, (completion) =>
        buildResponseBody(needs, completion),
      )
    },
  )

  app.post(
    '/v1/responses/input_tokens',
    {
      schema: {
        operationId: 'countResponseTokens',
        tags,
        summary: 'The number of input tokens of a response',
        description:
          'Counted by OpenAI for its own models; for others it is a guess, rather too many.',
        body: ResponsesBody,
      },
      config: { ...AI_POLICY, ...describeReply(ResponseTokens) },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const body = request.body as ResponsesBody
      const caller = requireCaller(request)
      requireStateless(body)
      const first = findRouteByName(gateway.config, caller, body.model)
      const native = createNativeRequest('responses', request.headers, {
        ...readResponsesRequest(body),
        translated: once(() => translate(body).request),
      })
      const tokens = await countTokens(gateway, {
        caller,
        first,
        native,
        signal: clientGone(reply),
      })
      return { object: 'response.input_tokens', input_tokens: tokens }
    },
  )

  // OpenAI's clients request stored responses here.
  app.route({
    method: ['GET', 'DELETE'],
    url: '/v1/responses/*',
    schema: { operationId: 'findResponse', hide: true },
    config: { ...AI_POLICY, limit: 'general' },
    handler: async () => {
      throw aiProblem('response_not_found')
    },
  })
}

/** Returns the request that OpenAI receives. */
function readResponsesRequest(body: ResponsesBody) {
  const { input, max_output_tokens: limit = null } = body
  const isMixed = Array.isArray(input) && input.some(isForeign)
  return {
    body: isMixed ? { ...body, input: input.filter((item) => !isForeign(item)) } : body,
    limit,
  }
}

/** Reasoning of other vendors, or a reference to reasoning: OpenAI rejects both. */
function isForeign(item: Record<string, unknown>): boolean {
  return (
    (item.type === 'reasoning' && isWrapped(item.encrypted_content)) || isReasoningReference(item)
  )
}
