import type { FastifyRequest } from 'fastify'
import { storefrontProblem } from '../problems.ts'

/**
 * Refuses a write that another site made a browser send. Current browsers send the origin of a
 * request in Sec-Fetch-Site; older ones send the Origin of every POST. A client that sends neither
 * (curl, a script, a server) has no cookie that it did not choose. SameSite=Lax on the cookie is
 * the second lock.
 */
export function requireSameSite(request: FastifyRequest, ownOrigin: string): void {
  const site = request.headers['sec-fetch-site']
  // Decides alone: under a strict referrer policy a browser's own form has the origin `null`.
  if (site === 'same-origin' || site === 'none') return
  if (site !== undefined) throw storefrontProblem('cross_site')
  const { origin } = request.headers
  if (origin !== undefined && origin !== ownOrigin && parseHost(origin) !== request.headers.host)
    throw storefrontProblem('cross_site')
}

function parseHost(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
