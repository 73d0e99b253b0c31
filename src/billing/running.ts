/** A user's subscription at the processor as it is now: what can be changed, paused and resumed. It is never named by who asks. */
import type { Stripe } from 'stripe'
import { findAccount } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import { idOf } from './money/refresh.ts'
import { paymentStatusOf } from './payment-status.ts'
import { billingProblem } from './problems.ts'
import { asking, requireProcessor, unlessMissing, unlessRefused } from './processor.ts'
import { factsOf, WITH_CARD } from './subscription-facts.ts'
import { isLive } from './subscription-state.ts'
import { syncUser } from './sync.ts'

/** @throws Problem 409 `There is no subscription to change` */
export async function runningSubscription(deps: BillingDeps, userId: string): Promise<Stripe.Subscription> {
  const { subscriptions } = requireProcessor(deps.processor)
  const id = (await findAccount(deps.db, userId))?.subscription_id
  const found = id ? await unlessMissing(subscriptions.retrieve(id, { expand: [WITH_CARD] })) : null
  if (!found || !isLive(factsOf(found))) throw billingProblem('no_subscription')
  return found
}

/**
 * The plan closes at once and nothing is billed until it is resumed. What is left of the period is not credited: else a month's allowance
 * would cost a day. @throws Problem 409 unless it runs and is paid.
 */
export async function pauseSubscription(deps: BillingDeps, userId: string): Promise<void> {
  const { subscriptions } = requireProcessor(deps.processor)
  await asking(
    (async () => {
      const { id, status } = factsOf(await runningSubscription(deps, userId))
      if (status === 'paused') throw billingProblem('subscription_paused')
      if (status === 'past_due' || status === 'unpaid') throw billingProblem('payment_due')
      if (status !== 'active') throw billingProblem('not_pausable')
      await subscriptions.pause(id, { type: 'subscription', bill_for: { unused_time_from: { type: 'none' } } })
    })(),
  )
  await syncUser(deps, userId)
}

/** Ends a pause, with a new period that is billed now; or takes a cancellation back. @throws Problem 402, 409 */
export async function resumeSubscription(deps: BillingDeps, userId: string): Promise<void> {
  const { subscriptions } = requireProcessor(deps.processor)
  await asking(
    unlessRefused(
      (async () => {
        const running = await runningSubscription(deps, userId)
        const { id, status, cancelAtPeriodEnd } = factsOf(running)
        // Without more it begins a new period, and bills it: else who pauses over its end would have it for nothing.
        if (running.status === 'paused') return resumePaid(deps, running)
        // Whoever runs the service has paused it, and ends that.
        if (status === 'paused' || !cancelAtPeriodEnd) throw billingProblem('nothing_to_resume')
        const atDate = running.cancel_at !== null && !running.cancel_at_period_end
        return subscriptions.update(id, atDate ? { cancel_at: '' } : { cancel_at_period_end: false })
      })(),
    ),
  )
  await syncUser(deps, userId)
}

/** It runs again only when its payment went through. One that the bank has yet to settle, or asks its customer about, stays paused until then. */
async function resumePaid(deps: BillingDeps, paused: Stripe.Subscription): Promise<void> {
  const { subscriptions, invoices } = requireProcessor(deps.processor)
  if (isUnderWay(await paymentStatusOf(deps, paused))) return
  const resumed = await subscriptions.resume(paused.id, {
    proration_behavior: 'none',
    payment_behavior: 'resume_on_payment_success',
  })
  const payment = resumed.status === 'paused' ? await paymentStatusOf(deps, resumed) : null
  const invoice = idOf(resumed.latest_invoice)
  if (payment === null || invoice === null || isUnderWay(payment)) return
  // Else the next try would leave two of them.
  await invoices.voidInvoice(invoice)
  deps.log.info({ subscription: paused.id, invoice }, 'a pause goes on: its payment was refused')
  throw billingProblem('payment_refused')
}

const isUnderWay = (payment: string | null): boolean => payment === 'processing' || payment === 'requires_action'
