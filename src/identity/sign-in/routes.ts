import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { Message, Nullable } from '#platform/http/schema.ts'
import { undoEmailChange } from '../account/email-change.ts'
import { requestVerification, verifyEmail } from '../account/email-verification.ts'
import { FullName } from '../account/profile.ts'
import { register } from '../account/registration.ts'
import { ownView } from '../account/routes.ts'
import type { IdentityDeps } from '../deps.ts'
import { originOf } from '../origin.ts'
import { checkResetToken, requestReset, resetPassword } from '../passwords/password-reset.ts'
import { NewPassword, ShownPassword } from '../passwords/password-rules.ts'
import { refreshTokens } from '../sessions/refresh.ts'
import { TokenView, tokenView } from '../sessions/token-view.ts'
import { UserView, userView } from '../users.ts'
import { completeChallenge } from './challenge.ts'
import { checkCredentials } from './credentials.ts'
import { signIn } from './sign-in.ts'

const tags = ['auth']
const Email = Type.String({ format: 'email' })
/** An address that is looked up, never written: what is no address is simply unknown. */
const AnyEmail = Type.String({ minLength: 1, maxLength: 320 })
const OneTime = Type.Object({ token: Type.String({ maxLength: 512 }) }, { title: 'OneTimeToken' })
const Jwks = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.String(),
        crv: Type.String(),
        x: Type.String(),
        kid: Type.String(),
        use: Type.String(),
        alg: Type.String(),
      }),
    ),
  },
  { title: 'KeySet' },
)
const Code = Type.String({ minLength: 1, maxLength: 64 })

