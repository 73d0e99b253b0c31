/** Routes for machines: download tokens, plain archives and the update feed. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { bearerToken, requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import type { Described } from '#platform/http/openapi.ts'
import { Instant, Message, Nullable, OneOf, Uuid } from '#platform/http/schema.ts'
import { storefrontProblem } from '../problems.ts'
import {
  findPlainDownload,
  type PlainDownload,
  type PlainRequest,
  startPlainDownload,
} from './plain-downloads.ts'
import { readAddress } from './routes.ts'
import { createToken, deleteToken, listTokens, requireCredential } from './tokens.ts'
import { CHANNELS, findUpdate, type UpdateDeps, UpdateView } from './updates.ts'

/** One line with at least one visible character. */
const NAME = '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$'
const DAYS_DEFAULT = 365
const DAYS_MAX = 730

const TokenFields = {
  id: Type.String(),
  name: Type.String(),
  created_at: Instant,
  last_used_at: Nullable(Instant),
  expires_at: Instant,
}
const TokenView = Type.Object(TokenFields, { title: 'DownloadToken' })
const TokenCreated = Type.Object(
  { ...TokenFields, token: Type.String() },
  { title: 'DownloadTokenCreated' },
)

const text = (description: string) => ({ description, schema: { type: 'string' } })
const PLAIN_HEADERS = {
  'x-product-version': text('The version in the archive'),
  'content-disposition': text('`attachment`, with the name of the file'),
  etag: text('For `If-Range` and `If-None-Match`'),
}
const archive = {
  content: { 'application/zip': { type: 'string', format: 'binary' } },
  headers: PLAIN_HEADERS,
}
const PLAIN_ARCHIVE: Described = {
  parameters: [
    {
      name: 'authorization',
      in: 'header',
      ...text('`Bearer` and a download token or license key'),
    },
    { name: 'range', in: 'header', ...text('One range') },
    { name: 'if-range', in: 'header', schema: { type: 'string' } },
    { name: 'if-none-match', in: 'header', schema: { type: 'string' } },
  ],
  replies: {
    200: { description: 'The archive.', ...archive },
    206: {
      description: 'A part of it.',
      ...archive,
      headers: { ...PLAIN_HEADERS, 'content-range': text('Which part') },
    },
    304: {
      description: 'The archive is the one of `If-None-Match`; nothing is counted.',
      headers: { etag: PLAIN_HEADERS.etag },
    },
  },
}

export function machineRoutes(app: App, deps: UpdateDeps): void {
  tokenRoutes(app, deps)
  archiveRoutes(app, deps)
}

function tokenRoutes(app: App, deps: UpdateDeps): void {
  const tags = ['downloads']
  const config = { access: 'session' } as const
  const params = Type.Object({ id: Uuid })

  app.get(
    '/api/purchases/:id/tokens',
    {
      schema: {
        operationId: 'listDownloadTokens',
        params,
        response: { 200: Type.Array(TokenView) },
        tags,
        summary: 'The download tokens of a license',
      },
      config,
    },
    (request) => listTokens(deps, requireCaller(request).userId, request.params.id.toLowerCase()),
  )

  app.post(
    '/api/purchases/:id/tokens',
    {
      schema: {
        operationId: 'createDownloadToken',
        params,
        body: Type.Object({
          name: Type.String({ minLength: 1, maxLength: 100, pattern: NAME }),
          expires_in_days: Type.Optional(
            Type.Integer({ minimum: 1, maximum: DAYS_MAX, default: DAYS_DEFAULT }),
          ),
        }),
        response: { 201: TokenCreated },
        tags,
        summary: 'Make a download token for CI; it is shown only here',
      },
      config,
    },
    async (request, reply) => {
      const { name, expires_in_days: days = DAYS_DEFAULT } = request.body
      const { userId } = requireCaller(request)
      reply.status(201)
      return createToken(deps, userId, request.params.id.toLowerCase(), { name, days })
    },
  )

  app.delete(
    '/api/purchases/:id/tokens/:token_id',
    {
      schema: {
        operationId: 'deleteDownloadToken',
        params: Type.Object({ id: Uuid, token_id: Uuid }),
        response: { 200: Message },
        tags,
        summary: 'Delete a download token',
      },
      config,
    },
    async (request) => {
      const { id, token_id } = request.params
      const { userId } = requireCaller(request)
      await deleteToken(deps, userId, id.toLowerCase(), token_id.toLowerCase())
      return { message: 'Download token deleted' }
    },
  )
}

