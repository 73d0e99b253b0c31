/** Cancels a subscription at the processor: the older of two, or the last one of a user who goes. */
import type { BillingDeps } from './deps.ts'
import { isMissing, requireProcessor } from './processor.ts'
import { isLive } from './subscription-state.ts'

export const CANCEL_JOB = 'billing.cancel-subscription'

/** What is left of the period is credited. `insteadOf`: only while that other one runs, so that the last one is never canceled. */
export async function cancelSubscription(
  { processor }: Pick<BillingDeps, 'processor'>,
  { subscriptionId, insteadOf }: { subscriptionId: string; insteadOf?: string },
): Promise<void> {
  const { subscriptions } = requireProcessor(processor)
  try {
    if (insteadOf !== undefined && !isLive(await subscriptions.retrieve(insteadOf))) return
    await subscriptions.cancel(subscriptionId, { invoice_now: true, prorate: true })
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
