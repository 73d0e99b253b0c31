/** The replies of /v1 in the API description. Nothing serializes them: vendors' fields pass. */
import { type TSchema, Type } from 'typebox'
import { STRATEGIES } from '#models/catalogue.ts'
import {
  JsonObject,
  NamedObject,
  Nullable,
  Omittable,
  OneOf,
  OpenObject,
} from '#platform/http/schema.ts'
import { ModelCapabilities } from '../capabilities.ts'

const Open = { additionalProperties: true }

const CostUsd = Type.Optional(Type.Number({ description: 'US dollars, by the price list.' }))

const Usage = OpenObject('ChatCompletionUsage', {
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  prompt_tokens_details: Type.Optional(
    OpenObject('PromptTokensDetails', { cached_tokens: Type.Optional(Type.Integer()) }),
  ),
  completion_tokens_details: Type.Optional(
    OpenObject('CompletionTokensDetails', { reasoning_tokens: Type.Optional(Type.Integer()) }),
  ),
  cost_usd: CostUsd,
})

/** Fields of a message, whole or as a delta. */
const messageFields = {
  content: Omittable(Type.String()),
  refusal: Omittable(Type.String()),
  reasoning_content: Type.Optional(Type.String({ description: 'The reasoning as readable text.' })),
  reasoning_details: Type.Optional(
    Type.Array(JsonObject, {
      description: 'The reasoning in the form that clients must send back unchanged.',
    }),
  ),
}

const Call = OpenObject('ToolCallFunction', { name: Type.String(), arguments: Type.String() })
const ToolCall = OpenObject('ToolCall', {
  id: Type.String(),
  type: Type.Literal('function'),
  function: Call,
})
const ToolCallDelta = OpenObject('ToolCallDelta', {
  index: Type.Integer(),
  id: Type.Optional(Type.String()),
  type: Type.Optional(Type.Literal('function')),
  function: Type.Optional(
    Type.Object(makeOptional(Call.properties), { title: 'ToolCallFunctionDelta', ...Open }),
  ),
})

const FinishReason = Nullable(
  Type.String({
    description:
      '`stop`, `length`, `tool_calls`, `content_filter`, or another value from the vendor.',
  }),
)

export const ChatCompletion = OpenObject('ChatCompletion', {
  id: Type.String(),
  object: Type.Literal('chat.completion'),
  created: Type.Integer({ description: 'Seconds since 1970.' }),
  model: Type.String(),
  choices: Type.Array(
    OpenObject('ChatCompletionChoice', {
      index: Type.Integer(),
      message: OpenObject('ChatCompletionMessage', {
        role: Type.Literal('assistant'),
        ...messageFields,
        tool_calls: Type.Optional(Type.Array(ToolCall)),
      }),
      finish_reason: FinishReason,
    }),
  ),
  usage: Type.Optional(Usage),
})

export const ChatCompletionChunk = NamedObject(
  'ChatCompletionChunk',
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer({ description: 'Seconds since 1970.' }),
    model: Type.String(),
    choices: Type.Array(
      OpenObject('ChatCompletionChunkChoice', {
        index: Type.Integer(),
        delta: OpenObject('ChatCompletionDelta', {
          role: Type.Optional(Type.Literal('assistant')),
          ...messageFields,
          tool_calls: Type.Optional(Type.Array(ToolCallDelta)),
        }),
        finish_reason: Type.Optional(FinishReason),
      }),
    ),
    usage: Type.Optional(Type.Unsafe<unknown>({ anyOf: [Usage, { type: 'null' }] })),
  },
  {
    ...Open,
    description:
      "OpenAI's chunk; a stream that breaks off ends with its `error` instead, and no `[DONE]`.",
  },
)

const Price = NamedObject(
  'OpenAiModelPrice',
  { input: Type.Number(), output: Type.Number(), cached: Type.Number() },
  { description: 'US dollars per million tokens.' },
)

export const OpenAiModel = NamedObject('OpenAiModel', {
  id: Type.String(),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Seconds since 1970.' }),
  owned_by: Type.String(),
  context_tokens: Nullable(Type.Integer()),
  output_tokens_max: Nullable(Type.Integer()),
  price: Nullable(Price),
  capabilities: Nullable(ModelCapabilities),
  routes: Type.Optional(
    Type.Array(Type.String(), {
      description: 'For an alias of several models: the models that may answer.',
    }),
  ),
  routed_by: Type.Optional(OneOf(...STRATEGIES)),
})

export const OpenAiModelList = NamedObject('OpenAiModelList', {
  object: Type.Literal('list'),
  data: Type.Array(OpenAiModel),
})

export const EmbeddingList = NamedObject('EmbeddingList', {
  object: Type.Literal('list'),
  data: Type.Array(
    NamedObject('Embedding', {
      object: Type.Literal('embedding'),
      index: Type.Integer(),
      embedding: Type.Union([Type.Array(Type.Number()), Type.String()], {
        description: 'A string if `encoding_format` is `base64`.',
      }),
    }),
  ),
  model: Type.String(),
  usage: NamedObject('EmbeddingUsage', {
    prompt_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    cost_usd: CostUsd,
  }),
})

function makeOptional(properties: Record<string, TSchema>): Record<string, TSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  )
}
