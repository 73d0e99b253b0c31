import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, InstantInput, NamedObject, Nullable, OneOf, Uuid } from '#platform/http/schema.ts'
import { ConversationDetail, ConversationId, conversationDetail, HOME_POLICY } from '../schemas.ts'
import { copyShare } from './copy.ts'
import {
  createShare,
  endShare,
  listShares,
  openShare,
  type Share,
  type ShareDeps,
  updateShare,
} from './shares.ts'

const tags = ['conversations']

const ShareView = NamedObject('Share', {
  id: Uuid,
  token: Type.String(),
  url: Type.String(),
  conversation_id: Uuid,
  title: Type.String(),
  leaf_id: Type.String({ description: 'The last shared message.' }),
  with_sources: Type.Boolean(),
  expires_at: Nullable(Instant),
  has_newer: Type.Boolean({
    description: 'True if the conversation now ends with another message.',
  }),
  created_at: Instant,
  updated_at: Instant,
})

const ExpiresAt = Nullable(
  Type.String({ ...InstantInput, description: 'When the link ends; null: never.' }),
)
const WithSources = Type.Boolean({
  description: 'Whether answers show their cited sentences. Whole documents are never shown.',
})
const Leaf = Type.String({ format: 'uuid', description: 'The last message to share.' })

const Shared = NamedObject('SharedConversation', {
  title: Type.String(),
  with_sources: Type.Boolean(),
  created_at: Instant,
  updated_at: Instant,
  messages: Type.Array(
    NamedObject('SharedMessage', {
      role: OneOf('user', 'assistant'),
      text: Type.String(),
      model: Nullable(Type.String()),
      created_at: Instant,
      attachments: Type.Integer({
        description: 'The number of images and documents, which are not shared.',
      }),
      sources: Type.Array(
        NamedObject('SharedSource', {
          number: Type.Integer({ description: 'The number of the marks in the text.' }),
          name: Type.String(),
          page: Nullable(Type.Integer()),
        }),
        { description: 'The cited ones only.' },
      ),
      citations: Type.Array(
        NamedObject('SharedCitation', {
          source: Type.Integer(),
          start: Type.Integer(),
          end: Type.Integer(),
          quote: NamedObject('SharedQuote', {
            text: Type.String(),
            page: Nullable(Type.Integer()),
          }),
        }),
      ),
    }),
  ),
})

const Token = Type.Object({ token: Type.String({ maxLength: 200 }) })

export function shareRoutes(app: App, deps: ShareDeps): void {
  app.post(
    '/api/conversations/:id/shares',
    {
      schema: {
        operationId: 'shareConversation',
        tags,
        summary: 'Share a frozen copy of a branch by a link',
        params: ConversationId,
        body: Type.Object({
          leaf_id: Leaf,
          with_sources: WithSources,
          expires_at: Type.Optional(ExpiresAt),
        }),
        response: { 201: ShareView },
      },
      config: HOME_POLICY,
    },
    async (request, reply) => {
      const { leaf_id: leafId, with_sources: withSources, expires_at } = request.body
      const wanted = { leafId, withSources, expiresAt: toInstant(expires_at) ?? null }
      const { userId } = requireCaller(request)
      const share = await createShare(deps, userId, request.params.id, wanted)
      return reply.status(201).send(shareView(share))
    },
  )

  app.get(
    '/api/shares',
    {
      schema: {
        operationId: 'listShares',
        tags,
        summary: 'List shared conversations, newest first',
        response: { 200: Type.Object({ shares: Type.Array(ShareView) }) },
      },
      config: HOME_POLICY,
    },
    async (request) => ({
      shares: (await listShares(deps, requireCaller(request).userId)).map(shareView),
    }),
  )

  app.put(
    '/api/shares/:id',
    {
      schema: {
        operationId: 'updateShare',
        tags,
        summary: 'Publish newer messages at the same link, or change its end',
        description: 'An empty body publishes the branch that the conversation shows.',
        params: Type.Object({ id: Uuid }),
        body: Type.Object({
          leaf_id: Type.Optional(Leaf),
          with_sources: Type.Optional(WithSources),
          expires_at: Type.Optional(ExpiresAt),
        }),
        response: { 200: ShareView },
      },
      config: HOME_POLICY,
    },
    async (request) => {
      const { leaf_id, with_sources, expires_at } = request.body
      const key = { userId: requireCaller(request).userId, id: request.params.id }
      const share = await updateShare(deps, key, {
        ...(leaf_id !== undefined && { leafId: leaf_id }),
        ...(with_sources !== undefined && { withSources: with_sources }),
        ...(expires_at !== undefined && { expiresAt: toInstant(expires_at) ?? null }),
      })
      return shareView(share)
    },
  )

  app.delete(
    '/api/shares/:id',
    {
      schema: {
        operationId: 'endShare',
        tags,
        summary: 'End a link',
        params: Type.Object({ id: Uuid }),
        response: { 204: Type.Null() },
      },
      config: HOME_POLICY,
    },
    async (request, reply) => {
      await endShare(deps, { userId: requireCaller(request).userId, id: request.params.id })
      return reply.status(204).send(null)
    },
  )

  app.get(
    '/api/shared/:token',
    {
      schema: {
        operationId: 'getSharedConversation',
        tags,
        summary: 'Read a shared conversation, without an account',
        params: Token,
        response: { 200: Shared },
      },
      config: { access: 'anyone' },
    },
    async (request, reply) => {
      reply.headers({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' })
      const { createdAt, updatedAt, withSources, title, messages } = await openShare(
        deps,
        request.params.token,
      )
      return {
        title,
        messages,
        with_sources: withSources,
        created_at: createdAt,
        updated_at: updatedAt,
      }
    },
  )

  app.post(
    '/api/shared/:token/copy',
    {
      schema: {
        operationId: 'copySharedConversation',
        tags,
        summary: 'Store a shared conversation as your own',
        description:
          'A second call returns the first copy, until the owner publishes newer messages.',
        params: Token,
        response: { 201: ConversationDetail },
      },
      config: HOME_POLICY,
    },
    async (request, reply) => {
      const { userId } = requireCaller(request)
      const copy = await copyShare(deps, userId, request.params.token)
      return reply.status(201).send(conversationDetail({ ...copy, isRunning: false }))
    },
  )
}

function shareView({ hasNewer, is_citing, ...share }: Share) {
  return { ...share, with_sources: is_citing, has_newer: hasNewer }
}

/** Normalises a time with an offset, because stored times sort as text. */
function toInstant(text: string | null | undefined): string | null | undefined {
  return text && new Date(text).toISOString()
}
