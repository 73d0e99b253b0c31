import multipart from '@fastify/multipart'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { readOrigin } from '#ai/call-origin.ts'
import { type Bytes, inMemory } from '#platform/content.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import { type App, MEGABYTE } from '#platform/http/app.ts'
import { textBodyBytesMax } from '#platform/http/bodies.ts'
import { clientGone } from '#platform/http/client.ts'
import { JsonObject, Named, NamedObject, OneOf } from '#platform/http/schema.ts'
import { validatorCompiler } from '#platform/http/validation.ts'
import { invalid } from '#platform/problems.ts'
import { requireCollections } from '../collections/collections.ts'
import type { RagDeps } from '../deps.ts'
import type { Mount } from '../mounts.ts'
import { type OriginalDeps, withOriginal } from '../originals/originals.ts'
import { CollectionIds } from '../schemas.ts'
import {
  CHUNK_SIZE,
  CHUNK_SIZE_MAX,
  CHUNK_SIZE_MIN,
  OVERLAP_MAX,
  resolveOverlap,
} from './chunk-settings.ts'
import { computeDocumentId } from './chunked-text.ts'
import { type IngestDeps, ingest, requireStorable } from './ingest.ts'
import { queueIngest } from './ingest-jobs.ts'
import type { TextHandle } from './ingest-pipeline.ts'
import { openReplyText, parseLongBodies } from './long-bodies.ts'
import { checkExternalId, checkMetadata, EXTERNAL_ID_MAX, SOURCE_MAX } from './metadata.ts'
import { FORMAT_NAMES } from './parsers/formats.ts'
import { IngestWarnings } from './schemas.ts'
import type { TextMeasure } from './text-worker.ts'
import { readUpload } from './upload.ts'

const externalIdSays =
  'Your own id for the document: the same id again replaces the whole document.'

const Replace = Named('Replace', OneOf('source'))

const TextBody = Type.Object({
  content: Type.String({ minLength: 1 }),
  metadata: Type.Optional(JsonObject),
  chunk_size: Type.Integer({
    default: CHUNK_SIZE,
    minimum: CHUNK_SIZE_MIN,
    maximum: CHUNK_SIZE_MAX,
  }),
  chunk_overlap: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: OVERLAP_MAX,
      description: 'Default: 200, or a fifth of chunk_size if less.',
    }),
  ),
  external_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: EXTERNAL_ID_MAX, description: externalIdSays }),
  ),
  replace: Type.Optional(Replace),
  collections: Type.Optional(CollectionIds),
})

const FileForm = Type.Object({
  file: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }),
  chunk_size: Type.Optional(
    Type.Integer({ default: CHUNK_SIZE, minimum: CHUNK_SIZE_MIN, maximum: CHUNK_SIZE_MAX }),
  ),
  chunk_overlap: Type.Optional(Type.Integer({ minimum: 0, maximum: OVERLAP_MAX })),
  external_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: EXTERNAL_ID_MAX, description: externalIdSays }),
  ),
  replace: Type.Optional(Replace),
  collections: Type.Optional(
    Type.String({
      description: 'Ids of collections, separated by commas; the field may be repeated.',
    }),
  ),
  source: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SOURCE_MAX,
      description: 'The name for citations, such as a path. Default: the file’s name.',
    }),
  ),
})

/** Also accepted as a query parameter, for clients that cannot send it in a form. */
const ReplaceQuery = Type.Object({
  replace: Type.Optional(
    Type.Unsafe<'source'>({
      ...Replace,
      description: 'Deletes other documents of the same source in the same step.',
    }),
  ),
})

const Ingested = NamedObject('Ingested', {
  document_ids: Type.Array(Type.String()),
  chunks_created: Type.Integer(),
  warnings: IngestWarnings,
})

/** RFC 7240. */
const Preference = Type.Object({
  prefer: Type.Optional(
    Type.String({
      maxLength: 256,
      description:
        '`respond-async`: stores the document in the background and replies 202 with the job’s id.',
    }),
  ),
})

const Queued = NamedObject('IngestQueued', {
  job_id: Type.String({
    description: 'The id for `GET /api/rag/jobs/{id}`, which `Location` contains as well.',
  }),
})

