// Removes days of usage, by age or with their user, and adds their sums to anonymous monthly sums.
import './tables.ts'
import { type RawBuilder, sql } from 'kysely'
import { type Db, transaction } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { UsageDaysTable } from './tables.ts'
import { buildTotalQueries } from './totals.ts'

const DAY = sql.join(
  ['user_id', 'day', 'key_id', 'model', 'vendor', 'tier', 'outcome', 'end_user'].map((column) =>
    sql.ref(column),
  ),
)

type Removed = Omit<UsageDaysTable, 'user_id' | 'key_id' | 'end_user'>
type Month = Pick<
  Removed,
  'day' | 'model' | 'requests' | 'prompt_tokens' | 'completion_tokens' | 'cost_nanos'
>

/**
 * Moves up to SLICE_ROWS matching days into their months. Concurrent processes move each day once.
 * @returns the number of moved rows
 */
export async function archiveDays(db: Db, which: RawBuilder<unknown>): Promise<number> {
  return transaction(db, async (tx) => {
    const { rows } = await sql<Removed>`
      delete from usage_days where (${DAY}) in (
        select ${DAY} from usage_days where ${which} limit ${sql.lit(SLICE_ROWS)})
      returning day, model, vendor, tier, outcome,
        requests, prompt_tokens, completion_tokens, cached_tokens, cost_nanos`.execute(tx)
    for (const query of buildTotalQueries(tx, rows, -1)) await tx.executeQuery(query)
    const months = new Map<string, Month>()
    for (const { day, model, requests, prompt_tokens, completion_tokens, cost_nanos } of rows) {
      const row = { day, model, requests, prompt_tokens, completion_tokens, cost_nanos }
      const name = `${row.day.slice(0, 7)}\n${row.model}`
      const sum = months.get(name)
      if (sum === undefined) months.set(name, row)
      else {
        sum.requests += row.requests
        sum.prompt_tokens += row.prompt_tokens
        sum.completion_tokens += row.completion_tokens
        sum.cost_nanos += row.cost_nanos
      }
    }
    // Sorted, so that two processes lock the rows in the same order.
    for (const [, { day, ...sums }] of [...months].sort(([a], [b]) => (a < b ? -1 : 1))) {
      await tx
        .insertInto('usage_archive')
        .values({ month: day.slice(0, 7), ...sums })
        .onConflict((conflict) =>
          conflict.columns(['month', 'model']).doUpdateSet({
            requests: sql`usage_archive.requests + excluded.requests`,
            prompt_tokens: sql`usage_archive.prompt_tokens + excluded.prompt_tokens`,
            completion_tokens: sql`usage_archive.completion_tokens + excluded.completion_tokens`,
            cost_nanos: sql`usage_archive.cost_nanos + excluded.cost_nanos`,
          }),
        )
        .execute()
    }
    return rows.length
  })
}
