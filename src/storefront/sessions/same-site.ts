import type { FastifyRequest } from 'fastify'
import { storefrontProblem } from '../problems.ts'

/**
 * Rejects a write that another site made a browser send. Current browsers send the origin of a
 * request in Sec-Fetch-Site; older ones send the Origin of every POST. A client that sends neither
 * (curl, a script, a server) chooses its cookies itself. SameSite=Lax on the cookie is a second
 * protection.
 */
export function requireSameSite(request: FastifyRequest, ownOrigin: string): void {
  const site = request.headers['sec-fetch-site']
  // This header is sufficient. The Origin of a same-origin form may be `null` under a strict
  // referrer policy.
  if (site === 'same-origin' || site === 'none') return
  if (site !== undefined) throw storefrontProblem('cross_site')
  const { origin } = request.headers
  if (origin !== undefined && origin !== ownOrigin && parseHost(origin) !== request.headers.host)
    throw storefrontProblem('cross_site')
}

function parseHost(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
