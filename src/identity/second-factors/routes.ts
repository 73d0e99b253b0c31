import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
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

const Passkey = Type.Object(
  { id: Type.String(), name: Type.String(), created_at: Instant, last_used_at: Nullable(Instant) },
  { title: 'Passkey' },
)

export function secondFactorRoutes(app: App, deps: SecondFactorDeps & ConfirmDeps): void {
  app.post(
    '/api/users/me/totp',
    {
      schema: {
        operationId: 'startTotp',
        tags: ['users'],
        summary: 'Begin with two-factor authentication',
        response: {
          200: Type.Object({
            secret: Type.String(),
            otpauth_url: Type.String(),
            qr_code: Type.String({ description: 'A picture of `otpauth_url`, as a data: address' }),
          }),
        },
      },
      config: { access: 'user' },
    },
    async (request) => prepareTotp(deps, await freshUser(request)),
  )

  app.post(
    '/api/users/me/totp/confirm',
    {
      schema: {
        operationId: 'confirmTotp',
        tags: ['users'],
        summary: 'Turn two-factor authentication on with the first code',
        body: Type.Object({ code: Code }),
        response: { 200: Type.Object({ recovery_codes: Type.Array(Type.String()) }) },
      },
      config: { access: 'user' },
    },
    async (request) => {
      const user = await freshUser(request)
      const { sessionId } = requireCaller(request)
      await countSessionCode(deps, user, { sessionId })
      return confirmTotp(deps, user, { code: request.body.code, sessionId })
    },
  )

  app.delete(
    '/api/users/me/totp',
    {
      schema: {
        operationId: 'removeTotp',
        tags: ['users'],
        summary: 'Turn two-factor authentication off',
        body: Type.Object({
          code: Code,
          password: Type.Optional(Nullable(Type.String({ maxLength: 1_024 }))),
        }),
        response: { 200: Message },
      },
      config: { access: 'user' },
    },
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
    {
      schema: {
        operationId: 'startPasskeyRegistration',
        tags: ['auth'],
        summary: 'Begin to make a passkey',
        response: { 200: PasskeyOptions },
      },
      config: { access: 'user' },
    },
    async (request) => ({ options: await registrationOptions(deps, await freshUser(request)) }),
  )

  app.post(
    '/api/auth/passkeys/register/verify',
    {
      schema: {
        operationId: 'finishPasskeyRegistration',
        tags: ['auth'],
        summary: 'Keep the passkey that the browser has made',
        body: Type.Object({
          response: PasskeyCredential,
          name: Type.Optional(
            Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000-\\u001f]*$' }),
          ),
        }),
        response: { 200: Passkey },
      },
      config: { access: 'user' },
    },
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
    {
      schema: {
        operationId: 'listPasskeys',
        tags: ['auth'],
        summary: 'The passkeys of this account',
        response: { 200: Type.Array(Passkey) },
      },
      config: { access: 'user', viewable: true },
    },
    async (request) => listPasskeys(deps.db, requireCaller(request).userId),
  )

  app.delete(
    '/api/auth/passkeys/:id',
    {
      schema: {
        operationId: 'deletePasskey',
        tags: ['auth'],
        summary: 'Remove a passkey; never the last sign-in method',
        params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
        response: { 200: Message },
      },
      config: { access: 'user' },
    },
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
