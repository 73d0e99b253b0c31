import { buildAddress, type Parameters } from '../api/operation.ts'

const SESSION = '/api/users/me/sessions/{id}'

/** Longest wait at sign-out for a service that does not respond. */
const TIMEOUT_MS = 3_000

/**
 * Ends a session at the service, with any access token of the same user. Always resolves within
 * the timeout; a session that could not be ended expires.
 */
export async function endSession(id: string, accessToken: string): Promise<void> {
  await fetch(
    buildAddress(SESSION, { path: { id } satisfies Parameters<'DELETE', typeof SESSION>['path'] }),
    {
      method: 'DELETE',
      headers: { authorization: `Bearer ${accessToken}` },
      // The page may unload before the reply arrives.
      keepalive: true,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    },
  ).catch(() => undefined)
}

/** Returns the promise's value, or null when it fails or takes too long. */
export async function raceTimeout<T>(promise: Promise<T>): Promise<T | null> {
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), TIMEOUT_MS))
  return Promise.race([promise.catch(() => null), late])
}
