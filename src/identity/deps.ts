import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'

/** What other rooms do when a user's life changes; all run inside identity's transaction. */
export type IdentityNeeds = {
  /** Removes what a room holds about a user who is deleted. */
  erase: ((tx: Db, userId: string) => Promise<void>)[]
  /** What a room holds about a user, for the full export. */
  collect: ((db: Db, userId: string) => Promise<Collected>)[]
  /**
   * Revokes a user's live API keys: all, those made or rotated after a moment, or those made before one; returns which.
   */
  revokeKeys: (
    tx: Db,
    userId: string,
    made?: { after?: Instant; before?: Instant },
  ) => Promise<{ id: string; name: string }[]>
  /** Sessions that a room keeps for itself (the storefront's). */
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

/**
 * By the name of the JSON file; a function is called when its file's turn comes, so that large things follow one
 * another.
 */
export type Collected = Record<string, object | null | (() => Promise<object>)>
