// Ends of calls in the budgets: what was reserved is given back, what was used is counted, and an alert is written where it is due.
import './tables.ts'
import { type CompiledQuery, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { alertOfUse, needsLook, type Watched } from './alerts.ts'
import type { BudgetTx, Granted } from './budgets.ts'
import { compiledQueries } from './compiled.ts'
import { periodsAt } from './periods.ts'
import type { PlanPeriod } from './plan-budgets.ts'
import { nanosOf, type UsageRecord } from './record.ts'
import { giveBackOwn } from './shared-holds.ts'

const compiled = compiledQueries()

/** Gives reservations back and counts what was used, also of calls that ran without a budget. @returns what it counted. */
export async function settleBudgets(
  tx: BudgetTx,
  nodeId: string,
  settled: Settlement[],
): Promise<readonly Counted[]> {
  const changes = changesOf(settled)
  for (const change of changes) {
    const isFreed = change.freedTokens > 0 || change.freedNanos > 0
    if (isFreed) {
      const { userId, scope, names, freedTokens, freedNanos } = change
      const held = { userId, scope, period: names[0] ?? '', tokens: freedTokens, nanos: freedNanos }
      const freed = await giveBackOwn(tx, nodeId, held)
      change.freedTokens = freed.tokens
      change.freedNanos = freed.nanos
    }
    if (changesNothing(change)) continue
    const { rows } = await tx.run(settleOf(tx.db, change))
    const [budget] = rows as Watched[]
    const { userId, at, plan } = change
    if (budget !== undefined && plan?.nanos != null)
      await alertOfUse(tx, { userId, at, ...plan, nanos: plan.nanos }, budget)
  }
  return changes
}

/** What was used, and in which budgets of a scope it counts, as far as they are open. */
export type Counted = Pick<Change, 'userId' | 'scope' | 'names' | 'usedTokens' | 'usedNanos'>

/** Without `plan` the call counts in its calendar month. */
export type Settlement = {
  granted: Granted | null
  record: UsageRecord | null
  plan?: PlanPeriod | null
}

/** `names`: of the periods that are changed. */
type Change = {
  userId: string
  scope: string
  at: Instant
  names: readonly string[]
  usedTokens: number
  usedNanos: number
  freedTokens: number
  freedNanos: number
  /** Of the user's own budget. */
  plan: PlanPeriod | null
}

/** Sorted, so that two nodes lock rows in one order. */
function changesOf(settled: Settlement[]): Change[] {
  const changes = new Map<string, Change>()
  const changeOf = (userId: string, scope: string, at: Instant, names: readonly string[]) => {
    const key = `${userId}|${scope}|${names.join()}`
    let change = changes.get(key)
    if (change === undefined) {
      const none = { usedTokens: 0, usedNanos: 0, freedTokens: 0, freedNanos: 0, plan: null }
      change = { userId, scope, at, names, ...none }
      changes.set(key, change)
    }
    return change
  }
  for (const { granted: grant, record, plan = null } of settled) {
    if (record) {
      const tokens = record.promptTokens + record.completionTokens
      const { day, week, month } = periodsAt(record.startedAt)
      const own = changeOf(record.userId, '', record.startedAt, [plan?.name ?? month])
      own.plan = plan
      const all = [own]
      // A key's use may be limited by any of them.
      if (record.keyId !== null)
        all.push(changeOf(record.userId, record.keyId, record.startedAt, [day, week, month]))
      for (const change of all) {
        change.usedTokens += tokens
        change.usedNanos += nanosOf(record.costUsd)
      }
    }
    if (!grant) continue
    for (const { scope, name } of grant.budgets) {
      const change = changeOf(grant.userId, scope, grant.at, [name])
      change.freedTokens += grant.tokens
      change.freedNanos += grant.nanos
    }
  }
  if (changes.size === 1) return [...changes.values()]
  return [...changes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
}

/** Whether no budget changes by them. */
export function settlesNothing(settled: Settlement[]): boolean {
  return changesOf(settled).every(changesNothing)
}

/** A search by words costs nothing and holds nothing. */
function changesNothing({ usedTokens, usedNanos, freedTokens, freedNanos }: Change): boolean {
  return usedTokens === 0 && usedNanos === 0 && freedTokens === 0 && freedNanos === 0
}

/** Gives the row back where an alert may be due. */
function settleOf(db: Db, { userId, scope, names, ...change }: Change): CompiledQuery {
  const { usedTokens, usedNanos, freedTokens, freedNanos, plan } = change
  const isWatched = plan?.nanos != null && usedNanos > 0 && needsLook(userId, plan.nanos, usedNanos)
  const parameters = [usedTokens, usedNanos, freedTokens, freedNanos, userId, scope, ...names]
  return compiled(db, `settle:${names.length}${isWatched ? ':watched' : ''}`, parameters, () => {
    const query = db
      .updateTable('usage_budgets')
      .set({
        used_tokens: sql`used_tokens + ${usedTokens}`,
        used_nanos: sql`used_nanos + ${usedNanos}`,
        reserved_tokens: sql`reserved_tokens - ${freedTokens}`,
        reserved_nanos: sql`reserved_nanos - ${freedNanos}`,
      })
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', 'in', names)
    return isWatched
      ? query.returning(['used_nanos', 'alerted_nanos', 'alerted_limit_nanos'])
      : query
  })
}
