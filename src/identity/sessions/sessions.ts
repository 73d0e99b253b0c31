// Sessions: one per sign-in, known by the `sid` of its tokens, ended by a date in its row. Whoever ends one calls
// `announceUserChange`, and every node drops what it had cached.
import '../tables.ts'
import { DAY_MS, plus } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { inSlices, SLICE_ROWS } from '#platform/db/slices.ts'
import { unauthenticated } from '#platform/problems.ts'
import type { IdentityDeps } from '../deps.ts'
import { lockUser } from '../sign-in-methods.ts'
import { announceUserChange } from '../user-changes.ts'
import { REFRESH_MS, signAccess, signRefresh } from './tokens.ts'

/** Where a request comes from. */
export type Origin = { userAgent: string | null; address: string | null }

export type OpenedSession = { userId: string; sessionId: string; jti: string; issuedAt: string }

export const USER_AGENT_MAX = 400
/** Counted from the sign-in: renewals move the end of a session no further than this. */
export const SESSION_LIFE_MS = 90 * DAY_MS

export async function openSession(
  { clock }: Pick<IdentityDeps, 'clock'>,
  tx: Db,
  userId: string,
  { userAgent, address }: Origin,
): Promise<OpenedSession> {
  const now = clock.now()
  const session = { userId, sessionId: crypto.randomUUID(), jti: crypto.randomUUID(), issuedAt: now }
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

/** Outside of transactions: signing needs a key, and the key may have to be read. */
export async function signPair(deps: IdentityDeps, session: OpenedSession): Promise<TokenPair> {
  return {
    access_token: await signAccess(deps, session),
    refresh_token: await signRefresh(deps, session),
    token_type: 'bearer',
  }
}

export type SessionView = {
  id: string
  user_agent: string | null
  ip_address: string | null
  created_at: string
  last_used_at: string
  current: boolean
}

/** Live ones of every room, the one last used first. */
export async function listSessions(
  { db, clock, sessionsElsewhere }: Pick<IdentityDeps, 'db' | 'clock' | 'sessionsElsewhere'>,
  userId: string,
  currentId: string | null,
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
    .map((row) => ({ ...row, current: row.id === currentId }))
}

/** False when the user has no such live session. */
export async function endSession(
  { clock }: Pick<IdentityDeps, 'clock'>,
  tx: Db,
  userId: string,
  sessionId: string,
): Promise<boolean> {
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

export async function isLive(
  { clock }: Pick<IdentityDeps, 'clock'>,
  db: Db,
  userId: string,
  sessionId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .where('id', '=', sessionId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', clock.now())
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Locks the user whose session asks for something lasting. Whoever ended the session since the request came in meant to
 * keep out whoever asks. @throws Problem 401 then.
 */
export async function lockSessionUser(
  deps: Pick<IdentityDeps, 'clock'>,
  tx: Db,
  { userId, sessionId }: { userId: string; sessionId: string | null },
): Promise<void> {
  await lockUser(tx, userId)
  if (!(await isLive(deps, tx, userId, sessionId ?? ''))) throw unauthenticated()
}

/** All of a user's, but the one to keep. */
export async function endSessions(
  { clock }: Pick<IdentityDeps, 'clock'>,
  tx: Db,
  userId: string,
  keepId: string | null = null,
): Promise<void> {
  await tx
    .updateTable('sessions')
    .set({ revoked_at: clock.now() })
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .$if(keepId !== null, (query) => query.where('id', '!=', keepId ?? ''))
    .execute()
  announceUserChange(tx, userId)
}

/** A week after their end sessions are of no use to anyone. */
export async function forgetOldSessions(
  { db, clock }: Pick<IdentityDeps, 'db' | 'clock'>,
  signal?: AbortSignal,
): Promise<void> {
  const before = plus(clock.now(), -7 * DAY_MS)
  // One after the other: each has an index, both at once have none.
  for (const ended of ['expires_at', 'revoked_at'] as const) {
    await inSlices(
      () =>
        db
          .deleteFrom('sessions')
          .where((e) =>
            e(
              e.refTuple('user_id', 'id'),
              'in',
              e
                .selectFrom('sessions')
                .select(['user_id', 'id'])
                .where(ended, '<', before)
                .limit(SLICE_ROWS)
                .$asTuple('user_id', 'id'),
            ),
          )
          .executeTakeFirst(),
      signal,
    )
  }
}
