import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { isMainThread } from 'node:worker_threads'

/**
 * Puts the thread that calls it behind the one that serves requests, where both want a core. On
 * Linux each thread has a priority (setpriority(2) with a thread id); on other systems all threads
 * stay equal.
 */
export function giveWay(): void {
  if (isMainThread || process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    // From wherever the operator has put the process; 19 is the lowest there is.
    if (Number.isInteger(thread)) setPriority(thread, Math.min(19, getPriority() + 10))
  } catch {
    // A container may forbid either call; the work still runs.
  }
}
