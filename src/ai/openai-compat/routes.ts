// OpenAI's API under /v1 for all vendors' models: its clients need only a key and a base address.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { Named, Omittable, OneOf } from '#platform/http/schema.ts'
import { sendAnswer } from '../answer.ts'
import {
  buildAnthropicModel,
  buildAnthropicModelPage,
  isAnthropicClient,
  ModelPageQuery,
} from '../anthropic-messages/models.ts'
import { callParameters } from '../cached-reply.ts'
import { readOrigin } from '../call-origin.ts'
import type { GatewayCall } from '../chat-call.ts'
import type { Gateway } from '../gateway.ts'
import { AI_POLICY, ANSWERED_HEADERS, CHARGED_HEADERS, describeReply } from '../policy.ts'
import { aiProblem } from '../problems.ts'
import { findRouteByName, MODEL_NAME } from '../routing.ts'
import type { EmbeddingInput } from '../vendors/vendor.ts'
import { ChatBody, toChatRequest } from './chat-body.ts'
import { buildCompletionBody, createChunkEncoder } from './chat-reply.ts'
import { type EmbeddingNeeds, sendEmbeddings } from './embeddings.ts'
import { findModelView, listModelViews } from './models.ts'
import { findTextTools, normalizeChatBody } from './other-shapes.ts'
import {
  ChatCompletion,
  ChatCompletionChunk,
  EmbeddingList,
  OpenAiModel,
  OpenAiModelList,
} from './replies.ts'

const tags = ['openai-compatible']

const Tokens = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: 100_000 })

export function openAiRoutes(app: App, gateway: Gateway, embeddingNeeds: EmbeddingNeeds) {
  app.post(
    '/v1/chat/completions',
    {
      schema: {
        operationId: 'createChatCompletion',
        tags,
        summary: "OpenAI's chat completions, for all vendors",
        description:
          'Also accepts what editors send here: a Responses body (`input`), tools without their inner `function`, and Anthropic’s tools and content blocks.',
        body: ChatBody,
      },
      config: {
        ...AI_POLICY,
        ...describeReply(ChatCompletion, { parameters: callParameters, headers: ANSWERED_HEADERS }),
        events: { message: ChatCompletionChunk },
      },
      bodyLimit: gateway.bodyBytesMax,
      preValidation: async (request) => {
        request.body = normalizeChatBody(request.body) as typeof request.body
      },
    },
    (request, reply) => {
      const { body } = request
      const caller = requireCaller(request)
      const textTools = findTextTools(body.tools)
      const call: GatewayCall = {
        caller,
        route: '/v1/chat/completions',
        first: findRouteByName(gateway.config, caller, body.model),
        request: toChatRequest(body),
        signal: clientGone(reply),
        origin: readOrigin(reply, body),
      }
      const encoder = body.stream
        ? createChunkEncoder(body.stream_options?.include_usage === true, textTools)
        : null
      return sendAnswer(gateway, request, reply, call, encoder, (completion) =>
        buildCompletionBody(completion, textTools),
      )
    },
  )

  app.get(
    '/v1/models',
    {
      schema: {
        operationId: 'listOpenAiModels',
        tags,
        summary:
          'The models of all configured vendors, as far as the caller’s plan and key have them',
        description:
          'With an `anthropic-version` header as Anthropic’s clients list them, a page at a time.',
        querystring: ModelPageQuery,
      },
      config: { ...AI_POLICY, ...describeReply(OpenAiModelList), limit: 'general' },
    },
    async (request) => {
      const views = listModelViews(gateway, requireCaller(request))
      return isAnthropicClient(request)
        ? buildAnthropicModelPage(views, request.query)
        : { object: 'list', data: views }
    },
  )

  const findModelReply = (request: FastifyRequest, name: string) => {
    const found = findModelView(gateway, requireCaller(request), name)
    if (found === null) throw aiProblem('model_not_listed')
    return isAnthropicClient(request) ? buildAnthropicModel(found) : found
  }
  app.get(
    '/v1/models/:model',
    {
      schema: {
        operationId: 'getOpenAiModel',
        tags,
        summary: 'One model, by any of its names',
        params: Type.Object({ model: Type.String() }),
      },
      config: { ...AI_POLICY, ...describeReply(OpenAiModel), limit: 'general' },
    },
    async (request) => findModelReply(request, request.params.model),
  )
  // For clients that do not encode the slashes of a name.
  app.get(
    '/v1/models/*',
    { schema: { hide: true }, config: { ...AI_POLICY, limit: 'general' } },
    async (request) => findModelReply(request, (request.params as { '*': string })['*']),
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
            encoding_format: Omittable(Named('EmbeddingEncoding', OneOf('float', 'base64'))),
            dimensions: Omittable(Type.Integer({ minimum: 1, maximum: 4_096 })),
          },
          { additionalProperties: true },
        ),
      },
      config: {
        ...AI_POLICY,
        ...describeReply(EmbeddingList, { parameters: callParameters, headers: CHARGED_HEADERS }),
      },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { body } = request
      return sendEmbeddings(gateway, embeddingNeeds, request, reply, {
        caller: requireCaller(request),
        model: body.model,
        inputs: readInputs(body.input),
        dimensions: body.dimensions ?? null,
        encoding: body.encoding_format ?? 'float',
        signal: clientGone(reply),
        origin: readOrigin(reply, body),
      })
    },
  )
}

/** Accepts one or many texts, or their tokens. */
function readInputs(input: string | string[] | number[] | number[][]): EmbeddingInput[] {
  if (typeof input === 'string') return [input]
  return typeof input[0] === 'number' ? [input as number[]] : (input as EmbeddingInput[])
}
