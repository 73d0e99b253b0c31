import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Hasher } from './hasher.ts'
import type { Keyring } from './keyring.ts'
import type { SessionView } from './sessions.ts'

/** What the room's rules may touch: the platform, the threads that hash, the keys that sign, and what other rooms handed in. */
export type IdentityDeps = Platform & { hasher: Hasher; keyring: Keyring } & IdentityNeeds

/** What other rooms do when a user's life changes; all run inside identity's transaction. */
export type IdentityNeeds = {
  /** One of its own, unless given. */
  hasher?: Hasher | undefined
  /** Removes what a room holds about a user who is deleted. */
  erase: ((tx: Db, userId: string) => Promise<void>)[]
  /** What a room holds about a user, for the full export. */
  collect: ((db: Db, userId: string) => Promise<Collected>)[]
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

/** By the name of the JSON file; a function is called when its file's turn comes, so that large things follow one another. */
export type Collected = Record<string, object | null | (() => Promise<object>)>
