// Guards the addresses of RAG: what a caller may send and what comes back.
// One thing to know: the user's id always comes from the credential, never from the request.
import multipart from '@fastify/multipart'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { ErrorEvent, errorEvent, printStream, TokenEvent, tokenLines } from '#ai/stream-encoder.ts'
import type { Usage } from '#ai/vendors/vendor.ts'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { textBodyBytesMax } from '#platform/http/bodies.ts'
import { clientGone } from '#platform/http/client.ts'
import { Instant, Nullable, OneOf } from '#platform/http/schema.ts'
import { streamProblem } from '#platform/http/sse.ts'
import { validatorCompiler } from '#platform/http/validation.ts'
import { invalid } from '#platform/problems.ts'
import { answer, answerStream, type RagCall } from './answer/answer.ts'
import { NOTHING_FOUND } from './answer/prompt.ts'
import type { RagDeps } from './deps.ts'
import { deleteDocument } from './documents/documents.ts'
import { listDocuments } from './documents/store.ts'
import { CHUNK_SIZE, CHUNK_SIZE_MAX, CHUNK_SIZE_MIN, OVERLAP_MAX, overlapFor } from './ingest/chunk-settings.ts'
import { ingest } from './ingest/ingest.ts'
import { openTextFor, parseLongBodies } from './ingest/long-bodies.ts'
import { checkedExternalId, checkedMetadata, EXTERNAL_ID_MAX } from './ingest/metadata.ts'
import { readUpload } from './ingest/upload.ts'
import { metered } from './metering.ts'
import { parseFilter } from './search/filter.ts'
import { checkMode, findChunks, MODES } from './search/search.ts'

const MEGABYTE = 1024 * 1024
const QUERY_MAX = 32_768

const FreeObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })

const externalIdSays = 'An id of your own: the same id again replaces its document whole, whatever the text.'

const TextBody = Type.Object({
  content: Type.String({ minLength: 1 }),
  metadata: Type.Optional(FreeObject),
  chunk_size: Type.Integer({ default: CHUNK_SIZE, minimum: CHUNK_SIZE_MIN, maximum: CHUNK_SIZE_MAX }),
  chunk_overlap: Type.Optional(
    Type.Integer({ minimum: 0, maximum: OVERLAP_MAX, description: 'Default: 200, or a fifth of chunk_size if less.' }),
  ),
  external_id: Type.Optional(Type.String({ minLength: 1, maxLength: EXTERNAL_ID_MAX, description: externalIdSays })),
  replace: Type.Optional(OneOf('source')),
})

const FileForm = Type.Object({
  file: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }),
  chunk_size: Type.Optional(Type.Integer({ default: CHUNK_SIZE, minimum: CHUNK_SIZE_MIN, maximum: CHUNK_SIZE_MAX })),
  chunk_overlap: Type.Optional(Type.Integer({ minimum: 0, maximum: OVERLAP_MAX })),
  external_id: Type.Optional(Type.String({ minLength: 1, maxLength: EXTERNAL_ID_MAX, description: externalIdSays })),
  replace: Type.Optional(OneOf('source')),
})

/** Also as a query parameter, where a form is inconvenient. */
const ReplaceQuery = Type.Object({
  replace: Type.Optional(
    Type.Unsafe<'source'>({ enum: ['source'], description: 'Other documents of the same source go in the same step.' }),
  ),
})

const Ingested = Type.Object(
  {
    document_ids: Type.Array(Type.String()),
    chunks_created: Type.Integer(),
    warnings: Type.Array(
      Type.Object({ page: Nullable(Type.Integer()), reason: Type.String() }, { title: 'IngestWarning' }),
      {
        description:
          'What of a file could not be read and is left out; `page` counts from 1, null where a file has no pages.',
      },
    ),
  },
  { title: 'Ingested' },
)

const Chunk = Type.Object(
  {
    id: Type.String(),
    content: Type.String(),
    score: Type.Number(),
    metadata: FreeObject,
  },
  { title: 'Chunk' },
)

const SearchBody = Type.Object({
  query: Type.String({ minLength: 1, maxLength: QUERY_MAX }),
  top_k: Type.Integer({ default: 5, minimum: 1, maximum: 50 }),
  mode: Type.Unsafe<(typeof MODES)[number]>({
    ...OneOf(...MODES),
    default: 'auto',
    description:
      '`lexical` compares words, `dense` meanings, `auto` is the one that this server’s embedder can do; one that it cannot is refused.',
  }),
  min_score: Type.Number({ default: 0, minimum: 0, maximum: 1 }),
  filter: Type.Optional(Nullable(FreeObject)),
})

