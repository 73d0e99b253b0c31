// The replies of /v1/responses in the API description. No schema serializes them, so that OpenAI's
// own fields pass through.
import { Type } from 'typebox'
import { JsonObject, NamedObject, Omittable, OpenObject } from '#platform/http/schema.ts'

const Open = { additionalProperties: true }

const Usage = OpenObject('ResponseUsage', {
  input_tokens: Type.Integer(),
  input_tokens_details: Type.Optional(
    OpenObject('InputTokensDetails', { cached_tokens: Type.Optional(Type.Integer()) }),
  ),
  output_tokens: Type.Integer(),
  output_tokens_details: Type.Optional(
    OpenObject('OutputTokensDetails', { reasoning_tokens: Type.Optional(Type.Integer()) }),
  ),
  total_tokens: Type.Integer(),
  cost_usd: Type.Optional(Type.Number({ description: 'US dollars, by the price list.' })),
})

const OutputItem = OpenObject('ResponseOutputItem', {
  type: Type.String({
    description:
      '`message`, `reasoning`, `function_call`, `custom_tool_call`, or another of OpenAI’s own.',
  }),
  id: Type.Optional(Type.String()),
})

export const Response = OpenObject('ResponseObject', {
  id: Type.String(),
  object: Type.Literal('response'),
  created_at: Type.Number({ description: 'Seconds since 1970.' }),
  status: Type.String({ description: '`completed`, `incomplete`, `in_progress` or `failed`.' }),
  model: Type.String(),
  output: Type.Array(OutputItem),
  usage: Type.Optional(Type.Unsafe<unknown>({ anyOf: [Usage, { type: 'null' }] })),
  error: Type.Optional(Type.Unsafe<unknown>({ anyOf: [JsonObject, { type: 'null' }] })),
  incomplete_details: Type.Optional(
    Type.Unsafe<unknown>({ anyOf: [JsonObject, { type: 'null' }] }),
  ),
  instructions: Omittable(Type.String()),
})

export const ResponseEvent = NamedObject(
  'ResponseEvent',
  {
    type: Type.String({
      description: 'The event’s name: `response.created`, `response.output_text.delta`, …',
    }),
    sequence_number: Type.Optional(Type.Integer()),
    response: Type.Optional(Response),
    item: Type.Optional(OutputItem),
    delta: Type.Optional(Type.String()),
  },
  {
    ...Open,
    description:
      "OpenAI's events, each under its own name. The last is `response.completed` or `response.incomplete`; a stream that breaks off ends with `response.failed` and `error`.",
  },
)

export const ResponseTokens = NamedObject('ResponseInputTokens', {
  object: Type.Literal('response.input_tokens'),
  input_tokens: Type.Integer(),
})
