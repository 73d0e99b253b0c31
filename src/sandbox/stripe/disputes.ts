/** Disputes: a cardholder reclaims a payment. */
import type { Stripe } from 'stripe'
import { recordTransaction } from './balance-transactions.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { emit } from './events.ts'
import { badParameter, Fault } from './fault.ts'
import { all, getExisting, newId, put } from './objects.ts'

const ANSWER_WITHIN_S = 7 * 24 * 3_600

export function openDispute(deps: ProcessorDeps, chargeId: string): Stripe.Dispute {
  const charge = getExisting(deps, 'charge', chargeId)
  if (charge.status !== 'succeeded' || charge.disputed) {
    throw new Fault(400, {
      type: 'invalid_request_error',
      code: 'charge_disputed',
      message: `Charge ${chargeId} cannot be disputed.`,
    })
  }
  const dispute = {
    id: newId('du'),
    object: 'dispute',
    amount: charge.amount,
    balance_transactions: [],
    charge: charge.id,
    created: seconds(deps),
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: {
      ...NO_EVIDENCE,
      customer_email_address: charge.billing_details.email,
      customer_name: charge.billing_details.name,
    },
    evidence_details: {
      due_by: seconds(deps) + ANSWER_WITHIN_S,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: null,
    },
    intended_submission_method: null,
    is_charge_refundable: false,
    livemode: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    payment_method_details: {
      card: {
        brand: 'visa',
        case_type: 'chargeback',
        network: 'visa',
        network_reason_code: '10.4',
      },
      type: 'card',
    },
    reason: 'fraudulent',
    status: 'needs_response',
  } as unknown as Stripe.Dispute
  const withdrawn = {
    ...dispute,
    balance_transactions: [balanceTransaction(deps, dispute, -charge.amount)],
  }
  put(deps, withdrawn, { owner: charge.id })
  put(deps, { ...charge, disputed: true })
  emit(deps, 'charge.dispute.created', withdrawn)
  emit(deps, 'charge.dispute.funds_withdrawn', withdrawn)
  return withdrawn
}

/** Closing over the API concedes, as at the real processor; the sandbox's buttons may also win. */
export function closeDispute(
  deps: ProcessorDeps,
  id: string,
  status: 'lost' | 'won',
): Stripe.Dispute {
  const dispute = getExisting(deps, 'dispute', id)
  if (!isOpen(dispute))
    throw badParameter('dispute', `The dispute ${id} is already closed.`, 'dispute_closed')
  const closed = { ...(status === 'won' ? returnFunds(deps, dispute) : dispute), status }
  put(deps, closed)
  if (status === 'won') emit(deps, 'charge.dispute.funds_reinstated', closed)
  emit(deps, 'charge.dispute.closed', closed, { status: dispute.status })
  return closed
}

/** The bank reinstates the payment: the money returns, and the status stays. */
export function reinstateDispute(deps: ProcessorDeps, id: string): Stripe.Dispute {
  const dispute = getExisting(deps, 'dispute', id)
  if (!isLost(dispute))
    throw badParameter('dispute', `The dispute ${id} has no withdrawn money to reinstate.`)
  const reinstated = returnFunds(deps, dispute)
  put(deps, reinstated)
  emit(deps, 'charge.dispute.funds_reinstated', reinstated)
  return reinstated
}

/** Returns true when the dispute is lost and the bank has the money. */
export const isLost = ({ status, balance_transactions: moved }: Stripe.Dispute) =>
  status === 'lost' && moved.reduce((sum, { amount }) => sum + amount, 0) < 0

const returnFunds = (deps: ProcessorDeps, dispute: Stripe.Dispute): Stripe.Dispute => ({
  ...dispute,
  balance_transactions: [
    ...dispute.balance_transactions,
    balanceTransaction(deps, dispute, dispute.amount),
  ],
})

const FEE_CENTS = 1_500

/** Creates the balance transaction for lost money, with its fee, or for returned money. */
function balanceTransaction(
  deps: ProcessorDeps,
  { id, currency }: Stripe.Dispute,
  amount: number,
): Stripe.BalanceTransaction {
  return recordTransaction(deps, {
    amount,
    currency,
    fee: amount < 0 ? FEE_CENTS : 0,
    type: 'adjustment',
    category: amount < 0 ? 'dispute' : 'dispute_reversal',
    source: id,
    description: amount < 0 ? 'Chargeback withdrawal' : 'Chargeback reversal',
    feeDescription: 'Dispute fee',
  })
}

export const isOpen = (dispute: Stripe.Dispute) => dispute.status === 'needs_response'

export function findDispute(
  { db }: Pick<ProcessorDeps, 'db'>,
  chargeId: string,
): Stripe.Dispute | undefined {
  return all({ db }, 'dispute', chargeId)[0]
}

const NO_EVIDENCE = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
}
