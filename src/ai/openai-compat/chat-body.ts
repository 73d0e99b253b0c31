/** The body of /v1/chat/completions. Checks only what the gateway reads, the vendor the rest. */
import { type Static, Type } from 'typebox'
import { Nullable, OneOf } from '#platform/http/schema.ts'
import { MODEL_NAME } from '../routing.ts'
import type { ChatRequest } from '../vendors/chat-request.ts'
import { withoutNulls } from '../vendors/json.ts'

export const ChatBody = Type.Object(
  {
    model: Type.String(MODEL_NAME),
    messages: Type.Array(
      Type.Object(
        {
          role: OneOf('system', 'developer', 'user', 'assistant', 'tool'),
          content: Type.Optional(
            Type.Union([
              Type.String(),
              Type.Null(),
              Type.Array(
                Type.Object(
                  { type: Type.String() },
                  { title: 'ContentPart', additionalProperties: true },
                ),
              ),
            ]),
          ),
          tool_calls: Type.Optional(
            Nullable(
              Type.Array(
                Type.Object(
                  {
                    id: Type.String(),
                    function: Type.Optional(
                      Type.Object(
                        { name: Type.String(), arguments: Type.String() },
                        { title: 'ToolCallFunction', additionalProperties: true },
                      ),
                    ),
                  },
                  { title: 'RequestToolCall', additionalProperties: true },
                ),
              ),
            ),
          ),
          tool_call_id: Type.Optional(Nullable(Type.String())),
        },
        { title: 'ChatCompletionRequestMessage', additionalProperties: true },
      ),
      { minItems: 1 },
    ),
    temperature: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 2 }))),
    top_p: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 1 }))),
    max_tokens: Type.Optional(Nullable(Type.Integer({ minimum: 1 }))),
    max_completion_tokens: Type.Optional(Nullable(Type.Integer({ minimum: 1 }))),
    n: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 128 }))),
    stream: Type.Optional(Nullable(Type.Boolean())),
    include_reasoning: Type.Optional(Nullable(Type.Boolean())),
    stream_options: Type.Optional(
      Nullable(
        Type.Object(
          { include_usage: Type.Optional(Nullable(Type.Boolean())) },
          { title: 'StreamOptions', additionalProperties: true },
        ),
      ),
    ),
    tools: Type.Optional(
      Nullable(
        Type.Array(
          Type.Object(
            {
              type: Type.String(),
              function: Type.Optional(
                Type.Object(
                  { name: Type.String() },
                  { title: 'ToolFunction', additionalProperties: true },
                ),
              ),
            },
            { title: 'Tool', additionalProperties: true },
          ),
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
