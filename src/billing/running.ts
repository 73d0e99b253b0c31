/**
 * Reads, pauses and resumes a user's subscription at the processor. The caller never names it by
 * id.
 */
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

/** @throws Problem 409 `You have no subscription to change` */
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
 * Pauses the subscription: the plan closes when the paid period ends, and the processor voids
 * invoices until it is resumed.
 * @throws Problem 409 unless it is running, paid and not ending.
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
  // The period was renewed and paid after it was read.
  if (readFacts(pausing).periodEnd !== periodEnd) await pauseAtPeriodEnd(deps, pausing)
}

/**
 * Ends a pause with a new period that is billed now, or withdraws a pending pause or cancellation
 * for free.
 * @throws Problem 402, 409
 */
export async function resumeSubscription(deps: BillingDeps, userId: string): Promise<void> {
  const { subscriptions } = requireProcessor(deps.processor)
  await mapProcessorErrors(
    mapRefusals(
      (async () => {
        const running = await requireRunningSubscription(deps, userId)
        const { id, status, cancelAtPeriodEnd, details } = readFacts(running)
        if (details?.pausesAt != null) return subscriptions.update(id, NOT_PAUSED)
        // Resuming starts and bills a new period; otherwise a pause across the period's end would
        // give a free period.
        if (running.status === 'paused' || (status === 'paused' && running.metadata?.[PAUSED_FROM]))
          return resumePaused(deps, running)
        // The operator paused it at the processor and must resume it there.
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

/**
 * Converts a pause of collection into a pause of the subscription: only that one ends with a new
 * period and its payment.
 */
async function resumePaused(deps: BillingDeps, running: Stripe.Subscription): Promise<void> {
  const { subscriptions } = requireProcessor(deps.processor)
  const { id, status, metadata } = running
  const from = metadata?.[PAUSED_FROM]
  if (!from) return resumeAndCharge(deps, running)
  const unbilled = {
    type: 'subscription' as const,
    bill_for: { unused_time_from: { type: 'none' as const } },
  }
  if (status !== 'paused')
    await subscriptions.pause(id, unbilled, { idempotencyKey: `pause:${id}:${from}` })
  const paused = await subscriptions.update(id, NOT_PAUSED)
  // Another click may have resumed it meanwhile.
  if (paused.status === 'paused') await resumeAndCharge(deps, paused)
}

/**
 * Resumes the subscription once its payment succeeds. A payment that is processing or awaits the
 * customer's confirmation keeps it paused until then.
 */
async function resumeAndCharge(deps: BillingDeps, paused: Stripe.Subscription): Promise<void> {
  const earlier = await readOpenInvoice(deps, paused)
  if (earlier && isUnderWay(earlier.payment)) return
  // The bank has refused the earlier invoice since: paying both would charge twice.
  if (earlier) await voidInvoice(deps, earlier.id)
  const resumed = await resumeOnce(deps, paused)
  const open = resumed.status === 'paused' ? await readOpenInvoice(deps, resumed) : null
  if (open === null || isUnderWay(open.payment)) return
  await voidInvoice(deps, open.id)
  deps.log.info(
    { subscription: paused.id, invoice: open.id },
    'the subscription stays paused: its payment was refused',
  )
  throw billingProblem('payment_refused')
}

/**
 * The second of two concurrent clicks gets the first one's result and bills nothing. A replayed
 * failure is no result: the call is retried under a new key.
 */
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

/** Idempotent, since two clicks may void the same invoice. */
async function voidInvoice(
  { processor }: Pick<BillingDeps, 'processor'>,
  id: string,
): Promise<void> {
  await requireProcessor(processor).invoices.voidInvoice(id, {}, { idempotencyKey: `void:${id}` })
}

const isUnderWay = (payment: string | null): boolean =>
  payment === 'processing' || payment === 'requires_action'
