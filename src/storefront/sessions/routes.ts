import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { Message, Nullable } from '#platform/http/schema.ts'
import { clearSessionCookie, setSessionCookie } from './cookie.ts'
import { safeRedirect } from './redirect.ts'
import {
  closeStoreSession,
  LoginForm,
  openStoreSession,
  SESSION_COOKIE,
  type SessionDeps,
} from './sessions.ts'

export const SessionView = Type.Object(
  {
    user: Type.Object(
      { id: Type.String(), email: Type.String(), full_name: Nullable(Type.String()) },
      { title: 'SessionUser' },
    ),
  },
  { title: 'Session' },
)

export function sessionRoutes(app: App, deps: SessionDeps): void {
  const { config, deviceCookie } = deps

  app.post(
    '/api/session',
    {
      schema: {
        operationId: 'createSession',
        body: LoginForm,
        response: { 200: SessionView },
        tags: ['session'],
        summary: 'Signs in',
      },
      config: { access: 'anyone' },
    },
    async (request, reply) => {
      const origin = deviceCookie.originOf(request)
      const { user, token } = await openStoreSession(deps, request.body, origin)
      setSessionCookie(reply, config, token)
      deviceCookie.keep(reply, origin)
      if (isForm(request.headers['content-type']))
        return reply.redirect(safeRedirect(request.body.redirect), 303)
      return { user: { id: user.id, email: user.email, full_name: user.full_name } }
    },
  )

  app.delete(
    '/api/session',
    {
      schema: {
        operationId: 'deleteSession',
        response: { 200: Message },
        tags: ['session'],
        summary: 'Signs out',
      },
      config: { access: 'anyone', described: { security: [{ session: [] }, {}] } },
    },
    async (request, reply) => {
      await closeStoreSession(deps, request.cookies[SESSION_COOKIE])
      clearSessionCookie(reply)
      return { message: 'Successfully logged out' }
    },
  )
}

function isForm(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false
}
