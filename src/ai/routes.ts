import { type Static, Type } from 'typebox'
import { type App, MEGABYTE } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { callerOf } from '#platform/http/gate.ts'
import { Nullable, OneOf } from '#platform/http/schema.ts'
import { dearestPrice } from './cost.ts'
import { complete, type Gateway, type GatewayCall, stream } from './gateway.ts'
import { findModel, MODELS, PRICES_AS_OF } from './models.ts'
import { defaultModel, isConfigured, MODEL_NAME, PROVIDER_NAMES, slotsOf, vendorOf } from './plan.ts'
import { errorEvent, type Printer, printAnswer, tokenLines, tokenLinesWithThoughts } from './printing.ts'
import type { Usage, VendorName } from './vendors/vendor.ts'

export const AI_BODY_BYTES_MAX = 16 * MEGABYTE

const Provider = Type.Optional(Nullable(OneOf(...PROVIDER_NAMES)))
const ModelName = Type.Optional(Nullable(Type.String(MODEL_NAME)))
const Sampling = {
  temperature: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 2 }))),
  max_tokens: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 16_384 }))),
}
const TEMPERATURE_DEFAULT = 0.7
const MAX_TOKENS_DEFAULT = 1_000

const ChatBody = Type.Object({
  messages: Type.Array(Type.Object({ role: OneOf('system', 'user', 'assistant'), content: Type.String() }), {
    minItems: 1,
  }),
  provider: Provider,
  model: ModelName,
  ...Sampling,
  stream: Type.Optional(Nullable(Type.Boolean())),
  include_reasoning: Type.Optional(
    Nullable(Type.Boolean({ description: 'Streams only: `event: reasoning` for what the model thinks aloud.' })),
  ),
  include_usage: Type.Optional(
    Nullable(
      Type.Boolean({ description: 'Streams only: an event with usage, model and finish_reason before the last line.' }),
    ),
  ),
})

const CompletionBody = Type.Object({
  prompt: Type.String({ minLength: 1 }),
  system_prompt: Type.Optional(Nullable(Type.String())),
  provider: Provider,
  model: ModelName,
  ...Sampling,
})

const UsageView = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
})

const tags = ['ai']
const config = { access: 'user-or-key', needs: 'ai', limit: 'ai', scope: 'ai' } as const

export function aiRoutes(app: App, gateway: Gateway) {
  app.post(
    '/api/ai/chat',
    {
      schema: {
        tags,
        summary: 'Answer a conversation; with `stream` as server-sent events',
        body: ChatBody,
        response: {
          200: Type.Object({ content: Type.String(), model: Type.String(), usage: UsageView }),
        },
      },
      config,
      bodyLimit: AI_BODY_BYTES_MAX,
    },
    async (request, reply) => {
      const { body } = request
      const call: GatewayCall = {
        caller: callerOf(request),
        route: '/api/ai/chat',
        first: firstOf(gateway, body),
        request: {
          messages: body.messages,
          ...samplingOf(body),
          wishes: { thoughts: body.stream === true && body.include_reasoning === true },
        },
        signal: clientGone(reply),
      }
      if (body.stream) {
        const printer = tokenPrinter(body.include_usage === true, body.include_reasoning === true)
        return printAnswer(request, reply, gateway, stream(gateway, call), printer)
      }

      const { answer, model, usage, headers } = await complete(gateway, call)
      reply.headers(headers)
      return { content: answer.text, model, usage: usageView(usage) }
    },
  )

  app.post(
    '/api/ai/completions',
    {
      schema: {
        tags,
        summary: 'Answer one prompt',
        body: CompletionBody,
        response: {
          200: Type.Object({ completion: Type.String(), model: Type.String(), usage: UsageView }),
        },
      },
      config,
      bodyLimit: AI_BODY_BYTES_MAX,
    },
    async (request, reply) => {
      const { body } = request
      const system = body.system_prompt ? [{ role: 'system' as const, content: body.system_prompt }] : []
      const { answer, model, usage, headers } = await complete(gateway, {
        caller: callerOf(request),
        route: '/api/ai/completions',
        first: firstOf(gateway, body),
        request: { messages: [...system, { role: 'user', content: body.prompt }], ...samplingOf(body) },
        signal: clientGone(reply),
      })
      reply.headers(headers)
      return { completion: answer.text, model, usage: usageView(usage) }
    },
  )

  app.get(
    '/api/ai/models',
    {
      schema: {
        tags,
        summary: 'Models and their prices, and which vendors are configured',
        response: { 200: ModelList },
      },
      config: { ...config, limit: 'general' },
    },
    async () => modelList(gateway),
  )
}

