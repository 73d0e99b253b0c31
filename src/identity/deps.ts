import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Room } from '#platform/room.ts'

/** Callbacks of other rooms for changes in a user's life; all run inside identity's transaction. */
export type IdentityNeeds = {
  /**
   * For the deletion of a user and for the full export: asked when they are, since most rooms are
   * made after this one.
   */
  rooms: readonly Pick<Room, 'erase' | 'eraseSlices' | 'collect'>[]
  /**
   * Revokes a user's live API keys: all, those made or rotated after a moment, or those made before
   * one; returns which.
   */
  revokeKeys: (
    tx: Db,
    userId: string,
    made?: { after?: Instant; before?: Instant },
  ) => Promise<{ id: string; name: string }[]>
  /** Sessions of other rooms (the storefront's). */
  sessionsElsewhere: SessionsElsewhere[]
}

export type SessionsElsewhere = {
  /** Live ones. */
  list(db: Db, userId: string, now: Instant): Promise<LiveSession[]>
  /** False when the user has no such session there. */
  end(tx: Db, userId: string, sessionId: string): Promise<boolean>
  endAll(tx: Db, userId: string): Promise<void>
}

export type LiveSession = {
  id: string
  user_agent: string | null
  ip_address: string | null
  created_at: Instant
  last_used_at: Instant
}
