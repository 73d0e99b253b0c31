import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { NamedObject, Nullable, Uuid } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import {
  changeConversation,
  createConversation,
  readConversationPage,
} from './conversation-changes.ts'
import { listConversations } from './conversation-list.ts'
import type { StoreDeps } from './conversation-store.ts'
import { deleteAllConversations, deleteConversation } from './deletion.ts'
import { listRunning } from './message-store.ts'
import {
  CollectionIds,
  ConversationDetail,
  ConversationId,
  ConversationView,
  conversationDetail,
  conversationView,
  HOME_POLICY,
  MessageSchema,
  Model,
  messageView,
  Options,
  Title,
} from './schemas.ts'
import type { ConversationIndexes } from './search/conversation-index.ts'
import { searchConversations } from './search/search.ts'

const tags = ['conversations']

type Deps = StoreDeps & Pick<Platform, 'jobs'> & { indexes: ConversationIndexes }

export function conversationRoutes(app: App, deps: Deps): void {
  app.get(
    '/api/conversations',
    {
      schema: {
        operationId: 'listConversations',
        tags,
        summary: 'List conversations: pinned ones first, then the newest; or search them',
        querystring: Type.Object({
          q: Type.Optional(
            Type.String({
              maxLength: 200,
              description:
                'Words that titles or messages contain, best matches first; the last word may be unfinished.',
            }),
          ),
          collection: Type.Optional(Uuid),
          archived: Type.Boolean({ default: false, description: 'Only archived conversations.' }),
          cursor: Type.Optional(
            Type.String({ maxLength: 200, description: '`next_cursor` of the page before.' }),
          ),
        }),
        response: {
          200: NamedObject('ConversationPage', {
            conversations: Type.Array(ConversationView),
            next_cursor: Nullable(Type.String()),
          }),
        },
      },
      config: HOME_POLICY,
    },
    async (request) => {
      const { q, collection, archived: isArchived, cursor } = request.query
      const { userId } = requireCaller(request)
      if (q !== undefined && /\S/.test(q)) {
        const found = await searchConversations(deps, userId, { q, collection, isArchived, cursor })
        return {
          ...found,
          conversations: found.conversations.map(({ matches, ...one }) => ({
            ...conversationView(one),
            matches,
          })),
        }
      }
      const page = await listConversations(deps, userId, { collection, isArchived }, cursor)
      return { ...page, conversations: page.conversations.map(conversationView) }
    },
  )

  app.post(
    '/api/conversations',
    {
      schema: {
        operationId: 'createConversation',
        tags,
        summary: 'Start a conversation',
        body: Type.Object({
          title: Type.Optional(Title),
          model: Type.Optional(Model),
          settings: Type.Optional(Options),
          collection_ids: Type.Optional(CollectionIds),
        }),
        response: { 201: ConversationDetail },
      },
      config: HOME_POLICY,
    },
    async (request, reply) => {
      const conversation = await createConversation(
        deps,
        requireCaller(request).userId,
        request.body,
      )
      return reply.status(201).send(conversationDetail({ ...conversation, isRunning: false }))
    },
  )

  app.get(
    '/api/conversations/:id',
    {
      schema: {
        operationId: 'getConversation',
        tags,
        summary: 'Read a conversation with the last messages of the shown branch',
        params: ConversationId,
        querystring: Type.Object({
          before: Type.Optional(Uuid),
        }),
        response: {
          200: NamedObject('ConversationWithMessages', {
            conversation: ConversationDetail,
            messages: Type.Array(MessageSchema, { description: 'Oldest first.' }),
            before: Nullable(
              Type.String({
                description: 'Send it as `before` to read the earlier messages; null: none.',
              }),
            ),
          }),
        },
      },
      config: HOME_POLICY,
    },
    async (request) => {
      const page = await readConversationPage(
        deps,
        requireCaller(request).userId,
        request.params.id,
        request.query.before,
      )
      return {
        conversation: conversationDetail(page.conversation),
        messages: page.messages.map(messageView),
        before: page.before,
      }
    },
  )

  app.patch(
    '/api/conversations/:id',
    {
      schema: {
        operationId: 'changeConversation',
        tags,
        summary: 'Rename, pin or archive a conversation, or show another branch',
        params: ConversationId,
        body: Type.Object({
          title: Type.Optional(Title),
          is_pinned: Type.Optional(Type.Boolean()),
          is_archived: Type.Optional(Type.Boolean()),
          leaf_id: Type.Optional(
            Type.String({
              format: 'uuid',
              description: 'Any message: the newest branch below it is shown.',
            }),
          ),
          model: Type.Optional(Model),
          settings: Type.Optional(Options),
          collection_ids: Type.Optional(CollectionIds),
        }),
        response: { 200: ConversationDetail },
      },
      config: HOME_POLICY,
    },
    async (request) => {
      const { userId } = requireCaller(request)
      const { id } = request.params
      const conversation = await changeConversation(deps, userId, id, request.body)
      const running = await listRunning(deps.db, userId)
      return conversationDetail({ ...conversation, isRunning: running.has(id) })
    },
  )

  app.delete(
    '/api/conversations/:id',
    {
      schema: {
        operationId: 'deleteConversation',
        tags,
        summary: 'Delete a conversation',
        params: ConversationId,
        response: { 204: Type.Null() },
      },
      config: HOME_POLICY,
    },
    async (request, reply) => {
      await deleteConversation(deps, requireCaller(request).userId, request.params.id)
      return reply.status(204).send(null)
    },
  )

  app.delete(
    '/api/conversations',
    {
      schema: {
        operationId: 'deleteConversations',
        tags,
        summary: 'Delete all conversations',
        body: Type.Object({ confirm: Type.Literal(true) }),
        response: { 204: Type.Null() },
      },
      config: HOME_POLICY,
    },
    async (request, reply) => {
      await deleteAllConversations(deps, requireCaller(request).userId)
      return reply.status(204).send(null)
    },
  )
}
