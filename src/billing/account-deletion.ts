/** Ends the subscriptions of a deleted user: no account, no charge. */
import type { Db } from '#platform/db/db.ts'
import { cancelSubscription, forgetCanceller } from './cancellations.ts'
import { listCustomers } from './customers.ts'
import { forgetDeals } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { forgetSubscriber } from './metrics/subscription-changes.ts'
import { forgetPayer } from './money/payments.ts'
import { isMissing, requireProcessor } from './processor.ts'
import { readFacts } from './subscription-facts.ts'

export const END_CUSTOMER_JOB = 'billing.end-customer'

/** Runs in the transaction that deletes the user. */
export async function eraseBilling(
  { jobs }: Pick<BillingDeps, 'jobs'>,
  tx: Db,
  userId: string,
): Promise<void> {
  await forgetSubscriber(tx, userId)
  for (const { customer_id: customerId, state } of await listCustomers(tx, userId)) {
    if (state === 'deleted') continue
    await jobs.enqueue(
      tx,
      END_CUSTOMER_JOB,
      { customerId },
      { key: `${END_CUSTOMER_JOB}:${customerId}` },
    )
  }
  await tx.deleteFrom('billing_customers').where('user_id', '=', userId).execute()
  await tx.deleteFrom('billing_accounts').where('user_id', '=', userId).execute()
  await tx.deleteFrom('billing_notices').where('user_id', '=', userId).execute()
  await forgetDeals(tx, userId)
  await forgetCanceller(tx, userId)
  await forgetPayer(tx, userId)
}

/**
 * Cancels live subscriptions without credit, which nobody could use, and expires open checkouts, so
 * that nobody pays for a deleted account.
 */
export async function endCustomer(
  deps: Pick<BillingDeps, 'processor'>,
  customerId: string,
): Promise<void> {
  const processor = requireProcessor(deps.processor)
  try {
    for (const { id } of (
      await processor.checkout.sessions.list({ customer: customerId, status: 'open', limit: 100 })
    ).data) {
      await processor.checkout.sessions.expire(id)
    }
    for (const subscription of (
      await processor.subscriptions.list({ customer: customerId, status: 'all', limit: 100 })
    ).data) {
      const { status } = readFacts(subscription)
      if (status !== 'canceled' && status !== 'incomplete_expired') {
        await cancelSubscription(deps, {
          subscriptionId: subscription.id,
          isCredited: false,
          isBilled: false,
        })
      }
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
