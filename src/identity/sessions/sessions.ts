// Sessions: one per sign-in, identified by the `sid` of its tokens, and ended by a date in its row.
// After ending a session, call `announceUserChange`, so that every node drops its cached state.
import '../tables.ts'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { unauthenticated } from '#platform/problems.ts'
import type { IdentityNeeds, LiveSession } from '../deps.ts'
import type { Origin } from '../origin.ts'
import { announceUserChange } from '../user-changes.ts'
import { lockUser } from '../users.ts'
import { endView, endViews } from './open-views.ts'
import { REFRESH_MS, signAccess, signRefresh, type TokenDeps } from './tokens.ts'

/** The caller's session. A caller without a session (null) is rejected. */
export type SessionRef = { userId: string; sessionId: string | null }

export type OpenedSession = { userId: string; sessionId: string; jti: string; issuedAt: string }

export const USER_AGENT_MAX = 400
/** Maximum life of a session from its sign-in, including renewals. */
export const SESSION_LIFE_MS = 90 * DAY_MS

export async function openSession(
  { clock }: Pick<Platform, 'clock'>,
  tx: Db,
  userId: string,
  { userAgent, address }: Origin,
): Promise<OpenedSession> {
  const now = clock.now()
  const session = {
    userId,
    sessionId: crypto.randomUUID(),
    jti: crypto.randomUUID(),
    issuedAt: now,
  }
  await tx
    .insertInto('sessions')
    .values({
      user_id: userId,
      id: session.sessionId,
      user_agent: userAgent?.slice(0, USER_AGENT_MAX) ?? null,
      ip_address: address,
      created_at: now,
      authenticated_at: now,
      last_used_at: now,
      expires_at: plus(now, REFRESH_MS),
      revoked_at: null,
      view_id: null,
      viewed_user_id: null,
    })
    .execute()
  await tx
    .insertInto('session_tokens')
    .values({
      user_id: userId,
      session_id: session.sessionId,
      jti: session.jti,
      issued_at: now,
      spent_at: null,
      successor: null,
    })
    .execute()
  return session
}

export type TokenPair = { access_token: string; refresh_token: string; token_type: 'bearer' }

/**
 * Signs the tokens of a session. Call it outside of transactions, because it may read the signing
 * key.
 */
export async function signPair(deps: TokenDeps, session: OpenedSession): Promise<TokenPair> {
  return {
    access_token: await signAccess(deps, session),
    refresh_token: await signRefresh(deps, session),
    token_type: 'bearer',
  }
}

export type SessionView = LiveSession & { current: boolean }

/** Lists the live sessions of every room, the most recently used first. */
export async function listSessions(
  {
    db,
    clock,
    sessionsElsewhere,
  }: Pick<Platform, 'db' | 'clock'> & Pick<IdentityNeeds, 'sessionsElsewhere'>,
  { userId, sessionId }: SessionRef,
): Promise<SessionView[]> {
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'user_agent', 'ip_address', 'created_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', clock.now())
    .execute()
  for (const room of sessionsElsewhere) rows.push(...(await room.list(db, userId, clock.now())))
  return rows
    .sort((a, b) => b.last_used_at.localeCompare(a.last_used_at) || a.id.localeCompare(b.id))
    .map((row) => ({ ...row, current: row.id === sessionId }))
}

/** Ends a session. Returns false when the user has no such live session. */
export async function endSession(
  { clock }: Pick<Platform, 'clock'>,
  tx: Db,
  userId: string,
  sessionId: string,
): Promise<boolean> {
  await endView({ clock }, tx, { userId, sessionId }, 'signed out')
  const ended = await tx
    .updateTable('sessions')
    .set({ revoked_at: clock.now() })
    .where('user_id', '=', userId)
    .where('id', '=', sessionId)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  announceUserChange(tx, userId)
  return ended !== undefined
}

/** Returns the time of the sign-in; null when the session is not live. */
export async function findAuthenticationTime(
  { clock }: Pick<Platform, 'clock'>,
  db: Db,
  { userId, sessionId }: SessionRef,
): Promise<Instant | null> {
  const row = await db
    .selectFrom('sessions')
    .select('authenticated_at')
    .where('user_id', '=', userId)
    .where('id', '=', sessionId ?? '')
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', clock.now())
    .executeTakeFirst()
  return row?.authenticated_at ?? null
}

export async function isSessionLive(
  deps: Pick<Platform, 'clock'>,
  db: Db,
  session: SessionRef,
): Promise<boolean> {
  return (await findAuthenticationTime(deps, db, session)) !== null
}

/**
 * Locks the user before a lasting change. Another request may have ended the session meanwhile, to
 * lock the caller out. @throws Problem 401 then
 */
export async function lockSessionUser(
  deps: Pick<Platform, 'clock'>,
  tx: Db,
  session: SessionRef,
): Promise<void> {
  await lockUser(tx, session.userId)
  if (!(await isSessionLive(deps, tx, session))) throw unauthenticated()
}

/** Ends all sessions of a user except `keepId`. */
export async function endSessions(
  { clock }: Pick<Platform, 'clock'>,
  tx: Db,
  userId: string,
  keepId: string | null = null,
): Promise<void> {
  await endViews({ clock }, tx, userId, keepId)
  await tx
    .updateTable('sessions')
    .set({ revoked_at: clock.now() })
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .$if(keepId !== null, (query) => query.where('id', '!=', keepId ?? ''))
    .execute()
  announceUserChange(tx, userId)
}
