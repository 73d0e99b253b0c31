import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { ANSWER_HEADERS } from '#ai/attempt-log.ts'
import { CALL_TAGS, readOrigin } from '#ai/call-origin.ts'
import { MODEL_NAME } from '#ai/routing.ts'
import { ErrorEvent, encodeError, sendEventStream, TokenEvent } from '#ai/stream-encoder.ts'
import type { Usage } from '#ai/vendors/vendor.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { JsonObject, NamedObject, Nullable, Omittable, OneOf } from '#platform/http/schema.ts'
import { type EventStream, streamProblem } from '#platform/http/sse.ts'
import { readCollectionInstructions, readCollectionScope } from '../collections/collections.ts'
import { readDocumentId } from '../documents/ids.ts'
import type { RagCall } from '../metering.ts'
import { RAG } from '../mounts.ts'
import { Chunk, CollectionIds, QUERY_CHARACTERS_MAX, SearchWarnings, TopK } from '../schemas.ts'
import { type Condition, parseFilter } from '../search/filter.ts'
import {
  type AnswerDeps,
  type AnswerStream,
  answer,
  answerStream,
  type Evidence,
  MIN_SCORE,
  type Question,
} from './answer.ts'
import { NOTHING_FOUND } from './prompt.ts'

const ChatTurn = NamedObject('ChatTurn', {
  role: OneOf('user', 'assistant'),
  content: Type.String(),
})

const QueryBody = Type.Object({
  question: Type.String({ minLength: 1, maxLength: QUERY_CHARACTERS_MAX }),
  top_k: TopK,
  min_score: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      default: MIN_SCORE,
      description:
        'Excludes chunks with a lower score. If no chunk is left, no model is called. Null: 0.3 for a vendor’s model, which declines when its sources do not answer; 0.5 in the sandbox and for an embedder without a known `similarity`.',
    }),
  ),
  stream: Type.Boolean({ default: false }),
  include_sources: Type.Boolean({
    default: false,
    description:
      'Streams only: adds a first event with the sources and a last event with the usage.',
  }),
  chat_history: Omittable(Type.Array(ChatTurn, { maxItems: 200 })),
  filter: Omittable(JsonObject),
  collections: Type.Optional(CollectionIds),
  model: Omittable(
    Type.String({
      ...MODEL_NAME,
      description:
        'The model that answers, as under `/v1`: a name, `vendor/model` or an alias. Default: the default model.',
    }),
  ),
  ...CALL_TAGS,
})

const Source = NamedObject(
  'Source',
  {
    ...Chunk.properties,
    document_id: Type.String(),
    chunk_ids: Type.Array(Type.String(), {
      description: 'All chunks of the content: the found chunk and its neighbours.',
    }),
  },
  { description: '`[n]` in the answer cites the n-th source.' },
)

const Quote = NamedObject(
  'Quote',
  {
    text: Type.String({ description: 'The text, copied from the source.' }),
    start: Type.Integer({
      description:
        'Offset in the document’s text, in UTF-16 units, as in the `spans` of `GET /api/rag/documents/{id}`.',
    }),
    end: Type.Integer(),
    page: Nullable(
      Type.Integer({ description: 'The page of `start`, from 1; null if the file has no pages.' }),
    ),
  },
  {
    description:
      'The complete sentences of the cited source that match the statement best; null if the source does not support it or no sentence matches.',
  },
)

const Cited = NamedObject('Citation', {
  source: Type.Integer({ description: 'The number of the source.' }),
  start: Type.Integer({
    description: 'The start of the statement in the answer, in UTF-16 units.',
  }),
  end: Type.Integer(),
  supported: Type.Boolean({
    description:
      'True if the source contains the words, numbers and names of the statement. Otherwise the mark is removed from the answer.',
  }),
  quote: Nullable(Quote),
})

const EVIDENCE = {
  sources: Type.Array(Source),
  nearest: Type.Array(Chunk, {
    description: 'The nearest chunks if no chunk reached `min_score`.',
  }),
  searched_as: Nullable(
    Type.String({
      description:
        'The question as a model rewrote it for the search; null if it was searched unchanged.',
    }),
  ),
  overview: Type.Boolean({
    description:
      'True if the question is about the documents as a whole; the sources then give an overview of them.',
  }),
  warnings: SearchWarnings,
}

