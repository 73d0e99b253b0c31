// Alerts of a plan's dollars: at 80 and at 100 per cent of a period's, once each. What counts a call's use writes the alert in the
// same transaction (settlements.ts), so that none comes twice; a timer makes letters of them a moment later. With several processes one
// may come with the next call, since each looks at what the others have counted only every ten seconds.
// The trap: a budget is never overspent, so the last cents mostly stay; the first call that does not fit is the hundred per cent.
import './tables.ts'
import type { Clock, Instant } from '#platform/clock.ts'
import type { Run } from '#platform/db/async-commit.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { Platform } from '#platform/platform.ts'

export type AllowanceAlert = {
  isUsedUp: boolean
  usedUsd: number
  limitUsd: number
  renewsAt: Instant
}

/** Sends the letter in the alert's transaction. */
export type TellOwner = (tx: Db, userId: string, alert: AllowanceAlert) => Promise<void>

const LEVELS = [100, 80] as const
/** A refused call means an allowance that is used up only where most of it is: else that call alone was too long. */
const NEARLY = 0.8

/** The highest that was reached and not told, `atNanos` being where it lies; null: none. A larger plan's lie higher. */
export function alertDue(limitNanos: number, usedNanos: number, alertedNanos: number) {
  for (const percent of LEVELS) {
    const atNanos = atOf(limitNanos, percent)
    if (usedNanos >= atNanos) return atNanos > alertedNanos ? { percent, atNanos } : null
  }
  return null
}

const atOf = (limitNanos: number, percent: number) => Math.floor((limitNanos * percent) / 100)

/** Of this period, by its name, the oldest first. */
export async function alertsOf(db: Db, userId: string, period: string) {
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

/** How far a user was from the next alert when somebody looked, less what this process has counted since. */
const far = new Map<string, { limitNanos: number; leftNanos: number; untilMs: number }>()
const FAR_MAX = 10_000
/** Other processes count, too: after so long it is looked at again. */
const FAR_MS = 10_000

/** Whether the budget has to be read with what is counted now: a look costs as much as the counting, and a crowd needs few. */
export function needsLook(userId: string, limitNanos: number, usedNanos: number): boolean {
  const known = far.get(userId)
  if (known?.limitNanos !== limitNanos || performance.now() > known.untilMs) return true
  known.leftNanos -= usedNanos
  return known.leftNanos <= 0
}

function looked(userId: string, limitNanos: number, usedNanos: number, alertedNanos: number): void {
  if (far.size >= FAR_MAX) far.clear()
  const next = LEVELS.map((percent) => atOf(limitNanos, percent)).findLast(
    (atNanos) => atNanos > alertedNanos && atNanos > usedNanos,
  )
  const leftNanos = (next ?? Number.POSITIVE_INFINITY) - usedNanos
  far.set(userId, { limitNanos, leftNanos, untilMs: performance.now() + FAR_MS })
}

/** A transaction: `db` builds its queries. */
type AlertTx = { db: Db; run: Run }
/** What an alert goes by. */
export type Watched = Pick<
  Tables['usage_budgets'],
  'used_nanos' | 'alerted_nanos' | 'alerted_limit_nanos'
>

/** The plan's dollars do not hold this call, and most of them are used: they are used up. */
export async function alertOfRefusal(
  tx: AlertTx,
  { userId, at }: { userId: string; at: Instant },
  refusal: Watched & { name: string; end: Instant; nanosMax: number | null },
): Promise<void> {
  const { name, end, nanosMax, used_nanos: usedNanos } = refusal
  if (nanosMax === null || usedNanos < nanosMax * NEARLY || toldOf(nanosMax, refusal) >= nanosMax)
    return
  await writeAlert(tx, {
    userId,
    at,
    name,
    end,
    percent: 100,
    atNanos: nanosMax,
    limitNanos: nanosMax,
    usedNanos,
  })
}

/** Up to where was told of these dollars: of a larger plan's lay higher, and says nothing of a smaller's. */
function toldOf(limitNanos: number, { alerted_nanos, alerted_limit_nanos }: Watched): number {
  return limitNanos < alerted_limit_nanos ? 0 : alerted_nanos
}

type NewAlert = {
  userId: string
  at: Instant
  /** The period's, and when it renews. */
  name: string
  end: Instant
  percent: number
  atNanos: number
  limitNanos: number
  usedNanos: number
}

/** Once: whoever comes second finds it told. */
async function writeAlert({ db, run }: AlertTx, alert: NewAlert): Promise<void> {
  const { userId, at, name: period, end, percent, atNanos, limitNanos, usedNanos } = alert
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
  const amounts = { limit_nanos: limitNanos, used_nanos: usedNanos }
  await run(
    db
      .insertInto('usage_alerts')
      .values({
        user_id: userId,
        period,
        renews_at: end,
        percent,
        ...amounts,
        created_at: at,
        sent_at: null,
      })
      .onConflict((conflict) => conflict.doNothing())
      .compile(),
  )
}

/** What was counted may have passed one. */
export async function alertOfUse(
  tx: AlertTx,
  plan: Pick<NewAlert, 'userId' | 'at' | 'name' | 'end'> & { nanos: number },
  budget: Watched,
): Promise<void> {
  const { nanos: limitNanos, ...period } = plan
  const { used_nanos: usedNanos } = budget
  const alertedNanos = toldOf(limitNanos, budget)
  const due = alertDue(limitNanos, usedNanos, alertedNanos)
  looked(plan.userId, limitNanos, usedNanos, alertedNanos)
  if (due !== null) await writeAlert(tx, { ...period, ...due, limitNanos, usedNanos })
}

const SEND_MS = 30_000
const BATCH = 100

/** @returns how many were told. Each by one process alone, in one transaction with its letter. */
export async function sendAlerts(
  { db, clock }: { db: Db; clock: Clock },
  tell: TellOwner,
): Promise<number> {
  const due = await db
    .selectFrom('usage_alerts')
    .selectAll()
    .where('sent_at', 'is', null)
    .orderBy('created_at')
    .limit(BATCH)
    .execute()
  let told = 0
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
      // It has renewed meanwhile: everything is there anew.
      if (renewsAt <= clock.now()) return
      await tell(tx, user_id, {
        isUsedUp: percent === 100,
        usedUsd: used_nanos / 1e9,
        limitUsd: limit_nanos / 1e9,
        renewsAt,
      })
      told++
    })
  }
  return told
}

/** @returns what ends it. */
export function startAlerts(
  { db, clock, log }: Pick<Platform, 'db' | 'clock' | 'log'>,
  tell: TellOwner,
): () => void {
  const send = () =>
    void sendAlerts({ db, clock }, tell).catch((err) =>
      log.warn({ err }, 'alerts of allowances were not told; they will be'),
    )
  const timer = setInterval(send, SEND_MS).unref()
  send()
  return () => clearInterval(timer)
}
