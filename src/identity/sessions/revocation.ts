import type { Db } from '#platform/db/db.ts'
import type { IdentityDeps } from '../deps.ts'
import { voidTokens } from '../one-time-tokens.ts'
import { endSession, endSessions } from './sessions.ts'

/** A session of any room. False when the user has no such live session. */
export async function revokeSession(deps: IdentityDeps, tx: Db, userId: string, sessionId: string): Promise<boolean> {
  if (await endSession(deps, tx, userId, sessionId)) return true
  for (const room of deps.sessionsElsewhere) if (await room.end(tx, userId, sessionId)) return true
  return false
}

/**
 * Ends what was signed in and what was half-way: sessions (but the one to keep), open two-factor challenges and reset
 * links. Rooms with sessions of their own take part through `deps.sessionsElsewhere`.
 */
export async function revokeSessions(
  deps: IdentityDeps,
  tx: Db,
  userId: string,
  keepId: string | null = null,
): Promise<void> {
  await endSessions(deps, tx, userId, keepId)
  await voidTokens(deps, tx, userId, ['challenge', 'reset'])
  for (const room of deps.sessionsElsewhere) await room.endAll(tx, userId)
}
