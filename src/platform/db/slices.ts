// Removes many rows without blocking others: some hundreds per statement, with pauses in between.
import { setTimeout as sleep } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './db.ts'
import type { Tables } from './tables.ts'

export const SLICE_ROWS = 500
/**
 * SQLite's statements block the whole process. A slice takes some milliseconds; this pause lets
 * other work run.
 */
const REST_MS = 25

/**
 * Deletes up to SLICE_ROWS rows that match the condition; `key` identifies a row. The condition stands
 * in both statements, so that a distributed database finds the user's server. @returns the number of
 * deleted rows
 */
export async function deleteSlice(
  db: Db,
  table: keyof Tables,
  key: readonly string[],
  condition: RawBuilder<unknown>,
): Promise<number> {
  const columns = sql.join(key.map((column) => sql.ref(column)))
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ${condition} and (${columns}) in (
      select ${columns} from ${sql.table(table)} where ${condition} limit ${sql.lit(SLICE_ROWS)})`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0n)
}

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
