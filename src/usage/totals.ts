// Sums by day of all users, always equal to the sum of `usage_days`: the transaction that changes the
// days changes these sums. Each process adds to its own rows (slot), so that processes do not wait for
// each other; readers add the rows up.
import './tables.ts'
import { randomInt } from 'node:crypto'
import { type CompiledQuery, sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { createQueryCache } from './compiled.ts'
import type { UsageDaysTable, UsageTotalsTable } from './tables.ts'

/** The number of possible slots. A day has rows only for the processes that wrote. */
const SLOTS = 1_024
/** Two processes rarely share a slot; if they do, they wait for each other's commit. */
const SLOT = randomInt(SLOTS)

const compiled = createQueryCache()

const TOTAL_KEY = ['day', 'slot', 'model', 'vendor', 'tier', 'outcome'] as const

/**
 * Builds the queries that add these days to the sums (`sign` 1) or subtract removed days (-1), sorted so
 * that all processes lock rows in the same order.
 */
export function buildTotalQueries(db: Db, days: readonly DaySum[], sign: 1 | -1): CompiledQuery[] {
  return sumTotals(days, sign).map((row) =>
    compiled(db, 'total', Object.values(row), () => buildAddition(db, row)),
  )
}

type DaySum = Omit<UsageDaysTable, 'user_id' | 'key_id' | 'end_user'>

function sumTotals(days: readonly DaySum[], sign: 1 | -1): UsageTotalsTable[] {
  const totals = new Map<string, UsageTotalsTable>()
  for (const { day, model, vendor, tier, outcome, ...sums } of days) {
    const name = `${day}\0${model}\0${vendor}\0${tier}\0${outcome}`
    let total = totals.get(name)
    if (total === undefined) {
      total = {
        day,
        slot: SLOT,
        model,
        vendor,
        tier,
        outcome,
        requests: 0,
        prompt_tokens: 0,
        completion_tokens: 0,
        cached_tokens: 0,
        cost_nanos: 0,
      }
      totals.set(name, total)
    }
    total.requests += sign * sums.requests
    total.prompt_tokens += sign * sums.prompt_tokens
    total.completion_tokens += sign * sums.completion_tokens
    total.cached_tokens += sign * sums.cached_tokens
    total.cost_nanos += sign * sums.cost_nanos
  }
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total)
}

function buildAddition(db: Db, row: UsageTotalsTable) {
  return db
    .insertInto('usage_totals')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(TOTAL_KEY).doUpdateSet({
        requests: sql`usage_totals.requests + excluded.requests`,
        prompt_tokens: sql`usage_totals.prompt_tokens + excluded.prompt_tokens`,
        completion_tokens: sql`usage_totals.completion_tokens + excluded.completion_tokens`,
        cached_tokens: sql`usage_totals.cached_tokens + excluded.cached_tokens`,
        cost_nanos: sql`usage_totals.cost_nanos + excluded.cost_nanos`,
      }),
    )
}
