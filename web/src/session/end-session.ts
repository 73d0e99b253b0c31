import { buildAddress, type Parameters } from '../api/operation.ts'

const SESSION = '/api/users/me/sessions/{id}'

/** How long who wants to go waits for a service that does not answer. */
const TIMEOUT_MS = 3_000

/**
 * Ends a session at the service, by any access token of the same person. Resolves in any case, within the timeout: what cannot be ended
 * now ends by itself, and whoever asked goes on.
 */
export async function endSession(id: string, accessToken: string): Promise<void> {
  await fetch(
    buildAddress(SESSION, { path: { id } satisfies Parameters<'DELETE', typeof SESSION>['path'] }),
    {
      method: 'DELETE',
      headers: { authorization: `Bearer ${accessToken}` },
      // The page may be left before the answer is there.
      keepalive: true,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    },
  ).catch(() => undefined)
}

/** What a promise brings, or null when it fails or takes too long. */
export async function raceTimeout<T>(promise: Promise<T>): Promise<T | null> {
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), TIMEOUT_MS))
  return Promise.race([promise.catch(() => null), late])
}
