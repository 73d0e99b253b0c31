// Removes many rows without blocking others: some hundreds per statement, with pauses in between.
import { setTimeout as sleep } from 'node:timers/promises'

export const SLICE_ROWS = 500
/**
 * SQLite's statements block the whole process. A slice takes some milliseconds; this pause lets
 * other work run.
 */
const REST_MS = 25

/**
 * Repeats `removeSlice`, which removes up to SLICE_ROWS rows and returns their number, until it
 * removes fewer. Returns the total.
 */
export async function inSlices(
  removeSlice: () => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0
  while (!signal?.aborted) {
    const rows = await removeSlice()
    removed += rows
    if (rows < SLICE_ROWS) break
    await sleep(REST_MS)
  }
  return removed
}
