import type { TokenPair } from '../api/types.ts'
import { clearPending, type PendingSignIn } from '../sign-in/pending-sign-in.ts'
import { session } from './browser-session.ts'
import { endSession } from './end-session.ts'
import { parseClaims } from './token.ts'

/** Somebody has signed in. An earlier session of the same person in this browser would lie about unused: it is ended. */
export function beginSession(pair: TokenPair): void {
  const before = session.userId() === parseClaims(pair.access_token)?.sub ? session.id() : null
  session.begin(pair)
  if (before !== null) void endSession(before, pair.access_token)
  clearPending()
}

/**
 * The person at the page has shown again who they are, in the middle of something. False when it was somebody else: whose
 * session has just been opened is then ended, and nothing changes.
 */
export function reauthenticate(pair: TokenPair): boolean {
  const claims = parseClaims(pair.access_token)
  if (claims === null || claims.sub !== session.userId()) {
    discard(pair)
    return false
  }
  const before = session.id()
  session.replace(pair)
  if (before !== null) void endSession(before, pair.access_token)
  clearPending()
  return true
}

/**
 * Tokens have come by way of a provider. Returns why they are refused, or null when they are taken: nobody here had set out for them,
 * or somebody had to show again who they are, and they are another's.
 */
export function acceptProviderTokens(
  pair: TokenPair,
  pending: PendingSignIn | null,
): 'invalid_state' | 'other_account' | null {
  if (pending === null) {
    discard(pair)
    return 'invalid_state'
  }
  // Signed out meanwhile, in another tab: who comes back as the same person has simply signed in.
  if (
    pending.as === null ||
    (!session.isSignedIn() && parseClaims(pair.access_token)?.sub === pending.as)
  ) {
    beginSession(pair)
    return null
  }
  return reauthenticate(pair) ? null : 'other_account'
}

/** A session that nobody here will use must not stay open for as long as its refresh token lasts. */
function discard(pair: TokenPair): void {
  const claims = parseClaims(pair.access_token)
  if (claims) void endSession(claims.sid, pair.access_token)
}
