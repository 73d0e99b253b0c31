/**
 * The status of the payment that a subscription waits for, in the processor's terms:
 * `requires_action` when the customer must confirm it at their bank.
 */
import type { Stripe } from 'stripe'
import type { Account } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import { readField, readId, readList, readNumber, readText } from './object-reader.ts'
import { nullIfMissing, requireProcessor } from './processor.ts'
import { compareNewest, isLive, type SubscriptionFacts } from './subscription-state.ts'

const WAITING = ['incomplete', 'past_due', 'unpaid', 'paused']

type Waiting = Pick<Stripe.Subscription, 'status' | 'latest_invoice' | 'status_details'>

export type OpenInvoice = {
  id: string
  payment: string | null
  error: string | null
  dueCents: number | null
}

/**
 * Returns nulls when no payment is missing. Only reads the processor again for waiting
 * subscriptions.
 */
export async function readMissingPayment(
  deps: Pick<BillingDeps, 'processor'>,
  subscription: Waiting,
): Promise<Pick<SubscriptionFacts, 'paymentStatus' | 'paymentError' | 'paymentDueCents'>> {
  const open = await readOpenInvoice(deps, subscription)
  return {
    paymentStatus: open?.payment ?? null,
    paymentError: open?.error ?? null,
    paymentDueCents: open?.dueCents ?? null,
  }
}

/**
 * Returns the open invoice that a subscription waits for. A paused subscription waits for the
 * invoice of its resumption, never for one from before the pause.
 */
export async function readOpenInvoice(
  { processor }: Pick<BillingDeps, 'processor'>,
  { status, latest_invoice: latest, status_details: details }: Waiting,
): Promise<OpenInvoice | null> {
  const id = readId(latest)
  if (id === null || !WAITING.includes(status)) return null
  const invoice = await nullIfMissing(
    requireProcessor(processor).invoices.retrieve(id, {
      expand: ['payments.data.payment.payment_intent'],
    }),
  )
  if (readText(invoice, 'status') !== 'open') return null
  const createdS = readNumber(invoice, 'created')
  const pausedS = readNumber(details, 'paused', 'transitioned_at')
  const isBeforePause =
    status === 'paused' && createdS !== null && pausedS !== null && createdS < pausedS
  if (isBeforePause) return null
  const intents = readList(readField(invoice, 'payments')).map((payment) =>
    readField(payment, 'payment', 'payment_intent'),
  )
  const intent = intents.find((item) => item instanceof Object) ?? null
  return {
    id,
    payment: readText(intent, 'status'),
    error: readText(intent, 'last_payment_error', 'message'),
    dueCents: readNumber(invoice, 'amount_remaining'),
  }
}

/**
 * Describes the missing payment of the effective subscription, or of the newest one that waits for
 * its first payment.
 */
export function describeMissingPayment(
  subscriptions: readonly SubscriptionFacts[],
  counting: SubscriptionFacts | undefined,
): Pick<Account, 'payment_status' | 'payment_error' | 'payment_due_cents'> {
  const waiting = counting && isLive(counting) ? counting : findNewestUnpaid(subscriptions)
  return {
    payment_status: waiting?.paymentStatus ?? null,
    payment_error: waiting?.paymentError ?? null,
    payment_due_cents: waiting?.paymentDueCents ?? null,
  }
}

/** Describes a second checkout that waits for its first payment while a subscription runs. */
export function describePendingCheckout(
  subscriptions: readonly SubscriptionFacts[],
  counting: SubscriptionFacts | undefined,
): Pick<Account, 'pending_price_id' | 'pending_payment_status' | 'is_pending_newer'> {
  const pending = counting && isLive(counting) ? findNewestUnpaid(subscriptions) : undefined
  return {
    pending_price_id: pending?.priceIds[0] ?? null,
    pending_payment_status: pending?.paymentStatus ?? null,
    is_pending_newer:
      counting !== undefined && pending !== undefined && compareNewest(pending, counting) < 0,
  }
}

const findNewestUnpaid = (
  subscriptions: readonly SubscriptionFacts[],
): SubscriptionFacts | undefined =>
  subscriptions
    .filter(({ status, paymentStatus }) => status === 'incomplete' && paymentStatus)
    .sort(compareNewest)[0]
