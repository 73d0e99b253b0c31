/**
 * The request log: one line at `info` when a request ends, if REQUEST_LOG is on. The line names the
 * route's pattern, never the requested address, which may contain tokens of links and other private
 * text in a query.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Log } from '../telemetry/log.ts'
import { PROBES } from './tracing.ts'

export function logRequests(
  app: Pick<FastifyInstance, 'addHook'>,
  log: Log,
  { addresses }: { addresses: boolean },
): void {
  /**
   * The bytes that the connection had sent before this request; a connection serves several
   * requests.
   */
  const sentBefore = new WeakMap<FastifyRequest, number>()
  app.addHook('onRequest', (request, _reply, done) => {
    sentBefore.set(request, request.raw.socket?.bytesWritten ?? 0)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    const { statusCode: status } = reply
    if (status < 400 && PROBES.includes(route)) return done()
    const { caller, span, refusedBy } = request
    log.info(
      {
        reqId: request.id,
        method: request.method,
        route,
        status,
        ...(refusedBy === undefined ? {} : { code: refusedBy }),
        ms: Math.round(reply.elapsedTime),
        bytes: Math.max(
          0,
          (request.raw.socket?.bytesWritten ?? 0) - (sentBefore.get(request) ?? 0),
        ),
        user: caller?.userId ?? null,
        ...(caller?.viewerId ? { viewer: caller.viewerId } : {}),
        ...(caller?.keyId ? { keyId: caller.keyId } : {}),
        ...(addresses ? { address: request.ip } : {}),
        ...(span === undefined ? {} : { trace_id: span.traceId }),
        // The client disconnected before the end of the reply.
        ...(reply.raw.writableFinished ? {} : { cut: true }),
      },
      'request',
    )
    done()
  })
}
