// Ends of calls in the budgets: what was reserved is given back, what was used is counted, and an alert is written where it is due.
import './tables.ts'
import { type CompiledQuery, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { alertOfUse, type Watched } from './alerts.ts'
import type { Amounts, BudgetTx, Granted } from './budgets.ts'
import { compiledQueries } from './compiled.ts'
import { type Period, periodsAt } from './periods.ts'
import { nanosOf, type UsageRecord } from './record.ts'
import { giveBackOwn } from './shared-holds.ts'

const compiled = compiledQueries()

/**
 * Gives reservations back and counts what was used, also of calls that ran without a budget.
 * @returns what is used now of each budget that was counted on; none that nobody has claimed from.
 */
export async function settleBudgets(tx: BudgetTx, nodeId: string, settled: Settlement[]): Promise<Counted[]> {
  const counted: Counted[] = []
  for (const change of changesOf(settled)) {
    const isFreed = change.freedTokens > 0 || change.freedNanos > 0
    if (isFreed) {
      const { userId, scope, at, period, freedTokens, freedNanos } = change
      const held = { userId, scope, period: periodsAt(at)[period ?? 'month'], tokens: freedTokens, nanos: freedNanos }
      const freed = await giveBackOwn(tx, nodeId, held)
      change.freedTokens = freed.tokens
      change.freedNanos = freed.nanos
    }
    const { userId, scope, at, usedNanos, allowanceNanos } = change
    for (const row of (await tx.run(settleOf(tx.db, change))).rows as Row[]) {
      counted.push({ userId, scope, period: row.period, tokens: row.used_tokens, nanos: row.used_nanos })
      if (allowanceNanos !== null && usedNanos > 0) await alertOfUse(tx, { userId, at, allowanceNanos }, row)
    }
  }
  return counted
}

type Row = Watched & { period: string; used_tokens: number }

/** `period` by its name. */
export type Counted = { userId: string; scope: string; period: string } & Amounts

/** `allowanceNanos`: what the plan of the record's user has in a month; null or left out: no limit. */
export type Settlement = { granted: Granted | null; record: UsageRecord | null; allowanceNanos?: number | null }

/** `period`: the one that is changed; of a key's use, which may be limited in any of them, null. */
type Change = {
  userId: string
  scope: string
  at: Instant
  period: Period | null
  usedTokens: number
  usedNanos: number
  freedTokens: number
  freedNanos: number
  /** Of the user's own budget, where their plan has a limit in dollars. */
  allowanceNanos: number | null
}

/** Sorted, so that two nodes lock rows in one order. */
function changesOf(settled: Settlement[]): Change[] {
  const changes = new Map<string, Change>()
  const changeOf = (userId: string, scope: string, at: Instant, period: Period | null) => {
    const name = `${userId}|${scope}|${period === null ? at.slice(0, 10) : periodsAt(at)[period]}`
    let change = changes.get(name)
    if (change === undefined) {
      const none = { usedTokens: 0, usedNanos: 0, freedTokens: 0, freedNanos: 0, allowanceNanos: null }
      change = { userId, scope, at, period, ...none }
      changes.set(name, change)
    }
    return change
  }
  for (const { granted: grant, record, allowanceNanos = null } of settled) {
    if (record) {
      const tokens = record.promptTokens + record.completionTokens
      // Plans' budgets are monthly.
      const own = changeOf(record.userId, '', record.startedAt, 'month')
      own.allowanceNanos = allowanceNanos
      const all = [own]
      if (record.keyId !== null) all.push(changeOf(record.userId, record.keyId, record.startedAt, null))
      for (const change of all) {
        change.usedTokens += tokens
        change.usedNanos += nanosOf(record.costUsd)
      }
    }
    if (!grant) continue
    for (const { scope, period } of grant.budgets) {
      const change = changeOf(grant.userId, scope, grant.at, period)
      change.freedTokens += grant.tokens
      change.freedNanos += grant.nanos
    }
  }
  if (changes.size === 1) return [...changes.values()]
  return [...changes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
}

function settleOf(db: Db, { userId, scope, at, period, ...change }: Change): CompiledQuery {
  const { usedTokens, usedNanos, freedTokens, freedNanos } = change
  const { day, week, month } = periodsAt(at)
  const names = period === null ? [day, week, month] : [periodsAt(at)[period]]
  const parameters = [usedTokens, usedNanos, freedTokens, freedNanos, userId, scope, ...names]
  return compiled(db, `settle:${names.length}`, parameters, () =>
    db
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
      .returning(['period', 'used_tokens', 'used_nanos', 'alerted_nanos', 'alerted_limit_nanos']),
  )
}
