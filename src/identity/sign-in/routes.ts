import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { ShownPassword } from '../passwords/password-rules.ts'
import { AnyEmail, Code } from '../schema.ts'
import {
  checkPasskey,
  loginOptions,
  PasskeyCredential,
  type PasskeyDeps,
  PasskeyOptions,
} from '../second-factors/passkeys.ts'
import { TokenView, tokenView } from '../sessions/token-view.ts'
import { completeChallenge } from './challenge.ts'
import { type CredentialDeps, checkCredentials } from './credentials.ts'
import type { DeviceCookie } from './device-cookie.ts'
import { Proof } from './proof-of-work.ts'
import { type SignInDeps, signIn } from './sign-in.ts'

const tags = ['auth']

export function signInRoutes(
  app: App,
  deps: CredentialDeps & SignInDeps & PasskeyDeps & { deviceCookie: DeviceCookie },
): void {
  const { deviceCookie } = deps

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
          proof: Type.Optional(Proof),
        }),
        response: { 200: TokenView },
      },
      config: { access: 'anyone' },
    },
    async (request, reply) => {
      const origin = deviceCookie.originOf(request)
      const user = await checkCredentials(deps, { ...request.body, origin })
      const pair = await signIn(deps, user, origin, 'password')
      deviceCookie.keep(reply, origin)
      return tokenView(pair, user)
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
    async (request, reply) => {
      const origin = deviceCookie.originOf(request)
      const user = await completeChallenge(deps, { ...request.body, origin })
      const pair = await signIn(deps, user, origin, 'two-factor')
      deviceCookie.keep(reply, origin)
      return tokenView(pair, user)
    },
  )

  app.post(
    '/api/auth/passkeys/login/options',
    {
      schema: {
        operationId: 'startPasskeyLogin',
        tags,
        summary: 'Begin to sign in with a passkey',
        response: { 200: PasskeyOptions },
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
        tags,
        summary: 'Sign in with what the passkey has signed',
        body: Type.Object({ response: PasskeyCredential }),
        response: { 200: TokenView },
      },
      config: { access: 'anyone' },
    },
    // No limit beside the general one: a signature over 256 random bits is nothing to guess.
    async (request, reply) => {
      const origin = deviceCookie.originOf(request)
      const user = await checkPasskey(deps, request.body.response as unknown as AuthenticationResponseJSON)
      const pair = await signIn(deps, user, origin, 'passkey')
      deviceCookie.keep(reply, origin)
      return tokenView(pair, user)
    },
  )
}
