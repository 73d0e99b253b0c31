import { afterCommit, type Db } from '#platform/db/db.ts'

/**
 * The message on the bus, as `{ userId }`, when a user's tier or status changes or sessions end.
 */
export const USER_CHANGED = 'identity.changed'

/** Announces, after the commit, that the meaning of a caller's credentials has changed. */
export type ChangeListener = (userId: string) => void

/**
 * Every authenticator of this process. Rules that change a user (billing's among them) know only
 * their transaction; listeners of another service in the same process, as in tests, merely read
 * their session again.
 */
const listeners = new Set<ChangeListener>()

export function onUserChange(listener: ChangeListener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** To be called inside the transaction that changes the user or ends sessions. */
export function announceUserChange(tx: Db, userId: string): void {
  afterCommit(tx, () => {
    for (const listener of listeners) listener(userId)
  })
}