/** Each route has a separate scope, since each reads its bodies differently. */
export async function ingestRoutes(
  app: App,
  mount: Mount,
  deps: IngestDeps & OriginalDeps & Pick<RagDeps, 'parser' | 'maxFileBytes' | 'temporaryFiles'>,
): Promise<void> {
  const { maxTextBytes, maxFileBytes } = deps

  await app.register(async (plain) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>()
    parseLongBodies(scope, deps)
    scope.post(
      `${mount.prefix}/ingest/text`,
      {
        schema: {
          operationId: mount.nameOperation('ingestText'),
          tags: [mount.tag],
          summary: 'Store a text',
          headers: Preference,
          querystring: ReplaceQuery,
          body: TextBody,
          response: { 200: Ingested, 202: Queued },
        },
        config: mount.policy,
        // The limit applies to the text, which `ingest` checks; its JSON is larger.
        bodyLimit: textBodyBytesMax(maxTextBytes),
      },
      async (request, reply) => {
        const {
          content,
          metadata = {},
          chunk_size,
          chunk_overlap,
          external_id,
          replace,
        } = request.body
        const caller = requireCaller(request)
        const checked = checkMetadata(metadata)
        const source = typeof checked.source === 'string' ? checked.source : null
        const replacesSource = (replace ?? request.query.replace) === 'source'
        if (replacesSource && source === null)
          throw invalid(['body', 'metadata', 'source'], 'Field required', 'missing')
        const text = request.longText ?? content
        const document = {
          metadata: checked,
          source,
          externalId: checkExternalId(external_id),
          replacesSource,
          chunkSize: chunk_size,
          chunkOverlap: resolveOverlap(chunk_size, chunk_overlap),
          collections: await requireCollections(deps.db, caller.userId, request.body.collections),
        }
        if (prefersAsync(request)) {
          await requireStorable(deps, { text })
          const sent = { ...document, ...readSender(request, mount), file: null }
          return sendAccepted(
            reply,
            mount,
            await queueIngest(deps, caller.tier, sent, await buildInput(text)),
          )
        }
        const call = {
          caller,
          route: `${mount.prefix}/ingest/text`,
          signal: clientGone(reply),
          origin: readOrigin(reply),
        }
        const stored = await ingest(deps, call, { ...document, text })
        return { ...stored, warnings: [] }
      },
    )
  })

  await app.register(async (plain) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>()
    await scope.register(multipart)
    scope.post(
      `${mount.prefix}/ingest/file`,
      {
        schema: {
          operationId: mount.nameOperation('ingestFile'),
          tags: [mount.tag],
          summary: 'Store a file',
          description: `Accepts ${FORMAT_NAMES}. Multipart form with \`file\`, and \`chunk_size\` and \`chunk_overlap\` as for a text. At most ${Math.round(maxFileBytes / MEGABYTE)} MB.`,
          consumes: ['multipart/form-data'],
          headers: Preference,
          querystring: ReplaceQuery,
          body: FileForm,
          response: { 200: Ingested, 202: Queued },
        },
        config: mount.policy,
        bodyLimit: maxFileBytes + MEGABYTE,
        // readUpload reads and checks the form as it arrives; its schema serves the reference only.
        validatorCompiler: (part) =>
          part.httpPart === 'body' ? (value: unknown) => ({ value }) : validatorCompiler(part),
      },
      async (request, reply) => {
        const caller = requireCaller(request)
        const signal = clientGone(reply)
        const upload = await readUpload(deps, request, reply, maxFileBytes)
        const { name, source, content, sha256, chunkSize, chunkOverlap, externalId } = upload
        const document = {
          metadata: { source },
          source,
          externalId,
          replacesSource: upload.replacesSource || request.query.replace === 'source',
          chunkSize,
          chunkOverlap,
          collections: await requireCollections(deps.db, caller.userId, upload.collections),
        }
        if (prefersAsync(request)) {
          const sent = { ...document, ...readSender(request, mount), file: name }
          return sendAccepted(
            reply,
            mount,
            await queueIngest(deps, caller.tier, sent, { input: content, measure: null }),
          )
        }
        const { text, outline, warnings } = await deps.parser.read(name, content, signal)
        const call = {
          caller,
          route: `${mount.prefix}/ingest/file`,
          signal,
          origin: readOrigin(reply),
        }
        const read = {
          text: typeof text === 'string' ? text : openReplyText(reply, deps, text, outline),
          outline,
        }
        const stored = await withOriginal(
          deps,
          caller.userId,
          { name, content, sha256 },
          (originalId) => ingest(deps, call, { ...document, ...read, originalId }),
        )
        return { ...stored, warnings }
      },
    )
  })
}

function prefersAsync({ headers: { prefer } }: FastifyRequest): boolean {
  return String(prefer ?? '')
    .split(',')
    .some((one) => one.split(';')[0]?.trim().toLowerCase() === 'respond-async')
}

/** Returns the sender for the job. */
function readSender(request: FastifyRequest, { prefix }: Mount) {
  const { userId, keyId } = requireCaller(request)
  return { caller: { userId, keyId }, prefix, requestId: request.id }
}

async function buildInput(
  text: string | TextHandle,
): Promise<{ input: Bytes; measure: TextMeasure }> {
  if (typeof text === 'string')
    return {
      input: inMemory(Buffer.from(text)),
      measure: { id: computeDocumentId(text), characters: text.length },
    }
  return {
    input: { sizeBytes: (await text.head()).textBytes, read: text.utf8 },
    measure: await text.measure(),
  }
}

function sendAccepted(reply: FastifyReply, { prefix }: Mount, jobId: string) {
  reply
    .status(202)
    .headers({ location: `${prefix}/jobs/${jobId}`, 'preference-applied': 'respond-async' })
  return { job_id: jobId }
}
