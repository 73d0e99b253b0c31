/**
 * A request's path as the router reads it (RFC 3986, section 6.2). Limits, policies and the format
 * of errors depend on it.
 */
import type { FastifyRequest } from 'fastify'

/**
 * Returns the pattern of the route. Without a route, or for one that matches every address, returns
 * the requested path: without scheme and host, decoded once, duplicate slashes removed, in lower
 * case.
 */
export function readRoutePath(request: FastifyRequest, route = request.routeOptions.url): string {
  return isPattern(route) ? route : canonicalPath(request.url)
}

/**
 * Returns true when a request is for the API, whose paths `api` recognizes; `policy` is that of its
 * route.
 */
export function isApiRequest(
  request: FastifyRequest,
  policy: { isApi?: boolean | undefined },
  api: RegExp,
): boolean {
  return policy.isApi ?? api.test(canonicalPath(request.url))
}

/** The same for a route; undefined when each request must be checked. */
export function isApiRoute(url: string, api: RegExp): boolean | undefined {
  return isPattern(url) ? api.test(url) : undefined
}

export function canonicalPath(url: string): string {
  return url
    .replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '')
    .replace(/[?#].*$/s, '')
    .replaceAll(/%[\da-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
    .replaceAll(/\/{2,}/g, '/')
    .toLowerCase()
}

const isPattern = (route: string | undefined): route is string =>
  route !== undefined && !route.endsWith('*')
