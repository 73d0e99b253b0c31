/**
 * Cancelled subscriptions: the reasons customers gave, and cancellations by the service (the older
 * of two, or the last one of a deleted user).
 */
import './tables.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Db } from '#platform/db/db.ts'
import { toInstant } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import { isMissing, requireProcessor } from './processor.ts'
import { isLive, type SubscriptionFacts } from './subscription-state.ts'

export const CANCEL_JOB = 'billing.cancel-subscription'
export type CancelRequest = {
  subscriptionId: string
  insteadOf?: string
  isCredited?: boolean
  isBilled?: boolean
}

/**
 * Cancels a subscription; returns whether this call ended it. `insteadOf`: cancel only while that
 * subscription runs, so that the last one is never cancelled. `isCredited`: credit the unused part
 * of the period to the next invoice. `isBilled`: bill pending items now.
 */
export async function cancelSubscription(
  { processor }: Pick<BillingDeps, 'processor'>,
  { subscriptionId, insteadOf, isCredited = true, isBilled = true }: CancelRequest,
): Promise<boolean> {
  const { subscriptions } = requireProcessor(processor)
  try {
    if (insteadOf !== undefined && !isLive(await subscriptions.retrieve(insteadOf))) return false
    await subscriptions.cancel(subscriptionId, { invoice_now: isBilled, prorate: isCredited })
    return true
  } catch (error) {
    if (!isMissing(error)) throw error
    return false
  }
}

/** Deletes the row when the cancellation was withdrawn. */
export async function saveCancellation(
  tx: Db,
  userId: string,
  { id, details }: SubscriptionFacts,
  tier: Tier | null,
): Promise<void> {
  if (!details) return
  if (details.canceledAt === null) {
    await tx.deleteFrom('cancellations').where('subscription_id', '=', id).execute()
    return
  }
  const change = {
    tier,
    feedback: details.feedback,
    comment: details.comment,
    canceled_at: toInstant(details.canceledAt),
    ended_at: details.endedAt === null ? null : toInstant(details.endedAt),
  }
  await tx
    .insertInto('cancellations')
    .values({ subscription_id: id, user_id: userId, ...change })
    .onConflict((conflict) => conflict.column('subscription_id').doUpdateSet(change))
    .execute()
}

export function listCancellations(db: Db, userId: string) {
  return db
    .selectFrom('cancellations')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('canceled_at')
    .execute()
}

/** Counts cancellations in the period by reason, the most frequent first. */
export async function countCancellationReasons(
  db: Db,
  from: string,
  before: string,
): Promise<{ feedback: string | null; count: number }[]> {
  const rows = await db
    .selectFrom('cancellations')
    .select((e) => ['feedback', e.fn.countAll<number>().as('count')])
    .where('canceled_at', '>=', from)
    .where('canceled_at', '<', before)
    .groupBy('feedback')
    .execute()
  return rows.sort(
    (a, b) => b.count - a.count || ((a.feedback ?? '') < (b.feedback ?? '') ? -1 : 1),
  )
}

/** Keeps the reason for the counts and removes the person and their comment. */
export async function forgetCanceller(tx: Db, userId: string): Promise<void> {
  await tx
    .updateTable('cancellations')
    .set({ user_id: null, comment: null })
    .where('user_id', '=', userId)
    .execute()
}
