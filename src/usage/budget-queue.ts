/**
 * Calls that wait for a budget which other calls hold. Calls that end in this process wake them; for those of other processes
 * they retry on a timer, the front of the queue more often than its rest.
 */

const RETRY_MS = 250
const RETRY_FAR_MS = 2_000
/** A call that ends frees the place of a few; waking the whole queue each time would be quadratic. */
const WOKEN_MAX = 8

export class BudgetQueue {
  readonly #waiting = new Map<string, Set<() => void>>()

  /** Resolves when another call of the budget ends, after a pause, or when the caller leaves. */
  wait(budget: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(budget) ?? new Set()
      this.#waiting.set(budget, waiting)
      const leave = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', leave)
        waiting.delete(leave)
        if (waiting.size === 0) this.#waiting.delete(budget)
        resolve()
      }
      const timer = setTimeout(leave, waiting.size < WOKEN_MAX ? RETRY_MS : RETRY_FAR_MS)
      signal?.addEventListener('abort', leave)
      waiting.add(leave)
    })
  }

  /** Wakes the first calls in the queue: a call of the budget has ended. */
  wake(budget: string, callsMax = WOKEN_MAX): void {
    for (const leave of [...(this.#waiting.get(budget) ?? [])].slice(0, callsMax)) leave()
  }

  /** Wakes all: nothing is left to wait for. */
  wakeAll(budget: string): void {
    this.wake(budget, Number.POSITIVE_INFINITY)
  }
}
