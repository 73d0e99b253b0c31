/** The body of /v1/messages. Checks only what the gateway reads; the vendor checks the rest. */
import { type Static, Type } from 'typebox'
import { Omittable, OneOf, OpenObject } from '#platform/http/schema.ts'
import { MODEL_NAME } from '../routing.ts'

const Open = { additionalProperties: true }

const Blocks = Type.Array(OpenObject('ContentBlock', { type: Type.String() }))
const Content = Type.Union([Type.String(), Blocks])

const prompt = {
  model: Type.String(MODEL_NAME),
  messages: Type.Array(
    OpenObject('AnthropicMessageParam', {
      role: OneOf('user', 'assistant', 'system'),
      content: Content,
    }),
    { minItems: 1 },
  ),
  system: Omittable(Content),
  tools: Omittable(
    Type.Array(
      OpenObject('AnthropicTool', {
        name: Type.Optional(Type.String()),
        type: Omittable(Type.String()),
      }),
    ),
  ),
  tool_choice: Omittable(
    OpenObject('AnthropicToolChoice', {
      type: OneOf('auto', 'any', 'tool', 'none'),
      name: Type.Optional(Type.String()),
    }),
  ),
}

export const MessageBody = Type.Object(
  {
    ...prompt,
    max_tokens: Type.Integer({ minimum: 1 }),
    stream: Omittable(Type.Boolean()),
    stop_sequences: Omittable(Type.Array(Type.String())),
    temperature: Omittable(Type.Number({ minimum: 0, maximum: 1 })),
    top_p: Omittable(Type.Number({ minimum: 0, maximum: 1 })),
  },
  Open,
)

export const CountBody = Type.Object(prompt, Open)

export type MessageParams = Static<typeof CountBody> &
  Partial<Static<typeof MessageBody>> &
  Record<string, unknown>
export type MessageParam = MessageParams['messages'][number]
export type Block = Static<typeof Blocks>[number] & Record<string, unknown>