const UsageView = NamedObject('TokenUsage', {
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
})

const EVENTS = {
  sources: Type.Object(EVIDENCE, { description: 'The first event; only with `include_sources`.' }),
  message: TokenEvent,
  citations: Type.Object(
    { citations: Type.Array(Cited) },
    { description: 'After an answer; only with `include_sources`.' },
  ),
  usage: Type.Union(
    [
      NamedObject('FinalUsage', {
        ...UsageView.properties,
        finish_reason: Nullable(Type.String()),
        model: Type.String(),
      }),
      Type.Null(),
    ],
    {
      description:
        'The last event; only with `include_sources`. Null if nothing was found, because no model was called.',
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
            ...EVIDENCE,
            citations: Type.Array(Cited),
            model: Nullable(
              Type.String({
                description:
                  'The model that answered; null, like `usage`, if nothing was found and no model was called.',
              }),
            ),
            usage: Type.Union([UsageView, Type.Null()]),
          }),
        },
      },
      config: {
        ...RAG.readPolicy,
        events: EVENTS,
        described: { replies: { 200: { description: 'Done.', headers: ANSWER_HEADERS } } },
      },
    },
    async (request, reply) => {
      const { body } = request
      const origin = readOrigin(reply, body)
      const call = {
        caller: requireCaller(request),
        route: '/api/rag/query',
        signal: clientGone(reply),
        origin,
      }
      const { userId } = call.caller
      const scope = await readCollectionScope(deps.db, userId, body.collections)
      const instructions = await readCollectionInstructions(deps.db, userId, body.collections)
      const question = readQuestionBody(body, scope, instructions)
      if (body.stream)
        return streamAnswer(deps, call, question, { reply, withSources: body.include_sources })

      const answered = await answer(deps, call, question)
      reply.headers(answered.headers)
      const { answer: text, citations, model, usage } = answered
      return {
        answer: text,
        ...buildEvidenceView(answered),
        citations,
        model,
        usage: buildUsageView(usage),
      }
    },
  )
}

function readQuestionBody(
  body: Static<typeof QueryBody>,
  scope: Condition[],
  instructions: string,
): Question {
  return {
    question: body.question,
    topK: body.top_k,
    minScore: body.min_score,
    history: body.chat_history ?? [],
    conditions: [...parseFilter(body.filter ?? undefined), ...scope],
    instructions,
    model: body.model ?? null,
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
    async (events, { evidence, stream }) => {
      if (withSources) await events.event('sources', buildEvidenceView(evidence))
      if (stream === null) await events.data({ token: NOTHING_FOUND })
      else await writeChecked(events, stream)
      if (withSources && stream !== null)
        await events.event('citations', { citations: stream.check.citations() })
      // With the reason for the end, so that an answer cut at its length does not look complete.
      const finalUsage = stream && {
        ...buildUsageView(stream.usage()),
        finish_reason: stream.finish(),
        model: stream.model,
      }
      if (withSources) await events.event('usage', finalUsage)
    },
    (error) => encodeError(streamProblem(error, reply.request.id)),
  )
}

/** Text held back to its sentence's end follows later; a cut answer has no unchecked marks. */
async function writeChecked(events: EventStream, { each, check }: AnswerStream): Promise<void> {
  const formatTokenLine = (text: string) =>
    text === '' ? '' : `data: ${JSON.stringify({ token: text })}\n\n`
  await each((pieces) => {
    let lines = ''
    for (const { text } of pieces) lines += formatTokenLine(check.push(text))
    return lines === '' ? undefined : events.write(lines)
  })
  const last = formatTokenLine(check.end())
  if (last !== '') await events.write(last)
}

function buildEvidenceView({ sources, nearest, searchedAs, isOverview, warnings }: Evidence) {
  const shown = sources.map(({ head: _, pieces: __, addedAt: ___, ...source }) => ({
    ...source,
    document_id: readDocumentId(source.id),
  }))
  return { sources: shown, nearest, searched_as: searchedAs, overview: isOverview, warnings }
}

function buildUsageView(usage: Usage | null): Static<typeof UsageView> | null {
  return (
    usage && {
      prompt_tokens: usage.prompt,
      completion_tokens: usage.completion,
      total_tokens: usage.prompt + usage.completion,
    }
  )
}
