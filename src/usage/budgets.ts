/**
 * Budgets in tokens and in dollars, for a user or for one of their keys: one row for each period. A call
 * reserves its maximum before it starts, and its end replaces the reservation by its actual use. Used
 * plus reserved never exceeds the limit, so no budget is overspent.
 */
import './tables.ts'
import { type CompiledQuery, type ExpressionBuilder, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Run } from '#platform/db/async-commit.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { createQueryCache } from './compiled.ts'
import { computeSpan, type Period } from './periods.ts'
import { sumUse } from './store.ts'

/** A transaction: `db` builds its queries, `run` executes them. */
export type BudgetTx = { db: Db; run: Run }

/** Returns a BudgetTx that runs its queries on `db`, which may be a transaction. */
export function toBudgetTx(db: Db): BudgetTx {
  return { db, run: (query) => db.executeQuery(query) }
}

/** Tokens and nanodollars. */
export type Amounts = { tokens: number; nanos: number }

/** A user's budget. `scope` is '' for the user, or the id of a key; `period` as in periods.ts. */
export type Budget = { scope: string; period: string }

/**
 * The limit of a budget in a period. `name` is the period in its row, and `end` is the end of the
 * period. Null tokens or nanos: no limit in this unit. `period` is null for a billing period, which
 * starts with no use.
 */
export type BudgetLimit = {
  scope: string
  period: Period | null
  name: string
  end: Instant
  tokens: number | null
  nanos: number | null
}

/** The amounts that a running call has reserved on each of its budgets. */
export type Held = Amounts & { id: string; userId: string; budgets: Budget[] }

export type AlertedBudget = Pick<
  Tables['usage_budgets'],
  'used_nanos' | 'alerted_nanos' | 'alerted_limit_nanos'
>

export const BUDGET_COLUMNS = [
  'scope',
  'period',
  'used_tokens',
  'used_nanos',
  'reserved_tokens',
  'reserved_nanos',
  'alerted_nanos',
  'alerted_limit_nanos',
] as const
export type BudgetRow = Pick<Tables['usage_budgets'], (typeof BUDGET_COLUMNS)[number]>

const compiled = createQueryCache()

/** Returns the rows of the limits, in their order. Their locks last until the transaction ends. */
export async function openBudgets(
  tx: BudgetTx,
  call: { userId: string; at: Instant },
  limits: readonly BudgetLimit[],
): Promise<BudgetRow[]> {
  let rows = await lockBudgets(tx, call.userId, limits)
  if (rows.length < limits.length) {
    for (const limit of limits) await insertBudget(tx, call, limit)
    rows = await lockBudgets(tx, call.userId, limits)
  }
  return limits.map(({ scope, name }) => {
    const row = rows.find((one) => one.scope === scope && one.period === name)
    if (row === undefined) throw new Error('a budget was removed while a call reserved it')
    return row
  })
}

async function lockBudgets(
  { db, run }: BudgetTx,
  userId: string,
  limits: readonly BudgetLimit[],
): Promise<BudgetRow[]> {
  const budgets = toBudgets(limits)
  const query = compiled(db, `lock:${limits.length}`, listParameters(userId, budgets), () =>
    forUpdate(
      db,
      db
        .selectFrom('usage_budgets')
        .select(BUDGET_COLUMNS)
        .where('user_id', '=', userId)
        .where(matchBudgets(budgets))
        // The same order in all requests makes deadlocks rare; `retryDeadlocks` repeats the others.
        .orderBy('scope')
        .orderBy('period'),
    ),
  )
  return (await run(query)).rows as BudgetRow[]
}

/** Builds the update that reserves the amounts on all budgets of a call. */
export function addReserved(
  db: Db,
  { userId, limits }: { userId: string; limits: readonly BudgetLimit[] },
  { tokens, nanos }: Amounts,
): CompiledQuery {
  const budgets = toBudgets(limits)
  const parameters = [tokens, nanos, ...listParameters(userId, budgets)]
  return compiled(db, `reserve:${budgets.length}`, parameters, () =>
    db
      .updateTable('usage_budgets')
      .set({
        reserved_tokens: sql`reserved_tokens + ${tokens}`,
        reserved_nanos: sql`reserved_nanos + ${nanos}`,
      })
      .where('user_id', '=', userId)
      .where(matchBudgets(budgets)),
  )
}

export function toBudgets(limits: readonly BudgetLimit[]): Budget[] {
  return limits.map(({ scope, name: period }) => ({ scope, period }))
}

/** Faster than a list of values on SQLite. */
const matchBudgets =
  (budgets: readonly Budget[]) => (e: ExpressionBuilder<Tables, 'usage_budgets'>) =>
    e.or(budgets.map(({ scope, period }) => e.and({ scope, period })))

const listParameters = (userId: string, budgets: readonly Budget[]) => [
  userId,
  ...budgets.flatMap(({ scope, period }) => [scope, period]),
]

/** One update for all periods of a scope, because a key's calls count in its day, week and month. */
export type BudgetChange = {
  userId: string
  scope: string
  periods: readonly string[]
  used: Amounts
  freed: Amounts
}

/** Builds the update of a budget, which returns the columns that alerts need. */
export function changeBudget(db: Db, change: BudgetChange): CompiledQuery {
  const { userId, scope, periods, used, freed } = change
  const amounts = [used.tokens, used.nanos, freed.tokens, freed.nanos]
  const parameters = [...amounts, userId, scope, ...periods]
  return compiled(db, `change:${periods.length}`, parameters, () =>
    db
      .updateTable('usage_budgets')
      .set({
        used_tokens: sql`used_tokens + ${used.tokens}`,
        used_nanos: sql`used_nanos + ${used.nanos}`,
        reserved_tokens: sql`reserved_tokens - ${freed.tokens}`,
        reserved_nanos: sql`reserved_nanos - ${freed.nanos}`,
      })
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', 'in', periods)
      .returning(['used_nanos', 'alerted_nanos', 'alerted_limit_nanos']),
  )
}

/** Inserts the row if it is missing, with the use of earlier calls in the period. */
async function insertBudget(
  { db, run }: BudgetTx,
  { userId, at }: { userId: string; at: Instant },
  { scope, name: period, period: length }: BudgetLimit,
): Promise<void> {
  const { numAffectedRows } = await run(
    db
      .insertInto('usage_budgets')
      .values({
        user_id: userId,
        scope,
        period,
        used_tokens: 0,
        used_nanos: 0,
        reserved_tokens: 0,
        reserved_nanos: 0,
        alerted_nanos: 0,
        alerted_limit_nanos: 0,
      })
      .onConflict((conflict) => conflict.columns(['user_id', 'scope', 'period']).doNothing())
      .compile(),
  )
  if (!numAffectedRows || length === null) return
  // Read after the insert: calls that settle later wait for the row and add their use to it.
  const used = await sumUse({ db, run }, userId, scope || null, computeSpan(length, at))
  const freed = { tokens: 0, nanos: 0 }
  await run(changeBudget(db, { userId, scope, periods: [period], used, freed }))
}

/** Retries deadlocks: when two nodes lock two users' budgets crosswise, PostgreSQL aborts one transaction (40P01). */
export function retryDeadlocks<T>(work: () => Promise<T>, retriesMax = 3): Promise<T> {
  return work().catch((error: { code?: unknown }) => {
    if (retriesMax === 0 || error.code !== '40P01') throw error
    return retryDeadlocks(work, retriesMax - 1)
  })
}
