/** The caller's subscription, as the account page shows it. */
import { type Static, Type } from 'typebox'
import { findGrants } from '#catalogue/catalogue.ts'
import { findUser, SubscriptionStatus } from '#identity/users.ts'
import { DAY_MS, plus, SECOND_MS } from '#platform/clock.ts'
import { Instant, Nullable } from '#platform/http/schema.ts'
import { inUnits } from '#platform/money.ts'
import { unauthenticated } from '#platform/problems.ts'
import { type Account, findAccount, isAwaitingCheckout } from './accounts.ts'
import { type Deal, listDeals, readPrices } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { withTimeout } from './processor.ts'
import type { Prices } from './subscription-state.ts'
import { syncUser } from './sync.ts'
import { isTrialAvailable } from './trials.ts'

export const SubscriptionView = Type.Object(
  {
    status: SubscriptionStatus,
    tier: Type.String(),
    processor_customer_id: Nullable(Type.String()),
    price_id: Nullable(Type.String()),
    current_period_end: Nullable(Instant),
    cancel_at_period_end: Type.Boolean(),
    processor_status: Nullable(
      Type.String({
        description:
          'The processor’s status, such as `paused`, `unpaid` or, before the first payment, `incomplete`; null without a subscription',
      }),
    ),
    payment_status: Nullable(
      Type.String({
        description:
          'The processor’s status of the missing payment: `requires_action` when the bank requires a confirmation, `processing` while it is in progress; null when none is missing',
      }),
    ),
    subscribed_tier: Nullable(
      Type.String({
        description: 'The subscribed plan, also while a pause or a missing payment keeps it closed',
      }),
    ),
    pending_checkout: Nullable(
      Type.Object(
        {
          price_id: Type.String(),
          tier: Nullable(Type.String()),
          payment_status: Type.String(),
          replaces: Type.Boolean({
            description:
              'True when its payment replaces the running plan. False when it is the older one, which is credited if it is paid',
          }),
        },
        {
          title: 'PendingCheckout',
          description: 'A second checkout that waits for its first payment while a plan runs',
        },
      ),
    ),
    entitlements: Type.Array(Type.String(), { description: 'Entitlements of the plan' }),
    amount: Nullable(
      Type.Number({
        description:
          'Price of the next period, in units of the currency, before discounts and taxes',
      }),
    ),
    currency: Nullable(Type.String()),
    interval: Nullable(Type.String()),
    trial_ends_at: Nullable(Instant),
    trial_available: Type.Boolean({
      description: 'True when a checkout starts with the trial of its plan, if it has one',
    }),
    open_until: Nullable(Instant),
    next_price_id: Nullable(Type.String({ description: 'The price that follows this period' })),
    next_tier: Nullable(Type.String()),
    pauses_at: Nullable(Instant),
    card: Nullable(
      Type.Object(
        { last4: Nullable(Type.String()), expires_at: Nullable(Instant) },
        { title: 'KeptCard' },
      ),
    ),
    deal: Nullable(
      Type.Object(
        {
          price_id: Type.String(),
          tier: Type.String(),
          amount: Type.Number(),
          currency: Type.String(),
          interval: Type.String(),
        },
        { title: 'Deal', description: 'A price for this customer alone' },
      ),
    ),
    offers_by_mail: Type.Boolean(),
  },
  { title: 'Subscription' },
)
export type SubscriptionView = Static<typeof SubscriptionView>

/** Minimum interval between reads of the processor for a user whose page polls for its payment. */
const ASK_EVERY_MS = 2 * SECOND_MS

/** How long the page waits for the processor before it shows the saved state. */
const CATCH_UP_MS = 3_000

export async function viewSubscription(
  deps: BillingDeps,
  userId: string,
): Promise<SubscriptionView> {
  await catchUpAfterCheckout(deps, userId)
  const user = await findUser(deps.db, userId)
  if (!user) throw unauthenticated()
  const account = await findAccount(deps.db, userId)
  const live = user.subscription_status === 'active' || user.subscription_status === 'past_due'
  const running = live ? account : null
  const [deal] = await listDeals(deps.db, userId)
  const prices = await readPrices(deps, deps.db, userId)
  return {
    status: user.subscription_status,
    tier: user.subscription_tier,
    processor_customer_id: user.processor_customer_id,
    price_id: running?.price_id ?? null,
    current_period_end: running?.period_end_at ?? null,
    cancel_at_period_end: running?.is_cancel_at_period_end ?? false,
    processor_status: running?.processor_status ?? (account?.payment_status ? 'incomplete' : null),
    payment_status: account?.payment_status ?? null,
    subscribed_tier: running?.granted_tier ?? null,
    pending_checkout: viewPendingCheckout(running, prices),
    entitlements: [...findGrants(deps.config.catalogue, user.subscription_tier)],
    ...viewCost(running),
    trial_ends_at: running?.trial_end_at ?? null,
    trial_available: deps.config.catalogue.plans.some(({ trialDays }) => trialDays > 0)
      ? await isTrialAvailable(deps, { user, account })
      : false,
    open_until: computeClosingTime(deps, running),
    next_price_id: running?.next_price_id ?? null,
    next_tier: prices.get(running?.next_price_id ?? '')?.tier ?? null,
    pauses_at: running?.pauses_at ?? null,
    card: running?.card_last4
      ? { last4: running.card_last4, expires_at: running.card_expires_at }
      : null,
    deal: deal && deal.price_id !== running?.price_id ? viewDeal(deal) : null,
    offers_by_mail: account?.offers_at != null,
  }
}

/** Returns when the plan closes unless the missing payment arrives. */
function computeClosingTime(
  { config }: Pick<BillingDeps, 'config'>,
  running: Account | null,
): string | null {
  if (!running?.past_due_at || running.is_grace_over || running.processor_status !== 'past_due')
    return null
  return plus(running.past_due_at, config.pastDueGraceDays * DAY_MS)
}

function viewPendingCheckout(
  running: Account | null,
  prices: Prices,
): SubscriptionView['pending_checkout'] {
  const { pending_price_id: id, pending_payment_status: payment_status } = running ?? {}
  if (!running || !id || !payment_status) return null
  return {
    price_id: id,
    tier: prices.get(id)?.tier ?? null,
    payment_status,
    replaces: running.is_pending_newer,
  }
}

function viewCost(
  running: Account | null,
): Pick<SubscriptionView, 'amount' | 'currency' | 'interval'> {
  const { price_cents: cents = null, currency = null, interval = null } = running ?? {}
  return {
    amount: cents === null || currency === null ? null : inUnits(cents, currency),
    currency,
    interval,
  }
}

function viewDeal({ price_id, tier, interval, amount_cents, currency }: Deal) {
  return { price_id, tier, interval, currency, amount: inUnits(amount_cents, currency) }
}

/** The customer may return from the checkout before the processor's event arrives. */
async function catchUpAfterCheckout(deps: BillingDeps, userId: string): Promise<void> {
  const account = await findAccount(deps.db, userId)
  const now = deps.clock.now()
  if (!deps.processor || !account || !isAwaitingCheckout(account, now)) return
  if (account.synced_at !== null && plus(account.synced_at, ASK_EVERY_MS) > now) return
  try {
    await withTimeout(syncUser(deps, userId), CATCH_UP_MS)
  } catch (error) {
    deps.log.warn({ err: error, userId }, 'the processor could not be read after a checkout')
  }
}
