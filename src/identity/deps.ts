import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import type { Hasher } from './passwords/hasher.ts'
import type { Keyring } from './sessions/keyring.ts'
import type { SessionView } from './sessions/sessions.ts'

/** What the room's rules may touch: the platform, the threads that hash, the keys that sign, and what other rooms handed in. */
export type IdentityDeps = Platform & { hasher: Hasher; keyring: Keyring } & IdentityNeeds

/** What other rooms do when a user's life changes; all run inside identity's transaction. */
export type IdentityNeeds = {
  /** For the deletion of a user and for the full export: asked when they are, since most rooms are made after this one. */
  rooms: readonly Pick<Room, 'erase' | 'collect'>[]
  /** Revokes a user's live API keys: all, those made or rotated after a moment, or those made before one; returns which. */
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
  list(db: Db, userId: string, now: Instant): Promise<Omit<SessionView, 'current'>[]>
  /** False when the user has no such session there. */
  end(tx: Db, userId: string, sessionId: string): Promise<boolean>
  endAll(tx: Db, userId: string): Promise<void>
}
