// Who waits for a budget that running calls hold, by the budget's name: woken when one of them ends here, asking now and then otherwise.
// It trades promptness for load: other nodes' settlements are not heard of, and those far back in the line ask seldom.

const POLL_MS = 250
const POLL_FAR_MS = 2_000
/** A call that ends frees little more than one place: waking the whole line each time would be quadratic. */
const WOKEN_MAX = 8

export type BudgetWaits = {
  /** Resolves when another call of the budget ends, or after a while. */
  anotherEnds(budget: string, signal: AbortSignal | undefined): Promise<void>
  /** A call of the budget has ended. */
  wake(budget: string): void
  /** Nothing is left: nobody in line need wait to hear it. */
  wakeAll(budget: string): void
}

export function createBudgetWaits(): BudgetWaits {
  const waiting = new Map<string, Set<() => void>>()
  const wake = (budget: string, most: number) => {
    for (const retry of [...(waiting.get(budget) ?? [])].slice(0, most)) retry()
  }

  return {
    anotherEnds: (budget, signal) =>
      new Promise<void>((resolve) => {
        const set = waiting.get(budget) ?? new Set()
        waiting.set(budget, set)
        const done = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          set.delete(done)
          if (set.size === 0) waiting.delete(budget)
          resolve()
        }
        const timer = setTimeout(done, set.size < WOKEN_MAX ? POLL_MS : POLL_FAR_MS)
        signal?.addEventListener('abort', done)
        set.add(done)
      }),
    wake: (budget) => wake(budget, WOKEN_MAX),
    wakeAll: (budget) => wake(budget, Number.POSITIVE_INFINITY),
  }
}
