import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import type { Described } from '#platform/http/openapi.ts'
import { Instant, Nullable, Uuid } from '#platform/http/schema.ts'
import { onPageError } from '../pages/errors.ts'
import { storefrontProblem } from '../problems.ts'
import { VERSION } from '../products/releases.ts'
import {
  type Download,
  type DownloadDeps,
  describeDownload,
  listDownloads,
  startDownload,
} from './downloads.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const text = (description: string) => ({ description, schema: { type: 'string' } })
const whole = {
  content: { 'application/zip': { type: 'string', format: 'binary' } },
  headers: {
    'x-license-key': text('The license key, which is the archive’s password'),
    'x-product-version': text('The version in the archive'),
    'content-disposition': text('`attachment`, with the name of the file'),
    etag: text('For `If-Range`'),
  },
}
const ARCHIVE: Described = {
  parameters: [
    {
      name: 'purchase_id',
      in: 'query',
      description: 'Left out: the newest completed purchase',
      schema: { type: 'string', format: 'uuid' },
    },
    {
      name: 'version',
      in: 'query',
      description: 'A release that the purchase covers. Left out: the newest of these',
      schema: { type: 'string' },
    },
    {
      name: 'range',
      in: 'header',
      description: 'One range, to resume',
      schema: { type: 'string' },
    },
    { name: 'if-range', in: 'header', schema: { type: 'string' } },
  ],
  replies: {
    200: { description: 'The archive.', ...whole },
    206: {
      description: 'A part of it.',
      ...whole,
      headers: { ...whole.headers, 'content-range': text('Which part') },
    },
  },
}

const DownloadView = Type.Object(
  {
    id: Type.String(),
    purchase_id: Type.String(),
    user_id: Type.String(),
    version: Type.String(),
    ip_address: Type.String(),
    user_agent: Type.String(),
    country: Nullable(Type.String()),
    downloaded_at: Instant,
  },
  { title: 'Download' },
)

export function downloadRoutes(app: App, deps: DownloadDeps): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/download',
    schema: {
      operationId: 'downloadArchive',
      querystring: Type.Object({
        purchase_id: Type.Optional(Type.Unknown()),
        version: Type.Optional(Type.Unknown()),
      }),
      tags: ['downloads'],
      summary: 'The encrypted ZIP',
      description:
        'Counts as a download; a range of one that was begun does not. A link on another site leads to /dashboard.',
    },
    config: { access: 'session', described: ARCHIVE },
    errorHandler: onPageError(deps),
    async handler(request, reply) {
      const { userId } = requireCaller(request)
      const { headers } = request
      // A link on another site could use up a download. So the buyer is redirected to their
      // purchases and downloads from there.
      if (headers['sec-fetch-site'] === 'cross-site') return reply.redirect('/dashboard', 302)
      const query = request.query as { purchase_id?: unknown; version?: unknown }
      const target = {
        purchaseId: parsePurchaseId(query.purchase_id),
        version: parseVersion(query.version),
        range: headers.range,
        ifRange: [headers['if-range']].flat()[0],
        address: readAddress(request),
        userAgent: headers['user-agent'] ?? '',
      }
      if (request.method === 'HEAD') {
        return setHeaders(reply, await describeDownload(deps, userId, target)).send()
      }
      const { download, bytes } = await startDownload(deps, userId, target)
      bytes.once('error', (error) => {
        request.log.error({ err: error, reqId: request.id }, 'a download broke off')
      })
      return setHeaders(reply, download).send(bytes)
    },
  })

  app.get(
    '/api/download/history',
    {
      schema: {
        operationId: 'listDownloads',
        querystring: Type.Object({ purchase_id: Type.Optional(Uuid) }),
        response: { 200: Type.Array(DownloadView) },
        tags: ['downloads'],
        summary: 'The last 50 downloads',
      },
      config: { access: 'session' },
    },
    (request) =>
      listDownloads(deps, requireCaller(request).userId, request.query.purchase_id?.toLowerCase()),
  )
}

/** Behind a dual-stack socket an IPv4 address comes mapped into IPv6. */
export function readAddress({ ip }: FastifyRequest): string {
  return ip.replace(/^::ffff:(?=\d+\.)/i, '')
}

function setHeaders(reply: FastifyReply, { archive, fileName, part }: Download): FastifyReply {
  const { start, end } = part ?? { start: 0, end: archive.sizeBytes }
  if (part)
    reply.status(206).header('content-range', `bytes ${start}-${end - 1}/${archive.sizeBytes}`)
  return reply.headers({
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="${fileName}"`,
    'content-length': String(end - start),
    'accept-ranges': 'bytes',
    etag: archive.etag,
    'x-license-key': archive.licenseKey,
    'x-product-version': archive.version,
    // A proxy that recompressed the bytes would break the offsets of a resume.
    'cache-control': 'private, no-transform',
  })
}

function parseVersion(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !VERSION.test(value))
    throw storefrontProblem('release_not_found')
  return value
}

function parsePurchaseId(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !UUID.test(value)) {
    throw storefrontProblem('purchase_id_invalid')
  }
  return value.toLowerCase()
}
