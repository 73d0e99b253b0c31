/** One customer as superusers read them: account, subscription, margin, usage, keys and sessions. */
import { type Static, Type } from 'typebox'
import { listKeys } from '#api-keys/keys.ts'
import { listSubscriptionPayments, readCustomerSubscription } from '#billing/money/customer.ts'
import { type Revenue, sumCustomerRevenue } from '#billing/money/revenue.ts'
import type { Identity } from '#identity/identity.ts'
import { identityProblem } from '#identity/problems.ts'
import { findUser, UserView } from '#identity/users.ts'
import { DAY_MS, plus } from '#platform/clock.ts'
import { Instant, Named, Nullable } from '#platform/http/schema.ts'
import { inUnits } from '#platform/money.ts'
import type { Platform } from '#platform/platform.ts'
import { readSpan } from '#usage/span.ts'
import { sumUsage } from '#usage/store.ts'

export const ListedUser = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    full_name: Nullable(Type.String()),
    is_active: Type.Boolean(),
    is_verified: Type.Boolean(),
    is_superuser: Type.Boolean(),
    subscription_status: UserView.properties.subscription_status,
    subscription_tier: Type.String(),
    tier_override: Nullable(Type.String()),
    tier_override_until: Nullable(Instant),
    created_at: Instant,
    last_login_at: Nullable(Instant),
  },
  { title: 'AdminUser' },
)

const Cents = Type.Integer({ description: 'In minor units of the currency' })

const Subscription = Type.Object(
  {
    id: Type.String({ description: 'The id at the processor' }),
    tier: Nullable(Type.String()),
    processor_status: Nullable(Type.String()),
    price_cents: Nullable(Cents),
    currency: Nullable(Type.String()),
    interval: Nullable(Type.String()),
    mrr: Nullable(
      Type.Object(
        { cents: Cents, currency: Type.String() },
        {
          title: 'MonthlyRevenue',
          description: 'The price of a month, before discounts and taxes; null unless it is paid',
        },
      ),
    ),
    started_at: Nullable(Instant),
    period_end_at: Nullable(Instant),
    trial_end_at: Nullable(Instant),
    past_due_at: Nullable(Instant),
    payment_error: Nullable(Type.String()),
    is_cancel_at_period_end: Type.Boolean(),
    ended_at: Nullable(Instant),
    card_last4: Nullable(Type.String()),
    card_expires_at: Nullable(Instant),
  },
  { title: 'CustomerSubscription' },
)

export const CustomerView = Named(
  'Customer',
  Type.Object({
    ...ListedUser.properties,
    subscription: Nullable(Subscription),
    margin_30d: Type.Object(
      {
        revenue: Type.Array(
          Type.Object({ cents: Cents, currency: Type.String() }, { title: 'CustomerRevenue' }),
          { description: 'Payments less refunds, lost disputes, fees and taxes' },
        ),
        cost_usd: Type.Number({ description: 'Of the models, from the price list' }),
        margin_usd: Nullable(Type.Number({ description: 'Null with revenue in other currencies' })),
      },
      { title: 'CustomerMargin', description: 'Of the last 30 days' },
    ),
    payments: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The id at the processor' }),
          amount_cents: Cents,
          refunded_cents: Cents,
          currency: Type.String(),
          tier: Nullable(Type.String()),
          invoice: Nullable(Type.String()),
          dispute: Nullable(Type.String()),
          paid_at: Instant,
        },
        { title: 'CustomerPayment' },
      ),
      { description: 'The newest payments of subscriptions' },
    ),
    usage_30d: Type.Object(
      {
        requests: Type.Integer(),
        failed: Type.Integer(),
        tokens: Type.Integer(),
        days: Type.Array(
          Type.Object(
            { day: Type.String(), requests: Type.Integer(), cost_usd: Type.Number() },
            { title: 'CustomerDay' },
          ),
        ),
      },
      { title: 'CustomerUsage' },
    ),
    keys: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          name: Type.String(),
          key_prefix: Type.String(),
          is_active: Type.Boolean(),
          created_at: Instant,
          last_used_at: Nullable(Instant),
          expires_at: Nullable(Instant),
        },
        { title: 'CustomerKey' },
      ),
    ),
    sessions: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          user_agent: Nullable(Type.String()),
          ip_address: Nullable(Type.String()),
          created_at: Instant,
          last_used_at: Instant,
        },
        { title: 'CustomerSession' },
      ),
    ),
  }),
)
export type CustomerView = Static<typeof CustomerView>

export type CustomerDeps = Pick<Platform, 'db' | 'clock'> & { identity: Identity }

const MARGIN_DAYS = 30
const GROUPS_MAX = 100

/** @throws Problem 404 */
export async function readCustomer(
  { db, clock, identity }: CustomerDeps,
  userId: string,
): Promise<CustomerView> {
  const user = await findUser(db, userId)
  if (!user) throw identityProblem('user_not_found')
  const span = readSpan(clock, {})
  const month = { from: plus(clock.now(), -MARGIN_DAYS * DAY_MS), before: plus(clock.now(), 1) }
  const scope = { userId, keyId: null }
  const [subscription, revenue, payments, days, outcomes, keys, sessions] = await Promise.all([
    readCustomerSubscription(db, userId),
    sumCustomerRevenue(db, userId, month),
    listSubscriptionPayments(db, userId),
    sumUsage(db, scope, span, 'day', GROUPS_MAX),
    sumUsage(db, scope, span, 'outcome', GROUPS_MAX),
    listKeys({ db }, userId),
    identity.listSessions(userId),
  ])
  const costUsd = days.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0) / 1e9
  return {
    ...user,
    subscription,
    margin_30d: computeMargin(revenue, costUsd),
    payments,
    usage_30d: {
      requests: outcomes.reduce((sum, { requests }) => sum + requests, 0),
      failed: outcomes.find(({ key }) => key === 'failed')?.requests ?? 0,
      tokens: outcomes.reduce((sum, use) => sum + use.prompt_tokens + use.completion_tokens, 0),
      days: days.map(({ key, requests, cost_nanos }) => ({
        day: key,
        requests,
        cost_usd: cost_nanos / 1e9,
      })),
    },
    keys,
    sessions,
  }
}

/** A margin needs one currency, and vendors charge in dollars. */
function computeMargin(sums: readonly Revenue[], costUsd: number): CustomerView['margin_30d'] {
  const revenue = sums.map(({ paid_cents, refunded_cents, lost_cents, fee_cents, currency }) => ({
    cents: paid_cents - refunded_cents - lost_cents - fee_cents,
    currency,
  }))
  const isInDollars = revenue.every(({ currency }) => currency === 'usd')
  const revenueUsd = inUnits(revenue[0]?.cents ?? 0, 'usd')
  return { revenue, cost_usd: costUsd, margin_usd: isInDollars ? revenueUsd - costUsd : null }
}
