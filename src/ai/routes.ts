// The product's own API: chat, completions and the list of models.
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { Named, NamedObject, Omittable, OneOf } from '#platform/http/schema.ts'
import { sendAnswer } from './answer.ts'
import { callParameters } from './cached-reply.ts'
import { CALL_TAGS, readOrigin } from './call-origin.ts'
import type { GatewayCall } from './chat-call.ts'
import type { Gateway } from './gateway.ts'
import { buildModelList, ModelList } from './models-view.ts'
import { AI_POLICY, ANSWERED_HEADERS } from './policy.ts'
import { chooseRoute, listProviderNames, MODEL_NAME } from './routing.ts'
import {
  ErrorEvent,
  encodeError,
  encodeTokens,
  encodeTokensAndReasoning,
  type StreamEncoder,
  TokenEvent,
} from './stream-encoder.ts'
import type { Usage } from './vendors/vendor.ts'

const ModelName = Omittable(Type.String(MODEL_NAME))
const Sampling = {
  temperature: Omittable(Type.Number({ minimum: 0, maximum: 2 })),
  max_tokens: Omittable(Type.Integer({ minimum: 1, maximum: 16_384 })),
}
const TEMPERATURE_DEFAULT = 0.7
const MAX_TOKENS_DEFAULT = 1_000

/** The catalogue determines the vendors. */
const providerSchema = (gateway: Gateway) =>
  Omittable(Named('ProviderName', OneOf(...listProviderNames(gateway.config))))
type ProviderSchema = ReturnType<typeof providerSchema>

const ChatMessage = NamedObject('ChatMessage', {
  role: OneOf('system', 'user', 'assistant'),
  content: Type.String(),
})

const chatBody = (Provider: ProviderSchema) =>
  Type.Object({
    messages: Type.Array(ChatMessage, { minItems: 1 }),
    provider: Provider,
    model: ModelName,
    ...Sampling,
    ...CALL_TAGS,
    stream: Omittable(Type.Boolean()),
    include_reasoning: Omittable(
      Type.Boolean({
        description:
          'Streams only: adds `event: reasoning` with the visible reasoning of the model.',
      }),
    ),
    include_usage: Omittable(
      Type.Boolean({
        description:
          'Streams only: adds an event with usage, model and finish_reason before the last line.',
      }),
    ),
  })

const completionBody = (Provider: ProviderSchema) =>
  Type.Object({
    prompt: Type.String({ minLength: 1 }),
    system_prompt: Omittable(Type.String()),
    provider: Provider,
    model: ModelName,
    ...Sampling,
    ...CALL_TAGS,
  })

const UsageView = NamedObject('TokenUsage', {
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
})

/** Events of a stream in the product's own format. */
const EVENTS = {
  message: TokenEvent,
  reasoning: Type.Object(
    { token: Type.String() },
    { description: 'Visible reasoning of the model; only with `include_reasoning`.' },
  ),
  usage: Type.Object(
    {
      usage: UsageView,
      model: Type.String(),
      finish_reason: Type.Union([Type.String(), Type.Null()]),
    },
    { description: 'The last event before `[DONE]`; only with `include_usage`.' },
  ),
  error: ErrorEvent,
}

const tags = ['ai']

export function aiRoutes(app: App, gateway: Gateway) {
  const Provider = providerSchema(gateway)

  app.post(
    '/api/ai/chat',
    {
      schema: {
        operationId: 'chat',
        tags,
        summary: 'Answer a conversation; with `stream` as server-sent events',
        body: chatBody(Provider),
        response: {
          200: Type.Object({ content: Type.String(), model: Type.String(), usage: UsageView }),
        },
      },
      config: {
        ...AI_POLICY,
        events: EVENTS,
        described: {
          parameters: callParameters,
          replies: { 200: { description: 'Done.', headers: ANSWERED_HEADERS } },
        },
      },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { body } = request
      const caller = requireCaller(request)
      const call: GatewayCall = {
        caller,
        route: '/api/ai/chat',
        first: chooseRoute(gateway.config, caller, body.provider ?? null, body.model ?? null),
        request: {
          messages: body.messages,
          ...readSampling(body),
          wishes: { reasoning: body.stream === true && body.include_reasoning === true },
        },
        signal: clientGone(reply),
        origin: readOrigin(reply, body),
      }
      const encoder = body.stream
        ? createTokenEncoder(body.include_usage === true, body.include_reasoning === true)
        : null
      return sendAnswer(gateway, request, reply, call, encoder, ({ answer, model, usage }) => ({
        content: answer.text,
        model,
        usage: buildUsageView(usage),
      }))
    },
  )

  app.post(
    '/api/ai/completions',
    {
      schema: {
        operationId: 'completePrompt',
        tags,
        summary: 'Answer one prompt',
        body: completionBody(Provider),
        response: {
          200: Type.Object({ completion: Type.String(), model: Type.String(), usage: UsageView }),
        },
      },
      config: {
        ...AI_POLICY,
        described: {
          parameters: callParameters,
          replies: { 200: { description: 'Done.', headers: ANSWERED_HEADERS } },
        },
      },
      bodyLimit: gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { body } = request
      const system = body.system_prompt
        ? [{ role: 'system' as const, content: body.system_prompt }]
        : []
      const caller = requireCaller(request)
      const call: GatewayCall = {
        caller,
        route: '/api/ai/completions',
        first: chooseRoute(gateway.config, caller, body.provider ?? null, body.model ?? null),
        request: {
          messages: [...system, { role: 'user', content: body.prompt }],
          ...readSampling(body),
        },
        signal: clientGone(reply),
        origin: readOrigin(reply, body),
      }
      return sendAnswer(gateway, request, reply, call, null, ({ answer, model, usage }) => ({
        completion: answer.text,
        model,
        usage: buildUsageView(usage),
      }))
    },
  )

  app.get(
    '/api/ai/models',
    {
      schema: {
        operationId: 'listModels',
        tags,
        summary: 'Models and their prices, and which vendors are configured',
        response: { 200: ModelList },
      },
      config: { ...AI_POLICY, limit: 'general', viewable: true },
    },
    async (request) => buildModelList(gateway, requireCaller(request)),
  )
}

/** The product's own stream format. */
function createTokenEncoder(withUsage: boolean, withReasoning: boolean): StreamEncoder {
  return {
    answer: (answer) => ({
      batch: withReasoning ? encodeTokensAndReasoning : encodeTokens,
      end() {
        if (!withUsage) return ''
        const { model } = answer
        const usageEvent = {
          usage: buildUsageView(answer.usage()),
          model,
          finish_reason: answer.finish(),
        }
        return `event: usage\ndata: ${JSON.stringify(usageEvent)}\n\n`
      },
    }),
    failure: encodeError,
  }
}

function readSampling(body: { temperature?: number | null; max_tokens?: number | null }) {
  return {
    temperature: body.temperature ?? TEMPERATURE_DEFAULT,
    max_tokens: body.max_tokens ?? MAX_TOKENS_DEFAULT,
  }
}

function buildUsageView({ prompt, completion }: Usage) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}
