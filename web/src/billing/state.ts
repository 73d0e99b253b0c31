/** What a page says of a subscription, and what can be done about it: one table for the billing page, the bar above all pages, and the tests. */
import type { Subscription } from '../api/types.ts'
import { formatDay, formatMoney } from '../components/format.ts'

export type BillingAction =
  | 'pay'
  | 'confirm'
  | 'card'
  | 'resume'
  | 'keep'
  | 'pause'
  | 'cancel'
  | 'change'
  | 'subscribe'

export type BillingState = {
  /** In the badge. */
  word: string
  color: string
  /** What happens when; null where nothing runs. */
  term: string | null
  /** Something to be done about it; null: all is well. */
  alert: { title: string; text: string; isUrgent: boolean } | null
  /** The first is the one to press. */
  actions: readonly BillingAction[]
}

export type Shown = Pick<
  Subscription,
  | 'status'
  | 'processor_status'
  | 'payment_status'
  | 'current_period_end'
  | 'cancel_at_period_end'
  | 'trial_ends_at'
  | 'open_until'
  | 'next_tier'
  | 'pauses_at'
  | 'amount'
  | 'currency'
  | 'interval'
>

export function readBillingState(
  subscription: Shown,
  formatTier: (tier: string) => string = (tier) => tier,
): BillingState {
  const {
    status,
    processor_status: word,
    current_period_end: end,
    open_until: openUntil,
  } = subscription
  const payment = subscription.payment_status
  if (status === 'free' || status === 'cancelled')
    return FIRST_PAYMENTS[payment ?? ''] ?? describeInactive(status)
  const cost = formatCost(subscription)
  const term = cost === null ? null : `It costs ${cost}.`
  if (word === 'paused') return { ...(PAUSES[payment ?? ''] ?? PAUSED), term }
  if (status === 'past_due')
    return { ...describeDue(word === 'unpaid' ? null : openUntil, payment), term }
  if (subscription.cancel_at_period_end) return describeEnding(end, subscription.trial_ends_at)
  if (subscription.trial_ends_at !== null) {
    const term = `Your trial ends on ${formatDay(subscription.trial_ends_at)}. Then ${cost ?? 'the plan'} is charged to your card.`
    return {
      word: 'Trial',
      color: 'brass',
      term,
      alert: null,
      actions: ['change', 'card', 'cancel'],
    }
  }
  if (subscription.pauses_at !== null) return describePausing(subscription.pauses_at)
  const next = subscription.next_tier
  const then =
    next === null
      ? `Renews on ${formatDay(end ?? '')}`
      : `Becomes ${formatTier(next)} on ${formatDay(end ?? '')}`
  return {
    word: 'Active',
    color: 'pine',
    term: end === null ? null : `${then}${cost === null ? '' : `, for ${cost}`}.`,
    alert: null,
    actions: ['change', 'card', 'pause', 'cancel'],
  }
}

function describeInactive(status: 'free' | 'cancelled'): BillingState {
  const isOver = status === 'cancelled'
  return {
    word: isOver ? 'Cancelled' : 'No subscription',
    color: 'gray',
    term: isOver ? 'Your subscription has ended. What you have stored is kept.' : null,
    alert: null,
    actions: ['subscribe'],
  }
}

const PAUSED: BillingState = {
  word: 'Paused',
  color: 'gray',
  term: null,
  alert: {
    title: 'Your subscription is paused',
    text: 'Nothing is billed, and your plan is closed until you resume it. What you have stored is kept. Resuming begins a new period, and bills it.',
    isUrgent: false,
  },
  actions: ['resume', 'card', 'cancel'],
}

const CONFIRM = 'Your bank asks you to confirm the payment'
const UNDER_WAY = 'Your payment is under way'

/** What a first payment waits for, by the processor's word. */
const FIRST_PAYMENTS: Record<string, BillingState> = {
  requires_action: {
    word: 'To be confirmed',
    color: 'red',
    term: null,
    alert: {
      title: CONFIRM,
      text: 'Your plan opens as soon as you have. After a day it is given up.',
      isUrgent: true,
    },
    actions: ['confirm', 'subscribe'],
  },
  processing: {
    word: 'Payment under way',
    color: 'brass',
    term: null,
    alert: {
      title: UNDER_WAY,
      text: 'Your bank is asked, which can take some days. Your plan opens by itself when it has paid.',
      isUrgent: false,
    },
    actions: [],
  },
}

