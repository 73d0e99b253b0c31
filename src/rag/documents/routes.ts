import { Type } from 'typebox'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, JsonObject, Nullable } from '#platform/http/schema.ts'
import type { RagDeps } from '../deps.ts'
import { RAG_POLICY, RAG_READ_POLICY } from '../schemas.ts'
import { deleteDocument, listDocuments } from './documents.ts'

const Document = Type.Object(
  {
    id: Type.String(),
    external_id: Nullable(Type.String()),
    external_ids: Type.Array(Type.String(), {
      description: 'Newest first. More than one where files of the same text were given ids of their own.',
    }),
    source: Nullable(Type.String()),
    chunks: Type.Integer(),
    characters: Type.Integer(),
    metadata: JsonObject,
    created_at: Instant,
  },
  { title: 'Document' },
)

export function documentRoutes(app: App, deps: Pick<RagDeps, 'db' | 'jobs' | 'vectors'>): void {
  app.delete(
    '/api/rag/documents/:document_id',
    {
      schema: {
        operationId: 'deleteDocument',
        tags: ['rag'],
        summary: 'Delete a chunk by its id, or a document by its first 12 characters',
        params: Type.Object({ document_id: Type.String() }),
        response: { 200: Type.Object({ status: Type.String(), document_id: Type.String() }) },
      },
      config: RAG_POLICY,
    },
    async (request) => {
      const { document_id } = request.params
      await deleteDocument(deps, callerOf(request).userId, document_id)
      return { status: 'deleted', document_id }
    },
  )

  app.get(
    '/api/rag/documents',
    {
      schema: {
        operationId: 'listDocuments',
        tags: ['rag'],
        summary: 'List documents, newest first',
        querystring: Type.Object({
          limit: Type.Integer({ default: 100, minimum: 1, maximum: 1_000 }),
          offset: Type.Integer({ default: 0, minimum: 0, maximum: 2_147_483_647 }),
        }),
        response: { 200: Type.Array(Document) },
      },
      config: RAG_READ_POLICY,
    },
    async (request, reply) => {
      const { limit, offset } = request.query
      const { documents, total } = await listDocuments(deps.db, callerOf(request).userId, { limit, offset })
      reply.header('x-total-count', String(total))
      return documents
    },
  )
}
