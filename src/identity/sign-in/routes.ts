import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
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
import { issueHandOff } from './hand-off.ts'
import { Proof } from './proof-of-work.ts'
import { type SignInDeps, signIn } from './sign-in.ts'
import { requireFreshSignIn } from './step-up.ts'

const route = declareRoutes('auth', { access: 'user' })

export function signInRoutes(
  app: App,
  deps: CredentialDeps & SignInDeps & PasskeyDeps & { deviceCookie: DeviceCookie },
): void {
  const { deviceCookie } = deps

  app.post(
    '/api/auth/login',
    route(
      'logIn',
      'Sign in with email and password, and a code where two-factor is on',
      {
        body: Type.Object({
          email: AnyEmail,
          password: ShownPassword,
          code: Type.Optional(Type.String({ maxLength: 64 })),
          proof: Type.Optional(Proof),
        }),
        response: { 200: TokenView },
      },
      { access: 'anyone' },
    ),
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
    route(
      'completeChallenge',
      'Finish a sign-in through a provider with the second factor',
      {
        body: Type.Object({ challenge: Type.String({ maxLength: 512 }), code: Code }),
        response: { 200: TokenView },
      },
      { access: 'anyone' },
    ),
    async (request, reply) => {
      const origin = deviceCookie.originOf(request)
      const user = await completeChallenge(deps, { ...request.body, origin })
      const pair = await signIn(deps, user, origin, 'two-factor')
      deviceCookie.keep(reply, origin)
      return tokenView(pair, user)
    },
  )

  app.post(
    '/api/auth/storefront',
    route(
      'signInToStorefront',
      'Where to send the browser that set out from the storefront’s sign-in, after a fresh sign-in here',
      {
        body: Type.Object({
          state: Type.String({
            minLength: 1,
            maxLength: 100,
            description: 'As the storefront gave it',
          }),
        }),
        response: { 200: Type.Object({ url: Type.String() }) },
      },
    ),
    async (request) => {
      const caller = requireCaller(request)
      await requireFreshSignIn(deps, caller)
      const code = await issueHandOff(deps, caller, request.body.state)
      return { url: `${deps.config.urls.storefront}/login/return?${new URLSearchParams({ code })}` }
    },
  )

  app.post(
    '/api/auth/passkeys/login/options',
    route(
      'startPasskeyLogin',
      'Begin to sign in with a passkey',
      { response: { 200: PasskeyOptions } },
      { access: 'anyone' },
    ),
    async () => ({ options: await loginOptions(deps) }),
  )

  app.post(
    '/api/auth/passkeys/login/verify',
    route(
      'finishPasskeyLogin',
      'Sign in with what the passkey has signed',
      { body: Type.Object({ response: PasskeyCredential }), response: { 200: TokenView } },
      { access: 'anyone' },
    ),
    // Needs only the general limit, because a signature over 256 random bits cannot be guessed.
    async (request, reply) => {
      const origin = deviceCookie.originOf(request)
      const user = await checkPasskey(
        deps,
        request.body.response as unknown as AuthenticationResponseJSON,
      )
      const pair = await signIn(deps, user, origin, 'passkey')
      deviceCookie.keep(reply, origin)
      return tokenView(pair, user)
    },
  )
}
