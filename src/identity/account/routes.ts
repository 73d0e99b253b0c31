import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AuditEntries, AuditPage, pageOfAudit } from '#audit/entries.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
import type { Described } from '#platform/http/openapi.ts'
import { readLocale } from '#platform/http/request-locale.ts'
import { Instant, Message, Nullable } from '#platform/http/schema.ts'
import { ownUser, ownView } from '../own-user.ts'
import { NewPassword } from '../passwords/password-rules.ts'
import { AnyEmail, OneTimeTokenBody } from '../schema.ts'
import type { FailedSignIns } from '../sign-in/failed-sign-ins.ts'
import { Proof } from '../sign-in/proof-of-work.ts'
import { type ConfirmDeps, type Requester, requireFreshSignIn } from '../sign-in/step-up.ts'
import { LocaleName, UserView, userView } from '../users.ts'
import { type DeletionDeps, deleteAccount } from './deletion.ts'
import { changeEmail, type UndoDeps, undoEmailChange } from './email-change.ts'
import { requestVerification, type VerificationDeps, verifyEmail } from './email-verification.ts'
import { type ExportDeps, exportAccount, exportEverything } from './export.ts'
import { changePassword } from './password-change.ts'
import { AvatarUrl, changeProfile, FullName } from './profile.ts'
import { type RegistrationDeps, register } from './registration.ts'

const authRoute = declareRoutes('auth', { access: 'user' })
const usersRoute = declareRoutes('users', { access: 'user' })

const Email = Type.String({ format: 'email' })
/** Asked where two-factor is on. */
const OwnCode = Type.Optional(Nullable(Type.String({ maxLength: 64 })))
/** Missing or of any length: the contract answers both with 400 `Incorrect password`. */
const OwnPassword = Type.Optional(Nullable(Type.String({ maxLength: 1_024 })))

/** The fields of `exportAccount`. */
const AccountExport = Type.Object(
  {
    ...Type.Pick(UserView, [
      'id',
      'email',
      'full_name',
      'avatar_url',
      'locale',
      'oauth_provider',
      'is_verified',
      'subscription_status',
      'subscription_tier',
      'created_at',
    ]).properties,
    updated_at: Instant,
    last_login_at: Nullable(Instant),
    exported_at: Instant,
  },
  { title: 'AccountExport' },
)

const EXPORTED: Described = {
  replies: {
    200: {
      description: 'A file: JSON, or with `full` a ZIP of JSON files.',
      content: {
        'application/json': AccountExport,
        'application/zip': Type.Unsafe<unknown>({ type: 'string', format: 'binary' }),
      },
      headers: {
        'content-disposition': {
          description: '`attachment`, with the name of the file',
          schema: { type: 'string' },
        },
      },
    },
  },
}

type AccountRouteDeps = { failedSignIns: FailedSignIns } & RegistrationDeps &
  VerificationDeps &
  ConfirmDeps &
  UndoDeps &
  DeletionDeps &
  ExportDeps

