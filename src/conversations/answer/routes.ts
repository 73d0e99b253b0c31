/** Questions and their streamed answers. */
import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { readOrigin } from '#ai/call-origin.ts'
import { ErrorEvent, TokenEvent } from '#ai/stream-encoder.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { JsonObject, NamedObject, Nullable, Omittable, OneOf, Uuid } from '#platform/http/schema.ts'
import { openStream } from '#platform/http/sse.ts'
import { invalid } from '#platform/problems.ts'
import type { ConversationOptions, Part as MessagePart } from '../content.ts'
import type { MessageKey } from '../message-store.ts'
import { readMessage } from '../messages.ts'
import { conversationProblem } from '../problems.ts'
import { ConversationId, HOME_POLICY, Model, Options, Parts } from '../schemas.ts'
import { type AskDeps, ask } from './ask.ts'
import { buildModelsView, ConversationModels } from './models-view.ts'
import { followRow, sendLog } from './send-log.ts'
import { stopAnswer } from './stop.ts'
import { prepareTemporary, sendTemporary } from './temporary.ts'

const ANSWER_POLICY = { ...HOME_POLICY, limit: 'ai' } as const
const IMAGES_MAX = 8

const Documents = Type.Union(
  [OneOf('auto', 'off'), Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })],
  { description: 'Whether the answer may read documents: if useful, never, or these only.' },
)

const Collections = Type.Array(Uuid, {
  maxItems: 100,
  description: 'Collections that are chosen in addition to documents.',
})

const QuestionBody = Type.Object({
  parent_id: Omittable(Uuid),
  parts: Type.Optional(Parts),
  model: Type.Optional(Model),
  documents: Type.Optional(Documents),
  collections: Type.Optional(Collections),
  replaces: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'An answer, without `parts`: answers its question again. A question, with `parts`: adds an edited question beside it.',
    }),
  ),
})

const TemporaryBody = Type.Object({
  messages: Type.Array(
    NamedObject('TemporaryTurn', { role: OneOf('user', 'assistant'), parts: Parts }),
    {
      minItems: 1,
      maxItems: 200,
    },
  ),
  model: Type.Optional(Model),
  documents: Type.Optional(Documents),
  collections: Type.Optional(Collections),
  settings: Type.Optional(Options),
})

const ToolEvent = Type.Object({
  name: OneOf('search', 'list_documents', 'fetch'),
  input: JsonObject,
  state: OneOf('running', 'done'),
  found: Type.Optional(Type.Integer({ description: 'The number of results, when it is done.' })),
})

/** The id of an event is a position; `Last-Event-ID` continues behind it. */
const EVENTS = {
  message: Type.Union([
    TokenEvent,
    NamedObject(
      'AnswerBegun',
      {
        id: Type.String(),
        parent_id: Nullable(Type.String()),
        question_id: Nullable(Type.String()),
      },
      { description: 'The first event: the ids of the answer and of its question.' },
    ),
  ]),
  reasoning: NamedObject(
    'AnswerReasoning',
    { token: Type.String() },
    { description: 'Visible reasoning of the model.' },
  ),
  thought: NamedObject(
    'AnswerThought',
    { ms: Type.Integer() },
    { description: 'How long the model has thought, after its reasoning.' },
  ),
  tool: ToolEvent,
  sources: Type.Object({ sources: Type.Array(JsonObject, { description: 'All so far.' }) }),
  citations: Type.Object({ citations: Type.Array(JsonObject) }),
  title: Type.Object({ title: Type.String() }),
  usage: Type.Object({
    usage: NamedObject('AnswerUsage', {
      prompt_tokens: Type.Integer(),
      completion_tokens: Type.Integer(),
      total_tokens: Type.Integer(),
    }),
    model: Type.String(),
    finish_reason: Nullable(Type.String()),
    cost_usd: Type.Number(),
  }),
  error: ErrorEvent,
}
const tags = ['conversations']
const DONE = { replies: { 200: { description: 'Done.' } } }

