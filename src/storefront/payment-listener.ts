/** The storefront's ear at the processor's list of events: what a delivery would have told is told by the list, too. */
import type { Stripe } from 'stripe'
import type { EventListener } from '#billing/missed-events.ts'
import type { Platform } from '#platform/platform.ts'
import { factOf, PAYMENT_EVENT_TYPES } from './payment-events.ts'
import { FOLLOW_UP_JOB, INBOX_SOURCE } from './payments.ts'

export const PAYMENT_EVENTS: EventListener = {
  source: INBOX_SOURCE,
  types: PAYMENT_EVENT_TYPES,
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
