/** Payment intents, their charges, and refunds. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { recordCharge, recordRefund } from './balance-transactions.ts'
import { blank } from './blank-fields.ts'
import { findCard, type Outcome } from './cards.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { openDispute } from './disputes.ts'
import { save } from './events.ts'
import { badParameter, type Fault, refused } from './fault.ts'
import { all, get, getExisting, getNamed, newId, put } from './objects.ts'
import { allowSupported, integer, mergeMetadata, optionalText } from './parameters.ts'

export type NewIntent = {
  amount: number
  currency: string
  customer: string | null
  description: string | null
  metadata: Record<string, string>
}

const SETTLES_AFTER_MS = 8_000

export function createIntent(deps: ProcessorDeps, wanted: NewIntent): Stripe.PaymentIntent {
  const intent: Stripe.PaymentIntent = {
    id: newId('pi'),
    ...blank('payment_intent'),
    ...wanted,
    amount_capturable: 0,
    amount_received: 0,
    capture_method: 'automatic_async',
    confirmation_method: 'automatic',
    created: seconds(deps),
    payment_method_options: {},
    payment_method_types: ['card', 'us_bank_account'],
    status: 'requires_payment_method',
  }
  return put(deps, intent, { owner: wanted.customer ?? '' })
}

/**
 * The result of an attempt: paid, pending, confirmation required at the bank's page, or declined
 * with a message for the payer.
 */
export type Attempt =
  | { status: 'succeeded' | 'processing' }
  | { status: 'requires_action'; url: string }
  | { status: 'failed'; error: Fault['body'] }

/**
 * Charges the method. `present`: the payer is at the page; otherwise it is a renewal or a retry.
 */
export function attemptPayment(
  deps: ProcessorDeps,
  intentId: string,
  method: Stripe.PaymentMethod,
  present: boolean,
): Attempt {
  const intent = getExisting(deps, 'payment_intent', intentId)
  const card = findCard(method)
  const outcome: Outcome = present ? card.first : card.renewal

  if (outcome.at === 'never') return fail(deps, intent, method, outcome)
  if (card.asks && (present || card.asks === 'always'))
    return requireConfirmation(deps, intent, method)
  if (outcome.at === 'later') {
    const charge = createCharge(deps, intent, method, 'pending')
    put(deps, {
      ...intent,
      status: 'processing',
      payment_method: method.id,
      latest_charge: charge.id,
    })
    deps.db
      .prepare('insert or ignore into stripe_settlements values (?, ?, ?)')
      .run(intent.id, Date.now() + SETTLES_AFTER_MS, outcome.succeeds ? 'succeeded' : 'failed')
    return { status: 'processing' }
  }

  const charge = createCharge(deps, intent, method, 'succeeded')
  succeed(deps, intent, charge)
  if (card.disputes) openDispute(deps, charge.id)
  return { status: 'succeeded' }
}

function requireConfirmation(
  deps: ProcessorDeps,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
): Attempt {
  const url = `${deps.origin()}/sandbox/confirm/${intent.id}`
  put(deps, {
    ...intent,
    status: 'requires_action',
    payment_method: method.id,
    last_payment_error: null,
    next_action: { type: 'redirect_to_url', redirect_to_url: { return_url: null, url } },
  })
  return { status: 'requires_action', url }
}

export const NOT_CONFIRMED =
  'We are unable to authenticate your payment method. Please choose a different payment method and try again.'

/** Handles the payer's confirmation at the bank's page, or its failure. */
export function confirmIntent(
  deps: ProcessorDeps,
  intentId: string,
  confirms: boolean,
): Stripe.PaymentIntent {
  const intent = getExisting(deps, 'payment_intent', intentId)
  if (intent.status !== 'requires_action')
    throw badParameter(
      'payment_intent',
      `The bank asks nothing any more: the payment is ${intent.status}.`,
    )
  const method = getExisting(deps, 'payment_method', String(intent.payment_method))
  if (confirms) return succeed(deps, intent, createCharge(deps, intent, method, 'succeeded'))
  const error = { code: 'payment_intent_authentication_failure', message: NOT_CONFIRMED }
  return failIntent(deps, intent, error, method)
}

/** A failed payment waits for another method. */
function failIntent(
  deps: ProcessorDeps,
  intent: Stripe.PaymentIntent,
  error: object,
  method?: Stripe.PaymentMethod,
): Stripe.PaymentIntent {
  return put(deps, {
    ...intent,
    status: 'requires_payment_method',
    payment_method: null,
    next_action: null,
    last_payment_error: { type: 'card_error', ...error, payment_method: method },
  } as Stripe.PaymentIntent)
}

/**
 * Cancels a payment, which can no longer be confirmed. A settled or settling one stays unchanged.
 */
export function cancelIntent(deps: ProcessorDeps, intentId: string): void {
  const intent = get<Stripe.PaymentIntent>(deps, intentId)
  if (intent?.status !== 'requires_action' && intent?.status !== 'requires_payment_method') return
  put(deps, {
    ...intent,
    status: 'canceled',
    canceled_at: seconds(deps),
    cancellation_reason: 'abandoned',
    next_action: null,
  })
}

