import { declareRoutes } from '#platform/http/declare-routes.ts'

/** Declares a route for superusers. */
export const adminRoute = declareRoutes('admin', { access: 'superuser' })
