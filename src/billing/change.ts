/**
 * A change of plan: to more at once, billed at once; to less when the paid period is over, without credit. One trap: credit for an hour of a
 * large plan would sell its allowance for nothing, so nothing that was paid for a smaller plan to come is given back.
 */
import type { Stripe } from 'stripe'
import { type Static, Type } from 'typebox'
import type { Interval, Tier } from '#catalogue/catalogue.ts'
import { DAY_MS, MINUTE_MS } from '#platform/clock.ts'
import { Instant, Nullable } from '#platform/http/schema.ts'
import { inUnits } from '#platform/money.ts'
import { findAccount, instantOf } from './accounts.ts'
import { pricesFor } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { keepInvoicesOf } from './money/invoices.ts'
import { at, listOf, number, text } from './object-reader.ts'
import { billingProblem } from './problems.ts'
import { asking, requireProcessor, unlessRefused } from './processor.ts'
import { runningSubscription } from './running.ts'
import { factsOf, PAID_PRICE, PAID_UNTIL } from './subscription-facts.ts'
import { rankOf } from './subscription-state.ts'
import { syncUser } from './sync.ts'

export const ChangePreview = Type.Object(
  {
    price_id: Type.String(),
    tier: Type.String(),
    takes_effect: Instant,
    due_now: Type.Number({
      description: 'In units of the currency, with taxes, after what is credited',
    }),
    currency: Type.String(),
    lines: Type.Array(
      Type.Object(
        { description: Nullable(Type.String()), amount: Type.Number() },
        { title: 'ChangeLine' },
      ),
      { description: 'What is due now, line by line' },
    ),
    due_later: Nullable(
      Type.Number({
        description: 'What each period costs from then on, before discounts and taxes',
      }),
    ),
    due_later_at: Nullable(Instant),
    interval: Type.String(),
    proration_at: Type.Integer({
      description: 'Unix seconds; to be sent with the change, so that it costs what was shown',
    }),
  },
  { title: 'ChangePreview' },
)
export type ChangePreview = Static<typeof ChangePreview>

/** `now`: billed at once. `trial`: while nothing is paid yet. `later`: when the period is over. `back`: what was to come later is not. */
type Change = {
  kind: 'now' | 'trial' | 'later' | 'back'
  subscription: Stripe.Subscription
  item: Stripe.SubscriptionItem
  /** What the running period was paid for. */
  paidPriceId: string
  tier: Tier
  interval: Interval
  /** The target plan gives no trial: the running one ends. */
  endsTrial: boolean
}

type ChangeWish = { priceId: string; prorationAt: number }

/** How long a preview may be looked at. What it names is counted from its moment, so an old or future one would be cheaper. */
const PREVIEW_MS = 15 * MINUTE_MS
const SKEW_S = 60

/** @throws Problem 400 `Unknown price`, 409 where there is nothing to change, or not now. */
export async function previewChange(
  deps: BillingDeps,
  userId: string,
  priceId: string,
): Promise<ChangePreview> {
  const processor = requireProcessor(deps.processor)
  const change = await asking(planChange(deps, userId, priceId))
  const { subscription, item, kind } = change
  const prorationAt = Math.floor(deps.clock.ms() / 1000)
  const [price, invoice] = await asking(
    Promise.all([
      processor.prices.retrieve(priceId),
      kind === 'now'
        ? processor.invoices.createPreview({
            subscription: subscription.id,
            subscription_details: {
              items: [{ id: item.id, price: priceId }],
              ...billedAt(change, prorationAt),
            },
          })
        : null,
    ]),
  )
  const { currency } = price
  const end = instantOf(item.current_period_end)
  const isNewPeriod = change.endsTrial || change.interval !== item.price.recurring?.interval
  return {
    price_id: priceId,
    tier: change.tier,
    takes_effect: kind === 'later' ? end : instantOf(prorationAt),
    due_now: inUnits(Math.max(invoice?.amount_due ?? 0, 0), currency),
    currency,
    lines: listOf(at(invoice, 'lines')).map((line) => ({
      description: text(line, 'description'),
      amount: inUnits(number(line, 'amount') ?? 0, currency),
    })),
    due_later:
      price.unit_amount === null
        ? null
        : inUnits(price.unit_amount * (item.quantity ?? 1), currency),
    due_later_at: kind === 'now' && isNewPeriod ? afterInterval(prorationAt, change.interval) : end,
    interval: change.interval,
    proration_at: prorationAt,
  }
}

