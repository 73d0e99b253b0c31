import type { FastifyRequest } from 'fastify'
import { requireCaller } from '#platform/http/access-control.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'

/** Declares a route for superusers. */
export const adminRoute = declareRoutes('admin', { access: 'superuser' })

/** Returns the superuser and the path's parameters: who changes what. */
export const readChange = <P extends object>(request: FastifyRequest & { params: P }) => ({
  actorId: requireCaller(request).userId,
  ...request.params,
})
