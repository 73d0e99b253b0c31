/**
 * Cross-origin access (CORS, Fetch standard): for the user app on a separate origin, and for every
 * page on routes that accept API keys. Without cookies. The trap: a preflight shows no credential,
 * so what it allows is decided at the reply.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Authenticators, bearerToken } from './access-control.ts'
import { hasBody } from './bodies.ts'
import { isApiRequest } from './path.ts'

/** `*` means every header except Authorization. Chrome caches for at most two hours. */
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, *',
  'access-control-max-age': '7200',
}

type Options = {
  /** The user app's; null where it is the service's own. */
  appOrigin: string | null
  apiKey: Pick<Authenticators['apiKey'], 'claims'>
  /** The paths that the user app asks. */
  api: RegExp
}

/** Before access control, so that a page can read why it was refused. */
export function allowOrigins(
  app: Pick<FastifyInstance, 'addHook' | 'route'>,
  { appOrigin, apiKey, api }: Options,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    if (appOrigin !== null) reply.header('vary', 'Origin')
    if (origin !== undefined) {
      if (origin === appOrigin && isApiRequest(request, request.routeOptions.config ?? {}, api)) {
        allow(reply, appOrigin)
        if (isPreflight(request)) {
          void reply.status(204).headers(PREFLIGHT).send()
          return
        }
      } else if (isOpen(request)) allow(reply, '*')
    }
    done()
  })

  // A preflight costs nothing and reveals nothing. It is not counted, since a refused one gets no
  // reason.
  const answered = new Set<string>()
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.access !== 'user-or-key' || answered.has(url)) return
    answered.add(url)
    app.route({
      method: 'OPTIONS',
      url,
      schema: { hide: true },
      config: { access: 'anyone', limit: 'none' },
      handler: (_request, reply) => allow(reply, '*').status(204).headers(PREFLIGHT).send(),
    })
  })

  /**
   * Requests without credentials are open, too: the page reads that a key is required. A session is
   * its own app's affair.
   */
  function isOpen({ headers, routeOptions }: FastifyRequest): boolean {
    if (routeOptions.config?.access !== 'user-or-key') return false
    const token = bearerToken(headers.authorization)
    return !token || apiKey.claims(token)
  }
}

function allow(reply: FastifyReply, origin: string): FastifyReply {
  return reply
    .header('access-control-allow-origin', origin)
    .header('access-control-expose-headers', '*')
}

function isPreflight({ method, headers, raw }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && !hasBody(raw)
  )
}
