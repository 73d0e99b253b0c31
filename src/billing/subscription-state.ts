/** What a customer's subscriptions amount to: one status and one tier. Pure. */
import type { Stripe } from 'stripe'
import { FREE, type Tier } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'

export type SubscriptionStatus = 'free' | 'active' | 'cancelled' | 'past_due'
export type Prices = Config['processor']['prices']

/** The processor's subscription, reduced to what decides. Times are Unix seconds. */
export type SubscriptionFacts = {
  id: string
  customerId: string | null
  /** Our own user id, where a checkout of ours began it. */
  userId: string | null
  /** The processor's own word, as `trialing`. */
  status: string
  created: number
  priceIds: readonly string[]
  periodEnd: number | null
  cancelAtPeriodEnd: boolean
  /** It began with a trial, which may be over. An event alone does not say so. */
  hadTrial?: boolean
  /** The processor voids its invoices at our word. An event alone does not say so. */
  isSuspendedForDispute?: boolean
  /** Of the payment that it waits for, in the processor's words; null while none is missing. Not told by an event. */
  paymentStatus?: string | null
  /** Why that payment failed, for its payer, and what is due. Not told by an event. */
  paymentError?: string | null
  paymentDueCents?: number | null
  /** Not told by an event: what is not known here yet. */
  unknownInvoices?: readonly Stripe.Invoice[]
  /** Not told by an event. */
  details?: SubscriptionDetails
}

/** What decides nothing, and is shown and written about. */
export type SubscriptionDetails = {
  trialEnd: number | null
  /** A checkout of ours gave the trial, as the person's first. */
  isFirstTrial: boolean
  /** Of what is paid next, before discounts and taxes. */
  priceCents: number | null
  currency: string | null
  interval: string | null
  nextPriceId: string | null
  /** When a pause begins that was asked for. */
  pausesAt: number | null
  canceledAt: number | null
  endsAt: number | null
  endedAt: number | null
  feedback: string | null
  comment: string | null
  card: { fingerprint: string | null; last4: string | null; expiresAt: number | null } | null
}

/** `tier` is what is open now; null: the price is none of ours (any more), so the tier stays what it was. */
export type SubscriptionState = {
  status: SubscriptionStatus
  tier: Tier | null
  subscription: SubscriptionFacts
}

type Meaning = { status: SubscriptionStatus; rank: number; isClosed?: true }

/** A higher rank decides when a customer has several; `incomplete` says nothing yet. */
const MEANINGS: Record<string, Meaning> = {
  active: { status: 'active', rank: 4 },
  trialing: { status: 'active', rank: 4 },
  past_due: { status: 'past_due', rank: 3 },
  unpaid: { status: 'past_due', rank: 2, isClosed: true },
  paused: { status: 'past_due', rank: 2, isClosed: true },
  canceled: { status: 'cancelled', rank: 1, isClosed: true },
  incomplete_expired: { status: 'cancelled', rank: 1, isClosed: true },
}

/** Null when there is nothing to say: no subscription at all, or none that has begun. */
export function combineSubscriptions(
  subscriptions: readonly SubscriptionFacts[],
  prices: Prices,
): SubscriptionState | null {
  const weight = ({ status }: SubscriptionFacts) => MEANINGS[status]?.rank ?? 0
  const [best] = [...subscriptions].sort((a, b) => weight(b) - weight(a) || newestFirst(a, b))
  return best ? computeState(best, prices) : null
}

/** What one subscription amounts to; null while it says nothing. */
export function computeState(
  subscription: SubscriptionFacts,
  prices: Prices,
): SubscriptionState | null {
  const meaning = MEANINGS[subscription.status]
  if (!meaning) return null
  const tier = meaning.isClosed ? FREE : findTier(subscription.priceIds, prices)
  return { status: meaning.status, tier, subscription }
}

/** A total order, so that whoever decides between two subscriptions decides for the same one. */
export function newestFirst(a: SubscriptionFacts, b: SubscriptionFacts): number {
  return b.created - a.created || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

/**
 * Of several live subscriptions to our plans the newest stays, once it is paid (or on trial); the others are paid in vain.
 * Null when there is nothing to end.
 */
export function findDuplicates(
  subscriptions: readonly SubscriptionFacts[],
  resolveTier: (one: SubscriptionFacts) => Tier | null,
): { newest: SubscriptionFacts; older: SubscriptionFacts[] } | null {
  const [newest, ...older] = subscriptions
    .filter((one) => isLive(one) && resolveTier(one) !== null)
    .sort(newestFirst)
  return newest && older.length > 0 && mapStatus(newest.status) === 'active'
    ? { newest, older }
    : null
}

/** The highest tier among the prices, which is the last in the catalogue's order; null when none is known. Deals stand in that order, too. */
export function findTier(priceIds: readonly string[], prices: Prices): Tier | null {
  return [...prices].findLast(([id]) => priceIds.includes(id))?.[1].tier ?? null
}

/** A place in the catalogue's order, in which each plan is more than those before it. */
export const rankTier = ({ catalogue }: Pick<Config, 'catalogue'>, tier: Tier | null): number =>
  catalogue.plans.findIndex((plan) => plan.tier === tier)

export const isLive = ({ status }: Pick<SubscriptionFacts, 'status'>): boolean =>
  (MEANINGS[status]?.rank ?? 0) >= 2

/** One word of the processor as one of the four; null for `incomplete` and words not known yet. */
export const mapStatus = (word: string): SubscriptionStatus | null => MEANINGS[word]?.status ?? null
