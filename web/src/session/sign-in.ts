import type { TokenPair } from '../api/types.ts'
import { clearPending, type PendingSignIn } from '../sign-in/pending-sign-in.ts'
import { session } from './browser-session.ts'
import { endSession } from './end-session.ts'
import { parseClaims } from './token.ts'

/** Starts a session and ends an earlier one of the same user in this browser. */
export function beginSession(pair: TokenPair): void {
  const before = session.userId() === parseClaims(pair.access_token)?.sub ? session.id() : null
  session.begin(pair)
  if (before !== null) void endSession(before, pair.access_token)
  clearPending()
}

/**
 * Replaces the session after the user confirmed their identity. For another user it ends the new
 * session and returns false.
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
 * Accepts tokens from a provider. Returns why they are rejected, or null: nobody in this tab
 * started that sign-in, or a confirmation came back with another account.
 */
export function acceptProviderTokens(
  pair: TokenPair,
  pending: PendingSignIn | null,
): 'invalid_state' | 'other_account' | null {
  if (pending === null) {
    discard(pair)
    return 'invalid_state'
  }
  // After a sign-out in another tab, the same user's confirmation is a plain sign-in.
  if (
    pending.as === null ||
    (!session.isSignedIn() && parseClaims(pair.access_token)?.sub === pending.as)
  ) {
    beginSession(pair)
    return null
  }
  return reauthenticate(pair) ? null : 'other_account'
}

/** Ends an unwanted session, which would otherwise stay open until its refresh token expires. */
function discard(pair: TokenPair): void {
  const claims = parseClaims(pair.access_token)
  if (claims) void endSession(claims.sid, pair.access_token)
}
