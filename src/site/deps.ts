import type { FastifyRequest } from 'fastify'
import type { Caller } from '#platform/http/access-control.ts'
import type { LayoutDeps } from '#storefront/pages/layout.ts'
import type { ProductDeps } from '#storefront/products/releases.ts'
import { type CookieDeps, findStoreCaller, SESSION_COOKIE } from '#storefront/sessions/sessions.ts'
import type { DocLibrary } from './docs/library.ts'
import type { StatusDeps } from './status.ts'

/** The dependencies of all pages of the site. */
export type SiteDeps = LayoutDeps & CookieDeps & ProductDeps & StatusDeps & { docs: DocLibrary }

/** Returns the visitor who is signed in at the storefront; null for anyone else. */
export function findCaller(deps: CookieDeps, request: FastifyRequest): Promise<Caller | null> {
  return findStoreCaller(deps, request.cookies[SESSION_COOKIE])
}
