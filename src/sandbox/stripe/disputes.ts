/** Disputes: a cardholder reclaims a payment. */

import type { Stripe } from 'stripe'
import { listWords } from '#platform/words.ts'
import { recordTransaction } from './balance-transactions.ts'
import { blank } from './blank-fields.ts'
import { type Db, type ProcessorDeps, seconds } from './deps.ts'
import { emit, save } from './events.ts'
import { badParameter, missingObject, refused } from './fault.ts'
import { all, getExisting, newId, put } from './objects.ts'

const ANSWER_WITHIN_S = 7 * 24 * 3_600

/** Fields of an answer to a dispute, which nothing sends to the sandbox. */
const EVIDENCE = listWords(`
  access_activity_log billing_address cancellation_policy cancellation_policy_disclosure
  cancellation_rebuttal customer_communication customer_email_address customer_name
  customer_purchase_ip customer_signature duplicate_charge_documentation
  duplicate_charge_explanation duplicate_charge_id product_description receipt refund_policy
  refund_policy_disclosure refund_refusal_explanation service_date service_documentation
  shipping_address shipping_carrier shipping_date shipping_documentation
  shipping_tracking_number uncategorized_file uncategorized_text
`)

export function openDispute(deps: ProcessorDeps, chargeId: string): Stripe.Dispute {
  const charge = getExisting(deps, 'charge', chargeId)
  if (charge.status !== 'succeeded' || charge.disputed) {
    throw refused(400, `Charge ${chargeId} cannot be disputed.`, 'charge_disputed')
  }
  const dispute = {
    id: newId('du'),
    ...blank('dispute'),
    amount: charge.amount,
    balance_transactions: [],
    charge: charge.id,
    created: seconds(deps),
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: {
      ...Object.fromEntries(EVIDENCE.map((name) => [name, null])),
      enhanced_evidence: {},
    },
    evidence_details: {
      due_by: seconds(deps) + ANSWER_WITHIN_S,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: null,
    },
    is_charge_refundable: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: 'fraudulent',
    status: 'needs_response',
  } as unknown as Stripe.Dispute
  put(deps, { ...charge, disputed: true })
  const withdrawn = moveFunds(deps, dispute, -charge.amount)
  return save(deps, 'charge.dispute.created', withdrawn, { owner: charge.id })
}

export function closeDispute(
  deps: ProcessorDeps,
  dispute: Stripe.Dispute,
  status: 'lost' | 'won',
): Stripe.Dispute {
  if (!isOpen(dispute))
    throw badParameter('dispute', `The dispute ${dispute.id} is already closed.`, 'dispute_closed')
  const moved = status === 'won' ? moveFunds(deps, dispute, dispute.amount) : dispute
  const closed = put(deps, { ...moved, status })
  if (status === 'won') emit(deps, 'charge.dispute.funds_reinstated', closed)
  emit(deps, 'charge.dispute.closed', closed, { status: dispute.status })
  return closed
}

/** The bank reinstates the payment: the money returns, and the status stays. */
export function reinstateDispute(deps: ProcessorDeps, dispute: Stripe.Dispute): Stripe.Dispute {
  if (!isLost(dispute))
    throw badParameter('dispute', `The dispute ${dispute.id} has no withdrawn money to reinstate.`)
  const returned = moveFunds(deps, dispute, dispute.amount)
  return save(deps, 'charge.dispute.funds_reinstated', returned)
}

/** Returns true when the dispute is lost and the bank has the money. */
export const isLost = ({ status, balance_transactions: moved }: Stripe.Dispute) =>
  status === 'lost' && moved.reduce((sum, { amount }) => sum + amount, 0) < 0

const FEE_CENTS = 1_500

/** Withdraws the money, with a fee, or returns it. */
function moveFunds(deps: ProcessorDeps, dispute: Stripe.Dispute, amount: number): Stripe.Dispute {
  const moved = recordTransaction(deps, {
    amount,
    currency: dispute.currency,
    fee: amount < 0 ? FEE_CENTS : 0,
    type: 'adjustment',
    source: dispute.id,
    description: amount < 0 ? 'Chargeback withdrawal' : 'Chargeback reversal',
  })
  return { ...dispute, balance_transactions: [...dispute.balance_transactions, moved] }
}

export const isOpen = (dispute: Stripe.Dispute) => dispute.status === 'needs_response'

export const findDispute = (deps: Db, chargeId: string): Stripe.Dispute | undefined =>
  all(deps, 'dispute', chargeId)[0]

export function requireDispute(deps: Db, { id }: Stripe.Charge): Stripe.Dispute {
  const dispute = findDispute(deps, id)
  if (!dispute) throw missingObject('dispute', id)
  return dispute
}
