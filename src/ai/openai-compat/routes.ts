// OpenAI's API under /v1: its own clients work here with an API key, for all vendors, by changing their base address.
import { Type } from 'typebox'
import { ofVendor } from '#models/catalogue.ts'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { Named, Nullable, OneOf } from '#platform/http/schema.ts'
import { originOf } from '../call-origin.ts'
import { complete, type Gateway, type GatewayCall, stream } from '../gateway.ts'
import { AI_POLICY } from '../policy.ts'
import { aiProblem } from '../problems.ts'
import { MODEL_NAME, routeForModel } from '../routing.ts'
import { sendAnswerStream } from '../stream-encoder.ts'
import type { EmbeddingInput } from '../vendors/vendor.ts'
import { ChatBody, chatRequestOf, requireUnderstood } from './chat-body.ts'
import { chunkEncoder, completionBody } from './chat-reply.ts'
import { type EmbeddingNeeds, embeddingsReply } from './embeddings.ts'
import { modelViews } from './models.ts'
import { ChatCompletion, ChatCompletionChunk, EmbeddingList, OpenAiModel, OpenAiModelList } from './replies.ts'

const tags = ['openai-compatible']

const Tokens = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: 100_000 })

/** In the description alone. */
const replies = (schema: object, headers: Record<string, object> = {}) => ({
  described: { replies: { 200: { description: 'Done.', content: { 'application/json': schema }, headers } } },
})
const COST = {
  'X-Latchkey-Cost-Usd': {
    description: 'What it cost, by the price list; not of a stream.',
    schema: { type: 'string' },
  },
}

export function openAiRoutes(app: App, gateway: Gateway, embeddingNeeds: EmbeddingNeeds) {
  app.post(
    '/v1/chat/completions',
    {
      schema: {
        operationId: 'createChatCompletion',
        tags,
        summary: "OpenAI's chat completions, for all vendors",
        body: ChatBody,
      },
      config: { ...AI_POLICY, ...replies(ChatCompletion, COST), events: { message: ChatCompletionChunk } },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { body } = request
      const caller = callerOf(request)
      const first = routeForModel(gateway.config, caller, body.model)
      const asked = chatRequestOf(body)
      if (ofVendor(gateway.config.vendors, first.vendor).dialect !== 'openai') requireUnderstood(asked)
      const call: GatewayCall = {
        caller,
        route: '/v1/chat/completions',
        first,
        request: asked,
        signal: clientGone(reply),
        origin: originOf(reply, body),
      }
      if (body.stream) {
        const encoder = chunkEncoder(body.stream_options?.include_usage === true)
        return sendAnswerStream(request, reply, gateway, stream(gateway, call), encoder)
      }
      const completion = await complete(gateway, call)
      reply.headers(completion.headers)
      return completionBody(completion)
    },
  )

  app.get(
    '/v1/models',
    {
      schema: {
        operationId: 'listOpenAiModels',
        tags,
        summary: 'The models of all configured vendors, as far as the caller’s plan and key have them',
      },
      config: { ...AI_POLICY, ...replies(OpenAiModelList), limit: 'general' },
    },
    async (request) => ({ object: 'list', data: modelViews(gateway, callerOf(request)) }),
  )

  app.get(
    '/v1/models/:model',
    {
      schema: {
        operationId: 'getOpenAiModel',
        tags,
        summary: 'One model',
        params: Type.Object({ model: Type.String() }),
      },
      config: { ...AI_POLICY, ...replies(OpenAiModel), limit: 'general' },
    },
    async (request) => {
      const { model: id } = request.params
      const found = modelViews(gateway, callerOf(request)).find((one) => one.id === id)
      if (!found) throw aiProblem('model_not_listed')
      return found
    },
  )

  app.post(
    '/v1/embeddings',
    {
      schema: {
        operationId: 'createEmbeddings',
        tags,
        summary: "OpenAI's embeddings",
        body: Type.Object(
          {
            model: Type.String(MODEL_NAME),
            input: Type.Union([
              Type.String({ minLength: 1 }),
              Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 2_048 }),
              Tokens,
              Type.Array(Tokens, { minItems: 1, maxItems: 2_048 }),
            ]),
            encoding_format: Type.Optional(Nullable(Named('EmbeddingEncoding', OneOf('float', 'base64')))),
            dimensions: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 4_096 }))),
          },
          { additionalProperties: true },
        ),
      },
      config: { ...AI_POLICY, ...replies(EmbeddingList, COST) },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { body } = request
      return embeddingsReply(gateway, embeddingNeeds, {
        caller: callerOf(request),
        model: body.model,
        inputs: inputsOf(body.input),
        dimensions: body.dimensions ?? null,
        encoding: body.encoding_format ?? 'float',
        signal: clientGone(reply),
        origin: originOf(reply, body),
      })
    },
  )
}

/** A text or its tokens, one or many. */
function inputsOf(input: string | string[] | number[] | number[][]): EmbeddingInput[] {
  if (typeof input === 'string') return [input]
  return typeof input[0] === 'number' ? [input as number[]] : (input as EmbeddingInput[])
}
