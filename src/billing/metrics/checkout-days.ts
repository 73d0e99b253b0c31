/** Counts opened and completed checkouts by day. */
import '../money/tables.ts'
import '../tables.ts'
import { sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { formatUtcDay } from '#platform/db/time.ts'

/** Call it last in a transaction: checkouts of the same day wait for its commit. */
export async function countCheckout(
  tx: Db,
  kind: 'purchase' | 'subscription',
  at: Instant,
): Promise<void> {
  await tx
    .insertInto('checkout_days')
    .values({ day: at.slice(0, 10), kind, opened: 1 })
    .onConflict((conflict) =>
      conflict.columns(['day', 'kind']).doUpdateSet({ opened: sql`checkout_days.opened + 1` }),
    )
    .execute()
}

export type DayOfCheckouts = { day: string; opened: number; completed: number }

/**
 * Sums checkouts of subscriptions and purchases. A purchase completes one with its payment, a
 * subscription with its first invoice, also when that is free, as for a trial.
 */
export async function sumCheckoutsByDay(
  db: Db,
  { from, before }: { from: Instant; before: Instant },
): Promise<DayOfCheckouts[]> {
  const { rows } = await sql<DayOfCheckouts>`
    select day, sum(opened) as opened, sum(completed) as completed from (
      select day, opened, 0 as completed from checkout_days
      where day >= ${from.slice(0, 10)} and day < ${before.slice(0, 10)}
      union all
      select ${formatUtcDay(db, 'paid_at')}, 0, 1 from payments
      where kind = 'purchase' and paid_at >= ${from} and paid_at < ${before}
      union all
      select ${formatUtcDay(db, 'created_at')}, 0, 1 from invoices
      where reason = 'subscription_create' and status = 'paid'
        and created_at >= ${from} and created_at < ${before}
    ) as counted group by day`.execute(db)
  return rows
}
