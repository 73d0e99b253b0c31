import type { FastifyRequest } from 'fastify'
import { storefrontProblem } from '../problems.ts'

/**
 * Refuses a write that another site made a browser send. Today's browsers say where a request comes from; older ones name
 * the origin of every POST; a client that says neither (curl, a script, a server) carries no cookie it did not mean to.
 * SameSite=Lax on the cookie is the second lock.
 */
export function requireSameSite(request: FastifyRequest, ownOrigin: string): void {
  const site = request.headers['sec-fetch-site']
  // Decides alone: under a strict referrer policy a browser's own form has the origin `null`.
  if (site === 'same-origin' || site === 'none') return
  if (site !== undefined) throw storefrontProblem('cross_site')
  const { origin } = request.headers
  if (origin !== undefined && origin !== ownOrigin && hostOf(origin) !== request.headers.host)
    throw storefrontProblem('cross_site')
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
