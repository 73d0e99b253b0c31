// The authorization code flow with PKCE. Each flow belongs to one browser, works once, and ends on
// a page of this service. `state` is not enough, because it can be passed to another browser (login
// CSRF). So the callback must also have a cookie that only the starting browser has.
import { randomBytes, randomUUID } from 'node:crypto'
import { ownedToken } from '#platform/owned-token.ts'
import type { Platform } from '#platform/platform.ts'
import { issueToken, spendToken } from '../one-time-tokens.ts'
import { identityProblem } from '../problems.ts'
import type { SessionRef } from '../sessions/sessions.ts'
import type { OAuthProvider } from '../tables.ts'
import type { Provider, ProviderIdentity } from './providers.ts'

export type OAuthFlowDeps = Pick<Platform, 'db' | 'clock' | 'config' | 'secrets' | 'log'> & {
  providers: Record<OAuthProvider, Provider | null>
}

/** Why a sign-in failed, as in `?error=`. */
export type OAuthRefusal =
  | 'access_denied'
  | 'invalid_state'
  | 'provider_error'
  | 'email_missing'
  | 'email_not_verified'
  | 'account_exists'
  | 'already_linked'
  | 'inactive_account'
  | 'sandboxed_provider'
  | 'email_domain_refused'
  | 'invitation_required'

export class RefusedSignIn extends Error {
  readonly refusal: OAuthRefusal
  /** True when the flow was to link a provider to a signed-in account. */
  readonly linking: boolean
  constructor(refusal: OAuthRefusal, { linking, cause }: { linking: boolean; cause?: unknown }) {
    super(refusal, { cause })
    this.refusal = refusal
    this.linking = linking
  }
}

type Flow = {
  provider: OAuthProvider
  /** Keyed hash of the browser's cookie. */
  browser: string
  /** PKCE verifier and nonce, sealed. */
  sealed: string
  /**
   * The session that links a provider; the flow becomes invalid when it ends. Null: the flow signs
   * in.
   */
  linkTo: SessionRef | null
}

const NAMES: Record<string, OAuthProvider> = {
  google: 'google',
  github: 'github',
  oauth_vendor_1: 'google',
  oauth_vendor_2: 'github',
}

/** @throws Problem 404 for an unknown name. */
export function providerNamed(name: string): OAuthProvider {
  const provider = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined
  if (!provider) throw identityProblem('oauth_provider_not_found', { provider: name.slice(0, 40) })
  return provider
}

export type StartedFlow = { authorization_url: string; state: string; browserSecret: string }

/**
 * `browserSecret` is the value of the browser's cookie. An existing cookie stays, so that two tabs
 * can each finish their own flow.
 * @throws Problem 400 when the provider is not configured, 502 when it cannot be reached.
 */
export async function startOAuth(
  deps: OAuthFlowDeps,
  provider: OAuthProvider,
  {
    browserSecret: known,
    linkTo = null,
  }: { browserSecret: string | null; linkTo?: SessionRef | null },
): Promise<StartedFlow> {
  const client = deps.providers[provider]
  if (!client) throw identityProblem('oauth_provider_not_configured', { provider })

  const browserSecret = known !== null && /^[\w-]{43}$/.test(known) ? known : randomSecret()
  // Contains no personal data, because the provider sees it.
  const state = ownedToken(randomUUID())
  const checks = { state, verifier: randomSecret(), nonce: randomSecret() }
  const url = await client
    .authorizationUrl(buildRedirectUri(deps, provider), checks)
    .catch((error) => {
      throw identityProblem('oauth_provider_unreachable', { provider }, { cause: error })
    })
  const flow: Flow = {
    provider,
    browser: deps.secrets.hash('oauth/browser', browserSecret),
    sealed: deps.secrets.seal('oauth/flow', JSON.stringify([checks.verifier, checks.nonce])),
    linkTo,
  }
  await issueToken(deps, deps.db, 'oauth', linkTo?.userId ?? null, flow, state)
  return { authorization_url: url.href, state, browserSecret }
}

export type FinishedFlow = { identity: ProviderIdentity; linkTo: SessionRef | null }

/** @throws RefusedSignIn. */
export async function finishOAuth(
  deps: OAuthFlowDeps,
  provider: OAuthProvider,
  { search, browserSecret }: { search: URLSearchParams; browserSecret: string | null },
): Promise<FinishedFlow> {
  const state = search.get('state') ?? ''
  const spent = await spendToken<Flow>(deps, deps.db, 'oauth', state)
  const flow = spent?.data
  if (
    !flow ||
    flow.provider !== provider ||
    flow.browser !== deps.secrets.hash('oauth/browser', browserSecret ?? '')
  ) {
    throw new RefusedSignIn('invalid_state', { linking: false })
  }
  const linking = flow.linkTo !== null
  const error = search.get('error')
  if (error !== null) {
    throw new RefusedSignIn(error === 'access_denied' ? 'access_denied' : 'provider_error', {
      linking,
      cause: error,
    })
  }

  const client = deps.providers[provider]
  if (!client) throw new RefusedSignIn('provider_error', { linking })
  const [verifier, nonce] = JSON.parse(deps.secrets.open('oauth/flow', flow.sealed)) as [
    string,
    string,
  ]
  const returned = new URL(`${buildRedirectUri(deps, provider)}?${search}`)
  const identity = await client.identify(returned, { state, verifier, nonce }).catch((cause) => {
    deps.log.warn({ err: cause, provider }, 'a sign-in through a provider failed')
    throw new RefusedSignIn('provider_error', { linking, cause })
  })
  return { identity, linkTo: flow.linkTo }
}

const buildRedirectUri = ({ config }: Pick<Platform, 'config'>, provider: OAuthProvider) =>
  `${config.urls.base}/api/auth/callback/${provider}`

const randomSecret = () => randomBytes(32).toString('base64url')
