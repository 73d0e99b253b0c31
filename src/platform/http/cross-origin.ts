/**
 * Cross-origin access (CORS, Fetch standard) without cookies: for the user app on a separate
 * origin, and for every page on routes that accept API keys or declare `origins: 'any'`. Trap: a preflight has no credential,
 * so the actual request decides whether the page may read the reply.
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
  /** The user app's origin; null when it is the service's own. */
  appOrigin: string | null
  apiKey: Pick<Authenticators['apiKey'], 'claims'>
  /** The paths that the user app calls. */
  api: RegExp
}

/**
 * Adds the CORS headers. Runs before access control, so that a page can read why its request was
 * rejected.
 */
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

  // Preflights do not count towards the limits: they are cheap, reveal nothing, and a browser does
  // not show why one was rejected.
  const answered = new Set<string>()
  app.addHook('onRoute', ({ url, config }) => {
    const isAnswered = config?.access === 'user-or-key' || config?.origins === 'any'
    if (!isAnswered || answered.has(url)) return
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
   * True for API keys and for requests without credentials, so that the page can read that a key is
   * required. False for sessions: only the user app may use them.
   */
  function isOpen({ headers, routeOptions }: FastifyRequest): boolean {
    if (routeOptions.config?.origins === 'any') return true
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
