import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Message, Nullable } from '#platform/http/schema.ts'
import { ownUser } from '../account/routes.ts'
import type { IdentityDeps } from '../deps.ts'
import { originOf } from '../origin.ts'
import { TokenView, tokenView } from '../sessions/token-view.ts'
import { signIn } from '../sign-in/sign-in.ts'
import { countAttempt } from '../sign-in/sign-in-limits.ts'
import { confirmPassword } from '../sign-in/step-up.ts'
import { requireFreshSignIn } from '../sign-in-methods.ts'
import { addPasskey, checkPasskey, listPasskeys, loginOptions, registrationOptions, removePasskey } from './passkeys.ts'
import { confirmTotp, prepareTotp, removeTotp } from './totp.ts'

const Code = Type.String({ minLength: 1, maxLength: 64 })
const Passkey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    created_at: Instant,
    last_used_at: Nullable(Instant),
  },
  { title: 'Passkey' },
)
/** What the browser's credential API has answered, as @simplewebauthn/browser writes it; the library checks its inside. */
const Credential = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 2_048 }),
    rawId: Type.String({ maxLength: 2_048 }),
    type: Type.Literal('public-key'),
    response: Type.Object({ clientDataJSON: Type.String() }),
  },
  { title: 'PasskeyCredential' },
)
const Options = Type.Object({ options: Type.Any() }, { title: 'PasskeyOptions' })

export function secondFactorRoutes(app: App, deps: IdentityDeps): void {
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
      await countAttempt(deps, { account: user.email_key, address: originOf(request).address })
      return confirmTotp(deps, user, { code: request.body.code, sessionId: callerOf(request).sessionId })
    },
  )

  app.delete(
    '/api/users/me/totp',
    {
      schema: {
        operationId: 'removeTotp',
        tags: ['users'],
        summary: 'Turn two-factor authentication off',
        body: Type.Object({ code: Code, password: Type.Optional(Nullable(Type.String({ maxLength: 1_024 }))) }),
        response: { 200: Message },
      },
      config: { access: 'user' },
    },
    async (request) => {
      const user = await freshUser(request)
      const { address } = originOf(request)
      const { code, password } = request.body
      await confirmPassword(deps, user, password ?? undefined, { wrong: 'password_wrong', address })
      // Where there is a password, asking for it has counted the attempt.
      if (user.password_hash === null) await countAttempt(deps, { account: user.email_key, address })
      await removeTotp(deps, user, { code, sessionId: callerOf(request).sessionId })
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
        response: { 200: Options },
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
          response: Credential,
          name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000-\\u001f]*$' })),
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
        sessionId: callerOf(request).sessionId,
      })
    },
  )

  app.post(
    '/api/auth/passkeys/login/options',
    {
      schema: {
        operationId: 'startPasskeyLogin',
        tags: ['auth'],
        summary: 'Begin to sign in with a passkey',
        response: { 200: Options },
      },
      config: { access: 'anyone' },
    },
    async () => ({ options: await loginOptions(deps) }),
  )

  app.post(
    '/api/auth/passkeys/login/verify',
    {
      schema: {
        operationId: 'finishPasskeyLogin',
        tags: ['auth'],
        summary: 'Sign in with what the passkey has signed',
        body: Type.Object({ response: Credential }),
        response: { 200: TokenView },
      },
      config: { access: 'anyone' },
    },
    async (request) => {
      const origin = originOf(request)
      await countAttempt(deps, { account: null, address: origin.address })
      const user = await checkPasskey(deps, request.body.response as unknown as AuthenticationResponseJSON)
      return tokenView(await signIn(deps, user, origin, 'passkey'), user)
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
      config: { access: 'user' },
    },
    async (request) => listPasskeys(deps.db, callerOf(request).userId),
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
      const { userId, sessionId } = callerOf(request)
      await requireFreshSignIn(deps, userId, sessionId)
      await removePasskey(deps, { userId, sessionId }, request.params.id)
      return { message: 'Passkey removed' }
    },
  )

  async function freshUser(request: FastifyRequest) {
    const { userId, sessionId } = callerOf(request)
    await requireFreshSignIn(deps, userId, sessionId)
    return ownUser(deps, request)
  }
}
