/**
 * The sign-in through a provider that this tab has set out on; its way keeps no parameters of ours. Tokens that come in an address
 * are taken only where one is remembered: anybody can write such an address with tokens of their own, and whoever opened it
 * would work in a stranger's account (login CSRF, RFC 6749, 10.12).
 */
export type PendingSignIn = {
  /** Who set out to show again who they are; null: nobody was signed in. */
  as: string | null
  returnTo?: string | undefined
}

const KEY = 'latchkey.pending-sign-in'
/** The service gives the way to the provider and back ten minutes, and the second factor after it ten more. */
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

/** Null where storage is closed to the page: a password still opens the account there. */
function storage(): Storage | null {
  try {
    return sessionStorage
  } catch {
    return null
  }
}
