import { Type } from 'typebox'

/** Parameters of a chat request in the ledger. They contain no text of the request. */
export const CallParameters = Type.Object(
  {
    messages: Type.Integer({ description: 'The number of messages or input items.' }),
    stream: Type.Boolean(),
    tools: Type.Optional(Type.Integer({ description: 'The number of tools.' })),
    temperature: Type.Optional(Type.Number()),
    top_p: Type.Optional(Type.Number()),
    max_tokens: Type.Optional(
      Type.Number({ description: 'The limit of the answer, whatever its name in the request.' }),
    ),
    reasoning_effort: Type.Optional(Type.String()),
  },
  { title: 'CallParameters' },
)
export type CallParameters = Type.Static<typeof CallParameters>
