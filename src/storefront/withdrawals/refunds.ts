/** The refunds of withdrawn purchases. A buyer has a right to theirs, so a failed one is reported. */
import type { Billing } from '#billing/billing.ts'
import { billingProblem } from '#billing/problems.ts'
import { sendMail } from '#mail/mail.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Listed } from '../products/product-list.ts'
import { findByPayment, type PurchaseRow } from '../purchases/store.ts'
import { failedRefundEmail } from './emails.ts'

type NoticeDeps = Listed & Pick<Platform, 'config' | 'clock' | 'jobs'>

/**
 * Refunds everything that is left. A refund that is already made is enough. The operator gets an
 * email when the processor refuses the refund: the buyer has the right to it.
 */
export async function refundWithdrawal(
  deps: NoticeDeps & Pick<Platform, 'db'> & { billing: Pick<Billing, 'refundPayment'> },
  { paymentId }: { paymentId: string },
): Promise<void> {
  try {
    await deps.billing.refundPayment(paymentId)
  } catch (error) {
    if (billingProblem.is(error, 'nothing_to_refund')) return
    // A retry gets the same answer.
    if (!billingProblem.is(error, 'processor_failed')) throw error
    await transaction(deps.db, async (tx) => {
      const purchase = await findByPayment(tx, paymentId)
      if (purchase) await reportFailedRefund(deps, tx, purchase)
    })
  }
}

/** Informs the operator that a buyer who withdrew has not got their money back. */
export function reportFailedRefund(deps: NoticeDeps, tx: Db, purchase: PurchaseRow): Promise<void> {
  return sendMail(deps, tx, failedRefundEmail(deps, purchase), { isNotice: true })
}
