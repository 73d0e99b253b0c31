import type { Db } from '#platform/db/db.ts'
import type { IdentityDeps } from './deps.ts'
import { voidTokens } from './one-time-tokens.ts'
import { endSessions } from './sessions.ts'

/**
 * Ends what was signed in and what was half-way: sessions (but the one to keep), open two-factor challenges and reset
 * links. Rooms with sessions of their own take part through `deps.endSessionsElsewhere`.
 */
export async function endEverySession(
  deps: IdentityDeps,
  tx: Db,
  userId: string,
  keepId: string | null = null,
): Promise<void> {
  await endSessions(deps, tx, userId, keepId)
  await voidTokens(deps, tx, userId, ['challenge', 'reset'])
  for (const end of deps.endSessionsElsewhere) await end(tx, userId)
}
