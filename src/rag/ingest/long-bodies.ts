/** JSON bodies that are too long to be parsed where everybody waits: a worker keeps the text, the route sees the rest and a handle. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Content } from '#platform/content.ts'
import type { App } from '#platform/http/app.ts'
import { JsonTooDeep, JsonTooMany, parseJson } from '#platform/json.ts'
import { invalid, malformedJson, platformProblem } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import { LONG_BYTES, type TextHandle } from './ingest-pipeline.ts'
import type { Outline } from './outline.ts'
import { untilReplied } from './upload.ts'

const FAULTS = { deep: JsonTooDeep, many: JsonTooMany }

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the body was long: then its `content` is only a placeholder. */
    longText?: TextHandle
  }
}

type LongBodyDeps = Pick<RagDeps, 'pipeline' | 'temporaryFiles'>

/** For the routes of this scope alone. */
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
      if (typeof content.place !== 'string') return parsed(content.place)
      try {
        // Gone while its file was closed: nobody would close what is opened now.
        if (request.raw.socket.destroyed) throw clientGone()
        request.longText = pipeline.open(content, 'json')
        const { body, fault } = await request.longText.head()
        if (body === undefined) throw malformedJson(fault && new FAULTS[fault]())
        return body
      } finally {
        // The worker has it.
        content.remove()
      }
    },
  )
  // Also after a refusal, and when the client has gone.
  scope.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => request.longText?.close())
  })
}

/** Runs `work` with a text of any length: a long one lies on a worker for as long. */
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

/** A file's text, on a worker until the reply is over. */
export function openTextFor(
  reply: FastifyReply,
  { pipeline }: Pick<RagDeps, 'pipeline'>,
  utf8: Content,
  outline: Outline,
): TextHandle {
  const content = untilReplied(reply, utf8)
  if (reply.raw.destroyed) throw clientGone()
  const text = pipeline.open(content, 'text', outline)
  reply.raw.once('close', () => text.close())
  return text
}

/** Nobody reads it: it only ends the request. */
function clientGone(): Error {
  return Object.assign(new Error('The client has gone'), { statusCode: 400 })
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (cause) {
    throw malformedJson(cause)
  }
}
