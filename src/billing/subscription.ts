/** What the caller has subscribed to, as the account page shows it. */
import { type Static, Type } from 'typebox'
import { findGrants } from '#catalogue/catalogue.ts'
import { findUser, SubscriptionStatus } from '#identity/users.ts'
import { DAY_MS, plus, SECOND_MS } from '#platform/clock.ts'
import { Instant, Nullable } from '#platform/http/schema.ts'
import { inUnits } from '#platform/money.ts'
import { unauthenticated } from '#platform/problems.ts'
import { type Account, awaitsCheckout, findAccount } from './accounts.ts'
import { type Deal, dealsOf, pricesFor } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { withinPatience } from './processor.ts'
import type { Prices } from './subscription-state.ts'
import { syncUser } from './sync.ts'
import { mayTry } from './trials.ts'

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
          'The processor’s own word, as `paused`, `unpaid` or, before the first payment, `incomplete`; null when nothing runs',
      }),
    ),
    payment_status: Nullable(
      Type.String({
        description:
          'Of the payment that is missing, in the processor’s word: `requires_action` where the bank asks to confirm it, `processing` while it is under way; null when none is missing',
      }),
    ),
    subscribed_tier: Nullable(
      Type.String({
        description:
          'What is subscribed to, also while a pause or a missing payment keeps it closed',
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
              'When it is paid, it takes the place of the plan that runs; else it is the older one, which is credited if it is paid all the same',
          }),
        },
        {
          title: 'PendingCheckout',
          description:
            'Another checkout, whose first payment is missing, beside the plan that runs',
        },
      ),
    ),
    entitlements: Type.Array(Type.String(), { description: 'What the plan grants' }),
    amount: Nullable(
      Type.Number({
        description:
          'What the next period costs, in units of the currency, before discounts and taxes',
      }),
    ),
    currency: Nullable(Type.String()),
    interval: Nullable(Type.String()),
    trial_ends_at: Nullable(Instant),
    trial_available: Type.Boolean({
      description: 'A checkout begins with the trial of its plan, where it has one',
    }),
    open_until: Nullable(Instant),
    next_price_id: Nullable(Type.String({ description: 'What follows when this period is over' })),
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

/** A page that waits for its payment asks often; the processor is asked no more than this often for one user. */
const ASK_EVERY_MS = 2 * SECOND_MS

/** What is known is shown if the processor is slower. */
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
  const [deal] = await dealsOf(deps.db, userId)
  const prices = await pricesFor(deps, deps.db, userId)
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
    pending_checkout: pendingOf(running, prices),
    entitlements: [...findGrants(deps.config.catalogue, user.subscription_tier)],
    ...costOf(running),
    trial_ends_at: running?.trial_end_at ?? null,
    trial_available: deps.config.catalogue.plans.some(({ trialDays }) => trialDays > 0)
      ? await mayTry(deps, { user, account })
      : false,
    open_until: openUntil(deps, running),
    next_price_id: running?.next_price_id ?? null,
    next_tier: prices.get(running?.next_price_id ?? '')?.tier ?? null,
    pauses_at: running?.pauses_at ?? null,
    card: running?.card_last4
      ? { last4: running.card_last4, expires_at: running.card_expires_at }
      : null,
    deal: deal && deal.price_id !== running?.price_id ? shownDeal(deal) : null,
    offers_by_mail: account?.offers_at != null,
  }
}

/** A payment is missing: when the plan closes without it. */
function openUntil(
  { config }: Pick<BillingDeps, 'config'>,
  running: Account | null,
): string | null {
  if (!running?.past_due_at || running.is_grace_over || running.processor_status !== 'past_due')
    return null
  return plus(running.past_due_at, config.pastDueGraceDays * DAY_MS)
}

function pendingOf(running: Account | null, prices: Prices): SubscriptionView['pending_checkout'] {
  const { pending_price_id: id, pending_payment_status: payment_status } = running ?? {}
  if (!running || !id || !payment_status) return null
  return {
    price_id: id,
    tier: prices.get(id)?.tier ?? null,
    payment_status,
    replaces: running.is_pending_newer,
  }
}

function costOf(
  running: Account | null,
): Pick<SubscriptionView, 'amount' | 'currency' | 'interval'> {
  const { price_cents: cents = null, currency = null, interval = null } = running ?? {}
  return {
    amount: cents === null || currency === null ? null : inUnits(cents, currency),
    currency,
    interval,
  }
}

function shownDeal({ price_id, tier, interval, amount_cents, currency }: Deal) {
  return { price_id, tier, interval, currency, amount: inUnits(amount_cents, currency) }
}

/** The way back from the checkout may be quicker than the processor's event. */
async function catchUpAfterCheckout(deps: BillingDeps, userId: string): Promise<void> {
  const account = await findAccount(deps.db, userId)
  const now = deps.clock.now()
  if (!deps.processor || !account || !awaitsCheckout(account, now)) return
  if (account.synced_at !== null && plus(account.synced_at, ASK_EVERY_MS) > now) return
  try {
    await withinPatience(syncUser(deps, userId), CATCH_UP_MS)
  } catch (error) {
    deps.log.warn({ err: error, userId }, 'the processor could not be asked after a checkout')
  }
}
