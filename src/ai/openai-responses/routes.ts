// OpenAI's responses under /v1, for all vendors. A model of OpenAI's gets the request as it is, any other a translation.
// Nothing is kept: a conversation comes whole with each request, and what an answer was can be asked nowhere.
import type { IncomingHttpHeaders } from 'node:http'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { cachedReply, cacheParameters } from '../cached-reply.ts'
import { originOf } from '../call-origin.ts'
import { complete, countTokens, type Gateway, type GatewayCall, stream } from '../gateway.ts'
import { AI_POLICY } from '../policy.ts'
import { aiProblem } from '../problems.ts'
import { routeForModel } from '../routing.ts'
import { sendAnswerStream } from '../stream-encoder.ts'
import { isWrapped } from '../thought-envelope.ts'
import type { NativeRequest } from '../vendors/vendor.ts'
import { namesThoughts, ResponsesBody, requireStateless } from './body.ts'
import { passedHeaders } from './passed-headers.ts'
import { Response, ResponseEvent, ResponseTokens } from './replies.ts'
import { responseBody, responseEncoder } from './reply.ts'
import { type Translation, translate } from './translation.ts'

const tags = ['openai-compatible']
/** In the description alone. */
const described = {
  parameters: cacheParameters,
  replies: { 200: { description: 'Done.', content: { 'application/json': Response } } },
}

export function responsesRoutes(app: App, gateway: Gateway) {
  app.post(
    '/v1/responses',
    {
      schema: {
        operationId: 'createResponse',
        tags,
        summary: "OpenAI's responses, for all vendors; nothing is kept",
        body: ResponsesBody,
      },
      config: { ...AI_POLICY, described, events: { 'response.created': ResponseEvent } },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const body = request.body as ResponsesBody
      const caller = callerOf(request)
      requireStateless(body)
      const translated = translationOf(body)
      const call: GatewayCall = {
        caller,
        route: '/v1/responses',
        first: routeForModel(gateway.config, caller, body.model),
        native: nativeRequest(request.headers, body, translated),
        signal: clientGone(reply),
        origin: originOf(reply, body),
      }
      const needs = { body, tools: () => translated().tools, nowMs: () => gateway.clock.ms() }
      if (body.stream === true) {
        return cachedReply(gateway, request, reply, call, { isStream: true }, (keeper) =>
          sendAnswerStream(request, reply, gateway, stream(gateway, call), responseEncoder(needs), keeper),
        )
      }
      return cachedReply(gateway, request, reply, call, { isStream: false }, async () => {
        const completion = await complete(gateway, call)
        reply.headers(completion.headers)
        return responseBody(needs, completion)
      })
    },
  )

  app.post(
    '/v1/responses/input_tokens',
    {
      schema: {
        operationId: 'countResponseTokens',
        tags,
        summary: 'How many tokens a response would read',
        description: 'Counted by OpenAI for its own models; for others it is a guess, rather too many.',
        body: ResponsesBody,
      },
      config: {
        ...AI_POLICY,
        described: { replies: { 200: { description: 'Done.', content: { 'application/json': ResponseTokens } } } },
      },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const body = request.body as ResponsesBody
      const caller = callerOf(request)
      requireStateless(body)
      const first = routeForModel(gateway.config, caller, body.model)
      const native = nativeRequest(request.headers, body, translationOf(body))
      const tokens = await countTokens(gateway, { caller, first, native, signal: clientGone(reply) })
      return { object: 'response.input_tokens', input_tokens: tokens }
    },
  )

  // Its clients look for what OpenAI would have kept.
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

/** Made when it is asked for, and once. */
function translationOf(body: ResponsesBody): () => Translation {
  let translation: Translation | null = null
  return () => {
    translation ??= translate(body)
    return translation
  }
}

function nativeRequest(
  headers: IncomingHttpHeaders,
  body: ResponsesBody,
  translated: () => Translation,
): NativeRequest {
  const { input } = body
  return {
    api: 'responses',
    body:
      Array.isArray(input) && input.some(isForeign)
        ? { ...body, input: input.filter((item) => !isForeign(item)) }
        : body,
    headers: passedHeaders(headers),
    limit: body.max_output_tokens ?? null,
    translated: () => translated().request,
  }
}

/** Thoughts of other vendors' models, or by name alone, from earlier in the conversation: OpenAI would refuse them. */
function isForeign(item: Record<string, unknown>): boolean {
  return (item.type === 'reasoning' && isWrapped(item.encrypted_content)) || namesThoughts(item)
}
