import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Named, NamedObject, Nullable, OneOf, Uuid } from '#platform/http/schema.ts'
import type { RagDeps } from '../deps.ts'
import type { Mount } from '../mounts.ts'
import { COLOURS } from '../tables.ts'
import {
  addDocument,
  COLLECTIONS_MAX,
  changeCollection,
  createCollection,
  deleteCollection,
  listCollections,
  removeDocument,
} from './collections.ts'

/** Not blank; PostgreSQL rejects NUL. */
const NAME = '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$'
const NO_NUL = '^[^\\u0000]*$'

const Name = Type.String({ minLength: 1, maxLength: 100, pattern: NAME })
const Colour = Named('CollectionColour', OneOf(...COLOURS))
const Instructions = Nullable(
  Type.String({
    maxLength: 20_000,
    pattern: NO_NUL,
    description: 'Instructions to the model that answers from the collection.',
  }),
)

const Collection = NamedObject(
  'Collection',
  {
    id: Type.String(),
    name: Type.String(),
    colour: Colour,
    instructions: Nullable(Type.String()),
    documents: Type.Integer({ description: 'The number of documents in it.' }),
    created_at: Instant,
    updated_at: Instant,
  },
  { description: 'A document may be in several collections.' },
)

const CollectionId = Type.Object({ id: Uuid })
const MembershipIds = Type.Object({ id: Uuid, document_id: Type.String() })

export function collectionRoutes(
  app: App,
  mount: Mount,
  deps: Pick<RagDeps, 'db' | 'clock'>,
): void {
  const { prefix, tag, policy, readPolicy, nameOperation } = mount

  app.get(
    `${prefix}/collections`,
    {
      schema: {
        operationId: nameOperation('listCollections'),
        tags: [tag],
        summary: 'Collections of documents, by name',
        response: { 200: Type.Array(Collection) },
      },
      config: readPolicy,
    },
    async (request) => listCollections(deps.db, requireCaller(request).userId),
  )

  app.post(
    `${prefix}/collections`,
    {
      schema: {
        operationId: nameOperation('createCollection'),
        tags: [tag],
        summary: 'Create a collection',
        description: `A user has at most ${COLLECTIONS_MAX}.`,
        body: Type.Object({
          name: Name,
          colour: Type.Optional(Colour),
          instructions: Type.Optional(Instructions),
        }),
        response: { 201: Collection },
      },
      config: policy,
    },
    async (request, reply) => {
      const { name, colour = 'grey', instructions = null } = request.body
      const fields = { name: name.trim(), colour, instructions }
      reply.status(201)
      return createCollection(deps, requireCaller(request).userId, fields)
    },
  )

  app.patch(
    `${prefix}/collections/:id`,
    {
      schema: {
        operationId: nameOperation('updateCollection'),
        tags: [tag],
        summary: 'Rename a collection, or change its colour or its instructions',
        params: CollectionId,
        body: Type.Object({
          name: Type.Optional(Name),
          colour: Type.Optional(Colour),
          instructions: Type.Optional(Instructions),
        }),
        response: { 200: Collection },
      },
      config: policy,
    },
    async (request) => {
      const { name, ...rest } = request.body
      const changes = { ...rest, ...(name !== undefined && { name: name.trim() }) }
      return changeCollection(deps, requireCaller(request).userId, request.params.id, changes)
    },
  )

  app.delete(
    `${prefix}/collections/:id`,
    {
      schema: {
        operationId: nameOperation('deleteCollection'),
        tags: [tag],
        summary: 'Delete a collection; its documents stay',
        params: CollectionId,
        response: { 204: Type.Null() },
      },
      config: policy,
    },
    async (request, reply) => {
      await deleteCollection(deps, requireCaller(request).userId, request.params.id)
      return reply.status(204).send(null)
    },
  )

  app.put(
    `${prefix}/collections/:id/documents/:document_id`,
    {
      schema: {
        operationId: nameOperation('addDocumentToCollection'),
        tags: [tag],
        summary: 'Add a document to a collection',
        params: MembershipIds,
        response: { 204: Type.Null() },
      },
      config: policy,
    },
    async (request, reply) => {
      const { id: collection, document_id: document } = request.params
      await addDocument(deps, requireCaller(request).userId, { collection, document })
      return reply.status(204).send(null)
    },
  )

  app.delete(
    `${prefix}/collections/:id/documents/:document_id`,
    {
      schema: {
        operationId: nameOperation('removeDocumentFromCollection'),
        tags: [tag],
        summary: 'Remove a document from a collection; the document stays',
        params: MembershipIds,
        response: { 204: Type.Null() },
      },
      config: policy,
    },
    async (request, reply) => {
      const { id: collection, document_id: document } = request.params
      await removeDocument(deps, requireCaller(request).userId, { collection, document })
      return reply.status(204).send(null)
    },
  )
}
