/**
 * Alerts when 80 and 100 percent of a plan's dollars are used, once each per period. The transaction
 * that settles a call writes the alert, and a timer sends the email. A budget is never overspent, so
 * its last cents usually remain: the first call that does not fit counts as 100 percent.
 */
import './tables.ts'
import type { Clock, Instant } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { AlertedBudget, BudgetLimit, BudgetTx } from './budgets.ts'

export type AllowanceAlert = {
  isUsedUp: boolean
  usedUsd: number
  limitUsd: number
  renewsAt: Instant
}

/** Sends the email in the alert's transaction. */
export type NotifyOwner = (tx: Db, userId: string, alert: AllowanceAlert) => Promise<void>

const LEVELS = [100, 80] as const
/** Below this share of used dollars, a rejected call was too long and writes no alert. */
const NEARLY = 0.8

/**
 * Returns the highest reached level without an alert; `atNanos` is the level's amount, which is
 * higher for a larger plan.
 */
export function findDueLevel(limitNanos: number, usedNanos: number, alertedNanos: number) {
  for (const percent of LEVELS) {
    const atNanos = Math.floor((limitNanos * percent) / 100)
    if (usedNanos >= atNanos) return atNanos > alertedNanos ? { percent, atNanos } : null
  }
  return null
}

/** Lists the alerts of a period, oldest first. */
export async function listAlerts(db: Db, userId: string, period: string) {
  const rows = await db
    .selectFrom('usage_alerts')
    .select(['percent', 'created_at'])
    .where('user_id', '=', userId)
    .where('period', '=', period)
    .orderBy('created_at')
    .orderBy('percent')
    .execute()
  return rows.map(({ percent, created_at }) => ({ percent, at: created_at }))
}

/** `name` is the name of the budget's period, which ends at `end`. */
type AlertContext = { userId: string; at: Instant; name: string; end: Instant }

/** Writes the 100 percent alert for a rejected call, if at least 80 percent are used. */
export async function alertOnRefusal(
  tx: BudgetTx,
  { userId, at }: { userId: string; at: Instant },
  { limit, budget }: { limit: BudgetLimit; budget: AlertedBudget },
): Promise<void> {
  const { name, end, nanos: limitNanos } = limit
  if (limitNanos === null || budget.used_nanos < limitNanos * NEARLY) return
  if (readAlertedNanos(limitNanos, budget) >= limitNanos) return
  const level = { percent: 100, atNanos: limitNanos }
  await writeAlert(tx, { userId, at, name, end }, level, limitNanos, budget.used_nanos)
}

/** Writes an alert if a settled call has reached a level. */
export async function alertOnUse(
  tx: BudgetTx,
  context: AlertContext,
  limitNanos: number,
  budget: AlertedBudget,
): Promise<void> {
  const usedNanos = budget.used_nanos
  const level = findDueLevel(limitNanos, usedNanos, readAlertedNanos(limitNanos, budget))
  if (level !== null) await writeAlert(tx, context, level, limitNanos, usedNanos)
}

/** Ignores alerts from the time of a larger plan. */
function readAlertedNanos(limitNanos: number, budget: AlertedBudget): number {
  return limitNanos < budget.alerted_limit_nanos ? 0 : budget.alerted_nanos
}

/** Writes each alert once, because only the first update of the budget finds a lower level in it. */
async function writeAlert(
  { db, run }: BudgetTx,
  { userId, at, name: period, end }: AlertContext,
  { percent, atNanos }: { percent: number; atNanos: number },
  limitNanos: number,
  usedNanos: number,
): Promise<void> {
  const marked = await run(
    db
      .updateTable('usage_budgets')
      .set({ alerted_nanos: atNanos, alerted_limit_nanos: limitNanos })
      .where('user_id', '=', userId)
      .where('scope', '=', '')
      .where('period', '=', period)
      .where((e) =>
        e.or([e('alerted_nanos', '<', atNanos), e('alerted_limit_nanos', '>', limitNanos)]),
      )
      .compile(),
  )
  if (marked.numAffectedRows === 0n) return
  await run(
    db
      .insertInto('usage_alerts')
      .values({
        user_id: userId,
        period,
        renews_at: end,
        percent,
        limit_nanos: limitNanos,
        used_nanos: usedNanos,
        created_at: at,
        sent_at: null,
      })
      .onConflict((conflict) => conflict.doNothing())
      .compile(),
  )
}

const SEND_MS = 30_000
const BATCH = 100

/**
 * Sends due alerts. Each is marked as sent in the transaction that enqueues its email.
 * @returns the number of alerts sent
 */
export async function sendAlerts(
  { db, clock }: { db: Db; clock: Clock },
  notify: NotifyOwner,
): Promise<number> {
  const due = await db
    .selectFrom('usage_alerts')
    .selectAll()
    .where('sent_at', 'is', null)
    .orderBy('created_at')
    .limit(BATCH)
    .execute()
  let sent = 0
  for (const { user_id, period, percent, limit_nanos, used_nanos, renews_at: renewsAt } of due) {
    await transaction(db, async (tx) => {
      const { numUpdatedRows } = await tx
        .updateTable('usage_alerts')
        .set({ sent_at: clock.now() })
        .where('user_id', '=', user_id)
        .where('period', '=', period)
        .where('percent', '=', percent)
        .where('limit_nanos', '=', limit_nanos)
        .where('sent_at', 'is', null)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) return
      // After the renewal the whole allowance is available again.
      if (renewsAt <= clock.now()) return
      await notify(tx, user_id, {
        isUsedUp: percent === 100,
        usedUsd: used_nanos / 1e9,
        limitUsd: limit_nanos / 1e9,
        renewsAt,
      })
      sent++
    })
  }
  return sent
}

/** Sends due alerts every 30 seconds. Returns a function that stops the timer. */
export function startAlerts(
  { db, clock, log }: Pick<Platform, 'db' | 'clock' | 'log'>,
  notify: NotifyOwner,
): () => void {
  const send = () =>
    void sendAlerts({ db, clock }, notify).catch((err) =>
      log.warn({ err }, 'allowance alerts could not be sent and will be retried'),
    )
  const timer = setInterval(send, SEND_MS).unref()
  send()
  return () => clearInterval(timer)
}