function archiveRoutes(app: App, deps: UpdateDeps): void {
  const tags = ['downloads']

  app.route({
    method: ['GET', 'HEAD'],
    url: '/download/:slug/:file',
    schema: {
      operationId: 'downloadPlainArchive',
      params: Type.Object({ slug: Type.String(), file: Type.String() }),
      tags,
      summary: 'The plain ZIP of a release, for machines',
      description:
        'The file is `latest.zip` or a version, such as `1.2.0.zip`. A token or key may fetch 50 archives’ bytes a UTC day.',
    },
    config: { access: 'anyone', limit: 'general', described: PLAIN_ARCHIVE },
    async handler(request, reply) {
      const credential = await requireCredential(deps, bearerToken(request.headers.authorization))
      const target = parseRequest(request)
      const download = await findPlainDownload(deps, credential, target)
      if (isKnown(request, download)) {
        return reply.status(304).header('etag', download.archive.etag).send()
      }
      if (request.method === 'HEAD') return setHeaders(reply, download).send()
      const bytes = await startPlainDownload(deps, credential, target, download)
      bytes.once('error', (error) => {
        request.log.error({ err: error, reqId: request.id }, 'a download broke off')
      })
      return setHeaders(reply, download).send(bytes)
    },
  })

  app.get(
    '/api/updates/:slug',
    {
      schema: {
        operationId: 'findUpdate',
        params: Type.Object({ slug: Type.String() }),
        querystring: Type.Object({
          version: Type.Optional(
            Type.String({ minLength: 1, maxLength: 64, description: 'The installed version' }),
          ),
          channel: Type.Optional(OneOf(...CHANNELS)),
        }),
        response: { 200: UpdateView, 204: Type.Null() },
        tags,
        summary: 'The newest release that a license covers',
        description: 'Needs a license key or a download token as bearer. 204: there is none newer.',
      },
      config: { access: 'anyone', origins: 'any' },
    },
    async (request, reply) => {
      const credential = await requireCredential(deps, bearerToken(request.headers.authorization))
      const { version, channel = 'stable' } = request.query
      const update = await findUpdate(deps, credential, request.params.slug, { version, channel })
      reply.header('cache-control', 'private, no-cache')
      if (update) return update
      return reply.status(204).send(null)
    },
  )
}

function parseRequest(request: FastifyRequest): PlainRequest {
  const { slug, file } = request.params as { slug: string; file: string }
  if (!file.endsWith('.zip')) throw storefrontProblem('release_not_found')
  const { headers } = request
  return {
    slug,
    version: file.slice(0, -'.zip'.length),
    range: headers.range,
    ifRange: [headers['if-range']].flat()[0],
    address: readAddress(request),
    userAgent: headers['user-agent'] ?? '',
  }
}

function isKnown({ headers }: FastifyRequest, { archive: { etag } }: PlainDownload): boolean {
  const tags = headers['if-none-match']?.split(',') ?? []
  return tags.some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

function setHeaders(reply: FastifyReply, { archive, fileName, part }: PlainDownload): FastifyReply {
  const { start, end } = part ?? { start: 0, end: archive.sizeBytes }
  if (part)
    reply.status(206).header('content-range', `bytes ${start}-${end - 1}/${archive.sizeBytes}`)
  return reply.headers({
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="${fileName}"`,
    'content-length': String(end - start),
    'accept-ranges': 'bytes',
    etag: archive.etag,
    'x-product-version': archive.version,
    // A proxy that recompressed the bytes would break the offsets of a resume.
    'cache-control': 'private, no-transform',
  })
}
