import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import type { Described } from '#platform/http/openapi.ts'
import {
  Instant,
  JsonObject,
  Named,
  NamedObject,
  Nullable,
  OneOf,
  Uuid,
} from '#platform/http/schema.ts'
import { invalid } from '#platform/problems.ts'
import { requireCollections } from '../collections/collections.ts'
import type { RagDeps } from '../deps.ts'
import { EXTERNAL_ID_MAX } from '../ingest/metadata.ts'
import type { Mount } from '../mounts.ts'
import { DIRECTIONS, type DocumentOrder, readDocumentCursor, SORTS } from './document-order.ts'
import { readDocumentText } from './document-text.ts'
import {
  deleteDocument,
  deleteDocuments,
  describeDocument,
  listDocuments,
  openDocumentFile,
} from './documents.ts'

const Document = NamedObject('Document', {
  id: Type.String(),
  external_id: Nullable(Type.String()),
  external_ids: Type.Array(Type.String(), {
    description: 'Newest first. Several if files with the same text have different external ids.',
  }),
  source: Nullable(Type.String()),
  chunks: Type.Integer(),
  characters: Type.Integer(),
  metadata: JsonObject,
  file: Nullable(
    NamedObject(
      'OriginalFile',
      {
        name: Type.String(),
        bytes: Type.Integer(),
        sha256: Type.String({
          description: 'In hexadecimal, to compare with a local file.',
        }),
      },
      { description: 'The uploaded file, if it is stored.' },
    ),
  ),
  collections: Type.Array(Type.String(), { description: 'The ids of its collections.' }),
  created_at: Instant,
})

const Span = NamedObject('ChunkSpan', {
  id: Type.String(),
  start: Type.Integer({ description: 'Offset in the document’s text, in UTF-16 units.' }),
  end: Type.Integer(),
  page: Nullable(Type.Integer({ description: 'From 1; null if the file has no pages.' })),
  page_end: Nullable(Type.Integer()),
  heading: Nullable(Type.String({ description: '`Terms › Notice`' })),
})
const DocumentWithSpans = NamedObject('DocumentWithSpans', {
  ...Document.properties,
  content: Nullable(
    Type.String({ description: 'The content of the chunk, if the id is a chunk’s.' }),
  ),
  spans: Type.Array(Span, { description: 'The places of its chunks, in order.' }),
})

const SPANS_MAX = 1_000
const TEXT_CHARACTERS_MAX = 1_000_000

const FILE: Described = {
  replies: {
    200: {
      description: 'The file’s bytes, as they were uploaded.',
      content: { 'application/octet-stream': { type: 'string', format: 'binary' } },
      headers: {
        'content-disposition': {
          description: '`attachment`, with the name of the file',
          schema: { type: 'string' },
        },
      },
    },
  },
}

/** Keeps uploads from running on this origin: browsers save them, at an opaque origin. */
const FILE_HEADERS = {
  'content-type': 'application/octet-stream',
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-store, no-transform',
}

/** PostgreSQL rejects NUL. */
const NO_NUL = '^[^\\u0000]*$'
const NAMES = {
  external_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: EXTERNAL_ID_MAX, pattern: NO_NUL }),
  ),
  source: Type.Optional(
    Type.String({
      minLength: 1,
      pattern: NO_NUL,
      description: 'The name of a file, or the `source` of a text.',
    }),
  ),
}

const DocumentId = Type.Object({ document_id: Type.String() })

