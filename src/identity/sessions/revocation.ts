// Ends sessions in every room that has sessions.
import { recordAudit } from '#audit/audit.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { IdentityNeeds } from '../deps.ts'
import { voidTokens } from '../one-time-tokens.ts'
import { identityProblem } from '../problems.ts'
import { endSession, endSessions, type SessionRef } from './sessions.ts'

export type RevocationDeps = Pick<Platform, 'clock'> & Pick<IdentityNeeds, 'sessionsElsewhere'>

/** Ends a session of any room. @throws Problem 404 when the user has no such live session. */
export async function revokeSession(
  { db, clock, sessionsElsewhere }: RevocationDeps & Pick<Platform, 'db'>,
  userId: string,
  sessionId: string,
): Promise<void> {
  const ended = await transaction(db, async (tx) => {
    let found = await endSession({ clock }, tx, userId, sessionId)
    for (const room of sessionsElsewhere) found ||= await room.end(tx, userId, sessionId)
    if (!found) return false
    const at = clock.now()
    await recordAudit(tx, {
      actorId: userId,
      action: 'session.ended',
      subject: `session:${sessionId}`,
      at,
    })
    return true
  })
  if (!ended) throw identityProblem('session_not_found')
}

/** Ends every session except the caller's. */
export async function revokeOtherSessions(
  deps: RevocationDeps & Pick<Platform, 'db'>,
  { userId, sessionId }: SessionRef,
): Promise<void> {
  await transaction(deps.db, async (tx) => {
    await revokeSessions(deps, tx, userId, sessionId)
    await recordAudit(tx, { actorId: userId, action: 'sessions.ended', at: deps.clock.now() })
  })
}

/**
 * Ends sessions (except the one to keep), open two-factor challenges, codes for the storefront and
 * reset links. Rooms with separate sessions take part through `sessionsElsewhere`.
 */
export async function revokeSessions(
  { clock, sessionsElsewhere }: RevocationDeps,
  tx: Db,
  userId: string,
  keepId: string | null = null,
): Promise<void> {
  await endSessions({ clock }, tx, userId, keepId)
  await voidTokens({ clock }, tx, userId, ['challenge', 'reset', 'storefront'])
  for (const room of sessionsElsewhere) await room.endAll(tx, userId)
}
