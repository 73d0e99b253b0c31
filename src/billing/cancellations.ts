/** Subscriptions that end: what who cancelled has said, and the ones that we end ourselves (the older of two, the last one of a user who goes). */
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
 * `insteadOf`: only while that other one runs, so that the last one is never canceled. `isCredited`: what is left of the period is the
 * customer's, for the next invoice.
 * `isBilled`: what waits for the next invoice is billed now. Returns whether it was ended by this call.
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

/** One that is taken back is a cancellation no more. */
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

/** What was said, counted by reason, of those who cancelled in this time. */
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
  return rows
    .map(({ feedback, count }) => ({ feedback, count: Number(count) }))
    .sort((a, b) => b.count - a.count || ((a.feedback ?? '') < (b.feedback ?? '') ? -1 : 1))
}

/** What was said stays countable; who said it, and in which words, goes. */
export async function forgetCanceller(tx: Db, userId: string): Promise<void> {
  await tx
    .updateTable('cancellations')
    .set({ user_id: null, comment: null })
    .where('user_id', '=', userId)
    .execute()
}
