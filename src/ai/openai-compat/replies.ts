/** The replies of /v1 in the API description. Nothing serializes them: vendors' fields pass. */
import { type TSchema, Type } from 'typebox'
import { STRATEGIES } from '#models/catalogue.ts'
import { JsonObject, Nullable, OneOf } from '#platform/http/schema.ts'
import { ModelCapabilities } from '../capabilities.ts'

const Open = { additionalProperties: true }

const CostUsd = Type.Optional(Type.Number({ description: 'US dollars, by the price list.' }))

const Usage = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    prompt_tokens_details: Type.Optional(
      Type.Object(
        { cached_tokens: Type.Optional(Type.Integer()) },
        { title: 'PromptTokensDetails', ...Open },
      ),
    ),
    completion_tokens_details: Type.Optional(
      Type.Object(
        { reasoning_tokens: Type.Optional(Type.Integer()) },
        { title: 'CompletionTokensDetails', ...Open },
      ),
    ),
    cost_usd: CostUsd,
  },
  { title: 'ChatCompletionUsage', ...Open },
)

/** Fields of a message, whole or as a delta. */
const messageFields = {
  content: Type.Optional(Nullable(Type.String())),
  refusal: Type.Optional(Nullable(Type.String())),
  reasoning_content: Type.Optional(Type.String({ description: 'The reasoning as readable text.' })),
  reasoning_details: Type.Optional(
    Type.Array(JsonObject, {
      description: 'The reasoning in the form that clients must send back unchanged.',
    }),
  ),
}

const Call = Type.Object(
  { name: Type.String(), arguments: Type.String() },
  { title: 'ToolCallFunction', ...Open },
)
const ToolCall = Type.Object(
  { id: Type.String(), type: Type.Literal('function'), function: Call },
  { title: 'ToolCall', ...Open },
)
const ToolCallDelta = Type.Object(
  {
    index: Type.Integer(),
    id: Type.Optional(Type.String()),
    type: Type.Optional(Type.Literal('function')),
    function: Type.Optional(
      Type.Object(makeOptional(Call.properties), { title: 'ToolCallFunctionDelta', ...Open }),
    ),
  },
  { title: 'ToolCallDelta', ...Open },
)

const FinishReason = Nullable(
  Type.String({
    description:
      '`stop`, `length`, `tool_calls`, `content_filter`, or another value from the vendor.',
  }),
)

export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Seconds since 1970.' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object(
        {
          index: Type.Integer(),
          message: Type.Object(
            {
              role: Type.Literal('assistant'),
              ...messageFields,
              tool_calls: Type.Optional(Type.Array(ToolCall)),
            },
            { title: 'ChatCompletionMessage', ...Open },
          ),
          finish_reason: FinishReason,
        },
        { title: 'ChatCompletionChoice', ...Open },
      ),
    ),
    usage: Type.Optional(Usage),
  },
  { title: 'ChatCompletion', ...Open },
)

export const ChatCompletionChunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer({ description: 'Seconds since 1970.' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object(
        {
          index: Type.Integer(),
          delta: Type.Object(
            {
              role: Type.Optional(Type.Literal('assistant')),
              ...messageFields,
              tool_calls: Type.Optional(Type.Array(ToolCallDelta)),
            },
            { title: 'ChatCompletionDelta', ...Open },
          ),
          finish_reason: Type.Optional(FinishReason),
        },
        { title: 'ChatCompletionChunkChoice', ...Open },
      ),
    ),
    usage: Type.Optional(Type.Unsafe<unknown>({ anyOf: [Usage, { type: 'null' }] })),
  },
  {
    title: 'ChatCompletionChunk',
    ...Open,
    description:
      "OpenAI's chunk; a stream that breaks off ends with its `error` instead, and no `[DONE]`.",
  },
)

const Price = Type.Object(
  { input: Type.Number(), output: Type.Number(), cached: Type.Number() },
  { title: 'OpenAiModelPrice', description: 'US dollars per million tokens.' },
)

export const OpenAiModel = Type.Object(
  {
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
  },
  { title: 'OpenAiModel' },
)

export const OpenAiModelList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(OpenAiModel) },
  { title: 'OpenAiModelList' },
)

export const EmbeddingList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object(
        {
          object: Type.Literal('embedding'),
          index: Type.Integer(),
          embedding: Type.Union([Type.Array(Type.Number()), Type.String()], {
            description: 'A string if `encoding_format` is `base64`.',
          }),
        },
        { title: 'Embedding' },
      ),
    ),
    model: Type.String(),
    usage: Type.Object(
      { prompt_tokens: Type.Integer(), total_tokens: Type.Integer(), cost_usd: CostUsd },
      { title: 'EmbeddingUsage' },
    ),
  },
  { title: 'EmbeddingList' },
)

function makeOptional(properties: Record<string, TSchema>): Record<string, TSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  )
}
