/** JSON bodies too long for the main thread: a worker holds the text, the route gets a handle. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Content } from '#platform/content.ts'
import type { App } from '#platform/http/app.ts'
import { JsonTooDeep, JsonTooMany, parseJson } from '#platform/json.ts'
import { invalid, malformedJson, platformProblem } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import { LONG_BYTES, type TextHandle } from './ingest-pipeline.ts'
import type { Outline } from './outline.ts'
import { removeAfterReply } from './upload.ts'

const FAULTS = { deep: JsonTooDeep, many: JsonTooMany }

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for a long body; its `content` is then a placeholder. */
    longText?: TextHandle
  }
}

type LongBodyDeps = Pick<RagDeps, 'pipeline' | 'temporaryFiles'>

/** Applies to the routes of this scope. */
export function parseLongBodies(scope: App, { pipeline, temporaryFiles }: LongBodyDeps): void {
  scope.removeContentTypeParser('application/json')
  scope.addContentTypeParser(
    'application/json',
    async (request: FastifyRequest, payload: Readable) => {
      const bytesMax = request.routeOptions.bodyLimit
      if (Number(request.headers['content-length'] ?? 0) > bytesMax)
        throw platformProblem('body_too_large')
      const content = await temporaryFiles.take(payload, { bytesMax })
      if (content.sizeBytes === 0) throw invalid(['body'], 'Field required', 'missing')
      if (typeof content.place !== 'string') return parseShortBody(content.place)
      try {
        // The client left while its file was closed: nothing would close a text that is opened now.
        if (request.raw.socket.destroyed) throw createClientGoneError()
        request.longText = pipeline.open(content, 'json')
        const { body, fault } = await request.longText.head()
        if (body === undefined) throw malformedJson(fault && new FAULTS[fault]())
        return body
      } finally {
        // The worker has read it.
        content.remove()
      }
    },
  )
  // Also after a refusal, and when the client has left.
  scope.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => request.longText?.close())
  })
}

/** Runs `work` with a text of any length; a worker holds a long one for that time. */
export async function withText<T>(
  { pipeline, temporaryFiles }: LongBodyDeps,
  text: string,
  work: (text: string | TextHandle) => Promise<T>,
): Promise<T> {
  if (Buffer.byteLength(text) <= LONG_BYTES) return work(text)
  const content = await temporaryFiles.take(Readable.from([Buffer.from(text)]))
  const handle = pipeline.open(content, 'text')
  try {
    return await work(handle)
  } finally {
    handle.close()
    content.remove()
  }
}

/** Opens a file's text on a worker until the reply ends. */
export function openReplyText(
  reply: FastifyReply,
  { pipeline }: Pick<RagDeps, 'pipeline'>,
  utf8: Content,
  outline: Outline,
): TextHandle {
  const content = removeAfterReply(reply, utf8)
  if (reply.raw.destroyed) throw createClientGoneError()
  const text = pipeline.open(content, 'text', outline)
  reply.raw.once('close', () => text.close())
  return text
}

/** Ends the request; no client reads it. */
function createClientGoneError(): Error {
  return Object.assign(new Error('The client has gone'), { statusCode: 400 })
}

function parseShortBody(bytes: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (cause) {
    throw malformedJson(cause)
  }
}
