/**
 * Queue of calls that wait until running calls release a budget. A call that ends in this process
 * wakes the queue. Calls in other processes do not, so waiting calls also retry on a timer: the
 * first eight every 250 ms, the others every 2 s.
 */

const RETRY_MS = 250
const RETRY_FAR_MS = 2_000
/** One ended call makes room for a few others; waking the whole queue each time would be quadratic. */
const WOKEN_MAX = 8

export class BudgetQueue {
  readonly #waiting = new Map<string, Set<() => void>>()

  /** Resolves when a call with the same budget ends, after a delay, or when the caller disconnects. */
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

  /** Wakes the first calls in the queue after a call with the same budget has ended. */
  wake(budget: string, callsMax = WOKEN_MAX): void {
    for (const leave of [...(this.#waiting.get(budget) ?? [])].slice(0, callsMax)) leave()
  }
}
