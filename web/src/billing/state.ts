/**
 * Texts and actions for every state of a subscription, for the billing page and the bar above all
 * pages.
 */

import type { Subscription } from '../api/types.ts'
import { formatDay, formatMoney } from '../components/format.ts'
import { t, translate } from '../language/text.ts'

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
  /** Badge. */
  word: string
  color: string
  /** The next date and its effect; null without a subscription. */
  term: string | null
  /** Null when nothing is wrong. */
  alert: { title: string; text: string; isUrgent: boolean } | null
  /** The first one is the primary action. */
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
  const term = cost === null ? null : t('It costs {0}.', cost)
  if (word === 'paused') return { ...(PAUSES[payment ?? ''] ?? PAUSED), term }
  if (status === 'past_due')
    return { ...describeDue(word === 'unpaid' ? null : openUntil, payment), term }
  if (subscription.cancel_at_period_end) return describeEnding(end, subscription.trial_ends_at)
  if (subscription.trial_ends_at !== null) {
    const term = t(
      'Your trial ends on {0}. Then we charge your card{1}.',
      formatDay(subscription.trial_ends_at),
      cost === null ? '' : ` ${cost}`,
    )
    return {
      word: t('Trial'),
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
      ? t('Renews on {0}', formatDay(end ?? ''))
      : t('Becomes {0} on {1}', formatTier(next), formatDay(end ?? ''))
  return {
    word: t('Active'),
    color: 'pine',
    term: end === null ? null : `${then}${cost === null ? '' : t(', for {0}', cost)}.`,
    alert: null,
    actions: ['change', 'card', 'pause', 'cancel'],
  }
}

function describeInactive(status: 'free' | 'cancelled'): BillingState {
  const isOver = status === 'cancelled'
  return {
    word: isOver ? t('Cancelled') : t('No subscription'),
    color: 'gray',
    term: isOver ? t('Your subscription has ended. Your data is kept.') : null,
    alert: null,
    actions: ['subscribe'],
  }
}

const PAUSED: BillingState = {
  word: t('Paused'),
  color: 'gray',
  term: null,
  alert: {
    title: t('Your subscription is paused'),
    text: t(
      'We bill nothing while your plan is paused, and your data is kept. Resuming starts and bills a new period.',
    ),
    isUrgent: false,
  },
  actions: ['resume', 'card', 'cancel'],
}

const CONFIRM = t('Confirm your payment with your bank')
const PROCESSING = t('Your payment is processing')

/** States of a first payment, by the processor's status. */
const FIRST_PAYMENTS: Record<string, BillingState> = {
  requires_action: {
    word: t('Confirmation needed'),
    color: 'red',
    term: null,
    alert: {
      title: CONFIRM,
      text: t('Your plan starts when you confirm. The payment expires after one day.'),
      isUrgent: true,
    },
    actions: ['confirm', 'subscribe'],
  },
  processing: {
    word: t('Payment processing'),
    color: 'brass',
    term: null,
    alert: {
      title: PROCESSING,
      text: t('Your bank can take some days. Your plan starts when the payment arrives.'),
      isUrgent: false,
    },
    actions: [],
  },
}

/** Paused plans that resume with a payment. */
const PAUSES: Record<string, BillingState> = {
  requires_action: {
    ...PAUSED,
    alert: { title: CONFIRM, text: t('Your plan resumes when you confirm.'), isUrgent: true },
    actions: ['confirm', 'card', 'cancel'],
  },
  processing: {
    ...PAUSED,
    alert: {
      title: PROCESSING,
      text: t('Your plan resumes when the payment arrives.'),
      isUrgent: false,
    },
    actions: ['cancel'],
  },
}

/** Returns the subscribed tier, even while missing payments suspend it. */
export function readPlan({
  tier,
  subscribed_tier: subscribed,
}: Pick<Subscription, 'tier' | 'subscribed_tier'>): string {
  return tier === 'free' ? (subscribed ?? tier) : tier
}

/** Describes the payment method. */
export function describeAccount({
  status,
  processor_customer_id: customer,
  card,
}: Pick<Subscription, 'status' | 'processor_customer_id' | 'card'>): string {
  if (customer === null && status === 'free')
    return t('No billing account yet. Your first payment creates one.')
  if (customer === null)
    return t('Your billing account was closed. Your next payment creates a new one.')
  if (card === null) return t('Our payment processor stores your card and address.')
  return t(
    'Paid with the card ending in {0}. Our payment processor stores it.',
    card.last4 ?? '····',
  )
}

/** Describes the pending payment of a second checkout; null when there is none. */
export function describePendingCheckout(
  { pending_checkout: pending }: Pick<Subscription, 'pending_checkout'>,
  nameOf: (tier: string) => string,
): { title: string; text: string; isToConfirm: boolean } | null {
  if (pending === null) return null
  const name = pending.tier === null ? t('another plan') : nameOf(pending.tier)
  if (pending.payment_status === 'requires_action') {
    return pending.replaces
      ? {
          title: t('Confirm your payment for {0} with your bank', name),
          text: t(
            '{0} replaces your plan when you confirm. The payment expires after one day; your plan then continues.',
            name,
          ),
          isToConfirm: true,
        }
      : {
          title: t('An earlier checkout for {0} was not confirmed', name),
          text: t(
            'You don’t need to confirm it. It expires after one day. If you pay it, we credit the amount to your next invoices.',
          ),
          isToConfirm: false,
        }
  }
  if (pending.payment_status !== 'processing') return null
  return {
    title: t('Your payment for {0} is processing', name),
    text: pending.replaces
      ? t('Your bank can take some days. {0} replaces your plan when the payment arrives.', name)
      : t(
          'You started this checkout before your plan. We credit the payment to your next invoices.',
        ),
    isToConfirm: false,
  }
}

function describeDue(openUntil: string | null, payment: string | null): BillingState {
  const state = { word: t('Payment due'), color: 'red', term: null }
  const stays =
    openUntil === null ? null : t('Your plan stays active until {0}.', formatDay(openUntil))
  const closed = t('Your plan is suspended until the payment goes through. Your data is kept.')
  if (payment === 'requires_action') {
    const text = stays === null ? closed : t('{0} Confirm the payment to keep it.', stays)
    return {
      ...state,
      alert: { title: CONFIRM, text, isUrgent: true },
      actions: ['confirm', 'card', 'cancel'],
    }
  }
  if (payment === 'processing') {
    const text = t('{0} Your bank can take some days.', stays ?? closed)
    return { ...state, alert: { title: PROCESSING, text, isUrgent: false }, actions: ['cancel'] }
  }
  const text = stays === null ? closed : t('{0} Pay or change your card to keep it.', stays)
  const title = t('Your last payment failed')
  return { ...state, alert: { title, text, isUrgent: true }, actions: ['pay', 'card', 'cancel'] }
}

function describeEnding(end: string | null, trialEnd: string | null): BillingState {
  const on = formatDay(trialEnd ?? end ?? '')
  return {
    word: t('Ends soon'),
    color: 'brass',
    term: t(
      'Ends on {0}. You keep full access until then{1}.',
      on,
      trialEnd === null ? '' : t(', and we charge nothing'),
    ),
    alert: null,
    actions: ['keep', 'card'],
  }
}

function describePausing(at: string): BillingState {
  return {
    word: t('Pauses soon'),
    color: 'brass',
    term: t(
      'Pauses on {0}. You keep full access until then. We bill nothing until you resume.',
      formatDay(at),
    ),
    alert: null,
    actions: ['keep', 'card', 'cancel'],
  }
}

function formatCost({ amount, currency, interval }: Shown): string | null {
  return amount === null || currency === null || interval === null
    ? null
    : t('{0} per {1}', formatMoney(amount, currency), translate(interval))
}
