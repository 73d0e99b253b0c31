import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { CALL_TAGS, originOf } from '#ai/call-origin.ts'
import { ErrorEvent, errorEvent, sendEventStream, TokenEvent, tokenLines } from '#ai/stream-encoder.ts'
import type { Usage } from '#ai/vendors/vendor.ts'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { JsonObject, Nullable, OneOf } from '#platform/http/schema.ts'
import { streamProblem } from '#platform/http/sse.ts'
import type { RagCall } from '../metering.ts'
import { Chunk, QUERY_CHARACTERS_MAX, RAG_READ_POLICY, TopK } from '../schemas.ts'
import { parseFilter } from '../search/filter.ts'
import { type AnswerDeps, answer, answerStream, type Question } from './answer.ts'
import { NOTHING_FOUND } from './prompt.ts'

const ChatTurn = Type.Object({ role: OneOf('user', 'assistant'), content: Type.String() }, { title: 'ChatTurn' })

const QueryBody = Type.Object({
  question: Type.String({ minLength: 1, maxLength: QUERY_CHARACTERS_MAX }),
  top_k: TopK,
  min_score: Type.Number({ default: 0.5, minimum: 0, maximum: 1 }),
  stream: Type.Boolean({ default: false }),
  include_sources: Type.Boolean({
    default: false,
    description: 'Streams only: an event with the sources first, one with the usage last.',
  }),
  chat_history: Type.Optional(Nullable(Type.Array(ChatTurn, { maxItems: 200 }))),
  filter: Type.Optional(Nullable(JsonObject)),
  ...CALL_TAGS,
})

const UsageView = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
  },
  { title: 'TokenUsage' },
)

const EVENTS = {
  sources: Type.Object({ sources: Type.Array(Chunk) }, { description: 'First; with `include_sources`.' }),
  message: TokenEvent,
  usage: Type.Union(
    [
      Type.Object({ ...UsageView.properties, finish_reason: Nullable(Type.String()) }, { title: 'FinalUsage' }),
      Type.Null(),
    ],
    {
      description: 'Last; with `include_sources`. Null where nothing was found, since no model was asked.',
    },
  ),
  error: ErrorEvent,
}

export function answerRoutes(app: App, deps: AnswerDeps): void {
  app.post(
    '/api/rag/query',
    {
      schema: {
        operationId: 'queryDocuments',
        tags: ['rag'],
        summary: 'Answer a question from the stored chunks; with `stream` as server-sent events',
        body: QueryBody,
        response: {
          200: Type.Object({
            answer: Type.String(),
            sources: Type.Array(Chunk),
            usage: Type.Union([UsageView, Type.Null()]),
          }),
        },
      },
      config: { ...RAG_READ_POLICY, events: EVENTS },
    },
    async (request, reply) => {
      const { body } = request
      const origin = originOf(reply, body)
      const call = { caller: callerOf(request), route: '/api/rag/query', signal: clientGone(reply), origin }
      const question = questionOf(body)
      if (body.stream) return streamAnswer(deps, call, question, { reply, withSources: body.include_sources })

      const { answer: text, sources, usage, headers } = await answer(deps, call, question)
      reply.headers(headers)
      return { answer: text, sources, usage: usageView(usage) }
    },
  )
}

function questionOf(body: Static<typeof QueryBody>): Question {
  return {
    question: body.question,
    topK: body.top_k,
    minScore: body.min_score,
    history: body.chat_history ?? [],
    conditions: parseFilter(body.filter ?? undefined),
    model: null,
  }
}

function streamAnswer(
  deps: AnswerDeps,
  call: RagCall,
  question: Question,
  { reply, withSources }: { reply: FastifyReply; withSources: boolean },
): Promise<FastifyReply> {
  return sendEventStream(
    reply,
    deps.gateway.silenceMs,
    answerStream(deps, call, question),
    ({ stream }) => stream?.headers ?? {},
    async (events, { sources, stream }) => {
      if (withSources) await events.event('sources', { sources })
      if (stream === null) await events.data({ token: NOTHING_FOUND })
      else await stream.each((pieces) => events.write(tokenLines(pieces)))
      // Why it ended, too: an answer that was cut at its length must not look whole.
      const told = stream && { ...usageView(stream.usage()), finish_reason: stream.finish() }
      if (withSources) await events.event('usage', told)
    },
    (error) => errorEvent(streamProblem(error, reply.request.id)),
  )
}

function usageView(usage: Usage | null): Static<typeof UsageView> | null {
  return (
    usage && {
      prompt_tokens: usage.prompt,
      completion_tokens: usage.completion,
      total_tokens: usage.prompt + usage.completion,
    }
  )
}
