/**
 * The provider sign-in that this tab started. Tokens from an address are accepted only when one is
 * pending: an attacker's link could otherwise sign a victim in to the attacker's account (login
 * CSRF, RFC 6749, section 10.12).
 */
export type PendingSignIn = {
  /** Id of the user who confirms their identity; null for a plain sign-in. */
  as: string | null
  returnTo?: string | undefined
}

const KEY = 'latchkey.pending-sign-in'
/** The service allows ten minutes for the provider and ten for the second factor. */
const LIFE_MS = 20 * 60_000

export function savePending(pending: PendingSignIn): void {
  sessionStorage.setItem(KEY, JSON.stringify({ ...pending, until: Date.now() + LIFE_MS }))
}

export function readPending(): PendingSignIn | null {
  const stored = storage()?.getItem(KEY)
  if (!stored) return null
  const { until, ...pending } = JSON.parse(stored) as PendingSignIn & { until: number }
  return Date.now() < until ? pending : null
}

export function clearPending(): void {
  storage()?.removeItem(KEY)
}

/** Null when the browser blocks storage; passwords still work there. */
function storage(): Storage | null {
  try {
    return sessionStorage
  } catch {
    return null
  }
}
