/** The storefront's ear at the processor's list of events: what a delivery would have told is told by the list, too. */
import type { Stripe } from 'stripe'
import type { EventListener } from '#billing/missed-events.ts'
import type { Platform } from '#platform/platform.ts'
import { FOLLOW_UP_JOB } from './checkout.ts'
import { factOf } from './payment-events.ts'
import { INBOX_SOURCE } from './payments.ts'

export const PAYMENT_EVENTS: EventListener = {
  source: INBOX_SOURCE,
  types: [
    'checkout.session.completed',
    'checkout.session.async_payment_succeeded',
    'checkout.session.async_payment_failed',
    'checkout.session.expired',
    'payment_intent.succeeded',
    'charge.refunded',
    'refund.created',
    'refund.updated',
    'refund.failed',
    'charge.dispute.created',
    'charge.dispute.updated',
    'charge.dispute.closed',
    'charge.dispute.funds_withdrawn',
    'charge.dispute.funds_reinstated',
  ],
  isAwaiting: hasSold,
  read: (event) => factOf(event as Stripe.Event),
}

/** True once a checkout was opened: each leaves a follow-up behind for a day, and what is bought a purchase. */
async function hasSold({ db, jobs }: Pick<Platform, 'db' | 'jobs'>): Promise<boolean> {
  const [purchase, followUp] = await Promise.all([
    db.selectFrom('purchases').select('id').limit(1).executeTakeFirst(),
    jobs.anyOf(FOLLOW_UP_JOB),
  ])
  return purchase !== undefined || followUp
}
