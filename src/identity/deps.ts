import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Room } from '#platform/room.ts'

/** Callbacks of other rooms for changes in a user's life; all run inside identity's transaction. */
export type IdentityNeeds = {
  /**
   * All rooms, for account deletion and the full export. Most are added after this room is created.
   */
  rooms: readonly Pick<Room, 'erase' | 'eraseSlices' | 'collect'>[]
  /**
   * Revokes a user's live API keys: all, those created or rotated after a time, or those created
   * before one. Returns the revoked keys.
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
  list(db: Db, userId: string, now: Instant): Promise<LiveSession[]>
  /** Ends a session. Returns false when the user has no such session. */
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
