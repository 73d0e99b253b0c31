import type { Stripe } from 'stripe'
import { asking, isMissingCustomer, requireProcessor } from '#billing/processor.ts'
import { findUser } from '#identity/users.ts'
import { type Clock, DAY_MS, HOUR_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Jobs } from '#platform/jobs/jobs.ts'
import type { Config } from '#src/config.ts'
import { brandOf } from './brand.ts'
import { OFFERS } from './offers.ts'
import type { ProductTier } from './products/releases.ts'

export const FOLLOW_UP_JOB = 'storefront.follow-up-checkout'

export type CheckoutDeps = { config: Config; db: Db; clock: Clock; jobs: Jobs; processor: Stripe | null }

/** The address of a hosted checkout for one tier. Throws 503 without a processor, 502 or 503 when it cannot be asked. */
export async function openCheckout(deps: CheckoutDeps, userId: string, tier: ProductTier): Promise<string> {
  const { config, db, clock, jobs, processor } = deps
  const user = await findUser(db, userId)
  const offer = OFFERS[tier]
  const metadata = { user_id: userId, tier }

  const open = (payer: { customer?: string; customer_email?: string }) =>
    requireProcessor(processor).checkout.sessions.create({
      mode: 'payment',
      line_items: [
        {
          quantity: 1,
          price_data: {
            currency: 'usd',
            unit_amount: offer.priceUsd * 100,
            product_data: { name: `${brandOf(config)} ${offer.name}`, description: offer.features.join(' · ') },
          },
        },
      ],
      allow_promotion_codes: true,
      client_reference_id: userId,
      ...payer,
      metadata,
      payment_intent_data: { metadata },
      success_url: `${config.urls.storefront}/dashboard?success=true&session_id={CHECKOUT_SESSION_ID}`,
      cancel_url: `${config.urls.storefront}/pricing?canceled=true`,
    })
  const byEmail = user ? { customer_email: user.email } : {}
  const customer = user?.processor_customer_id
  // A customer that was deleted at the processor is billing's to replace; a one-time purchase needs none.
  const session = await asking(
    customer
      ? open({ customer }).catch((error: unknown) => {
          if (!isMissingCustomer(error)) throw error
          return open(byEmail)
        })
      : open(byEmail),
  )
  if (!session.url) throw new Error(`the processor made checkout ${session.id} without an address`)

  // Should every webhook be lost and the buyer never come back, these two questions still find the payment.
  await transaction(db, async (tx) => {
    for (const delayMs of [HOUR_MS, DAY_MS + HOUR_MS]) {
      await jobs.enqueue(tx, FOLLOW_UP_JOB, { sessionId: session.id }, { runAt: plus(clock.now(), delayMs) })
    }
  })
  return session.url
}