export function accountRoutes(app: App, deps: AccountRouteDeps): void {
  app.post(
    '/api/auth/register',
    authRoute(
      'registerUser',
      'Make an account; the verification email is sent',
      {
        body: Type.Object({
          email: Email,
          password: NewPassword,
          full_name: Type.Optional(Nullable(FullName)),
          invitation: Type.Optional(
            Type.String({
              maxLength: 512,
              description: 'Of the mailed link, where an account is made by invitation',
            }),
          ),
          proof: Type.Optional(Proof),
        }),
        response: { 201: UserView },
      },
      // Registrations have a separate limit only if one is set.
      { access: 'anyone', limit: deps.config.limits.signup === null ? 'general' : 'signup' },
    ),
    async (request, reply) => {
      const registration = { ...request.body, locale: readLocale(request) }
      const user = await register(deps, registration, request.ip)
      return reply.status(201).send(userView(deps.config.catalogue, user))
    },
  )

  app.get(
    '/api/auth/me',
    authRoute('getCurrentUser', 'The caller', { response: { 200: UserView } }, { viewable: true }),
    (request) => ownView(deps, request),
  )

  app.post(
    '/api/auth/verify-email',
    authRoute(
      'verifyEmail',
      'Verify an address with the mailed token; with a bearer, by the account’s own holder',
      { body: OneTimeTokenBody, response: { 200: Message } },
      { access: 'anyone' },
    ),
    async (request) => ({
      message:
        (await verifyEmail(deps, request.body.token, readBearerToken(request))) === 'verified'
          ? 'Email verified successfully'
          : 'Email already verified',
    }),
  )

  app.post(
    '/api/auth/resend-verification',
    authRoute(
      'resendVerification',
      'Ask for another verification email',
      { body: Type.Object({ email: AnyEmail }), response: { 200: Message } },
      { access: 'anyone' },
    ),
    async (request) => {
      await requestVerification(deps, request.body.email)
      return { message: 'If your email is registered, a verification link has been sent' }
    },
  )

  app.post(
    '/api/auth/undo-email-change',
    authRoute(
      'undoEmailChange',
      'Give an account back to its former address',
      { body: OneTimeTokenBody, response: { 200: Message } },
      { access: 'anyone' },
    ),
    async (request) => {
      await undoEmailChange(deps, request.body.token)
      return { message: 'Email address restored' }
    },
  )

  app.get(
    '/api/users/me',
    usersRoute('getProfile', 'The caller', { response: { 200: UserView } }, { viewable: true }),
    (request) => ownView(deps, request),
  )

  app.patch(
    '/api/users/me',
    usersRoute('updateProfile', 'Change name, picture or language; null clears', {
      body: Type.Object({
        full_name: Type.Optional(Nullable(FullName)),
        avatar_url: Type.Optional(Nullable(AvatarUrl)),
        locale: Type.Optional(Nullable(LocaleName)),
      }),
      response: { 200: UserView },
    }),
    async (request) =>
      userView(
        deps.config.catalogue,
        await changeProfile(deps, requireCaller(request).userId, request.body),
      ),
  )

  app.post(
    '/api/users/me/change-password',
    usersRoute('changePassword', 'Change the password; every other session ends', {
      body: Type.Object({
        current_password: Type.String({ maxLength: 1_024 }),
        new_password: NewPassword,
        code: OwnCode,
      }),
      response: { 200: Message },
    }),
    async (request) => {
      await changePassword(deps, await ownUser(deps, request), request.body, findRequester(request))
      return { message: 'Password changed successfully' }
    },
  )

  app.post(
    '/api/users/me/change-email',
    usersRoute('changeEmail', 'Change the address; the old one is told and can undo it', {
      body: Type.Object({
        new_email: Type.String({ format: 'email' }),
        password: OwnPassword,
        code: OwnCode,
      }),
      response: { 200: Message },
    }),
    async (request) => {
      await changeEmail(deps, await ownUser(deps, request), request.body, findRequester(request))
      return { message: 'Verification email sent to your new address' }
    },
  )

  app.get(
    '/api/users/me/export',
    usersRoute(
      'exportAccount',
      'The account as a JSON file; with full=true, after a fresh sign-in, everything we hold, as a ZIP of JSON',
      { querystring: Type.Object({ full: Type.Optional(Type.Boolean()) }) },
      { described: EXPORTED },
    ),
    async (request, reply) => {
      const user = await ownUser(deps, request)
      if (request.query.full) {
        await requireFreshSignIn(deps, requireCaller(request))
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

  app.get(
    '/api/users/me/audit',
    usersRoute(
      'listOwnAudit',
      'Security events of the account, newest first: sign-ins, refused ones, changes',
      { querystring: AuditPage, response: { 200: AuditEntries } },
      { viewable: true },
    ),
    async (request) => {
      // It includes requests refused a moment ago.
      await deps.failedSignIns.flush()
      return pageOfAudit(deps.db, { userId: requireCaller(request).userId, ...request.query })
    },
  )

  app.delete(
    '/api/users/me',
    {
      ...usersRoute('deleteAccount', 'Delete the account and everything in it, at once', {
        description:
          'Ends a running subscription. The rest of a paid period is neither refunded nor credited.',
        body: Type.Object({
          password: OwnPassword,
          code: OwnCode,
          confirm: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
        }),
        response: { 200: Message },
      }), // No body at all is one without a password: 400, not 422.
      preValidation: async (request) => {
        request.body ??= {}
      },
    },
    async (request) => {
      await deleteAccount(deps, await ownUser(deps, request), request.body, findRequester(request))
      return { message: 'User deleted successfully' }
    },
  )
}

function findRequester(request: FastifyRequest): Requester {
  return { sessionId: requireCaller(request).sessionId }
}

/** For routes that need no credential but use one when it is sent. */
function readBearerToken({ headers }: FastifyRequest): string | null {
  return /^Bearer (\S{1,4096})$/i.exec(headers.authorization ?? '')?.[1] ?? null
}
