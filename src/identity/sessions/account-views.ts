/**
 * Account views: a superuser reads an account as its user sees it, and can change nothing.
 * A view belongs to one session of the superuser and ends with it. Its token names no session of
 * the user, so routes that need one reject it; access control admits only `viewable` routes.
 */
import { recordAudit } from '#audit/audit.ts'
import { type Instant, MINUTE_MS, plus } from '#platform/clock.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { unauthenticated } from '#platform/problems.ts'
import '../tables.ts'
import { identityProblem } from '../problems.ts'
import { announceUserChange } from '../user-changes.ts'
import { findUser } from '../users.ts'
import type { SessionRef } from './sessions.ts'
import { signView, type TokenDeps } from './tokens.ts'

type ViewDeps = TokenDeps & Pick<Platform, 'db' | 'jobs'>

export type AccountView = { token: string; expiresAt: Instant }

const VIEW_MS = 30 * MINUTE_MS
const END_VIEW_JOB = 'identity.end-view'

type OpenView = { viewerId: string; sessionId: string; viewId: string }

/**
 * Starts a view and ends an earlier one of the same session.
 * @throws Problem 404; 409 for a superuser or a suspended account
 */
export async function startView(
  deps: ViewDeps,
  viewer: SessionRef,
  { userId, reason }: { userId: string; reason: string },
): Promise<AccountView> {
  const { db, clock, jobs } = deps
  const viewId = crypto.randomUUID()
  const sessionId = viewer.sessionId ?? ''
  const expiresAt = await transaction(db, async (tx) => {
    await endView(deps, tx, viewer, 'replaced')
    const startedAt = clock.now()
    const endsAt = plus(startedAt, VIEW_MS)
    const user = await findUser(tx, userId)
    if (!user) throw identityProblem('user_not_found')
    if (user.is_superuser || !user.is_active) throw identityProblem('account_not_viewable')
    const session = await tx
      .updateTable('sessions')
      .set({ view_id: viewId, viewed_user_id: userId })
      .where('user_id', '=', viewer.userId)
      .where('id', '=', sessionId)
      .where('revoked_at', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (!session) throw unauthenticated()
    await recordAudit(tx, {
      actorId: viewer.userId,
      action: 'view.started',
      subject: `user:${userId}`,
      data: { reason, expires_at: endsAt },
      at: startedAt,
    })
    const open: OpenView = { viewerId: viewer.userId, sessionId, viewId }
    await jobs.enqueue(tx, END_VIEW_JOB, open, { runAt: endsAt })
    return endsAt
  })
  const view = { id: viewId, viewerId: viewer.userId, sessionId }
  return { token: await signView(deps, userId, view, expiresAt), expiresAt }
}

/** Ends the open view of a session, if there is one. */
export async function endView(
  { clock }: Pick<Platform, 'clock'>,
  tx: Db,
  { userId, sessionId }: SessionRef,
  ended: 'by the viewer' | 'replaced' | 'expired',
  viewId?: string,
): Promise<void> {
  const sessions = tx
    .selectFrom('sessions')
    .select(['view_id', 'viewed_user_id'])
    .where('user_id', '=', userId)
    .where('id', '=', sessionId ?? '')
  const open = await forUpdate(tx, sessions).executeTakeFirst()
  if (!open?.view_id || (viewId !== undefined && open.view_id !== viewId)) return
  await tx
    .updateTable('sessions')
    .set({ view_id: null, viewed_user_id: null })
    .where('user_id', '=', userId)
    .where('id', '=', sessionId ?? '')
    .execute()
  announceUserChange(tx, userId)
  await recordAudit(tx, {
    actorId: userId,
    action: 'view.ended',
    subject: `user:${open.viewed_user_id}`,
    data: { ended },
    at: clock.now(),
  })
}

/** Records the end of views that expired, or whose session ended before. */
export function handleExpiredViews(deps: Pick<Platform, 'db' | 'clock' | 'jobs'>): void {
  deps.jobs.handle<OpenView>(END_VIEW_JOB, ({ viewerId, sessionId, viewId }) =>
    transaction(deps.db, (tx) =>
      endView(deps, tx, { userId: viewerId, sessionId }, 'expired', viewId),
    ),
  )
}
