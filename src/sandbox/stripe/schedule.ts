/**
 * Effects of time on subscriptions: ending trials, renewals, retries of a declined payment,
 * scheduled pauses and ends.
 */
import type { Stripe } from 'stripe'
import { atomically } from '../database.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { emit, save } from './events.ts'
import { findIntentId, voidInvoice } from './invoices.ts'
import { findLiveSubscriptions, get, getExisting, getSide, put } from './objects.ts'
import { findMethod } from './payment-methods.ts'
import { previewInvoice } from './previews.ts'
import {
  cancelNow,
  expireIncomplete,
  openInvoices,
  renew,
  retryInvoice,
  type SubscriptionSide,
} from './subscriptions.ts'

/** `what` is a description for the page. */
export type Due = { at: number; what: string; customer: string; play: () => void }

const DAY_S = 24 * 3_600
/**
 * Time limit of a first payment and of a resumption's payment:
 * https://docs.stripe.com/billing/subscriptions/overview, "within 23 hours".
 */
const FIRST_PAYMENT_S = 23 * 3_600
const TRIAL_NOTICE_S = 3 * DAY_S
const RENEWAL_NOTICE_S = 7 * DAY_S
/** An empty period would renew forever. */
const RUN_AT_ONCE_MAX = 10_000

/** Returns all scheduled events, the next first. */
export function listSchedule(deps: ProcessorDeps): Due[] {
  return findLiveSubscriptions(deps.db)
    .flatMap((one) => listDue(deps, one))
    .sort((one, other) => one.at - other.at)
}

/** Runs due events in the order of their due times. An event may create further due events. */
export function runDue(deps: ProcessorDeps): string[] {
  const played: string[] = []
  while (played.length < RUN_AT_ONCE_MAX) {
    const [next] = listSchedule(deps)
    if (!next || next.at > seconds(deps)) break
    atomically(deps.db, next.play)
    played.push(next.what)
  }
  return played
}

function listDue(deps: ProcessorDeps, subscription: Stripe.Subscription): Due[] {
  const { id, status, trial_end: trialEnd } = subscription
  const customer = String(subscription.customer)
  const item = subscription.items.data[0]
  const { current_period_start: start = 0, current_period_end: end = 0 } = item ?? {}
  const side = getSide<SubscriptionSide>(deps, id)
  const due: Due[] = []
  const add = (at: number | null | undefined, what: string, play: () => void) => {
    if (typeof at === 'number') due.push({ at, what, customer, play })
  }

  if (status === 'incomplete') {
    const [invoice] = openInvoices(deps, id)
    if (invoice && !isSettling(deps, invoice.id))
      add(subscription.created + FIRST_PAYMENT_S, 'the first payment was never made', () =>
        expireIncomplete(deps, invoice),
      )
    return due
  }
  const endsFirst = subscription.cancel_at !== null && subscription.cancel_at <= end
  if (subscription.cancel_at !== null)
    add(subscription.cancel_at, 'the subscription ends', () => cancelNow(deps, id))
  if (status === 'trialing' && trialEnd !== null && !endsFirst) {
    if (side.trialEndTold !== trialEnd)
      add(Math.max(start, trialEnd - TRIAL_NOTICE_S), 'the trial is about to end', () =>
        announceTrialEnd(deps, id, trialEnd),
      )
    add(trialEnd, 'the trial ends', () => renew(deps, id, true))
  }
  if (['active', 'past_due', 'unpaid'].includes(status) && !endsFirst) {
    const isAhead = end - RENEWAL_NOTICE_S > start && side.periodEndTold !== end
    if (isAhead && status === 'active')
      add(end - RENEWAL_NOTICE_S, 'a renewal is ahead', () => announceRenewal(deps, id, end))
    add(end, 'the period ends', () => renew(deps, id, true))
  }
  for (const invoice of openInvoices(deps, id)) {
    const { resumes } = side
    if (status === 'paused' && resumes?.invoice === invoice.id) {
      if (!isSettling(deps, invoice.id))
        add(resumes.at + FIRST_PAYMENT_S, 'the resumption was never paid', () =>
          voidInvoice(deps, invoice.id),
        )
      continue
    }
    add(invoice.next_payment_attempt, 'an open payment is tried again', () =>
      retry(deps, invoice.id, id),
    )
  }
  return due
}

const isSettling = (deps: ProcessorDeps, invoiceId: string): boolean =>
  get<Stripe.PaymentIntent>(deps, findIntentId(deps, invoiceId))?.status === 'processing'

function announceTrialEnd(deps: ProcessorDeps, id: string, end: number): void {
  const subscription = getExisting(deps, 'subscription', id)
  save(deps, 'customer.subscription.trial_will_end', subscription, {
    side: { ...getSide<SubscriptionSide>(deps, id), trialEndTold: end },
  })
}

function announceRenewal(deps: ProcessorDeps, id: string, end: number): void {
  const subscription = getExisting(deps, 'subscription', id)
  put(deps, subscription, { side: { ...getSide<SubscriptionSide>(deps, id), periodEndTold: end } })
  emit(deps, 'invoice.upcoming', previewInvoice(deps, { subscription: id }))
}

/** The subscription ends after the last retry, as with Stripe's default setting. */
function retry(deps: ProcessorDeps, invoiceId: string, id: string): void {
  const subscription = getExisting(deps, 'subscription', id)
  const invoice = getExisting(deps, 'invoice', invoiceId)
  if (retryInvoice(deps, invoice, findMethod(deps, subscription), false).status === 'succeeded')
    return
  const { status, next_payment_attempt: next } = getExisting(deps, 'invoice', invoiceId)
  if (status !== 'open' || next !== null) return
  cancelNow(deps, id, { reason: 'payment_failed' })
}