/** Settles or rejects the pending charge of a bank debit. */
export function settleIntent(
  deps: ProcessorDeps,
  intentId: string,
  succeeds: boolean,
): Stripe.PaymentIntent | undefined {
  deps.db.prepare('delete from stripe_settlements where payment_intent = ?').run(intentId)
  const intent = get<Stripe.PaymentIntent>(deps, intentId)
  if (intent?.status !== 'processing') return undefined
  const pending = getExisting(deps, 'charge', String(intent.latest_charge))
  if (succeeds) {
    const charge: Stripe.Charge = {
      ...pending,
      status: 'succeeded',
      paid: true,
      captured: true,
      amount_captured: pending.amount,
      balance_transaction: recordCharge(deps, pending),
    }
    return succeed(deps, intent, put(deps, charge))
  }
  const [code, message] = ['payment_failed', 'The customer’s bank account could not be debited.']
  put(deps, {
    ...pending,
    status: 'failed',
    paid: false,
    failure_code: code,
    failure_message: message,
  })
  return failIntent(deps, intent, { code, message })
}

function succeed(
  deps: ProcessorDeps,
  intent: Stripe.PaymentIntent,
  charge: Stripe.Charge,
): Stripe.PaymentIntent {
  return save(deps, 'payment_intent.succeeded', {
    ...intent,
    status: 'succeeded',
    amount_received: intent.amount,
    payment_method: charge.payment_method,
    latest_charge: charge.id,
    last_payment_error: null,
    next_action: null,
  })
}

function fail(
  deps: ProcessorDeps,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
  why: Outcome & { at: 'never' },
): Attempt {
  const charge = createCharge(deps, intent, method, 'failed', why)
  const { code, declineCode, message } = why
  const error = { code, decline_code: declineCode, message, charge: charge.id }
  failIntent(deps, { ...intent, latest_charge: charge.id }, error, method)
  return { status: 'failed', error: { type: 'card_error', ...error } }
}

function createCharge(
  deps: ProcessorDeps,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
  status: 'succeeded' | 'pending' | 'failed',
  why?: Outcome & { at: 'never' },
): Stripe.Charge {
  const paid = status === 'succeeded'
  const id = newId(method.type === 'card' ? 'ch' : 'py')
  const charge = {
    id,
    ...blank('charge'),
    receipt_url: paid ? `${deps.origin()}/sandbox/receipts/${id}` : null,
    amount: intent.amount,
    amount_captured: paid ? intent.amount : 0,
    amount_refunded: 0,
    balance_transaction: null,
    billing_details: method.billing_details,
    captured: paid,
    created: seconds(deps),
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_code: why?.code ?? null,
    failure_message: why?.message ?? null,
    fraud_details: {},
    metadata: intent.metadata,
    paid,
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: method.card
      ? { card: { ...method.card, amount_authorized: intent.amount }, type: 'card' }
      : { type: method.type, us_bank_account: method.us_bank_account },
    refunded: false,
    status,
  } as unknown as Stripe.Charge
  if (paid) charge.balance_transaction = recordCharge(deps, charge)
  return put(deps, charge, { owner: typeof intent.customer === 'string' ? intent.customer : '' })
}

/** `charge` or `payment_intent`, `amount` (all that is left by default), `reason`, `metadata`. */
export function createRefund(deps: ProcessorDeps, form: Form): Stripe.Refund {
  allowSupported(form, ['charge', 'payment_intent', 'amount', 'reason', 'metadata'])
  const charge = findCharge(deps, form)
  const left = charge.amount - charge.amount_refunded
  const amount = integer(form, 'amount') ?? left
  if (charge.status !== 'succeeded')
    throw badParameter(
      'charge',
      `Charge ${charge.id} has not succeeded and cannot be refunded.`,
      'charge_not_refundable',
    )
  if (left === 0) {
    throw refused(400, `Charge ${charge.id} has already been refunded.`, 'charge_already_refunded')
  }
  if (amount < 1 || amount > left) {
    throw badParameter(
      'amount',
      `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`,
      'amount_too_large',
    )
  }

  const refund: Stripe.Refund = {
    id: newId('re'),
    ...blank('refund'),
    amount,
    balance_transaction: null,
    charge: charge.id,
    created: seconds(deps),
    currency: charge.currency,
    customer: charge.customer,
    metadata: mergeMetadata({}, form.metadata),
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason: optionalText(form, 'reason'),
    status: 'succeeded',
  }
  refund.balance_transaction = recordRefund(deps, refund, -amount)
  put(deps, refund, { owner: charge.id })

  const refunded = {
    ...charge,
    amount_refunded: charge.amount_refunded + amount,
    refunded: amount === left,
  }
  const previous = { amount_refunded: charge.amount_refunded, refunded: false }
  save(deps, 'charge.refunded', refunded, { previous })
  return refund
}

/** The payer's bank rejected the newest refund, so its money returns. */
export function failRefund(deps: ProcessorDeps, { id }: Stripe.Charge): void {
  const refund = all(deps, 'refund', id).find(({ status }) => status === 'succeeded')
  if (!refund) throw badParameter('charge', `Charge ${id} has no refund that could fail.`)
  const charge = getExisting(deps, 'charge', id)
  const amount_refunded = charge.amount_refunded - refund.amount
  put(deps, { ...charge, amount_refunded, refunded: false })
  save(deps, 'refund.failed', {
    ...refund,
    status: 'failed',
    failure_reason: 'expired_or_canceled_card',
    failure_balance_transaction: recordRefund(deps, refund, refund.amount),
  })
}

function findCharge(deps: ProcessorDeps, form: Form): Stripe.Charge {
  const intentId = optionalText(form, 'payment_intent')
  if (!intentId) return getNamed(deps, 'charge', optionalText(form, 'charge') ?? '', 'charge')
  const intent = getNamed(deps, 'payment_intent', intentId, 'payment_intent')
  return getExisting(deps, 'charge', String(intent.latest_charge))
}
