// Movements on the seller's balance, with the processor's fee. As at the real processor, a refund
// does not return the charge's fee.
import type { Stripe } from 'stripe'
import { type ProcessorDeps, seconds } from './deps.ts'
import { newId, put } from './objects.ts'

/** 2.9 % and 30 cents of a card; 0.8 % of a bank debit, at most 5 dollars. */
const chargeFee = ({ amount, payment_method_details }: Stripe.Charge): number =>
  payment_method_details?.type === 'card'
    ? Math.round(amount * 0.029) + 30
    : Math.min(Math.round(amount * 0.008), 500)

type Movement = Pick<Stripe.BalanceTransaction, 'amount' | 'currency' | 'fee' | 'type'> & {
  source: string
  description: string | null
}

/** Returns the id of the transaction of a charge that succeeded. */
export function recordCharge(deps: ProcessorDeps, charge: Stripe.Charge): string {
  return recordTransaction(deps, {
    amount: charge.amount,
    currency: charge.currency,
    fee: chargeFee(charge),
    type: charge.payment_method_details?.type === 'card' ? 'charge' : 'payment',
    source: charge.id,
    description: charge.description,
  }).id
}

/** Returns the id of the transaction of a refund; `amount` is positive where a refund failed. */
export function recordRefund(
  deps: ProcessorDeps,
  refund: { id: string; currency: string },
  amount: number,
): string {
  return recordTransaction(deps, {
    amount,
    currency: refund.currency,
    fee: 0,
    type: amount < 0 ? 'refund' : 'refund_failure',
    source: refund.id,
    description: amount < 0 ? 'REFUND FOR CHARGE' : 'REFUND FAILURE',
  }).id
}

export function recordTransaction(
  deps: ProcessorDeps,
  { amount, currency, fee, type, source, description }: Movement,
): Stripe.BalanceTransaction {
  return put<Stripe.BalanceTransaction>(deps, {
    id: newId('txn'),
    object: 'balance_transaction',
    amount,
    available_on: seconds(deps),
    balance_type: 'payments',
    created: seconds(deps),
    currency,
    description,
    exchange_rate: null,
    fee,
    fee_details: [],
    net: amount - fee,
    reporting_category: type,
    source,
    status: 'available',
    type,
  })
}
