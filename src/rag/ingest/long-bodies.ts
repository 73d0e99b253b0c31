/** JSON bodies that are too long to be parsed where everybody waits: a worker keeps the text, the route sees the rest and a handle. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#platform/http/app.ts'
import { JsonTooDeep, JsonTooMany, parseJson } from '#platform/json.ts'
import { invalid, malformedJson } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import { LONG_BYTES, type TextHandle } from './ingest-pipeline.ts'
import type { Outline } from './outline.ts'

const FAULTS = { deep: JsonTooDeep, many: JsonTooMany }

declare module 'fastify' {
  interface FastifyRequest {
    /** Set when the body was long: then its `content` is only a placeholder. */
    longText?: TextHandle
  }
}

/** For the routes of this scope alone. */
export function parseLongBodies(scope: App, { pipeline }: Pick<RagDeps, 'pipeline'>): void {
  scope.removeContentTypeParser('application/json')
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      if (bytes.length === 0) throw invalid(['body'], 'Field required', 'missing')
      if (bytes.length <= LONG_BYTES) return parsed(bytes)
      request.longText = pipeline.open(bytes, 'json')
      const { body, fault } = await request.longText.head()
      if (body === undefined) throw malformedJson(fault && new FAULTS[fault]())
      return body
    },
  )
  // Also after a refusal, and when the client has gone.
  scope.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => request.longText?.close())
  })
}

/** A file's text, on a worker until the reply is over. */
export function openTextFor(
  reply: FastifyReply,
  { pipeline }: Pick<RagDeps, 'pipeline'>,
  utf8: Uint8Array,
  outline: Outline,
): TextHandle {
  const text = pipeline.open(utf8, 'text', outline)
  reply.raw.once('close', () => text.close())
  return text
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (cause) {
    throw malformedJson(cause)
  }
}
