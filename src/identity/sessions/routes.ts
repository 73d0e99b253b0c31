import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
import { Instant, Message, Nullable } from '#platform/http/schema.ts'
import { KeySet } from '#platform/signing.ts'
import { type RefreshDeps, refreshTokens } from './refresh.ts'
import { type RevocationDeps, revokeOtherSessions, revokeSession } from './revocation.ts'
import { listSessions } from './sessions.ts'
import { TokenView, tokenView } from './token-view.ts'

const authRoute = declareRoutes('auth', { access: 'anyone' })
const usersRoute = declareRoutes('users', { access: 'user' })

const SessionView = Type.Object(
  {
    id: Type.String(),
    user_agent: Nullable(Type.String()),
    ip_address: Nullable(Type.String()),
    created_at: Instant,
    last_used_at: Instant,
    current: Type.Boolean(),
  },
  { title: 'Session' },
)

export function sessionRoutes(app: App, deps: RefreshDeps & RevocationDeps): void {
  app.post(
    '/api/auth/refresh',
    authRoute('refreshTokens', 'Exchange a refresh token for a new pair', {
      body: Type.Object({ refresh_token: Type.String({ maxLength: 4_096 }) }),
      response: { 200: TokenView },
    }),
    async (request) => tokenView(await refreshTokens(deps, request.body.refresh_token), null),
  )

  app.post(
    '/api/auth/logout',
    authRoute('logOut', 'Say goodbye; the client discards its tokens', {
      response: { 200: Message },
    }),
    async () => ({ message: 'Successfully logged out' }),
  )

  app.get(
    '/.well-known/jwks.json',
    authRoute('getSigningKeys', 'The keys that sign access tokens (RFC 7517)', {
      response: { 200: KeySet },
    }),
    async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=300')
      return deps.keyring.published()
    },
  )

  app.get(
    '/api/users/me/sessions',
    usersRoute(
      'listSessions',
      'Where the account is signed in',
      { response: { 200: Type.Array(SessionView) } },
      { viewable: true },
    ),
    async (request) => listSessions(deps, requireCaller(request)),
  )

  app.delete(
    '/api/users/me/sessions',
    usersRoute('revokeOtherSessions', 'Sign every other session out', {
      response: { 200: Message },
    }),
    async (request) => {
      await revokeOtherSessions(deps, requireCaller(request))
      return { message: 'Other sessions revoked' }
    },
  )

  app.delete(
    '/api/users/me/sessions/:id',
    usersRoute('revokeSession', 'Sign a session out', {
      params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
      response: { 200: Message },
    }),
    async (request) => {
      await revokeSession(deps, requireCaller(request).userId, request.params.id)
      return { message: 'Session revoked' }
    },
  )
}
