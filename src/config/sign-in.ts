/** Settings of the sign-in providers and of the superuser. */
import { ConfigError, type Reader } from './reader.ts'

export type OAuthClient = {
  clientId: string
  clientSecret: string
  /** True when the sandbox replaces this provider. It confirms any address. */
  sandboxed: boolean
}

export type OAuthConfig = {
  google: (OAuthClient & { issuer: string }) | null
  github: (OAuthClient & { baseUrl: string; apiUrl: string }) | null
}

export function readOAuth(read: Reader, isPlayed: boolean, sandboxUrl: string): OAuthConfig {
  const client = (prefix: string): OAuthClient | null => {
    const clientId = read.optional(`${prefix}_CLIENT_ID`)
    const clientSecret = read.optional(`${prefix}_CLIENT_SECRET`)
    if ((clientId === null) !== (clientSecret === null)) {
      throw new ConfigError(
        `${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET go together: one of them is missing`,
      )
    }
    if (clientId !== null && clientSecret !== null)
      return { clientId, clientSecret, sandboxed: false }
    return null
  }
  const sandboxClient = { clientId: 'sandbox', clientSecret: 'sandbox-secret', sandboxed: true }
  const google = client('GOOGLE')
  const github = client('GITHUB')

  return {
    google: google
      ? {
          ...google,
          issuer: 'https://accounts.google.com',
        }
      : isPlayed
        ? { ...sandboxClient, issuer: `${sandboxUrl}/oauth/google` }
        : null,
    github: github
      ? {
          ...github,
          baseUrl: 'https://github.com',
          apiUrl: 'https://api.github.com',
        }
      : isPlayed
        ? {
            ...sandboxClient,
            baseUrl: `${sandboxUrl}/oauth/github`,
            apiUrl: `${sandboxUrl}/oauth/github`,
          }
        : null,
  }
}

export function readSuperuser(read: Reader): { email: string; password: string | null } | null {
  const email = read.optional('SUPERUSER_EMAIL')
  const password = read.optional('SUPERUSER_PASSWORD')
  if (email === null && password !== null)
    throw new ConfigError('SUPERUSER_PASSWORD is set without SUPERUSER_EMAIL')
  if (email !== null && !/^[^\s@]+@[^\s@]+$/.test(email))
    throw new ConfigError(`SUPERUSER_EMAIL is not an email address: '${email}'`)
  if (password !== null && (password.length < 8 || password.length > 128)) {
    throw new ConfigError('SUPERUSER_PASSWORD needs 8 to 128 characters')
  }
  return email === null ? null : { email, password }
}