/** @throws Problem as the preview; 402 when the payment is refused, and 409 `preview_outdated`. */
export async function changePlan(
  deps: BillingDeps,
  userId: string,
  { priceId, prorationAt }: ChangeWish,
): Promise<void> {
  const nowS = deps.clock.ms() / 1000
  if (prorationAt > nowS + SKEW_S || prorationAt < nowS - PREVIEW_MS / 1000)
    throw billingProblem('preview_outdated')
  const { subscriptions } = requireProcessor(deps.processor)
  const change = await asking(planChange(deps, userId, priceId))
  const { subscription, item, kind } = change
  const items = [{ id: item.id, price: priceId }]
  const kept =
    kind === 'later'
      ? { price: change.paidPriceId, until: String(item.current_period_end) }
      : { price: '', until: '' }
  await asking(
    unlessRefused(
      subscriptions.update(
        subscription.id,
        {
          items,
          metadata: { [PAID_PRICE]: kept.price, [PAID_UNTIL]: kept.until },
          ...(kind === 'now'
            ? { ...billedAt(change, prorationAt), payment_behavior: 'error_if_incomplete' as const }
            : { proration_behavior: 'none' as const }),
        },
        onceFor(change, { priceId, prorationAt }),
      ),
    ),
  )
  // The invoice's event can arrive after the customer's next look at their invoices and allowance.
  if (kind === 'now') await keepInvoicesOf(deps, subscription.id)
  await syncUser(deps, userId)
}

/**
 * Of two presses of one button the second finds the price there, and bills nothing; but a trial's end would bill each of them, so they share
 * a key. It goes with the preview: whoever was refused looks again, and has another.
 */
const onceFor = ({ endsTrial, subscription }: Change, { priceId, prorationAt }: ChangeWish) =>
  endsTrial ? { idempotencyKey: `end-trial:${subscription.id}:${priceId}:${prorationAt}` } : {}

/** A trial that ends now is billed whole: there is nothing to count off. */
const billedAt = ({ endsTrial }: Change, at: number) =>
  endsTrial
    ? { proration_behavior: 'none' as const, trial_end: 'now' as const }
    : { proration_behavior: 'always_invoice' as const, proration_date: at }

async function planChange(deps: BillingDeps, userId: string, priceId: string): Promise<Change> {
  const prices = await pricesFor(deps, deps.db, userId)
  const target = prices.get(priceId)
  if (!target) throw billingProblem('unknown_price')
  const subscription = await runningSubscription(deps, userId)
  const facts = factsOf(subscription)
  if (facts.status === 'past_due' || facts.status === 'unpaid') throw billingProblem('payment_due')
  if (facts.status === 'paused') throw billingProblem('subscription_paused')
  const [item] = subscription.items.data
  if (!item) throw billingProblem('no_subscription')

  if (facts.cancelAtPeriodEnd) throw billingProblem('subscription_ending')
  // The processor voids invoices from the request on: a larger plan would cost nothing.
  if (facts.details?.pausesAt != null) throw billingProblem('subscription_pausing')
  const paidPriceId = facts.priceIds[0] ?? item.price.id
  const isPending = facts.details?.nextPriceId != null
  if (item.price.id === priceId) throw billingProblem('same_plan')
  const change = { subscription, item, paidPriceId, ...target, endsTrial: false }
  if (isPending && priceId === paidPriceId) return { ...change, kind: 'back' }
  if (subscription.status === 'trialing') {
    const gives =
      deps.config.catalogue.plans.find(({ tier }) => tier === target.tier)?.trialDays ?? 0
    return gives > 0 ? { ...change, kind: 'trial' } : { ...change, kind: 'now', endsTrial: true }
  }
  // A price that the catalogue names no more keeps the tier that it had.
  const paidTier =
    prices.get(paidPriceId)?.tier ?? (await findAccount(deps.db, userId))?.granted_tier ?? null
  const from = { tier: paidTier, interval: item.price.recurring?.interval }
  const kind = kindOf(deps, { from, target })
  if (isPending && kind === 'now') throw billingProblem('change_pending')
  return { ...change, kind }
}

function kindOf(
  { config }: BillingDeps,
  {
    from,
    target,
  }: {
    from: { tier: Tier | null; interval: string | undefined }
    target: { tier: Tier; interval: Interval }
  },
): 'now' | 'later' {
  const more = rankOf(config, target.tier) - rankOf(config, from.tier)
  if (more > 0) return 'now'
  if (target.interval === from.interval) return 'later'
  if (from.interval === 'year') throw billingProblem('shorter_interval')
  // Another interval begins a period at once, with credit for the one that runs.
  if (more < 0) throw billingProblem('smaller_longer')
  return 'now'
}

/** As the processor counts: the 31st of January is followed by the last of February. */
function afterInterval(atS: number, interval: Interval): string {
  const from = new Date(atS * 1000)
  const to = new Date(from)
  to.setUTCMonth(from.getUTCMonth() + (interval === 'year' ? 12 : 1))
  if (to.getUTCDate() < from.getUTCDate()) to.setTime(to.getTime() - to.getUTCDate() * DAY_MS)
  return to.toISOString()
}
