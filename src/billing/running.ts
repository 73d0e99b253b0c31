/** A user's subscription at the processor as it is now: what can be changed, paused and resumed. It is never named by who asks. */
import type { Stripe } from 'stripe'
import { MINUTE_MS } from '#platform/clock.ts'
import { findAccount } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import { readId } from './object-reader.ts'
import { readOpenInvoice } from './payment-status.ts'
import { billingProblem } from './problems.ts'
import {
  isReplayed,
  mapProcessorErrors,
  mapRefusals,
  nullIfMissing,
  requireProcessor,
} from './processor.ts'
import { findReversals } from './reversals.ts'
import { PAUSED_FROM, readFacts, WITH_CARD } from './subscription-facts.ts'
import { isLive } from './subscription-state.ts'
import { syncUser } from './sync.ts'

/** @throws Problem 409 `There is no subscription to change` */
export async function requireRunningSubscription(
  deps: BillingDeps,
  userId: string,
): Promise<Stripe.Subscription> {
  const { subscriptions } = requireProcessor(deps.processor)
  const id = (await findAccount(deps.db, userId))?.subscription_id
  const found = id ? await nullIfMissing(subscriptions.retrieve(id, { expand: [WITH_CARD] })) : null
  if (!found || !isLive(readFacts(found))) throw billingProblem('no_subscription')
  if ((await findReversals(deps.db, userId)).has(found.id))
    throw billingProblem('subscription_disputed')
  return found
}

/**
 * The plan closes when the paid period ends, and nothing is billed from then on until it is resumed: the processor voids what it would bill.
 * @throws Problem 409 unless it runs, is paid and goes on.
 */
export async function pauseSubscription(deps: BillingDeps, userId: string): Promise<void> {
  await mapProcessorErrors(
    (async () => {
      const running = await requireRunningSubscription(deps, userId)
      const { status, cancelAtPeriodEnd } = readFacts(running)
      if (status === 'paused') throw billingProblem('subscription_paused')
      if (status === 'past_due' || status === 'unpaid') throw billingProblem('payment_due')
      if (status !== 'active') throw billingProblem('not_pausable')
      if (cancelAtPeriodEnd) throw billingProblem('subscription_ending')
      await pauseAtPeriodEnd(deps, running)
    })(),
  )
  await syncUser(deps, userId)
}

async function pauseAtPeriodEnd(deps: BillingDeps, running: Stripe.Subscription): Promise<void> {
  const { periodEnd } = readFacts(running)
  const { subscriptions } = requireProcessor(deps.processor)
  const pausing = await subscriptions.update(running.id, {
    pause_collection: { behavior: 'void' },
    metadata: { [PAUSED_FROM]: String(periodEnd) },
  })
  // The period was renewed, and paid, since it was read.
  if (readFacts(pausing).periodEnd !== periodEnd) await pauseAtPeriodEnd(deps, pausing)
}

/** Ends a pause, with a new period that is billed now; or takes back, for nothing, a pause or a cancellation ahead. @throws Problem 402, 409 */
export async function resumeSubscription(deps: BillingDeps, userId: string): Promise<void> {
  const { subscriptions } = requireProcessor(deps.processor)
  await mapProcessorErrors(
    mapRefusals(
      (async () => {
        const running = await requireRunningSubscription(deps, userId)
        const { id, status, cancelAtPeriodEnd, details } = readFacts(running)
        if (details?.pausesAt != null) return subscriptions.update(id, NOT_PAUSED)
        // Without more it begins a new period, and bills it: else who pauses over its end would have it for nothing.
        if (running.status === 'paused' || (status === 'paused' && running.metadata?.[PAUSED_FROM]))
          return resumePaused(deps, running)
        // Whoever runs the service has paused it, and ends that.
        if (status === 'paused' || !cancelAtPeriodEnd) throw billingProblem('nothing_to_resume')
        const atDate = running.cancel_at !== null && !running.cancel_at_period_end
        return subscriptions.update(
          id,
          atDate ? { cancel_at: '' } : { cancel_at_period_end: false },
        )
      })(),
    ),
  )
  await syncUser(deps, userId)
}

const NOT_PAUSED = { pause_collection: '' as const, metadata: { [PAUSED_FROM]: '' } }

/** A pause of collection first becomes one of the subscription, which alone ends with a new period and its payment. */
async function resumePaused(deps: BillingDeps, running: Stripe.Subscription): Promise<void> {
  const { subscriptions } = requireProcessor(deps.processor)
  const { id, status, metadata } = running
  const from = metadata?.[PAUSED_FROM]
  if (!from) return resumePaid(deps, running)
  const unbilled = {
    type: 'subscription' as const,
    bill_for: { unused_time_from: { type: 'none' as const } },
  }
  if (status !== 'paused')
    await subscriptions.pause(id, unbilled, { idempotencyKey: `pause:${id}:${from}` })
  const paused = await subscriptions.update(id, NOT_PAUSED)
  // Another press of the button may have resumed it meanwhile.
  if (paused.status === 'paused') await resumePaid(deps, paused)
}

/** It runs again only when its payment went through. One that the bank has yet to settle, or asks its customer about, stays paused until then. */
async function resumePaid(deps: BillingDeps, paused: Stripe.Subscription): Promise<void> {
  const earlier = await readOpenInvoice(deps, paused)
  if (earlier && isUnderWay(earlier.payment)) return
  // The bank has refused it since: paid beside the next one, it would be paid for nothing.
  if (earlier) await voidInvoice(deps, earlier.id)
  const resumed = await resumeOnce(deps, paused)
  const open = resumed.status === 'paused' ? await readOpenInvoice(deps, resumed) : null
  if (open === null || isUnderWay(open.payment)) return
  await voidInvoice(deps, open.id)
  deps.log.info(
    { subscription: paused.id, invoice: open.id },
    'a pause goes on: its payment was refused',
  )
  throw billingProblem('payment_refused')
}

/** Of two presses at once the second gets the answer of the first, and bills nothing. A failure of before is no answer: it is asked anew. */
async function resumeOnce(
  deps: BillingDeps,
  paused: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  const { subscriptions } = requireProcessor(deps.processor)
  const { id, latest_invoice: latest, status_details: details } = paused
  const resume = (idempotencyKey: string) =>
    subscriptions.resume(
      id,
      { proration_behavior: 'none', payment_behavior: 'resume_on_payment_success' },
      { idempotencyKey },
    )
  const key = `resume:${id}:${details?.paused?.transitioned_at ?? ''}:${readId(latest)}`
  return resume(key).catch((error: unknown) => {
    if (!isReplayed(error)) throw error
    return resume(`${key}:${Math.floor(deps.clock.ms() / MINUTE_MS)}`)
  })
}

/** Two presses may want it at once. */
async function voidInvoice(
  { processor }: Pick<BillingDeps, 'processor'>,
  id: string,
): Promise<void> {
  await requireProcessor(processor).invoices.voidInvoice(id, {}, { idempotencyKey: `void:${id}` })
}

const isUnderWay = (payment: string | null): boolean =>
  payment === 'processing' || payment === 'requires_action'
