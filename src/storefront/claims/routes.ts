import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { setSessionCookie } from '../sessions/cookie.ts'
import { SessionView } from '../sessions/routes.ts'
import {
  findStoreCaller,
  openSession,
  SESSION_COOKIE,
  type SessionDeps,
} from '../sessions/sessions.ts'
import { type ClaimDeps, claimPurchase } from './claims.ts'

export function claimRoutes(app: App, deps: ClaimDeps & SessionDeps): void {
  app.post(
    '/api/claim',
    {
      schema: {
        operationId: 'claimPurchase',
        body: Type.Object({ token: Type.String({ minLength: 1, maxLength: 512 }) }),
        response: { 200: SessionView },
        tags: ['purchases'],
        summary: 'Gets a guest’s purchase with the mailed link',
        description:
          'Opens a session where the purchase has created the account. An account that existed before needs its session.',
      },
      config: { access: 'anyone', described: { security: [{ session: [] }, {}] } },
    },
    async (request, reply) => {
      const caller = await findStoreCaller(deps, request.cookies[SESSION_COOKIE])
      const { token } = request.body
      const { user, isSignIn } = await claimPurchase(deps, token, caller?.userId ?? null)
      if (isSignIn) {
        const origin = deps.deviceCookie.originOf(request)
        setSessionCookie(reply, deps.config, await openSession(deps, user, origin, 'claim'))
        deps.deviceCookie.keep(reply, origin)
      }
      return { user: { id: user.id, email: user.email, full_name: user.full_name } }
    },
  )
}
