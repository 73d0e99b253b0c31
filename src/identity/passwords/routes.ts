import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
import { Message } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { AnyEmail, OneTimeTokenBody } from '../schema.ts'
import {
  checkResetToken,
  type PasswordResetDeps,
  requestReset,
  resetPassword,
} from './password-reset.ts'
import { NewPassword } from './password-rules.ts'

const route = declareRoutes('auth', { access: 'anyone' })

export function passwordRoutes(
  app: App,
  deps: PasswordResetDeps & Pick<Platform, 'limiter'>,
): void {
  app.post(
    '/api/auth/forgot-password',
    route('requestPasswordReset', 'Ask for a link that sets a new password', {
      body: Type.Object({ email: AnyEmail }),
      response: { 200: Message },
    }),
    async (request) => {
      await requestReset(deps, request.body.email)
      return { message: 'If your email is registered, a password reset link has been sent' }
    },
  )

  app.post(
    '/api/auth/verify-reset-token',
    route('verifyResetToken', 'Whether a reset token is still good; it is not spent', {
      body: OneTimeTokenBody,
      response: { 200: Type.Object({ valid: Type.Boolean() }) },
    }),
    async (request) => {
      await checkResetToken(deps, request.body.token)
      return { valid: true }
    },
  )

  app.post(
    '/api/auth/reset-password',
    route(
      'resetPassword',
      'Set a new password with the mailed token; on request, revoke every API key',
      {
        body: Type.Object({
          token: Type.String({ maxLength: 512 }),
          new_password: NewPassword,
          revoke_api_keys: Type.Optional(Type.Boolean()),
        }),
        response: { 200: Message },
      },
    ),
    async (request) => {
      const { token, new_password: password, revoke_api_keys: revokesKeys } = request.body
      await resetPassword(deps, { token, password, revokesKeys })
      return { message: 'Password reset successfully' }
    },
  )
}
