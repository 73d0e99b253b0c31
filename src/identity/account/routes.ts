import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import { transaction } from '#platform/db/db.ts'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Message, Nullable } from '#platform/http/schema.ts'
import { unauthenticated } from '#platform/problems.ts'
import type { IdentityDeps } from '../deps.ts'
import { originOf } from '../origin.ts'
import { NewPassword } from '../passwords/password-rules.ts'
import { identityProblem } from '../problems.ts'
import { revokeSession, revokeSessions } from '../sessions/revocation.ts'
import { listSessions } from '../sessions/sessions.ts'
import type { Requester } from '../sign-in/step-up.ts'
import { requireFreshSignIn } from '../sign-in-methods.ts'
import { findUser, findUserView, type User, UserView, userView } from '../users.ts'
import { deleteAccount } from './deletion.ts'
import { changeEmail } from './email-change.ts'
import { exportAccount, exportEverything } from './export.ts'
import { changePassword } from './password-change.ts'
import { AvatarUrl, changeProfile, FullName } from './profile.ts'

const tags = ['users']
/** Asked where two-factor is on. */
const OwnCode = Type.Optional(Nullable(Type.String({ maxLength: 64 })))
/** Missing or of any length: the contract answers both with 400 `Incorrect password`. */
const OwnPassword = Type.Optional(Nullable(Type.String({ maxLength: 1_024 })))

export function userRoutes(app: App, deps: IdentityDeps): void {
  app.get(
    '/api/users/me',
    {
      schema: { operationId: 'getProfile', tags, summary: 'The caller', response: { 200: UserView } },
      config: { access: 'user' },
    },
    (request) => ownView(deps, request),
  )

  app.patch(
    '/api/users/me',
    {
      schema: {
        operationId: 'updateProfile',
        tags,
        summary: 'Change name or picture; null clears',
        body: Type.Object({
          full_name: Type.Optional(Nullable(FullName)),
          avatar_url: Type.Optional(Nullable(AvatarUrl)),
        }),
        response: { 200: UserView },
      },
      config: { access: 'user' },
    },
    async (request) =>
      userView(deps.config.catalogue, await changeProfile(deps, callerOf(request).userId, request.body)),
  )

  app.post(
    '/api/users/me/change-password',
    {
      schema: {
        operationId: 'changePassword',
        tags,
        summary: 'Change the password; every other session ends',
        body: Type.Object({
          current_password: Type.String({ maxLength: 1_024 }),
          new_password: NewPassword,
          code: OwnCode,
        }),
        response: { 200: Message },
      },
      config: { access: 'user' },
    },
    async (request) => {
      await changePassword(deps, await ownUser(deps, request), request.body, requesterOf(request))
      return { message: 'Password changed successfully' }
    },
  )

  app.post(
    '/api/users/me/change-email',
    {
      schema: {
        operationId: 'changeEmail',
        tags,
        summary: 'Change the address; the old one is told and can undo it',
        body: Type.Object({ new_email: Type.String({ format: 'email' }), password: OwnPassword, code: OwnCode }),
        response: { 200: Message },
      },
      config: { access: 'user' },
    },
    async (request) => {
      await changeEmail(deps, await ownUser(deps, request), request.body, requesterOf(request))
      return { message: 'Verification email sent to your new address' }
    },
  )

  app.get(
    '/api/users/me/export',
    {
      schema: {
        operationId: 'exportAccount',
        tags,
        summary:
          'The account as a JSON file; with full=true, after a fresh sign-in, everything we hold, as a ZIP of JSON',
        querystring: Type.Object({ full: Type.Optional(Type.Boolean()) }),
      },
      config: { access: 'user' },
    },
    async (request, reply) => {
      const user = await ownUser(deps, request)
      if (request.query.full) {
        await requireFreshSignIn(deps, user.id, callerOf(request).sessionId)
        return reply
          .type('application/zip')
          .header('content-disposition', 'attachment; filename="account-export.zip"')
          .send(Readable.from(exportEverything(deps, user), { objectMode: false }))
      }
      return reply
        .type('application/json; charset=utf-8')
        .header('content-disposition', 'attachment; filename="account-export.json"')
        .send(`${JSON.stringify(exportAccount(deps, user), null, 2)}\n`)
    },
  )

  app.delete(
    '/api/users/me',
    {
      schema: {
        operationId: 'deleteAccount',
        tags,
        summary: 'Delete the account and everything in it, at once',
        body: Type.Object({
          password: OwnPassword,
          code: OwnCode,
          confirm: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
        }),
        response: { 200: Message },
      },
      config: { access: 'user' },
      // No body at all is one without a password: 400, not 422.
      preValidation: async (request) => {
        request.body ??= {}
      },
    },
    async (request) => {
      await deleteAccount(deps, await ownUser(deps, request), request.body, requesterOf(request))
      return { message: 'User deleted successfully' }
    },
  )

  app.get(
    '/api/users/me/sessions',
    {
      schema: {
        operationId: 'listSessions',
        tags,
        summary: 'Where the account is signed in',
        response: { 200: Type.Array(SessionView) },
      },
      config: { access: 'user' },
    },
    async (request) => {
      const { userId, sessionId } = callerOf(request)
      return listSessions(deps, userId, sessionId)
    },
  )

  app.delete(
    '/api/users/me/sessions',
    {
      schema: {
        operationId: 'revokeOtherSessions',
        tags,
        summary: 'Sign every other session out',
        response: { 200: Message },
      },
      config: { access: 'user' },
    },
    async (request) => {
      const { userId, sessionId } = callerOf(request)
      await transaction(deps.db, async (tx) => {
        await revokeSessions(deps, tx, userId, sessionId)
        await recordAudit(tx, { actorId: userId, action: 'sessions.ended', at: deps.clock.now() })
      })
      return { message: 'Other sessions revoked' }
    },
  )

  app.delete(
    '/api/users/me/sessions/:id',
    {
      schema: {
        operationId: 'revokeSession',
        tags,
        summary: 'Sign a session out',
        params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
        response: { 200: Message },
      },
      config: { access: 'user' },
    },
    async (request) => {
      const { userId } = callerOf(request)
      const { id } = request.params
      const ended = await transaction(deps.db, async (tx) => {
        if (!(await revokeSession(deps, tx, userId, id))) return false
        await recordAudit(tx, {
          actorId: userId,
          action: 'session.ended',
          subject: `session:${id}`,
          at: deps.clock.now(),
        })
        return true
      })
      if (!ended) throw identityProblem('session_not_found')
      return { message: 'Session revoked' }
    },
  )
}

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

/** @throws the 401 of a user who was deleted between authentication and here. */
export async function ownUser(deps: IdentityDeps, request: FastifyRequest): Promise<User> {
  const user = await findUser(deps.db, callerOf(request).userId)
  if (!user) throw unauthenticated()
  return user
}

/** @throws as `ownUser`. */
export async function ownView(deps: IdentityDeps, request: FastifyRequest): Promise<UserView> {
  const view = await findUserView(deps.config.catalogue, deps.db, callerOf(request).userId)
  if (!view) throw unauthenticated()
  return view
}

function requesterOf(request: FastifyRequest): Requester {
  return { sessionId: callerOf(request).sessionId, address: originOf(request).address }
}
