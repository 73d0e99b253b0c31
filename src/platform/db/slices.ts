// Removing much without holding up anybody: some hundreds of rows a statement, with room for others in between.
import { setTimeout as sleep } from 'node:timers/promises'

export const SLICE_ROWS = 500
/** SQLite's statements stop the whole process while they run; a slice takes some milliseconds, and then others have this. */
const REST_MS = 25

/**
 * Repeats `removeSlice`, which removes up to SLICE_ROWS rows and says how many, until it finds fewer.
 * @returns how many in all.
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
