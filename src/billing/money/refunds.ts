/** Refunds that a superuser makes. The processor decides; its state is read before and after. */
import { billingProblem } from '../problems.ts'
import { mapProcessorErrors, requireProcessor } from '../processor.ts'
import { findPayment } from './payments.ts'
import { type MoneyDeps, refreshPayment } from './refresh.ts'

const LISTED_MAX = 100

/** An amount in minor units. */
export type RefundedAmount = { amountCents: number; currency: string }

/**
 * Refunds a part of a payment, or all that remains. Two simultaneous requests for the same amount
 * make one refund, because the idempotency key contains the number of earlier refunds.
 *
 * @throws Problem 409 when less remains; 502 or 503 when the processor fails.
 */
export async function refundPayment(
  deps: MoneyDeps,
  id: string,
  wantedCents: number | undefined,
): Promise<RefundedAmount> {
  const { refunds } = requireProcessor(deps.processor)
  if (!id.startsWith('pi_')) throw billingProblem('nothing_to_refund')
  const { data } = await mapProcessorErrors(refunds.list({ payment_intent: id, limit: LISTED_MAX }))
  await mapProcessorErrors(refreshPayment(deps, id))
  const payment = await findPayment(deps.db, id)
  const leftCents = payment ? payment.amount_cents - payment.refunded_cents : 0
  if (!payment || leftCents <= 0) throw billingProblem('nothing_to_refund')
  const amountCents = wantedCents ?? leftCents
  if (amountCents > leftCents) {
    throw billingProblem('refund_too_large', { extra: { left: leftCents } })
  }
  await mapProcessorErrors(
    refunds.create(
      { payment_intent: id, amount: amountCents, reason: 'requested_by_customer' },
      { idempotencyKey: `refund:${id}:${data.length}:${amountCents}` },
    ),
  )
  await refreshPayment(deps, id)
  return { amountCents, currency: payment.currency }
}
