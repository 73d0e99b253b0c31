// Clients of the sign-in providers: Google uses OpenID Connect; GitHub uses its variant of OAuth 2.
// Each returns the person's identity and whether the provider has verified the email address.
import * as client from 'openid-client'
import type { Config } from '#config/config.ts'
import type { OAuthProvider } from '../tables.ts'

export type ProviderIdentity = {
  /** The provider's permanent id of the person. */
  subject: string
  email: string | null
  emailVerified: boolean
  name: string | null
  picture: string | null
}

export type Checks = { state: string; verifier: string; nonce: string }

export type Provider = {
  authorizationUrl(redirectUri: string, checks: Checks): Promise<URL>
  /**
   * `returned` is our own redirect URI with the provider's parameters.
   * @throws when the provider or a check refuses.
   */
  identify(returned: URL, checks: Checks): Promise<ProviderIdentity>
}

/** Null: the provider is not configured. */
export function createProviders(oauth: Config['oauth']): Record<OAuthProvider, Provider | null> {
  return {
    google: oauth.google && createGoogle(oauth.google),
    github: oauth.github && createGithub(oauth.github),
  }
}

const TIMEOUT_S = 10

function createGoogle({
  clientId,
  clientSecret,
  issuer,
}: NonNullable<Config['oauth']['google']>): Provider {
  let discovered: Promise<client.Configuration> | null = null
  // Discovered at the first sign-in and cached; failures are not cached.
  const configuration = () => {
    discovered ??= client
      .discovery(new URL(issuer), clientId, clientSecret, undefined, {
        timeout: TIMEOUT_S,
        execute: insecureOnlyIf(issuer),
      })
      .catch((error) => {
        discovered = null
        throw error
      })
    return discovered
  }

  return {
    async authorizationUrl(redirectUri, { state, verifier, nonce }) {
      return client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        prompt: 'select_account',
      })
    },

    async identify(returned, { state, verifier, nonce }) {
      const tokens = await client.authorizationCodeGrant(await configuration(), returned, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (!claims) throw new Error('no id_token')
      return {
        subject: claims.sub,
        email: readText(claims.email),
        // Google sends a boolean; some OpenID providers send the word.
        emailVerified: claims.email_verified === true || claims.email_verified === 'true',
        name: readText(claims.name),
        picture: readText(claims.picture),
      }
    },
  }
}

type GithubUser = { id?: unknown; name?: unknown; login?: unknown; avatar_url?: unknown }
type GithubEmail = { email?: unknown; primary?: unknown; verified?: unknown }

function createGithub({
  clientId,
  clientSecret,
  baseUrl,
  apiUrl,
}: NonNullable<Config['oauth']['github']>): Provider {
  const configuration = new client.Configuration(
    {
      issuer: baseUrl,
      authorization_endpoint: `${baseUrl}/login/oauth/authorize`,
      token_endpoint: `${baseUrl}/login/oauth/access_token`,
    },
    clientId,
    clientSecret,
    client.ClientSecretPost(clientSecret),
  )
  configuration.timeout = TIMEOUT_S
  for (const execute of insecureOnlyIf(baseUrl)) execute(configuration)

  return {
    async authorizationUrl(redirectUri, { state, verifier }) {
      return client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'read:user user:email',
        state,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
    },

    async identify(returned, { state, verifier }) {
      const tokens = await client.authorizationCodeGrant(configuration, returned, {
        expectedState: state,
        pkceCodeVerifier: verifier,
      })
      const [user, emails] = await Promise.all([
        fetchJson<GithubUser>(`${apiUrl}/user`, tokens.access_token),
        fetchJson<GithubEmail[]>(`${apiUrl}/user/emails`, tokens.access_token),
      ])
      if (typeof user.id !== 'number' || !Array.isArray(emails))
        throw new Error('GitHub answered in another form')
      const primary = emails.find((entry) => entry.primary === true)
      return {
        subject: String(user.id),
        email: readText(primary?.email),
        emailVerified: primary?.verified === true,
        name: readText(user.name) ?? readText(user.login),
        picture: readText(user.avatar_url),
      }
    },
  }
}

async function fetchJson<T>(url: string, accessToken: string): Promise<T> {
  const response = await fetch(url, {
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${accessToken}`,
      'user-agent': 'latchkey',
      'x-github-api-version': '2022-11-28',
    },
    signal: AbortSignal.timeout(TIMEOUT_S * 1_000),
  })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return (await response.json()) as T
}

/**
 * Allows plain http only when the operator configured an http address: the sandbox, or a provider
 * in the same network.
 */
function insecureOnlyIf(address: string) {
  return address.startsWith('http:') ? [client.allowInsecureRequests] : []
}

const readText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