export function documentRoutes(
  app: App,
  mount: Mount,
  deps: Pick<RagDeps, 'db' | 'jobs' | 'bus' | 'vectors' | 'embedder' | 'secrets' | 'files' | 'log'>,
): void {
  app.delete(
    `${mount.prefix}/documents/:document_id`,
    {
      schema: {
        operationId: mount.nameOperation('deleteDocument'),
        tags: [mount.tag],
        summary: 'Delete a chunk by its id, or a document by its first 12 characters',
        params: DocumentId,
        response: { 200: Type.Object({ status: Type.String(), document_id: Type.String() }) },
      },
      config: mount.policy,
    },
    async (request) => {
      const { document_id } = request.params
      await deleteDocument(deps, requireCaller(request).userId, document_id)
      return { status: 'deleted', document_id }
    },
  )

  app.delete(
    `${mount.prefix}/documents`,
    {
      schema: {
        operationId: mount.nameOperation('deleteDocuments'),
        tags: [mount.tag],
        summary: 'Delete the document of an external id, or all documents of a source',
        description:
          'Requires exactly one of the two parameters. A document with another external id only loses this one.',
        querystring: Type.Object(NAMES),
        response: {
          200: Type.Object({
            deleted: Type.Integer({ description: 'The number of deleted documents; may be 0.' }),
          }),
        },
      },
      config: mount.policy,
    },
    async (request) => {
      const { external_id: externalId, source } = request.query
      if ((externalId === undefined) === (source === undefined))
        throw invalid(['query'], 'Give exactly one of external_id and source')
      const name = externalId === undefined ? { source: source as string } : { externalId }
      return { deleted: await deleteDocuments(deps, requireCaller(request).userId, name) }
    },
  )

  app.get(
    `${mount.prefix}/documents`,
    {
      schema: {
        operationId: mount.nameOperation('listDocuments'),
        tags: [mount.tag],
        summary: 'List documents, by default newest first',
        description:
          'Headers of the reply: `X-Total-Count` is the number of documents on all pages, `X-Next-Cursor` the cursor of the next page.',
        querystring: Type.Object({
          limit: Type.Integer({ default: 100, minimum: 1, maximum: 1_000 }),
          offset: Type.Integer({ default: 0, minimum: 0, maximum: 2_147_483_647 }),
          collection: Type.Optional(Uuid),
          name_contains: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 254,
              pattern: NO_NUL,
              description: 'A part of the name, without regard to the case of ASCII letters.',
            }),
          ),
          sort: Type.Optional(
            Named('DocumentSort', {
              ...OneOf(...SORTS),
              description: '`size` compares characters. Default: `date`.',
            }),
          ),
          direction: Type.Optional(
            Named('SortDirection', {
              ...OneOf(...DIRECTIONS),
              description: 'Default: `asc` for names, otherwise `desc`.',
            }),
          ),
          cursor: Type.Optional(
            Type.String({
              maxLength: 4_000,
              description:
                '`X-Next-Cursor` of the page before, for the same order. Use no `offset`.',
            }),
          ),
          ...NAMES,
        }),
        response: { 200: Type.Array(Document) },
      },
      config: mount.readPolicy,
    },
    async (request, reply) => {
      const { limit, offset, external_id: externalId, source, collection } = request.query
      const { name_contains: nameContains } = request.query
      const { userId } = requireCaller(request)
      const order = readOrder(request.query)
      const after =
        request.query.cursor === undefined ? null : readDocumentCursor(order, request.query.cursor)
      if (collection !== undefined) await requireCollections(deps.db, userId, [collection])
      const page = { limit, offset, externalId, source, nameContains, collection, order, after }
      const { documents, total, cursor } = await listDocuments(deps.db, userId, page)
      reply.header('x-total-count', String(total))
      if (cursor !== null) reply.header('x-next-cursor', cursor)
      return documents
    },
  )

  app.get(
    `${mount.prefix}/documents/:document_id`,
    {
      schema: {
        operationId: mount.nameOperation('getDocument'),
        tags: [mount.tag],
        summary: 'A document with the place of each of its chunks',
        description: `\`document_id\` may be the id of a chunk: \`spans\` then begin with this chunk. Read a long document in parts, each by the id of its first chunk.`,
        params: DocumentId,
        querystring: Type.Object({
          limit: Type.Integer({ default: SPANS_MAX, minimum: 1, maximum: SPANS_MAX }),
        }),
        response: { 200: DocumentWithSpans },
      },
      config: mount.readPolicy,
    },
    (request) =>
      describeDocument(
        deps,
        requireCaller(request).userId,
        request.params.document_id,
        request.query.limit,
      ),
  )

  app.get(
    `${mount.prefix}/documents/:document_id/text`,
    {
      schema: {
        operationId: mount.nameOperation('readDocumentText'),
        tags: [mount.tag],
        summary: 'The text of a document',
        description: `Whole; of one longer than ${TEXT_CHARACTERS_MAX.toLocaleString('en')} characters as much, from the chunk on whose id is given.`,
        params: DocumentId,
        response: {
          200: Type.Object({
            id: Type.String(),
            source: Nullable(Type.String()),
            text: Type.String(),
            next: Nullable(
              Type.String({ description: 'The id of the next part; null at the end.' }),
            ),
          }),
        },
      },
      config: mount.readPolicy,
    },
    async (request) => {
      const { userId } = requireCaller(request)
      const { document_id } = request.params
      const { document, text, next } = await readDocumentText(
        deps,
        userId,
        document_id,
        TEXT_CHARACTERS_MAX,
      )
      return { id: document.id, source: document.source, text, next }
    },
  )

  app.get(
    `${mount.prefix}/documents/:document_id/file`,
    {
      schema: {
        operationId: mount.nameOperation('downloadDocumentFile'),
        tags: [mount.tag],
        summary: 'The uploaded file of a document',
        params: DocumentId,
      },
      config: { ...mount.readPolicy, described: FILE },
    },
    async (request, reply) => {
      const { file, bytes } = await openDocumentFile(
        deps,
        requireCaller(request).userId,
        request.params.document_id,
      )
      bytes.once('error', (error) =>
        deps.log.error({ err: error, reqId: request.id }, 'an original cannot be read'),
      )
      return reply
        .headers({
          ...FILE_HEADERS,
          'content-disposition': buildDisposition(file.name),
          'content-length': String(file.bytes),
          // RFC 9530.
          'repr-digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
        })
        .send(bytes)
    },
  )
}

function readOrder({
  sort: by = 'date',
  direction = by === 'name' ? 'asc' : 'desc',
}: Partial<{
  sort: DocumentOrder['by']
  direction: DocumentOrder['direction']
}>): DocumentOrder {
  return { by, direction }
}

/** RFC 6266: an ASCII name for old clients, and the full name. */
function buildDisposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_') || 'document'
  const whole = encodeURIComponent(name).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`
}