/** A pause that ends with its payment. */
const PAUSES: Record<string, BillingState> = {
  requires_action: {
    ...PAUSED,
    alert: { title: CONFIRM, text: 'Your plan opens again as soon as you have.', isUrgent: true },
    actions: ['confirm', 'card', 'cancel'],
  },
  processing: {
    ...PAUSED,
    alert: {
      title: UNDER_WAY,
      text: 'Your plan opens again by itself when your bank has paid.',
      isUrgent: false,
    },
    actions: ['cancel'],
  },
}

/** The plan that the card is about: a closed one is still the one that is paid for. */
export function readPlan({
  tier,
  subscribed_tier: subscribed,
  entitlements,
}: Pick<Subscription, 'tier' | 'subscribed_tier' | 'entitlements'>): string {
  return entitlements.length === 0 ? (subscribed ?? tier) : tier
}

/** Where the money comes from, in a sentence under the plan. */
export function describeAccount({
  status,
  processor_customer_id: customer,
  card,
}: Pick<Subscription, 'status' | 'processor_customer_id' | 'card'>): string {
  if (customer === null && status === 'free')
    return 'There is no billing account yet: one is made with your first payment.'
  if (customer === null)
    return 'Your billing account was closed. Your next payment makes a new one.'
  if (card === null) return 'Cards and addresses are kept by our payment processor.'
  return `Paid with the card ending in ${card.last4 ?? '····'}. Cards are kept by our payment processor.`
}

/** Of another checkout, beside a plan that runs: what is said of its payment; null where there is nothing to wait for. */
export function describePendingCheckout(
  { pending_checkout: pending }: Pick<Subscription, 'pending_checkout'>,
  nameOf: (tier: string) => string,
): { title: string; text: string; isToConfirm: boolean } | null {
  if (pending === null) return null
  const name = pending.tier === null ? 'another plan' : nameOf(pending.tier)
  if (pending.payment_status === 'requires_action') {
    return pending.replaces
      ? {
          title: `Your bank asks you to confirm the payment for ${name}`,
          text: `${name} takes the place of your plan as soon as you have. After a day it is given up, and your plan goes on.`,
          isToConfirm: true,
        }
      : {
          title: `An earlier checkout, for ${name}, was not confirmed`,
          text: 'You need not confirm it: your plan runs without it, and after a day it is given up. Paid all the same, it is credited to your next payments.',
          isToConfirm: false,
        }
  }
  if (pending.payment_status !== 'processing') return null
  return {
    title: `Your payment for ${name} is under way`,
    text: pending.replaces
      ? `Your bank is asked, which can take some days. When it has paid, ${name} takes the place of your plan.`
      : 'Its checkout was begun before your plan. When your bank has paid, that is credited to your next payments.',
    isToConfirm: false,
  }
}

function describeDue(openUntil: string | null, payment: string | null): BillingState {
  const state = { word: 'Payment due', color: 'red', term: null }
  const stays = openUntil === null ? null : `Your plan stays open until ${formatDay(openUntil)}.`
  const closed = 'Your plan is closed until the payment goes through. What you have stored is kept.'
  if (payment === 'requires_action') {
    const text = stays === null ? closed : `${stays} Confirm it, so that it stays so.`
    return {
      ...state,
      alert: { title: CONFIRM, text, isUrgent: true },
      actions: ['confirm', 'card', 'cancel'],
    }
  }
  if (payment === 'processing') {
    const text = `${stays ?? closed} Your bank is asked, which can take some days.`
    return { ...state, alert: { title: UNDER_WAY, text, isUrgent: false }, actions: ['cancel'] }
  }
  const text = stays === null ? closed : `${stays} Pay, or change your card, so that it stays so.`
  const title = 'The last payment did not go through'
  return { ...state, alert: { title, text, isUrgent: true }, actions: ['pay', 'card', 'cancel'] }
}

function describeEnding(end: string | null, trialEnd: string | null): BillingState {
  const on = formatDay(trialEnd ?? end ?? '')
  return {
    word: 'Ends soon',
    color: 'brass',
    term: `Ends on ${on}. Until then everything stays open${trialEnd === null ? '' : ', and nothing is charged'}.`,
    alert: null,
    actions: ['keep', 'card'],
  }
}

function describePausing(at: string): BillingState {
  return {
    word: 'Pauses soon',
    color: 'brass',
    term: `Pauses on ${formatDay(at)}. Until then everything stays open. After that nothing is billed until you resume.`,
    alert: null,
    actions: ['keep', 'card', 'cancel'],
  }
}

function formatCost({ amount, currency, interval }: Shown): string | null {
  return amount === null || currency === null || interval === null
    ? null
    : `${formatMoney(amount, currency)} a ${interval}`
}
