/**
 * Creates a span for each request, in the caller's trace when the request names one
 * (`traceparent`). Node runs callbacks for a body in the socket's async context, not in the
 * request's, so the span is entered again afterwards.
 */

import type { FastifyInstance } from 'fastify'
import { parseTraceparent } from '../telemetry/trace-context.ts'
import { currentSpan, inSpan, type Span, type Tracer } from '../telemetry/tracer.ts'

declare module 'fastify' {
  interface FastifyRequest {
    span?: Span
  }
}

/** Paths that machines poll every few seconds. */
export const PROBES: readonly string[] = ['/healthz', '/readyz', '/metrics']

/** Adds the hooks. Call it before any other hook is added. */
export function traceRequests(app: Pick<FastifyInstance, 'addHook'>, tracer: Tracer): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const route = request.routeOptions.url ?? ''
    if (PROBES.includes(route)) return done()
    const span = tracer.start(`${request.method} ${route}`.trim(), {
      kind: 'server',
      parent: parseTraceparent(request.headers.traceparent),
      attributes: {
        'http.request.method': request.method,
        'http.route': route || null,
        'latchkey.request_id': request.id,
      },
    })
    request.span = span
    inSpan(span, done)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    const { span } = request
    if (span === undefined || currentSpan() === span) done()
    else inSpan(span, done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { span, caller, refusedBy } = request
    const { statusCode } = reply
    span?.set({
      'http.response.status_code': statusCode,
      'user.id': caller?.userId,
      'latchkey.key_id': caller?.keyId,
      'error.type': refusedBy,
    })
    span?.end(statusCode >= 500 ? (refusedBy ?? String(statusCode)) : null)
    done()
  })
}
