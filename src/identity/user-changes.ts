import { afterCommit, type Db } from '#platform/db/db.ts'

/** The topic on the bus for `{ userId }` when a user's tier or status changes or sessions end. */
export const USER_CHANGED = 'identity.changed'

/** Called after a commit that changed a user or ended their sessions. */
export type ChangeListener = (userId: string) => void

/**
 * Listeners of all authenticators in this process. They are global, because code that changes a
 * user only has the transaction. If a process runs several services, as in tests, the others read
 * their session again without harm.
 */
const listeners = new Set<ChangeListener>()

export function onUserChange(listener: ChangeListener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Call it inside the transaction that changes the user or ends sessions. */
export function announceUserChange(tx: Db, userId: string): void {
  afterCommit(tx, () => {
    for (const listener of listeners) listener(userId)
  })
}
