/** What the caller has subscribed to, as the account page shows it. */
import { type Static, Type } from 'typebox'
import { grantsOf } from '#catalogue/catalogue.ts'
import { findUser, SubscriptionStatus } from '#identity/users.ts'
import { plus, SECOND_MS } from '#platform/clock.ts'
import { Instant, Nullable } from '#platform/http/schema.ts'
import { unauthenticated } from '#platform/problems.ts'
import { awaitsCheckout, findAccount } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import { syncUser } from './sync.ts'

export const SubscriptionView = Type.Object(
  {
    status: SubscriptionStatus,
    tier: Type.String(),
    processor_customer_id: Nullable(Type.String()),
    price_id: Nullable(Type.String()),
    current_period_end: Nullable(Instant),
    cancel_at_period_end: Type.Boolean(),
    processor_status: Nullable(
      Type.String({ description: 'The processor’s own word, as `paused` or `unpaid`; null when nothing runs' }),
    ),
    entitlements: Type.Array(Type.String(), { description: 'What the plan grants' }),
  },
  { title: 'Subscription' },
)
export type SubscriptionView = Static<typeof SubscriptionView>

/** A page that waits for its payment asks often; the processor is asked no more than this often for one user. */
const ASK_EVERY_MS = 2 * SECOND_MS

export async function viewSubscription(deps: BillingDeps, userId: string): Promise<SubscriptionView> {
  await catchUpAfterCheckout(deps, userId)
  const user = await findUser(deps.db, userId)
  if (!user) throw unauthenticated()
  const account = await findAccount(deps.db, userId)
  const live = user.subscription_status === 'active' || user.subscription_status === 'past_due'
  return {
    status: user.subscription_status,
    tier: user.subscription_tier,
    processor_customer_id: user.processor_customer_id,
    price_id: live ? (account?.price_id ?? null) : null,
    current_period_end: live ? (account?.period_end_at ?? null) : null,
    cancel_at_period_end: live && (account?.is_cancel_at_period_end ?? false),
    processor_status: live ? (account?.processor_status ?? null) : null,
    entitlements: [...grantsOf(deps.config.catalogue, user.subscription_tier)],
  }
}

/** The way back from the checkout may be quicker than the processor's event. */
async function catchUpAfterCheckout(deps: BillingDeps, userId: string): Promise<void> {
  const account = await findAccount(deps.db, userId)
  const now = deps.clock.now()
  if (!deps.processor || !account || !awaitsCheckout(account, now)) return
  if (account.synced_at !== null && plus(account.synced_at, ASK_EVERY_MS) > now) return
  try {
    await syncUser(deps, userId)
  } catch (error) {
    deps.log.warn({ err: error, userId }, 'the processor could not be asked after a checkout')
  }
}
