/** Ends account views and records their end. A session has at most one open view. */
import { recordAudit } from '#audit/audit.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import '../tables.ts'
import { announceUserChange } from '../user-changes.ts'

/** Ends the open view of a session, if there is one. */
export async function endView(
  { clock }: Pick<Platform, 'clock'>,
  tx: Db,
  { userId, sessionId }: { userId: string; sessionId: string | null },
  ended: 'by the viewer' | 'replaced' | 'expired' | 'signed out',
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

/** Ends the open views of a user's sessions, except of the one to keep. */
export async function endViews(
  deps: Pick<Platform, 'clock'>,
  tx: Db,
  userId: string,
  keepId: string | null,
): Promise<void> {
  const open = await tx
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .where('view_id', 'is not', null)
    .$if(keepId !== null, (query) => query.where('id', '!=', keepId ?? ''))
    .execute()
  for (const { id } of open) await endView(deps, tx, { userId, sessionId: id }, 'signed out')
}
