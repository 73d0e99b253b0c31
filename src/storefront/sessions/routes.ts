import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { originOf } from '#identity/origin.ts'
import type { App } from '#platform/http/app.ts'
import { Nullable } from '#platform/http/schema.ts'
import type { Config } from '#src/config.ts'
import type { StorefrontDeps } from '../storefront.ts'
import { safeRedirect } from './redirect.ts'
import { closeStoreSession, openStoreSession, SESSION_COOKIE, SESSION_MS } from './sessions.ts'

export const LoginForm = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254 }),
  password: Type.String({ minLength: 1, maxLength: 1000 }),
  code: Type.Optional(Type.String({ maxLength: 100 })),
  redirect: Type.Optional(Type.String({ maxLength: 2000 })),
})
export type LoginForm = Static<typeof LoginForm>

const SessionView = Type.Object({
  user: Type.Object({ id: Type.String(), email: Type.String(), full_name: Nullable(Type.String()) }),
})

export function sessionRoutes(app: App, deps: StorefrontDeps): void {
  const { config } = deps

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
      const { user, token } = await openStoreSession(deps, request.body, originOf(request))
      setSessionCookie(reply, config, token)
      if (isForm(request.headers['content-type'])) return reply.redirect(safeRedirect(request.body.redirect), 303)
      return { user: { id: user.id, email: user.email, full_name: user.full_name } }
    },
  )

  app.delete(
    '/api/session',
    {
      schema: {
        operationId: 'deleteSession',
        response: { 200: Type.Object({ message: Type.String() }) },
        tags: ['session'],
        summary: 'Signs out',
      },
      config: { access: 'anyone' },
    },
    async (request, reply) => {
      await closeStoreSession(deps, request.cookies[SESSION_COOKIE])
      clearSessionCookie(reply)
      return { message: 'Successfully logged out' }
    },
  )
}

export function setSessionCookie(reply: FastifyReply, { urls }: Config, token: string): void {
  reply.setCookie(SESSION_COOKIE, token, {
    httpOnly: true,
    sameSite: 'lax',
    secure: urls.storefront.startsWith('https:'),
    path: '/',
    maxAge: SESSION_MS / 1000,
  })
}

export function clearSessionCookie(reply: FastifyReply): void {
  reply.clearCookie(SESSION_COOKIE, { path: '/' })
}

export function isForm(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false
}