const QueryBody = Type.Object({
  question: Type.String({ minLength: 1, maxLength: QUERY_MAX }),
  top_k: Type.Integer({ default: 5, minimum: 1, maximum: 50 }),
  min_score: Type.Number({ default: 0.5, minimum: 0, maximum: 1 }),
  stream: Type.Boolean({ default: false }),
  include_sources: Type.Boolean({
    default: false,
    description: 'Streams only: an event with the sources first, one with the usage last.',
  }),
  chat_history: Type.Optional(
    Nullable(Type.Array(Type.Object({ role: OneOf('user', 'assistant'), content: Type.String() }), { maxItems: 200 })),
  ),
  filter: Type.Optional(Nullable(FreeObject)),
})

const UsageView = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
  },
  { title: 'TokenUsage' },
)

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
    metadata: FreeObject,
    created_at: Instant,
  },
  { title: 'Document' },
)

const EVENTS = {
  sources: Type.Object({ sources: Type.Array(Chunk) }, { description: 'First; with `include_sources`.' }),
  message: TokenEvent,
  usage: Type.Union([Type.Object({ ...UsageView.properties, finish_reason: Nullable(Type.String()) }), Type.Null()], {
    description: 'Last; with `include_sources`. Null where nothing was found, since no model was asked.',
  }),
  error: ErrorEvent,
}

const tags = ['rag']
const config = { access: 'user-or-key', needs: 'rag', limit: 'rag', scope: 'rag' } as const

