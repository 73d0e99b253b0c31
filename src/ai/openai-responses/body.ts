// Checks only the members of /v1/responses that the gateway reads; the vendor checks the rest.
import { type Static, Type } from 'typebox'
import { Named, Omittable, OneOf, OpenObject } from '#platform/http/schema.ts'
import { invalid } from '#platform/problems.ts'
import { aiProblem } from '../problems.ts'
import { MODEL_NAME } from '../routing.ts'

const Open = { additionalProperties: true }

const Item = OpenObject('ResponseInputItem', {
  type: Type.Optional(Type.String()),
  role: Type.Optional(Type.String()),
})

export const ResponsesBody = Type.Object(
  {
    model: Type.String(MODEL_NAME),
    input: Type.Optional(Type.Union([Type.String(), Type.Array(Item)])),
    instructions: Omittable(Type.String()),
    tools: Omittable(Type.Array(OpenObject('ResponseTool', { type: Type.String() }))),
    parallel_tool_calls: Omittable(Type.Boolean()),
    max_output_tokens: Omittable(Type.Integer({ minimum: 1 })),
    max_tool_calls: Omittable(
      Type.Integer({
        minimum: 1,
        description: 'Limits the calls of tools that OpenAI runs. Default with a budget: 10.',
      }),
    ),
    // Only OpenAI's models truncate the conversation.
    truncation: Omittable(OneOf('auto', 'disabled')),
    temperature: Omittable(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: Omittable(Type.Number({ minimum: 0, maximum: 1 })),
    reasoning: Omittable(
      OpenObject('ResponseReasoning', {
        effort: Omittable(Type.String()),
        summary: Omittable(Type.String()),
      }),
    ),
    text: Omittable(Named('ResponseText', Type.Object({}, Open))),
    prompt: Omittable(Named('ResponsePrompt', Type.Object({}, Open))),
    stream: Omittable(Type.Boolean()),
    store: Omittable(Type.Boolean({ description: 'Accepted, but nothing is stored.' })),
    background: Omittable(Type.Boolean()),
  },
  Open,
)

/** The request body; unknown members pass through. */
export type ResponsesBody = Omit<
  Static<typeof ResponsesBody>,
  'input' | 'tools' | 'text' | 'reasoning'
> & {
  input?: string | ({ type?: string; role?: string } & Record<string, unknown>)[]
  tools?: Record<string, unknown>[] | null
  text?: Record<string, unknown> | null
  reasoning?: Record<string, unknown> | null
  [other: string]: unknown
}

/** Rejects members that need a stored response. @throws Problem 400, 422 */
export function requireStateless(body: ResponsesBody): void {
  if (body.input === undefined && body.prompt == null)
    throw invalid(['body', 'input'], 'Field required', 'missing')
  if (body.previous_response_id != null)
    throw createNotStoredProblem('previous_response_id', 'send the conversation as `input`')
  if (body.conversation != null)
    throw createNotStoredProblem('conversation', 'send the conversation as `input`')
  if (body.background === true)
    throw createNotStoredProblem('background', 'wait for the answer, or stream it')
  if (
    Array.isArray(body.input) &&
    body.input.some((item) => item.type === 'item_reference' && !isReasoningReference(item))
  )
    throw createNotStoredProblem(
      'item_reference',
      'send the item itself (clients do with `store: false`)',
      'input',
    )
}

/** Clients that rely on `store` send such references beside complete items, so they are dropped. */
export function isReasoningReference({ type, id }: Record<string, unknown>): boolean {
  return type === 'item_reference' && typeof id === 'string' && id.startsWith('rs_')
}

function createNotStoredProblem(what: string, instead: string, param = what) {
  return aiProblem('responses_not_kept', { what, instead }, { extra: { param } })
}
