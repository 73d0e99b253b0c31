// A request's path as the router reads it (RFC 3986, section 6.2): what limits, policies and the shape of errors go by.
import type { FastifyContextConfig, FastifyRequest } from 'fastify'

/** What the contract's limits and policies are about. */
const API = /^\/(api|v1)(\/|$)/

/**
 * The pattern of the route that answers. Where none does, or one that takes every address, the path that was asked for:
 * without scheme and host, decoded once, each slash once, in lower case.
 */
export function pathOf(request: FastifyRequest, route = request.routeOptions.url): string {
  return isPattern(route) ? route : canonicalPath(request.url)
}

/** Whether a request is for the API; `config` is that of its route, if the caller has it at hand. */
export function isApiRequest(request: FastifyRequest, config: FastifyContextConfig): boolean {
  return config.isApi ?? API.test(canonicalPath(request.url))
}

/** The same of a route, once and for all; undefined where each request must be looked at. */
export function isApiRoute(url: string): boolean | undefined {
  return isPattern(url) ? API.test(url) : undefined
}

export function canonicalPath(url: string): string {
  return url
    .replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '')
    .replace(/[?#].*$/s, '')
    .replaceAll(/%[\da-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
    .replaceAll(/\/{2,}/g, '/')
    .toLowerCase()
}

const isPattern = (route: string | undefined): route is string => route !== undefined && !route.endsWith('*')