export async function ragRoutes(app: App, deps: RagDeps): Promise<void> {
  const { db, maxTextBytes, maxFileBytes } = deps

  await app.register(async (plain) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>()
    parseLongBodies(scope, deps)
    scope.post(
      '/api/rag/ingest/text',
      {
        schema: {
          operationId: 'ingestText',
          tags,
          summary: 'Store a text',
          querystring: ReplaceQuery,
          body: TextBody,
          response: { 200: Ingested },
        },
        config,
        // The limit is on the text, which `take` holds; its JSON is larger.
        bodyLimit: textBodyBytesMax(maxTextBytes),
      },
      async (request, reply) => {
        const { content, metadata = {}, chunk_size, chunk_overlap, external_id, replace } = request.body
        const caller = callerOf(request)
        const checked = checkedMetadata(metadata)
        const source = typeof checked.source === 'string' ? checked.source : null
        const replacesSource = (replace ?? request.query.replace) === 'source'
        if (replacesSource && source === null)
          throw invalid(['body', 'metadata', 'source'], 'Field required', 'missing')
        const asked = { caller, route: '/api/rag/ingest/text', signal: clientGone(reply) }
        const stored = await ingest(deps, asked, {
          text: request.longText ?? content,
          metadata: checked,
          source,
          externalId: checkedExternalId(external_id),
          replacesSource,
          chunkSize: chunk_size,
          chunkOverlap: overlapFor(chunk_size, chunk_overlap),
        })
        return { ...stored, warnings: [] }
      },
    )
  })

  await app.register(async (plain) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>()
    await scope.register(multipart)
    scope.post(
      '/api/rag/ingest/file',
      {
        schema: {
          operationId: 'ingestFile',
          tags,
          summary: 'Store a file: .txt, .md, .pdf or .docx',
          description: `Multipart form with \`file\`, and \`chunk_size\` and \`chunk_overlap\` as for a text. At most ${Math.round(maxFileBytes / MEGABYTE)} MB.`,
          consumes: ['multipart/form-data'],
          querystring: ReplaceQuery,
          body: FileForm,
          response: { 200: Ingested },
        },
        config,
        bodyLimit: maxFileBytes + MEGABYTE,
        // The form is read as it arrives, by readUpload, which checks it; its schema is for the reference.
        validatorCompiler: (part) =>
          part.httpPart === 'body' ? (value: unknown) => ({ value }) : validatorCompiler(part),
      },
      async (request, reply) => {
        const caller = callerOf(request)
        const signal = clientGone(reply)
        const { name, bytes, chunkSize, chunkOverlap, externalId, replacesSource } = await readUpload(
          request,
          maxFileBytes,
        )
        const { text, warnings } = await deps.parser.read(name, bytes, signal)
        const stored = await ingest(
          deps,
          { caller, route: '/api/rag/ingest/file', signal },
          {
            text: typeof text === 'string' ? text : openTextFor(reply, deps, text),
            metadata: { source: name },
            source: name,
            externalId,
            replacesSource: replacesSource || request.query.replace === 'source',
            chunkSize,
            chunkOverlap,
          },
        )
        return { ...stored, warnings }
      },
    )
  })

  app.post(
    '/api/rag/search',
    {
      schema: {
        operationId: 'searchChunks',
        tags,
        summary: 'Find the nearest chunks',
        body: SearchBody,
        response: { 200: Type.Object({ results: Type.Array(Chunk) }) },
      },
      config,
    },
    async (request, reply) => {
      const { query, top_k, mode, min_score, filter } = request.body
      checkMode(mode, deps.embedder)
      const caller = callerOf(request)
      const conditions = parseFilter(filter ?? undefined)
      const signal = clientGone(reply)
      const call = { caller, route: '/api/rag/search', sizeBytes: Buffer.byteLength(query), signal }
      const results = await metered(deps, call, (embedder) =>
        findChunks(
          { ...deps, embedder },
          caller.userId,
          { queries: [query], topK: top_k, minScore: min_score, conditions },
          signal,
        ),
      )
      return { results }
    },
  )

  app.post(
    '/api/rag/query',
    {
      schema: {
        operationId: 'queryDocuments',
        tags,
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
      config: { ...config, events: EVENTS },
    },
    async (request, reply) => {
      const { body } = request
      const asked = { caller: callerOf(request), route: '/api/rag/query', signal: clientGone(reply) }
      const question = questionOf(body)
      if (body.stream)
        return printAnswer(deps, asked, question, { reply, requestId: request.id, withSources: body.include_sources })

      const { answer: text, sources, usage, headers } = await answer(deps, asked, question)
      reply.headers(headers)
      return { answer: text, sources, usage: usageView(usage) }
    },
  )

  app.delete(
    '/api/rag/documents/:document_id',
    {
      schema: {
        operationId: 'deleteDocument',
        tags,
        summary: 'Delete a chunk by its id, or a document by its first 12 characters',
        params: Type.Object({ document_id: Type.String() }),
        response: { 200: Type.Object({ status: Type.String(), document_id: Type.String() }) },
      },
      config,
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
        tags,
        summary: 'List documents, newest first',
        querystring: Type.Object({
          limit: Type.Integer({ default: 100, minimum: 1, maximum: 1_000 }),
          offset: Type.Integer({ default: 0, minimum: 0, maximum: 2_147_483_647 }),
        }),
        response: { 200: Type.Array(Document) },
      },
      config,
    },
    async (request, reply) => {
      const { limit, offset } = request.query
      const { rows, total } = await listDocuments(db, callerOf(request).userId, limit, offset)
      reply.header('x-total-count', String(total))
      return rows.map(({ metadata_json, ...row }) => ({ ...row, metadata: metadata_json }))
    },
  )
}

function questionOf(body: Static<typeof QueryBody>) {
  return {
    question: body.question,
    topK: body.top_k,
    minScore: body.min_score,
    history: body.chat_history ?? [],
    conditions: parseFilter(body.filter ?? undefined),
  }
}

function printAnswer(
  deps: RagDeps,
  asked: RagCall,
  question: ReturnType<typeof questionOf>,
  { reply, requestId, withSources }: { reply: FastifyReply; requestId: string; withSources: boolean },
): Promise<FastifyReply> {
  return printStream(
    reply,
    deps.gateway.silenceMs,
    answerStream(deps, asked, question),
    ({ stream }) => stream?.headers ?? {},
    async (events, { sources, stream }) => {
      if (withSources) await events.event('sources', { sources })
      if (stream === null) await events.data({ token: NOTHING_FOUND })
      else await stream.each((pieces) => events.write(tokenLines(pieces)))
      // Why it ended, too: an answer that was cut at its length must not look whole.
      const told = stream && { ...usageView(stream.usage()), finish_reason: stream.finish() }
      if (withSources) await events.event('usage', told)
    },
    (error) => errorEvent(streamProblem(error, requestId)),
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
