import { session } from './browser-session.ts'
import { endSession } from './end-session.ts'
import type { Pair } from './session.ts'
import { claimsOf } from './token.ts'

/** Somebody has signed in. An earlier session of the same person in this browser would lie about unused: it is ended. */
export function arrive(pair: Pair): void {
  const before = session.userId() === claimsOf(pair.access_token)?.sub ? session.id() : null
  session.begin(pair)
  if (before !== null) void endSession(before, pair.access_token)
}

/**
 * The person at the page has shown again who they are, in the middle of something. False when it was somebody else: whose
 * session has just been opened is then ended, and nothing changes.
 */
export function arriveAgain(pair: Pair): boolean {
  const claims = claimsOf(pair.access_token)
  if (claims === null || claims.sub !== session.userId()) {
    if (claims) void endSession(claims.sid, pair.access_token)
    return false
  }
  const before = session.id()
  session.replace(pair)
  if (before !== null) void endSession(before, pair.access_token)
  return true
}