export function answerRoutes(app: App, deps: AskDeps): void {
  app.post(
    '/api/conversations/:id/messages',
    {
      schema: {
        operationId: 'askConversation',
        tags,
        summary: 'Ask a question; the answer is streamed, and continues when the client leaves',
        params: ConversationId,
        body: QuestionBody,
      },
      config: { ...ANSWER_POLICY, events: EVENTS, described: DONE },
      bodyLimit: deps.rag.gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { body, params } = request
      const caller = requireCaller(request)
      const question = {
        parentId: body.parent_id ?? null,
        parts: readParts(body.parts) ?? null,
        replaces: body.replaces ?? null,
        model: body.model ?? null,
        documents: body.documents ?? null,
        collections: body.collections ?? [],
      }
      const asker = { caller, origin: readOrigin(reply) }
      const log = await deps.answers.track(ask(deps, asker, params.id, question))
      await sendLog(openStream(reply), log, 0)
      return reply
    },
  )

  app.get(
    '/api/conversations/:id/messages/:messageId/stream',
    {
      schema: {
        operationId: 'rejoinAnswer',
        tags,
        summary: 'Follow an answer from `Last-Event-ID` on, or from its beginning',
        params: Type.Object({ ...ConversationId.properties, messageId: Uuid }),
        headers: Type.Object({
          'last-event-id': Type.Optional(Type.String({ pattern: '^\\d{1,9}$' })),
        }),
      },
      config: { ...HOME_POLICY, events: EVENTS, described: DONE },
    },
    async (request, reply) => {
      const { id: conversationId, messageId: id } = request.params
      const key = { userId: requireCaller(request).userId, conversationId, id }
      const after = Number(request.headers['last-event-id'] ?? 0)
      await deps.answers.track(rejoin(deps, reply, key, after))
      return reply
    },
  )

  app.post(
    '/api/conversations/:id/stop',
    {
      schema: {
        operationId: 'stopAnswer',
        tags,
        summary: 'Stop the running answer; what is written is kept',
        params: ConversationId,
        response: { 204: Type.Null() },
      },
      config: HOME_POLICY,
    },
    async (request, reply) => {
      const { userId } = requireCaller(request)
      await deps.answers.track(stopAnswer(deps, userId, request.params.id))
      return reply.status(204).send(null)
    },
  )
}

/** Routes that store nothing; they exist where conversations stay in the browser, too. */
export function temporaryRoutes(app: App, deps: AskDeps): void {
  app.post(
    '/api/conversations/temporary',
    {
      schema: {
        operationId: 'askTemporarily',
        tags,
        summary: 'Answer a conversation that is not stored; the answer ends with the client',
        body: TemporaryBody,
      },
      config: { ...ANSWER_POLICY, events: EVENTS, described: DONE },
      bodyLimit: deps.rag.gateway.bodyBytesMax,
    },
    async (request, reply) => {
      const { messages, model, documents, collections, settings } = request.body
      const question = {
        turns: messages.map(({ role, parts }) => ({ role, parts: readParts(parts) ?? [] })),
        model: model ?? null,
        documents: documents ?? settings?.documents ?? 'auto',
        collections: collections ?? [],
        settings: (settings ?? {}) as ConversationOptions,
      }
      const asker = { caller: requireCaller(request), origin: readOrigin(reply) }
      await deps.answers.track(
        prepareTemporary(deps, asker, question).then((terms) =>
          sendTemporary(deps, terms, openStream(reply)),
        ),
      )
      return reply
    },
  )

  app.get(
    '/api/conversations/models',
    {
      schema: {
        operationId: 'listConversationModels',
        tags,
        summary: 'The models that may answer, with prices and abilities',
        response: { 200: ConversationModels },
      },
      config: { ...HOME_POLICY, viewable: true },
    },
    async (request) => buildModelsView(deps.rag.gateway, requireCaller(request), deps.speeds),
  )
}

async function rejoin(
  deps: AskDeps,
  reply: FastifyReply,
  key: MessageKey,
  after: number,
): Promise<void> {
  const log = deps.answers.findLog(key)
  if (log !== null) return sendLog(openStream(reply), log, after)
  const message = await readMessage(deps, key)
  if (message === null || message.role !== 'assistant')
    throw conversationProblem('message_not_found')
  await followRow(deps, openStream(reply), key, after, deps.answers.closing)
}

/** @throws Problem 422 for too many images */
function readParts(parts: Static<typeof Parts> | undefined): MessagePart[] | undefined {
  const images = parts?.filter(({ type }) => type === 'image').length ?? 0
  if (images > IMAGES_MAX)
    throw invalid(['body', 'parts'], `Should have at most ${IMAGES_MAX} images`)
  return parts
}
