// Refresh token rotation: each token is spent once, by compare-and-swap under the session's lock. A
// token that is used again within 10 s (two tabs) gets the same successor. A later reuse means that
// the token was stolen, and the whole session ends.
import { recordAudit } from '#audit/audit.ts'
import { type Instant, plus, SECOND_MS } from '#platform/clock.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { identityProblem } from '../problems.ts'
import {
  endSession,
  type OpenedSession,
  SESSION_LIFE_MS,
  signPair,
  type TokenPair,
} from './sessions.ts'
import { REFRESH_MS, type RefreshClaims, readRefresh, type TokenDeps } from './tokens.ts'

export type RefreshDeps = TokenDeps & Pick<Platform, 'db'>

const GRACE_MS = 10 * SECOND_MS

/** @throws Problem 401 when the token is invalid, expired, replayed, or its session has ended. */
export async function refreshTokens(deps: RefreshDeps, refreshToken: string): Promise<TokenPair> {
  const claims = await readRefresh(deps, refreshToken)
  // If another tab has already refreshed the token, this is a read and needs no write lock.
  const session =
    claims &&
    ((await findSuccessor(deps, deps.db, claims)) ??
      (await transaction(deps.db, (tx) => rotate(deps, tx, claims))))
  if (!session) throw identityProblem('refresh_token_invalid')
  return signPair(deps, session)
}

/**
 * Returns null to reject the token. The transaction still commits, because a replay must end the
 * session.
 */
async function rotate(
  deps: Pick<Platform, 'clock'>,
  tx: Db,
  claims: RefreshClaims,
): Promise<OpenedSession | null> {
  const { userId, sessionId, jti } = claims
  const now = deps.clock.now()
  const live = await forUpdate(
    tx,
    tx
      .selectFrom('sessions')
      .select('created_at')
      .where('user_id', '=', userId)
      .where('id', '=', sessionId)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', now),
  ).executeTakeFirst()
  if (!live) return null

  const next = crypto.randomUUID()
  const spent = await tx
    .updateTable('session_tokens')
    .set({ spent_at: now, successor: next })
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('jti', '=', jti)
    .where('spent_at', 'is', null)
    .returning('jti')
    .executeTakeFirst()
  // Another tab spent the token during the wait for the lock, or this is a replay.
  if (!spent) return (await findSuccessor(deps, tx, claims)) ?? endFamily(deps, tx, claims)

  await tx
    .insertInto('session_tokens')
    .values({
      user_id: userId,
      session_id: sessionId,
      jti: next,
      issued_at: now,
      spent_at: null,
      successor: null,
    })
    .execute()
  // A token without a row also counts as a replay, so rows older than the grace period are not
  // needed.
  await tx
    .deleteFrom('session_tokens')
    .where('user_id', '=', userId)
    .where('session_id', '=', sessionId)
    .where('spent_at', '<', plus(now, -GRACE_MS))
    .execute()
  await tx
    .updateTable('sessions')
    .set({
      last_used_at: now,
      expires_at: earlier(plus(now, REFRESH_MS), plus(live.created_at, SESSION_LIFE_MS)),
    })
    .where('user_id', '=', userId)
    .where('id', '=', sessionId)
    .execute()
  return { userId, sessionId, jti: next, issuedAt: now }
}

const earlier = (a: Instant, b: Instant) => (a < b ? a : b)

/** Returns the successor of a token spent within the grace, while its session is live. */
async function findSuccessor(
  { clock }: Pick<Platform, 'clock'>,
  db: Db,
  { userId, sessionId, jti }: RefreshClaims,
): Promise<OpenedSession | null> {
  const now = clock.now()
  const row = await db
    .selectFrom('session_tokens as old')
    .innerJoin('session_tokens as next', (join) =>
      join
        .onRef('next.user_id', '=', 'old.user_id')
        .onRef('next.session_id', '=', 'old.session_id')
        .onRef('next.jti', '=', 'old.successor'),
    )
    .innerJoin('sessions', (join) =>
      join
        .onRef('sessions.user_id', '=', 'old.user_id')
        .onRef('sessions.id', '=', 'old.session_id'),
    )
    .select(['next.jti', 'next.issued_at'])
    .where('old.user_id', '=', userId)
    .where('old.session_id', '=', sessionId)
    .where('old.jti', '=', jti)
    .where('old.spent_at', '>=', plus(now, -GRACE_MS))
    .where('sessions.revoked_at', 'is', null)
    .where('sessions.expires_at', '>', now)
    .executeTakeFirst()
  return row ? { userId, sessionId, jti: row.jti, issuedAt: row.issued_at } : null
}

async function endFamily(
  deps: Pick<Platform, 'clock'>,
  tx: Db,
  { userId, sessionId }: RefreshClaims,
): Promise<null> {
  await endSession(deps, tx, userId, sessionId)
  const at = deps.clock.now()
  await recordAudit(tx, {
    actorId: userId,
    action: 'session.replayed',
    subject: `session:${sessionId}`,
    at,
  })
  return null
}
