/** Combines a customer's subscriptions into one status and one tier. Pure. */
import type { Stripe } from 'stripe'
import { FREE, type Tier } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'

export type SubscriptionStatus = 'free' | 'active' | 'cancelled' | 'past_due'
export type Prices = Config['processor']['prices']

/** The fields of a subscription that decide. Times are Unix seconds. */
export type SubscriptionFacts = {
  id: string
  customerId: string | null
  /** Our user id, if our checkout started it. */
  userId: string | null
  /** The processor's status, such as `trialing`. */
  status: string
  created: number
  priceIds: readonly string[]
  periodEnd: number | null
  cancelAtPeriodEnd: boolean
  /** It began with a trial, which may be over. Unknown from an event alone. */
  hadTrial?: boolean
  /** The service had its invoices voided. Unknown from an event alone. */
  isSuspendedForDispute?: boolean
  /**
   * The processor's status of the missing payment; null when none is missing. Unknown from an
   * event.
   */
  paymentStatus?: string | null
  /** The reason for the failure, as shown to the payer. Unknown from an event. */
  paymentError?: string | null
  paymentDueCents?: number | null
  /** Invoices that are not saved yet. Unknown from an event. */
  unknownInvoices?: readonly Stripe.Invoice[]
  /** Unknown from an event. */
  details?: SubscriptionDetails
}

/** Details that decide nothing but are shown and emailed. */
export type SubscriptionDetails = {
  trialEnd: number | null
  /** Our checkout gave the trial as the person's first. */
  isFirstTrial: boolean
  /** The next period's price, before discounts and taxes. */
  priceCents: number | null
  currency: string | null
  interval: string | null
  nextPriceId: string | null
  /** Start of a requested pause. */
  pausesAt: number | null
  canceledAt: number | null
  endsAt: number | null
  endedAt: number | null
  feedback: string | null
  comment: string | null
  card: { fingerprint: string | null; last4: string | null; expiresAt: number | null } | null
}

/**
 * `tier` is the open tier; null when no plan has the price (any more), so the tier stays unchanged.
 */
export type SubscriptionState = {
  status: SubscriptionStatus
  tier: Tier | null
  subscription: SubscriptionFacts
}

type Meaning = { status: SubscriptionStatus; rank: number; isClosed?: true }

/** The highest rank decides between several subscriptions; `incomplete` is ignored. */
const MEANINGS: Record<string, Meaning> = {
  active: { status: 'active', rank: 4 },
  trialing: { status: 'active', rank: 4 },
  past_due: { status: 'past_due', rank: 3 },
  unpaid: { status: 'past_due', rank: 2, isClosed: true },
  paused: { status: 'past_due', rank: 2, isClosed: true },
  canceled: { status: 'cancelled', rank: 1, isClosed: true },
  incomplete_expired: { status: 'cancelled', rank: 1, isClosed: true },
}

/** Returns null without a subscription that has begun. */
export function combineSubscriptions(
  subscriptions: readonly SubscriptionFacts[],
  prices: Prices,
): SubscriptionState | null {
  const computeRank = ({ status }: SubscriptionFacts) => MEANINGS[status]?.rank ?? 0
  const [best] = [...subscriptions].sort(
    (a, b) => computeRank(b) - computeRank(a) || compareNewest(a, b),
  )
  return best ? computeState(best, prices) : null
}

/** Returns the state of one subscription; null while it has not begun. */
export function computeState(
  subscription: SubscriptionFacts,
  prices: Prices,
): SubscriptionState | null {
  const meaning = MEANINGS[subscription.status]
  if (!meaning) return null
  const tier = meaning.isClosed ? FREE : findTier(subscription.priceIds, prices)
  return { status: meaning.status, tier, subscription }
}

/** A total order, so that every caller chooses the same of two subscriptions. */
export function compareNewest(a: SubscriptionFacts, b: SubscriptionFacts): number {
  return b.created - a.created || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

/**
 * Returns the newest paid (or trialing) subscription to our plans and the older live ones, which
 * are redundant. Null when there is nothing to end.
 */
export function findDuplicates(
  subscriptions: readonly SubscriptionFacts[],
  resolveTier: (subscription: SubscriptionFacts) => Tier | null,
): { newest: SubscriptionFacts; older: SubscriptionFacts[] } | null {
  const [newest, ...older] = subscriptions
    .filter((subscription) => isLive(subscription) && resolveTier(subscription) !== null)
    .sort(compareNewest)
  return newest && older.length > 0 && mapStatus(newest.status) === 'active'
    ? { newest, older }
    : null
}

/**
 * Returns the highest tier among the prices; null when none is known. `prices` is in the
 * catalogue's order, deals included.
 */
export function findTier(priceIds: readonly string[], prices: Prices): Tier | null {
  return [...prices].findLast(([id]) => priceIds.includes(id))?.[1].tier ?? null
}

/** Returns the position in the catalogue, where each plan is larger than those before it. */
export const rankTier = ({ catalogue }: Pick<Config, 'catalogue'>, tier: Tier | null): number =>
  catalogue.plans.findIndex((plan) => plan.tier === tier)

export const isLive = ({ status }: Pick<SubscriptionFacts, 'status'>): boolean =>
  (MEANINGS[status]?.rank ?? 0) >= 2

/** Maps the processor's status to ours; null for `incomplete` and unknown ones. */
export const mapStatus = (word: string): SubscriptionStatus | null => MEANINGS[word]?.status ?? null
