/** A user's subscription at the processor as it is now: what can be changed, paused and resumed. It is never named by who asks. */
import type { Stripe } from 'stripe'
import { MINUTE_MS } from '#platform/clock.ts'
import { findAccount } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import { idOf } from './money/refresh.ts'
import { openInvoiceOf } from './payment-status.ts'
import { billingProblem } from './problems.ts'
import { asking, isReplayed, requireProcessor, unlessMissing, unlessRefused } from './processor.ts'
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
  const earlier = await openInvoiceOf(deps, paused)
  if (earlier && isUnderWay(earlier.payment)) return
  // The bank has refused it since: paid beside the next one, it would be paid for nothing.
  if (earlier) await voidInvoice(deps, earlier.id)
  const resumed = await resumeOnce(deps, paused)
  const open = resumed.status === 'paused' ? await openInvoiceOf(deps, resumed) : null
  if (open === null || isUnderWay(open.payment)) return
  await voidInvoice(deps, open.id)
  deps.log.info({ subscription: paused.id, invoice: open.id }, 'a pause goes on: its payment was refused')
  throw billingProblem('payment_refused')
}

/** Of two presses at once the second gets the answer of the first, and bills nothing. A failure of before is no answer: it is asked anew. */
async function resumeOnce(deps: BillingDeps, paused: Stripe.Subscription): Promise<Stripe.Subscription> {
  const { subscriptions } = requireProcessor(deps.processor)
  const { id, latest_invoice: latest, status_details: details } = paused
  const resume = (idempotencyKey: string) =>
    subscriptions.resume(
      id,
      { proration_behavior: 'none', payment_behavior: 'resume_on_payment_success' },
      { idempotencyKey },
    )
  const key = `resume:${id}:${details?.paused?.transitioned_at ?? ''}:${idOf(latest)}`
  return resume(key).catch((error: unknown) => {
    if (!isReplayed(error)) throw error
    return resume(`${key}:${Math.floor(deps.clock.ms() / MINUTE_MS)}`)
  })
}

/** Two presses may want it at once. */
async function voidInvoice({ processor }: Pick<BillingDeps, 'processor'>, id: string): Promise<void> {
  await requireProcessor(processor).invoices.voidInvoice(id, {}, { idempotencyKey: `void:${id}` })
}

const isUnderWay = (payment: string | null): boolean => payment === 'processing' || payment === 'requires_action'
