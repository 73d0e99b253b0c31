// The replies of /v1/responses in the API description. No schema serializes them, so that OpenAI's
// own fields pass through.
import { Type } from 'typebox'
import { JsonObject, Nullable } from '#platform/http/schema.ts'

const Open = { additionalProperties: true }

const Usage = Type.Object(
  {
    input_tokens: Type.Integer(),
    input_tokens_details: Type.Optional(
      Type.Object(
        { cached_tokens: Type.Optional(Type.Integer()) },
        { title: 'InputTokensDetails', ...Open },
      ),
    ),
    output_tokens: Type.Integer(),
    output_tokens_details: Type.Optional(
      Type.Object(
        { reasoning_tokens: Type.Optional(Type.Integer()) },
        { title: 'OutputTokensDetails', ...Open },
      ),
    ),
    total_tokens: Type.Integer(),
    cost_usd: Type.Optional(Type.Number({ description: 'US dollars, by the price list.' })),
  },
  { title: 'ResponseUsage', ...Open },
)

const OutputItem = Type.Object(
  {
    type: Type.String({
      description:
        '`message`, `reasoning`, `function_call`, `custom_tool_call`, or another of OpenAI’s own.',
    }),
    id: Type.Optional(Type.String()),
  },
  { title: 'ResponseOutputItem', ...Open },
)

export const Response = Type.Object(
  {
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
    instructions: Type.Optional(Nullable(Type.String())),
  },
  { title: 'ResponseObject', ...Open },
)

export const ResponseEvent = Type.Object(
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
    title: 'ResponseEvent',
    ...Open,
    description:
      "OpenAI's events, each under its own name. The last is `response.completed` or `response.incomplete`; a stream that breaks off ends with `response.failed` and `error`.",
  },
)

export const ResponseTokens = Type.Object(
  { object: Type.Literal('response.input_tokens'), input_tokens: Type.Integer() },
  { title: 'ResponseInputTokens' },
)
