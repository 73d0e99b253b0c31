/** The storefront's ear at the processor's list of events: what a delivery would have told is told by the list, too. */
import type { Stripe } from 'stripe'
import type { EventListener } from '#billing/missed-events.ts'
import type { Platform } from '#platform/platform.ts'
import { factOf, PAYMENT_EVENT_TYPES } from './payment-events.ts'
import { INBOX_SOURCE } from './payments.ts'

export const PAYMENT_EVENTS: EventListener = {
  source: INBOX_SOURCE,
  types: PAYMENT_EVENT_TYPES,
  isAwaiting: hasSold,
  read: (event) => factOf(event as Stripe.Event),
}

/** True once a checkout was opened, or something was bought. */
async function hasSold({ db }: Pick<Platform, 'db'>): Promise<boolean> {
  const [purchase, checkout] = await Promise.all([
    db.selectFrom('purchases').select('id').limit(1).executeTakeFirst(),
    db.selectFrom('store_checkouts').select('attempt').limit(1).executeTakeFirst(),
  ])
  return purchase !== undefined || checkout !== undefined
}
