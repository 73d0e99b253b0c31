// Who waits for a budget that running calls hold, by user: woken when one of them ends here, asking now and then otherwise.
// It trades promptness for load: other nodes' settlements are not heard of, and those far back in the line ask seldom.

const POLL_MS = 250
const POLL_FAR_MS = 2_000
/** A call that ends frees little more than one place: waking the whole line each time would be quadratic. */
const WOKEN_MAX = 8

export type BudgetWaits = {
  /** Resolves when another call of the user ends, or after a while. */
  anotherEnds(userId: string, signal: AbortSignal | undefined): Promise<void>
  /** A call of the user has ended. */
  wake(userId: string): void
  /** Nothing is left: nobody in line need wait to hear it. */
  wakeAll(userId: string): void
}

export function createBudgetWaits(): BudgetWaits {
  const waitingByUser = new Map<string, Set<() => void>>()
  const wake = (userId: string, most: number) => {
    for (const retry of [...(waitingByUser.get(userId) ?? [])].slice(0, most)) retry()
  }

  return {
    anotherEnds: (userId, signal) =>
      new Promise<void>((resolve) => {
        const set = waitingByUser.get(userId) ?? new Set()
        waitingByUser.set(userId, set)
        const done = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          set.delete(done)
          if (set.size === 0) waitingByUser.delete(userId)
          resolve()
        }
        const timer = setTimeout(done, set.size < WOKEN_MAX ? POLL_MS : POLL_FAR_MS)
        signal?.addEventListener('abort', done)
        set.add(done)
      }),
    wake: (userId) => wake(userId, WOKEN_MAX),
    wakeAll: (userId) => wake(userId, Number.POSITIVE_INFINITY),
  }
}