/** The product's own dialect. */
function tokenPrinter(withUsage: boolean, withThoughts: boolean): Printer {
  return {
    answer: (answer) => ({
      batch: withThoughts ? tokenLinesWithThoughts : tokenLines,
      end() {
        if (!withUsage) return ''
        const { model } = answer
        const told = { usage: usageView(answer.usage()), model, finish_reason: answer.finish() }
        return `event: usage\ndata: ${JSON.stringify(told)}\n\n`
      },
    }),
    failure: ({ detail }) => errorEvent(detail),
  }
}

const ModelList = Type.Object({
  prices_as_of: Type.String(),
  default_provider: Type.String(),
  default_model: Type.String(),
  providers: Type.Array(
    Type.Object({
      provider: Type.String(),
      label: Type.String({ description: 'Its name for people.' }),
      configured: Type.Boolean(),
      sandbox: Type.Boolean(),
      default_model: Type.String(),
    }),
  ),
  models: Type.Array(
    Type.Object({
      id: Type.String(),
      provider: Type.String(),
      kind: OneOf('chat', 'embedding'),
      context_tokens: Nullable(Type.Integer()),
      output_tokens_max: Nullable(Type.Integer()),
      input_usd_per_million: Type.Number(),
      cached_input_usd_per_million: Type.Number(),
      output_usd_per_million: Type.Number(),
      price_estimated: Type.Boolean({ description: "No price is known: its vendor's dearest counts." }),
      available: Type.Boolean(),
      default: Type.Boolean(),
    }),
  ),
})

const LABELS: Record<VendorName, string> = { openai: 'OpenAI', anthropic: 'Anthropic', gemini: 'Gemini' }

/** What a choice of models needs to know: the providers in the order of their slots, each with its default, and all models. */
function modelList({ config: ai }: Gateway): Static<typeof ModelList> {
  const vendors = slotsOf(ai)
  const first = vendorOf(ai, null)
  return {
    prices_as_of: PRICES_AS_OF,
    default_provider: first,
    default_model: defaultModel(ai, first),
    providers: vendors.map((vendor) => ({
      provider: vendor,
      label: LABELS[vendor],
      configured: isConfigured(ai, vendor),
      sandbox: ai.vendors[vendor].sandboxed,
      default_model: defaultModel(ai, vendor),
    })),
    models: [
      ...vendors.flatMap((vendor) => unlistedDefault(ai, vendor)),
      ...MODELS.map(({ id, vendor, kind, contextTokens, outputTokensMax, price }) => ({
        id,
        provider: vendor,
        kind,
        context_tokens: contextTokens,
        output_tokens_max: outputTokensMax,
        input_usd_per_million: price.input,
        cached_input_usd_per_million: price.cached,
        output_usd_per_million: price.output,
        price_estimated: false,
        available: isConfigured(ai, vendor),
        default: defaultModel(ai, vendor) === id,
      })),
    ],
  }
}

/** The operator's own choice (OPENAI_MODEL=llama3), where the price list does not know it. */
function unlistedDefault(ai: Gateway['config'], vendor: VendorName) {
  const id = defaultModel(ai, vendor)
  if (MODELS.some((model) => model.id === id)) return []
  const known = findModel(id)
  const price = known?.price ?? dearestPrice(vendor)
  return [
    {
      id,
      provider: vendor,
      kind: 'chat' as const,
      context_tokens: known?.contextTokens ?? null,
      output_tokens_max: known?.outputTokensMax ?? null,
      input_usd_per_million: price.input,
      cached_input_usd_per_million: price.cached,
      output_usd_per_million: price.output,
      price_estimated: known === null,
      available: isConfigured(ai, vendor),
      default: true,
    },
  ]
}

function firstOf({ config: ai }: Gateway, body: Pick<Static<typeof ChatBody>, 'provider' | 'model'>) {
  const vendor = vendorOf(ai, body.provider ?? null)
  return { vendor, model: body.model ?? defaultModel(ai, vendor) }
}

function samplingOf(body: Pick<Static<typeof ChatBody>, 'temperature' | 'max_tokens'>) {
  return {
    temperature: body.temperature ?? TEMPERATURE_DEFAULT,
    max_tokens: body.max_tokens ?? MAX_TOKENS_DEFAULT,
  }
}

function usageView({ prompt, completion }: Usage) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}
