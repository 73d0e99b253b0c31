/**
 * Changes of plan. An upgrade takes effect and is billed at once; a downgrade waits for the end of
 * the paid period, without credit. Trap: credit for an unused hour of a large plan would give away
 * its allowance, so nothing paid is refunded for a smaller plan.
 */
import type { Stripe } from 'stripe'
import { type Static, Type } from 'typebox'
import type { Interval, Tier } from '#catalogue/catalogue.ts'
import { DAY_MS, MINUTE_MS } from '#platform/clock.ts'
import { Instant, Nullable } from '#platform/http/schema.ts'
import { inUnits } from '#platform/money.ts'
import { findAccount, toInstant } from './accounts.ts'
import { readPrices } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { saveSubscriptionInvoices } from './money/invoices.ts'
import { readField, readList, readNumber, readText } from './object-reader.ts'
import { billingProblem } from './problems.ts'
import { mapProcessorErrors, mapRefusals, requireProcessor } from './processor.ts'
import { requireRunningSubscription } from './running.ts'
import { PAID_PRICE, PAID_UNTIL, readFacts } from './subscription-facts.ts'
import { rankTier } from './subscription-state.ts'
import { syncUser } from './sync.ts'

export const ChangePreview = Type.Object(
  {
    price_id: Type.String(),
    tier: Type.String(),
    takes_effect: Instant,
    due_now: Type.Number({
      description: 'In units of the currency, with taxes, after credits',
    }),
    currency: Type.String(),
    lines: Type.Array(
      Type.Object(
        { description: Nullable(Type.String()), amount: Type.Number() },
        { title: 'ChangeLine' },
      ),
      { description: 'The items that are due now' },
    ),
    due_later: Nullable(
      Type.Number({
        description: 'Price of each later period, before discounts and taxes',
      }),
    ),
    due_later_at: Nullable(Instant),
    interval: Type.String(),
    proration_at: Type.Integer({
      description:
        'Unix seconds. Send it with the change, so that the change costs what the preview showed',
    }),
  },
  { title: 'ChangePreview' },
)
export type ChangePreview = Static<typeof ChangePreview>

/**
 * `now`: billed at once. `trial`: nothing is paid yet. `later`: at the end of the period. `back`:
 * withdraws a pending downgrade.
 */
type Change = {
  kind: 'now' | 'trial' | 'later' | 'back'
  subscription: Stripe.Subscription
  item: Stripe.SubscriptionItem
  /** The price that the current period was paid for. */
  paidPriceId: string
  tier: Tier
  interval: Interval
  /** The target plan has no trial, so the running trial ends. */
  endsTrial: boolean
}

export type ChangeRequest = { priceId: string; prorationAt: number }

/**
 * How long a preview is valid. Proration counts from its timestamp, so an old or future one would
 * be cheaper.
 */
const PREVIEW_MS = 15 * MINUTE_MS
const SKEW_S = 60

/**
 * Returns the cost of a change.
 * @throws Problem 400 `Unknown price`; 409 when there is nothing to change, or not now.
 */
export async function previewChange(
  deps: BillingDeps,
  userId: string,
  priceId: string,
): Promise<ChangePreview> {
  const processor = requireProcessor(deps.processor)
  const change = await mapProcessorErrors(planChange(deps, userId, priceId))
  const { subscription, item, kind } = change
  const prorationAt = Math.floor(deps.clock.ms() / 1000)
  const [price, invoice] = await mapProcessorErrors(
    Promise.all([
      processor.prices.retrieve(priceId),
      kind === 'now'
        ? processor.invoices.createPreview({
            subscription: subscription.id,
            subscription_details: {
              items: [{ id: item.id, price: priceId }],
              ...buildProration(change, prorationAt),
            },
          })
        : null,
    ]),
  )
  const { currency } = price
  const end = toInstant(item.current_period_end)
  const isNewPeriod = change.endsTrial || change.interval !== item.price.recurring?.interval
  return {
    price_id: priceId,
    tier: change.tier,
    takes_effect: kind === 'later' ? end : toInstant(prorationAt),
    due_now: inUnits(Math.max(invoice?.amount_due ?? 0, 0), currency),
    currency,
    lines: readList(readField(invoice, 'lines')).map((line) => ({
      description: readText(line, 'description'),
      amount: inUnits(readNumber(line, 'amount') ?? 0, currency),
    })),
    due_later:
      price.unit_amount === null
        ? null
        : inUnits(price.unit_amount * (item.quantity ?? 1), currency),
    due_later_at: kind === 'now' && isNewPeriod ? addInterval(prorationAt, change.interval) : end,
    interval: change.interval,
    proration_at: prorationAt,
  }
}

/**
 * Changes the plan.
 * @throws Problem as `previewChange`; 402 when the payment is refused; 409 `preview_outdated`.
 */