export function authRoutes(app: App, deps: IdentityDeps): void {
  app.post(
    '/api/auth/register',
    {
      schema: {
        operationId: 'registerUser',
        tags,
        summary: 'Make an account; the verification email is sent',
        body: Type.Object({
          email: Email,
          password: NewPassword,
          full_name: Type.Optional(Nullable(FullName)),
        }),
        response: { 201: UserView },
      },
      // Without a limit of their own registrations are requests like others.
      config: { access: 'anyone', limit: deps.config.limits.signup === null ? 'general' : 'signup' },
    },
    async (request, reply) =>
      reply.status(201).send(userView(deps.config.catalogue, await register(deps, request.body))),
  )

  app.post(
    '/api/auth/login',
    {
      schema: {
        operationId: 'logIn',
        tags,
        summary: 'Sign in with email and password, and a code where two-factor is on',
        body: Type.Object({
          email: AnyEmail,
          password: ShownPassword,
          code: Type.Optional(Type.String({ maxLength: 64 })),
        }),
        response: { 200: TokenView },
      },
      config: { access: 'anyone' },
    },
    async (request) => {
      const origin = originOf(request)
      const user = await checkCredentials(deps, { ...request.body, address: origin.address })
      return tokenView(await signIn(deps, user, origin, 'password'), user)
    },
  )

  app.post(
    '/api/auth/challenge',
    {
      schema: {
        operationId: 'completeChallenge',
        tags,
        summary: 'Finish a sign-in through a provider with the second factor',
        body: Type.Object({ challenge: Type.String({ maxLength: 512 }), code: Code }),
        response: { 200: TokenView },
      },
      config: { access: 'anyone' },
    },
    async (request) => {
      const origin = originOf(request)
      const user = await completeChallenge(deps, { ...request.body, address: origin.address })
      return tokenView(await signIn(deps, user, origin, 'two-factor'), user)
    },
  )

  app.post(
    '/api/auth/refresh',
    {
      schema: {
        operationId: 'refreshTokens',
        tags,
        summary: 'Exchange a refresh token for a new pair',
        body: Type.Object({ refresh_token: Type.String({ maxLength: 4_096 }) }),
        response: { 200: TokenView },
      },
      config: { access: 'anyone' },
    },
    async (request) => tokenView(await refreshTokens(deps, request.body.refresh_token), null),
  )

  app.post(
    '/api/auth/logout',
    {
      schema: {
        operationId: 'logOut',
        tags,
        summary: 'Say goodbye; the client discards its tokens',
        response: { 200: Message },
      },
      config: { access: 'anyone' },
    },
    async () => ({ message: 'Successfully logged out' }),
  )

  app.get(
    '/api/auth/me',
    {
      schema: { operationId: 'getCurrentUser', tags, summary: 'The caller', response: { 200: UserView } },
      config: { access: 'user' },
    },
    (request) => ownView(deps, request),
  )

  app.post(
    '/api/auth/verify-email',
    {
      schema: {
        operationId: 'verifyEmail',
        tags,
        summary: 'Verify an address with the mailed token; with a bearer, by the account’s own holder',
        body: OneTime,
        response: { 200: Message },
      },
      config: { access: 'anyone' },
    },
    async (request) => ({
      message:
        (await verifyEmail(deps, request.body.token, bearerOf(request))) === 'verified'
          ? 'Email verified successfully'
          : 'Email already verified',
    }),
  )

  app.post(
    '/api/auth/resend-verification',
    {
      schema: {
        operationId: 'resendVerification',
        tags,
        summary: 'Ask for another verification email',
        body: Type.Object({ email: AnyEmail }),
        response: { 200: Message },
      },
      config: { access: 'anyone' },
    },
    async (request) => {
      await requestVerification(deps, request.body.email)
      return { message: 'If your email is registered, a verification link has been sent' }
    },
  )

  app.post(
    '/api/auth/forgot-password',
    {
      schema: {
        operationId: 'requestPasswordReset',
        tags,
        summary: 'Ask for a link that sets a new password',
        body: Type.Object({ email: AnyEmail }),
        response: { 200: Message },
      },
      config: { access: 'anyone' },
    },
    async (request) => {
      await requestReset(deps, request.body.email)
      return { message: 'If your email is registered, a password reset link has been sent' }
    },
  )

  app.post(
    '/api/auth/verify-reset-token',
    {
      schema: {
        operationId: 'verifyResetToken',
        tags,
        summary: 'Whether a reset token is still good; it is not spent',
        body: OneTime,
        response: { 200: Type.Object({ valid: Type.Boolean() }) },
      },
      config: { access: 'anyone' },
    },
    async (request) => {
      await checkResetToken(deps, request.body.token)
      return { valid: true }
    },
  )

  app.post(
    '/api/auth/reset-password',
    {
      schema: {
        operationId: 'resetPassword',
        tags,
        summary: 'Set a new password with the mailed token; on request, revoke every API key',
        body: Type.Object({
          token: Type.String({ maxLength: 512 }),
          new_password: NewPassword,
          revoke_api_keys: Type.Optional(Type.Boolean()),
        }),
        response: { 200: Message },
      },
      config: { access: 'anyone' },
    },
    async (request) => {
      const { token, new_password: password, revoke_api_keys: revokesKeys } = request.body
      await resetPassword(deps, { token, password, revokesKeys })
      return { message: 'Password reset successfully' }
    },
  )

  app.post(
    '/api/auth/undo-email-change',
    {
      schema: {
        operationId: 'undoEmailChange',
        tags,
        summary: 'Give an account back to its former address',
        body: OneTime,
        response: { 200: Message },
      },
      config: { access: 'anyone' },
    },
    async (request) => {
      await undoEmailChange(deps, request.body.token)
      return { message: 'Email address restored' }
    },
  )

  app.get(
    '/.well-known/jwks.json',
    {
      schema: {
        operationId: 'getSigningKeys',
        tags,
        summary: 'The keys that sign access tokens (RFC 7517)',
        response: { 200: Jwks },
      },
      config: { access: 'anyone' },
    },
    async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=300')
      return deps.keyring.published()
    },
  )
}

/** Where a route takes anyone and asks nothing of a credential, but knows one when it comes. */
function bearerOf({ headers }: FastifyRequest): string | null {
  return /^Bearer (\S{1,4096})$/i.exec(headers.authorization ?? '')?.[1] ?? null
}
