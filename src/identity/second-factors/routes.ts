import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
import { Instant, Message, Nullable } from '#platform/http/schema.ts'
import { ownUser } from '../own-user.ts'
import { Code } from '../schema.ts'
import {
  type ConfirmDeps,
  confirmPassword,
  countSessionCode,
  requireFreshSignIn,
} from '../sign-in/step-up.ts'
import {
  addPasskey,
  listPasskeys,
  PasskeyCredential,
  PasskeyOptions,
  registrationOptions,
  removePasskey,
} from './passkeys.ts'
import { confirmTotp, prepareTotp, removeTotp, type SecondFactorDeps } from './totp.ts'

const usersRoute = declareRoutes('users', { access: 'user' })
const authRoute = declareRoutes('auth', { access: 'user' })

const Passkey = Type.Object(
  { id: Type.String(), name: Type.String(), created_at: Instant, last_used_at: Nullable(Instant) },
  { title: 'Passkey' },
)

export function secondFactorRoutes(app: App, deps: SecondFactorDeps & ConfirmDeps): void {
  app.post(
    '/api/users/me/totp',
    usersRoute('startTotp', 'Begin with two-factor authentication', {
      response: {
        200: Type.Object({
          secret: Type.String(),
          otpauth_url: Type.String(),
          qr_code: Type.String({ description: 'A picture of `otpauth_url`, as a data: address' }),
        }),
      },
    }),
    async (request) => prepareTotp(deps, await freshUser(request)),
  )

  app.post(
    '/api/users/me/totp/confirm',
    usersRoute('confirmTotp', 'Turn two-factor authentication on with the first code', {
      body: Type.Object({ code: Code }),
      response: { 200: Type.Object({ recovery_codes: Type.Array(Type.String()) }) },
    }),
    async (request) => {
      const user = await freshUser(request)
      const { sessionId } = requireCaller(request)
      await countSessionCode(deps, user, { sessionId })
      return confirmTotp(deps, user, { code: request.body.code, sessionId })
    },
  )

  app.delete(
    '/api/users/me/totp',
    usersRoute('removeTotp', 'Turn two-factor authentication off', {
      body: Type.Object({
        code: Code,
        password: Type.Optional(Nullable(Type.String({ maxLength: 1_024 }))),
      }),
      response: { 200: Message },
    }),
    async (request) => {
      const user = await freshUser(request)
      const { sessionId } = requireCaller(request)
      const { code, password } = request.body
      await confirmPassword(deps, user, password ?? undefined, {
        wrong: 'password_wrong',
        sessionId,
      })
      await countSessionCode(deps, user, { sessionId })
      await removeTotp(deps, user, { code, sessionId })
      return { message: 'Two-factor authentication is off' }
    },
  )

  app.post(
    '/api/auth/passkeys/register/options',
    authRoute('startPasskeyRegistration', 'Begin to make a passkey', {
      response: { 200: PasskeyOptions },
    }),
    async (request) => ({ options: await registrationOptions(deps, await freshUser(request)) }),
  )

  app.post(
    '/api/auth/passkeys/register/verify',
    authRoute('finishPasskeyRegistration', 'Keep the passkey that the browser has made', {
      body: Type.Object({
        response: PasskeyCredential,
        name: Type.Optional(
          Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000-\\u001f]*$' }),
        ),
      }),
      response: { 200: Passkey },
    }),
    async (request) => {
      const { response, name = 'Passkey' } = request.body
      return addPasskey(deps, await freshUser(request), {
        response: response as unknown as RegistrationResponseJSON,
        name,
        sessionId: requireCaller(request).sessionId,
      })
    },
  )

  app.get(
    '/api/auth/passkeys',
    authRoute(
      'listPasskeys',
      'The passkeys of this account',
      { response: { 200: Type.Array(Passkey) } },
      { viewable: true },
    ),
    async (request) => listPasskeys(deps.db, requireCaller(request).userId),
  )

  app.delete(
    '/api/auth/passkeys/:id',
    authRoute('deletePasskey', 'Remove a passkey; never the last sign-in method', {
      params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
      response: { 200: Message },
    }),
    async (request) => {
      const caller = requireCaller(request)
      await requireFreshSignIn(deps, caller)
      await removePasskey(deps, caller, request.params.id)
      return { message: 'Passkey removed' }
    },
  )

  async function freshUser(request: FastifyRequest) {
    await requireFreshSignIn(deps, requireCaller(request))
    return ownUser(deps, request)
  }
}
