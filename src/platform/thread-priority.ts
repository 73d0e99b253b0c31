import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { isMainThread } from 'node:worker_threads'

/**
 * Lowers the priority of the calling worker thread below the thread that serves requests. Linux has
 * a priority per thread (setpriority(2) with a thread id); other systems keep all threads equal.
 */
export function lowerThreadPriority(): void {
  if (isMainThread || process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    // Relative to the process, whose priority the operator may have set; 19 is the lowest.
    if (Number.isInteger(thread)) setPriority(thread, Math.min(19, getPriority() + 10))
  } catch {
    // A container may forbid either call; the thread then keeps its priority.
  }
}
