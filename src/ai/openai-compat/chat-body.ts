/** The body of /v1/chat/completions. Checks only what the gateway reads, the vendor the rest. */
import { type Static, Type } from 'typebox'
import { NamedObject, Omittable, OneOf } from '#platform/http/schema.ts'
import { MODEL_NAME } from '../routing.ts'
import type { ChatRequest } from '../vendors/chat-request.ts'
import { withoutNulls } from '../vendors/json.ts'

export const ChatBody = Type.Object(
  {
    model: Type.String(MODEL_NAME),
    messages: Type.Array(
      NamedObject(
        'ChatCompletionRequestMessage',
        {
          role: OneOf('system', 'developer', 'user', 'assistant', 'tool'),
          content: Type.Optional(
            Type.Union([
              Type.String(),
              Type.Null(),
              Type.Array(
                NamedObject('ContentPart', { type: Type.String() }, { additionalProperties: true }),
              ),
            ]),
          ),
          tool_calls: Omittable(
            Type.Array(
              NamedObject(
                'RequestToolCall',
                {
                  id: Type.String(),
                  function: Type.Optional(
                    NamedObject(
                      'ToolCallFunction',
                      { name: Type.String(), arguments: Type.String() },
                      { additionalProperties: true },
                    ),
                  ),
                },
                { additionalProperties: true },
              ),
            ),
          ),
          tool_call_id: Omittable(Type.String()),
        },
        { additionalProperties: true },
      ),
      { minItems: 1 },
    ),
    temperature: Omittable(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: Omittable(Type.Number({ minimum: 0, maximum: 1 })),
    max_tokens: Omittable(Type.Integer({ minimum: 1 })),
    max_completion_tokens: Omittable(Type.Integer({ minimum: 1 })),
    n: Omittable(Type.Integer({ minimum: 1, maximum: 128 })),
    stream: Omittable(Type.Boolean()),
    include_reasoning: Omittable(Type.Boolean()),
    stream_options: Omittable(
      NamedObject(
        'StreamOptions',
        { include_usage: Omittable(Type.Boolean()) },
        { additionalProperties: true },
      ),
    ),
    tools: Omittable(
      Type.Array(
        NamedObject(
          'Tool',
          {
            type: Type.String(),
            function: Type.Optional(
              NamedObject('ToolFunction', { name: Type.String() }, { additionalProperties: true }),
            ),
          },
          { additionalProperties: true },
        ),
      ),
    ),
  },
  { additionalProperties: true },
)

/** Removes the gateway's members, and nulls, which OpenAI's clients send for omitted ones. */
export function toChatRequest({
  model,
  stream,
  stream_options,
  ...rest
}: Static<typeof ChatBody>): ChatRequest {
  return {
    ...(withoutNulls(rest) as ChatRequest),
    wishes: { reasoning: rest.include_reasoning !== false, keepsEffort: true },
  }
}
