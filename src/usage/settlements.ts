/**
 * Settles ended calls: one transaction writes the records, removes the reservations and the notes, and
 * changes the budgets. The commit does not wait for the disk; records and budgets are equally durable.
 */
import './tables.ts'
import type { Instant } from '#platform/clock.ts'
import { commitAsync } from '#platform/db/async-commit.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { alertOnUse } from './alerts.ts'
import {
  type AlertedBudget,
  type BudgetChange,
  type BudgetTx,
  changeBudget,
  type Held,
  retryDeadlocks,
  toBudgetTx,
} from './budgets.ts'
import { removeNote } from './open-calls.ts'
import { namePeriods } from './periods.ts'
import { toNanos, type UsageRecord } from './record.ts'
import { removeReservations } from './shared-reservations.ts'
import { buildRecordQueries, isRecorded } from './store.ts'
import type { PlanPeriod } from './tables.ts'

/**
 * `id` is the id of the call; `record` is null if no call was made. Without `plan`, the call counts in
 * its calendar month. `isReserved`: the call has a row in `usage_reservations`.
 */
export type Settlement = {
  id: string
  userId: string
  record: UsageRecord | null
  plan: PlanPeriod | null
  isReserved: boolean
  hasNote: boolean
}

/**
 * Writes settlements in one transaction. With `isRepeated`, an earlier try may have been committed:
 * the parts that it wrote are skipped, and the commit waits for the disk. `committed` is called right
 * after the commit, with the changed budgets.
 */
export function writeSettlements(
  db: Db,
  settlements: readonly Settlement[],
  isRepeated: boolean,
  committed: (changes: readonly BudgetChange[]) => void = () => {},
): Promise<unknown> {
  const settle = (tx: BudgetTx) => settleCalls(tx, settlements, isRepeated)
  return retryDeadlocks(() =>
    isRepeated
      ? transaction(db, (tx) => settle(toBudgetTx(tx))).then(committed)
      : commitAsync(db, (run) => settle({ db, run }), committed),
  )
}

/** Returns the changes of the budgets. */
export async function settleCalls(
  tx: BudgetTx,
  settlements: readonly Settlement[],
  isRepeated: boolean,
): Promise<readonly BudgetChange[]> {
  const recorded: Recorded[] = []
  for (const { id, userId, record, plan } of settlements) {
    if (record === null || (isRepeated && (await isRecorded(tx, userId, id)))) continue
    recorded.push({ id, record, plan })
  }
  for (const query of buildRecordQueries(tx.db, recorded)) await tx.run(query)
  for (const { userId, id, hasNote } of settlements)
    if (hasNote) await tx.run(removeNote(tx.db, userId, id))
  const reserved = settlements.filter(({ isReserved }) => isReserved)
  const released = await removeReservations(tx, reserved)
  const changes = sumChanges(recorded, released)
  for (const change of changes) await applyChange(tx, change)
  return changes
}

type Recorded = { id: string; record: UsageRecord; plan: PlanPeriod | null }

/** `plan` is set only for the user's budget. */
type Change = BudgetChange & { at: Instant; plan: PlanPeriod | null }

/** Returns sorted changes, so that all nodes lock rows in the same order. */
function sumChanges(recorded: readonly Recorded[], released: readonly Held[]): Change[] {
  const changes = new Map<string, Change>()
  const findChange = (userId: string, scope: string, periods: readonly string[]) => {
    const name = `${userId}|${scope}|${periods.join()}`
    let change = changes.get(name)
    if (change === undefined) {
      const used = { tokens: 0, nanos: 0 }
      change = { userId, scope, periods, used, freed: { ...used }, at: '', plan: null }
      changes.set(name, change)
    }
    return change
  }
  for (const { record, plan } of recorded) {
    const { userId, keyId, startedAt } = record
    const tokens = record.promptTokens + record.completionTokens
    const nanos = toNanos(record.costUsd)
    // A keyword search uses no tokens.
    if (tokens === 0 && nanos === 0) continue
    const { day, week, month } = namePeriods(startedAt)
    const own = findChange(userId, '', [plan?.name ?? month])
    own.plan = plan
    const all = keyId === null ? [own] : [own, findChange(userId, keyId, [day, week, month])]
    for (const change of all) {
      change.at = startedAt
      change.used.tokens += tokens
      change.used.nanos += nanos
    }
  }
  for (const { userId, budgets, tokens, nanos } of released) {
    for (const { scope, period } of budgets) {
      const { freed } = findChange(userId, scope, [period])
      freed.tokens += tokens
      freed.nanos += nanos
    }
  }
  return [...changes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
}

async function applyChange(tx: BudgetTx, change: Change): Promise<void> {
  const { userId, at, plan } = change
  const { rows } = await tx.run(changeBudget(tx.db, change))
  const [budget] = rows as AlertedBudget[]
  if (!budget || !plan || plan.nanos === null || change.used.nanos === 0) return
  await alertOnUse(tx, { userId, at, name: plan.name, end: plan.end }, plan.nanos, budget)
}
