/** The body of /v1/messages. Checks only what the gateway reads; the vendor checks the rest. */
import { type Static, Type } from 'typebox'
import { Nullable, OneOf } from '#platform/http/schema.ts'
import { MODEL_NAME } from '../routing.ts'

const Open = { additionalProperties: true }

const Blocks = Type.Array(Type.Object({ type: Type.String() }, { title: 'ContentBlock', ...Open }))
const Content = Type.Union([Type.String(), Blocks])

const prompt = {
  model: Type.String(MODEL_NAME),
  messages: Type.Array(
    Type.Object(
      { role: OneOf('user', 'assistant', 'system'), content: Content },
      { title: 'AnthropicMessageParam', ...Open },
    ),
    { minItems: 1 },
  ),
  system: Type.Optional(Nullable(Content)),
  tools: Type.Optional(
    Nullable(
      Type.Array(
        Type.Object(
          { name: Type.Optional(Type.String()), type: Type.Optional(Nullable(Type.String())) },
          { title: 'AnthropicTool', ...Open },
        ),
      ),
    ),
  ),
  tool_choice: Type.Optional(
    Nullable(
      Type.Object(
        { type: OneOf('auto', 'any', 'tool', 'none'), name: Type.Optional(Type.String()) },
        { title: 'AnthropicToolChoice', ...Open },
      ),
    ),
  ),
}

export const MessageBody = Type.Object(
  {
    ...prompt,
    max_tokens: Type.Integer({ minimum: 1 }),
    stream: Type.Optional(Nullable(Type.Boolean())),
    stop_sequences: Type.Optional(Nullable(Type.Array(Type.String()))),
    temperature: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 1 }))),
    top_p: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 1 }))),
  },
  Open,
)

export const CountBody = Type.Object(prompt, Open)

export type MessageParams = Static<typeof CountBody> &
  Partial<Static<typeof MessageBody>> &
  Record<string, unknown>
export type MessageParam = MessageParams['messages'][number]
export type Block = Static<typeof Blocks>[number] & Record<string, unknown>