export async function changePlan(
  deps: BillingDeps,
  userId: string,
  { priceId, prorationAt }: ChangeRequest,
): Promise<void> {
  const nowS = deps.clock.ms() / 1000
  if (prorationAt > nowS + SKEW_S || prorationAt < nowS - PREVIEW_MS / 1000)
    throw billingProblem('preview_outdated')
  const { subscriptions } = requireProcessor(deps.processor)
  const change = await mapProcessorErrors(planChange(deps, userId, priceId))
  const { subscription, item, kind } = change
  const items = [{ id: item.id, price: priceId }]
  const paidPeriod =
    kind === 'later'
      ? { price: change.paidPriceId, until: String(item.current_period_end) }
      : { price: '', until: '' }
  await mapProcessorErrors(
    mapRefusals(
      subscriptions.update(
        subscription.id,
        {
          items,
          metadata: { [PAID_PRICE]: paidPeriod.price, [PAID_UNTIL]: paidPeriod.until },
          ...(kind === 'now'
            ? {
                ...buildProration(change, prorationAt),
                payment_behavior: 'error_if_incomplete' as const,
              }
            : { proration_behavior: 'none' as const }),
        },
        buildRequestOptions(change, { priceId, prorationAt }),
      ),
    ),
  )
  // The invoice's event can arrive after the customer's next look at their invoices and allowance.
  if (kind === 'now') await saveSubscriptionInvoices(deps, subscription.id)
  await syncUser(deps, userId)
}

/**
 * The second of two clicks finds the new price and bills nothing. Only the end of a trial would be
 * billed twice, so both clicks share a key. After a refusal, a new preview has a new key.
 */
const buildRequestOptions = (
  { endsTrial, subscription }: Change,
  { priceId, prorationAt }: ChangeRequest,
) => (endsTrial ? { idempotencyKey: `end-trial:${subscription.id}:${priceId}:${prorationAt}` } : {})

/** A trial that ends now is billed in full: there is nothing to prorate. */
const buildProration = ({ endsTrial }: Change, at: number) =>
  endsTrial
    ? { proration_behavior: 'none' as const, trial_end: 'now' as const }
    : { proration_behavior: 'always_invoice' as const, proration_date: at }

async function planChange(deps: BillingDeps, userId: string, priceId: string): Promise<Change> {
  const prices = await readPrices(deps, deps.db, userId)
  const target = prices.get(priceId)
  if (!target) throw billingProblem('unknown_price')
  const subscription = await requireRunningSubscription(deps, userId)
  const facts = readFacts(subscription)
  if (facts.status === 'past_due' || facts.status === 'unpaid') throw billingProblem('payment_due')
  if (facts.status === 'paused') throw billingProblem('subscription_paused')
  const [item] = subscription.items.data
  if (!item) throw billingProblem('no_subscription')

  if (facts.cancelAtPeriodEnd) throw billingProblem('subscription_ending')
  // After a pause is requested the processor voids invoices, so a larger plan would be free.
  if (facts.details?.pausesAt != null) throw billingProblem('subscription_pausing')
  const paidPriceId = facts.priceIds[0] ?? item.price.id
  const isPending = facts.details?.nextPriceId != null
  if (item.price.id === priceId) throw billingProblem('same_plan')
  const change = { subscription, item, paidPriceId, ...target, endsTrial: false }
  if (isPending && priceId === paidPriceId) return { ...change, kind: 'back' }
  if (subscription.status === 'trialing') {
    const trialDays =
      deps.config.catalogue.plans.find(({ tier }) => tier === target.tier)?.trialDays ?? 0
    return trialDays > 0
      ? { ...change, kind: 'trial' }
      : { ...change, kind: 'now', endsTrial: true }
  }
  // A price that left the catalogue keeps its tier.
  const paidTier =
    prices.get(paidPriceId)?.tier ?? (await findAccount(deps.db, userId))?.granted_tier ?? null
  const from = { tier: paidTier, interval: item.price.recurring?.interval }
  const kind = chooseKind(deps, { from, target })
  if (isPending && kind === 'now') throw billingProblem('change_pending')
  return { ...change, kind }
}

function chooseKind(
  { config }: BillingDeps,
  {
    from,
    target,
  }: {
    from: { tier: Tier | null; interval: string | undefined }
    target: { tier: Tier; interval: Interval }
  },
): 'now' | 'later' {
  const rankDifference = rankTier(config, target.tier) - rankTier(config, from.tier)
  if (rankDifference > 0) return 'now'
  if (target.interval === from.interval) return 'later'
  if (from.interval === 'year') throw billingProblem('shorter_interval')
  // A different interval starts a new period at once and credits the current one.
  if (rankDifference < 0) throw billingProblem('smaller_longer')
  return 'now'
}

/** As at the processor, one month after January 31 is the last day of February. */
function addInterval(atS: number, interval: Interval): string {
  const from = new Date(atS * 1000)
  const to = new Date(from)
  to.setUTCMonth(from.getUTCMonth() + (interval === 'year' ? 12 : 1))
  if (to.getUTCDate() < from.getUTCDate()) to.setTime(to.getTime() - to.getUTCDate() * DAY_MS)
  return to.toISOString()
}
