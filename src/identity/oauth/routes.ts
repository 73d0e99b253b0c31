import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
import type { Described } from '#platform/http/openapi.ts'
import { readLocale } from '#platform/http/request-locale.ts'
import { Instant, Message, Nullable } from '#platform/http/schema.ts'
import { platformProblem } from '#platform/problems.ts'
import type { SessionRef } from '../sessions/sessions.ts'
import { issueChallenge } from '../sign-in/challenge.ts'
import type { DeviceCookie } from '../sign-in/device-cookie.ts'
import { type SignInDeps, signIn } from '../sign-in/sign-in.ts'
import { requireFreshSignIn } from '../sign-in/step-up.ts'
import type { OAuthProvider } from '../tables.ts'
import { OAuthProviderName } from '../users.ts'
import {
  finishOAuth,
  type OAuthFlowDeps,
  providerNamed,
  RefusedSignIn,
  startOAuth,
} from './flow.ts'
import {
  findOrCreateAccount,
  type LinkDeps,
  linkProvider,
  listLinks,
  unlinkProvider,
} from './links.ts'

const authRoute = declareRoutes('auth', { access: 'anyone' })
const usersRoute = declareRoutes('users', { access: 'user' })
const Provider = Type.Object({ provider: Type.String({ maxLength: 64 }) })
const Started = Type.Object(
  { authorization_url: Type.String(), state: Type.String() },
  { title: 'OAuthStart' },
)
const FLOW_S = 600

const CALLBACK: Described = {
  parameters: ['code', 'state', 'iss', 'error'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  })),
  replies: {
    302: {
      description:
        'To the user app: /auth/callback with `access_token` and `refresh_token`; /login with `challenge` where two-factor is on, or with `error`; /account where a provider was linked.',
      headers: {
        location: { description: 'Where to go', schema: { type: 'string', format: 'uri' } },
      },
    },
  },
}

export function oauthRoutes(
  app: App,
  deps: OAuthFlowDeps & LinkDeps & SignInDeps & { deviceCookie: DeviceCookie },
): void {
  const { frontend, base } = deps.config.urls
  const https = base.startsWith('https:')
  // `__Host-`: other subdomains cannot set it (RFC 6265bis, 4.1.3.2). Browsers accept the prefix
  // only on https.
  const cookie = https ? '__Host-oauth_browser' : 'oauth_browser'

  app.get(
    '/api/auth/oauth/:provider',
    authRoute('startOauth', 'Where to send the browser to sign in with Google or GitHub', {
      params: Provider,
      response: { 200: Started },
    }),
    async (request, reply) => start(request, reply, providerNamed(request.params.provider), null),
  )

  app.get(
    '/api/auth/callback/:provider',
    authRoute(
      'finishOauth',
      'Where the provider sends the browser back to',
      { params: Provider },
      { described: CALLBACK },
    ),
    async (request, reply) => {
      const provider = providerNamed(request.params.provider)
      const search = new URL(request.url, base).searchParams
      const target = await finish(request, reply, provider, search).catch((error) =>
        refusalPage(error),
      )
      // The URL contains tokens, so it must not be sent as a referrer.
      return reply.header('referrer-policy', 'no-referrer').redirect(target, 302)
    },
  )

  app.get(
    '/api/users/me/oauth',
    usersRoute(
      'listOauthLinks',
      'Providers that open this account',
      {
        response: {
          200: Type.Array(
            Type.Object(
              { provider: OAuthProviderName, email: Nullable(Type.String()), linked_at: Instant },
              { title: 'OAuthLink' },
            ),
          ),
        },
      },
      { viewable: true },
    ),
    async (request) => listLinks(deps.db, requireCaller(request).userId),
  )

  app.post(
    '/api/users/me/oauth/:provider',
    usersRoute('linkOauth', 'Where to send the browser to link a provider', {
      params: Provider,
      response: { 200: Started },
    }),
    async (request, reply) => {
      const provider = providerNamed(request.params.provider)
      const { userId, sessionId } = requireCaller(request)
      await requireFreshSignIn(deps, { userId, sessionId })
      return start(request, reply, provider, { userId, sessionId })
    },
  )

  app.delete(
    '/api/users/me/oauth/:provider',
    usersRoute('unlinkOauth', 'Take a provider away; never the last sign-in method', {
      params: Provider,
      response: { 200: Message },
    }),
    async (request) => {
      const provider = providerNamed(request.params.provider)
      const caller = requireCaller(request)
      await requireFreshSignIn(deps, caller)
      await unlinkProvider(deps, caller, provider)
      return { message: 'Provider unlinked' }
    },
  )

  async function start(
    request: FastifyRequest,
    reply: FastifyReply,
    provider: OAuthProvider,
    linkTo: SessionRef | null,
  ) {
    const known = request.cookies[cookie] ?? null
    const { browserSecret, ...started } = await startOAuth(deps, provider, {
      browserSecret: known,
      linkTo,
    })
    reply.setCookie(cookie, browserSecret, {
      path: '/',
      httpOnly: true,
      secure: https,
      sameSite: 'lax',
      maxAge: FLOW_S,
    })
    return started
  }

  /** @returns the page of the app to open. */
  async function finish(
    request: FastifyRequest,
    reply: FastifyReply,
    provider: OAuthProvider,
    search: URLSearchParams,
  ): Promise<string> {
    const { identity, linkTo } = await finishOAuth(deps, provider, {
      search,
      browserSecret: request.cookies[cookie] ?? null,
    })
    if (linkTo !== null) {
      await linkProvider(deps, linkTo, provider, identity)
      return `${frontend}/account?${new URLSearchParams({ tab: 'security', linked: provider })}`
    }
    const user = await findOrCreateAccount(deps, provider, identity, readLocale(request))
    if (user.is_totp_on) {
      return `${frontend}/login?${new URLSearchParams({ challenge: await issueChallenge(deps, user.id) })}`
    }
    const origin = deps.deviceCookie.originOf(request)
    const { access_token, refresh_token } = await signIn(deps, user, origin, provider)
    deps.deviceCookie.keep(reply, origin)
    return `${frontend}/auth/callback?${new URLSearchParams({ access_token, refresh_token })}`
  }

  function refusalPage(error: unknown): string {
    if (error instanceof RefusedSignIn) {
      return error.linking
        ? `${frontend}/account?${new URLSearchParams({ tab: 'security', error: error.refusal })}`
        : `${frontend}/login?${new URLSearchParams({ error: error.refusal })}`
    }
    if (platformProblem.is(error, 'inactive_account'))
      return `${frontend}/login?error=inactive_account`
    throw error
  }
}
