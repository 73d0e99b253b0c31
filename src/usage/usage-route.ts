import { declareRoutes } from '#platform/http/declare-routes.ts'

/** Declares a route that reads usage: for users, and for keys with the scope `usage`. */
export const usageRoute = declareRoutes('usage', { access: 'user-or-key', scope: 'usage' })
